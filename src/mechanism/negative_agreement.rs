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
use crate::data::labels::LabelTable;
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

impl Mechanism for NegativeAgreement {
    fn name(&self) -> &'static str {
        "neg_z"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        let workers = (0..table.worker_count() as u32)
            .into_par_iter()
            .with_min_len(16)
            .map(|worker| {
                let mut moments = Moments::default();
                for (task, label) in table.of_worker(worker).iter() {
                    if let Some(z) = self.conditioning.label(task) {
                        moments.push(if label == z { -1.0 } else { 0.0 });
                    }
                }
                let covered = usize::try_from(moments.count()).unwrap_or(usize::MAX);
                WorkerScore {
                    estimate: moments.estimate(),
                    n_tasks: table.of_worker(worker).len(),
                    n_z_tasks: Some(covered),
                    n_used: covered,
                    ..WorkerScore::default()
                }
            })
            .collect();
        Ok(Scores { workers, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(Self { conditioning: self.conditioning.on_tasks(tasks) })
    }

    fn zero_is_chance(&self) -> bool {
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
