//! The evidence for everybody, cut so that it fits into one file.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::super::ReviewsRun;
use crate::data::excerpt::excerpt;
use crate::data::reviews::ReviewSet;
use crate::embed::VectorKind;
use crate::embed::sentences::sentences;
use crate::report::html::{
    Author, ReviewDetail, ReviewDetails, ReviewText, ShownAspects, ShownPeer, ShownSentence,
    ShownText, TextSentence,
};
use crate::stats::rank::quantile;
use crate::text::explain::{Evidence, PaperEvidence};
use crate::text::forms::Forms;
use crate::text::pairs::Paper;
use crate::text::sentence_evidence::{OtherText, SentenceTable};

/// Characters of a sentence in an excerpt.
const EXCERPT_CHARACTERS: usize = 240;

/// Shorter cuts, tried in turn where the excerpts of all reviews are too much for one file.
const SHORTER_EXCERPTS: [usize; 6] = [200, 160, 130, 100, 80, 60];

/// Bytes of all excerpts together: with numbers, names and plots the page of 20,000 reviews then
/// stays below 25 MB.
const EXCERPT_BYTES: usize = 12_000_000;

/// Shares of all sentences that are shaded lightly, more, and most.
const SHADED: [f64; 3] = [0.5, 0.75, 0.9];

/// Evidence about one paper, before sentences are cut.
struct Gathered {
    /// Per review, its reviewer and what is shown.
    details: Vec<(u32, ReviewDetail)>,
    texts: Vec<ShownText>,
    /// Similarity with Z and support beyond it of all sentences, and not only of those shown.
    all: Vec<(Option<f64>, Option<f64>)>,
}

pub(super) fn details(run: &ReviewsRun, text: ReviewText) -> ReviewDetails {
    let nothing = SentenceTable::default();
    let sentences = if text == ReviewText::None { &nothing } else { &run.sentences };
    let evidence = run.all_evidence(sentences);
    let set = evidence.set;
    let papers = u32::try_from(evidence.papers.len()).expect("papers have u32 numbers");
    let of_papers: Vec<Gathered> =
        (0..papers).into_par_iter().map(|paper| of_paper(&evidence, paper, text)).collect();
    let all = || of_papers.iter().flat_map(|gathered| &gathered.all);
    let z_levels = levels(all().filter_map(|(z, _)| *z).collect());
    let peer_levels = levels(all().filter_map(|(_, peers)| *peers).collect());
    let mut people = vec![Vec::new(); set.reviewers.len()];
    let mut texts = Vec::with_capacity(of_papers.len());
    for gathered in of_papers {
        for (reviewer, detail) in gathered.details {
            people[reviewer as usize].push(detail);
        }
        texts.push(gathered.texts);
    }
    let aspects = aspects(run);
    if aspects.is_some() {
        for (paper, texts) in evidence.papers.iter().zip(&mut texts) {
            // Rows of reviews come first, then those of Z.
            let z = paper.z.iter().map(|&z| set.reviews.len() + z);
            for (row, text) in paper.reviews.iter().copied().chain(z).zip(texts) {
                text.aspects = run.embedded.vectors.dense_row(row);
            }
        }
    }
    let cut_after = (text == ReviewText::Excerpts).then(|| cut(&mut texts));
    ReviewDetails {
        papers: set.papers.names().to_vec(),
        sources: set.sources.names().to_vec(),
        text,
        cut_after,
        z_levels,
        peer_levels,
        people,
        texts,
        aspects,
    }
}

/// What the dimensions of the vectors are called, where they say what a text praises and criticises.
fn aspects(run: &ReviewsRun) -> Option<ShownAspects> {
    let categories = run.embedded.dimensions.clone()?;
    let name = &run.embedded.name;
    let reader = if name.starts_with("aspects") {
        format!(
            "Read by the embedder {name} from sentence vectors: about half of what it says of single \
             sentences agrees with annotators, so look at the text before you say anything."
        )
    } else {
        format!("Read by {name}; look at the text before you say anything.")
    };
    let is_judged = run.embedded.kind == VectorKind::Judgments;
    is_judged.then_some(ShownAspects { categories, reader })
}

/// The place of a text among those about its paper: reviews first.
fn place_of(paper: &Paper, text: OtherText) -> Option<usize> {
    match text {
        OtherText::Review(review) => paper.reviews.iter().position(|&known| known == review),
        OtherText::Z(z) => {
            Some(paper.reviews.len() + paper.z.iter().position(|&known| known == z)?)
        }
    }
}

