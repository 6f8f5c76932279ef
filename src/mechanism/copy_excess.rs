//! Copy excess, `excess_z`: does a worker say what the LLM says more often than others do on the
//! same tasks?
//!
//! ```text
//! e_i = (a_i - o_i) / (1 - o_i)
//! ```
//!
//! over the tasks of worker `i` that Z covers and that somebody else answered, with `a_i` the
//! share of them on which `i` equals Z and `o_i` the mean over them of the share of the *others*
//! who equal Z; every task weighs the same. Of a worker who copies with probability `c` and else
//! agrees with Z as the others do, `e_i` is `c` on average: the estimated share of copies. Easy
//! tasks, on which everybody agrees with the LLM, accuse nobody, since the others agree there
//! too. It is 1 for a worker who always equals Z and has no lower bound.
//!
//! The score is `-e_i`. Its standard error is that of a ratio of means over tasks to first order
//! (delta method), with the agreement of `i` and that of the others paired by task:
//!
//! ```text
//! u_q = ( (a_q - a_i) - (1 - a_i) / (1 - o_i) (o_q - o_i) ) / (1 - o_i)
//! se^2 = sum_q u_q^2 / (n (n - 1))
//! ```
//!
//! Undefined, hence missing: without such a task (no Z, or alone on all of them), and where all
//! others equal Z on all of them, so that a copy cannot be told from an own answer.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::sync::Arc;

use rayon::prelude::*;

use super::entry::{Entry, Several, conditioning};
use super::scoring_function::agreement;
use super::strata::Conditioning;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::stats::interval::Estimate;

/// `excess_z`.
#[derive(Debug, Clone)]
pub(crate) struct CopyExcess {
    conditioning: Conditioning,
    places: Option<Arc<[f64]>>,
}

impl CopyExcess {
    /// Compares with the label `z` of each task, by task number.
    #[cfg(test)]
    pub(crate) fn new(z: Vec<Option<Label>>) -> Self {
        Self { conditioning: Conditioning::on(z), places: None }
    }

    /// The same with labels on a scale, their places from 0 to 1 by number: says as much of what Z says
    /// as is not their distance.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn on_scale(self, places: Arc<[f64]>) -> Self {
        Self { places: Some(places), ..self }
    }
}

pub(super) const ENTRY: Entry = Entry {
    name: "excess_z",
    summary: "Copy excess: saying what the LLM says more often than others do",
    meaning: "minus the copy excess (column copied), how much more often than the others on the \
              same tasks a worker says what the LLM says, as a share of the room there is: about \
              the share of answers copied, 0 for a worker like the others",
    unscored: "no task with a Z label and another worker, or all others say what the LLM says",
    needs_z: true,
    is_fitted: false,
    several: Several::Lowest,
    build: |sources, options| {
        let places = options.places.clone();
        Box::new(CopyExcess { conditioning: conditioning(sources), places })
    },
};

impl Mechanism for CopyExcess {
    fn name(&self) -> &'static str {
        "excess_z"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        self.conditioning.check(table)?;
        let agreeing: Vec<f64> = (0..table.task_count() as u32)
            .into_par_iter()
            .with_min_len(1024)
            .map(|task| self.agreeing(table, task))
            .collect();
        let covered = self.conditioning.covered_tasks(table);
        let workers = (0..table.worker_count() as u32)
            .into_par_iter()
            .with_min_len(64)
            .map(|worker| {
                let tasks = self.tasks(table, worker, &agreeing);
                let excess = excess(tasks.clone());
                WorkerScore {
                    estimate: excess.map(|excess| Estimate { value: -excess.value, ..excess }),
                    n_tasks: table.of_worker(worker).len(),
                    n_z_tasks: covered[worker as usize],
                    n_used: tasks.count(),
                    copied: excess.map(|excess| excess.value),
                    ..WorkerScore::default()
                }
            })
            .collect();
        Ok(Scores { workers, ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let places = self.places.clone();
        Box::new(Self { conditioning: self.conditioning.on_tasks(tasks), places })
    }

    /// 0 is what a worker earns who agrees with Z as often as the others.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

impl CopyExcess {
    /// How much a label agrees with that of Z.
    fn agreement(&self, label: Label, z: Label) -> f64 {
        agreement(self.places.as_deref(), label, z)
    }

    /// Sum of the agreement of the reports on `task` with Z.
    fn agreeing(&self, table: &LabelTable, task: u32) -> f64 {
        self.conditioning.label(task).map_or(0.0, |z| {
            table.of_task(task).labels.iter().map(|&label| self.agreement(label, z)).sum()
        })
    }

    /// Of every task of `worker` with Z and another worker: how much the worker agrees with Z (1 or 0
    /// but on a scale), and the mean over the others.
    fn tasks<'a>(
        &'a self,
        table: &'a LabelTable,
        worker: u32,
        agreeing: &'a [f64],
    ) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
        table.of_worker(worker).iter().filter_map(move |(task, label)| {
            let z = self.conditioning.label(task)?;
            let others = table.of_task(task).len() - 1;
            let own = self.agreement(label, z);
            let share = (agreeing[task as usize] - own) / others as f64;
            (others > 0).then_some((own, share))
        })
    }
}

