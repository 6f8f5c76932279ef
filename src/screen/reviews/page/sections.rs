//! Reviews that are nearly the same text, and who is not judged, as tables of their own.

use super::super::{ReviewsRun, own};
use crate::report::html::{Section, SectionCell};
use crate::text::own::OwnFlag;

/// Most rows of a section.
const MOST_ROWS: usize = 500;

pub(super) fn sections(run: &ReviewsRun) -> Vec<Section> {
    let sections = [near_duplicates(run), not_judged(run)];
    sections.into_iter().flatten().filter(|section| !section.rows.is_empty()).collect()
}

fn near_duplicates(run: &ReviewsRun) -> Option<Section> {
    let set = run.set();
    let pairs = &run.own()?.near_duplicates;
    let cells = |review: usize| {
        let review = &set.reviews[review];
        let paper = set.papers.name(review.paper).to_owned();
        [SectionCell::Person(review.reviewer as usize), SectionCell::Text(paper)]
    };
    let row = |pair: &crate::text::own::NearDuplicate| {
        let mut row = Vec::from(cells(pair.reviews.0));
        row.extend(cells(pair.reviews.1));
        row.push(SectionCell::Text(format!("{:.0} %", 100.0 * pair.similarity)));
        row
    };
    Some(Section {
        id: "near-duplicates",
        title: "Nearly the same text".into(),
        lead: "Pairs of reviews that share most of their phrases of five words, beyond those of a \
               form. Read them side by side."
            .into(),
        columns: vec!["reviewer", "paper", "and reviewer", "paper", "same phrases"],
        rows: pairs.iter().take(MOST_ROWS).map(row).collect(),
        left_out: pairs.len().saturating_sub(MOST_ROWS),
        replaces: "near_duplicates",
    })
}

fn not_judged(run: &ReviewsRun) -> Option<Section> {
    let people: Vec<(usize, String)> = run
        .own()?
        .reviewers
        .iter()
        .enumerate()
        .filter(|(_, reviewer)| reviewer.flag == OwnFlag::NotJudged)
        .map(|(number, reviewer)| (number, own::reason(reviewer.reason)))
        .collect();
    let left_out = people.len().saturating_sub(MOST_ROWS);
    let row = |(person, why)| vec![SectionCell::Person(person), SectionCell::Text(why)];
    Some(Section {
        id: "not-judged",
        title: "Not judged".into(),
        lead: "Nothing can be said about whose work these reviews are: no flag is no clearance."
            .into(),
        columns: vec!["reviewer", "why"],
        rows: people.into_iter().take(MOST_ROWS).map(row).collect(),
        left_out,
        replaces: "own_not_judged",
    })
}
