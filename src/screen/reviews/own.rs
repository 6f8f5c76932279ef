//! Whether the reviews are the reviewers' own work: the scores, and what to know about them.

use std::collections::HashSet;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::explain::number_of;
use super::rows::urgency;
use super::table::CANARIES;
use super::{Asking, ReviewsRun, ReviewsSettings, Sentences};
use crate::data::content::Content;
use crate::data::nouns::Nouns;
use crate::data::nouns::{ARE, counted, verb};
use crate::data::reviews::{Review, ReviewSet};
use crate::data::warning::{Warning, by_reason, first_of};
use crate::data::words::disguised;
use crate::embed::catalogue::{Embedded, embed_contents};
use crate::embed::settings::{EmbedderSettings, EmbedderSpec, Granularity};
use crate::error::Result;
use crate::report::{Cell, Table};
use crate::text::own::{
    Class, Closest, ENOUGH_PAPERS, ENOUGH_REVIEWERS, GhostRate, NearDuplicate, NotJudged, OwnFlag,
    OwnReview, OwnScores, OwnSettings, Prevalence, TextChecks, check_texts, is_copied, own_scores,
    plant, tfidf_vectors,
};

/// Near-duplicates that are named.
const SHOWN_DUPLICATES: usize = 10;

/// Words with characters that nobody sees from which on a text has them by no accident.
const FEWEST_DISGUISED: usize = 5;

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
    let spec = embedder(settings);
    let (vectors, name) = if *spec == EmbedderSpec::Tfidf {
        let progress = asking.observer.stage("weighing words", count);
        let Some(vectors) = tfidf_vectors(set, &planted, &*progress)? else { return Ok(None) };
        (vectors, WORD_WEIGHTS.to_owned())
    } else {
        let embedded = embedded(&texts, spec, settings, asking)?;
        (std::sync::Arc::unwrap_or_clone(embedded.vectors).into(), embedded.name)
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

/// The embedder that own takes of those that are named.
fn embedder(settings: &ReviewsSettings) -> &EmbedderSpec {
    let specs = settings.embedding.embedder.iter().chain(&settings.beside);
    let specs = specs.filter(|spec| spec.is_read_by_own());
    // Of several, word weights: they tell most.
    specs.min_by_key(|spec| **spec != EmbedderSpec::Tfidf).unwrap_or(&EmbedderSpec::Tfidf)
}

/// Whoever names an embedder may believe that own goes by it.
pub(super) fn other_embedder(settings: &ReviewsSettings) -> Option<Warning> {
    let (first, own) = (settings.embedding.embedder.as_ref()?, embedder(settings));
    (first != own || !settings.beside.is_empty()).then(|| {
        let message = format!(
            "own, its flags and p_own are by the embedder {own}, closeness and other scores by {first}"
        );
        Warning::new("own_other_embedder", 1, message)
    })
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
    let nouns = set.nouns;
    // These name nobody, so that their words can be those of the file.
    let said = |warning: Warning| Warning { message: nouns.said(&warning.message), ..warning };
    let mut warnings: Vec<Warning> = own.warnings.iter().cloned().map(said).collect();
    let papers: HashSet<u32> = set.reviews.iter().map(|review| review.paper).collect();
    let people = set.reviewers.len();
    if people < ENOUGH_REVIEWERS || papers.len() < ENOUGH_PAPERS {
        let message = format!(
            "own work is told by a scale made of this venue, and {} and {} are too few for one: copiers \
             can stand among people, so whoever is not to be looked at is unsure and nobody is clear; \
             it takes {ENOUGH_REVIEWERS} and {ENOUGH_PAPERS}",
            nouns.people(people),
            nouns.things(papers.len())
        );
        warnings.push(Warning::new("own_small_venue", people, message));
    }
    let not_judged = || {
        let all = own.reviewers.iter().zip(set.reviewers.names());
        all.filter(|(reviewer, _)| reviewer.flag == OwnFlag::NotJudged)
    };
    let count = not_judged().count();
    if count > 0 {
        let people = not_judged()
            .map(|(reviewer, name)| (name.as_str(), reason_of_many(nouns, reviewer.reason)));
        let message = format!("not judged: {}: {}", nouns.people(count), by_reason(people));
        warnings.push(Warning::new("own_not_judged", count, message));
    }
    warnings.extend(disguised_words(set));
    let pairs = &own.near_duplicates;
    if !pairs.is_empty() {
        let message = format!(
            "{} of {}s {} nearly the same text: {}",
            counted(pairs.len(), "pair"),
            nouns.text(),
            verb(pairs.len(), ARE),
            listed(set, pairs)
        );
        warnings.push(Warning::new("near_duplicates", pairs.len(), message));
    }
    warnings
}

/// Who has characters in their words that hide them from a search.
fn disguised_words(set: &ReviewSet) -> Option<Warning> {
    let found = set.reviews.par_iter().filter_map(|review| {
        let words = disguised(review.content.text.as_deref()?);
        (words >= FEWEST_DISGUISED).then_some((review, words))
    });
    let found: Vec<(&Review, usize)> = found.collect();
    let phrase =
        |(review, words): &(&Review, usize)| format!("{} ({words} words)", name_of(set, review));
    (!found.is_empty()).then(|| {
        let message = format!(
            "{} with characters inside words that nobody sees, or letters of another alphabet that look the same: {}; \
             words are compared without them",
            set.nouns.texts(found.len()),
            first_of(found.iter().map(phrase), SHOWN_DUPLICATES)
        );
        Warning::new("disguised_words", found.len(), message)
    })
}

/// A review by whose it is and of what.
fn name_of(set: &ReviewSet, review: &Review) -> String {
    format!("{} on {}", set.reviewers.name(review.reviewer), set.papers.name(review.paper))
}

fn listed(set: &ReviewSet, pairs: &[NearDuplicate]) -> String {
    let name = |review: usize| name_of(set, &set.reviews[review]);
    let phrase = |pair: &NearDuplicate| {
        let (a, b) = (name(pair.reviews.0), name(pair.reviews.1));
        format!("{a} and {b} ({:.0} %)", 100.0 * pair.similarity)
    };
    first_of(pairs.iter().map(phrase), SHOWN_DUPLICATES)
}

/// Why somebody is not judged.
pub(super) fn reason(nouns: Nouns, reason: Option<NotJudged>) -> String {
    nouns.said(&reason.map_or_else(|| "no review to judge".into(), |reason| reason.to_string()))
}

/// The same where many share a reason, as what follows their number.
fn reason_of_many(nouns: Nouns, why: Option<NotJudged>) -> String {
    match why {
        Some(NotJudged::TooFewWords { fewest, .. }) => format!("with fewer than {fewest} words"),
        Some(NotJudged::SaysLittle { .. }) => {
            "with hardly a word of their own besides a form, or the same ones again and again"
                .into()
        }
        Some(NotJudged::NothingToCompare | NotJudged::NoZ | NotJudged::SmallVenue) | None => {
            format!("with {}", reason(nouns, why))
        }
        Some(NotJudged::OtherLanguage { .. }) => reason(nouns, why),
    }
}

/// How many did not hand in their own work, with the ends of the interval, as people and not as shares.
pub(super) fn estimate(prevalence: &Prevalence) -> String {
    let people = |share: f64| format!("{:.0}", share * prevalence.judged as f64);
    let (low, high) = prevalence.interval;
    let (low, high) = (people(low), people(high));
    let about = people(prevalence.share);
    if low == high {
        return format!("about {about} did not hand in their own work");
    }
    format!("about {about} ({low} to {high}) did not hand in their own work")
}

/// What two of the flags mean, which is another thing in a venue that is too small for a scale.
#[cfg(feature = "html")]
pub(super) fn unsure_and_clear(set: &ReviewSet) -> &'static str {
    let papers: HashSet<u32> = set.reviews.iter().map(|review| review.paper).collect();
    if set.reviewers.len() < ENOUGH_REVIEWERS || papers.len() < ENOUGH_PAPERS {
        "unsure: not to be looked at, but this venue is too small to clear anybody."
    } else {
        "unsure: not surely enough either way, or nothing could be seen. clear: nothing stands out."
    }
}

