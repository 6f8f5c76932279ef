//! The table of workers as people read it on a terminal: one row each, the worst first, with what
//! the answers read as, and the paper's score beside it.

use crate::mechanism::{AnswerKind, MechanismName};
use crate::report::{Cell, Report, Table, two_decimals};
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
        let copied = row.copied.map(|copied| with_half_width(copied, row.copied_interval));
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

/// A value with how far its interval reaches: an end at 1 is cut there, and the other says how sure it is.
fn with_half_width(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) => {
            let half = (value - low).max(high - value);
            format!("{} ±{}", two_decimals(value), two_decimals(half))
        }
        None => two_decimals(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_cut_at_one_is_not_half_as_wide() {
        assert_eq!(with_half_width(1.0, Some((0.89, 1.0))), "1.00 ±0.11");
        assert_eq!(with_half_width(0.95, Some((0.75, 1.0))), "0.95 ±0.20");
        assert_eq!(with_half_width(-0.1, Some((-0.25, 0.05))), "-0.10 ±0.15");
        assert_eq!(with_half_width(0.5, None), "0.50");
        assert_eq!(with_half_width(-0.001, None), "0.00");
    }
}
