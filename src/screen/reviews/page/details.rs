//! The evidence for everybody, cut so that it fits into one file.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::super::rows::ReviewerRow;
use super::super::verdict::kind_of;
use super::super::{ReviewsRun, own};
use crate::data::excerpt::excerpt;
use crate::data::reviews::ReviewSet;
use crate::embed::VectorKind;
use crate::embed::sentences::sentences;
use crate::report::html::{
    Author, ReviewDetail, ReviewDetails, ReviewText, Shade, ShownAspects, ShownPeer, ShownReview,
    ShownSentence, ShownText, TextSentence, key_of,
};
use crate::stats::rank::quantile;
use crate::text::explain::{Evidence, PaperEvidence, SentenceEvidence};
use crate::text::forms::Forms;
use crate::text::own::Class;
use crate::text::pairs::Paper;
use crate::text::sentence_evidence::{OtherText, SentenceTable};

/// Characters of a sentence in an excerpt.
const EXCERPT_CHARACTERS: usize = 240;

/// Shorter cuts, tried in turn where the excerpts of all reviews are too much for one file.
const SHORTER_EXCERPTS: [usize; 6] = [200, 160, 130, 100, 80, 60];

/// Bytes of all excerpts together: with numbers, names and plots the page of 20,000 reviews then
/// stays below 25 MB.
const EXCERPT_BYTES: usize = 12_000_000;

/// Of so many people who read as their own work at most one has a sentence that is shaded.
const ONE_IN: usize = 20;

/// Share of the sentences that peers support beyond Z of which those with most are underlined.
const UNDERLINED: f64 = 0.25;

/// Evidence about one paper, before sentences are cut.
struct Gathered {
    /// Per review, its reviewer and what is shown.
    details: Vec<(u32, ReviewDetail)>,
    texts: Vec<ShownText>,
    /// Per review, of all its sentences and not only of those shown: the largest closeness to Z beyond
    /// others, and the support by peers beyond Z of those that have any.
    closest: Vec<(u32, Option<f64>)>,
    supported: Vec<f64>,
}

