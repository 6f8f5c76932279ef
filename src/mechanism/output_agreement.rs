//! Output agreement, plain (`oa`) and against an LLM (`oa_z`); appendix G.2 of the paper.
//!
//! ```text
//! s_i = (1/n) sum over j != i of ( agreements of i and j / tasks that both answered ),  0/0 = 0
//! ```
//!
//! with n the number of workers. `oa_z` looks only at the tasks that Z covers and counts an
//! agreement only where it differs from Z. A worker who shares no such task with anybody has no
//! score.
//!
//! Pairs are found through the tasks, so that the cost is the number of pairs of reports on a
//! task, not of pairs of workers.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use rayon::prelude::*;

use super::strata::Conditioning;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::LabelTable;
use crate::stats::interval::Estimate;

/// `oa` without Z, `oa_z` with it.
#[derive(Debug, Clone, Default)]
pub struct OutputAgreement {
    conditioning: Conditioning,
}

impl OutputAgreement {
    /// Output agreement, where conditioned only beyond agreement with Z.
    pub fn new(conditioning: Conditioning) -> Self {
        Self { conditioning }
    }
}

impl Mechanism for OutputAgreement {
    fn name(&self) -> &'static str {
        match self.conditioning {
            Conditioning::Nothing => "oa",
            Conditioning::Z(_) => "oa_z",
        }
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        let workers = (0..table.worker_count() as u32)
            .into_par_iter()
            .map_init(
                || Pairs::new(table.worker_count()),
                |pairs, worker| {
                    let (estimate, n_used) = pairs.estimate(table, &self.conditioning, worker);
                    WorkerScore {
                        estimate,
                        n_tasks: table.of_worker(worker).len(),
                        n_z_tasks: self.conditioning.covered_tasks(table, worker),
                        n_used,
                        lambda: None,
                    }
                },
            )
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

/// What one worker shares with each other worker; reused between workers.
struct Pairs {
    /// Shared tasks and agreements, by worker.
    shared: Vec<(u32, u32)>,
    /// Workers with a shared task.
    met: Vec<u32>,
}

impl Pairs {
    fn new(workers: usize) -> Self {
        Self { shared: vec![(0, 0); workers], met: Vec::new() }
    }

    /// The score of `worker` and the number of tasks behind it.
    ///
    /// The standard error is that of a sum of ratios to first order: a task adds to it the sum
    /// over the peers of (agreed - share agreed) / (n * shared), which is 0 on average.
    fn estimate(
        &mut self,
        table: &LabelTable,
        conditioning: &Conditioning,
        worker: u32,
    ) -> (Option<Estimate>, usize) {
        self.count(table, conditioning, worker);
        self.met.sort_unstable();
        let workers = table.worker_count() as f64;
        let ratio = |(shared, agreed): (u32, u32)| f64::from(agreed) / f64::from(shared);
        let sum: f64 = self.met.iter().map(|&peer| ratio(self.shared[peer as usize])).sum();
        let (mut tasks, mut squares) = (0_usize, 0.0);
        for_each_task(table, conditioning, worker, |pairs| {
            let mut term = 0.0;
            let mut peers = 0;
            for (peer, agreed) in pairs {
                let pair = self.shared[peer as usize];
                term += (f64::from(agreed) - ratio(pair)) / f64::from(pair.0);
                peers += 1;
            }
            if peers > 0 {
                tasks += 1;
                squares += (term / workers).powi(2);
            }
        });
        for peer in self.met.drain(..) {
            self.shared[peer as usize] = (0, 0);
        }
        let estimate = (tasks > 0).then(|| {
            let count = tasks as f64;
            Estimate {
                value: sum / workers,
                standard_error: (tasks > 1).then(|| (squares * count / (count - 1.0)).sqrt()),
                degrees_of_freedom: count - 1.0,
            }
        });
        (estimate, tasks)
    }

