//! Copy mixture: Dawid-Skene for a crowd in which some answers are copied from an LLM.
//!
//! Model, for a task `q` with the labels `z_qs` of the sources `s` in `A_q` that cover it:
//!
//! - the true class is `y` with probability `π[y]`; source `s` says `z` with probability
//!   `Γ^Z_s[y, z]`;
//! - worker `i` means to copy source `s` with probability `λ_is` and to answer alone otherwise. A
//!   worker who means to copy a source that does not cover the task answers alone too. A copy is
//!   `x` with probability `C_s[z, x]`, an own answer with probability `Γ^i[y, x]`:
//!
//! `m_iq(y) = Σ_{s in A_q} λ_is C_s[z_qs, x_iq] + (1 - Σ_{s in A_q} λ_is) Γ^i[y, x_iq]`
//!
//! The fit maximises the log-posterior
//!
//! ```text
//! Σ_q log Σ_y π[y] Π_{s in A_q} Γ^Z_s[y, z_qs] Π_{i on q} m_iq(y)
//!   + Σ_i Σ_y Σ_x 4 Γ⁰[y, x] log Γ^i[y, x]                 own answers, Dirichlet
//!   + Σ_i ( Σ_s 0.2/S log λ_is + 0.8 log(1 - Σ_s λ_is) )   copying, Dirichlet (Beta for S = 1)
//!   + Σ_s Σ_y Σ_z 1/L_s log Γ^Z_s[y, z]                    the LLM, Dirichlet
//! ```
//!
//! with `Γ⁰` the pooled confusion matrix of the crowd under the vote shares, `S` the number of
//! sources and `L_s` the number of labels that source `s` uses. Each prior is a number of
//! pseudo-observations: 4 per row of `Γ^i`, 1 per `λ_i`, 1 per row of `Γ^Z`. `C_s` is fixed: the
//! labels of one sample against another of the same source, else 0.95 on the diagonal.
//!
//! EM over `y` and the copy indicator, from vote shares, `Γ^i = Γ⁰` and `λ = 0.2`, 0.5 and 0.8 in
//! turn, and from the posteriors of Dawid-Skene without Z; the best log-posterior counts. With `T_q[y]`
//! the posterior of `y` and `r = λ_is C_s / m`, `1 - Σ r` the posteriors of the origin of a
//! report, the M-step is a share of expected counts plus pseudo-counts, so the log-posterior
//! never decreases.
//!
//! Score: `(1 - Σ_s λ_is) TVD_i`, `TVD_i = Σ_{y,x} π[y] | Γ^i[y, x] - Σ_y' π[y'] Γ^i[y', x] |`:
//! the share of own answers times what they say about the truth. The paper names this model as
//! future work (Zhang, Pang, Zhu, Liu, NeurIPS 2025, section 6); for the EM see Dawid and Skene
//! (1979), <https://doi.org/10.2307/2346806>.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

mod m_step;
mod signals;
mod state;
#[cfg(test)]
mod tests;
mod workers;

use std::sync::Arc;

use rayon::prelude::*;

