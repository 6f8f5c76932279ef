//! Categorical mechanisms: from labels of a crowd to one score per worker, higher is better.
//!
//! Every mechanism is a [`Mechanism`]; what it conditions on (Z) and its settings are arguments of
//! its constructor, so that a list of mechanisms is a list of trait objects.

use crate::data::labels::LabelTable;
use crate::data::warning::Warning;
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

    /// The same mechanism for [`LabelTable::on_tasks`] of the same `tasks`: Z is reordered with
    /// them. Serves the bootstrap over tasks.
    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism>;

    /// Whether a score of 0 means "nothing beyond chance". If not, no worker is called
    /// informative or uninformative.
    fn zero_is_chance(&self) -> bool {
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
    pub fn of_task(&self, task: u32) -> &[f64] {
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
    /// Z was made for another table.
    #[error("Z has labels for {z_tasks} tasks, the table has {tasks}; use the same tasks for both")]
    TaskCount {
        /// Tasks that Z knows.
        z_tasks: usize,
        /// Tasks of the table.
        tasks: usize,
    },
}
