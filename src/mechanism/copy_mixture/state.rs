//! The parameters of the copy mixture: where they start and what is read from them.

use super::signals::Signals;
use super::{CONFUSION_WEIGHT, COPYING_START};
use crate::mechanism::latent_class::Cells;

/// Parameters of the model in the form in which the E-step and the M-step need them.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) cells: Cells,
    pub(super) signals: Signals,
    /// `Γ⁰`, row-major true class by label.
    pub(super) pooled: Vec<f64>,
    /// `Σ_x 4 Γ⁰[y, x] log(4 Γ⁰[y, x])` by `y`.
    pub(super) pooled_entropy: Vec<f64>,
    pub(super) prior: Vec<f64>,
    /// `log π[y] + Σ_s log Γ^Z_s[y, z_s]`, row-major context by class.
    pub(super) log_context: Vec<f64>,
    /// `log m`, row-major cell by class.
    pub(super) log_report: Vec<f64>,
    /// `Γ^i[y, x]` at the label of the cell, row-major cell by class.
    pub(super) own: Vec<f64>,
    /// Expected own answers by true class, row-major worker by class.
    pub(super) own_totals: Vec<f64>,
    /// `λ_is`, row-major worker by source.
    pub(super) copying: Vec<f64>,
}

impl State {
    pub(super) fn new(cells: Cells, signals: Signals) -> Self {
        let classes = cells.classes();
        let shares = cells.vote_shares();
        let pooled = pooled_confusion(&cells, &shares);
        let pooled_entropy = pooled
            .chunks_exact(classes)
            .map(|row| row.iter().map(|p| x_log_x(CONFUSION_WEIGHT * p)).sum())
            .collect();
        let mut own = vec![0.0; cells.cell_count() * classes];
        for (cell, row) in own.chunks_exact_mut(classes).enumerate() {
            let label = usize::from(cells.kind(cell).label);
            for (y, entry) in row.iter_mut().enumerate() {
                *entry = pooled[y * classes + label];
            }
        }
        let sources = signals.copies.len();
        Self {
            pooled,
            pooled_entropy,
            prior: vec![0.0; classes],
            log_context: vec![0.0; cells.contexts() * classes],
            log_report: vec![0.0; cells.cell_count() * classes],
            own,
            own_totals: vec![0.0; cells.worker_count() * classes],
            copying: vec![COPYING_START / sources as f64; cells.worker_count() * sources],
            cells,
            signals,
        }
    }

    /// Sets the share of copies of every worker, spread evenly over the sources.
    pub(super) fn start_copying(&mut self, share: f64) {
        let sources = self.signals.copies.len();
        self.copying.fill(share / sources as f64);
    }

    pub(super) fn classes(&self) -> usize {
        self.cells.classes()
    }

    /// Reports of a worker on tasks that some source covers.
    pub(super) fn covered_reports(&self, worker: usize) -> usize {
        self.cells
            .of_worker(worker)
            .filter(|&cell| self.signals.of_context(self.cells.kind(cell).context).next().is_some())
            .map(|cell| self.cells.tasks_of(cell).len())
            .sum()
    }

    pub(super) fn confusion(&self, worker: usize) -> Vec<f64> {
        let classes = self.classes();
        let totals = &self.own_totals[worker * classes..][..classes];
        let mut matrix: Vec<f64> = self
            .pooled
            .chunks_exact(classes)
            .zip(totals)
            .flat_map(|(row, total)| {
                row.iter().map(move |p| CONFUSION_WEIGHT * p / (total + CONFUSION_WEIGHT))
            })
            .collect();
        for cell in self.cells.of_worker(worker) {
            let label = usize::from(self.cells.kind(cell).label);
            for (y, own) in self.own[cell * classes..][..classes].iter().enumerate() {
                matrix[y * classes + label] = *own;
            }
        }
        matrix
    }

    /// `TVD_i` of the own answers.
    pub(super) fn total_variation(&self, worker: usize) -> f64 {
        let classes = self.classes();
        let matrix = self.confusion(worker);
        let mut marginal = vec![0.0; classes];
        for (row, prior) in matrix.chunks_exact(classes).zip(&self.prior) {
            marginal.iter_mut().zip(row).for_each(|(sum, entry)| *sum += prior * entry);
        }
        let distance = |row: &[f64]| -> f64 {
            row.iter().zip(&marginal).map(|(entry, mean)| (entry - mean).abs()).sum()
        };
        matrix.chunks_exact(classes).zip(&self.prior).map(|(row, p)| p * distance(row)).sum()
    }
}

/// Confusion matrix of the crowd as a whole under the vote shares; uniform for a class without
/// weight.
fn pooled_confusion(cells: &Cells, shares: &[f64]) -> Vec<f64> {
    let classes = cells.classes();
    let mut pooled = vec![0.0; classes * classes];
    let mut column = vec![0.0; classes];
    for cell in 0..cells.cell_count() {
        column.fill(0.0);
        cells.add_posteriors(cells.tasks_of(cell), shares, &mut column);
        let label = usize::from(cells.kind(cell).label);
        for (row, weight) in pooled.chunks_exact_mut(classes).zip(&column) {
            row[label] += weight;
        }
    }
    for row in pooled.chunks_exact_mut(classes) {
        let total: f64 = row.iter().sum();
        let uniform = 1.0 / classes as f64;
        for p in row {
            *p = if total > 0.0 { *p / total } else { uniform };
        }
    }
    pooled
}

fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}
