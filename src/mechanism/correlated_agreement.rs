//! Correlated agreement, plain (`ca`) and conditioned on an LLM (`ca_z`).
//!
//! Algorithms 1 and 2 of *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth*
//! (Zhang, Pang, Zhu, Liu; NeurIPS 2025) pay a worker for agreeing with a peer on the same task
//! more than on different tasks of the same stratum. They draw one peer and one penalty task;
//! here both are averaged over all, which is their exact expectation:
//!
//! ```text
//! s_i = sum_k P(Z = k) * mean over tasks q of i in stratum k of [ mean over usable peers j of q of
//!         ( T(x_iq, x_jq, k) - mean over other tasks q' of j in stratum k of T(x_iq, x_jq', k) ) ]
//! ```
//!
//! A peer is usable if it has another task in the stratum. A task without a usable peer is left
//! out; a stratum without a usable task adds nothing. `ca` is the same with one stratum.
//!
//! The sums factor, so that the cost is linear: with the histogram `H_j` of the labels of peer j
//! in the stratum and `n_j` its tasks, the peer is worth `v[h] = T[h, x_jq] n_j / (n_j - 1) -
//! sum_l T[h, l] H_j[l] / (n_j - 1)` to a report h, and a worker gets the sum over the reports of
//! the task less its own part.
//!
//! Standard errors: [`influence`]. Sampled scores take the spread of their own task terms.

