//! Categorical mechanisms: from labels of a crowd to one score per worker, higher is better.
//!
//! Every mechanism is a [`Mechanism`]; what it conditions on (Z) and its settings are arguments of
//! its constructor, so that a list of mechanisms is a list of trait objects. [`MechanismName`] is the
//! catalogue of them, [`build`] the factory.

mod bootstrap;
pub(crate) mod catalogue;
mod chunks;
mod consensus;
mod copy_excess;
pub(crate) mod copy_mixture;
pub(crate) mod correlated_agreement;
pub(crate) mod dawid_skene;
mod entry;
#[cfg(test)]
pub(crate) mod fixtures;
mod given_scores;
pub(crate) mod latent_class;
mod majority;
pub(crate) mod minimum;
mod negative_agreement;
mod one_coin;
pub(crate) mod options;
pub(crate) mod output_agreement;
pub(crate) mod own;
mod peer_posteriors;
mod sampled_agreement;
pub(crate) mod scoring_function;
pub(crate) mod strata;
mod tvd;

pub(crate) use self::bootstrap::Bootstrap;
pub(crate) use self::catalogue::{MechanismName, build};
pub(crate) use self::consensus::{
    Accuracy, ConsensusConfusion, consensus_accuracy, consensus_labels, worker_accuracy,
    worker_confusion,
};
pub(crate) use self::correlated_agreement::CorrelatedAgreement;
pub(crate) use self::dawid_skene::{DawidSkene, DawidSkeneFit};
pub(crate) use self::latent_class::MAX_STATE_BYTES;
pub(crate) use self::minimum::MinimumOverSources;
pub(crate) use self::options::{
    CorrelatedAgreementOptions, EmSettings, LearnFrom, MAX_ITERATIONS, MechanismOptions,
    OwnSettings, SeveralSources, TOLERANCE,
};
pub(crate) use self::own::{
    AnswerKind, NotJudged, OwnAnswers, OwnCrowd, OwnFlag, OwnRun, OwnScore,
};
pub(crate) use self::peer_posteriors::PeerPosteriors;
pub(crate) use self::sampled_agreement::PeerDraws;
pub(crate) use self::scoring_function::{GivenScores, ScoringFunction};
pub(crate) use self::strata::Conditioning;
pub(crate) use self::tvd::ConditionalPairs;
use crate::data::interruption::Interrupted;
use crate::data::labels::LabelTable;
use crate::data::warning::Warning;
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::stats::interval::Estimate;

/// Scores the workers of a crowd.
pub trait Mechanism: Send + Sync {
    /// The name on the command line and in results, e.g. `ca_z`.
    fn name(&self) -> &'static str;

    /// One score per worker of `table`, by worker number.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if the settings do not fit the table. Data on which a score is
    /// undefined are no error: the score is missing.
    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError>;

    /// The same mechanism for `LabelTable::on_tasks` of the same `tasks`: Z is reordered with
    /// them. Serves the bootstrap over tasks.
    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism>;

    /// Whether a score of 0 means "nothing beyond chance". If not, no worker is called
    /// informative or uninformative.
    fn zero_is_chance(&self) -> bool {
        true
    }

    /// Whether it goes through the reports of one worker after another, for which the table sorts them once more.
    fn goes_by_worker(&self) -> bool {
        true
    }
}

/// What a mechanism says about a crowd.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// One entry per worker of the table, by worker number.
    pub workers: Vec<WorkerScore>,
    /// What the mechanism estimated about the tasks, if it does.
    pub posteriors: Option<Posteriors>,
    /// How an iterative fit ended, if there was one.
    pub fit: Option<Fit>,
    /// What `own` says of the crowd.
    pub own: Option<OwnCrowd>,
    /// What was left out or assumed.
    pub warnings: Vec<Warning>,
}

