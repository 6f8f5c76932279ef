//! What every worker of a stratum is worth as a peer.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::data::labels::{Label, LabelTable};
use crate::mechanism::chunks::task_chunks;

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
    pub(super) fn enter(&mut self, tasks: &[u32]) {
        self.count(tasks);
        self.set_worth();
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

    /// From the histograms, which are reset: `n / (n - 1)`, then `H[l] / (n - 1)` for every l. All
    /// zero for a worker with fewer than two tasks, who is not usable.
    fn set_worth(&mut self) {
        let classes = self.classes;
        let rows = self.worth.par_chunks_mut(classes + 1);
        rows.zip(self.histograms.par_chunks_mut(classes.max(1))).for_each(|(row, histogram)| {
            let count: u32 = histogram.iter_mut().map(|seen| *seen.get_mut()).sum();
            row.fill(0.0);
            let others = f64::from(count) - 1.0;
            if count > 1 {
                row[0] = f64::from(count) / others;
            }
            for (worth, seen) in row[1..].iter_mut().zip(histogram) {
                let seen = std::mem::take(seen.get_mut());
                if count > 1 {
                    *worth = f64::from(seen) / others;
                }
            }
        });
    }

    pub(super) fn peer(&self, worker: u32) -> &[f64] {
        let stride = self.classes + 1;
        &self.worth[worker as usize * stride..(worker as usize + 1) * stride]
    }
}

/// Adds `sign` times what a peer who reported `label` on the task is worth: `sums[l]` is what counts
/// for a report h with `T[h, l]`.
pub(super) fn add_worth(sums: &mut [f64], sign: f64, peer: &[f64], label: Label) {
    for (sum, share) in sums.iter_mut().zip(&peer[1..]) {
        *sum -= sign * share;
    }
    sums[usize::from(label)] += sign * peer[0];
}