fn of_paper(evidence: &Evidence<'_>, number: u32, text: ReviewText) -> Gathered {
    let set = evidence.set;
    let paper = &evidence.papers[number as usize];
    let found = evidence.of_paper(number);
    let mut details: Vec<ReviewDetail> =
        found.iter().map(|found| detail(paper, found, text)).collect();
    let mut wanted = vec![BTreeSet::new(); paper.reviews.len() + paper.z.len()];
    for detail in &details {
        for sentence in &detail.sentences {
            let targets = [
                Some((detail.own, sentence.position)),
                detail.closest_z.zip(sentence.in_z.map(|found| found.0)),
                detail.closest_peer.zip(sentence.in_peer.map(|found| found.0)),
            ];
            for (text, position) in targets.into_iter().flatten() {
                wanted[text].insert(position);
            }
        }
    }
    let texts = shown_texts(set, paper, evidence.forms, text, &wanted);
    // A text that is not in the file cannot be shown beside the review.
    for detail in &mut details {
        let there = |text: &usize| !texts[*text].sentences.is_empty();
        detail.closest_z = detail.closest_z.filter(there);
        detail.closest_peer = detail.closest_peer.filter(there);
    }
    let all = found.iter().flat_map(|found| &found.sentences).filter(|sentence| !sentence.is_form);
    let all = all.map(|s| (s.z_similarity, s.support_beyond_z())).collect();
    let reviewer = |&review: &usize| set.reviews[review].reviewer;
    Gathered { details: paper.reviews.iter().map(reviewer).zip(details).collect(), texts, all }
}

/// What is shown of one review; of excerpts, the sentences closest to Z with where they stand in
/// the closest Z, and those with most support by peers with where they stand in the closest review.
fn detail(paper: &Paper, found: &PaperEvidence, text: ReviewText) -> ReviewDetail {
    let own = place_of(paper, OtherText::Review(found.review)).unwrap_or_default();
    let closest_z = closest(found.z.iter().map(|z| Some(z.similarity)));
    let closest_z = closest_z.map(|z| paper.reviews.len() + z);
    // The peers of the evidence are the other reviews in order.
    let closest_peer = closest(found.peers.iter().map(|peer| peer.before));
    let closest_peer = closest_peer.map(|peer| peer + usize::from(peer >= own));
    let matches = |text: Option<usize>| {
        let matches = found.matches.iter().find(|m| place_of(paper, m.text) == text);
        matches
            .map_or(&[][..], |matches| &matches.sentences)
            .iter()
            .map(|found| (found.position, found.cosine))
            .collect::<Vec<_>>()
    };
    let (in_z, in_peer) = (matches(closest_z), matches(closest_peer));
    let (said, supported) = (found.said_by_z(), found.supported_by_peers());
    let full = text == ReviewText::Full;
    let mut sentences = Vec::new();
    for (index, sentence) in found.sentences.iter().enumerate() {
        let is_in = |chosen: &[&_]| chosen.iter().any(|other| std::ptr::eq(*other, sentence));
        let (said, supported) = (is_in(&said), is_in(&supported));
        if !(full || said || supported) {
            continue;
        }
        let evidence = |wanted: bool, found: &[(u32, f64)]| {
            ((full && !sentence.is_form) || wanted).then(|| found.get(index).copied()).flatten()
        };
        sentences.push(ShownSentence {
            position: u32::try_from(index).unwrap_or(u32::MAX),
            z_similarity: sentence.z_similarity,
            peer_support: sentence.peer_support,
            in_z: evidence(said, &in_z),
            in_peer: evidence(supported, &in_peer),
        });
    }
    ReviewDetail {
        paper: found.paper,
        peers: found
            .peers
            .iter()
            .map(|peer| ShownPeer { person: peer.reviewer, before: peer.before, after: peer.after })
            .collect(),
        z: found.z.iter().map(|z| (z.source, z.similarity)).collect(),
        own,
        closest_z,
        closest_peer,
        sentences,
        left_out: found.sentences_left_out,
    }
}

/// The place of the highest value, the first of equals.
fn closest(values: impl Iterator<Item = Option<f64>>) -> Option<usize> {
    let values = values.enumerate().filter_map(|(place, value)| Some((place, value?)));
    values.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(place, _)| place)
}

