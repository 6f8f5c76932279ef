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
//! met, has every value as a maximum; it is taken as uniform.
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

use super::latent_class::{Cells, has_converged};
use super::{Fit, Mechanism, MechanismError, Posteriors, Scores, WorkerScore};
use crate::data::labels::LabelTable;
use crate::data::warning::Warning;
use crate::stats::interval::Estimate;

/// Default of [`EmSettings::tolerance`].
pub const TOLERANCE: f64 = 1e-7;

/// Default of [`EmSettings::max_iterations`].
pub const MAX_ITERATIONS: usize = 200;

/// When a fit by expectation maximisation stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmSettings {
    /// Least gain of the objective in one iteration, relative to its absolute value.
    pub tolerance: f64,
    /// Most iterations; a fit that stops here has not converged and says so.
    pub max_iterations: usize,
}

impl Default for EmSettings {
    fn default() -> Self {
        Self { tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS }
    }
}

/// The mechanism `ds`.
///
/// # Examples
///
/// ```
/// use caz::data::labels::{LabelNames, LabelReport, LabelTable};
/// use caz::mechanism::{DawidSkene, Mechanism};
///
/// // Three workers agree on two tasks: they are always right about the classes they met.
/// let mut names = LabelNames::default();
/// let mut reports = Vec::new();
/// for worker in ["a", "b", "c"] {
///     for (task, label) in [("q", "yes"), ("r", "no")] {
///         reports.push(LabelReport {
///             task: names.tasks.intern(task),
///             worker: names.workers.intern(worker),
///             label: names.labels.intern(label) as u16,
///         });
///     }
/// }
/// let scores = DawidSkene::default().score(&LabelTable::new(names, &reports))?;
/// assert_eq!(scores.workers[0].estimate.unwrap().value, 1.0);
/// # Ok::<(), caz::mechanism::MechanismError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DawidSkene {
    /// When to stop.
    pub settings: EmSettings,
}

/// A fitted Dawid-Skene model.
#[derive(Debug, Clone)]
pub struct DawidSkeneFit {
    /// Probability of every class for every task. A task without a report has the class prior.
    pub posteriors: Posteriors,
    /// Log-likelihood after every iteration, and whether the tolerance was reached.
    pub fit: Fit,
    cells: Cells,
}