/// How many people have a flag.
pub(super) fn count(own: &OwnScores, flag: OwnFlag) -> usize {
    own.reviewers.iter().filter(|reviewer| reviewer.flag == flag).count()
}

/// The answer in a sentence.
pub(super) fn headline(set: &ReviewSet, own: &OwnScores) -> String {
    let (people, of) = (|flag| count(own, flag), set.nouns.people(own.reviewers.len()));
    let not_judged = people(OwnFlag::NotJudged);
    if not_judged == own.reviewers.len() {
        return format!("Of {of} nobody could be judged.");
    }
    let mut said = match people(OwnFlag::Look) {
        0 => format!("Nobody of {of} to look at"),
        look => format!("{look} of {of} to look at"),
    };
    said.push_str(&format!(", {} unsure", people(OwnFlag::Unsure)));
    if own.unseen > 0 {
        said.push_str(&format!(" (of {} nothing could be seen)", own.unseen));
    }
    said.push_str(&format!("; {} clear", people(OwnFlag::Clear)));
    if not_judged > 0 {
        said.push_str(&format!(", {not_judged} not judged"));
    }
    match &own.prevalence {
        Some(prevalence) => format!("{said}; {}.", estimate(prevalence)),
        None => format!("{said}."),
    }
}

/// The same and all that the footer says, in numbers.
pub(super) fn summary(set: &ReviewSet, own: &OwnScores) -> Map<String, Value> {
    let cheating = own.prevalence.map(|found| {
        let (low, high) = found.interval;
        json!({ "share": found.share, "low": low, "high": high, "judged": found.judged })
    });
    let looked_at = own.reviews.iter().filter(|review| review.flag == OwnFlag::Look).count();
    let unseen = own.reviewers.iter().zip(set.reviewers.names());
    let unseen: Vec<&str> =
        unseen.filter(|(who, _)| who.is_unseen).map(|(_, n)| n.as_str()).collect();
    let summary = json!({
        "headline": headline(set, own),
        "reviewers": own.reviewers.len(),
        "reviews": own.reviews.len(),
        "papers": set.papers.len(),
        "z": set.z.len(),
        "sources": set.sources.len(),
        "look": count(own, OwnFlag::Look),
        "unsure": count(own, OwnFlag::Unsure),
        "clear": count(own, OwnFlag::Clear),
        "not_judged": count(own, OwnFlag::NotJudged),
        "reviews_to_look_at": looked_at,
        "unsure_because_unseen": unseen,
        "not_own_work": cheating,
        "planted": own.planted,
        "near_duplicates": own.near_duplicates.len(),
    });
    let Value::Object(summary) = summary else { return Map::new() };
    summary
}

