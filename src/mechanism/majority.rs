//! The majority: how often a worker says what most of the others say.
//!
//! The consensus is the label with most votes; the score is the mean over the worker's tasks that
//! somebody else answered of 1 where the *others'* most frequent label is the worker's, `1 / m` where `m`
//! labels of theirs tie for the first place and the worker's is one of them, else 0.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use super::entry::{Entry, Several};
use super::scoring_function::LabelCounts;
use super::{Mechanism, MechanismError, Posteriors, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::stats::moments::Moments;

/// The mechanism `majority`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Majority;

pub(super) const ENTRY: Entry = Entry {
    name: "majority",
    summary: "Share of tasks on which most others say the same",
    meaning: "share of the worker's tasks on which most of the others say the same; rewards what \
              everybody copied",
    unscored: "no task that somebody else answered",
    needs_z: false,
    is_fitted: false,
    several: Several::Lowest,
    build: |_, _| Box::new(Majority),
};

impl Mechanism for Majority {
    fn name(&self) -> &'static str {
        "majority"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let mut moments = vec![Moments::default(); table.worker_count()];
        let mut counts = LabelCounts::new(table.label_count());
        for task in 0..table.task_count() as u32 {
            let reports = table.of_task(task);
            if reports.len() < 2 {
                continue;
            }
            counts.count(reports.labels);
            for (worker, own) in reports.iter() {
                moments[worker as usize].push(agreement(counts.present(), own));
            }
        }
        let answered = table.count_of_workers(|_| true);
        let workers = answered.into_iter().zip(&moments).map(|(n_tasks, moments)| WorkerScore {
            estimate: moments.estimate(),
            n_tasks,
            n_used: moments.count() as usize,
            ..WorkerScore::default()
        });
        Ok(Scores {
            workers: workers.collect(),
            posteriors: Some(vote_shares(table)),
            ..Scores::default()
        })
    }

    fn on_tasks(&self, _tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(*self)
    }

    /// A worker who guesses still agrees now and then.
    fn zero_is_chance(&self) -> bool {
        false
    }

    fn goes_by_worker(&self) -> bool {
        false
    }
}

/// Share of the first place among the others that `own` has, where one of the `present` is the worker's.
fn agreement(present: &[(Label, u32)], own: Label) -> f64 {
    let others = || present.iter().map(|&(label, count)| (label, count - u32::from(label == own)));
    let most = others().map(|(_, count)| count).max().unwrap_or(0);
    let firsts = || others().filter(move |&(_, count)| count == most);
    if firsts().any(|(label, _)| label == own) { 1.0 / firsts().count() as f64 } else { 0.0 }
}

/// Share of the votes of every label for every task; of a task without a report, that among all.
fn vote_shares(table: &LabelTable) -> Posteriors {
    let classes = table.label_count();
    let mut probabilities = vec![0.0; classes * table.task_count()];
    let mut all = vec![0.0; classes];
    for report in table.reports() {
        all[usize::from(report.label)] += 1.0 / table.report_count() as f64;
    }
    for (task, row) in (0..).zip(probabilities.chunks_exact_mut(classes.max(1))) {
        let labels = table.of_task(task).labels;
        if labels.is_empty() {
            row.copy_from_slice(&all);
        }
        labels.iter().for_each(|&label| row[usize::from(label)] += 1.0 / labels.len() as f64);
    }
    Posteriors { classes, probabilities }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{numbered, small_tables};
    use super::super::tests::values;
    use super::*;
    use crate::data::labels::tests::table;

    #[test]
    fn ties_count_in_part() {
        // q: a, b say 0, c says 1, d says 2. Others of a: one of each, a third. Of c: 0 twice, nothing.
        // r: a says 1 alone: no others. s: a, b say 1: both right.
        let rows = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 2), (1, 0, 1), (2, 0, 1), (2, 1, 1)];
        let scores = Majority.score(&numbered((3, 4, 3), &rows)).unwrap();
        let (both, none) = (Some(2.0 / 3.0), Some(0.0));
        super::super::tests::assert_close(&values(&scores), &[both, both, none, none], 1e-15);
        assert_eq!((scores.workers[0].n_tasks, scores.workers[0].n_used), (3, 2));
        assert_eq!(scores.posteriors.unwrap().of_task(0), [0.5, 0.25, 0.25]);
    }

    proptest! {
        #[test]
        fn scores_equal_the_definition(table in small_tables()) {
            let scores = Majority.score(&table).unwrap();
            for (worker, score) in (0..).zip(&scores.workers) {
                let mut terms = Vec::new();
                for (task, own) in table.of_worker(worker).iter() {
                    let mut votes = vec![0; table.label_count()];
                    for (_, label) in table.of_task(task).iter().filter(|&(w, _)| w != worker) {
                        votes[usize::from(label)] += 1;
                    }
                    let most = *votes.iter().max().unwrap();
                    let ties = votes.iter().filter(|&&count| count == most).count();
                    let first = votes[usize::from(own)] == most;
                    if most > 0 {
                        terms.push(if first { 1.0 / ties as f64 } else { 0.0 });
                    }
                }
                let want = crate::stats::interval::Estimate::of_mean(&terms);
                prop_assert_eq!(score.estimate.is_some(), want.is_some());
                if let (Some(got), Some(want)) = (score.estimate, want) {
                    prop_assert!((got.value - want.value).abs() < 1e-12);
                }
            }
            let posteriors = scores.posteriors.unwrap();
            for task in 0..table.task_count() as u32 {
                prop_assert!((posteriors.of_task(task).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_tie_among_two_others_is_half() {
        let table = table(&[("q", "a", "x"), ("q", "b", "x"), ("q", "c", "y")]);
        let scores = Majority.score(&table).unwrap();
        // Of the others of a, one says x and one y: a tie.
        assert_eq!(scores.workers[0].estimate.map(|estimate| estimate.value), Some(0.5));
        assert_eq!(scores.workers[2].estimate.map(|estimate| estimate.value), Some(0.0));
    }
}
