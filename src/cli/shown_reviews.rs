//! The table of reviewers as people read it on a terminal: the worst first, and few columns that say
//! something.

use crate::report::{Cell, Report, Table};
use crate::screen::reviews::By;
use crate::screen::{ReviewsRun, ScoreName};

/// At most `top` rows of each score, in the columns that people read.
pub(super) fn shown(report: &Report, run: &ReviewsRun, top: usize) -> Report {
    let all = &report.table;
    let mut report = report.clone();
    let set = run.set();
    let by_review = run.asked().by == By::Review;
    // Every score has one row per reviewer.
    let of_score = if by_review { set.reviews.len() } else { set.reviewers.len() };
    let rows: Vec<&Vec<Cell>> =
        all.rows().chunks(of_score.max(1)).flat_map(|rows| rows.iter().take(top)).collect();
    let names = run.score_names();
    let mut table = if names == [ScoreName::Own] && !by_review {
        let evidence = |row: &&Vec<Cell>| match &row[0] {
            Cell::Text(name) => run.evidence_in_words(name),
            _ => String::new(),
        };
        let evidence: Vec<String> = rows.iter().map(evidence).collect();
        of_own(all, &rows, set.nouns.person(), &evidence)
    } else {
        without_empty(all, &rows, names.len() == 1)
    };
    table.set_headline_of(all);
    report.table = table;
    if let Some(last) = report.footer.last_mut() {
        last.push_str(" Evidence: --explain REVIEWER.");
    }
    if top < of_score {
        let hidden = all.rows().chunks(of_score).flat_map(|rows| &rows[top.min(rows.len())..]);
        let place = all.place("flag");
        let with = |flag: &str| {
            let has = |row: &&Vec<Cell>| place.is_some_and(|p| row[p] == Cell::Text(flag.into()));
            hidden.clone().filter(has).count()
        };
        let flagged = match (with("look"), with("unsure")) {
            (0, 0) => String::new(),
            (0, unsure) => format!(" ({unsure} unsure)"),
            (look, _) => format!(" ({look} to look at)"),
        };
        let nouns = set.nouns;
        let what = if by_review { nouns.texts(of_score) } else { nouns.people(of_score) };
        let note =
            format!("{} of {what} not shown{flagged}: --top N or --output FILE.", of_score - top);
        let last = report.footer.len().saturating_sub(1);
        report.footer.insert(last, note);
    }
    report
}

/// The columns of own work that are read first; whoever is not judged has a note that says why.
fn of_own(all: &Table, rows: &[&Vec<Cell>], person: &'static str, closest: &[String]) -> Table {
    let cell = |row: &[Cell], name: &str| all.place(name).map_or(Cell::Missing, |p| row[p].clone());
    let has = |name: &&str| rows.iter().any(|row| cell(row, name) != Cell::Missing);
    let rare: Vec<&'static str> = ["canaries"].into_iter().filter(has).collect();
    let mut columns = vec![person, "flag", "reads_as", "flagged", "share", "p_own", "evidence"];
    columns.extend(&rare);
    let mut table = Table::new(&columns);
    for (row, closest) in rows.iter().zip(closest) {
        let flagged = match (cell(row, "n_look"), cell(row, "n_papers")) {
            (Cell::Integer(look), Cell::Integer(all)) => format!("{look} of {all}").into(),
            _ => Cell::Missing,
        };
        let evidence = Some(closest.as_str()).filter(|closest| !closest.is_empty());
        let mut shown = vec![
            cell(row, "reviewer"),
            cell(row, "flag"),
            cell(row, "reads_as"),
            flagged,
            cell(row, "share"),
            cell(row, "p_own"),
            evidence.into(),
        ];
        shown.extend(rare.iter().map(|name| cell(row, name)));
        table.push(shown);
    }
    table
}

/// All columns but those in which nothing stands, and those that only files need.
fn without_empty(all: &Table, rows: &[&Vec<Cell>], one_score: bool) -> Table {
    let of_files = |name: &str| {
        matches!(name, "embedder" | "n_zero" | "n_pairs" | "rank")
            || (one_score && name == "score_name")
    };
    let kept: Vec<usize> = (0..all.columns().len())
        .filter(|&column| !of_files(all.columns()[column]))
        .filter(|&column| rows.is_empty() || rows.iter().any(|row| row[column] != Cell::Missing))
        .collect();
    let names: Vec<&'static str> = kept.iter().map(|&column| all.columns()[column]).collect();
    let mut table = Table::new(&names);
    for row in rows {
        table.push(kept.iter().map(|&column| row[column].clone()).collect());
    }
    table
}
