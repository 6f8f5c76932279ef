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
//! c = 1 + 2 overlap / (n - 2)
//! ```
//!
//! Without `g` the interval of a worker in a fixed team of five covers the truth in 86 to 90 % of
//! crowds instead of 95 %, because the team is scored against its own few tasks. `overlap` is the
//! share of the penalty that falls on tasks of the worker (1 in a fixed team, near 0 among many
//! peers). `c` makes up for few tasks: a bonus and a penalty on the same tasks are centred twice.
//! Its 1 is what leaving out one task at a time gives (jackknife); the second 1 is measured, for
//! the skewness of products of few answers. The coverage is in `tests/coverage_labels.rs`.
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

use super::peers::{Peers, worth};
use crate::data::labels::{Label, LabelTable};
use crate::mechanism::chunks::task_chunks;
use crate::mechanism::scoring_function::{LabelCounts, ScoreMatrix};
use crate::stats::moments::Moments;

/// Most visits of peers and their tasks per task of a worker.
const MOST_VISITS: usize = 128;

/// Multiple of `overlap / (tasks - 2)` that widens the interval.
const SMALL_SAMPLE: f64 = 2.0;

/// The task terms of one stratum. A position is that of a report, task after task.
pub(super) struct StratumTerms<'a> {
    table: &'a LabelTable,
    matrix: &'a ScoreMatrix,
    /// Whether nothing earns anything.
    is_zero: bool,
    /// Tasks of the stratum.
    tasks: &'a [u32],
    /// Position of the first report of each task, and the number of reports.
    starts: Vec<u32>,
    /// `u` by position, and how many peers it is the mean over; 0 peers means no term.
    terms: Vec<f64>,
    usable: Vec<u32>,
    /// Which task (in [`Self::tasks`]) a position is of.
    task_of: Vec<u32>,
    /// Positions of worker `i` are `positions[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    positions: Vec<u32>,
    /// Labels that occur on each task with their counts, and where those of a task start.
    present: Vec<(Label, u32)>,
    present_starts: Vec<u32>,
    /// How often the stratum has each label.
    totals: Vec<f64>,
}

/// What one chunk of tasks adds to [`StratumTerms`].
#[derive(Default)]
struct Chunk {
    terms: Vec<f64>,
    usable: Vec<u32>,
    present: Vec<(Label, u32)>,
    present_counts: Vec<u32>,
}

impl<'a> StratumTerms<'a> {
    /// Computes all terms; `peers` are in this stratum.
    pub(super) fn new(peers: &Peers<'a>, tasks: &'a [u32], matrix: &'a ScoreMatrix) -> Self {
        let table = peers.table;
        let chunks: Vec<Chunk> = task_chunks(table, tasks)
            .into_par_iter()
            .map(|tasks| Chunk::new(peers, tasks, matrix))
            .collect();
        let mut stratum = Self {
            table,
            matrix,
            is_zero: matrix.values.iter().all(|value| *value == 0.0),
            tasks,
            starts: vec![0],
            terms: Vec::new(),
            usable: Vec::new(),
            task_of: Vec::new(),
            offsets: vec![0; table.worker_count() + 1],
            positions: Vec::new(),
            present: Vec::new(),
            present_starts: vec![0],
            totals: vec![0.0; peers.classes],
        };
        for chunk in chunks {
            stratum.terms.extend(chunk.terms);
            stratum.usable.extend(chunk.usable);
            for &(label, count) in &chunk.present {
                stratum.totals[usize::from(label)] += f64::from(count);
            }
            stratum.present.extend(chunk.present);
            for count in chunk.present_counts {
                let start = stratum.present_starts.last().copied().unwrap_or(0);
                stratum.present_starts.push(start + count);
            }
        }
        stratum.index();
        stratum
    }

    /// Finds the positions of every worker.
    fn index(&mut self) {
        for (local, &task) in (0..).zip(self.tasks) {
            let workers = self.table.of_task(task).others;
            for &worker in workers {
                self.offsets[worker as usize + 1] += 1;
                self.task_of.push(local);
            }
            self.starts.push(self.task_of.len() as u32);
        }
        for worker in 0..self.table.worker_count() {
            self.offsets[worker + 1] += self.offsets[worker];
        }
        let mut next = self.offsets.clone();
        self.positions = vec![0; self.task_of.len()];
        let mut position = 0;
        for &task in self.tasks {
            for &worker in self.table.of_task(task).others {
                self.positions[next[worker as usize] as usize] = position;
                next[worker as usize] += 1;
                position += 1;
            }
        }
    }

    /// Mean of the terms of every worker, with the sum of squares that its variance comes from.
    pub(super) fn moments(&self) -> Vec<Moments> {
        (0..self.table.worker_count())
            .into_par_iter()
            .with_min_len(64)
            .map_init(Scratch::default, |scratch, worker| self.of_worker(worker, scratch))
            .collect()
    }

    fn of_worker(&self, worker: usize, scratch: &mut Scratch) -> Moments {
        let mut moments = Moments::default();
        for position in self.used(worker) {
            moments.push(self.terms[position]);
        }
        if moments.count() < 2 || self.is_zero {
            return moments;
        }
        scratch.prepare(self.table.worker_count(), self.tasks.len());
        let (squares, overlap) = if self.find_peers(worker, &moments, scratch) {
            self.exact(worker, &moments, scratch)
        } else {
            self.pooled(worker, &moments)
        };
        scratch.clear();
        let count = moments.count() as f64;
        let small = 1.0 + SMALL_SAMPLE * overlap / (count - 2.0).max(1.0);
        moments.with_squares(squares * small * small)
    }