/// What would be found of texts that are planted here, by kind.
pub(super) fn planted(own: &OwnScores) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let of_kind = |(place, rate): (usize, &GhostRate)| {
        let (kind, all, one) =
            (kind_in_words(rate.class), percent(rate.on_all), percent(rate.on_one));
        // The first says what the brackets mean.
        let of_several = if place == 0 { " as one of several" } else { "" };
        if one == all {
            format!("{kind} in {all}")
        } else {
            format!("{kind} in {all} ({one}{of_several})")
        }
    };
    if own.planted.by_class.is_empty() {
        return None;
    }
    let kinds: Vec<String> = own.planted.by_model().enumerate().map(of_kind).collect();
    let people = own.planted.people.map_or(String::new(), |people| {
        format!("; of people's own texts {:.1} % would be flagged", 100.0 * people)
    });
    let always = "An LLM's text that you hold is always found word for word, without the model";
    if kinds.is_empty() {
        return Some(format!("{always}{people}."));
    }
    Some(format!(
        "{always}; of others, put in people's places, look finds {}{people}.",
        kinds.join(", ")
    ))
}

/// What a ghost stands for.
pub(super) fn kind_in_words(class: Class) -> &'static str {
    match class {
        Class::Own => "own work",
        Class::Copy => "copies of Z",
        Class::Llm => "another LLM's",
        Class::OffTopic => "a person's about another paper",
        Class::OffTopicLlm => "an LLM's about another paper",
    }
}

