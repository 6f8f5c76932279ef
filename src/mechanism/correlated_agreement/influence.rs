//! Uncertainty of correlated agreement: what a task adds to a score as a bonus task of the worker
//! *and* as a penalty task of the peers.
//!
//! In one stratum the score of worker `i` is the mean over the `n` tasks `q` of `i` of a term
//! `u_q`. Its influence on the score is `(u_q - mean) / n`. But task `q'` also stands in the
//! penalty of every peer who answered it: with `A_j[h] = sum over the tasks q that i and j share,
//! with x_iq = h, of 1 / (usable peers of i on q)` and `B_j[l] = sum_h A_j[h] T[h, l]`,
//!
//! ```text
//! g_q' = -(1/n) sum over peers j on q' of ( B_j[x_jq'] - mean over the tasks of j of B_j ) / (n_j - 1)
//! variance of the mean = n / (n - 1) * sum over q' of ( (u_q' - mean) / n + g_q' )^2 * c^2
//! c = 1 + overlap / (n - 2)
//! ```
//!
//! Without `g` the interval of a worker in a fixed team of five covers the truth in 86 to 90 % of
//! crowds instead of 95 %, because the team is scored against its own few tasks. `overlap` is the
//! share of the penalty that falls on tasks of the worker (1 in a fixed team, near 0 among many
//! peers). `c` makes up for few tasks: a bonus and a penalty on the same tasks are centred twice; it is
//! what leaving out one task at a time gives (jackknife).
//!
//! A worker with five tasks in a stratum says little about a variance, and nothing where all five
//! answers are the same label, for which the formula gives 0. So the variance of a task is drawn to that of
//! the workers of the stratum taken together, as if [`PRIOR_TASKS`] further tasks had it (Smyth 2004,
//! *Statistical Applications in Genetics and Molecular Biology* 3(1), article 3, with a prior weight
//! that is given, not estimated):
//!
//! ```text
//! moderated = (PRIOR_TASKS pooled + (n - 1) variance) / (PRIOR_TASKS + n - 1)
//! pooled    = sum over workers of (n - 1) variance / sum over workers of (n - 1)
//! ```
//!
//! The degrees of freedom stay `n - 1`. The coverage is in `tests/library/coverage_labels.rs`.
//!
//! The sum over all tasks of all peers is exact as long as it stays below [`MOST_VISITS`] per
//! task of the worker. A worker with more peers than that is compared with the crowd as a whole:
//! every report of others in the stratum weighs the same in the penalty, and the tasks that the
//! worker did not answer are taken to be like those that the worker did. So the cost is linear in
//! the reports.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use rayon::prelude::*;

use super::peers::{Peers, add_worth};
use super::scoring::{Counts, Fetched, Learned, Scoring};
use crate::data::labels::{Label, LabelTable, rows_per_thread};
use crate::mechanism::chunks::task_chunks;
use crate::mechanism::scoring_function::{LabelCounts, ScoreMatrix};
use crate::stats::moments::Moments;

/// Most visits of peers and their tasks per task of a worker.
const MOST_VISITS: usize = 128;

/// How many tasks the variance of the crowd counts for beside a worker's own. From 4 to 6 the intervals
/// of simulated crowds with 20 tasks each cover between 93 and 97 %.
const PRIOR_TASKS: f64 = 5.0;

/// The task terms of one stratum.
///
/// The reports of a worker lie side by side: in a crowd of millions of reports, most of the time
/// would go into fetching each of them from where its task has it, several times over.
pub(super) struct StratumTerms<'a> {
    table: &'a LabelTable,
    scoring: Scoring,
    /// Tasks of the stratum.
    tasks: &'a [u32],
    /// Those of worker `i` are `reports[offsets[i]..offsets[i + 1]]`, by task.
    reports: Vec<Report>,
    offsets: Vec<u32>,
    counts: Counts,
    /// How often the stratum has each label.
    totals: Vec<f64>,
}

/// One report of a worker, with its term.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Report {
    /// `u`, the mean over [`Self::usable`] peers; meaningless without any.
    term: f64,
    usable: u32,
    /// Place of the task in the stratum.
    pub(super) task: u32,
    pub(super) label: Label,
}

