//! What the mechanism `own` says, in words.

use serde_json::{Map, Value};

use super::MechanismScores;
use crate::data::warning::{Warning, first_names};
#[cfg(feature = "html")]
use crate::mechanism::{AnswerKind, OwnScore};
use crate::mechanism::{NotJudged, OwnCrowd, OwnFlag};
#[cfg(feature = "html")]
use crate::report::two_decimals;
use crate::stats::flag::MAJORITY;

/// That people and copiers can change places, where so many seem to copy or the crowd says what an LLM says.
pub(super) fn near_majority(scored: &MechanismScores) -> Option<Warning> {
    let crowd = scored.own?;
    let share = crowd.estimated_share.filter(|share| *share >= MAJORITY);
    let message = match share {
        Some(share) => format!(
            "an estimated {:.0} % of the workers do not answer alone: with more than half, those who do \
             stand out in place of the others; read the answers",
            100.0 * share
        ),
        None if crowd.says_all_of_z => {
            "the crowd says what an LLM says on nearly all tasks: either the tasks are easy, or most have \
             copied it, and then those who answer alone stand out; nobody is clear"
                .into()
        }
        None => return None,
    };
    Some(Warning::new("own_near_majority", 1, message))
}

/// The answer: how many to look at, how many nobody can say anything of; and the same as numbers.
pub(super) fn answer(scored: &MechanismScores) -> Option<(String, Map<String, Value>)> {
    scored.own?;
    let flags = [OwnFlag::Look, OwnFlag::Unsure, OwnFlag::Clear, OwnFlag::NotJudged];
    let count = |flag: OwnFlag| {
        scored.rows.iter().filter(|row| row.own.is_some_and(|own| own.flag == flag)).count()
    };
    let [look, unsure, clear, not_judged] = flags.map(count);
    let beside = if not_judged > 0 { format!(", {not_judged} not judged") } else { String::new() };
    let all = scored.rows.len();
    let headline =
        format!("{look} of {all} workers to look at, {unsure} unsure; {clear} clear{beside}.");
    let mut numbers = Map::new();
    numbers.insert("headline".into(), headline.clone().into());
    numbers.insert("workers".into(), all.into());
    for (flag, count) in flags.iter().zip([look, unsure, clear, not_judged]) {
        numbers.insert(flag.as_str().into(), count.into());
    }
    Some((headline, numbers))
}

/// Sentences under the table: what was found and could be seen, and why people are unsure or not judged.
pub(super) fn footer(scored: &MechanismScores) -> Vec<String> {
    let Some(crowd) = scored.own else { return Vec::new() };
    let mut footer = vec![found(&crowd)];
    let of = |flag: OwnFlag| {
        let rows = scored.rows.iter().filter_map(|row| Some((row, row.own?)));
        rows.filter(move |(_, own)| own.flag == flag)
    };
    // Who is unsure because of the answers comes before those of whom nothing could be seen.
    let (doubtful, others): (Vec<_>, Vec<_>) =
        of(OwnFlag::Unsure).partition(|(_, own)| own.stands_out);
    let hidden = others.iter().filter(|(_, own)| own.visible != [true; 2]).count();
    let mut unsure = Vec::new();
    if !doubtful.is_empty() {
        let names: Vec<&str> = doubtful.iter().map(|(row, _)| row.worker.as_str()).collect();
        let stand = if names.len() == 1 { "stands" } else { "stand" };
        unsure.push(format!("{} {stand} out, not surely enough", first_names(&names)));
    }
    if hidden > 0 {
        unsure.push(format!("{hidden} since a copy or a guess could not be seen in their tasks"));
    }
    if others.len() > hidden {
        let why = if crowd.says_all_of_z {
            "the crowd says what an LLM says on nearly all tasks"
        } else {
            "there are too few workers to call one clear"
        };
        unsure.push(format!("{} since {why}", others.len() - hidden));
    }
    if !unsure.is_empty() {
        footer.push(format!("Unsure: {}.", unsure.join("; ")));
    }
    let not_judged: Vec<NotJudged> =
        of(OwnFlag::NotJudged).filter_map(|(_, own)| own.not_judged).collect();
    let reasons: Vec<String> = NotJudged::EACH
        .into_iter()
        .filter_map(|why| {
            let count = not_judged.iter().filter(|found| **found == why).count();
            (count > 0).then(|| format!("{count} ({})", why.as_words()))
        })
        .collect();
    if !reasons.is_empty() {
        footer.push(format!("Not judged: {}.", reasons.join(", ")));
    }
    footer
}

#[cfg(feature = "html")]
fn reads_as(own: &OwnScore) -> &'static str {
    match own.reads_as {
        Some(AnswerKind::Own) | None => "stands out, but not surely",
        Some(kind) => kind.as_words(),
    }
}

/// The numbers behind it.
#[cfg(feature = "html")]
fn measured(own: &OwnScore) -> String {
    let copied = own.copied.map_or(String::new(), |copied| {
        let interval = copied.interval().map(|(low, high)| {
            format!(", {} to {}", two_decimals(low), two_decimals(high.min(1.0)))
        });
        format!("copied {}{}; ", two_decimals(copied.value), interval.unwrap_or_default())
    });
    let agreement = own.agreement.map_or(String::new(), |share| format!("{share:.2}"));
    format!("{copied}says what {agreement} of the others say")
}

/// Why to look at a worker, as what follows the name; `None` for who is not judged.
#[cfg(feature = "html")]
pub(super) fn why(own: &OwnScore) -> Option<String> {
    let chance = match 100.0 * own.p_own? {
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    };
    let (words, measured) = (reads_as(own), measured(own));
    Some(format!("{words} ({measured}); the chance that the answers are their own is {chance}"))
}

/// What was found, and what could be.
pub(super) fn found(crowd: &OwnCrowd) -> String {
    let Some(share) = crowd.estimated_share else {
        return "own judges nobody here.".to_owned();
    };
    let [copies, guesses] = crowd.visible;
    let judged = crowd.judged;
    // Where no copy could be seen nobody knows how many there are.
    let about = match copies {
        0 => String::new(),
        _ => format!("About {:.0} % do not answer alone. ", share * 100.0),
    };
    format!("{about}Of {judged} a copy could be seen in {copies}, a guess in {guesses}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_copy_could_be_seen_no_share_is_said() {
        let crowd = |copies| OwnCrowd {
            judged: 24,
            estimated_share: Some(0.125),
            visible: [copies, 24],
            says_all_of_z: false,
        };
        let seen = "Of 24 a copy could be seen in 6, a guess in 24.";
        assert_eq!(found(&crowd(6)), format!("About 12 % do not answer alone. {seen}"));
        assert_eq!(found(&crowd(0)), "Of 24 a copy could be seen in 0, a guess in 24.");
    }
}
