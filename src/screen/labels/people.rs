//! The file of people: one row each, to pay or to ask by.

#![expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 workers")]

use rayon::prelude::*;

use super::{LabelsRun, LabelsSettings, MechanismScores, WorkerRow};
use crate::data::Labels;
use crate::data::ordered_labels::LabelValues;
use crate::data::warning::Warning;
use crate::error::Result;
use crate::mechanism::{
    AnswerKind, DawidSkene, DawidSkeneFit, MechanismError, MechanismName, PeerPosteriors,
};
use crate::report::Table;
use crate::screen::workers::{Bounded, Worker, table};
use crate::stats::interval::{Estimate, Share};

impl LabelsRun {
    /// One row a person, worst first: flag, reading, quality, what is copied, tasks, and how fast they
    /// worked where the file of labels has times. Flag and reading are those of `own`, or, if it was not
    /// asked for, the flag of the first mechanism.
    ///
    /// Quality is the share of right answers by the others (Dawid and Skene without the worker's own
    /// reports), from 0 to 1; of labels on a scale their mean distance from the truth by the others, too,
    /// in the numbers of the scale. Missing for somebody with whom nobody shares a task.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there are too many labels to fit.
    pub fn workers(&self) -> Result<Table> {
        let Some(scored) = self.leading() else {
            return Ok(table([], &self.set.times));
        };
        let fit = fit(&self.set, &self.settings)?;
        let others = fit.as_ref().map(|fit| fit.without_own());
        let excess = self.scores(MechanismName::ExcessZ);
        let people = scored.rows.iter().map(|row| {
            let number = row.number as u32;
            let copied = excess.filter(|_| row.own.is_none()).and_then(|e| e.row(&row.worker));
            Worker {
                name: &row.worker,
                flag: row.flag_word(),
                reads_as: row.own.and_then(|own| own.reads_as).map(AnswerKind::as_str),
                quality: others.as_ref().and_then(|others| others.accuracy(number)).into(),
                copied: copied_of(copied.unwrap_or(row)),
                n_tasks: row.n_tasks,
                error: self.set.values.as_ref().map(|values| {
                    others.as_ref().and_then(|others| error(others, number, values)).into()
                }),
            }
        });
        Ok(table(people, &self.set.times))
    }
}

/// Labels up to which [`add_accuracy`] fits them: of ten million it took half as long as all else.
const MOST_FITTED: usize = 2_000_000;

/// Of whom `own` judges, how right they are: the quality of [`LabelsRun::workers`]. Missing where there are
/// more labels than [`MOST_FITTED`], with a warning, or too many to fit.
pub(super) fn add_accuracy(own: &mut MechanismScores, set: &Labels, settings: &LabelsSettings) {
    let is_judged = |row: &WorkerRow| row.own.is_some_and(|own| own.not_judged.is_none());
    if !own.rows.iter().any(is_judged) {
        return;
    }
    if let Some(warning) = too_many(set.table.report_count()) {
        own.warnings.push(warning);
        return;
    }
    let Ok(Some(fit)) = fit(set, settings) else { return };
    let others = fit.without_own();
    let judged = own.rows.par_iter_mut().filter(|row| is_judged(row));
    judged.for_each(|row| row.accuracy = others.accuracy(row.number as u32));
}

/// That so many labels are not fitted.
pub(super) fn too_many(labels: usize) -> Option<Warning> {
    let message = format!(
        "of more than {MOST_FITTED} labels ({labels}) accuracy is left out of the scores; the table of workers has it \
         as quality"
    );
    (labels > MOST_FITTED).then(|| Warning::new("accuracy_left_out", labels, message))
}

fn fit(set: &Labels, settings: &LabelsSettings) -> Result<Option<DawidSkeneFit>, MechanismError> {
    DawidSkene { settings: settings.options(set.values.as_ref()).em }.fit(&set.table)
}

fn copied_of(row: &WorkerRow) -> Bounded {
    Bounded { value: row.copied, interval: row.copied_interval }
}

