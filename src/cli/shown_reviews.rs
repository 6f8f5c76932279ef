//! The table of reviewers as people read it on a terminal: the worst first, columns that say
//! something, and the paper's score beside that of own work.

use crate::report::{Cell, Report, Table};
use crate::screen::{ReviewsRun, ScoreName};
use crate::text::score::ReviewerScore;

/// At most `top` rows of each score, without columns in which nothing stands.
pub(super) fn shown(report: &Report, run: &ReviewsRun, top: usize) -> Report {
    let all = &report.table;
    let mut report = report.clone();
    let projected = beside_own(run);
    let people = run.set().reviewers.len();
    let mut columns = report.table.columns().to_vec();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    // Every score has one row per reviewer.
    for rows_of_score in report.table.rows().chunks(people.max(1)) {
        rows.extend(rows_of_score.iter().take(top).cloned());
    }
    if let Some(scores) = projected {
        columns.push("projected");
        for row in &mut rows {
            let number = match &row[0] {
                Cell::Text(name) => run.set().reviewers.get(name),
                _ => None,
            };
            let estimate = number.and_then(|number| scores[number as usize].estimate);
            row.push(estimate.map(|estimate| estimate.value).into());
        }
    }
    let kept: Vec<usize> = (0..columns.len())
        .filter(|&column| rows.is_empty() || rows.iter().any(|row| row[column] != Cell::Missing))
        .collect();
    let names: Vec<&'static str> = kept.iter().map(|&column| columns[column]).collect();
    report.table = Table::new(&names);
    for row in &rows {
        report.table.push(kept.iter().map(|&column| row[column].clone()).collect());
    }
    if top < people {
        let hidden = people - top;
        // Every score has one row per reviewer, the worst first.
        let rows = all.rows().chunks(people).flat_map(|rows| &rows[top.min(rows.len())..]);
        let flagged =
            all.columns().iter().position(|column| *column == "flag").map_or(0, |flag| {
                rows.filter(|row| row[flag] == Cell::Text("look".into())).count()
            });
        let flagged = match flagged {
            0 => String::new(),
            many => format!(" ({many} more flagged look)"),
        };
        let note = format!(
            "{hidden} of {people} reviewers, the best by each score, are not shown{flagged}: --top N \
             shows more, --output FILE has all."
        );
        let last = report.footer.len().saturating_sub(1);
        report.footer.insert(last, note);
    }
    // The footer lists them.
    report.warnings.retain(|warning| warning.code != "near_duplicates");
    report
}

/// The projected scores, where own work is shown and they have no rows.
fn beside_own(run: &ReviewsRun) -> Option<&[ReviewerScore]> {
    let names = run.score_names();
    let wanted = names == [ScoreName::Own];
    wanted.then(|| run.scored(ScoreName::Projected).scores.as_slice())
}
