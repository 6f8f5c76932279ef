//! The page of `caz reviews`: scores, and the evidence for everybody.

use anyhow::Result;
use clap::ValueEnum;
use rayon::prelude::*;

use super::NOT_A_VERDICT;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;
use crate::report::Report;
use crate::report::html::{
    Details, Measure, Page, People, PeopleColumns, ReviewDetail, ReviewDetails, ReviewText,
    ShownPeer, ShownSentence, views_of,
};
use crate::report::plot::{ScatterChart, ScatterPoint};
use crate::stats::rank::quantile;
use crate::text::embed::EmbedError;
use crate::text::explain::{Evidence, PaperEvidence, SentenceEvidence};
use crate::text::score::ReviewerScore;
use crate::text::sentences::sentences;

/// Characters of a sentence in an excerpt, as `--explain` shows it.
const EXCERPT_CHARACTERS: usize = 240;

/// Shorter cuts, tried in turn where the excerpts of all reviews are too much for one file.
const SHORTER_EXCERPTS: [usize; 6] = [200, 160, 130, 100, 80, 60];

/// Bytes of all excerpts together: with numbers, names and plots the page of 20,000 reviews then
/// stays below 20 MB.
const EXCERPT_BYTES: usize = 12_000_000;

/// Shares of all sentences that are shaded lightly, more, and most.
const SHADED: [f64; 3] = [0.5, 0.75, 0.9];

/// How much of the reviews goes into the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in super::super) enum ReportText {
    /// No text at all: scores and similarities only
    None,
    /// Up to six sentences per review: those closest to the LLM's, those most supported by peers
    #[default]
    Excerpts,
    /// Every review, every sentence shaded
    Full,
}

impl From<ReportText> for ReviewText {
    fn from(text: ReportText) -> Self {
        match text {
            ReportText::None => Self::None,
            ReportText::Excerpts => Self::Excerpts,
            ReportText::Full => Self::Full,
        }
    }
}

/// What the page is made of.
pub(in super::super) struct Scores<'a> {
    pub(in super::super) evidence: Evidence<'a>,
    /// What was scored, in a sentence.
    pub(in super::super) scope: String,
    /// Meaning of every score in the report, by its name.
    pub(in super::super) meanings: Vec<(&'static str, &'static str)>,
    pub(in super::super) projected: &'a [ReviewerScore],
    pub(in super::super) negative: &'a [ReviewerScore],
    /// Parts of the combined score, if it was asked for.
    pub(in super::super) parts: Option<&'a [Vec<Option<f64>>; 2]>,
}

/// The page; `progress` hears of every paper.
pub(in super::super) fn page(
    report: &Report,
    scores: &Scores<'_>,
    text: ReviewText,
    progress: &dyn Progress,
) -> Result<Page> {
    let set = scores.evidence.set;
    let columns = PeopleColumns { person: "reviewer", view: "score_name", count: "n_papers" };
    let number = |name: &str| set.reviewers.get(name).map(|number| number as usize);
    let mut views = views_of(&report.table, columns, set.reviewers.len(), number);
    for view in &mut views {
        let meaning = scores.meanings.iter().find(|(name, _)| *name == view.name);
        view.meaning = meaning.map(|(_, words)| (*words).to_owned()).unwrap_or_default();
    }
    let has_projected = views.iter().any(|view| view.name == "projected");
    let people = People {
        noun: "reviewer",
        counted: "papers",
        names: set.reviewers.names().to_vec(),
        views,
        measures: measures(scores, has_projected),
        scatter: scatter(scores),
        details: Details::Reviews(details(&scores.evidence, text, progress)?),
    };
    Ok(Page {
        title: "What reviewers add beyond the LLM".into(),
        lead: vec![scores.scope.clone()],
        reading: reading(),
        people: Some(people),
        ..Page::default()
    })
}