impl<'a> StratumTerms<'a> {
    /// Computes all terms by the T given, or by T learned from all but the worker; `peers` are in this
    /// stratum.
    pub(super) fn new(peers: &Peers<'a>, tasks: &'a [u32], given: Option<ScoreMatrix>) -> Self {
        let table = peers.table;
        let parts = task_chunks(table, tasks);
        let counts = Counts::new(table, &parts);
        let offsets = offsets(table, tasks);
        let mut reports = by_worker(table, &offsets, tasks);
        let scoring = match given {
            Some(matrix) => Scoring::Same(matrix),
            None => Scoring::Learned(Learned::new(table, tasks, &counts, (&reports, &offsets))),
        };
        let terms: Vec<Vec<(f64, u32)>> =
            parts.par_iter().map(|tasks| terms(peers, tasks, &scoring)).collect();
        Chunk::each(&mut reports, &offsets, |mut chunk| {
            let mut terms = terms.iter().flatten();
            for &task in tasks {
                for (&worker, &(term, usable)) in table.of_task(task).others.iter().zip(&mut terms)
                {
                    if let Some(report) = chunk.next_of(worker) {
                        (report.term, report.usable) = (term, usable);
                    }
                }
            }
        });
        let mut totals = vec![0.0; peers.classes];
        for &(label, count) in &counts.present {
            totals[usize::from(label)] += f64::from(count);
        }
        Self { table, scoring, tasks, reports, offsets, counts, totals }
    }

    /// Mean of the terms of every worker, with the sum of squares that its variance comes from.
    pub(super) fn moments(&self) -> Vec<Moments> {
        moderated(self.moments_alone())
    }

    /// The same with each worker's own variance.
    fn moments_alone(&self) -> Vec<Moments> {
        (0..self.table.worker_count())
            .into_par_iter()
            .with_min_len(64)
            .map_init(Scratch::default, |scratch, worker| self.of_worker(worker, scratch))
            .collect()
    }

    fn of_worker(&self, worker: usize, scratch: &mut Scratch) -> Moments {
        let mut moments = Moments::default();
        for report in self.used(worker) {
            moments.push(report.term);
        }
        if moments.count() < 2 {
            return moments;
        }
        scratch.prepare(self.table.worker_count(), self.tasks.len());
        let (squares, overlap) = if self.find_peers(worker, &moments, scratch) {
            self.exact(worker, &moments, scratch)
        } else {
            self.pooled(worker, &moments, &mut scratch.fetched)
        };
        scratch.clear();
        let count = moments.count() as f64;
        let small = 1.0 + overlap / (count - 2.0).max(1.0);
        moments.with_squares(squares * small * small)
    }

    /// The reports of `worker` that have a term.
    fn used(&self, worker: usize) -> impl Iterator<Item = &Report> {
        self.of(worker).iter().filter(|report| report.usable > 0)
    }

    fn of(&self, worker: usize) -> &[Report] {
        &self.reports[self.offsets[worker] as usize..self.offsets[worker + 1] as usize]
    }

    /// Collects the usable peers of a worker with their `A_j`; false if that takes too long.
    fn find_peers(&self, worker: usize, moments: &Moments, scratch: &mut Scratch) -> bool {
        let classes = self.totals.len();
        let mut left = MOST_VISITS.saturating_mul(moments.count() as usize);
        for report in self.used(worker) {
            let label = usize::from(report.label);
            let weight = 1.0 / f64::from(report.usable);
            let task = self.tasks[report.task as usize];
            for &peer in self.table.of_task(task).others {
                let peer = peer as usize;
                let count = self.of(peer).len();
                if peer == worker || count < 2 {
                    continue;
                }
                let mut cost = 1;
                if scratch.slot[peer] == 0 {
                    scratch.peers.push(peer as u32);
                    scratch.slot[peer] = scratch.peers.len() as u32;
                    scratch.weights.resize(scratch.peers.len() * classes, 0.0);
                    cost += count;
                }
                if cost > left {
                    return false;
                }
                left -= cost;
                scratch.weights[(scratch.slot[peer] as usize - 1) * classes + label] += weight;
            }
        }
        true
    }