impl DawidSkene {
    /// Fits the model; `None` if the table has no report.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooLarge`] if the tables would exceed
    /// [`MAX_STATE_BYTES`](super::MAX_STATE_BYTES): with `R` reports in `C <= R` pairs of worker
    /// and label, `8 K (C + tasks + workers)` bytes.
    pub fn fit(&self, table: &LabelTable) -> Result<Option<DawidSkeneFit>, MechanismError> {
        if table.report_count() == 0 {
            return Ok(None);
        }
        let cells = Cells::new(table, vec![0; table.task_count()], 1)?;
        let mut posteriors = cells.vote_shares();
        let mut log_confusion = vec![0.0; cells.cell_count() * cells.classes()];
        let mut fit = Fit::default();
        for _ in 0..self.settings.max_iterations {
            let log_prior = log_prior(&cells, &posteriors);
            m_step(&cells, &posteriors, &mut log_confusion);
            fit.objective.push(cells.e_step(&log_confusion, &log_prior, &mut posteriors));
            if has_converged(&fit.objective, self.settings.tolerance) {
                fit.converged = true;
                break;
            }
        }
        let posteriors = Posteriors { classes: cells.classes(), probabilities: posteriors };
        Ok(Some(DawidSkeneFit { posteriors, fit, cells }))
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
    pub fn confusion(&self, worker: u32) -> Option<Vec<f64>> {
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
        let n_tasks = |worker: usize| table.of_worker(worker as u32).len();
        let Some(fitted) = self.fit(table)? else {
            return Ok(Scores {
                workers: vec![WorkerScore::default(); table.worker_count()],
                ..Scores::default()
            });
        };
        let shares = label_shares(table);
        let workers = (0..table.worker_count())
            .into_par_iter()
            .map(|worker| WorkerScore {
                estimate: (n_tasks(worker) > 0).then(|| {
                    let diagonal = fitted.diagonal(worker);
                    point(diagonal.iter().zip(&shares).map(|(right, share)| right * share).sum())
                }),
                n_tasks: n_tasks(worker),
                n_used: n_tasks(worker),
                ..WorkerScore::default()
            })
            .collect();
        let warnings = convergence_warning("ds", &fitted.fit).into_iter().collect();
        Ok(Scores { workers, posteriors: Some(fitted.posteriors), fit: Some(fitted.fit), warnings })
    }

    fn on_tasks(&self, _tasks: &[u32]) -> Box<dyn Mechanism> {
        Box::new(*self)
    }

    /// A worker who guesses still reports the truth now and then.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// A value without a standard error; the bootstrap over tasks gives one.
pub(super) fn point(value: f64) -> Estimate {
    Estimate { value, standard_error: None, degrees_of_freedom: 0.0 }
}

/// What to say of a fit that ran out of iterations.
pub(super) fn convergence_warning(mechanism: &str, fit: &Fit) -> Option<Warning> {
    let iterations = fit.objective.len();
    (!fit.converged).then(|| {
        let message = format!(
            "`{mechanism}` has not converged after {iterations} iterations; raise --max-iterations"
        );
        Warning::new("not_converged", iterations, message)
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
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::{numbered, real_crowd, small_tables};
    use super::*;
    use crate::data::labels::Label;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(1.0)
    }

    fn never_stopping(iterations: usize) -> DawidSkene {
        DawidSkene { settings: EmSettings { tolerance: -1.0, max_iterations: iterations } }
    }

    /// EM by its definition: dense matrices, products of probabilities, no logarithm but the last.
    struct Naive {
        posteriors: Vec<Vec<f64>>,
        objective: Vec<f64>,
    }

    fn naive(table: &LabelTable, iterations: usize) -> Naive {
        let (tasks, classes) = (table.task_count(), table.label_count());
        let reports: Vec<_> = table.reports().collect();
        let on = |task: usize| reports.iter().filter(move |r| r.task as usize == task);
        let answered: Vec<usize> = (0..tasks).filter(|&task| on(task).count() > 0).collect();
        let mut posteriors = vec![vec![0.0; classes]; tasks];
        for report in &reports {
            posteriors[report.task as usize][usize::from(report.label)] +=
                1.0 / on(report.task as usize).count() as f64;
        }
        let mut objective = Vec::new();
        for _ in 0..iterations {
            let prior: Vec<f64> = (0..classes)
                .map(|h| {
                    answered.iter().map(|&q| posteriors[q][h]).sum::<f64>() / answered.len() as f64
                })
                .collect();
            let confusion = |worker: u32, h: usize, label: Label| {
                let own = reports.iter().filter(|r| r.worker == worker);
                let total: f64 = own.clone().map(|r| posteriors[r.task as usize][h]).sum();
                let part: f64 =
                    own.filter(|r| r.label == label).map(|r| posteriors[r.task as usize][h]).sum();
                if total > 0.0 { part / total } else { 1.0 / classes as f64 }
            };
            let mut next = posteriors.clone();
            let mut log_likelihood = 0.0;
            for (task, row) in next.iter_mut().enumerate() {
                for (h, entry) in row.iter_mut().enumerate() {
                    *entry = on(task).map(|r| confusion(r.worker, h, r.label)).product::<f64>()
                        * prior[h];
                }
                let total: f64 = row.iter().sum();
                for entry in row.iter_mut() {
                    *entry /= total;
                }
                log_likelihood += total.ln();
            }
            posteriors = next;
            objective.push(log_likelihood);
        }
        Naive { posteriors, objective }
    }

    proptest! {
        #[test]
        fn the_fit_equals_em_by_its_definition(table in small_tables(), iterations in 1..5_usize) {
            let fitted = never_stopping(iterations).fit(&table).unwrap().unwrap();
            let naive = naive(&table, iterations);
            for (fast, slow) in fitted.fit.objective.iter().zip(&naive.objective) {
                prop_assert!(close(*fast, *slow), "{fast} {slow}");
            }
            for (fast, slow) in
                fitted.posteriors.probabilities.iter().zip(naive.posteriors.iter().flatten())
            {
                prop_assert!(close(*fast, *slow), "{fast} {slow}");
            }
        }

        #[test]
        fn the_log_likelihood_never_decreases(table in small_tables()) {
            let fitted = never_stopping(60).fit(&table).unwrap().unwrap();
            for step in fitted.fit.objective.windows(2) {
                prop_assert!(step[1] >= step[0] - 1e-9 * step[0].abs().max(1.0), "{step:?}");
            }
        }

        #[test]
        fn scores_are_probabilities_and_agree_with_the_confusion_matrix(table in small_tables()) {
            let fitted = DawidSkene::default().fit(&table).unwrap().unwrap();
            let scores = DawidSkene::default().score(&table).unwrap();
            let shares = label_shares(&table);
            for (worker, score) in (0..).zip(&scores.workers) {
                let Some(matrix) = fitted.confusion(worker) else {
                    prop_assert_eq!(score.estimate, None);
                    continue;
                };
                let classes = table.label_count();
                for row in matrix.chunks_exact(classes) {
                    prop_assert!(close(row.iter().sum(), 1.0));
                }
                let expected: f64 = (0..classes).map(|h| matrix[h * classes + h] * shares[h]).sum();
                prop_assert!(close(score.estimate.unwrap().value, expected));
            }
        }
    }

    #[test]
    fn a_fixed_point_by_hand() {
        // Task 0: a and b say 0. Task 1: a says 0, b says 1. Votes: T = (1, 0), (1/2, 1/2), so
        // prior (3/4, 1/4), Γ^a rows (1, 0), (1, 0), Γ^b rows (2/3, 1/3), (0, 1). Task 0 has
        // weights 3/4 · 2/3 = 1/2 and 0, task 1 has 3/4 · 1/3 = 1/4 and 1/4: the same posteriors,
        // each task with likelihood 1/2. Scores with P = (3/4, 1/4): a 3/4, b 2/3 · 3/4 + 1/4.
        let table = numbered((2, 2, 2), &[(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)]);
        let scores = DawidSkene::default().score(&table).unwrap();
        let fit = scores.fit.unwrap();
        assert!(fit.converged && fit.objective.len() == 2, "{fit:?}");
        assert!(close(fit.objective[1], 2.0 * 0.5_f64.ln()));
        assert!(close(scores.posteriors.unwrap().of_task(1)[0], 0.5));
        for worker in &scores.workers {
            assert!(close(worker.estimate.unwrap().value, 0.75), "{worker:?}");
        }
    }

    #[test]
    fn degenerate_crowds_have_scores_or_none_but_never_nan() {
        let crowds = [
            numbered((0, 0, 0), &[]),
            numbered((3, 2, 2), &[]),
            numbered((1, 1, 1), &[(0, 0, 0)]),
            numbered((3, 1, 2), &[(0, 0, 0), (1, 0, 1), (2, 0, 0)]),
            numbered((1, 3, 2), &[(0, 0, 0), (0, 1, 1), (0, 2, 0)]),
            numbered((4, 4, 2), &[(0, 0, 0), (1, 1, 1), (2, 2, 0)]),
        ];
        for table in &crowds {
            let scores = DawidSkene::default().score(table).unwrap();
            for (worker, score) in (0..).zip(&scores.workers) {
                let answered = !table.of_worker(worker).is_empty();
                assert_eq!(score.estimate.is_some(), answered);
                assert!(
                    score.estimate.is_none_or(|estimate| (0.0..=1.0).contains(&estimate.value))
                );
            }
            let posteriors = scores.posteriors.map_or(Vec::new(), |p| p.probabilities);
            assert!(posteriors.iter().all(|p| (0.0..=1.0).contains(p)), "{posteriors:?}");
        }
    }

    #[test]
    fn running_out_of_iterations_is_said() {
        let table = numbered((2, 2, 2), &[(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
        let hurried =
            DawidSkene { settings: EmSettings { max_iterations: 1, ..EmSettings::default() } };
        let scores = hurried.score(&table).unwrap();
        assert_eq!(scores.warnings[0].code, "not_converged");
        assert!(DawidSkene::default().score(&table).unwrap().warnings.is_empty());
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        // More tasks than fit in one piece of the E-step.
        let reports: Vec<(u32, u32, Label)> = (0..12_000_u32)
            .map(|r| (r / 4, (r * 7 + r / 31) % 97, ((r * r / 5 + r / 4) % 3) as Label))
            .collect();
        let table = numbered((3000, 97, 3), &reports);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| DawidSkene::default().score(&table).unwrap())
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn too_many_classes_are_refused_before_the_work() {
        // 65,535 classes for each of 20,000 tasks: 65,535 · 20,000 · 8 bytes = 9.8 GiB.
        let reports: Vec<(u32, u32, Label)> = (0..20_000).map(|task| (task, 0, 0)).collect();
        let table = numbered((20_000, 1, 65_535), &reports);
        let error = DawidSkene::default().fit(&table).unwrap_err();
        assert!(matches!(error, MechanismError::TooLarge { .. }), "{error}");
    }

    #[test]
    fn real_crowds_reach_the_known_accuracies() {
        let known = [
            ("labels-product", 0.940, 0.003),
            ("labels-bluebird", 0.898, 0.003),
            ("labels-rte", 0.928, 0.003),
            ("labels-dog", 0.843, 0.010),
        ];
        for (folder, expected, tolerance) in known {
            let Some((table, truth)) = real_crowd(folder) else { continue };
            let fitted = DawidSkene::default().fit(&table).unwrap().unwrap();
            let known: Vec<(u32, usize)> = (0..)
                .zip(&truth)
                .filter_map(|(task, truth)| Some((task, usize::from((*truth)?))))
                .collect();
            let right = known.iter().filter(|&&(task, truth)| {
                let posterior = fitted.posteriors.of_task(task);
                posterior.iter().all(|p| *p <= posterior[truth])
            });
            let accuracy = right.count() as f64 / known.len() as f64;
            eprintln!("{folder}: {accuracy:.4} after {} iterations", fitted.fit.objective.len());
            assert!((accuracy - expected).abs() <= tolerance, "{folder}: {accuracy}");
            assert!(fitted.fit.converged, "{folder}");
        }
    }
}