impl From<Option<Share>> for Bounded {
    fn from(share: Option<Share>) -> Self {
        Self { value: share.map(|share| share.value), interval: share.map(|share| share.interval) }
    }
}

/// The mean absolute error of a worker: on every task the distance from each label, as probable as
/// the others make it. `None` where nobody else answered a task of theirs.
fn error(others: &PeerPosteriors<'_>, worker: u32, values: &LabelValues) -> Option<Estimate> {
    let mut errors = Vec::new();
    others.visit(worker, |_, own, probabilities| {
        let own = values.places[usize::from(own)];
        let of = |(place, probability): (&f64, &f64)| probability * (place - own).abs();
        errors.push(values.width * values.places.iter().zip(probabilities).map(of).sum::<f64>());
    });
    Estimate::of_mean(&errors)
}

#[cfg(test)]
mod tests {
    use super::super::{LabelsSettings, labels};
    use crate::data::observer::Silent;
    use crate::data::{LabelRow, Labels};
    use crate::mechanism::MechanismName;
    use crate::report::{Cell, Table};

    fn people(rows: &[(&str, &str, &str)], scale: Option<&str>) -> Table {
        let rows = rows.iter().map(|&(task, worker, label)| LabelRow::new(task, worker, label));
        let settings = LabelsSettings {
            mechanism: vec![MechanismName::Majority],
            scale: scale.map(|scale| scale.parse().unwrap()),
            ..LabelsSettings::default()
        };
        let run = labels(Labels::from_rows(rows, []).unwrap(), &settings, &Silent).unwrap();
        run.workers().unwrap()
    }

    fn cells(table: &Table, worker: &str) -> Vec<Cell> {
        table.rows().iter().find(|row| row[0] == worker.into()).unwrap().clone()
    }

    fn close(cell: &Cell, want: f64) -> bool {
        matches!(cell, Cell::Number(number) if (number - want).abs() < 1e-6)
    }

    /// a, b and c say the truth, 1 2 3 5; d says 2 2 5 5; only e answers task v.
    const GRADES: [(&str, [&str; 4]); 4] = [
        ("a", ["1", "2", "3", "5"]),
        ("b", ["1", "2", "3", "5"]),
        ("c", ["1", "2", "3", "5"]),
        ("d", ["2", "2", "5", "5"]),
    ];

    fn rows() -> Vec<(&'static str, &'static str, &'static str)> {
        let tasks = ["q", "r", "s", "t"];
        let of = |(who, said): (&'static str, [&'static str; 4])| {
            tasks.into_iter().zip(said).map(move |(task, label)| (task, who, label))
        };
        GRADES.into_iter().flat_map(of).chain([("v", "e", "1")]).collect()
    }

    #[test]
    fn quality_is_by_the_others_and_the_error_the_mean_distance_by_hand() {
        let table = people(&rows(), Some("1..5"));
        assert_eq!(table.columns()[12..], ["error", "error_low", "error_high"]);
        let d = cells(&table, "d");
        // Right on r and t; off by 1, 0, 2, 0, with a deviation of sqrt(11/12) and t(3) of 3.182.
        assert!(close(&d[3], 0.5) && close(&d[12], 0.75), "{d:?}");
        let half = 3.182_446_3 * (11.0_f64 / 12.0).sqrt() / 2.0;
        assert!(close(&d[13], 0.75 - half) && close(&d[14], 0.75 + half), "{d:?}");
        let a = cells(&table, "a");
        assert!(close(&a[3], 1.0) && close(&a[12], 0.0), "{a:?}");
        // Nobody else answered e's task, and the file has no times.
        let e = cells(&table, "e");
        assert_eq!(e[1], "too_few".into());
        assert_eq!(e[2..9], [const { Cell::Missing }; 7]);
        assert_eq!(e[9..], [&[Cell::Integer(1)][..], &[const { Cell::Missing }; 5]].concat());
    }

    #[test]
    fn without_a_scale_there_is_no_error() {
        let table = people(&rows(), None);
        assert_eq!(table.columns().len(), 12);
        assert!(close(&cells(&table, "d")[3], 0.5), "{:?}", cells(&table, "d"));
    }
}
