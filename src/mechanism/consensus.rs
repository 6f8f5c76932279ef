//! What the crowd says as a whole, and how right it is where the truth is known.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::collections::BTreeMap;

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
pub(crate) fn worker_accuracy(
    table: &LabelTable,
    truth: &[Option<Label>],
    worker: u32,
) -> Accuracy {
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
pub(crate) fn consensus_accuracy(
    table: &LabelTable,
    truth: &[Option<Label>],
    posteriors: Option<&Posteriors>,
) -> Accuracy {
    let (mut right, mut known) = (0.0, 0);
    for_each_task(table, posteriors, |task, weights| {
        if let Some(truth) = truth[task as usize] {
            known += 1;
            right += first_place(weights, usize::from(truth));
        }
    });
    Accuracy::of(right, known)
}

/// The most probable label of each task, or that of the majority without posteriors; `None` for a
/// task without a report, or where several labels tie.
pub(crate) fn consensus_labels(
    table: &LabelTable,
    posteriors: Option<&Posteriors>,
) -> Vec<Option<Label>> {
    let mut labels = vec![None; table.task_count()];
    for_each_task(table, posteriors, |task, weights| {
        let label = (0..weights.len()).find(|&label| first_place(weights, label) >= 1.0);
        labels[task as usize] = label.map(|label| label as Label);
    });
    labels
}

/// What a worker says where the consensus says something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsensusConfusion {
    /// Label of the consensus, label of the worker, and on how many tasks; most tasks first, then
    /// by label numbers. Their own reports are part of the consensus.
    pub cells: Vec<(Label, Label, u64)>,
    /// Tasks of the worker without a consensus.
    pub ties: u64,
}

impl ConsensusConfusion {
    /// Share of the tasks with a consensus on which the worker says the same; `None` without one.
    pub(crate) fn agreement(&self) -> Option<f64> {
        let count = |keep: fn(&(Label, Label, u64)) -> bool| -> u64 {
            self.cells.iter().filter(|cell| keep(cell)).map(|cell| cell.2).sum()
        };
        let all = count(|_| true);
        (all > 0).then(|| count(|(consensus, own, _)| consensus == own) as f64 / all as f64)
    }
}

/// The confusion of a worker with [`consensus_labels`].
pub(crate) fn worker_confusion(
    table: &LabelTable,
    consensus: &[Option<Label>],
    worker: u32,
) -> ConsensusConfusion {
    let mut counts: BTreeMap<(Label, Label), u64> = BTreeMap::new();
    let mut ties = 0;
    for (task, own) in table.of_worker(worker).iter() {
        match consensus[task as usize] {
            Some(label) => *counts.entry((label, own)).or_default() += 1,
            None => ties += 1,
        }
    }
    let mut cells: Vec<_> =
        counts.into_iter().map(|((label, own), count)| (label, own, count)).collect();
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.2));
    ConsensusConfusion { cells, ties }
}

/// Calls `visit` with every task that has a report and the weight of each label there: its
/// probability, or its number of votes without posteriors.
fn for_each_task(
    table: &LabelTable,
    posteriors: Option<&Posteriors>,
    mut visit: impl FnMut(u32, &[f64]),
) {
    let mut votes = vec![0.0; table.label_count()];
    for task in 0..table.task_count() as u32 {
        let reports = table.of_task(task);
        if reports.is_empty() {
            continue;
        }
        if let Some(posteriors) = posteriors {
            visit(task, posteriors.of_task(task));
        } else {
            votes.fill(0.0);
            reports.labels.iter().for_each(|&label| votes[usize::from(label)] += 1.0);
            visit(task, &votes);
        }
    }
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

    #[test]
    fn a_confusion_by_hand() {
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("q", "c", "y"),
            ("r", "a", "y"),
            ("r", "c", "x"),
            ("s", "c", "y"),
            ("t", "a", "y"),
            ("t", "b", "y"),
            ("t", "c", "x"),
        ]);
        let consensus = consensus_labels(&table, None);
        // q: x has two of three votes; r ties; s: only c; t: y has two of three.
        assert_eq!(consensus, [Some(0), None, Some(1), Some(1)]);
        let a = worker_confusion(&table, &consensus, 0);
        assert_eq!(a, ConsensusConfusion { cells: vec![(0, 0, 1), (1, 1, 1)], ties: 1 });
        let c = worker_confusion(&table, &consensus, 2);
        assert_eq!(c, ConsensusConfusion { cells: vec![(0, 1, 1), (1, 0, 1), (1, 1, 1)], ties: 1 });
        assert_eq!((a.agreement(), c.agreement()), (Some(1.0), Some(1.0 / 3.0)));
        assert_eq!(ConsensusConfusion::default().agreement(), None);
        let probabilities = vec![0.4, 0.6, 0.7, 0.3, 0.5, 0.5, 0.1, 0.9];
        let posteriors = Posteriors { classes: 2, probabilities };
        let probable = consensus_labels(&table, Some(&posteriors));
        assert_eq!(probable, [Some(1), Some(0), None, Some(1)]);
    }
}