fn reading() -> Vec<String> {
    [
        "The projected score says how much of what a reviewer writes the other reviewers of the \
         same papers write too, once everything that the LLM's reviews say is taken out; near 0 \
         means that nothing was found beyond the LLM.",
        "Read the interval before the score: with few papers it is wide, and the flags \
         inconclusive and too few mean that these data cannot tell.",
        "A low score has innocent causes: an expertise that no peer shares, a very short review, \
         another language than that of the peers.",
        "In the scatter plot, reviewers who hand in what the LLM says are at the bottom right, \
         those who write about something else than the paper at the bottom left.",
        NOT_A_VERDICT,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn values(scores: &[ReviewerScore], sign: f64) -> Vec<Option<f64>> {
    scores.iter().map(|score| score.estimate.map(|estimate| sign * estimate.value)).collect()
}

fn measures(scores: &Scores<'_>, has_projected: bool) -> Vec<Measure> {
    let measure = |name: &str, meaning: &str, values| Measure {
        name: name.into(),
        meaning: meaning.into(),
        values,
    };
    let mut measures = vec![measure(
        "LLM similarity",
        "mean similarity with the LLM's reviews of the same papers, as they are",
        values(scores.negative, -1.0),
    )];
    if !has_projected {
        measures.push(measure(
            "beyond the LLM",
            "mean similarity with the other reviews of the same papers beyond what the LLM says",
            values(scores.projected, 1.0),
        ));
    }
    if let Some([topic, away]) = scores.parts {
        let words = ["about the paper, in robust standard deviations", "unlike the LLM, likewise"];
        measures.push(measure("part topic", words[0], topic.clone()));
        measures.push(measure("part Z", words[1], away.clone()));
    }
    measures
}

fn scatter(scores: &Scores<'_>) -> Option<(String, String)> {
    let pairs = values(scores.negative, -1.0).into_iter().zip(values(scores.projected, 1.0));
    let points: Vec<ScatterPoint> = pairs
        .enumerate()
        .filter_map(|(person, (x, y))| Some(ScatterPoint { person, x: x?, y: y? }))
        .collect();
    if points.is_empty() {
        return None;
    }
    let shown = points.len();
    let chart = ScatterChart {
        title: "Close to the LLM, and supported by peers beyond it".into(),
        x_name: "similarity with the LLM's reviews".into(),
        y_name: "similarity with peers beyond the LLM".into(),
        corners: ["off topic?".into(), "says what the LLM says?".into()],
        points,
    };
    let caption = format!(
        "One dot per reviewer ({shown}); click it for the evidence. Low means: nothing that peers \
         say too was found beyond the LLM."
    );
    Some((chart.svg(), caption))
}

/// Evidence in one review, before sentences are cut.
struct Gathered {
    reviewer: u32,
    detail: ReviewDetail,
    /// Similarity with Z and support beyond it, of all sentences and not only of those shown.
    all: Vec<(Option<f64>, Option<f64>)>,
}

fn details(
    evidence: &Evidence<'_>,
    text: ReviewText,
    progress: &dyn Progress,
) -> Result<ReviewDetails, EmbedError> {
    let set = evidence.set;
    // Sentence vectors live only while their paper is looked at.
    let papers = u32::try_from(evidence.papers.len()).expect("papers have u32 numbers");
    let of_papers: Vec<Vec<Gathered>> = (0..papers)
        .into_par_iter()
        .map(|paper| {
            let gathered = of_paper(evidence, paper, text);
            progress.advance(1);
            gathered
        })
        .collect::<Result<_, _>>()?;
    let all = || of_papers.iter().flatten().flat_map(|gathered| &gathered.all);
    let z_levels = levels(all().filter_map(|(z, _)| *z).collect());
    let peer_levels = levels(all().filter_map(|(_, peers)| *peers).collect());
    let mut people = vec![Vec::new(); set.reviewers.len()];
    for gathered in of_papers.into_iter().flatten() {
        people[gathered.reviewer as usize].push(gathered.detail);
    }
    let cut_after = (text == ReviewText::Excerpts).then(|| cut(&mut people));
    Ok(ReviewDetails {
        papers: set.papers.names().to_vec(),
        sources: set.sources.names().to_vec(),
        text,
        cut_after,
        z_levels,
        peer_levels,
        people,
    })
}

fn of_paper(
    evidence: &Evidence<'_>,
    number: u32,
    text: ReviewText,
) -> Result<Vec<Gathered>, EmbedError> {
    let set = evidence.set;
    let silent = Evidence { embedder: None, ..*evidence };
    let source = if text == ReviewText::None { &silent } else { evidence };
    let papers = source.of_paper(number)?;
    let reviews = &evidence.papers[number as usize].reviews;
    let gathered = reviews.iter().zip(papers).map(|(&review, found)| {
        let all = found.sentences.iter().map(|s| (s.z_similarity, s.support_beyond_z())).collect();
        let detail = ReviewDetail {
            paper: number,
            peers: found
                .peers
                .iter()
                .map(|peer| ShownPeer {
                    person: peer.reviewer,
                    before: peer.before,
                    after: peer.after,
                })
                .collect(),
            z: found.z.iter().map(|z| (z.source, z.similarity)).collect(),
            sentences: shown_sentences(set, review, &found, text),
            left_out: found.sentences_left_out,
        };
        Gathered { reviewer: set.reviews[review].reviewer, detail, all }
    });
    Ok(gathered.collect())
}

fn shown_sentences(
    set: &ReviewSet,
    review: usize,
    found: &PaperEvidence,
    text: ReviewText,
) -> Vec<ShownSentence> {
    let shown = |sentence: &SentenceEvidence| ShownSentence {
        text: match text {
            ReviewText::Full => sentence.text.clone(),
            _ => excerpt(&sentence.text, EXCERPT_CHARACTERS),
        },
        z_similarity: sentence.z_similarity,
        peer_support: sentence.peer_support,
    };
    match text {
        ReviewText::None => Vec::new(),
        ReviewText::Excerpts => {
            let chosen = [found.said_by_z(), found.supported_by_peers()].concat();
            let is_chosen =
                |sentence: &&SentenceEvidence| chosen.iter().any(|c| std::ptr::eq(*c, *sentence));
            found.sentences.iter().filter(is_chosen).map(shown).collect()
        }
        // Without an embedder there is still the text to read, if there is one.
        ReviewText::Full if found.sentences.is_empty() => {
            let text = set.reviews[review].content.text.as_deref().unwrap_or_default();
            let bare = |text: &str| ShownSentence {
                text: text.to_owned(),
                z_similarity: None,
                peer_support: None,
            };
            sentences(text).map(bare).collect()
        }
        ReviewText::Full => found.sentences.iter().map(shown).collect(),
    }
}

/// Values that the shaded shares of all sentences reach.
fn levels(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let [low, middle, high] = SHADED.map(|share| quantile(&values, share));
    Some([low?, middle?, high?])
}

/// Cuts all sentences so that together they fit; returns the number of characters left of each.
fn cut(people: &mut [Vec<ReviewDetail>]) -> usize {
    let all = |people: &[Vec<ReviewDetail>], characters: usize| -> usize {
        let sentences = people.iter().flatten().flat_map(|detail| &detail.sentences);
        sentences.map(|sentence| end_of(&sentence.text, characters)).sum()
    };
    let lengths = std::iter::once(EXCERPT_CHARACTERS).chain(SHORTER_EXCERPTS);
    let fits = lengths.clone().find(|&length| all(people, length) <= EXCERPT_BYTES);
    let length = fits.or_else(|| lengths.last()).unwrap_or(EXCERPT_CHARACTERS);
    if length < EXCERPT_CHARACTERS {
        for sentence in people.iter_mut().flatten().flat_map(|detail| &mut detail.sentences) {
            sentence.text = excerpt(&sentence.text, length);
        }
    }
    length
}

/// Bytes of the first `characters` of a text.
fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(end, _)| end)
}