/// Score of one worker.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkerScore {
    /// The score; `None` where it is undefined. Without a standard error where the mechanism has
    /// no formula for it (see the bootstrap).
    pub estimate: Option<Estimate>,
    /// Tasks the worker answered.
    pub n_tasks: usize,
    /// Of these, the tasks that Z covers; `None` for a mechanism without Z.
    pub n_z_tasks: Option<usize>,
    /// Tasks behind the score, at most [`Self::n_tasks`]: too few of them make the flag `too_few`.
    pub n_used: usize,
    /// Estimated share of answers taken from the LLM, where the mechanism estimates it.
    pub lambda: Option<f64>,
    /// Copy excess: how much more often than others the worker says what the LLM says, as a share
    /// of the room there is; at most 1. Where the mechanism computes it.
    pub copied: Option<f64>,
    /// What `own` says of the worker.
    pub own: Option<OwnScore>,
}

impl WorkerScore {
    /// 95 % interval of [`Self::copied`], low end first.
    pub(crate) fn copied_interval(&self) -> Option<(f64, f64)> {
        self.copied?;
        if let Some(own) = &self.own {
            let (low, high) = own.copied?.interval()?;
            return Some((low, high.min(1.0)));
        }
        let (low, high) = self.estimate?.interval()?;
        Some((-high, -low))
    }
}

/// Probability of every label for every task.
#[derive(Debug, Clone, PartialEq)]
pub struct Posteriors {
    /// Number of labels, the label set S.
    pub classes: usize,
    /// Row-major, one row of [`Self::classes`] entries per task; each row sums to 1. A task
    /// without a report has the class prior.
    pub probabilities: Vec<f64>,
}

impl Posteriors {
    /// Probabilities of the labels of `task`, by label number.
    ///
    /// # Panics
    ///
    /// If there is no such task.
    pub(crate) fn of_task(&self, task: u32) -> &[f64] {
        let start = task as usize * self.classes;
        &self.probabilities[start..start + self.classes]
    }
}

/// How an iterative fit ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fit {
    /// Objective (log-likelihood or log-posterior) after every iteration, never decreasing.
    pub objective: Vec<f64>,
    /// Whether the tolerance was reached before the largest number of iterations.
    pub converged: bool,
}

/// Why a mechanism cannot score a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// It scores given the labels of an LLM, and there are none.
    #[error("{name} needs labels of an LLM")]
    NeedsZ {
        /// The mechanism.
        name: MechanismName,
    },
    /// Z was made for another table.
    #[error("Z has labels for {z_tasks} tasks, the table has {tasks}; use the same tasks for both")]
    TaskCount {
        /// Tasks that Z knows.
        z_tasks: usize,
        /// Tasks of the table.
        tasks: usize,
    },
    /// The tables of an iterative fit do not fit in memory.
    #[error(
        "{classes} labels need about {gibibytes} GiB, more than the limit of {limit} GiB; merge rare labels or score part of the workers"
    )]
    TooLarge {
        /// Memory needed, rounded up.
        gibibytes: usize,
        /// The limit.
        limit: usize,
        /// Number of labels.
        classes: usize,
    },
    /// The run was asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Kinded for MechanismError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Interrupted(error) => error.kind(),
            Self::NeedsZ { .. } => ErrorKind::Usage,
            Self::TaskCount { .. } | Self::TooLarge { .. } => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::NeedsZ { .. }).then_some(Remedy::GiveZ)
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "tables of tests are small")]
pub(crate) mod tests {
    use super::*;
    use crate::data::labels::{Label, LabelNames, LabelReport};
    use crate::stats::seed::stream;
    use proptest::prelude::*;
    use rand::RngExt;
    use rand::seq::SliceRandom;

    /// A small crowd with gaps in reports and in Z, and a Z label that no worker gives.
    #[derive(Debug, Clone)]
    pub(crate) struct Crowd {
        pub(crate) table: LabelTable,
        pub(crate) z: Vec<Option<Label>>,
    }

    pub(crate) fn values(scores: &Scores) -> Vec<Option<f64>> {
        scores.workers.iter().map(|score| score.estimate.map(|e| e.value)).collect()
    }

