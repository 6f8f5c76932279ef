//! Whom to look at first, in a sentence each, and how many there may be.

use super::super::ReviewsRun;
use super::super::own;
use super::super::rows::{ReviewerRow, RowDetail};
use super::super::verdict::{Verdicts, in_percent, kind_of};
use crate::data::excerpt::excerpt;
use crate::report::html::{First, FirstPerson, ReviewText, SentencePair};
use crate::screen::nobody;
use crate::text::own::Class;
use crate::text::sentence_evidence::{OtherText, TextMatches};

/// Most people who are named.
const NAMED: usize = 10;

/// Most people who are unsure and named.
const NAMED_UNSURE: usize = 5;

/// Characters of each sentence of a pair.
const PAIR_CHARACTERS: usize = 72;

/// Fewest words of a sentence that is the strongest evidence: short ones are alike by chance.
const FEWEST_WORDS: usize = 6;

/// The people flagged by the score whose flags are read, worst first.
pub(super) fn first(run: &ReviewsRun, text: ReviewText) -> First {
    let Some(name) = run.leading() else { return First::default() };
    let rows = run.scores(name);
    let flagged: Vec<&ReviewerRow> = rows
        .iter()
        .filter(|row| matches!(row.flag_word(), Some("look" | "uninformative")))
        .collect();
    let verdicts = Verdicts::of(run);
    let person = |row: &&ReviewerRow| FirstPerson {
        person: row.number,
        says: says(run, (verdicts.as_ref(), text), row),
        // Who writes about something else is not close to what the LLM says of the paper.
        pair: match row.reads_as() {
            Some(Class::OffTopic | Class::OffTopicLlm) => None,
            _ if text == ReviewText::None => None,
            _ => strongest_pair(run, row.number),
        },
    };
    // Those of whom nothing could be seen do not stand out: they are counted, and not named.
    let is_unseen =
        |row: &ReviewerRow| run.own().is_some_and(|own| own.reviewers[row.number].is_unseen);
    let unsure: Vec<&ReviewerRow> =
        rows.iter().filter(|row| row.flag_word() == Some("unsure") && !is_unseen(row)).collect();
    let in_doubt = |row: &&ReviewerRow| FirstPerson { pair: None, ..person(row) };
    First {
        answer: run
            .own()
            .map(|own| own::headline(run.set(), own))
            .into_iter()
            .chain(run.canaries().map(|canaries| canaries.headline(run.set())))
            .collect::<Vec<_>>()
            .join(" "),
        people: flagged.iter().take(NAMED).map(person).collect(),
        more: flagged.len().saturating_sub(NAMED),
        unsure: unsure.iter().take(NAMED_UNSURE).map(in_doubt).collect(),
        more_unsure: unsure.len().saturating_sub(NAMED_UNSURE),
        estimate: run
            .own()
            .and_then(own::planted)
            .map(|said| run.set().nouns.said(&said))
            .into_iter()
            .collect(),
        nobody: nobody(rows.iter().map(ReviewerRow::flag_word)),
    }
}

/// What follows the name.
fn says(
    run: &ReviewsRun,
    (verdicts, text): (Option<&Verdicts<'_>>, ReviewText),
    row: &ReviewerRow,
) -> String {
    if let Some(canaries) = run.canaries() {
        let quoted = text != ReviewText::None;
        let hits = || canaries.told_by_paper(row.number, run.set(), quoted).join("; ");
        let some = canaries.has_person_some(row.number) && row.reads_as() == Some(Class::Own);
        let how_many = match (row.is_canary, some) {
            (true, _) => "every phrase that was hidden in the paper",
            (false, true) => "some phrases that were hidden",
            (false, false) => "",
        };
        if !how_many.is_empty() {
            return format!("repeats {} ({})", run.set().nouns.said(how_many), hits());
        }
    }
    let RowDetail::Own { posterior, n_look, .. } = &row.detail else {
        let on = run.set().nouns.things(row.n_papers);
        return format!("nothing found beyond what the LLM says, on {on}");
    };
    let nouns = run.set().nouns;
    let what = match row.reads_as() {
        Some(class) => format!("reads as {}", nouns.said(kind_of(class))),
        None => "does not read as their own work".to_owned(),
    };
    let doubtful = verdicts.map_or(0, |all| all.doubtful(row.number).len());
    let on = match doubtful.max(*n_look) {
        like if (1..row.n_papers).contains(&like) => {
            format!("on {like} of {}", nouns.things(row.n_papers))
        }
        _ => format!("on {}", nouns.things(row.n_papers)),
    };
    let own = posterior.as_ref().map(|posterior| in_percent(posterior.own));
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
        .filter(|(_, other)| other.is_closer())
        .reduce(|best, next| if next.1.lead() > best.1.lead() { next } else { best })?;
    let paper = set.papers.name(review.paper);
    let there = set.papers.name(other.paper);
    let what = set.nouns.text();
    Some(format!("the {what} of {paper} is closest to what others wrote on {there}"))
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