    /// Positions of the reports of `worker` that have a term.
    fn used(&self, worker: usize) -> impl Iterator<Item = usize> + '_ {
        self.of(worker).filter(|&position| self.usable[position] > 0)
    }

    fn of(&self, worker: usize) -> impl Iterator<Item = usize> + '_ {
        let range = self.offsets[worker] as usize..self.offsets[worker + 1] as usize;
        self.positions[range].iter().map(|&position| position as usize)
    }

    fn count_of(&self, worker: usize) -> usize {
        (self.offsets[worker + 1] - self.offsets[worker]) as usize
    }

    fn label(&self, position: usize) -> Label {
        let task = self.task_of[position] as usize;
        self.table.of_task(self.tasks[task]).labels[position - self.starts[task] as usize]
    }

    /// Collects the usable peers of a worker with their `A_j`; false if that takes too long.
    fn find_peers(&self, worker: usize, moments: &Moments, scratch: &mut Scratch) -> bool {
        let classes = self.matrix.classes;
        let mut left = MOST_VISITS.saturating_mul(moments.count() as usize);
        for position in self.used(worker) {
            let label = usize::from(self.label(position));
            let weight = 1.0 / f64::from(self.usable[position]);
            let task = self.tasks[self.task_of[position] as usize];
            for &peer in self.table.of_task(task).others {
                let peer = peer as usize;
                let count = self.count_of(peer);
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
        let classes = self.matrix.classes;
        let count = moments.count() as f64;
        for position in self.used(worker) {
            scratch.add(self.task_of[position], self.terms[position] - moments.mean());
        }
        let own_tasks = scratch.touched.len();
        for position in self.used(worker) {
            scratch.mine[self.task_of[position] as usize] = true;
        }
        let mut overlap = 0.0;
        let mut paid = vec![0.0; classes];
        for index in 0..scratch.peers.len() {
            let peer = scratch.peers[index] as usize;
            let weights = &scratch.weights[index * classes..][..classes];
            paid.fill(0.0);
            for (h, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                for (sum, value) in paid.iter_mut().zip(&self.matrix.values[h * classes..]) {
                    *sum += weight * value;
                }
            }
            let share = weights.iter().sum::<f64>() / count;
            let tasks = self.count_of(peer) as f64;
            let mean = self.of(peer).map(|p| paid[usize::from(self.label(p))]).sum::<f64>() / tasks;
            let mut shared = 0.0;
            for position in self.of(peer) {
                let task = self.task_of[position];
                if scratch.mine[task as usize] {
                    shared += 1.0;
                }
                scratch
                    .add(task, -(paid[usize::from(self.label(position))] - mean) / (tasks - 1.0));
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
    fn pooled(&self, worker: usize, moments: &Moments) -> (f64, f64) {
        let classes = self.matrix.classes;
        let count = moments.count() as f64;
        let mut paid = vec![0.0; classes];
        for position in self.used(worker) {
            let row = usize::from(self.label(position)) * classes;
            for (sum, value) in paid.iter_mut().zip(&self.matrix.values[row..]) {
                *sum += value / count;
            }
        }
        let reports: f64 = self.totals.iter().sum();
        let mean =
            paid.iter().zip(&self.totals).map(|(paid, seen)| paid * seen).sum::<f64>() / reports;
        let others = reports - self.count_of(worker) as f64;
        let (mut squares, mut penalties, mut peers) = (0.0, 0.0, 0.0);
        for position in self.used(worker) {
            let task = self.task_of[position] as usize;
            let present =
                self.present_starts[task] as usize..self.present_starts[task + 1] as usize;
            let mut sum = mean - paid[usize::from(self.label(position))];
            for &(label, seen) in &self.present[present] {
                sum += f64::from(seen) * (paid[usize::from(label)] - mean);
            }
            let penalty = -sum * count / others;
            squares += (self.terms[position] - moments.mean() + penalty).powi(2);
            penalties += penalty * penalty;
            peers += f64::from(self.starts[task + 1] - self.starts[task] - 1);
        }
        let elsewhere = (self.tasks.len() as f64 - count) / count;
        (squares + elsewhere * penalties, peers / others)
    }
}

impl Chunk {
    fn new(peers: &Peers<'_>, tasks: &[u32], matrix: &ScoreMatrix) -> Self {
        let mut chunk = Self::default();
        let mut counts = LabelCounts::new(peers.classes);
        let mut sums = Vec::new();
        for &task in tasks {
            let reports = peers.table.of_task(task);
            counts.count(reports.labels);
            chunk.present.extend_from_slice(counts.present());
            chunk.present_counts.push(counts.present().len() as u32);
            sums.clear();
            sums.resize(counts.present().len(), 0.0);
            let mut usable = 0_u32;
            for (worker, label) in reports.iter() {
                let peer = peers.peer(worker);
                if peer[0] > 0.0 {
                    usable += 1;
                    for (sum, &(h, _)) in sums.iter_mut().zip(counts.present()) {
                        *sum += worth(peer, matrix, h, label);
                    }
                }
            }
            for (worker, label) in reports.iter() {
                let own = peers.peer(worker);
                let mut sum = sums[counts.index(label)];
                let mut peers = usable;
                if own[0] > 0.0 {
                    peers -= 1;
                    sum -= worth(own, matrix, label, label);
                }
                chunk.usable.push(peers);
                chunk.terms.push(if peers > 0 { sum / f64::from(peers) } else { 0.0 });
            }
        }
        chunk
    }
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
