//! The table of workers as people read it on a terminal: one row each, the worst first, with what
//! the answers read as, and the paper's score beside it.

use crate::mechanism::{AnswerKind, MechanismName};
use crate::report::{Cell, Report, Table};
use crate::screen::LabelsRun;

/// One row per worker where `own` judges; else the report as it is.
pub(super) fn shown(report: Report, run: &LabelsRun) -> Report {
    let Some(judged) = run.scores(MechanismName::Own) else { return report };
    if !run.is_answer() {
        return report;
    }
    let mut columns = vec!["worker", "flag", "reads_as", "p_own", "copied", "accuracy", "n_tasks"];
    let beside = run.scores(MechanismName::CaZ).map(|scored| {
        let mut values = vec![None; scored.rows.len()];
        for row in &scored.rows {
            values[row.number] = row.estimate.map(|estimate| estimate.value);
        }
        values
    });
    columns.extend(beside.as_ref().map(|_| "ca_z"));
    let mut table = Table::new(&columns);
    for row in &judged.rows {
        let own = row.own;
        let copied = row.copied.map(|copied| match row.copied_interval {
            Some((low, high)) => format!("{copied:.2} ±{:.2}", (high - low) / 2.0),
            None => format!("{copied:.2}"),
        });
        let mut cells: Vec<Cell> = vec![
            row.worker.as_str().into(),
            row.flag_word().into(),
            own.and_then(|own| own.reads_as).map(AnswerKind::as_str).into(),
            own.and_then(|own| own.p_own).into(),
            copied.into(),
            row.accuracy.map(|share| share.value).into(),
            row.n_tasks.into(),
        ];
        cells.extend(beside.as_ref().map(|values| Cell::from(values[row.number])));
        table.push(cells);
    }
    table.set_headline_of(&report.table);
    Report { table, ..report }
}