use self::signals::{Signals, SourceLabels};
use self::state::State;
use super::consensus::consensus_labels;
use super::dawid_skene::{DawidSkene, convergence_warning, point};
use super::entry::{Entry, Several};
use super::latent_class::{Cells, has_converged};
use super::options::EmSettings;
use super::{Fit, Mechanism, MechanismError, Posteriors, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::data::warning::Warning;
use crate::data::z::ZSource;

/// Probability that a copy has the label of Z, where samples do not tell.
pub(crate) const COPY_FIDELITY: f64 = 0.95;

/// Pseudo-observations that pull each row of a worker's confusion matrix to the pooled one.
pub(crate) const CONFUSION_WEIGHT: f64 = 4.0;

/// Pseudo-observations behind the prior of each worker's share of copies.
pub(crate) const COPYING_WEIGHT: f64 = 1.0;

/// Prior mean of each worker's share of copies, and its value at the start.
pub(crate) const COPYING_START: f64 = 0.2;

/// Pseudo-observations, spread evenly, behind each row of the confusion matrix of an LLM.
pub(crate) const LLM_WEIGHT: f64 = 1.0;

/// A start has to be better than another by this share of the log-posterior: less is rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

/// The mechanism `ds_z`.
#[derive(Debug, Clone)]
pub struct CopyMixture {
    sources: Vec<SourceLabels>,
    settings: EmSettings,
    starts: Vec<Start>,
}

pub(super) const ENTRY: Entry = Entry {
    name: "ds_z",
    summary: "Dawid-Skene with copying from the LLM; estimates the share copied",
    meaning: "estimated information in a worker's own answers, less the share copied from the \
              LLM; lambda is that share",
    unscored: "no task with a Z label",
    needs_z: true,
    is_fitted: true,
    several: Several::Asked,
    build: |sources, options| Box::new(CopyMixture::new(sources, options.em)),
};
/// Where EM starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Share of copies of every worker.
    pub(crate) copying: f64,
    /// Posteriors of the tasks.
    pub(crate) truth: StartTruth,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum StartTruth {
    /// Shares of the votes.
    Votes,
    /// What Dawid-Skene says without Z.
    DawidSkene,
}

/// EM finds the nearest optimum. From the first start alone it ends, with a third of the crowd
/// copying, where the LLM is the truth and the others are wrong; from a start with many copies it
/// finds the better one.
pub(crate) const STARTS: [Start; 4] = [
    Start { copying: COPYING_START, truth: StartTruth::Votes },
    Start { copying: 0.5, truth: StartTruth::Votes },
    Start { copying: 0.8, truth: StartTruth::Votes },
    Start { copying: COPYING_START, truth: StartTruth::DawidSkene },
];

/// From this share of the covered tasks on on which the most probable class is the label of Z, the
/// fit is taken to mistake the LLM for the truth. All inverted fits seen had .987 or more, all
/// others .946 or less.
const LLM_IS_TRUTH: f64 = 0.98;

impl CopyMixture {
    /// One source is the mixture of `methods` as published here; several are taken together, each
    /// worker with an own mixture over them.
    pub fn new(sources: &[ZSource], settings: EmSettings) -> Self {
        let sources = sources
            .iter()
            .map(|source| SourceLabels {
                conditioning: source.conditioning().into(),
                samples: match source.samples.as_slice() {
                    [_] => Vec::new(),
                    samples => samples.iter().map(|sample| sample.labels.clone().into()).collect(),
                },
            })
            .collect();
        Self { sources, settings, starts: STARTS.to_vec() }
    }

    /// Fits the model from several starts and keeps the best log-posterior (of ones that are equal up
    /// to rounding the first start); `None` if the table has no report.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TaskCount`] if Z is not for the tasks of `table`,
    /// [`MechanismError::TooLarge`] if the tables would exceed
    /// `MAX_STATE_BYTES`.
    pub fn fit(&self, table: &LabelTable) -> Result<Option<CopyMixtureFit>, MechanismError> {
        let tasks = table.task_count();
        if let Some(source) = self.sources.iter().find(|s| s.conditioning.len() != tasks) {
            return Err(MechanismError::TaskCount { z_tasks: source.conditioning.len(), tasks });
        }
        if table.report_count() == 0 {
            return Ok(None);
        }
        let signals = Signals::new(&self.sources, table);
        // The confusion matrix of the crowd, and one of every LLM.
        let matrices = 1 + self.sources.len();
        let shape = (signals.contexts(), matrices);
        let cells = Cells::new(table, signals.context_of_task.clone(), shape)?;
        let fresh = State::new(cells, signals);
        let mut best: Option<CopyMixtureFit> = None;
        for start in &self.starts {
            let fitted = self.fit_from(fresh.clone(), *start, table)?;
            if best.as_ref().is_none_or(|best| is_better(&fitted.fit, &best.fit)) {
                best = Some(fitted);
            }
        }
        Ok(best)
    }

    /// One run of EM.
    fn fit_from(
        &self,
        mut state: State,
        start: Start,
        table: &LabelTable,
    ) -> Result<CopyMixtureFit, MechanismError> {
        let mut posteriors = match start.truth {
            StartTruth::Votes => state.cells.vote_shares(),
            StartTruth::DawidSkene => {
                let crowd = DawidSkene { settings: self.settings }.fit(table)?;
                crowd.map_or_else(Vec::new, |fitted| fitted.posteriors.probabilities)
            }
        };
        state.start_copying(start.copying);
        let mut fit = Fit::default();
        for _ in 0..self.settings.max_iterations {
            let penalty = state.m_step(&posteriors);
            let log_likelihood =
                state.cells.e_step(&state.log_report, &state.log_context, &mut posteriors);
            fit.objective.push(log_likelihood + penalty);
            if has_converged(&fit.objective, self.settings.tolerance) {
                fit.converged = true;
                break;
            }
        }
        let posteriors = Posteriors { classes: state.classes(), probabilities: posteriors };
        Ok(CopyMixtureFit { posteriors, fit, state })
    }
}

impl CopyMixture {
    /// What to say where the posteriors repeat an LLM.
    fn llm_is_truth(&self, table: &LabelTable, posteriors: &Posteriors) -> Option<Warning> {
        let consensus = consensus_labels(table, Some(posteriors));
        let share = |source: &SourceLabels| {
            let covered = source
                .conditioning
                .iter()
                .zip(&consensus)
                .filter_map(|(z, label)| Some((*z.as_ref()?, (*label)?)));
            let (equal, all) = covered
                .fold((0_u32, 0_u32), |(equal, all), (z, y)| (equal + u32::from(z == y), all + 1));
            (all > 0).then(|| f64::from(equal) / f64::from(all))
        };
        let largest = self.sources.iter().filter_map(share).fold(0.0, f64::max);
        llm_is_truth_warning(largest)
    }
}

/// Whether a fit ended higher than another, by more than rounding.
pub(crate) fn is_better(fit: &Fit, than: &Fit) -> bool {
    match (fit.objective.last(), than.objective.last()) {
        (Some(fit), Some(than)) => fit - than > ROUNDING * than.abs(),
        (fit, None) => fit.is_some(),
        (None, Some(_)) => false,
    }
}

/// What to say where the most probable label is that of an LLM on this share of its tasks.
pub(crate) fn llm_is_truth_warning(share: f64) -> Option<Warning> {
    (share >= LLM_IS_TRUTH).then(|| {
        let message = format!(
            "`ds_z` takes the LLM for the truth: its most probable label is that of the LLM on \
             {:.1} % of the tasks; either the LLM is nearly always right, or so many workers \
             copied it that the scores may be the wrong way round; trust `ca_z` and \
             `excess_z` instead",
            100.0 * share
        );
        Warning::new("llm_is_truth", 1, message)
    })
}

impl Mechanism for CopyMixture {
    fn name(&self) -> &'static str {
        "ds_z"
    }

    /// A worker none of whose tasks Z covers has no score: nothing tells whether such a worker
    /// copies.
    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let Some(fitted) = self.fit(table)? else {
            return Ok(Scores {
                workers: vec![
                    WorkerScore { n_z_tasks: Some(0), ..WorkerScore::default() };
                    table.worker_count()
                ],
                ..Scores::default()
            });
        };
        let workers = (0..table.worker_count())
            .into_par_iter()
            .map(|worker| {
                let covered = fitted.state.covered_reports(worker);
                let lambda = (covered > 0).then(|| fitted.copied_share(worker as u32));
                WorkerScore {
                    estimate: lambda
                        .map(|lambda| point((1.0 - lambda) * fitted.state.total_variation(worker))),
                    n_tasks: table.of_worker(worker as u32).len(),
                    n_z_tasks: Some(covered),
                    n_used: covered,
                    lambda,
                    ..WorkerScore::default()
                }
            })
            .collect();
        let warnings = convergence_warning("ds_z", &fitted.fit)
            .into_iter()
            .chain(self.llm_is_truth(table, &fitted.posteriors))
            .collect();
        let (posteriors, fit) = (Some(fitted.posteriors), Some(fitted.fit));
        Ok(Scores { workers, posteriors, fit, warnings, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let pick = |labels: &Arc<[Option<Label>]>| {
            tasks.iter().map(|&task| labels[task as usize]).collect::<Arc<[_]>>()
        };
        let sources = self
            .sources
            .iter()
            .map(|source| SourceLabels {
                conditioning: pick(&source.conditioning),
                samples: source.samples.iter().map(pick).collect(),
            })
            .collect();
        Box::new(Self { sources, settings: self.settings, starts: self.starts.clone() })
    }

    /// The score is never negative, so 0 is its least value and not its mean under chance.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// A fitted copy mixture.
#[derive(Debug, Clone)]
pub struct CopyMixtureFit {
    /// Probability of every class for every task. A task without a report has the class prior.
    pub posteriors: Posteriors,
    /// Log-posterior after every iteration, and whether the tolerance was reached.
    pub fit: Fit,
    state: State,
}

impl CopyMixtureFit {
    /// `Σ_s λ_is`: estimated share of the answers of `worker` to covered tasks that are copies.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub(crate) fn copied_share(&self, worker: u32) -> f64 {
        self.copied_shares(worker).iter().sum()
    }

    /// `λ_is` of every source, in the order in which they were given.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub(crate) fn copied_shares(&self, worker: u32) -> &[f64] {
        let sources = self.state.signals.copies.len();
        &self.state.copying[worker as usize * sources..][..sources]
    }

    /// Confusion matrix `Γ^i` of the own answers of `worker`: `K * K` entries, row-major true
    /// class by reported label, each row summing to 1.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    #[cfg(test)]
    pub(crate) fn confusion(&self, worker: u32) -> Vec<f64> {
        self.state.confusion(worker as usize)
    }
}