    /// Sum of squares of `n` times the influence, and the overlap, over all tasks of all peers.
    fn exact(&self, worker: usize, moments: &Moments, scratch: &mut Scratch) -> (f64, f64) {
        let classes = self.totals.len();
        let count = moments.count() as f64;
        for report in self.used(worker) {
            scratch.add(report.task, report.term - moments.mean());
            scratch.mine[report.task as usize] = true;
        }
        let own_tasks = scratch.touched.len();
        let mut overlap = 0.0;
        let mut paid = vec![0.0; classes];
        for index in 0..scratch.peers.len() {
            let peer = scratch.peers[index] as usize;
            let weights = &scratch.weights[index * classes..][..classes];
            paid.fill(0.0);
            for (h, weight) in (0..).zip(weights).filter(|(_, weight)| **weight > 0.0) {
                self.scoring.add(worker as u32, h, *weight, &mut paid);
            }
            let share = weights.iter().sum::<f64>() / count;
            let reports = self.of(peer);
            let tasks = reports.len() as f64;
            let mean = reports.iter().map(|r| paid[usize::from(r.label)]).sum::<f64>() / tasks;
            let mut shared = 0.0;
            for report in reports {
                if scratch.mine[report.task as usize] {
                    shared += 1.0;
                }
                let penalty = (paid[usize::from(report.label)] - mean) / (tasks - 1.0);
                scratch.add(report.task, -penalty);
            }
            overlap += share * shared / tasks;
        }
        for index in 0..own_tasks {
            let task = scratch.touched[index] as usize;
            scratch.mine[task] = false;
        }
        let squares = scratch.touched.iter().map(|&t| scratch.influence[t as usize].powi(2)).sum();
        (squares, overlap)
    }

    /// The same with the crowd as a whole in place of the peers.
    fn pooled(&self, worker: usize, moments: &Moments, fetched: &mut Fetched) -> (f64, f64) {
        let count = moments.count() as f64;
        let mut paid = vec![0.0; self.totals.len()];
        for report in self.used(worker) {
            self.scoring.add(worker as u32, report.label, 1.0 / count, &mut paid);
        }
        let reports: f64 = self.totals.iter().sum();
        let mean =
            paid.iter().zip(&self.totals).map(|(paid, seen)| paid * seen).sum::<f64>() / reports;
        let others = reports - self.of(worker).len() as f64;
        let (mut squares, mut penalties, mut peers) = (0.0, 0.0, 0_u64);
        fetched.fetch(&self.counts, self.of(worker));
        fetched.each(&self.counts, self.of(worker), |report, present| {
            if report.usable == 0 {
                return;
            }
            let mut sum = mean - paid[usize::from(report.label)];
            for &(label, seen) in present {
                sum += f64::from(seen) * (paid[usize::from(label)] - mean);
                peers += u64::from(seen);
            }
            let penalty = -sum * count / others;
            squares += (report.term - moments.mean() + penalty).powi(2);
            penalties += penalty * penalty;
        });
        let elsewhere = (self.tasks.len() as f64 - count) / count;
        (squares + elsewhere * penalties, (peers as f64 - count) / others)
    }
}

/// Draws the variance of every worker to that of all, as the head of the file says.
fn moderated(mut workers: Vec<Moments>) -> Vec<Moments> {
    let freedom = |worker: &Moments| (worker.count() > 1).then(|| worker.count() as f64 - 1.0);
    let (mut squares, mut all) = (0.0, 0.0);
    for worker in &workers {
        if let Some(own) = freedom(worker) {
            squares += worker.squares();
            all += own;
        }
    }
    for worker in &mut workers {
        if let Some(own) = freedom(worker) {
            let variance = (PRIOR_TASKS * squares / all + worker.squares()) / (PRIOR_TASKS + own);
            *worker = worker.with_squares(variance * own);
        }
    }
    workers
}

/// Where the reports of each worker on `tasks` start when they lie worker after worker.
fn offsets(table: &LabelTable, tasks: &[u32]) -> Vec<u32> {
    let mut offsets = vec![0; table.worker_count() + 1];
    for &task in tasks {
        for &worker in table.of_task(task).others {
            offsets[worker as usize + 1] += 1;
        }
    }
    for worker in 0..table.worker_count() {
        offsets[worker + 1] += offsets[worker];
    }
    offsets
}

/// The reports of the stratum, worker after worker, still without terms.
fn by_worker(table: &LabelTable, offsets: &[u32], tasks: &[u32]) -> Vec<Report> {
    let count = offsets.last().map_or(0, |count| *count as usize);
    let mut reports = vec![Report::default(); count];
    Chunk::each(&mut reports, offsets, |mut chunk| {
        for (place, &task) in (0..).zip(tasks) {
            for (worker, label) in table.of_task(task).iter() {
                if let Some(report) = chunk.next_of(worker) {
                    *report = Report { task: place, label, ..Report::default() };
                }
            }
        }
    });
    reports
}

/// The reports of some workers, which one thread fills in the order of the tasks.
struct Chunk<'r> {
    first: u32,
    /// Place of the next report of each worker.
    next: Vec<u32>,
    reports: &'r mut [Report],
}

