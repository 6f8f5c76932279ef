//! The fast sums against the formula written out, and the formula against the score itself: its
//! change when the weight of one task changes a little, and when one task is left out.

#![expect(clippy::cast_possible_truncation, reason = "tables of tests are small")]

use proptest::prelude::*;

use super::*;
use crate::mechanism::tests::{Crowd, random_crowd};
use crate::stats::seed::stream;
use rand::RngExt;

/// Agreement pays, and so does one kind of disagreement: not symmetric, so that a row taken for a
/// column shows.
fn matrix(classes: usize) -> ScoreMatrix {
    let value = |at: usize| match (at / classes, at % classes) {
        (h, l) if h == l => 1.0,
        (0, 1) => 0.5,
        _ => 0.0,
    };
    ScoreMatrix { classes, values: (0..classes * classes).map(value).collect() }
}

/// The labels of a stratum of all tasks, a row per task.
struct Dense {
    matrix: ScoreMatrix,
    labels: Vec<Vec<Option<Label>>>,
    /// Tasks of each worker.
    tasks: Vec<Vec<usize>>,
}

impl Dense {
    fn new(table: &LabelTable) -> Self {
        let workers = table.worker_count();
        let row = |task: u32| {
            let mut row = vec![None; workers];
            let reports = table.of_task(task);
            reports.iter().for_each(|(worker, label)| row[worker as usize] = Some(label));
            row
        };
        let labels: Vec<Vec<Option<Label>>> = (0..table.task_count() as u32).map(row).collect();
        let of =
            |worker: usize| (0..labels.len()).filter(|&q| labels[q][worker].is_some()).collect();
        let tasks = (0..workers).map(of).collect();
        Self { matrix: matrix(table.label_count()), labels, tasks }
    }

    /// The moments of each worker alone, and with the variance drawn to that of all.
    fn fast(&self, table: &LabelTable) -> [Vec<Moments>; 2] {
        let tasks: Vec<u32> = (0..table.task_count() as u32).collect();
        let mut peers = Peers::new(table);
        peers.enter(&tasks);
        let terms = StratumTerms::new(&peers, &tasks, Some(self.matrix.clone()));
        [terms.moments_alone(), terms.moments()]
    }

    /// The tasks of `i` that have a term, with the peers there: those who answered another task.
    fn used(&self, i: usize) -> Vec<(usize, Vec<usize>)> {
        let peers = |q: usize| {
            let others = (0..self.tasks.len()).filter(|&j| j != i && self.labels[q][j].is_some());
            others.filter(|&j| self.tasks[j].len() >= 2).collect::<Vec<_>>()
        };
        let tasks = self.tasks[i].iter().map(|&q| (q, peers(q)));
        tasks.filter(|(_, peers)| !peers.is_empty()).collect()
    }

    fn pay(&self, i: usize, q: usize, j: usize, penalty: usize) -> f64 {
        match (self.labels[q][i], self.labels[penalty][j]) {
            (Some(own), Some(peer)) => self.matrix.get(own, peer),
            _ => panic!("{i} on {q}, {j} on {penalty}"),
        }
    }

    /// What `i` earns on task `q` against peer `j`, where task `p` counts `weight[p]` times as a
    /// penalty task.
    fn gain(&self, i: usize, q: usize, j: usize, weight: &[f64]) -> f64 {
        let penalties = || self.tasks[j].iter().copied().filter(|&other| other != q);
        let paid: f64 = penalties().map(|p| weight[p] * self.pay(i, q, j, p)).sum();
        self.pay(i, q, j, q) - paid / penalties().map(|p| weight[p]).sum::<f64>()
    }

    /// The score of `i` where task `q` counts `weight[q]` times, as a bonus task and as a penalty
    /// task; with all weights 1 it is that of methods.md.
    fn score(&self, i: usize, used: &[(usize, Vec<usize>)], weight: &[f64]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (q, peers) in used.iter().filter(|(q, _)| weight[*q] > 0.0) {
            let gains: f64 = peers.iter().map(|&j| self.gain(i, *q, j, weight)).sum();
            sum += weight[*q] * gains / peers.len() as f64;
            total += weight[*q];
        }
        sum / total
    }

    /// The sum of squares and the overlap of the formula at the head of the file, one sum per
    /// symbol; `None` for fewer than two terms.
    fn by_formula(&self, i: usize) -> Option<(f64, f64)> {
        let used = self.used(i);
        let n = used.len() as f64;
        if used.len() < 2 {
            return None;
        }
        let ones = vec![1.0; self.labels.len()];
        let mean = self.score(i, &used, &ones);
        let mut influence = vec![0.0; self.labels.len()];
        for (q, peers) in &used {
            let terms: f64 = peers.iter().map(|&j| self.gain(i, *q, j, &ones)).sum();
            influence[*q] += (terms / peers.len() as f64 - mean) / n;
        }
        let mut overlap = 0.0;
        for j in (0..self.tasks.len()).filter(|&j| j != i) {
            let shared: Vec<&(usize, Vec<usize>)> =
                used.iter().filter(|(_, peers)| peers.contains(&j)).collect();
            if shared.is_empty() {
                continue;
            }
            // B_j of the label that j gives to task p.
            let b = |p: usize| -> f64 {
                shared.iter().map(|(q, peers)| self.pay(i, *q, j, p) / peers.len() as f64).sum()
            };
            let n_j = self.tasks[j].len() as f64;
            let mean = self.tasks[j].iter().map(|&p| b(p)).sum::<f64>() / n_j;
            for &p in &self.tasks[j] {
                influence[p] -= (b(p) - mean) / (n_j - 1.0) / n;
            }
            let weight: f64 = shared.iter().map(|(_, peers)| 1.0 / peers.len() as f64 / n).sum();
            let common = self.tasks[j].iter().filter(|&&p| used.iter().any(|(q, _)| *q == p));
            overlap += weight * common.count() as f64 / n_j;
        }
        let squares: f64 = influence.iter().map(|value| value * value).sum();
        Some((squares * n * n, overlap))
    }