/// `e_i` with its standard error.
fn excess(tasks: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Estimate> {
    let (mut count, mut own, mut others) = (0.0, 0.0, 0.0);
    for (agrees, share) in tasks.clone() {
        count += 1.0;
        own += agrees;
        others += share;
    }
    if count == 0.0 || others >= count {
        return None;
    }
    let (own, others) = (own / count, others / count);
    let room = 1.0 - others;
    let ratio = (1.0 - own) / room;
    let squares: f64 = tasks
        .map(|(agrees, share)| ((agrees - own - ratio * (share - others)) / room).powi(2))
        .sum();
    Some(Estimate {
        value: (own - others) / room,
        standard_error: (count > 1.0).then(|| (squares / (count * (count - 1.0))).sqrt()),
        degrees_of_freedom: count - 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::super::MinimumOverSources;
    use super::super::tests::{Crowd, assert_close, random_crowd, shuffled, values};
    use super::*;
    use crate::data::labels::tests::table;
    use crate::stats::seed::stream;
    use proptest::prelude::*;
    use rand::RngExt;

    fn scores(table: &LabelTable, z: &[Option<Label>]) -> Scores {
        CopyExcess::new(z.to_vec()).score(table).unwrap()
    }

    fn copied(scores: &Scores) -> Vec<Option<f64>> {
        scores.workers.iter().map(|score| score.copied).collect()
    }

    /// The definition, one report at a time: value and standard error.
    fn by_definition(table: &LabelTable, z: &[Option<Label>]) -> Vec<Option<(f64, Option<f64>)>> {
        let equal: Vec<(u32, u32, f64)> = table
            .reports()
            .filter_map(|r| Some((r.task, r.worker, f64::from(r.label == z[r.task as usize]?))))
            .collect();
        (0..table.worker_count() as u32)
            .map(|i| {
                let tasks: Vec<(f64, f64)> = equal
                    .iter()
                    .filter(|(_, worker, _)| *worker == i)
                    .filter_map(|&(task, _, own)| {
                        let others: Vec<f64> = equal
                            .iter()
                            .filter(|(q, j, _)| *q == task && *j != i)
                            .map(|(_, _, equals)| *equals)
                            .collect();
                        let sum: f64 = others.iter().sum();
                        (!others.is_empty()).then(|| (own, sum / others.len() as f64))
                    })
                    .collect();
                let n = tasks.len() as f64;
                let a = tasks.iter().map(|t| t.0).sum::<f64>() / n;
                let o = tasks.iter().map(|t| t.1).sum::<f64>() / n;
                if tasks.is_empty() || tasks.iter().all(|t| t.1 >= 1.0) {
                    return None;
                }
                // Variance of f(a, o) = (a - o) / (1 - o) from its gradient and the covariance.
                let (by_a, by_o) = (1.0 / (1.0 - o), -(1.0 - a) / (1.0 - o) / (1.0 - o));
                let mean = |f: &dyn Fn(&(f64, f64)) -> f64| tasks.iter().map(f).sum::<f64>();
                let variance = by_a * by_a * mean(&|t| (t.0 - a).powi(2))
                    + by_o * by_o * mean(&|t| (t.1 - o).powi(2))
                    + 2.0 * by_a * by_o * mean(&|t| (t.0 - a) * (t.1 - o));
                let error = (n > 1.0).then(|| (variance.max(0.0) / n / (n - 1.0)).sqrt());
                Some(((a - o) / (1.0 - o), error))
            })
            .collect()
    }

    /// Z is x everywhere but on u, which it does not cover.
    fn example() -> (LabelTable, Vec<Option<Label>>) {
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("q", "c", "y"),
            ("r", "a", "x"),
            ("r", "b", "y"),
            ("s", "a", "y"),
            ("s", "c", "y"),
            ("t", "a", "x"),
            ("t", "b", "x"),
            ("u", "a", "y"),
            ("u", "d", "y"),
            ("v", "e", "x"),
        ]);
        (table, vec![Some(0), Some(0), Some(0), Some(0), None, Some(0)])
    }

    #[test]
    fn the_example_of_the_documentation_by_hand() {
        // a answers q, r, s, t: own 1, 1, 0, 1, mean 3/4; others 1/2, 0, 0, 1, mean 3/8.
        // e = (3/4 - 3/8) / (5/8) = 3/5. Ratio (1/4) / (5/8) = 2/5; terms times 5/8:
        // q 1/4 - 2/5 * 1/8 = .2, r 1/4 + 2/5 * 3/8 = .4, s -3/4 + .15 = -.6, t .25 - .25 = 0.
        // Squares .04 + .16 + .36 = .56; se^2 = .56 / (25/64) / 12 = .119466...
        let (table, z) = example();
        let scores = scores(&table, &z);
        let a = scores.workers[0].estimate.unwrap();
        assert!((a.value + 0.6).abs() < 1e-15);
        assert!((a.standard_error.unwrap() - (0.56 * 2.56 / 12.0_f64).sqrt()).abs() < 1e-15);
        assert!((a.degrees_of_freedom - 3.0).abs() < 1e-15);
        assert_eq!((scores.workers[0].n_z_tasks, scores.workers[0].n_used), (Some(4), 4));
        // b: own 1, 0, 1; others 1/2, 1, 1, mean 5/6: e = (2/3 - 5/6) / (1/6) = -1.
        // c: own 0, 0; others 1, 0: e = -1/2 / (1/2) = -1. d has no Z, e nobody to compare with.
        assert_close(&copied(&scores), &[Some(0.6), Some(-1.0), Some(-1.0), None, None], 1e-12);
        assert_eq!((scores.workers[4].n_z_tasks, scores.workers[4].n_used), (Some(1), 0));
        let (low, high) = scores.workers[0].copied_interval().unwrap();
        let (bottom, top) = a.interval().unwrap();
        assert_eq!((low, high), (-top, -bottom));
        assert_eq!(scores.workers[3].copied_interval(), None);
    }

    #[test]
    fn on_a_scale_near_the_llm_counts_in_part() {
        // Labels x, y, z at 0, 1/2, 1; Z says x of q and r. a: x, y: agreement 1, 1/2. b: z, x: 0, 1.
        // a: own 3/4, others 1/2: (3/4 - 1/2) / (1/2) = 1/2. b: (1/2 - 3/4) / (1/4) = -1.
        let table = table(&[("q", "a", "x"), ("r", "a", "y"), ("q", "b", "z"), ("r", "b", "x")]);
        let mechanism = CopyExcess::new(vec![Some(0); 2]).on_scale([0.0, 0.5, 1.0].into());
        let scores = mechanism.score(&table).unwrap();
        assert_close(&copied(&scores), &[Some(0.5), Some(-1.0)], 1e-12);
    }

    #[test]
    fn several_sources_give_the_largest_excess() {
        let (table, z) = example();
        let other = vec![Some(0), Some(1), Some(1), None, None, None];
        let each = [scores(&table, &z), scores(&table, &other)];
        let mechanisms: Vec<Box<dyn Mechanism>> =
            vec![Box::new(CopyExcess::new(z)), Box::new(CopyExcess::new(other))];
        let both = MinimumOverSources::new(mechanisms).score(&table).unwrap();
        let largest: Vec<Option<f64>> = copied(&each[0])
            .into_iter()
            .zip(copied(&each[1]))
            .map(|(a, b)| a.map_or(b, |a| Some(b.map_or(a, |b| f64::max(a, b)))))
            .collect();
        assert_close(&copied(&both), &largest, 0.0);
    }

    #[test]
    fn a_missing_z_has_no_excess_and_one_that_all_follow_neither() {
        let (table, _) = example();
        assert_eq!(copied(&scores(&table, &[None; 6])), [None; 5]);
        let all = table.on_tasks(&[4]);
        assert_eq!(copied(&scores(&all, &[Some(1)])), [None; 5]);
        let error = CopyExcess::new(vec![None]).score(&table).unwrap_err();
        assert_eq!(error, MechanismError::TaskCount { z_tasks: 1, tasks: 6 });
    }

    #[test]
    fn the_share_of_copies_is_recovered_and_its_interval_covers_it() {
        // Ten people are right with probability .7 on tasks that are easy or hard; one copies a
        // share of .4. Where a copy cannot be told, o is the same for all, so e is .4 on average.
        // 300 crowds: coverage has a standard error of .0126; .91 to .98 are three of them.
        let (mut covered, mut sum) = (0, 0.0);
        for crowd in 0..300 {
            let mut random = stream(3, "test", crowd);
            let (mut reports, mut z) = (Vec::new(), Vec::new());
            for task in 0..80_u32 {
                let truth = random.random_range(0..2_u16);
                let skill = if task % 2 == 0 { 0.95 } else { 0.55 };
                let mut answer = |copies: f64, llm: Label| {
                    if random.random_bool(copies) {
                        llm
                    } else if random.random_bool(skill) {
                        truth
                    } else {
                        1 - truth
                    }
                };
                let llm = answer(0.0, 0);
                z.push(Some(llm));
                reports.push((task, 0, answer(0.4, llm)));
                (1..10).for_each(|worker| reports.push((task, worker, answer(0.0, llm))));
            }
            let table = super::super::fixtures::numbered((80, 10, 2), &reports);
            let scores = scores(&table, &z);
            sum += scores.workers[0].copied.unwrap();
            let (low, high) = scores.workers[0].copied_interval().unwrap();
            covered += i32::from(low <= 0.4 && 0.4 <= high);
        }
        let coverage = f64::from(covered) / 300.0;
        eprintln!("copy excess: mean {:.4} of .4, coverage {coverage:.3}", sum / 300.0);
        assert!((sum / 300.0 - 0.4).abs() < 0.03);
        assert!((0.91..=0.98).contains(&coverage), "{coverage}");
    }

    proptest! {
        #[test]
        fn linear_time_scores_equal_the_definition(crowd in random_crowd()) {
            let got = scores(&crowd.table, &crowd.z);
            let want = by_definition(&crowd.table, &crowd.z);
            assert_close(&copied(&got), &want.iter().map(|w| w.map(|w| w.0)).collect::<Vec<_>>(), 1e-12);
            for (got, want) in got.workers.iter().zip(&want) {
                let error = got.estimate.and_then(|e| e.standard_error);
                let expected = want.and_then(|w| w.1);
                prop_assert_eq!(error.is_some(), expected.is_some());
                // Square roots of rounding differences.
                prop_assert!((error.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-6);
            }
        }

        #[test]
        fn the_score_is_minus_the_excess_which_is_at_most_one(crowd in random_crowd()) {
            for score in scores(&crowd.table, &crowd.z).workers {
                prop_assert_eq!(score.copied, score.estimate.map(|e| -e.value));
                prop_assert!(score.copied.is_none_or(|copied| copied <= 1.0));
            }
        }

        #[test]
        fn scores_follow_a_permutation_of_workers_tasks_and_labels(
            crowd in random_crowd(), seed: u64,
        ) {
            let Crowd { table, z } = &crowd;
            let (permuted, workers) = shuffled(&crowd, seed);
            let again = values(&scores(&permuted.table, &permuted.z));
            let back: Vec<Option<f64>> = workers.iter().map(|&w| again[w as usize]).collect();
            assert_close(&back, &values(&scores(table, z)), 1e-9);
        }

        #[test]
        fn a_worker_who_always_equals_z_has_copied_everything(crowd in random_crowd()) {
            let copy = crowd.z.clone();
            let mut reports: Vec<(u32, u32, Label)> =
                crowd.table.reports().map(|r| (r.task, r.worker + 1, r.label)).collect();
            for (task, z) in (0..).zip(&copy) {
                reports.extend(z.map(|z| (task, 0, z)));
            }
            let size = (copy.len(), crowd.table.worker_count() + 1, 5);
            let table = super::super::fixtures::numbered(size, &reports);
            let excess = scores(&table, &copy).workers[0].copied;
            prop_assert!(excess.is_none_or(|e| (e - 1.0).abs() < 1e-12), "{excess:?}");
        }
    }

    #[test]
    fn one_copies_and_of_the_other_there_is_no_telling() {
        // Z says yes twice. Worker a says so both times, b once, so that a = 1 and o = 1/2.
        let table =
            table(&[("q", "a", "yes"), ("r", "a", "yes"), ("q", "b", "yes"), ("r", "b", "no")]);
        let scores = CopyExcess::new(vec![Some(0), Some(0)]).score(&table).unwrap();
        assert_eq!(scores.workers[0].copied, Some(1.0));
        // The others of b, that is a, always equal Z: no telling.
        assert_eq!(scores.workers[1].copied, None);
    }
}