mod influence;

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use self::influence::StratumTerms;
use super::chunks::{most_chunks, task_chunks};
use super::entry::{Entry, Several, conditioning};
use super::options::CorrelatedAgreementOptions;
use super::sampled_agreement::SampledTerms;
use super::scoring_function::ScoreMatrix;
use super::strata::{Conditioning, StratifiedMean, Stratum};
use super::{MAX_STATE_BYTES, Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::stats::moments::Moments;

/// `ca` without Z, `ca_z` with it.
#[derive(Debug, Clone, Default)]
pub struct CorrelatedAgreement {
    conditioning: Conditioning,
    options: CorrelatedAgreementOptions,
}

impl CorrelatedAgreement {
    /// Correlated agreement within the strata of `conditioning`.
    pub fn new(conditioning: Conditioning, options: CorrelatedAgreementOptions) -> Self {
        Self { conditioning, options }
    }
}

pub(super) const GIVEN_Z: Entry = Entry {
    name: "ca_z",
    summary: "Correlated agreement beyond the LLM",
    meaning: "agreement with peers on the same task, less agreement on other tasks that the LLM \
              labels the same; 0 is what copying the LLM or guessing earns",
    unscored: "no task with a Z label and a peer who has another task of that Z label",
    needs_z: true,
    build: |sources, options| {
        let options = options.correlated_agreement.clone();
        Box::new(CorrelatedAgreement::new(conditioning(sources), options))
    },
    ..PLAIN
};

pub(super) const PLAIN: Entry = Entry {
    name: "ca",
    summary: "Correlated agreement",
    meaning: "agreement with peers on the same task, less agreement on other tasks; rewards what \
              workers copied from the same LLM",
    unscored: "no task with a peer who has another task",
    needs_z: false,
    is_fitted: false,
    several: Several::Lowest,
    build: |_, options| {
        let options = options.correlated_agreement.clone();
        Box::new(CorrelatedAgreement::new(Conditioning::Nothing, options))
    },
};

impl Mechanism for CorrelatedAgreement {
    fn name(&self) -> &'static str {
        match self.conditioning {
            Conditioning::Nothing => "ca",
            Conditioning::Z(_) => "ca_z",
        }
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        let strata = self.conditioning.strata(table);
        let apart = table.label_count() > MANY_CLASSES && self.options.sampling.is_none();
        let sums = if apart {
            self.sums_apart(table, &strata)?
        } else {
            check_size(table)?;
            self.sums(table, &strata)
        };
        let workers = sums
            .iter()
            .zip(0..)
            .map(|(sum, worker)| WorkerScore {
                estimate: sum.estimate(self.options.renormalize_strata),
                n_tasks: table.of_worker(worker).len(),
                n_z_tasks: self.conditioning.covered_tasks(table, worker),
                n_used: sum.tasks(),
                ..WorkerScore::default()
            })
            .collect();
        Ok(Scores { workers, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(Self {
            conditioning: self.conditioning.on_tasks(tasks),
            options: self.options.clone(),
        })
    }
}

impl CorrelatedAgreement {
    /// The sums over strata of every worker, all strata in the one table.
    fn sums(&self, table: &LabelTable, strata: &[Stratum]) -> Vec<StratifiedMean> {
        let mut sums = vec![StratifiedMean::default(); table.worker_count()];
        let mut exact = ExactTerms::new(table);
        for stratum in strata {
            let matrix = self.options.scoring_function.matrix(table, &stratum.tasks, stratum.label);
            let moments = match self.options.sampling {
                None => exact.moments(&stratum.tasks, &matrix),
                Some(sampling) => {
                    SampledTerms { table, matrix: &matrix, sampling }.moments(stratum)
                }
            };
            for (sum, moments) in sums.iter_mut().zip(&moments) {
                sum.add(stratum.weight, moments);
            }
        }
        sums
    }

    /// The same with a table of its own for every stratum, of the labels and workers that it has:
    /// what one stratum costs then does not depend on how many labels there are elsewhere.
    fn sums_apart(
        &self,
        table: &LabelTable,
        strata: &[Stratum],
    ) -> Result<Vec<StratifiedMean>, MechanismError> {
        let mut sums = vec![StratifiedMean::default(); table.worker_count()];
        for stratum in strata {
            let part = table.part(&stratum.tasks);
            check_size(&part.table)?;
            let tasks: Vec<u32> = (0..).take(stratum.tasks.len()).collect();
            let function = &self.options.scoring_function;
            let matrix = function.matrix_of(&part.table, &tasks, stratum.label, &part.labels);
            let moments = ExactTerms::new(&part.table).moments(&tasks, &matrix);
            for (&worker, moments) in part.workers.iter().zip(&moments) {
                sums[worker as usize].add(stratum.weight, moments);
            }
        }
        Ok(sums)
    }
}

/// From this many labels on, every stratum has a table of its own: a stratum has few of them then.
const MANY_CLASSES: usize = 64;

/// Refuses tables whose histograms and matrices would exceed [`MAX_STATE_BYTES`]: free text taken
/// for labels, as a rule.
fn check_size(table: &LabelTable) -> Result<(), MechanismError> {
    let (workers, classes) = (table.worker_count(), table.label_count());
    let of_workers = workers.saturating_mul(classes + 1).saturating_mul(12);
    let matrices = classes.saturating_mul(classes).saturating_mul(8 * (most_chunks(table) + 1));
    let bytes = of_workers.saturating_add(matrices);
    if bytes > MAX_STATE_BYTES {
        return Err(MechanismError::TooLarge {
            gibibytes: bytes.div_ceil(1 << 30),
            limit: MAX_STATE_BYTES >> 30,
            classes,
        });
    }
    Ok(())
}

/// Exact task terms of one stratum after another; the memory is reused between strata.
struct ExactTerms<'a> {
    table: &'a LabelTable,
    classes: usize,
    /// Labels in the stratum, `classes` per worker.
    histograms: Vec<AtomicU32>,
    /// What a worker is worth as a peer, `classes + 1` per worker; see [`Self::set_peers`].
    peers: Vec<f64>,
}

impl<'a> ExactTerms<'a> {
    fn new(table: &'a LabelTable) -> Self {
        let (workers, classes) = (table.worker_count(), table.label_count());
        let zeros = std::iter::repeat_with(AtomicU32::default);
        Self {
            table,
            classes,
            histograms: zeros.take(workers * classes).collect(),
            peers: vec![0.0; workers * (classes + 1)],
        }
    }

    /// Means of the task terms of every worker, with the sums of squares behind their variances.
    fn moments(&mut self, tasks: &[u32], matrix: &ScoreMatrix) -> Vec<Moments> {
        self.count(tasks);
        self.set_peers(matrix);
        StratumTerms::new(self, tasks, matrix).moments()
    }

    /// Counts the labels of every worker in the stratum. Integer sums do not depend on the order,
    /// so that threads may share them.
    fn count(&self, tasks: &[u32]) {
        let table = self.table;
        // A thread that is alone need not lock a cell to add to it: 5 to 10 % of the whole time.
        let alone = rayon::current_num_threads() == 1;
        task_chunks(table, tasks).into_par_iter().for_each(|tasks| {
            for &task in tasks {
                for (worker, label) in table.of_task(task).iter() {
                    let cell =
                        &self.histograms[worker as usize * self.classes + usize::from(label)];
                    if alone {
                        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    } else {
                        cell.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
    }

    /// From the histograms, which are reset: `n / (n - 1)`, then `sum_l T[h, l] H[l] / (n - 1)` for
    /// every h. All zero for a worker with fewer than two tasks, who is not usable.
    fn set_peers(&mut self, matrix: &ScoreMatrix) {
        let classes = self.classes;
        let rows = self.peers.par_chunks_mut(classes + 1);
        rows.zip(self.histograms.par_chunks_mut(classes.max(1))).for_each(|(row, histogram)| {
            let count: u32 = histogram.iter_mut().map(|seen| *seen.get_mut()).sum();
            row.fill(0.0);
            if count > 1 {
                let others = f64::from(count) - 1.0;
                row[0] = f64::from(count) / others;
                for (label, seen) in histogram.iter_mut().enumerate() {
                    let seen = *seen.get_mut();
                    if seen > 0 {
                        let share = f64::from(seen) / others;
                        for (h, worth) in row[1..].iter_mut().enumerate() {
                            *worth += matrix.values[h * classes + label] * share;
                        }
                    }
                }
            }
            for seen in histogram {
                *seen.get_mut() = 0;
            }
        });
    }

    fn peer(&self, worker: u32) -> &[f64] {
        let stride = self.classes + 1;
        &self.peers[worker as usize * stride..(worker as usize + 1) * stride]
    }
}

/// What a peer who reported `label` on the task is worth to a report `h`.
fn worth(peer: &[f64], matrix: &ScoreMatrix, h: Label, label: Label) -> f64 {
    matrix.get(h, label) * peer[0] - peer[1 + usize::from(h)]
}

#[cfg(test)]
mod tests;