/// The sentences of the texts about a paper that may be and have to be in the file.
fn shown_texts(
    set: &ReviewSet,
    paper: &Paper,
    forms: &Forms,
    text: ReviewText,
    wanted: &[BTreeSet<u32>],
) -> Vec<ShownText> {
    let reviews = paper.reviews.iter().map(|&review| {
        let review = &set.reviews[review];
        (Author::Person(review.reviewer), &review.content)
    });
    let z = paper.z.iter().map(|&z| (Author::Source(set.z[z].source), &set.z[z].content));
    let shown = |((author, content), wanted): (
        (Author, &crate::data::content::Content),
        &BTreeSet<u32>,
    )| {
        let all: Vec<&str> = match text {
            ReviewText::None => Vec::new(),
            _ => sentences(content.text.as_deref().unwrap_or_default()).collect(),
        };
        let sentence = |(position, sentence): (u32, &&str)| {
            let cut = match text {
                ReviewText::Full => (*sentence).to_owned(),
                _ => excerpt(sentence, EXCERPT_CHARACTERS),
            };
            TextSentence { position, text: cut, is_form: forms.has(sentence) }
        };
        let in_file =
            |(position, _): &(u32, &&str)| text == ReviewText::Full || wanted.contains(position);
        let shown = (0..).zip(&all).filter(in_file).map(sentence).collect();
        ShownText { author, length: all.len(), sentences: shown, aspects: Vec::new() }
    };
    reviews.chain(z).zip(wanted).map(shown).collect()
}

/// Values that the shaded shares of all sentences reach.
fn levels(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let [low, middle, high] = SHADED.map(|share| quantile(&values, share));
    Some([low?, middle?, high?])
}

/// Cuts all sentences so that together they fit; returns the number of characters left of each.
fn cut(texts: &mut [Vec<ShownText>]) -> usize {
    let all = |texts: &[Vec<ShownText>], characters: usize| -> usize {
        let sentences = texts.iter().flatten().flat_map(|text| &text.sentences);
        sentences.map(|sentence| end_of(&sentence.text, characters)).sum()
    };
    let lengths = std::iter::once(EXCERPT_CHARACTERS).chain(SHORTER_EXCERPTS);
    let fits = lengths.clone().find(|&length| all(texts, length) <= EXCERPT_BYTES);
    let length = fits.or_else(|| lengths.last()).unwrap_or(EXCERPT_CHARACTERS);
    if length < EXCERPT_CHARACTERS {
        for sentence in texts.iter_mut().flatten().flat_map(|text| &mut text.sentences) {
            sentence.text = excerpt(&sentence.text, length);
        }
    }
    length
}

/// Bytes of the first `characters` of a text.
fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sentence: &str, count: usize) -> Vec<ShownText> {
        let sentence = TextSentence { position: 0, text: sentence.into(), is_form: false };
        let author = Author::Person(0);
        let sentences = vec![sentence; count];
        vec![ShownText { author, length: count, sentences, aspects: Vec::new() }]
    }

    #[test]
    fn many_sentences_are_cut_shorter_until_they_fit() {
        let mut few = vec![text(&"x".repeat(240), 10)];
        assert_eq!(cut(&mut few), 240);
        assert_eq!(few[0][0].sentences[0].text.len(), 240);
        // 100,000 sentences: 120 bytes of each fit, so the next shorter cut is 100.
        let mut many = vec![text(&"x".repeat(240), 100_000)];
        assert_eq!(cut(&mut many), 100);
        assert_eq!(many[0][0].sentences[7].text, format!("{}\u{2026}", "x".repeat(100)));
        // More than fit in any way are cut as short as possible.
        let mut most = vec![text(&"x".repeat(61), 300_000)];
        assert_eq!(cut(&mut most), 60);
    }

    #[test]
    fn the_closest_is_the_first_of_the_highest() {
        assert_eq!(closest([Some(0.1), None, Some(0.5), Some(0.5)].into_iter()), Some(2));
        assert_eq!(closest([None, None].into_iter()), None);
    }

    #[test]
    fn levels_are_quantiles_and_missing_without_values() {
        let values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(levels(values), Some([50.0, 75.0, 90.0]));
        assert_eq!(levels(vec![]), None);
    }
}