pub(super) fn details(run: &ReviewsRun, text: ReviewText) -> ReviewDetails {
    let nothing = SentenceTable::default();
    let sentences = if text == ReviewText::None { &nothing } else { &run.sentences };
    let evidence = run.all_evidence(sentences);
    let set = evidence.set;
    let papers = u32::try_from(evidence.papers.len()).expect("papers have u32 numbers");
    let of_papers: Vec<Gathered> =
        (0..papers).into_par_iter().map(|paper| of_paper(&evidence, paper, text)).collect();
    let shading = Shading::of(run, &of_papers);
    let groups: Vec<String> =
        set.chairs.values().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    let mut people = vec![Vec::new(); set.reviewers.len()];
    let mut texts = Vec::with_capacity(of_papers.len());
    for gathered in of_papers {
        for (reviewer, mut detail) in gathered.details {
            for sentence in &mut detail.sentences {
                sentence.shade = shading.shade(sentence);
            }
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
        shading: shading.said,
        rows: rows(run, &groups),
        groups,
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
    let reviewer = |&review: &usize| set.reviews[review].reviewer;
    let closest = found.iter().map(|found| {
        let sentences = found.sentences.iter().filter(|sentence| !sentence.is_form);
        let beyond = sentences.filter_map(SentenceEvidence::beyond_others);
        (reviewer(&found.review), beyond.max_by(f64::total_cmp))
    });
    let closest = closest.collect();
    let all = found.iter().flat_map(|found| &found.sentences).filter(|sentence| !sentence.is_form);
    let supported =
        all.filter_map(SentenceEvidence::support_beyond_z).filter(|s| *s > 0.0).collect();
    let details = paper.reviews.iter().map(reviewer).zip(details).collect();
    Gathered { details, texts, closest, supported }
}

/// When a sentence is evidence.
struct Shading {
    /// Closeness to Z beyond peers and beyond Z of other papers above which a sentence is shaded.
    z: Option<f64>,
    /// Support by peers beyond Z from which one is underlined.
    peers: Option<f64>,
    /// The rule in words.
    said: String,
}

impl Shading {
    fn of(run: &ReviewsRun, papers: &[Gathered]) -> Self {
        let mut closest = vec![None; run.set().reviewers.len()];
        for &(reviewer, value) in papers.iter().flat_map(|gathered| &gathered.closest) {
            let best: &mut Option<f64> = &mut closest[reviewer as usize];
            *best = [*best, value].into_iter().flatten().max_by(f64::total_cmp);
        }
        let rows = run.leading().map(|name| run.scores(name)).unwrap_or_default();
        // Not only of those who are clear, who stand far from Z, and may be few.
        let is_own = |row: &&ReviewerRow| {
            !matches!(row.flag_word(), Some("look" | "uninformative"))
                && row.reads_as().is_none_or(|class| class == Class::Own)
        };
        let people = rows.iter().filter(is_own);
        let mut own: Vec<f64> = people.filter_map(|row| closest[row.number]).collect();
        let z = bound(&mut own);
        let mut supported: Vec<f64> =
            papers.iter().flat_map(|gathered| &gathered.supported).copied().collect();
        supported.sort_by(f64::total_cmp);
        let peers = quantile(&supported, 1.0 - UNDERLINED);
        let said = z.map(|bound| {
            let above = own.iter().filter(|value| **value > bound).count();
            format!(
                "Shaded: closer to a sentence of the LLM than to peers' and than to the LLM's about other \
                 papers by more than {bound:.2}. The closest sentence of 19 in 20 people who \
                 are not flagged and read as their own work does not reach that: {above} of these {} have a \
                 shaded one.",
                own.len()
            )
        });
        Self { z, peers, said: said.map(|said| run.set().nouns.said(&said)).unwrap_or_default() }
    }

    fn shade(&self, sentence: &ShownSentence) -> Shade {
        let above = |value: Option<f64>, bound: Option<f64>| value.zip(bound);
        if above(sentence.beyond_others, self.z).is_some_and(|(value, bound)| value > bound) {
            return Shade::Z;
        }
        let support = sentence.peer_support.map(|s| s - sentence.z_similarity.unwrap_or(0.0));
        match above(support, self.peers) {
            Some((value, bound)) if value >= bound && value > 0.0 => Shade::Peers,
            _ => Shade::None,
        }
    }
}

/// The value that at most one in [`ONE_IN`] of all exceeds; sorts them.
fn bound(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? - values.len() / ONE_IN).copied()
}

/// One row per review, worst first.
fn rows(run: &ReviewsRun, groups: &[String]) -> Vec<ShownReview> {
    let set = run.set();
    let found = run.own().map(|own| &own.reviews);
    let order = match run.own() {
        Some(own) => own::worst_reviews_first(own),
        None => (0..set.reviews.len()).collect(),
    };
    let group = |paper: u32| {
        let chair = set.chairs.get(set.papers.name(paper))?;
        u32::try_from(groups.binary_search(chair).ok()?).ok()
    };
    let row = |place: usize| {
        let (review, own) = (&set.reviews[place], found.map(|found| &found[place]));
        ShownReview {
            person: review.reviewer,
            paper: review.paper,
            flag: own.map(|own| own.flag.as_str()),
            reads_as: own.and_then(|own| own.reads_as).map(|class| set.nouns.said(kind_of(class))),
            p_own: own.and_then(|own| own.p_own),
            copied: own.and_then(|own| own.copied),
            group: group(review.paper),
            key: review.content.text.as_deref().map(key_of).unwrap_or_default(),
        }
    };
    order.into_iter().map(row).collect()
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
            beyond_others: if sentence.is_form { None } else { sentence.beyond_others() },
            shade: Shade::None,
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
    fn at_most_one_in_twenty_is_above_the_bound() {
        for count in 1..200_usize {
            let mut values: Vec<f64> = (0..count).rev().map(|value| value as f64).collect();
            let bound = bound(&mut values).unwrap();
            let above = values.iter().filter(|value| **value > bound).count();
            assert!(above * 20 <= count && (above + 1) * 20 > count, "{count}: {above}");
        }
        assert_eq!(bound(&mut []), None);
    }
}