/// The sentence on one line, with an ellipsis where it is cut; no longer than `characters` and
/// the ellipsis.
fn excerpt(sentence: &str, characters: usize) -> String {
    let line = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('\u{2026}');
    let end = end_of(line, characters);
    let was_cut = end < line.len() || sentence.ends_with('\u{2026}');
    format!("{}{}", &line[..end], if was_cut { "\u{2026}" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str, sentences: usize) -> Vec<ReviewDetail> {
        let sentence = ShownSentence { text: text.into(), z_similarity: None, peer_support: None };
        vec![ReviewDetail { sentences: vec![sentence; sentences], ..ReviewDetail::default() }]
    }

    #[test]
    fn excerpts_are_cut_at_characters_and_say_so() {
        assert_eq!(excerpt(" a\n b ", 3), "a b");
        assert_eq!(excerpt("äöüß", 3), "äöü\u{2026}");
        // Cut twice, marked once.
        assert_eq!(excerpt(&excerpt("abcdef", 4), 2), "ab\u{2026}");
        assert_eq!(excerpt(&excerpt("abcdef", 4), 9), "abcd\u{2026}");
    }

    #[test]
    fn many_sentences_are_cut_shorter_until_they_fit() {
        let mut few = vec![person(&"x".repeat(240), 10)];
        assert_eq!(cut(&mut few), 240);
        assert_eq!(few[0][0].sentences[0].text.len(), 240);
        // 100,000 sentences: 120 bytes of each fit, so the next shorter cut is 100.
        let mut many = vec![person(&"x".repeat(240), 100_000)];
        assert_eq!(cut(&mut many), 100);
        assert_eq!(many[0][0].sentences[7].text, format!("{}\u{2026}", "x".repeat(100)));
        // More than fit in any way are cut as short as possible.
        let mut most = vec![person(&"x".repeat(61), 300_000)];
        assert_eq!(cut(&mut most), 60);
    }

    #[test]
    fn levels_are_quantiles_and_missing_without_values() {
        let values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(levels(values), Some([50.0, 75.0, 90.0]));
        assert_eq!(levels(vec![]), None);
    }
}
