//! What every worker of a stratum is worth as a peer.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::data::labels::{Label, LabelTable};
use crate::mechanism::chunks::task_chunks;
use crate::mechanism::scoring_function::ScoreMatrix;

/// Workers as peers in one stratum after another; the memory is reused between strata.
pub(super) struct Peers<'a> {
    pub(super) table: &'a LabelTable,
    pub(super) classes: usize,
    /// Labels in the stratum, `classes` per worker.
    histograms: Vec<AtomicU32>,
    /// What a worker is worth as a peer, `classes + 1` per worker; see [`Self::set_worth`].
    worth: Vec<f64>,
}

impl<'a> Peers<'a> {
    pub(super) fn new(table: &'a LabelTable) -> Self {
        let (workers, classes) = (table.worker_count(), table.label_count());
        let zeros = std::iter::repeat_with(AtomicU32::default);
        Self {
            table,
            classes,
            histograms: zeros.take(workers * classes).collect(),
            worth: vec![0.0; workers * (classes + 1)],
        }
    }

    /// Makes it that of a stratum.
    pub(super) fn enter(&mut self, tasks: &[u32], matrix: &ScoreMatrix) {
        self.count(tasks);
        self.set_worth(matrix);
    }

    /// Counts the labels of every worker in the stratum. Integer sums do not depend on the order,
    /// so that threads may share them.
    fn count(&self, tasks: &[u32]) {
        let table = self.table;
        // A thread that is alone need not lock a cell to add to it: 5 to 10 % of the whole time.
        let alone = rayon::current_num_threads() == 1;
        task_chunks(table, tasks).into_par_iter().for_each(|tasks| {
            for &task in tasks {
                for (worker, label) in table.of_task(task).iter() {
                    let cell =
                        &self.histograms[worker as usize * self.classes + usize::from(label)];
                    if alone {
                        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    } else {
                        cell.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
    }

    /// From the histograms, which are reset: `n / (n - 1)`, then `sum_l T[h, l] H[l] / (n - 1)` for
    /// every h. All zero for a worker with fewer than two tasks, who is not usable.
    fn set_worth(&mut self, matrix: &ScoreMatrix) {
        let classes = self.classes;
        let rows = self.worth.par_chunks_mut(classes + 1);
        rows.zip(self.histograms.par_chunks_mut(classes.max(1))).for_each(|(row, histogram)| {
            let count: u32 = histogram.iter_mut().map(|seen| *seen.get_mut()).sum();
            row.fill(0.0);
            if count > 1 {
                let others = f64::from(count) - 1.0;
                row[0] = f64::from(count) / others;
                for (label, seen) in histogram.iter_mut().enumerate() {
                    let seen = *seen.get_mut();
                    if seen > 0 {
                        let share = f64::from(seen) / others;
                        for (h, worth) in row[1..].iter_mut().enumerate() {
                            *worth += matrix.values[h * classes + label] * share;
                        }
                    }
                }
            }
            for seen in histogram {
                *seen.get_mut() = 0;
            }
        });
    }

    pub(super) fn peer(&self, worker: u32) -> &[f64] {
        let stride = self.classes + 1;
        &self.worth[worker as usize * stride..(worker as usize + 1) * stride]
    }
}

/// What a peer who reported `label` on the task is worth to a report `h`.
pub(super) fn worth(peer: &[f64], matrix: &ScoreMatrix, h: Label, label: Label) -> f64 {
    matrix.get(h, label) * peer[0] - peer[1 + usize::from(h)]
}
