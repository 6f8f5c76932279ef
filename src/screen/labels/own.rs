//! What the mechanism `own` says, in words.

use super::{MechanismScores, WorkerRow};
use crate::data::warning::{Warning, first_names, first_of};
use crate::mechanism::{AnswerKind, OwnCrowd, OwnFlag, OwnScore};
use crate::stats::flag::MAJORITY;

/// Workers whose reasons are given; the table has the others.
const SHOWN: usize = 20;

/// That who answers alone and who copies can change places, where so many seem to copy.
pub(super) fn near_majority(scored: &MechanismScores) -> Option<Warning> {
    let share = scored.own?.estimated_share.filter(|share| *share >= MAJORITY)?;
    let message = format!(
        "an estimated {:.0} % of the workers do not answer alone: with more than half, people and an LLM \
         that is not in your files can change places, so nobody is look for answers like those of one, \
         and flags for other reasons are less sure, too; read the answers",
        100.0 * share
    );
    Some(Warning::new("own_near_majority", 1, message))
}

/// Sentences under the table: what was found, who is flagged and why, what a flag is worth here.
pub(super) fn footer(scored: &MechanismScores) -> Vec<String> {
    let Some(crowd) = scored.own else { return Vec::new() };
    let mut footer = vec![found(&crowd)];
    let flagged = |flag: OwnFlag| -> Vec<String> {
        let rows = scored.rows.iter().filter_map(|row| Some((row, row.own?)));
        rows.filter(|(_, own)| own.flag == flag).map(|(row, own)| reason(row, &own)).collect()
    };
    for flag in [OwnFlag::Look, OwnFlag::Unsure] {
        let reasons = flagged(flag);
        if !reasons.is_empty() {
            footer.push(format!("{}: {}.", flag.as_str(), first_of(reasons.into_iter(), SHOWN)));
        }
    }
    let not_judged = flagged(OwnFlag::NotJudged);
    if !not_judged.is_empty() {
        footer.push(format!("not_judged: {}.", first_names(&not_judged)));
    }
    footer.push(
        "look: read these answers; unsure: more likely not the worker's own than own, but not \
         surely enough; clear: nothing stands out; not_judged: nothing can be said. What an LLM \
         that is not in your files would answer is assumed, not measured here: beyond what people \
         do, .4 of the room there is to agree with yours, give or take .2. Labels of a second LLM \
         replace part of that. Where most people are often wrong, the few who are right agree with an \
         LLM that is right, and can read as one: look at their answers before you believe it."
            .into(),
    );
    footer
}

/// What the answers of a worker read as, and by how much; or why nobody can say.
fn reason(row: &WorkerRow, own: &OwnScore) -> String {
    match own.not_judged {
        Some(why) => format!("{} ({})", row.worker, why.as_words()),
        None => format!("{} {} ({})", row.worker, reads_as(own), measured(own)),
    }
}

/// Of somebody who is flagged the likeliest reason, even where own is likelier than each alone.
fn reads_as(own: &OwnScore) -> &'static str {
    let probabilities = own.probabilities.unwrap_or_default();
    let kinds = AnswerKind::EACH[1..].iter().zip(&probabilities[1..]);
    let Some((kind, _)) = kinds.max_by(|a, b| a.1.total_cmp(b.1)) else { return "" };
    let is_of_llm = matches!(kind, AnswerKind::Copy | AnswerKind::Llm);
    // Surely further from the LLM than others are: whatever that is, the LLM was not copied.
    if is_of_llm && own.copied.and_then(|copied| copied.interval()).is_some_and(|(_, h)| h < 0.0) {
        return "answers unlike the others and unlike the LLM";
    }
    kind.as_words()
}

/// The numbers behind it.
fn measured(own: &OwnScore) -> String {
    let copied = own.copied.map_or(String::new(), |copied| {
        let interval = copied
            .interval()
            .map_or(String::new(), |(low, high)| format!(", {low:.2} to {high:.2}"));
        format!("copied {:.2}{interval}; ", copied.value)
    });
    let agreement = own.agreement.map_or(String::new(), |share| format!("{share:.2}"));
    format!("{copied}says what {agreement} of the others say")
}

/// Why to look at a worker, as what follows the name; `None` for who is not judged.
#[cfg(feature = "html")]
pub(super) fn why(own: &OwnScore) -> Option<String> {
    let chance = match 100.0 * own.p_own()? {
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    };
    let (words, measured) = (reads_as(own), measured(own));
    Some(format!("{words} ({measured}); the chance that the answers are their own is {chance}"))
}

/// What was found, and what the flag is worth on this crowd.
pub(super) fn found(crowd: &OwnCrowd) -> String {
    let Some(share) = crowd.estimated_share else {
        return "own judges nobody here.".to_owned();
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let caught: Vec<String> = AnswerKind::EACH[1..]
        .iter()
        .zip(crowd.planted.flagged)
        .filter_map(|(kind, share)| Some(format!("{} {}", kind.as_str(), percent(share?))))
        .collect();
    let people = crowd.planted.people.map_or(String::new(), |people| {
        format!(", and {} of people who answer alone", percent(people))
    });
    format!(
        "About {} of the workers judged do not read as answering alone. The flag look would find \
         these shares of ghosts in the workers' own tasks: {}{people}.",
        percent(share),
        caught.join(", ")
    )
}
