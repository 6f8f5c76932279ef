//! Reviews that are nearly the same text, those that are about another paper, and who is not judged, as
//! tables of their own.

use super::super::{ReviewsRun, own};
use crate::data::nouns::Nouns;
use crate::data::reviews::Review;
use crate::report::html::{Section, SectionCell};
use crate::report::three_decimals;
use crate::text::own::{OtherPaper, OwnFlag};

/// Most rows of a section.
const MOST_ROWS: usize = 500;

pub(super) fn sections(run: &ReviewsRun) -> Vec<Section> {
    let sections = [near_duplicates(run), other_papers(run), not_judged(run)];
    let nouns = run.set().nouns;
    let said = |section: Section| Section {
        title: nouns.said(&section.title),
        lead: nouns.said(&section.lead),
        columns: section.columns.iter().map(|column| in_its_words(nouns, column)).collect(),
        ..section
    };
    sections.into_iter().flatten().filter(|section| !section.rows.is_empty()).map(said).collect()
}

/// The name of a column in the words of the file.
fn in_its_words(nouns: Nouns, column: &'static str) -> &'static str {
    match column {
        "reviewer" => nouns.person(),
        "paper" => nouns.thing(),
        "and reviewer" if nouns == Nouns::Answers => "and worker",
        "closest other paper" if nouns == Nouns::Answers => "closest other task",
        column => column,
    }
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
        rest: "",
        replaces: "near_duplicates",
    })
}

/// Which paper the reviews of people who read as off topic are closest to.
fn other_papers(run: &ReviewsRun) -> Option<Section> {
    let set = run.set();
    let found = set.reviews.iter().zip(&run.own()?.reviews);
    let mut found: Vec<_> =
        found.filter_map(|(review, own)| Some((review, own.other_paper?))).collect();
    let paper = |number: u32| SectionCell::Text(set.papers.name(number).to_owned());
    let number = |value: f64| SectionCell::Text(three_decimals(value));
    // Those that are much closer to another paper first.
    found.sort_by(|(_, a), (_, b)| b.lead().total_cmp(&a.lead()));
    let left_out = found.len().saturating_sub(MOST_ROWS);
    let row = |(review, other): (&Review, OtherPaper)| {
        let is_close = set.nouns.said(match other.is_close {
            Some(true) => "as close as a review is",
            Some(false) => "less close than a review is",
            None => "",
        });
        vec![
            SectionCell::Person(review.reviewer as usize),
            paper(review.paper),
            number(other.closeness_here),
            paper(other.paper),
            number(other.closeness),
            SectionCell::Text(is_close),
        ]
    };
    Some(Section {
        id: "other-papers",
        title: "About which paper?".into(),
        lead: "Reviews by people whose work reads as off topic, and the other paper that each is \
               closest to: how similar it is to what other people and the LLM wrote on that paper, \
               beyond what it has in common with such texts on other papers. As close as a review is \
               (closer than the least close tenth of those that read as own work): taken from there, \
               or filed under the wrong paper. Less close: it says little of any paper, or is about one \
               that is not here."
            .into(),
        columns: vec![
            "reviewer",
            "handed in for",
            "closeness",
            "closest other paper",
            "closeness to that",
            "which is",
        ],
        rows: found.into_iter().take(MOST_ROWS).map(row).collect(),
        left_out,
        rest: "The evidence for a reviewer names theirs.",
        replaces: "",
    })
}

fn not_judged(run: &ReviewsRun) -> Option<Section> {
    let people: Vec<(usize, String)> = run
        .own()?
        .reviewers
        .iter()
        .enumerate()
        .filter(|(_, reviewer)| reviewer.flag == OwnFlag::NotJudged)
        .map(|(number, reviewer)| (number, own::reason(run.set().nouns, reviewer.reason)))
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
        rest: "The other formats have them.",
        replaces: "own_not_judged",
    })
}
