//! Negative agreement with Z, `neg_z`: the baseline that everybody asks for.
//!
//! `s_i = -(share of the tasks of i that Z covers on which x_iq = Z_q)`. It punishes every good
//! worker who is right where the LLM is right.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use rayon::prelude::*;

use super::entry::{Entry, Several, conditioning};
use super::strata::Conditioning;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
#[cfg(test)]
use crate::data::labels::Label;
use crate::data::labels::{LabelTable, rows_per_thread};
use crate::stats::moments::Moments;

/// `neg_z`.
#[derive(Debug, Clone)]
pub(crate) struct NegativeAgreement {
    conditioning: Conditioning,
}

impl NegativeAgreement {
    /// Compares with the label `z` of each task, by task number.
    #[cfg(test)]
    pub(crate) fn new(z: Vec<Option<Label>>) -> Self {
        Self { conditioning: Conditioning::on(z) }
    }
}

pub(super) const ENTRY: Entry = Entry {
    name: "neg_z",
    summary: "Minus the agreement with the LLM",
    meaning: "minus the share of tasks on which the worker says what the LLM says",
    unscored: "no task with a Z label",
    needs_z: true,
    is_fitted: false,
    several: Several::Lowest,
    build: |sources, _| Box::new(NegativeAgreement { conditioning: conditioning(sources) }),
};

/// What a worker said.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    tasks: u32,
    /// Tasks that Z covers, and those of them with its label.
    covered: u32,
    equal: u32,
}

/// Of as many numbers, of which `equal` are -1 and the others 0.
fn moments(covered: u32, equal: u32) -> Moments {
    if covered == 0 {
        return Moments::default();
    }
    let (n, equal) = (f64::from(covered), f64::from(equal));
    Moments::of(u64::from(covered), -(equal / n), equal * (n - equal) / n)
}

impl Mechanism for NegativeAgreement {
    fn name(&self) -> &'static str {
        "neg_z"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        // By task, since Z and the reports then lie side by side. Counts, and so their sums over threads, are exact.
        let size = rows_per_thread(table.task_count(), table.report_count());
        let tasks: Vec<u32> = (0..table.task_count() as u32).step_by(size).collect();
        let of_threads: Vec<Vec<Counts>> = tasks
            .into_par_iter()
            .map(|first| {
                let mut counts = vec![Counts::default(); table.worker_count()];
                for task in first..(first + size as u32).min(table.task_count() as u32) {
                    let (z, reports) = (self.conditioning.label(task), table.of_task(task));
                    for (worker, label) in reports.iter() {
                        let counts = &mut counts[worker as usize];
                        counts.tasks += 1;
                        counts.covered += u32::from(z.is_some());
                        counts.equal += u32::from(z == Some(label));
                    }
                }
                counts
            })
            .collect();
        let score = |worker: usize| {
            let of_worker = || of_threads.iter().map(|counts| counts[worker]);
            let sum = |of: fn(Counts) -> u32| of_worker().map(of).sum::<u32>();
            let (covered, equal) = (sum(|counts| counts.covered), sum(|counts| counts.equal));
            WorkerScore {
                estimate: moments(covered, equal).estimate(),
                n_tasks: sum(|counts| counts.tasks) as usize,
                n_z_tasks: Some(covered as usize),
                n_used: covered as usize,
                ..WorkerScore::default()
            }
        };
        let workers = (0..table.worker_count()).into_par_iter().map(score).collect();
        Ok(Scores { workers, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(Self { conditioning: self.conditioning.on_tasks(tasks) })
    }

    fn zero_is_chance(&self) -> bool {
        false
    }

    fn goes_by_worker(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, values};
    use super::*;
    use crate::data::labels::tests::table;

    #[test]
    fn minus_the_share_of_covered_tasks_that_equal_z() {
        let table = table(&[
            ("q", "a", "x"),
            ("r", "a", "y"),
            ("s", "a", "x"),
            ("t", "a", "x"),
            ("s", "b", "y"),
        ]);
        // Worker a: q equal, r equal, s without Z, t differs. Worker b has no covered task.
        let mechanism = NegativeAgreement::new(vec![Some(0), Some(1), None, Some(9)]);
        let scores = mechanism.score(&table).unwrap();
        assert_close(&values(&scores), &[Some(-2.0 / 3.0), None], 1e-15);
        assert_eq!((scores.workers[0].n_tasks, scores.workers[0].n_z_tasks), (4, Some(3)));
        // Terms -1, -1, 0: variance 1/3, se 1/3.
        let error = scores.workers[0].estimate.unwrap().standard_error.unwrap();
        assert!((error - 1.0 / 3.0).abs() < 1e-15);
    }
}
