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

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::chunks::{most_chunks, task_chunks};
use super::sampled_agreement::SampledTerms;
use super::scoring_function::{LabelCounts, ScoreMatrix, ScoringFunction};
use super::strata::{Conditioning, StratifiedMean, Stratum};
use super::{MAX_STATE_BYTES, Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::stats::moments::Moments;

/// Settings of [`CorrelatedAgreement`].
#[derive(Debug, Clone, Default)]
pub struct CorrelatedAgreementOptions {
    /// Where T comes from.
    pub scoring_function: ScoringFunction,
    /// Divide by the weight of the strata in which the worker has a usable task.
    pub renormalize_strata: bool,
    /// Draw peers and penalty tasks as the algorithms do, instead of averaging over all.
    pub sampling: Option<Sampling>,
}

/// How to run Algorithms 1 and 2 literally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Draws per report, at least 1; the score is their mean.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
}

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

impl Mechanism for CorrelatedAgreement {
    fn name(&self) -> &'static str {
        match self.conditioning {
            Conditioning::Nothing => "ca",
            Conditioning::Z(_) => "ca_z",
        }
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        check_size(table)?;
        let mut sums = vec![StratifiedMean::default(); table.worker_count()];
        let mut exact = ExactTerms::new(table);
        for stratum in self.conditioning.strata(table) {
            let matrix = self.options.scoring_function.matrix(table, &stratum.tasks, stratum.label);
            let moments = match self.options.sampling {
                None => exact.moments(&stratum, &matrix),
                Some(sampling) => {
                    SampledTerms { table, matrix: &matrix, sampling }.moments(&stratum)
                }
            };
            for (sum, moments) in sums.iter_mut().zip(&moments) {
                sum.add(stratum.weight, moments);
            }
        }
        let workers = sums
            .iter()
            .zip(0..)
            .map(|(sum, worker)| WorkerScore {
                estimate: sum.estimate(self.options.renormalize_strata),
                n_tasks: table.of_worker(worker).len(),
                n_z_tasks: self.conditioning.covered_tasks(table, worker),
                n_used: sum.tasks(),
                lambda: None,
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

    /// Moments of the task terms of every worker.
    fn moments(&mut self, stratum: &Stratum, matrix: &ScoreMatrix) -> Vec<Moments> {
        self.count(&stratum.tasks);
        self.set_peers(matrix);
        let parts: Vec<Vec<Moments>> = task_chunks(self.table, &stratum.tasks)
            .into_par_iter()
            .map(|tasks| self.chunk_moments(tasks, matrix))
            .collect();
        merged(parts)
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

    fn chunk_moments(&self, tasks: &[u32], matrix: &ScoreMatrix) -> Vec<Moments> {
        let mut moments = vec![Moments::default(); self.table.worker_count()];
        let mut counts = LabelCounts::new(self.classes);
        let mut sums = Vec::new();
        for &task in tasks {
            let reports = self.table.of_task(task);
            if reports.len() < 2 {
                continue;
            }
            counts.count(reports.labels);
            sums.clear();
            sums.resize(counts.present().len(), 0.0);
            let mut usable = 0_u32;
            for (worker, label) in reports.iter() {
                let peer = self.peer(worker);
                if peer[0] > 0.0 {
                    usable += 1;
                    for (sum, &(h, _)) in sums.iter_mut().zip(counts.present()) {
                        *sum += worth(peer, matrix, h, label);
                    }
                }
            }
            for (worker, label) in reports.iter() {
                let own = self.peer(worker);
                let mut sum = sums[counts.index(label)];
                let mut peers = usable;
                if own[0] > 0.0 {
                    peers -= 1;
                    sum -= worth(own, matrix, label, label);
                }
                if peers > 0 {
                    moments[worker as usize].push(sum / f64::from(peers));
                }
            }
        }
        moments
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

/// Merges moments per worker, in the order of the parts.
pub(super) fn merged(parts: Vec<Vec<Moments>>) -> Vec<Moments> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (total, part) in total.iter_mut().zip(&part) {
            total.merge(part);
        }
    }
    total
}

#[cfg(test)]
mod tests;