    fn count(&mut self, table: &LabelTable, conditioning: &Conditioning, worker: u32) {
        for_each_task(table, conditioning, worker, |pairs| {
            for (peer, agreed) in pairs {
                let pair = &mut self.shared[peer as usize];
                if pair.0 == 0 {
                    self.met.push(peer);
                }
                pair.0 += 1;
                pair.1 += u32::from(agreed);
            }
        });
    }
}

/// Calls `visit` for every covered task of `worker` with its peers and whether they agree.
fn for_each_task(
    table: &LabelTable,
    conditioning: &Conditioning,
    worker: u32,
    mut visit: impl FnMut(&mut dyn Iterator<Item = (u32, bool)>),
) {
    for (task, label) in table.of_worker(worker).iter() {
        if !conditioning.covers(task) {
            continue;
        }
        // Agreeing on what the LLM says earns nothing.
        let counts = conditioning.label(task) != Some(label);
        let reports = table.of_task(task).iter();
        let others = reports.filter(|&(peer, _)| peer != worker);
        visit(&mut others.map(|(peer, other)| (peer, counts && other == label)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Crowd, assert_close, random_crowd, values};
    use super::*;
    use crate::data::labels::Label;
    use crate::data::labels::tests::table;
    use proptest::prelude::*;

    fn by_definition(table: &LabelTable, z: Option<&[Option<Label>]>) -> Vec<Option<f64>> {
        let label = |task: u32, worker: u32| {
            table.of_task(task).iter().find(|&(other, _)| other == worker).map(|(_, label)| label)
        };
        let workers = table.worker_count() as u32;
        (0..workers)
            .map(|i| {
                let (mut sum, mut met) = (0.0, false);
                for j in (0..workers).filter(|&j| j != i) {
                    let (mut shared, mut agreed) = (0, 0);
                    for q in 0..table.task_count() as u32 {
                        let (Some(a), Some(b)) = (label(q, i), label(q, j)) else { continue };
                        match z.map(|z| z[q as usize]) {
                            Some(None) => {}
                            Some(Some(z)) => {
                                shared += 1;
                                agreed += i32::from(a == b && a != z);
                            }
                            None => {
                                shared += 1;
                                agreed += i32::from(a == b);
                            }
                        }
                    }
                    if shared > 0 {
                        met = true;
                        sum += f64::from(agreed) / f64::from(shared);
                    }
                }
                met.then_some(sum / f64::from(workers))
            })
            .collect()
    }

    #[test]
    fn three_workers_by_hand() {
        // a and b share q (agree) and r (differ): 1/2. a and c share q (agree): 1. b and c: 1.
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("q", "c", "x"),
            ("r", "a", "x"),
            ("r", "b", "y"),
        ]);
        let scores = OutputAgreement::default().score(&table).unwrap();
        assert_close(&values(&scores), &[Some(0.5), Some(0.5), Some(2.0 / 3.0)], 1e-15);
        // Task terms of a: q (1 - 1/2) / (3 * 2) + 0 = 1/12, r -1/12; se^2 = 2 * 2 / 144.
        let error = scores.workers[0].estimate.unwrap().standard_error.unwrap();
        assert!((error - (4.0_f64 / 144.0).sqrt()).abs() < 1e-15, "{error}");
        // With Z = x on q nothing agreed there counts; r has no Z.
        let mechanism = OutputAgreement::new(Conditioning::on(vec![Some(0), None]));
        assert_close(&values(&mechanism.score(&table).unwrap()), &[Some(0.0); 3], 0.0);
    }

    proptest! {
        #[test]
        fn sparse_scores_equal_the_definition(crowd in random_crowd()) {
            let Crowd { table, z } = &crowd;
            let plain = values(&OutputAgreement::default().score(table).unwrap());
            assert_close(&plain, &by_definition(table, None), 1e-12);
            let conditioned = OutputAgreement::new(Conditioning::on(z.clone()));
            let conditioned = values(&conditioned.score(table).unwrap());
            assert_close(&conditioned, &by_definition(table, Some(z)), 1e-12);
        }

        #[test]
        fn what_z_says_can_only_lower_the_agreement(crowd in random_crowd()) {
            let full: Vec<Option<Label>> =
                crowd.z.iter().map(|label| label.or(Some(0))).collect();
            let plain = values(&OutputAgreement::default().score(&crowd.table).unwrap());
            let conditioned = OutputAgreement::new(Conditioning::on(full));
            let conditioned = values(&conditioned.score(&crowd.table).unwrap());
            for (plain, conditioned) in plain.iter().zip(&conditioned) {
                prop_assert!(conditioned.unwrap_or(0.0) <= plain.unwrap_or(0.0));
            }
        }
    }
}
