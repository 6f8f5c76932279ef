//! What a mechanism says about every worker, as rows that the table and the page are made from.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use crate::data::Labels;
use crate::data::warning::Warning;
use crate::mechanism::{
    Accuracy, MechanismName, OwnCrowd, OwnFlag, OwnScore, Posteriors, Scores, consensus_accuracy,
    worker_accuracy,
};
use crate::stats::flag::{Flag, FlagSettings, flags};
use crate::stats::interval::{Estimate, Share};
use crate::stats::rank::{descending_ranks, worst_first};

/// What one mechanism says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MechanismScores {
    /// The mechanism.
    pub mechanism: MechanismName,
    /// Whether a score of 0 means "nothing beyond chance"; if not, nobody is called informative.
    pub zero_is_chance: bool,
    /// One row per worker, worst first, those without a score last.
    pub rows: Vec<WorkerRow>,
    /// Probability of every label for every task, where the mechanism estimates it.
    pub posteriors: Option<Posteriors>,
    /// What the mechanism `own` says of the crowd.
    pub own: Option<OwnCrowd>,
    /// How right the crowd as a whole is, where the truth is known.
    pub consensus: Option<Accuracy>,
    /// What the mechanism left out or assumed.
    pub warnings: Vec<Warning>,
}

/// What one mechanism says about one worker.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WorkerRow {
    /// Name of the worker.
    pub worker: String,
    /// Number of the worker in the table of labels.
    pub number: usize,
    /// The score with its uncertainty; `None` where it is undefined.
    pub estimate: Option<Estimate>,
    /// Tasks the worker answered.
    pub n_tasks: usize,
    /// Of these, the tasks that Z covers; `None` for a mechanism without Z.
    pub n_z_tasks: Option<usize>,
    /// 1 is the best; `None` without a score, and of who is clear for `own`.
    pub rank: Option<u64>,
    /// Whether the score is worth a look; `None` where the mechanism has no meaningful zero.
    pub flag: Option<Flag>,
    /// Estimated share of answers taken from the LLM, where the mechanism estimates it.
    pub lambda: Option<f64>,
    /// Copy excess, where the mechanism computes it: how much more often than others the worker
    /// says what the LLM says, as a share of the room there is.
    pub copied: Option<f64>,
    /// 95 % interval of [`Self::copied`], low end first.
    pub copied_interval: Option<(f64, f64)>,
    /// What the mechanism `own` says of the worker; its flag is shown in place of [`Self::flag`].
    pub own: Option<OwnScore>,
    /// Share of right answers by the others, of whom `own` judges.
    pub accuracy: Option<Share>,
    /// How right the worker is, if a truth was given.
    pub truth: Option<TruthRow>,
}

/// What a known truth says about one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruthRow {
    /// The worker's own accuracy.
    pub own: Accuracy,
    /// Accuracy of the crowd as a whole, by the mechanism's posteriors or else the majority.
    pub consensus: Accuracy,
}

impl WorkerRow {
    /// The flag in tables and files.
    pub fn flag_word(&self) -> Option<&'static str> {
        self.own.map(|own| own.flag.as_str()).or_else(|| self.flag.map(Flag::as_str))
    }
}

impl MechanismScores {
    pub(super) fn new(
        set: &Labels,
        (mechanism, zero_is_chance): (MechanismName, bool),
        scores: Scores,
        settings: &FlagSettings,
    ) -> Self {
        let posteriors = scores.posteriors.as_ref();
        let consensus =
            set.truth.as_ref().map(|truth| consensus_accuracy(&set.table, truth, posteriors));
        let truth = |number: usize| {
            set.truth.as_ref().zip(consensus).map(|(truth, consensus)| TruthRow {
                own: worker_accuracy(&set.table, truth, number as u32),
                consensus,
            })
        };
        let names = set.table.workers().names();
        let mut rows = Self::of(names, (mechanism, zero_is_chance), scores, settings);
        for row in &mut rows.rows {
            row.truth = truth(row.number);
        }
        Self { consensus, ..rows }
    }

    /// The rows of workers of these names, of whom no truth is known.
    #[doc(hidden)]
    pub fn of(
        names: &[String],
        (mechanism, zero_is_chance): (MechanismName, bool),
        scores: Scores,
        settings: &FlagSettings,
    ) -> Self {
        let people: Vec<_> =
            scores.workers.iter().map(|score| (score.estimate, score.n_used)).collect();
        let flags = flags(&people, settings);
        let values: Vec<Option<f64>> =
            scores.workers.iter().map(|score| score.estimate.map(|e| e.value)).collect();
        let ranks = descending_ranks(&values);
        let row = |number: usize| {
            let score = &scores.workers[number];
            // Only a score whose zero means "nothing beyond chance" can be called informative or
            // not.
            let shown = zero_is_chance || flags[number] == Flag::TooFew;
            // Among those of whom nothing stands out the order says nothing.
            let is_clear = score.own.is_some_and(|own| own.flag == OwnFlag::Clear);
            WorkerRow {
                worker: names[number].clone(),
                number,
                estimate: score.estimate,
                n_tasks: score.n_tasks,
                n_z_tasks: score.n_z_tasks,
                rank: ranks[number].filter(|_| !is_clear),
                flag: (shown && score.own.is_none()).then_some(flags[number]),
                lambda: score.lambda,
                copied: score.copied,
                own: score.own,
                copied_interval: score.copied_interval(),
                accuracy: None,
                truth: None,
            }
        };
        let rows = worst_first(&values, names).into_iter().map(row).collect();
        Self {
            mechanism,
            zero_is_chance,
            rows,
            posteriors: scores.posteriors,
            own: scores.own,
            consensus: None,
            warnings: scores.warnings,
        }
    }

    /// The row of a worker by name.
    pub fn row(&self, worker: &str) -> Option<&WorkerRow> {
        self.rows.iter().find(|row| row.worker == worker)
    }
}