impl<'r> Chunk<'r> {
    /// Every thread goes through all tasks for workers of its own.
    fn each(reports: &'r mut [Report], offsets: &[u32], fill: impl Fn(Self) + Send + Sync) {
        let workers = offsets.len() - 1;
        let size = rows_per_thread(workers, reports.len());
        let (mut chunks, mut rest) = (Vec::new(), reports);
        for first in (0..workers).step_by(size) {
            let starts = &offsets[first..=(first + size).min(workers)];
            let next: Vec<u32> = starts.iter().map(|start| start - starts[0]).collect();
            let (reports, others) = rest.split_at_mut(next[next.len() - 1] as usize);
            rest = others;
            chunks.push(Self { first: first as u32, next, reports });
        }
        chunks.into_par_iter().for_each(fill);
    }

    fn next_of(&mut self, worker: u32) -> Option<&mut Report> {
        let (worker, workers) = (worker.wrapping_sub(self.first) as usize, self.next.len() - 1);
        let next = self.next[..workers].get_mut(worker)?;
        *next += 1;
        Some(&mut self.reports[*next as usize - 1])
    }
}

impl Counts {
    /// Counts the tasks in `parts`, one after another.
    fn new(table: &LabelTable, parts: &[&[u32]]) -> Self {
        let count = |tasks: &&[u32]| {
            let mut counts = LabelCounts::new(table.label_count());
            let mut part = Self { present: Vec::new(), starts: Vec::new() };
            for &task in *tasks {
                counts.count(table.of_task(task).labels);
                part.starts.push(part.present.len() as u32);
                part.present.extend_from_slice(counts.present());
            }
            part
        };
        let parts: Vec<Self> = parts.par_iter().map(count).collect();
        let mut all = Self { present: Vec::new(), starts: Vec::new() };
        for part in parts {
            let before = all.present.len() as u32;
            all.starts.extend(part.starts.iter().map(|start| before + start));
            all.present.extend(part.present);
        }
        all.starts.push(all.present.len() as u32);
        all
    }
}

/// Term of every report on `tasks`, task after task, and how many peers it is the mean over.
fn terms(peers: &Peers<'_>, tasks: &[u32], scoring: &Scoring) -> Vec<(f64, u32)> {
    let mut terms = Vec::new();
    let (mut sums, mut others) = (vec![0.0; peers.classes], vec![0.0; peers.classes]);
    for &task in tasks {
        let reports = peers.table.of_task(task);
        sums.fill(0.0);
        let mut usable = 0_u32;
        for (worker, label) in reports.iter() {
            let peer = peers.peer(worker);
            if peer[0] > 0.0 {
                usable += 1;
                add_worth(&mut sums, 1.0, peer, label);
            }
        }
        for (worker, label) in reports.iter() {
            let own = peers.peer(worker);
            let mut peers = if scoring.has(worker) { usable } else { 0 };
            others.copy_from_slice(&sums);
            if own[0] > 0.0 {
                peers = peers.saturating_sub(1);
                add_worth(&mut others, -1.0, own, label);
            }
            let of_all = |peers: u32| scoring.dot(worker, label, &others) / f64::from(peers);
            terms.push((if peers > 0 { of_all(peers) } else { 0.0 }, peers));
        }
    }
    terms
}

/// What one worker needs, reused between workers.
#[derive(Default)]
struct Scratch {
    /// Place in `peers` plus one, by worker; 0 for nobody's peer.
    slot: Vec<u32>,
    peers: Vec<u32>,
    /// `A_j`, row-major peer by label.
    weights: Vec<f64>,
    /// `n` times the influence by task, and the tasks that have some.
    influence: Vec<f64>,
    touched: Vec<u32>,
    seen: Vec<bool>,
    mine: Vec<bool>,
    fetched: Fetched,
}

impl Scratch {
    fn prepare(&mut self, workers: usize, tasks: usize) {
        self.slot.resize(workers, 0);
        self.influence.resize(tasks, 0.0);
        self.seen.resize(tasks, false);
        self.mine.resize(tasks, false);
    }

    fn add(&mut self, task: u32, influence: f64) {
        if !self.seen[task as usize] {
            self.seen[task as usize] = true;
            self.touched.push(task);
        }
        self.influence[task as usize] += influence;
    }

    fn clear(&mut self) {
        for peer in self.peers.drain(..) {
            self.slot[peer as usize] = 0;
        }
        self.weights.clear();
        for task in self.touched.drain(..) {
            self.influence[task as usize] = 0.0;
            self.seen[task as usize] = false;
        }
    }
}

#[cfg(test)]
mod tests;
