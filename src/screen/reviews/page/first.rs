//! Whom to look at first, in a sentence each, and how many there may be.

use super::super::ReviewsRun;
use super::super::own;
use super::super::rows::{ReviewerRow, RowDetail};
use crate::data::excerpt::excerpt;
use crate::report::html::{First, FirstPerson, ReviewText, SentencePair};
use crate::report::three_decimals;
use crate::screen::nobody;
use crate::text::own::{Class, OwnScores};
use crate::text::sentence_evidence::{OtherText, TextMatches};

/// Most people who are named.
const NAMED: usize = 10;

/// Characters of each sentence of a pair.
const PAIR_CHARACTERS: usize = 72;

/// Fewest words of a sentence that is the strongest evidence: short ones are alike by chance.
const FEWEST_WORDS: usize = 6;

/// The people flagged by the first score, worst first.
pub(super) fn first(run: &ReviewsRun, text: ReviewText) -> First {
    let Some(&name) = run.score_names().first() else { return First::default() };
    let rows = run.scores(name);
    let flagged: Vec<&ReviewerRow> = rows
        .iter()
        .filter(|row| matches!(row.flag_word(), Some("look" | "uninformative")))
        .collect();
    let person = |row: &&ReviewerRow| FirstPerson {
        person: row.number,
        says: says(run, row),
        // Who writes about something else is not close to what the LLM says of the paper.
        pair: match reads_as(row) {
            Some(Class::OffTopic | Class::OffTopicLlm) => None,
            _ if text == ReviewText::None => None,
            _ => strongest_pair(run, row.number),
        },
    };
    First {
        people: flagged.iter().take(NAMED).map(person).collect(),
        more: flagged.len().saturating_sub(NAMED),
        estimate: run.own().map(|own| estimate(run, own)).unwrap_or_default(),
        nobody: nobody(rows.iter().map(ReviewerRow::flag_word)),
    }
}

fn reads_as(row: &ReviewerRow) -> Option<Class> {
    match &row.detail {
        RowDetail::Own { reads_as, .. } => *reads_as,
        _ => None,
    }
}

/// What follows the name.
fn says(run: &ReviewsRun, row: &ReviewerRow) -> String {
    let RowDetail::Own { posterior, n_look, .. } = &row.detail else {
        let on = run.set().nouns.things(row.n_papers);
        return format!("nothing found beyond what the LLM says, on {on}");
    };
    let what = match reads_as(row) {
        Some(Class::Copy) => "reads as a copy of the LLM's review",
        Some(Class::Llm) => "reads as an LLM's review",
        Some(Class::OffTopic) => "reads as a review of another paper",
        Some(Class::OffTopicLlm) => "reads as a review of another paper, by an LLM or a person",
        Some(Class::Own) | None => "does not read as their own work",
    };
    let nouns = run.set().nouns;
    let on = match *n_look {
        like if (1..row.n_papers).contains(&like) => {
            format!("on {like} of {}", nouns.things(row.n_papers))
        }
        _ => format!("on {}", nouns.things(row.n_papers)),
    };
    let own = posterior.as_ref().map(|posterior| match 100.0 * posterior.own {
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    });
    let on = match of_another_paper(run, row) {
        Some(closest) => format!("{on}; {closest}"),
        None => on,
    };
    match own {
        Some(own) => format!("{what} {on}; the chance that it is their own work is {own}"),
        None => format!("{what} {on}"),
    }
}

/// The review that is most like what was written on another paper, if any is closer to it, and as close
/// as a review should be.
fn of_another_paper(run: &ReviewsRun, row: &ReviewerRow) -> Option<String> {
    let set = run.set();
    let found = set.reviews.iter().zip(&run.own()?.reviews);
    let of_person = found.filter(|(review, _)| review.reviewer as usize == row.number);
    let (review, other) = of_person
        .filter_map(|(review, own)| Some((review, own.other_paper?)))
        .filter(|(_, other)| other.lead() > 0.0 && other.is_close != Some(false))
        .reduce(|best, next| if next.1.lead() > best.1.lead() { next } else { best })?;
    let paper = set.papers.name(review.paper);
    Some(format!(
        "the review of {paper} is closest to what others wrote on {} (closeness {}, to {paper} {})",
        set.papers.name(other.paper),
        three_decimals(other.closeness),
        three_decimals(other.closeness_here)
    ))
}

/// The sentence that is closest to one of an LLM, of all that the reviewer wrote.
fn strongest_pair(run: &ReviewsRun, reviewer: usize) -> Option<SentencePair> {
    let set = run.set();
    let evidence = run.all_evidence(&run.sentences);
    let of_z = |matches: &&TextMatches| matches!(matches.text, OtherText::Z(_));
    let mut best: Option<(f64, String, usize, u32, u32)> = None;
    for paper in evidence.of_reviewer(u32::try_from(reviewer).ok()?) {
        for matches in paper.matches.iter().filter(of_z) {
            let OtherText::Z(z) = matches.text else { continue };
            for (sentence, found) in paper.sentences.iter().zip(&matches.sentences) {
                let long = sentence.text.split_whitespace().count() >= FEWEST_WORDS;
                let better = best.as_ref().is_none_or(|best| found.cosine > best.0);
                if long && better && !sentence.is_form {
                    let own = sentence.text.clone();
                    best = Some((found.cosine, own, z, found.position, paper.paper));
                }
            }
        }
    }
    let (cosine, own, z, position, paper) = best?;
    let text = set.z[z].content.text.as_deref()?;
    let other = crate::embed::sentences::sentences(text).nth(position as usize)?;
    let (source, paper) = (set.sources.name(set.z[z].source), set.papers.name(paper));
    Some(SentencePair {
        own: excerpt(&own, PAIR_CHARACTERS),
        other: excerpt(other, PAIR_CHARACTERS),
        whose: format!("{source} on {paper}"),
        cosine,
    })
}

/// The answer in a sentence, and how well cheating can be seen here.
fn estimate(run: &ReviewsRun, own: &OwnScores) -> Vec<String> {
    let planted = own::planted(own).map(|said| run.set().nouns.said(&said));
    std::iter::once(own::headline(run.set(), own)).chain(planted).collect()
}
