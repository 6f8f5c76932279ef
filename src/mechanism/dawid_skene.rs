//! Dawid-Skene: one confusion matrix per worker, fitted by expectation maximisation.
//!
//! Model: the true class of task `q` is `h` with probability `π[h]`; worker `i` then reports `x`
//! with probability `Γ^i[h, x]`, independently of everyone else. The fit maximises
//!
//! `log L = Σ_q log Σ_h π[h] Π_{i on q} Γ^i[h, x_iq]`
//!
//! without any prior, from posteriors equal to the shares of the votes. One iteration is an
//! M-step, `π[h] = mean_q T_q[h]` and `Γ^i[h, x] = Σ_{q: x_iq = x} T_q[h] / Σ_q T_q[h]`, then an
//! E-step for the posteriors `T_q[h]`. A row of `Γ^i` without any weight, a class that `i` never
//! met, has every value as a maximum; it is taken as uniform. A class that is more than `e^708`
//! times less probable than the most probable class of a task counts as impossible on it, as its
//! part would be smaller than the smallest number of full precision: it decides whether a row of
//! `Γ^i` has any weight.
//!
//! The score of a worker is `Σ_h Γ^i[h, h] P(h)`, with `P` the share of `h` among all reports:
//! the probability that the worker reports the truth. It rewards a worker who copies an LLM that
//! is often right, so it is a baseline here, not an answer.
//!
//! A. P. Dawid, A. M. Skene (1979), "Maximum likelihood estimation of observer error-rates using
//! the EM algorithm", *Applied Statistics* 28(1), <https://doi.org/10.2307/2346806>; the paper's
//! baseline "EM" (Zhang, Pang, Zhu, Liu, NeurIPS 2025, appendix G.2).

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

use rayon::prelude::*;

use super::entry::{Entry, Several};
use super::latent_class::{Cells, has_converged};
use super::options::EmSettings;
use super::{Fit, Mechanism, MechanismError, Posteriors, Scores, WorkerScore};
use crate::data::labels::LabelTable;
use crate::data::warning::Warning;
use crate::error::Remedy;
use crate::stats::interval::Estimate;

/// The mechanism `ds`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DawidSkene {
    /// When to stop.
    pub settings: EmSettings,
}

pub(super) const ENTRY: Entry = Entry {
    name: "ds",
    summary: "Dawid-Skene: estimated accuracy",
    meaning: "estimated accuracy (Dawid-Skene); takes what everybody copied for the truth",
    unscored: "no label",
    needs_z: false,
    is_fitted: true,
    several: Several::Lowest,
    build: |_, options| Box::new(DawidSkene { settings: options.em }),
};

/// A fitted Dawid-Skene model.
#[derive(Debug, Clone)]
pub struct DawidSkeneFit {
    /// Probability of every class for every task. A task without a report has the class prior.
    pub posteriors: Posteriors,
    /// Log-likelihood after every iteration, and whether the tolerance was reached.
    pub fit: Fit,
    pub(super) cells: Cells,
    /// Log probability of a report of each cell by true class, row-major, and of each class: what
    /// [`Self::posteriors`] were made from.
    pub(super) log_reports: Vec<f64>,
    pub(super) log_prior: Vec<f64>,
}

impl DawidSkene {
    /// Fits the model; `None` if the table has no report.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooLarge`] if the tables would exceed
    /// `MAX_STATE_BYTES`: with `R` reports in `C <= R` pairs of worker
    /// and label, `8 K (C + tasks + workers)` bytes.
    pub fn fit(&self, table: &LabelTable) -> Result<Option<DawidSkeneFit>, MechanismError> {
        DawidSkeneFit::by(table, self.settings, m_step)
    }
}

impl DawidSkeneFit {
    /// The fit whose M-step writes the log probability of a report of each cell by true class.
    pub(super) fn by(
        table: &LabelTable,
        settings: EmSettings,
        m_step: impl Fn(&Cells, &[f64], &mut [f64]),
    ) -> Result<Option<Self>, MechanismError> {
        if table.report_count() == 0 {
            return Ok(None);
        }
        let cells = Cells::new(table, vec![0; table.task_count()], (1, 0))?;
        let mut posteriors = cells.vote_shares();
        let mut log_reports = vec![0.0; cells.cell_count() * cells.classes()];
        let mut log_prior = vec![0.0; cells.classes()];
        let mut fit = Fit::default();
        for _ in 0..settings.max_iterations {
            log_prior = self::log_prior(&cells, &posteriors);
            m_step(&cells, &posteriors, &mut log_reports);
            fit.objective.push(cells.e_step(&log_reports, &log_prior, &mut posteriors));
            if has_converged(&fit.objective, settings.tolerance) {
                fit.converged = true;
                break;
            }
        }
        let posteriors = Posteriors { classes: cells.classes(), probabilities: posteriors };
        Ok(Some(Self { posteriors, fit, cells, log_reports, log_prior }))
    }
}

impl DawidSkeneFit {
    /// Confusion matrix `Γ^i` of `worker` that belongs to the posteriors: `K * K` entries,
    /// row-major true class by reported label, each row summing to 1.
    ///
    /// `None` for a worker without a report.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    #[cfg(test)]
    pub(crate) fn confusion(&self, worker: u32) -> Option<Vec<f64>> {
        let classes = self.cells.classes();
        if self.cells.of_worker(worker as usize).is_empty() {
            return None;
        }
        let mut matrix = vec![0.0; classes * classes];
        let mut column = vec![0.0; classes];
        for cell in self.cells.of_worker(worker as usize) {
            self.column(cell, &mut column);
            let label = usize::from(self.cells.kind(cell).label);
            for (row, weight) in matrix.chunks_exact_mut(classes).zip(&column) {
                row[label] = *weight;
            }
        }
        for row in matrix.chunks_exact_mut(classes) {
            let total: f64 = row.iter().sum();
            for entry in row {
                *entry = ratio_or_uniform(*entry, total, classes);
            }
        }
        Some(matrix)
    }

