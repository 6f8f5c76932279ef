//! The M-step of one worker: where every report came from, and what follows for the worker.

use super::state::State;
use super::{CONFUSION_WEIGHT, COPYING_START, COPYING_WEIGHT};

/// The rows of [`State`] that belong to one worker.
pub(super) struct WorkerRows<'a> {
    pub(super) log_report: &'a mut [f64],
    pub(super) own: &'a mut [f64],
    pub(super) own_totals: &'a mut [f64],
    pub(super) copying: &'a mut [f64],
}

impl State {
    /// Updates `Γ^i` and `λ_i`; returns the log of their priors.
    pub(super) fn update_worker(
        &self,
        worker: usize,
        rows: &mut WorkerRows<'_>,
        posteriors: &[f64],
    ) -> f64 {
        let classes = self.classes();
        let cells = self.cells.of_worker(worker);
        if cells.is_empty() {
            return 0.0;
        }
        let counts = self.origins(worker, rows, posteriors);
        for (share, count) in rows.copying.iter_mut().zip(&counts.intended) {
            let prior = COPYING_WEIGHT * COPYING_START / counts.intended.len() as f64;
            *share = (count + prior) / (counts.trials + COPYING_WEIGHT);
        }
        rows.own_totals.fill(0.0);
        for row in counts.own.chunks_exact(classes) {
            rows.own_totals.iter_mut().zip(row).for_each(|(total, own)| *total += own);
        }
        let mut penalty = copying_penalty(rows.copying);
        for (entropy, total) in self.pooled_entropy.iter().zip(rows.own_totals.iter()) {
            penalty += entropy - CONFUSION_WEIGHT * (total + CONFUSION_WEIGHT).ln();
        }
        let mut first = 0;
        while first < cells.len() {
            let label = self.cells.kind(cells.start + first).label;
            let run = (first..cells.len())
                .take_while(|&n| self.cells.kind(cells.start + n).label == label)
                .count();
            for y in 0..classes {
                let own: f64 = (first..first + run).map(|n| counts.own[n * classes + y]).sum();
                let pseudo_count = CONFUSION_WEIGHT * self.pooled[y * classes + usize::from(label)];
                let entry = (own + pseudo_count) / (rows.own_totals[y] + CONFUSION_WEIGHT);
                if pseudo_count > 0.0 {
                    penalty += pseudo_count * ((own + pseudo_count) / pseudo_count).ln();
                }
                for n in first..first + run {
                    rows.own[n * classes + y] = entry;
                }
            }
            first += run;
        }
        self.update_reports(worker, rows);
        penalty
    }

    /// Brings `log m` in line with the new `Γ^i` and `λ_i`.
    fn update_reports(&self, worker: usize, rows: &mut WorkerRows<'_>) {
        let classes = self.classes();
        for (n, cell) in self.cells.of_worker(worker).enumerate() {
            let row = n * classes..(n + 1) * classes;
            let copy = self.copy_weights(cell, rows.copying);
            for (log, own) in rows.log_report[row.clone()].iter_mut().zip(&rows.own[row]) {
                *log = (copy.total + copy.alone * own).ln();
            }
        }
    }

    /// Expected origins of the reports of a worker under the parameters before the M-step.
    fn origins(&self, worker: usize, rows: &WorkerRows<'_>, posteriors: &[f64]) -> Origins {
        let classes = self.classes();
        let cells = self.cells.of_worker(worker);
        let mut counts = Origins {
            own: vec![0.0; cells.len() * classes],
            intended: vec![0.0; rows.copying.len()],
            trials: 0.0,
        };
        for (n, cell) in cells.enumerate() {
            let own_counts = &mut counts.own[n * classes..(n + 1) * classes];
            let tasks = self.cells.tasks_of(cell);
            self.cells.add_posteriors(tasks, posteriors, own_counts);
            let kind = self.cells.kind(cell);
            if self.signals.of_context(kind.context).next().is_none() {
                continue;
            }
            counts.trials += tasks.len() as f64;
            let copy = self.copy_weights(cell, rows.copying);
            let (mut copied_per_weight, mut alone) = (0.0, 0.0);
            for (count, own) in own_counts.iter_mut().zip(&rows.own[n * classes..]) {
                let report = copy.total + copy.alone * own;
                copied_per_weight += *count / report;
                *count *= copy.alone * own / report;
                alone += *count;
            }
            let mut covered = self.signals.of_context(kind.context).peekable();
            for (source, share) in rows.copying.iter().enumerate() {
                counts.intended[source] += match covered.next_if(|&(s, _)| s == source) {
                    Some((_, level)) => {
                        let copy = self.signals.copy(source, level, kind.label, classes);
                        copied_per_weight * share * copy
                    }
                    // An own answer may hide the wish to copy a source that has no label here.
                    None => alone * share / copy.alone,
                };
            }
        }
        counts
    }

    /// `Σ_s λ_is C_s[z_s, x]` and `1 - Σ_s λ_is` over the sources that cover the cell.
    fn copy_weights(&self, cell: usize, copying: &[f64]) -> CopyWeights {
        let kind = self.cells.kind(cell);
        let mut weights = CopyWeights { total: 0.0, alone: 1.0 };
        for (source, level) in self.signals.of_context(kind.context) {
            let copy = self.signals.copy(source, level, kind.label, self.classes());
            weights.total += copying[source] * copy;
            weights.alone -= copying[source];
        }
        weights
    }
}

/// Log of the prior of the shares of one worker, up to a constant.
fn copying_penalty(copying: &[f64]) -> f64 {
    if copying.is_empty() {
        return 0.0;
    }
    let each = COPYING_WEIGHT * COPYING_START / copying.len() as f64;
    let alone = 1.0 - copying.iter().sum::<f64>();
    let copies: f64 = copying.iter().map(|share| each * share.ln()).sum();
    copies + COPYING_WEIGHT * (1.0 - COPYING_START) * alone.ln()
}

/// Expected numbers of reports of one worker by origin.
struct Origins {
    /// Own answers, row-major cell of the worker by true class.
    own: Vec<f64>,
    /// Reports meant to be copies, by source.
    intended: Vec<f64>,
    /// Reports on tasks that some source covers.
    trials: f64,
}

struct CopyWeights {
    total: f64,
    alone: f64,
}
