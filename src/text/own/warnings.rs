//! What to know before using the scores of a venue.

use super::features::Comparison;
use super::model::Model;
use super::settings::COUNTED_WORDS;
use super::verdict::Verdict;
use crate::data::nouns::{ARE, counted, verb};
use crate::data::warning::Warning;
use crate::stats::flag::MAJORITY;

/// Estimated share of cheaters from which on they are many.
const MANY: f64 = 0.3;

/// Cosine of two Z of a paper above which they are nearly one text.
const ALIKE: f64 = 0.7;

/// `is_measured` says whether texts were compared by words.
pub(super) fn warnings(
    comparison: &Comparison<'_>,
    verdict: &Verdict,
    model: Option<&Model>,
    is_measured: bool,
) -> Vec<Warning> {
    let mut all = of_z(comparison);
    let mut warn = |code, count, message: &str| all.push(Warning::new(code, count, message));
    let of_share = |share: f64, with: &str| {
        let share = 100.0 * share;
        format!(
            "an estimated {share:.0} % of the reviewers did not hand in their own work: with {with}"
        )
    };
    match verdict.prevalence.map(|found| found.share) {
        _ if model.is_none() => warn(
            "own_no_scale",
            1,
            "there are too few reviews, or too little Z, for a scale: only copies of Z are found",
        ),
        None if comparison.planted.is_short => {
            let message = format!(
                "half of the reviews, or of the LLM's texts, have fewer than {COUNTED_WORDS} words: of texts that \
                 short it cannot be said how many are not own work"
            );
            warn("own_not_counted", 1, &message);
        }
        Some(share) if share >= MAJORITY => {
            let with = "more than half the two can change places; read the reviews";
            warn("own_near_majority", 1, &of_share(share, with));
        }
        Some(share) if share >= MANY => {
            warn("own_many_cheaters", 1, &of_share(share, "so many, fewer of them are found"));
        }
        None | Some(_) => {}
    }
    if let Some(cosine) = comparison.likeness_of_sources().filter(|&cosine| cosine > ALIKE) {
        let message = format!(
            "the Z of a paper are nearly the same text (median cosine {cosine:.2}): another LLM or prompt for one of \
             them would show more"
        );
        warn("own_alike_z", 1, &message);
    }
    if verdict.is_blind {
        warn(
            "own_blind",
            1,
            "most copies of the LLM reviews that are planted here read as people's own work, so only words copied \
             one by one are looked at, nobody is clear, and how many cheat cannot be said: other LLM reviews, or the \
             texts of the tasks, may help",
        );
    } else if model.is_some_and(Model::is_blind_to_llm) {
        warn(
            "own_llm_unseen",
            1,
            "what an LLM writes here is as close to the LLM reviews that are held as what people write: of it only \
             copies, and texts about something else, can be seen. p_own counts nothing else, and nobody is clear; \
             the texts of the tasks, or Z of the same LLM, may help",
        );
    }
    // Where all are filed right a few lie so, of short texts one in ten.
    if 6 * verdict.far_z >= comparison.planted.venue.reviews.len() {
        let count = verdict.far_z;
        let message = format!(
            "{} {} on papers whose Z is hardly closer to the paper's reviews than what an LLM writes of \
             other papers: look whether Z is filed under the right papers; whoever wrote those reviews is not clear",
            counted(count, "review"),
            verb(count, ARE)
        );
        warn("own_far_z", count, &message);
    }
    if !is_measured {
        let message = "flags were chosen and measured on the words of texts; by vectors of meaning own work is told \
                       far worse (AUC .76 where words have .98, by the bundled embedder on papers that nothing was \
                       chosen on): without an embedder words are compared";
        warn("own_not_by_words", 1, message);
    }
    all
}

/// Of the Z that are held, and of those left out.
fn of_z(comparison: &Comparison<'_>) -> Vec<Warning> {
    let venue = &comparison.planted.venue;
    let mut all = Vec::new();
    let mut warn = |code, count, message: String| all.push(Warning::new(code, count, message));
    if comparison.assumed_ratio() {
        let ([assumed, deviation], _) = comparison.assumed();
        let papers = match comparison.double_papers {
            0 => "no paper has".to_owned(),
            1 => "one paper has".to_owned(),
            count => format!("{count} papers have"),
        };
        let message = format!(
            "{papers} two different Z: how close another LLM comes to Z is assumed ({assumed} of a copy's closeness, \
             standard deviation {deviation}); a second Z per paper shows it"
        );
        warn("own_one_z", comparison.double_papers, message);
    }
    let count = venue.repeated_z;
    if count > 0 {
        let message = format!("{count} Z that another source has word for word are left out");
        warn("own_repeated_z", count, message);
    }
    let count = comparison.z_counts.iter().filter(|count| **count == 1).count();
    if count > 0 {
        let message = format!(
            "{count} Z are the only one of their source and are left out, since nothing shows what it writes on other \
             papers: source is the LLM or prompt, the same for all that it wrote"
        );
        warn("own_lone_z", count, message);
    }
    for (reason, count) in &venue.unusable_z {
        let message = format!("{count} Z {} and are left out of the score own", reason.as_str());
        warn("own_unusable_z", *count, message);
    }
    all
}