    /// `Γ^i[h, h]` for every class, without the rest of the matrix.
    fn diagonal(&self, worker: usize) -> Vec<f64> {
        let classes = self.cells.classes();
        let (mut diagonal, mut totals) = (vec![0.0; classes], vec![0.0; classes]);
        let mut column = vec![0.0; classes];
        for cell in self.cells.of_worker(worker) {
            self.column(cell, &mut column);
            let label = usize::from(self.cells.kind(cell).label);
            diagonal[label] = column[label];
            for (total, weight) in totals.iter_mut().zip(&column) {
                *total += weight;
            }
        }
        for (entry, total) in diagonal.iter_mut().zip(totals) {
            *entry = ratio_or_uniform(*entry, total, classes);
        }
        diagonal
    }

    /// Expected number of reports of a cell by true class.
    fn column(&self, cell: usize, column: &mut [f64]) {
        column.fill(0.0);
        let posteriors = &self.posteriors.probabilities;
        self.cells.add_posteriors(self.cells.tasks_of(cell), posteriors, column);
    }
}

impl Mechanism for DawidSkene {
    fn name(&self) -> &'static str {
        "ds"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let shares = label_shares(table);
        let right = |fitted: &DawidSkeneFit, worker| {
            let diagonal = fitted.diagonal(worker);
            diagonal.iter().zip(&shares).map(|(right, share)| right * share).sum()
        };
        Ok(scores("ds", self.fit(table)?, table, right))
    }

    fn on_tasks(&self, _tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(*self)
    }

    /// A worker who guesses still reports the truth now and then.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// The scores by a fit, `score` of every worker with a report; none without a fit.
pub(super) fn scores(
    name: &str,
    fitted: Option<DawidSkeneFit>,
    table: &LabelTable,
    score: impl Fn(&DawidSkeneFit, usize) -> f64 + Sync,
) -> Scores {
    let Some(fitted) = fitted else {
        let workers = vec![WorkerScore::default(); table.worker_count()];
        return Scores { workers, ..Scores::default() };
    };
    let workers = (0..table.worker_count())
        .into_par_iter()
        .map(|worker| {
            let n_tasks = table.of_worker(worker as u32).len();
            let estimate = (n_tasks > 0).then(|| point(score(&fitted, worker)));
            WorkerScore { estimate, n_tasks, n_used: n_tasks, ..WorkerScore::default() }
        })
        .collect();
    let warnings = convergence_warning(name, &fitted.fit).into_iter().collect();
    let (posteriors, fit) = (Some(fitted.posteriors), Some(fitted.fit));
    Scores { workers, posteriors, fit, warnings, ..Scores::default() }
}

/// A value without a standard error; the bootstrap over tasks gives one.
pub fn point(value: f64) -> Estimate {
    Estimate { value, standard_error: None, degrees_of_freedom: 0.0 }
}

/// What to say of a fit that ran out of iterations.
pub fn convergence_warning(mechanism: &str, fit: &Fit) -> Option<Warning> {
    let iterations = fit.objective.len();
    (!fit.converged).then(|| {
        let message = format!("`{mechanism}` has not converged after {iterations} iterations");
        Warning::new("not_converged", iterations, message).with_remedy(Remedy::MoreIterations)
    })
}

/// Share of every label among all reports.
fn label_shares(table: &LabelTable) -> Vec<f64> {
    let mut counts = vec![0_u64; table.label_count()];
    for task in 0..table.task_count() as u32 {
        for &label in table.of_task(task).labels {
            counts[usize::from(label)] += 1;
        }
    }
    counts.iter().map(|&count| count as f64 / table.report_count() as f64).collect()
}

/// Logs of the class prior, the mean posterior of the tasks with a report.
fn log_prior(cells: &Cells, posteriors: &[f64]) -> Vec<f64> {
    let mut prior = cells.context_sums(posteriors);
    let total: f64 = prior.iter().sum();
    for entry in &mut prior {
        *entry = (*entry / total).ln();
    }
    prior
}

/// Logs of the confusion matrices at the labels that each worker gave, cell by true class.
fn m_step(cells: &Cells, posteriors: &[f64], log_confusion: &mut [f64]) {
    let classes = cells.classes();
    cells.split_by_worker(log_confusion).into_par_iter().enumerate().for_each(|(worker, rows)| {
        rows.fill(0.0);
        for (row, cell) in rows.chunks_exact_mut(classes).zip(cells.of_worker(worker)) {
            cells.add_posteriors(cells.tasks_of(cell), posteriors, row);
        }
        for h in 0..classes {
            let total: f64 = rows.iter().skip(h).step_by(classes).sum();
            for entry in rows.iter_mut().skip(h).step_by(classes) {
                *entry = ratio_or_uniform(*entry, total, classes).ln();
            }
        }
    });
}

fn ratio_or_uniform(part: f64, total: f64, classes: usize) -> f64 {
    if total > 0.0 { part / total } else { 1.0 / classes as f64 }
}

#[cfg(test)]
mod tests;
