//! Whether the reviews are the reviewers' own work: the scores, and what to know about them.

use std::collections::HashSet;

use super::explain::number_of;
use super::{Asking, ReviewsSettings, Sentences};
use crate::data::content::Content;
use crate::data::reviews::ReviewSet;
use crate::data::warning::{Warning, by_reason, first_of};
use crate::embed::catalogue::{Embedded, embed_contents};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
use crate::error::Result;
use crate::text::own::{
    ENOUGH_PAPERS, ENOUGH_REVIEWERS, GhostRate, NearDuplicate, NotJudged, OwnFlag, OwnScores,
    OwnSettings, OwnWarning, Prevalence, TextChecks, check_texts, own_scores, plant, tfidf_vectors,
};

/// Near-duplicates that are named.
const SHOWN_DUPLICATES: usize = 10;

/// What `own` is computed with where no embedder of texts on this machine is named.
pub(super) const WORD_WEIGHTS: &str = "tfidf";

/// The scores, and the embedder they rest on; `None` if a content has no text.
///
/// An embedder on this machine that is named is used. The texts of ghosts are not sent to a server
/// or a judge: there are several for each review, and word weights are no worse.
pub(super) fn scores(
    set: &ReviewSet,
    settings: &ReviewsSettings,
    checks: Option<TextChecks>,
    asking: &Asking<'_>,
) -> Result<Option<(OwnScores, String)>> {
    let own = settings.own();
    let checks = checks.unwrap_or_else(|| check_texts(set, &own));
    let planted = plant(set, &checks, &own);
    let Some(texts) = planted.texts(set) else { return Ok(None) };
    let count = texts.len() as u64;
    let here = |spec: &&EmbedderSpec| {
        matches!(spec, EmbedderSpec::Tfidf | EmbedderSpec::Static(_) | EmbedderSpec::Bert(_))
    };
    let specs = settings.embedding.embedder.iter().chain(&settings.beside).filter(here);
    // Of several, word weights: they tell most.
    let spec =
        specs.min_by_key(|spec| **spec != EmbedderSpec::Tfidf).unwrap_or(&EmbedderSpec::Tfidf);
    let (vectors, name) = if *spec == EmbedderSpec::Tfidf {
        let progress = asking.observer.stage("weighing words", count);
        let Some(vectors) = tfidf_vectors(set, &planted, &*progress)? else { return Ok(None) };
        (vectors, WORD_WEIGHTS.to_owned())
    } else {
        let embedded = embedded(&texts, spec, settings, asking)?;
        (std::sync::Arc::unwrap_or_clone(embedded.vectors), embedded.name)
    };
    let progress = asking.observer.stage("comparing", count);
    let one = match &asking.sentences {
        Sentences::Of(name) => Some(number_of(set, name)?),
        Sentences::None | Sentences::Everybody => None,
    };
    let wanted = |reviewer| asking.other_papers && one.is_none_or(|one| one == reviewer);
    let scores = own_scores(set, &planted, vectors, &own, &wanted, &*progress)?;
    Ok(Some((scores, name)))
}

/// Vectors of all texts by an embedder on this machine.
fn embedded(
    texts: &[&str],
    spec: &EmbedderSpec,
    settings: &ReviewsSettings,
    asking: &Asking<'_>,
) -> Result<Embedded> {
    let content = |text: &&str| Content { text: Some((*text).into()), ..Content::default() };
    let contents: Vec<Content> = texts.iter().map(content).collect();
    let contents: Vec<&Content> = contents.iter().collect();
    let settings = EmbedderSettings { embedder: Some(spec.clone()), ..settings.embedding.clone() };
    let (models, observer) = (asking.models, asking.observer);
    embed_contents(&contents, &settings, Granularity::Sentence, models, observer, None)
}

/// What to know about the scores: of the venue, of who is not judged, of texts handed in twice.
pub(super) fn warnings(set: &ReviewSet, own: &OwnScores) -> Vec<Warning> {
    let mut warnings: Vec<Warning> =
        own.warnings.iter().copied().map(OwnWarning::to_warning).collect();
    let papers: HashSet<u32> = set.reviews.iter().map(|review| review.paper).collect();
    let people = set.reviewers.len();
    if people < ENOUGH_REVIEWERS || papers.len() < ENOUGH_PAPERS {
        let message = format!(
            "own work is told by a scale made of this venue, and {people} reviewers of {} papers \
             are too few for one: copiers can stand among people, so whoever is not to be \
             looked at is unsure and nobody is clear; it takes {ENOUGH_REVIEWERS} reviewers and \
             {ENOUGH_PAPERS} papers",
            papers.len()
        );
        warnings.push(Warning::new("own_small_venue", people, message));
    }
    let not_judged = || {
        let all = own.reviewers.iter().zip(set.reviewers.names());
        all.filter(|(reviewer, _)| reviewer.flag == OwnFlag::NotJudged)
    };
    let count = not_judged().count();
    if count > 0 {
        let people =
            not_judged().map(|(reviewer, name)| (name.as_str(), reason_of_many(reviewer.reason)));
        let message = format!("{count} reviewers are not judged: {}", by_reason(people));
        warnings.push(Warning::new("own_not_judged", count, message));
    }
    let pairs = &own.near_duplicates;
    if !pairs.is_empty() {
        let message = format!(
            "{} pairs of reviews are nearly the same text: {}",
            pairs.len(),
            listed(set, pairs)
        );
        warnings.push(Warning::new("near_duplicates", pairs.len(), message));
    }
    warnings
}

