//! Strata of tasks by their Z label, and sums over strata with their uncertainty.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::sync::Arc;

use super::MechanismError;
use crate::data::labels::{Label, LabelTable};
use crate::stats::interval::Estimate;
use crate::stats::moments::Moments;

/// What a mechanism conditions on: the label of one LLM per task, or nothing.
#[derive(Debug, Clone, Default)]
pub enum Conditioning {
    /// One stratum holds every task.
    #[default]
    Nothing,
    /// One stratum per label; tasks without a label are left out.
    Z(Arc<[Option<Label>]>),
}

impl Conditioning {
    /// Conditions on the label of each task, by task number.
    pub fn on(labels: Vec<Option<Label>>) -> Self {
        Self::Z(labels.into())
    }

    /// The same for the tasks `tasks`, in that order.
    ///
    /// # Panics
    ///
    /// If there is no such task.
    #[must_use]
    pub(crate) fn on_tasks(&self, tasks: &[u32]) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Z(labels) => Self::Z(tasks.iter().map(|&task| labels[task as usize]).collect()),
        }
    }

    /// # Errors
    ///
    /// [`MechanismError::TaskCount`] if Z is not for the tasks of `table`.
    pub(crate) fn check(&self, table: &LabelTable) -> Result<(), MechanismError> {
        match self {
            Self::Z(labels) if labels.len() != table.task_count() => {
                let (z_tasks, tasks) = (labels.len(), table.task_count());
                Err(MechanismError::TaskCount { z_tasks, tasks })
            }
            _ => Ok(()),
        }
    }

    /// The Z label of `task`, if there is one.
    pub(crate) fn label(&self, task: u32) -> Option<Label> {
        match self {
            Self::Nothing => None,
            Self::Z(labels) => labels[task as usize],
        }
    }

    /// Whether `task` is in a stratum.
    pub(crate) fn covers(&self, task: u32) -> bool {
        match self {
            Self::Nothing => true,
            Self::Z(labels) => labels[task as usize].is_some(),
        }
    }

    /// By worker: how many of the tasks are in a stratum; `None` if there is no Z.
    pub(crate) fn covered_tasks(&self, table: &LabelTable) -> Vec<Option<usize>> {
        match self {
            Self::Nothing => vec![None; table.worker_count()],
            Self::Z(_) => {
                let covered = table.count_of_workers(|task| self.covers(task));
                covered.into_iter().map(Some).collect()
            }
        }
    }

    /// The strata that hold a task with a report, by label number.
    pub(crate) fn strata(&self, table: &LabelTable) -> Vec<Stratum> {
        let mut strata: Vec<Stratum> = Vec::new();
        let mut total = 0;
        for task in 0..table.task_count() as u32 {
            let label = match self {
                Self::Nothing => 0,
                Self::Z(labels) => match labels[task as usize] {
                    Some(label) => label,
                    None => continue,
                },
            };
            if table.of_task(task).is_empty() {
                continue;
            }
            let index = usize::from(label);
            if strata.len() <= index {
                strata.resize_with(index + 1, Stratum::default);
            }
            strata[index].label = label;
            strata[index].tasks.push(task);
            total += 1;
        }
        strata.retain(|stratum| !stratum.tasks.is_empty());
        for stratum in &mut strata {
            stratum.weight = stratum.tasks.len() as f64 / f64::from(total);
        }
        strata
    }
}

/// The tasks with one Z label.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stratum {
    /// The Z label; 0 if there is no Z.
    pub(crate) label: Label,
    /// P(Z = label): share of all tasks in strata.
    pub(crate) weight: f64,
    /// Tasks with at least one report, ascending.
    pub(crate) tasks: Vec<u32>,
}

/// A sum over strata of weight times the mean of task terms, for one worker.
///
/// Its variance is `sum_k weight_k^2 variance_k / n_k`; a stratum with one task takes the pooled
/// variance of the others. Degrees of freedom: tasks minus strata.
#[derive(Debug, Clone, Copy, Default)]
pub struct StratifiedMean {
    value: f64,
    /// Over strata with two tasks or more.
    variance: f64,
    /// Sum of squared weights of strata with one task.
    single: f64,
    squares: f64,
    tasks: u64,
    strata: u64,
}

impl StratifiedMean {
    /// Adds a stratum; one without terms adds nothing.
    pub fn add(&mut self, weight: f64, terms: &Moments) {
        let count = terms.count();
        if count == 0 {
            return;
        }
        self.value += weight * terms.mean();
        self.tasks += count;
        self.strata += 1;
        self.squares += terms.squares();
        if count == 1 {
            self.single += weight * weight;
        } else {
            let of_mean = terms.squares() / (count - 1) as f64 / count as f64;
            self.variance += weight * weight * of_mean;
        }
    }

    /// Tasks behind the sum.
    pub fn tasks(&self) -> usize {
        usize::try_from(self.tasks).unwrap_or(usize::MAX)
    }

    /// The sum; `None` without any task.
    pub fn estimate(&self) -> Option<Estimate> {
        if self.tasks == 0 {
            return None;
        }
        let degrees_of_freedom = (self.tasks - self.strata) as f64;
        let standard_error = (degrees_of_freedom > 0.0).then(|| {
            let pooled = self.squares / degrees_of_freedom;
            (self.variance + self.single * pooled).sqrt()
        });
        Some(Estimate { value: self.value, standard_error, degrees_of_freedom })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::tests::table;
    use crate::stats::moments::tests::moments;

    #[test]
    fn a_stratum_with_one_task_takes_the_pooled_variance() {
        let mut sum = StratifiedMean::default();
        sum.add(0.5, &moments(&[0.0, 1.0, 2.0]));
        sum.add(0.25, &moments(&[3.0]));
        sum.add(0.25, &moments(&[]));
        // Value 0.5 * 1 + 0.25 * 3 = 1.25. Pooled variance 2 / (4 - 2) = 1.
        // Variance 0.25 * 1 / 3 + 0.0625 * 1 = 7 / 48.
        let estimate = sum.estimate().unwrap();
        assert!((estimate.value - 1.25).abs() < 1e-15);
        assert!((estimate.standard_error.unwrap() - (7.0_f64 / 48.0).sqrt()).abs() < 1e-15);
        assert!((estimate.degrees_of_freedom - 2.0).abs() < 1e-15);
    }

    #[test]
    fn single_tasks_only_have_no_standard_error() {
        let mut sum = StratifiedMean::default();
        sum.add(0.5, &moments(&[1.0]));
        sum.add(0.5, &moments(&[0.0]));
        assert_eq!(sum.estimate().unwrap().standard_error, None);
        assert!(StratifiedMean::default().estimate().is_none());
    }

    #[test]
    fn weights_are_shares_of_the_covered_tasks() {
        let table = table(&[("q", "a", "x"), ("r", "a", "x"), ("s", "a", "y"), ("t", "a", "y")]);
        let z = Conditioning::on(vec![Some(5), None, Some(0), Some(5)]);
        let strata = z.strata(&table);
        assert_eq!(strata.iter().map(|s| s.label).collect::<Vec<_>>(), [0, 5]);
        assert!((strata[1].weight - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(strata[1].tasks, [0, 3]);
        assert_eq!(z.covered_tasks(&table), [Some(3)]);
    }
}
