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
//! T is learned from all reports but the worker's own ([`scoring`]), from all reports as in the paper,
//! or given.
//!
//! The sums factor, so that the cost is linear: with the histogram `H_j` of the labels of peer j
//! in the stratum and `n_j` its tasks, `w_j[l] = 1[x_jq = l] n_j / (n_j - 1) - H_j[l] / (n_j - 1)` is
//! what the peer puts on the label l of the task; a report h earns `sum_l T[h, l] w[l]`, `w` the sum over
//! the reports of the task less the worker's own.
//!
//! Standard errors: [`influence`]. Sampled scores take the spread of their own task terms.

mod influence;
mod peers;
mod scoring;

use self::influence::StratumTerms;
use self::peers::Peers;
use super::chunks::most_chunks;
use super::entry::{Entry, Several, conditioning};
use super::options::{CorrelatedAgreementOptions, LearnFrom};
use super::sampled_agreement::SampledTerms;
use super::scoring_function::{ScoreMatrix, ScoringFunction};
use super::strata::{Conditioning, StratifiedMean, Stratum};
use super::{MAX_STATE_BYTES, Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::LabelTable;
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
    unscored: "no task with a Z label and a peer who has another task of that Z label, or nobody to \
               learn from",
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
    unscored: "no task with a peer who has another task, or nobody to learn from",
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
        let covered = self.conditioning.covered_tasks(table);
        let workers = sums
            .iter()
            .zip(0..)
            .map(|(sum, worker)| WorkerScore {
                estimate: sum.estimate(),
                n_tasks: table.of_worker(worker).len(),
                n_z_tasks: covered[worker as usize],
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
        let mut peers = Peers::new(table);
        for stratum in strata {
            let function = &self.options.scoring_function;
            let matrix = || function.matrix(table, &stratum.tasks, stratum.label);
            let moments = match self.options.sampling {
                None => {
                    let given = (!self.learns_from_others()).then(matrix);
                    exact_moments(&mut peers, &stratum.tasks, given)
                }
                Some(sampling) => {
                    SampledTerms { table, matrix: &matrix(), sampling }.moments(stratum)
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
            let given = (!self.learns_from_others())
                .then(|| function.matrix_of(&part.table, &tasks, stratum.label, &part.labels));
            let moments = exact_moments(&mut Peers::new(&part.table), &tasks, given);
            for (&worker, moments) in part.workers.iter().zip(&moments) {
                sums[worker as usize].add(stratum.weight, moments);
            }
        }
        Ok(sums)
    }

    fn learns_from_others(&self) -> bool {
        self.options.scoring_function == ScoringFunction::Estimated
            && self.options.learn_from == LearnFrom::Others
    }
}

/// Means of the task terms of every worker, with the sums of squares behind their variances.
fn exact_moments(peers: &mut Peers<'_>, tasks: &[u32], given: Option<ScoreMatrix>) -> Vec<Moments> {
    peers.enter(tasks);
    StratumTerms::new(peers, tasks, given).moments()
}

/// From this many labels on, every stratum has a table of its own: a stratum has few of them then.
const MANY_CLASSES: usize = 64;

/// Refuses tables whose histograms and matrices would exceed [`MAX_STATE_BYTES`]: free text taken
/// for labels, as a rule.
fn check_size(table: &LabelTable) -> Result<(), MechanismError> {
    let (workers, classes) = (table.worker_count(), table.label_count());
    let of_workers = workers.saturating_mul(classes + 1).saturating_mul(12);
    let learned =
        workers.saturating_mul(classes).min(table.report_count()) * classes.div_ceil(64) * 8;
    let matrices = classes.saturating_mul(classes).saturating_mul(8 * (most_chunks(table) + 1));
    let bytes = of_workers.saturating_add(matrices).saturating_add(learned);
    if bytes > MAX_STATE_BYTES {
        return Err(MechanismError::TooLarge {
            gibibytes: bytes.div_ceil(1 << 30),
            limit: MAX_STATE_BYTES >> 30,
            classes,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