    #[track_caller]
    pub(crate) fn assert_close(got: &[Option<f64>], want: &[Option<f64>], tolerance: f64) {
        assert_eq!(got.len(), want.len());
        for (worker, pair) in got.iter().zip(want).enumerate() {
            match pair {
                (None, None) => {}
                (Some(a), Some(b)) if (a - b).abs() <= tolerance => {}
                _ => panic!("worker {worker}: got {:?}, want {:?}", pair.0, pair.1),
            }
        }
    }

    fn names(tasks: u32, workers: u32, labels: u16) -> LabelNames {
        let mut names = LabelNames::default();
        (0..tasks).for_each(|task| _ = names.tasks.intern(&format!("q{task}")));
        (0..workers).for_each(|worker| _ = names.workers.intern(&format!("w{worker}")));
        (0..labels).for_each(|label| _ = names.labels.intern(&format!("l{label}")));
        names
    }

    /// Up to 5 workers, 8 tasks and 4 labels; every report and every Z may be missing.
    pub(crate) fn random_crowd() -> impl Strategy<Value = Crowd> {
        (1..=5_u32, 1..=8_u32, 1..=4_u16).prop_flat_map(|(workers, tasks, labels)| {
            let cells = (workers * tasks) as usize;
            let reports = prop::collection::vec(prop::option::weighted(0.7, 0..labels), cells);
            let z = prop::collection::vec(prop::option::weighted(0.8, 0..=labels), tasks as usize);
            (reports, z).prop_map(move |(cells, z)| {
                let mut reports = Vec::new();
                for (cell, label) in (0..).zip(cells) {
                    if let Some(label) = label {
                        let (task, worker) = (cell / workers, cell % workers);
                        reports.push(LabelReport { task, worker, label });
                    }
                }
                Crowd { table: LabelTable::new(names(tasks, workers, labels), &reports), z }
            })
        })
    }

    /// A crowd in which everybody answers every task and follows a hidden truth more or less.
    pub(crate) fn seeded_crowd(workers: u32, tasks: u32, labels: u16, seed: u64) -> Crowd {
        let mut random = stream(seed, "test", 0);
        let (mut reports, mut z) = (Vec::new(), Vec::new());
        for task in 0..tasks {
            let truth = random.random_range(0..labels);
            let mut noisy = |accuracy| {
                if random.random_bool(accuracy) { truth } else { random.random_range(0..labels) }
            };
            z.push(Some(noisy(0.5)));
            for worker in 0..workers {
                let label = noisy(0.2 + 0.7 * f64::from(worker) / f64::from(workers));
                reports.push(LabelReport { task, worker, label });
            }
        }
        Crowd { table: LabelTable::new(names(tasks, workers, labels), &reports), z }
    }

    /// The crowd with tasks, workers and labels renumbered, and the new number of each worker.
    pub(crate) fn shuffled(crowd: &Crowd, seed: u64) -> (Crowd, Vec<u32>) {
        let mut random = stream(seed, "shuffle", 0);
        let mut permutation = |size: usize| {
            let mut order: Vec<u32> = (0..size as u32).collect();
            order.shuffle(&mut random);
            order
        };
        let table = &crowd.table;
        let tasks = permutation(table.task_count());
        let workers = permutation(table.worker_count());
        let labels = permutation(table.label_count());
        // Z may have one label more than the workers; it keeps its number.
        let relabel = |label: Label| {
            labels.get(usize::from(label)).map_or(label, |&new| Label::try_from(new).unwrap())
        };
        let reports: Vec<LabelReport> = table
            .reports()
            .map(|report| LabelReport {
                task: tasks[report.task as usize],
                worker: workers[report.worker as usize],
                label: relabel(report.label),
            })
            .collect();
        let mut z = vec![None; table.task_count()];
        for (old, new) in tasks.iter().enumerate() {
            z[*new as usize] = crowd.z[old].map(relabel);
        }
        let names =
            names(tasks.len() as u32, workers.len() as u32, u16::try_from(labels.len()).unwrap());
        (Crowd { table: LabelTable::new(names, &reports), z }, workers)
    }
}