fn listed(set: &ReviewSet, pairs: &[NearDuplicate]) -> String {
    let name = |review: usize| {
        let review = &set.reviews[review];
        format!("{} on {}", set.reviewers.name(review.reviewer), set.papers.name(review.paper))
    };
    let phrase = |pair: &NearDuplicate| {
        let (a, b) = (name(pair.reviews.0), name(pair.reviews.1));
        format!("{a} and {b} ({:.0} %)", 100.0 * pair.similarity)
    };
    first_of(pairs.iter().map(phrase), SHOWN_DUPLICATES)
}

/// Why somebody is not judged.
pub(super) fn reason(reason: Option<NotJudged>) -> String {
    reason.map_or_else(|| "no review to judge".into(), |reason| reason.to_string())
}

/// The same where many share a reason, as what follows their number.
fn reason_of_many(why: Option<NotJudged>) -> String {
    match why {
        Some(NotJudged::TooFewWords { fewest, .. }) => format!("with fewer than {fewest} words"),
        Some(NotJudged::NothingToCompare | NotJudged::NoZ | NotJudged::SmallVenue) | None => {
            format!("with {}", reason(why))
        }
        Some(NotJudged::OtherLanguage { .. } | NotJudged::LikeNothing) => reason(why),
    }
}

/// How many did not hand in their own work, each share in the words of `said`.
pub(super) fn estimate(prevalence: &Prevalence, said: impl Fn(f64) -> String) -> String {
    let (low, high) = prevalence.interval;
    format!(
        "An estimated {} of the {} reviewers judged did not hand in their own work (95 % interval \
         {} to {}).",
        said(prevalence.share),
        prevalence.judged,
        said(low),
        said(high)
    )
}

/// What two of the flags mean, which is another thing in a venue that is too small for a scale.
pub(super) fn unsure_and_clear(set: &ReviewSet) -> &'static str {
    let papers: HashSet<u32> = set.reviews.iter().map(|review| review.paper).collect();
    if set.reviewers.len() < ENOUGH_REVIEWERS || papers.len() < ENOUGH_PAPERS {
        "unsure: not to be looked at, but this venue is too small to clear anybody."
    } else {
        "unsure: more likely not their own work than own, but not surely enough. clear: nothing \
         stands out."
    }
}

/// How many of the ghosts of each kind would be flagged.
fn by_kind(own: &OwnScores) -> String {
    let of_kind =
        |rate: &GhostRate| format!("{} {:.0} %", rate.class.as_str(), 100.0 * rate.on_all);
    own.planted.by_class.iter().map(of_kind).collect::<Vec<_>>().join(", ")
}

/// Sentences under the table: what was found in this venue, and what the flags mean.
pub(super) fn footer(set: &ReviewSet, own: &OwnScores, settings: &OwnSettings) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut footer: Vec<String> =
        own.prevalence.map(|found| estimate(&found, percent)).into_iter().collect();
    if let (Some(ghosts), Some(people)) = (own.planted.ghosts, own.planted.people) {
        footer.push(format!(
            "Of ghosts planted in this venue {} would be flagged ({}); of people's slots {}.",
            percent(ghosts),
            by_kind(own),
            percent(people)
        ));
    }
    if own.assumed_ratio {
        footer.push(
            "Too few papers have two different LLM reviews, so how close another LLM comes to the \
             one that is there is assumed, not measured in this venue."
                .into(),
        );
    }
    footer.push(format!(
        "look: read these reviews; at most about {} of those flagged are expected to be false alarms. \
         {} not_judged: nothing can be said, for the reason given below.",
        percent(settings.fdr),
        unsure_and_clear(set)
    ));
    if !own.near_duplicates.is_empty() {
        footer.push(format!(
            "Nearly the same text, to be read side by side: {}.",
            listed(set, &own.near_duplicates)
        ));
    }
    footer
}
