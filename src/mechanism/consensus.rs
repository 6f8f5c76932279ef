//! What the crowd says as a whole, and how right it is where the truth is known.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use super::Posteriors;
use crate::data::labels::{Label, LabelTable};

/// Share of the tasks with a known truth on which an answer is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Tasks with an answer and a known truth.
    pub n_tasks: usize,
    /// Share of them that are right; `None` without such a task.
    pub share: Option<f64>,
}

impl Accuracy {
    fn of(right: f64, n_tasks: usize) -> Self {
        Self { n_tasks, share: (n_tasks > 0).then(|| right / n_tasks as f64) }
    }
}

/// Accuracy of one worker.
pub fn worker_accuracy(table: &LabelTable, truth: &[Option<Label>], worker: u32) -> Accuracy {
    let (mut right, mut known) = (0.0, 0);
    for (task, label) in table.of_worker(worker).iter() {
        if let Some(truth) = truth[task as usize] {
            known += 1;
            right += f64::from(u8::from(label == truth));
        }
    }
    Accuracy::of(right, known)
}

/// Accuracy of the most probable label of each task, or of the majority vote without posteriors.
///
/// Among labels that tie for the first place each is right with equal probability. Tasks without
/// a report do not count.
pub fn consensus_accuracy(
    table: &LabelTable,
    truth: &[Option<Label>],
    posteriors: Option<&Posteriors>,
) -> Accuracy {
    let (mut right, mut known) = (0.0, 0);
    let mut votes = vec![0.0; table.label_count()];
    for task in 0..table.task_count() as u32 {
        let (Some(truth), reports) = (truth[task as usize], table.of_task(task)) else { continue };
        if reports.is_empty() {
            continue;
        }
        let weights = if let Some(posteriors) = posteriors {
            posteriors.of_task(task)
        } else {
            votes.fill(0.0);
            reports.labels.iter().for_each(|&label| votes[usize::from(label)] += 1.0);
            &votes
        };
        known += 1;
        right += first_place(weights, usize::from(truth));
    }
    Accuracy::of(right, known)
}

/// Probability that `label` comes first when ties are broken at random.
fn first_place(weights: &[f64], label: usize) -> f64 {
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let firsts = weights.iter().filter(|weight| weight.total_cmp(&most).is_eq()).count();
    match weights.get(label) {
        Some(weight) if weight.total_cmp(&most).is_eq() => 1.0 / firsts as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::tests::table;

    #[test]
    fn majority_and_posteriors_with_a_tie_and_an_unknown_truth() {
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "y"),
            ("r", "a", "x"),
            ("s", "a", "x"),
            ("t", "b", "y"),
        ]);
        // q ties: half right. r right, s unknown, t has a truth that nobody gave.
        let truth = [Some(0), Some(0), None, Some(7)];
        let majority = consensus_accuracy(&table, &truth, None);
        assert_eq!(majority, Accuracy { n_tasks: 3, share: Some(0.5) });
        let posteriors =
            Posteriors { classes: 2, probabilities: vec![0.6, 0.4, 0.3, 0.7, 0.5, 0.5, 0.1, 0.9] };
        let posterior = consensus_accuracy(&table, &truth, Some(&posteriors));
        assert_eq!(posterior.share, Some(1.0 / 3.0));
        assert_eq!(worker_accuracy(&table, &truth, 0).share, Some(1.0));
        assert_eq!(worker_accuracy(&table, &truth, 1).share, Some(0.0));
        assert_eq!(worker_accuracy(&table, &[None; 4], 1).share, None);
    }
}