    /// Standard error by the delta method: the change of the score with the weight of every task,
    /// by central differences.
    fn by_differences(&self, i: usize) -> f64 {
        const STEP: f64 = 1e-4;
        let used = self.used(i);
        let n = used.len() as f64;
        let slope = |task: usize| {
            let at = |step: f64| {
                let mut weight = vec![1.0; self.labels.len()];
                weight[task] += step;
                self.score(i, &used, &weight)
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        let squares: f64 = (0..self.labels.len()).map(|task| slope(task).powi(2)).sum();
        (squares * n / (n - 1.0)).sqrt()
    }

    /// Standard error by leaving out one task at a time.
    fn by_jackknife(&self, i: usize) -> f64 {
        let used = self.used(i);
        let ones = vec![1.0; self.labels.len()];
        let whole = self.score(i, &used, &ones);
        let without = |task: usize| {
            let mut weight = ones.clone();
            weight[task] = 0.0;
            self.score(i, &used, &weight) - whole
        };
        let n = used.len() as f64;
        let squares: f64 = (0..self.labels.len()).map(|task| without(task).powi(2)).sum();
        (squares * (n - 1.0) / n).sqrt()
    }
}

proptest! {
    #[test]
    fn fast_sums_equal_the_formula_written_out(crowd in random_crowd()) {
        let Crowd { table, .. } = &crowd;
        let dense = Dense::new(table);
        let [alone, moderated] = dense.fast(table);
        // n - 1 and the variance of a task, for those who have one.
        let mut variances = Vec::new();
        for (worker, found) in alone.iter().enumerate() {
            if let Some((squares, overlap)) = dense.by_formula(worker) {
                let used = dense.used(worker);
                let small = 1.0 + overlap / (used.len() as f64 - 2.0).max(1.0);
                let expected = squares * small * small;
                let score = dense.score(worker, &used, &vec![1.0; table.task_count()]);
                prop_assert!((found.mean() - score).abs() < 1e-9);
                prop_assert!((found.squares() - expected).abs() < 1e-9, "{found:?} {expected}");
                let freedom = used.len() as f64 - 1.0;
                variances.push((worker, freedom, expected / freedom));
            }
        }
        let weights: f64 = variances.iter().map(|(_, freedom, _)| freedom).sum();
        let pooled = variances.iter().map(|(_, freedom, v)| freedom * v / weights).sum::<f64>();
        for (worker, freedom, variance) in variances {
            let own = freedom / (5.0 + freedom);
            let expected = (own * variance + (1.0 - own) * pooled) * freedom;
            let found = moderated[worker];
            prop_assert_eq!(found.mean().to_bits(), alone[worker].mean().to_bits());
            prop_assert!((found.squares() - expected).abs() < 1e-9, "{found:?} {expected}");
        }
    }
}

/// Workers in fixed teams of four, or four random ones of twelve on each task; right seven times in
/// ten.
fn crowd(fixed: bool, tasks: u32) -> LabelTable {
    use crate::data::labels::{LabelNames, LabelReport};
    let mut random = stream(5, "influence", u64::from(tasks));
    let mut names = LabelNames::default();
    (0..tasks).for_each(|task| _ = names.tasks.intern(&format!("q{task}")));
    (0..12).for_each(|worker| _ = names.workers.intern(&format!("w{worker}")));
    (0..3).for_each(|label| _ = names.labels.intern(&format!("l{label}")));
    let mut reports = Vec::new();
    for task in 0..tasks {
        let truth = random.random_range(0..3);
        let team: Vec<usize> = if fixed {
            (0..4).map(|slot| (task % 3) as usize * 4 + slot).collect()
        } else {
            rand::seq::index::sample(&mut random, 12, 4).into_vec()
        };
        for worker in team {
            let label = if random.random_bool(0.55) { truth } else { random.random_range(0..3) };
            reports.push(LabelReport { task, worker: worker as u32, label });
        }
    }
    LabelTable::new(names, &reports)
}

/// In a fixed team the correction is known exactly: leaving out one task gives the formula's factor.
/// Elsewhere a part in n is neglected: with 15 and 30 tasks each the mean is 4.0 and 2.3 % too small. The
/// bound is .75 / n.
#[test]
fn standard_errors_are_those_of_the_jackknife_and_of_the_delta_method() {
    for (fixed, tasks) in [(true, 45), (true, 90), (false, 45), (false, 90)] {
        let table = crowd(fixed, tasks);
        let dense = Dense::new(&table);
        let (mut delta, mut jackknife) = (0.0, 0.0);
        let [moments, _] = dense.fast(&table);
        for (worker, moments) in moments.iter().enumerate() {
            let error = moments.estimate().unwrap().standard_error.unwrap();
            let left_out = error / dense.by_jackknife(worker);
            if fixed {
                assert!((left_out - 1.0).abs() < 1e-9, "{tasks} tasks: {left_out}");
            }
            jackknife += left_out.ln();
            delta += (error / dense.by_differences(worker)).ln();
        }
        let bias = [delta, jackknife].map(|sum| sum / moments.len() as f64);
        let bound = if fixed { 0.01 } else { 0.75 / f64::from(tasks / 3) };
        assert!(bias.iter().all(|bias| bias.abs() < bound), "{fixed} {tasks}: {bias:?}");
    }
}
