//! The table of reviewers: one row per reviewer and score, and the sentences under it.

use super::ReviewsRun;
use super::own;
use super::rows::{OWN_COLUMNS, RowDetail};
use super::words::{left_out, meaning, scope};
use crate::report::{Cell, Report, Table};
use crate::text::score::ScoreName;
use crate::text::scorer::ScoreDetail;

/// Columns of the result, a contract with scripts. Those of own work and of
/// [`RowDetail::columns`] follow.
const COLUMNS: [&str; 12] = [
    "reviewer",
    "score_name",
    "embedder",
    "score",
    "se",
    "ci_low",
    "ci_high",
    "n_papers",
    "n_pairs",
    "n_zero",
    "rank",
    "flag",
];

pub(super) fn report(run: &ReviewsRun) -> Report {
    let names = run.score_names();
    let mut columns = [&COLUMNS[..], &OWN_COLUMNS].concat();
    columns.extend(names.iter().flat_map(|name| RowDetail::columns(*name)));
    let mut table = Table::new(&columns);
    let mut footer: Vec<String> = run.choice().map(str::to_owned).into_iter().collect();
    footer.push(scope(run));
    for &name in &names {
        for row in run.scores(name) {
            let mut cells = row.cells(run.embedder_of(name), columns.len());
            for &other in &names {
                let its = if other == name { row.detail.cells() } else { Vec::new() };
                let missing = RowDetail::columns(other).len() - its.len();
                cells.extend(its);
                cells.extend(std::iter::repeat_n(Cell::Missing, missing));
            }
            table.push(cells);
        }
        footer.push(meaning(name, run.centered()).to_owned());
        if let ScoreDetail::Own(found) = &run.scored(name).detail {
            footer.extend(own::footer(run.set(), found, &run.asked().own()));
        }
        footer.extend(left_out(run.set(), name, &run.scored(name).scores));
    }
    let interval = if names == [ScoreName::Own] {
        ""
    } else {
        " ci_low to ci_high is a 95 % interval over papers."
    };
    footer.push(format!(
        "Worst first; rank 1 is the best.{interval} A flag is a reason to look, never a verdict."
    ));
    Report {
        command: "reviews",
        inputs: run.inputs.clone(),
        settings: run.settings(),
        table,
        warnings: run.warnings(),
        footer,
        prose: None,
    }
}