/// The same in two lines of a terminal, each kind from one of several texts to all of them.
pub(super) fn found_if_planted(own: &OwnScores, settings: &OwnSettings) -> Option<String> {
    let of = |classes: &[Class]| {
        let rates: Vec<f64> = (own.planted.by_model())
            .filter(|rate| classes.contains(&rate.class))
            .flat_map(|rate| [rate.on_one, rate.on_all])
            .collect();
        let low = rates.iter().copied().reduce(f64::min)?;
        let high = rates.iter().copied().reduce(f64::max)?;
        let [low, high] = [low, high].map(|share| format!("{:.0}", 100.0 * share));
        Some(if low == high { format!("{high} %") } else { format!("{low} to {high} %") })
    };
    if own.planted.by_class.is_empty() {
        return None;
    }
    let varies =
        own.planted.by_class.iter().any(|rate| rate.on_one.total_cmp(&rate.on_all).is_ne());
    let mut said = "Planted here, found: Z always".to_owned();
    if let Some(rates) = of(&[Class::Llm]) {
        let of_several = if varies { " (one text of several, or all)" } else { "" };
        said.push_str(&format!(", another LLM's {rates}{of_several}"));
    }
    if let Some(rates) = of(&[Class::OffTopic, Class::OffTopicLlm]) {
        said.push_str(&format!(", off topic {rates}"));
    }
    if let Some(people) = own.planted.people {
        said.push_str(&format!(", people {:.1} %", 100.0 * people));
    }
    let fdr = 100.0 * settings.fdr;
    Some(format!("{said}; asked for: {fdr:.0} % false alarms at most."))
}

/// Columns of the table of reviews, a contract with scripts.
const REVIEW_COLUMNS: [&str; 10] = [
    "paper",
    "reviewer",
    "flag",
    "reads_as",
    "p_own",
    "copied",
    "closest",
    "closest_kind",
    "closeness",
    "reason",
];

/// Places of the reviews by what to do, then worst first.
pub(super) fn worst_reviews_first(own: &OwnScores) -> Vec<usize> {
    let mut order: Vec<usize> = (0..own.reviews.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&own.reviews[a], &own.reviews[b]);
        let worst = |review: &OwnReview| review.p_own.unwrap_or(1.0);
        let copied = |review: &OwnReview| review.copied.unwrap_or(0.0);
        (urgency(a.flag).cmp(&urgency(b.flag)))
            .then(is_copied(b.copied).cmp(&is_copied(a.copied)))
            .then(worst(a).total_cmp(&worst(b)))
            .then(copied(b).total_cmp(&copied(a)))
    });
    order
}

/// One row a review, worst first.
pub(super) fn table_of_reviews(run: &ReviewsRun, own: &OwnScores) -> Table {
    let (set, closeness, canaries) = (run.set(), run.closeness(), run.canaries());
    let mut columns = REVIEW_COLUMNS.to_vec();
    columns.extend(canaries.map(|_| CANARIES));
    let mut table = Table::new(&columns);
    let mut order = worst_reviews_first(own);
    order.sort_by_key(|&place| !canaries.is_some_and(|canaries| canaries.is_hit(place)));
    for place in order {
        let (review, found) = (&set.reviews[place], &own.reviews[place]);
        let (closest, kind): (Cell, Cell) = match found.closest() {
            Some(Closest::Z(z)) => (set.sources.name(set.z[z.index].source).into(), "z".into()),
            Some(Closest::Peer(peer)) => {
                (set.reviewers.name(set.reviews[peer.index].reviewer).into(), "peer".into())
            }
            Some(Closest::Paper(other)) => {
                (set.papers.name(other.paper).into(), "other_paper".into())
            }
            None => (Cell::Missing, Cell::Missing),
        };
        let why = (found.flag == OwnFlag::NotJudged).then(|| reason(set.nouns, found.reason));
        let mut cells = vec![
            set.papers.name(review.paper).into(),
            set.reviewers.name(review.reviewer).into(),
            found.flag.as_str().into(),
            found.reads_as.map(Class::as_str).into(),
            found.p_own.into(),
            found.copied.into(),
            closest,
            kind,
            closeness[place].into(),
            why.into(),
        ];
        cells.extend(canaries.map(|canaries| Cell::from(canaries.told(place))));
        table.push(cells);
    }
    table
}

/// What these Z could find here, one row a kind of text, before anybody is flagged.
pub(super) fn table_of_ghosts(own: &OwnScores) -> Table {
    let mut table = Table::new(&["kind", "found_on_one", "found_on_all", "n_tried"]);
    for rate in &own.planted.by_class {
        let kind = rate.class.as_str().into();
        table.push(vec![kind, rate.on_one.into(), rate.on_all.into(), rate.count.into()]);
    }
    table
}
