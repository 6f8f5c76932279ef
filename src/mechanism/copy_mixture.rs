//! Copy mixture: Dawid-Skene for a crowd in which some answers are copied from an LLM.
//!
//! Model, for a task `q` with the labels `z_qs` of the sources `s` in `A_q` that cover it:
//!
//! - the true class is `y` with probability `π[y]`; source `s` says `z` with probability
//!   `Γ^Z_s[y, z]`;
//! - worker `i` means to copy source `s` with probability `λ_is` and to answer alone otherwise. A
//!   worker who means to copy a source that does not cover the task answers alone too. A copy is
//!   `x` with probability `C_s[z, x]`, an own answer with probability `Γ^i[y, x]`:
//!
//! `m_iq(y) = Σ_{s in A_q} λ_is C_s[z_qs, x_iq] + (1 - Σ_{s in A_q} λ_is) Γ^i[y, x_iq]`
//!
//! The fit maximises the log-posterior
//!
//! ```text
//! Σ_q log Σ_y π[y] Π_{s in A_q} Γ^Z_s[y, z_qs] Π_{i on q} m_iq(y)
//!   + Σ_i Σ_y Σ_x 4 Γ⁰[y, x] log Γ^i[y, x]                 own answers, Dirichlet
//!   + Σ_i ( Σ_s 0.2/S log λ_is + 0.8 log(1 - Σ_s λ_is) )   copying, Dirichlet (Beta for S = 1)
//!   + Σ_s Σ_y Σ_z 1/L_s log Γ^Z_s[y, z]                    the LLM, Dirichlet
//! ```
//!
//! with `Γ⁰` the pooled confusion matrix of the crowd under the vote shares, `S` the number of
//! sources and `L_s` the number of labels that source `s` uses. Each prior is a number of
//! pseudo-observations: 4 per row of `Γ^i`, 1 per `λ_i`, 1 per row of `Γ^Z`. `C_s` is fixed: the
//! labels of one sample against another of the same source, else 0.95 on the diagonal.
//!
//! EM over `y` and the copy indicator, from vote shares, `Γ^i = Γ⁰` and `λ = 0.2`. With `T_q[y]`
//! the posterior of `y` and `r = λ_is C_s / m`, `1 - Σ r` the posteriors of the origin of a
//! report, the M-step is a share of expected counts plus pseudo-counts, so the log-posterior
//! never decreases.
//!
//! Score: `(1 - Σ_s λ_is) TVD_i`, `TVD_i = Σ_{y,x} π[y] | Γ^i[y, x] - Σ_y' π[y'] Γ^i[y', x] |`:
//! the share of own answers times what they say about the truth. The paper names this model as
//! future work (Zhang, Pang, Zhu, Liu, NeurIPS 2025, section 6); for the EM see Dawid and Skene
//! (1979), <https://doi.org/10.2307/2346806>.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

use std::sync::Arc;

use rayon::prelude::*;

use super::copy_signals::{Signals, SourceLabels};
use super::dawid_skene::{EmSettings, convergence_warning, point};
use super::latent_class::{Cells, has_converged};
use super::{Fit, Mechanism, MechanismError, Posteriors, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::data::z::ZSource;

/// Pseudo-observations that pull each row of a worker's confusion matrix to the pooled one.
const CONFUSION_WEIGHT: f64 = 4.0;

/// Pseudo-observations behind the prior of each worker's share of copies.
const COPYING_WEIGHT: f64 = 1.0;

/// Prior mean of each worker's share of copies, and its value at the start.
const COPYING_START: f64 = 0.2;

/// Pseudo-observations, spread evenly, behind each row of the confusion matrix of an LLM.
const LLM_WEIGHT: f64 = 1.0;

/// The mechanism `ds_z`.
#[derive(Debug, Clone)]
pub struct CopyMixture {
    sources: Vec<SourceLabels>,
    settings: EmSettings,
}

impl CopyMixture {
    /// One source is the mixture of `methods` as published here; several are taken together, each
    /// worker with an own mixture over them.
    pub fn new(sources: &[ZSource], settings: EmSettings) -> Self {
        let sources = sources
            .iter()
            .map(|source| SourceLabels {
                conditioning: source.conditioning().into(),
                samples: match source.samples.as_slice() {
                    [_] => Vec::new(),
                    samples => samples.iter().map(|sample| sample.labels.clone().into()).collect(),
                },
            })
            .collect();
        Self { sources, settings }
    }

    /// Fits the model; `None` if the table has no report.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TaskCount`] if Z is not for the tasks of `table`,
    /// [`MechanismError::TooLarge`] if the tables would exceed
    /// [`MAX_STATE_BYTES`](super::MAX_STATE_BYTES).
    pub fn fit(&self, table: &LabelTable) -> Result<Option<CopyMixtureFit>, MechanismError> {
        let tasks = table.task_count();
        if let Some(source) = self.sources.iter().find(|s| s.conditioning.len() != tasks) {
            return Err(MechanismError::TaskCount { z_tasks: source.conditioning.len(), tasks });
        }
        if table.report_count() == 0 {
            return Ok(None);
        }
        let signals = Signals::new(&self.sources, table);
        let cells = Cells::new(table, signals.context_of_task.clone(), signals.contexts())?;
        let mut state = State::new(cells, signals);
        let mut posteriors = state.cells.vote_shares();
        let mut fit = Fit::default();
        for _ in 0..self.settings.max_iterations {
            let penalty = state.m_step(&posteriors);
            let log_likelihood =
                state.cells.e_step(&state.log_report, &state.log_context, &mut posteriors);
            fit.objective.push(log_likelihood + penalty);
            if has_converged(&fit.objective, self.settings.tolerance) {
                fit.converged = true;
                break;
            }
        }
        let posteriors = Posteriors { classes: state.classes(), probabilities: posteriors };
        Ok(Some(CopyMixtureFit { posteriors, fit, state }))
    }
}

impl Mechanism for CopyMixture {
    fn name(&self) -> &'static str {
        "ds_z"
    }

    /// A worker none of whose tasks Z covers has no score: nothing tells whether such a worker
    /// copies.
    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let Some(fitted) = self.fit(table)? else {
            return Ok(Scores {
                workers: vec![
                    WorkerScore { n_z_tasks: Some(0), ..WorkerScore::default() };
                    table.worker_count()
                ],
                ..Scores::default()
            });
        };
        let workers = (0..table.worker_count())
            .into_par_iter()
            .map(|worker| {
                let covered = fitted.state.covered_reports(worker);
                let lambda = (covered > 0).then(|| fitted.copied_share(worker as u32));
                WorkerScore {
                    estimate: lambda
                        .map(|lambda| point((1.0 - lambda) * fitted.state.total_variation(worker))),
                    n_tasks: table.of_worker(worker as u32).len(),
                    n_z_tasks: Some(covered),
                    n_used: covered,
                    lambda,
                }
            })
            .collect();
        let warnings = convergence_warning("ds_z", &fitted.fit).into_iter().collect();
        Ok(Scores { workers, posteriors: Some(fitted.posteriors), fit: Some(fitted.fit), warnings })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let pick = |labels: &Arc<[Option<Label>]>| {
            tasks.iter().map(|&task| labels[task as usize]).collect::<Arc<[_]>>()
        };
        let sources = self
            .sources
            .iter()
            .map(|source| SourceLabels {
                conditioning: pick(&source.conditioning),
                samples: source.samples.iter().map(pick).collect(),
            })
            .collect();
        Box::new(Self { sources, settings: self.settings })
    }

    /// The score is never negative, so 0 is its least value and not its mean under chance.
    fn zero_is_chance(&self) -> bool {
        false
    }
}

/// A fitted copy mixture.
#[derive(Debug, Clone)]
pub struct CopyMixtureFit {
    /// Probability of every class for every task. A task without a report has the class prior.
    pub posteriors: Posteriors,
    /// Log-posterior after every iteration, and whether the tolerance was reached.
    pub fit: Fit,
    state: State,
}

impl CopyMixtureFit {
    /// `Σ_s λ_is`: estimated share of the answers of `worker` to covered tasks that are copies.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub fn copied_share(&self, worker: u32) -> f64 {
        self.copied_shares(worker).iter().sum()
    }

    /// `λ_is` of every source, in the order in which they were given.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub fn copied_shares(&self, worker: u32) -> &[f64] {
        let sources = self.state.signals.copies.len();
        &self.state.copying[worker as usize * sources..][..sources]
    }

    /// Confusion matrix `Γ^i` of the own answers of `worker`: `K * K` entries, row-major true
    /// class by reported label, each row summing to 1.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    pub fn confusion(&self, worker: u32) -> Vec<f64> {
        self.state.confusion(worker as usize)
    }
}

/// Parameters of the model in the form in which the E-step and the M-step need them.
#[derive(Debug, Clone)]
struct State {
    cells: Cells,
    signals: Signals,
    /// `Γ⁰`, row-major true class by label.
    pooled: Vec<f64>,
    /// `Σ_x 4 Γ⁰[y, x] log(4 Γ⁰[y, x])` by `y`.
    pooled_entropy: Vec<f64>,
    prior: Vec<f64>,
    /// `log π[y] + Σ_s log Γ^Z_s[y, z_s]`, row-major context by class.
    log_context: Vec<f64>,
    /// `log m`, row-major cell by class.
    log_report: Vec<f64>,
    /// `Γ^i[y, x]` at the label of the cell, row-major cell by class.
    own: Vec<f64>,
    /// Expected own answers by true class, row-major worker by class.
    own_totals: Vec<f64>,
    /// `λ_is`, row-major worker by source.
    copying: Vec<f64>,
}

/// The rows of [`State`] that belong to one worker.
struct WorkerRows<'a> {
    log_report: &'a mut [f64],
    own: &'a mut [f64],
    own_totals: &'a mut [f64],
    copying: &'a mut [f64],
}

impl State {
    fn new(cells: Cells, signals: Signals) -> Self {
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

    fn classes(&self) -> usize {
        self.cells.classes()
    }

    /// Updates every parameter from the posteriors of the tasks; returns the log of the priors.
    fn m_step(&mut self, posteriors: &[f64]) -> f64 {
        let llm_penalty = self.update_contexts(posteriors);
        let (classes, sources) = (self.classes(), self.signals.copies.len());
        let mut log_report = std::mem::take(&mut self.log_report);
        let mut own = std::mem::take(&mut self.own);
        let mut own_totals = std::mem::take(&mut self.own_totals);
        let mut copying = std::mem::take(&mut self.copying);
        let mut rows: Vec<WorkerRows<'_>> = self
            .cells
            .split_by_worker(&mut log_report)
            .into_iter()
            .zip(self.cells.split_by_worker(&mut own))
            .zip(own_totals.chunks_exact_mut(classes))
            .map(|((log_report, own), own_totals)| WorkerRows {
                log_report,
                own,
                own_totals,
                copying: &mut [],
            })
            .collect();
        if sources > 0 {
            for (rows, copying) in rows.iter_mut().zip(copying.chunks_exact_mut(sources)) {
                rows.copying = copying;
            }
        }
        let penalties: Vec<f64> = rows
            .into_par_iter()
            .enumerate()
            .map(|(worker, mut rows)| self.update_worker(worker, &mut rows, posteriors))
            .collect();
        self.log_report = log_report;
        self.own = own;
        self.own_totals = own_totals;
        self.copying = copying;
        llm_penalty + penalties.iter().sum::<f64>()
    }

    /// Updates `π` and `Γ^Z`; returns the log of the prior of `Γ^Z`.
    fn update_contexts(&mut self, posteriors: &[f64]) -> f64 {
        let classes = self.classes();
        let sums = self.cells.context_sums(posteriors);
        let mut prior = vec![0.0; classes];
        for row in sums.chunks_exact(classes) {
            prior.iter_mut().zip(row).for_each(|(prior, sum)| *prior += sum);
        }
        let total: f64 = prior.iter().sum();
        for entry in &mut prior {
            *entry /= total;
        }
        for row in self.log_context.chunks_exact_mut(classes) {
            row.iter_mut().zip(&prior).for_each(|(log, prior)| *log = prior.ln());
        }
        self.prior = prior;
        let mut penalty = 0.0;
        for source in 0..self.signals.copies.len() {
            penalty += self.update_llm(source, &sums);
        }
        penalty
    }

    /// Updates `Γ^Z` of one source and adds its logs to the contexts.
    fn update_llm(&mut self, source: usize, sums: &[f64]) -> f64 {
        let (classes, levels) = (self.classes(), self.signals.copies[source].levels);
        if levels == 0 {
            return 0.0;
        }
        let level_of = |context: usize| {
            self.signals.of_context(context as u32).find(|&(s, _)| s == source).map(|(_, l)| l)
        };
        let pseudo_count = LLM_WEIGHT / levels as f64;
        // Row-major level by class.
        let mut confusion = vec![pseudo_count; levels * classes];
        for (context, row) in sums.chunks_exact(classes).enumerate() {
            let Some(level) = level_of(context) else { continue };
            for (entry, sum) in confusion[level * classes..][..classes].iter_mut().zip(row) {
                *entry += sum;
            }
        }
        let mut penalty = 0.0;
        for y in 0..classes {
            let total: f64 = confusion.iter().skip(y).step_by(classes).sum();
            for entry in confusion.iter_mut().skip(y).step_by(classes) {
                *entry = (*entry / total).ln();
                penalty += pseudo_count * *entry;
            }
        }
        for (context, row) in self.log_context.chunks_exact_mut(classes).enumerate() {
            let Some(level) = level_of(context) else { continue };
            for (log, llm) in row.iter_mut().zip(&confusion[level * classes..][..classes]) {
                *log += llm;
            }
        }
        penalty
    }

    /// Updates `Γ^i` and `λ_i`; returns the log of their priors.
    fn update_worker(&self, worker: usize, rows: &mut WorkerRows<'_>, posteriors: &[f64]) -> f64 {
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
        for (n, cell) in cells.enumerate() {
            let row = n * classes..(n + 1) * classes;
            let copy = self.copy_weights(cell, rows.copying);
            for (log, own) in rows.log_report[row.clone()].iter_mut().zip(&rows.own[row]) {
                *log = (copy.total + copy.alone * own).ln();
            }
        }
        penalty
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

    /// Reports of a worker on tasks that some source covers.
    fn covered_reports(&self, worker: usize) -> usize {
        self.cells
            .of_worker(worker)
            .filter(|&cell| self.signals.of_context(self.cells.kind(cell).context).next().is_some())
            .map(|cell| self.cells.tasks_of(cell).len())
            .sum()
    }

    fn confusion(&self, worker: usize) -> Vec<f64> {
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
    fn total_variation(&self, worker: usize) -> f64 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::super::fixtures::{numbered, small_tables, z_of};
    use super::*;
    use crate::stats::seed::stream;

    type Labels = Vec<Option<Label>>;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(1.0)
    }

    fn never_stopping(table: &LabelTable, sources: &[Labels], iterations: usize) -> CopyMixture {
        let sources: Vec<Vec<Labels>> = sources.iter().map(|z| vec![z.clone()]).collect();
        let settings = EmSettings { tolerance: -1.0, max_iterations: iterations };
        CopyMixture::new(&z_of(table, &sources).sources, settings)
    }

    /// Up to two sources for a small table, with gaps and a label that no worker has.
    fn crowds() -> impl Strategy<Value = (LabelTable, Vec<Labels>)> {
        small_tables().prop_flat_map(|table| {
            let label = proptest::option::weighted(0.8, 0..=table.label_count() as Label);
            let source = proptest::collection::vec(label, table.task_count());
            (Just(table), proptest::collection::vec(source, 1..=2))
        })
    }

    /// The model by its definition: EM that enumerates, task by task, the true class and what
    /// every worker means to do.
    struct Naive<'a> {
        table: &'a LabelTable,
        sources: &'a [Labels],
        pooled: Vec<Vec<f64>>,
        prior: Vec<f64>,
        llm: Vec<Vec<Vec<f64>>>,
        own: Vec<Vec<Vec<f64>>>,
        copying: Vec<Vec<f64>>,
        posteriors: Vec<Vec<f64>>,
        objective: Vec<f64>,
    }

    /// Expected counts of one E-step.
    struct Counts {
        prior: Vec<f64>,
        llm: Vec<Vec<Vec<f64>>>,
        own: Vec<Vec<Vec<f64>>>,
        copying: Vec<Vec<f64>>,
        trials: Vec<f64>,
    }

    impl<'a> Naive<'a> {
        fn run(table: &'a LabelTable, sources: &'a [Labels], iterations: usize) -> Self {
            let (classes, workers) = (table.label_count(), table.worker_count());
            let share = |task: u32, y: usize| {
                let labels = table.of_task(task).labels;
                labels.iter().filter(|&&label| usize::from(label) == y).count() as f64
                    / labels.len().max(1) as f64
            };
            let tasks = 0..table.task_count() as u32;
            let pooled: Vec<Vec<f64>> = (0..classes)
                .map(|y| {
                    let mut row = vec![0.0; classes];
                    for report in table.reports() {
                        row[usize::from(report.label)] += share(report.task, y);
                    }
                    let total: f64 = row.iter().sum();
                    row.iter()
                        .map(|p| if total > 0.0 { p / total } else { 1.0 / classes as f64 })
                        .collect()
                })
                .collect();
            let mut naive = Self {
                table,
                sources,
                prior: Vec::new(),
                llm: Vec::new(),
                own: vec![pooled.clone(); workers],
                pooled,
                copying: vec![vec![0.2 / sources.len() as f64; sources.len()]; workers],
                posteriors: tasks.map(|q| (0..classes).map(|y| share(q, y)).collect()).collect(),
                objective: Vec::new(),
            };
            for _ in 0..iterations {
                let counts = naive.count();
                naive.maximize(&counts);
                naive.e_step();
            }
            naive
        }

        /// Labels of a source on answered tasks.
        fn levels(&self, source: usize) -> Vec<Label> {
            let mut levels: Vec<Label> = (0..)
                .zip(&self.sources[source])
                .filter(|&(task, _)| !self.table.of_task(task).is_empty())
                .filter_map(|(_, label)| *label)
                .collect();
            levels.sort_unstable();
            levels.dedup();
            levels
        }

        fn copy(&self, z: Label, x: Label) -> f64 {
            let classes = self.table.label_count();
            if usize::from(z) >= classes || classes == 1 {
                1.0 / classes as f64
            } else if z == x {
                0.95
            } else {
                0.05 / (classes - 1) as f64
            }
        }

        /// Probability of a report and of the intention behind it, `None` for an own answer.
        fn report(
            &self,
            task: u32,
            (worker, x): (u32, Label),
            y: usize,
            intent: Option<usize>,
        ) -> f64 {
            let copying = &self.copying[worker as usize];
            let own = self.own[worker as usize][y][usize::from(x)];
            match intent {
                None => (1.0 - copying.iter().sum::<f64>()) * own,
                Some(source) => {
                    copying[source]
                        * self.sources[source][task as usize].map_or(own, |z| self.copy(z, x))
                }
            }
        }

        fn intents(&self) -> Vec<Option<usize>> {
            std::iter::once(None).chain((0..self.sources.len()).map(Some)).collect()
        }

        /// Expected counts given the posteriors of the classes, by enumeration of the intentions.
        fn count(&self) -> Counts {
            let (classes, workers) = (self.table.label_count(), self.table.worker_count());
            let mut counts = Counts {
                prior: vec![0.0; classes],
                llm: (0..self.sources.len())
                    .map(|s| vec![vec![0.0; self.levels(s).len()]; classes])
                    .collect(),
                own: vec![vec![vec![0.0; classes]; classes]; workers],
                copying: vec![vec![0.0; self.sources.len()]; workers],
                trials: vec![0.0; workers],
            };
            for task in 0..self.table.task_count() as u32 {
                if self.table.of_task(task).is_empty() {
                    continue;
                }
                let covered = self.sources.iter().any(|z| z[task as usize].is_some());
                for y in 0..classes {
                    let weight = self.posteriors[task as usize][y];
                    if weight == 0.0 {
                        // A report may be impossible under a class that is.
                        continue;
                    }
                    counts.prior[y] += weight;
                    for (source, z) in self.sources.iter().enumerate() {
                        if let Some(z) = z[task as usize] {
                            let level = self.levels(source).iter().position(|&l| l == z).unwrap();
                            counts.llm[source][y][level] += weight;
                        }
                    }
                    for report in self.table.of_task(task).iter() {
                        let (worker, x) = (report.0 as usize, usize::from(report.1));
                        let weights: Vec<f64> = self
                            .intents()
                            .iter()
                            .map(|&intent| self.report(task, report, y, intent))
                            .collect();
                        let total: f64 = weights.iter().sum();
                        counts.trials[worker] += if covered { weight } else { 0.0 };
                        for (intent, part) in self.intents().into_iter().zip(&weights) {
                            let part = weight * part / total;
                            let copies =
                                intent.is_some_and(|s| self.sources[s][task as usize].is_some());
                            if !copies {
                                counts.own[worker][y][x] += part;
                            }
                            if let Some(source) = intent.filter(|_| covered) {
                                counts.copying[worker][source] += part;
                            }
                        }
                    }
                }
            }
            counts
        }

        fn maximize(&mut self, counts: &Counts) {
            let normalized = |row: &[f64]| -> Vec<f64> {
                let total: f64 = row.iter().sum();
                row.iter().map(|entry| entry / total).collect()
            };
            self.prior = normalized(&counts.prior);
            self.llm = counts
                .llm
                .iter()
                .map(|rows| {
                    rows.iter()
                        .map(|row| {
                            let pseudo = 1.0 / row.len() as f64;
                            normalized(&row.iter().map(|c| c + pseudo).collect::<Vec<_>>())
                        })
                        .collect()
                })
                .collect();
            for worker in 0..self.table.worker_count() {
                for (y, (counts, pooled)) in counts.own[worker].iter().zip(&self.pooled).enumerate()
                {
                    let row: Vec<f64> =
                        counts.iter().zip(pooled).map(|(c, p)| c + 4.0 * p).collect();
                    self.own[worker][y] = normalized(&row);
                }
                let each = 0.2 / self.sources.len() as f64;
                self.copying[worker] = counts.copying[worker]
                    .iter()
                    .map(|c| (c + each) / (counts.trials[worker] + 1.0))
                    .collect();
            }
        }

        /// Posteriors and objective by enumerating the class and the intentions of all workers.
        fn e_step(&mut self) {
            let classes = self.table.label_count();
            let mut objective = self.log_prior();
            for task in 0..self.table.task_count() as u32 {
                let reports: Vec<(u32, Label)> = self.table.of_task(task).iter().collect();
                let row: Vec<f64> = (0..classes)
                    .map(|y| {
                        let mut weight = self.prior[y];
                        for (source, z) in self.sources.iter().enumerate() {
                            let z = z[task as usize].filter(|_| !reports.is_empty());
                            if let Some(z) = z {
                                let level =
                                    self.levels(source).iter().position(|&l| l == z).unwrap();
                                weight *= self.llm[source][y][level];
                            }
                        }
                        weight * self.all_intents(task, &reports, y)
                    })
                    .collect();
                let total: f64 = row.iter().sum();
                objective += total.ln();
                self.posteriors[task as usize] = row.iter().map(|p| p / total).collect();
            }
            self.objective.push(objective);
        }

        /// Sum over every combination of intentions of the product over workers.
        fn all_intents(&self, task: u32, reports: &[(u32, Label)], y: usize) -> f64 {
            let Some((&first, rest)) = reports.split_first() else { return 1.0 };
            self.intents()
                .into_iter()
                .map(|intent| self.report(task, first, y, intent) * self.all_intents(task, rest, y))
                .sum()
        }

        fn log_prior(&self) -> f64 {
            let mut sum = 0.0;
            for worker in 0..self.table.worker_count() {
                if self.table.of_worker(worker as u32).is_empty() {
                    continue;
                }
                for (own, pooled) in
                    self.own[worker].iter().flatten().zip(self.pooled.iter().flatten())
                {
                    sum += if *pooled > 0.0 { 4.0 * pooled * own.ln() } else { 0.0 };
                }
                let each = 0.2 / self.sources.len() as f64;
                sum += self.copying[worker].iter().map(|c| each * c.ln()).sum::<f64>();
                sum += 0.8 * (1.0 - self.copying[worker].iter().sum::<f64>()).ln();
            }
            for row in self.llm.iter().flatten() {
                sum += row.iter().map(|p| p.ln() / row.len() as f64).sum::<f64>();
            }
            sum
        }
    }

    proptest! {
        #[test]
        fn the_fit_equals_em_by_enumeration((table, sources) in crowds(), iterations in 1..5_usize) {
            let fitted = never_stopping(&table, &sources, iterations).fit(&table).unwrap().unwrap();
            let naive = Naive::run(&table, &sources, iterations);
            for (fast, slow) in fitted.fit.objective.iter().zip(&naive.objective) {
                prop_assert!(close(*fast, *slow), "objective {fast} {slow}");
            }
            for (fast, slow) in
                fitted.posteriors.probabilities.iter().zip(naive.posteriors.iter().flatten())
            {
                prop_assert!(close(*fast, *slow), "posterior {fast} {slow}");
            }
            for worker in 0..table.worker_count() {
                if table.of_worker(worker as u32).is_empty() {
                    continue;
                }
                let shares = fitted.copied_shares(worker as u32);
                for (fast, slow) in shares.iter().zip(&naive.copying[worker]) {
                    prop_assert!(close(*fast, *slow), "lambda {fast} {slow}");
                }
                let own = fitted.confusion(worker as u32);
                for (fast, slow) in own.iter().zip(naive.own[worker].iter().flatten()) {
                    prop_assert!(close(*fast, *slow), "own {fast} {slow}");
                }
            }
        }

        #[test]
        fn the_log_posterior_never_decreases((table, sources) in crowds()) {
            let fitted = never_stopping(&table, &sources, 60).fit(&table).unwrap().unwrap();
            for step in fitted.fit.objective.windows(2) {
                prop_assert!(step[1] >= step[0] - 1e-9 * step[0].abs().max(1.0), "{step:?}");
            }
        }

        #[test]
        fn scores_are_finite_or_missing_without_z((table, sources) in crowds()) {
            let scores = never_stopping(&table, &sources, 20).score(&table).unwrap();
            for (worker, score) in (0..).zip(&scores.workers) {
                let covered = table
                    .of_worker(worker)
                    .others
                    .iter()
                    .filter(|&&task| sources.iter().any(|z| z[task as usize].is_some()))
                    .count();
                prop_assert_eq!(score.n_z_tasks, Some(covered));
                prop_assert_eq!(score.estimate.is_some(), covered > 0);
                prop_assert_eq!(score.lambda.is_some(), covered > 0);
                if let (Some(estimate), Some(lambda)) = (score.estimate, score.lambda) {
                    // A total variation between joint and product is below 2.
                    prop_assert!((0.0..2.0).contains(&estimate.value));
                    prop_assert!(lambda > 0.0 && lambda < 1.0);
                }
            }
        }
    }

    #[test]
    fn known_shares_of_copies_are_recovered() {
        // 24 workers with λ = 0, 0.3, 0.6, 0.9 in turn answer 300 of 1200 tasks; K = 3, own
        // accuracy 0.7, the LLM is right in 60 %, copies equal Z in 95 %. Where Z is wrong, a
        // report equals Z with probability 0.95 λ + 0.15 (1 - λ), slope 0.8, so even from those
        // 120 tasks alone λ has a standard error of at most sqrt(1/4 / 120) / 0.8 = 0.057. No
        // worker is further off than 4 of these, and the mean error is at most one.
        let mut random = stream(3, "test", 0);
        let (tasks, workers) = (1200_u32, 24_u32);
        let mut z = Vec::new();
        let mut reports = Vec::new();
        let share = |worker: u32| 0.3 * f64::from(worker % 4);
        for task in 0..tasks {
            let truth: Label = random.random_range(0..3);
            let mut noisy = |label: Label, right: f64| {
                if random.random_bool(right) {
                    label
                } else {
                    (label + random.random_range(1..3)) % 3
                }
            };
            let llm = noisy(truth, 0.6);
            z.push(Some(llm));
            for worker in (0..workers).filter(|worker| (worker + task) % 4 == 0) {
                // Workers of all shares meet: the remainder moves with the block of tasks.
                let worker = (worker + task / 4) % workers;
                let copies = noisy(0, 1.0 - share(worker)) != 0;
                let label = if copies { noisy(llm, 0.95) } else { noisy(truth, 0.7) };
                reports.push((task, worker, label));
            }
        }
        let table = numbered((tasks as usize, workers as usize, 3), &reports);
        let sources = z_of(&table, &[vec![z]]).sources;
        let fitted =
            CopyMixture::new(&sources, EmSettings::default()).fit(&table).unwrap().unwrap();
        let errors: Vec<f64> =
            (0..workers).map(|w| (fitted.copied_share(w) - share(w)).abs()).collect();
        assert!(errors.iter().all(|error| *error < 4.0 * 0.057), "{errors:?}");
        assert!(errors.iter().sum::<f64>() / f64::from(workers) < 0.057, "{errors:?}");
    }

    #[test]
    fn several_sources_name_the_one_that_was_copied() {
        // Worker 0 copies the first LLM, worker 1 the second, the others answer alone.
        let mut random = stream(4, "test", 0);
        let mut sources = [Vec::new(), Vec::new()];
        let mut reports = Vec::new();
        for task in 0..400_u32 {
            let truth: Label = random.random_range(0..3);
            let mut noisy = |right: f64| {
                if random.random_bool(right) { truth } else { random.random_range(0..3) }
            };
            let llms = [noisy(0.5), noisy(0.5)];
            for (source, llm) in sources.iter_mut().zip(llms) {
                source.push(Some(llm));
            }
            reports.extend([(task, 0, llms[0]), (task, 1, llms[1])]);
            reports.extend((2..7).map(|worker| (task, worker, noisy(0.7))));
        }
        let table = numbered((400, 7, 3), &reports);
        let z = z_of(&table, &sources.map(|labels| vec![labels]));
        let mixture = CopyMixture::new(&z.sources, EmSettings::default());
        let fitted = mixture.fit(&table).unwrap().unwrap();
        assert!(fitted.copied_shares(0)[0] > 0.9 && fitted.copied_shares(1)[1] > 0.9);
        assert!((2..7).all(|worker| fitted.copied_share(worker) < 0.1));
        let scores = mixture.score(&table).unwrap();
        let value = |worker: usize| scores.workers[worker].estimate.unwrap().value;
        assert!((2..7).all(|own| value(own) > value(0) && value(own) > value(1)));
    }

    #[test]
    fn degenerate_crowds_have_scores_or_none_but_never_nan() {
        let one = numbered((1, 1, 1), &[(0, 0, 0)]);
        let empty = numbered((2, 1, 1), &[]);
        let pair = numbered((2, 2, 2), &[(0, 0, 0), (1, 1, 1)]);
        // The unseen label, no overlap with the answered task, no source at all.
        let cases: [(&LabelTable, Vec<Labels>, usize); 6] = [
            (&one, vec![vec![Some(0)]], 1),
            (&one, vec![vec![Some(7)]], 1),
            (&one, vec![vec![None]], 0),
            (&one, vec![], 0),
            (&empty, vec![vec![Some(0), None]], 0),
            (&pair, vec![vec![Some(1), None]], 1),
        ];
        for (table, sources, scored) in &cases {
            let scores = never_stopping(table, sources, 10).score(table).unwrap();
            let values: Vec<f64> =
                scores.workers.iter().filter_map(|w| w.estimate.map(|e| e.value)).collect();
            assert_eq!(values.len(), *scored);
            assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
            let probabilities = scores.posteriors.map_or(Vec::new(), |p| p.probabilities);
            assert!(probabilities.iter().all(|p| p.is_finite()), "{probabilities:?}");
        }
    }

    #[test]
    fn z_of_another_table_is_refused() {
        let table = numbered((2, 1, 1), &[(0, 0, 0)]);
        let mixture = never_stopping(&table, &[vec![Some(0)]], 1);
        assert_eq!(
            mixture.score(&table).unwrap_err(),
            MechanismError::TaskCount { z_tasks: 1, tasks: 2 }
        );
    }

    #[test]
    fn threads_and_resampling_do_not_change_a_bit() {
        let reports: Vec<(u32, u32, Label)> = (0..12_000_u32)
            .map(|r| (r / 4, (r * 7 + r / 31) % 97, ((r * r / 5 + r / 4) % 3) as Label))
            .collect();
        let table = numbered((3000, 97, 3), &reports);
        let z: Labels = (0..3000_u16).map(|q| (q % 5 > 0).then_some(q % 3)).collect();
        let mixture = never_stopping(&table, &[z], 20);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| mixture.score(&table).unwrap())
        };
        assert_eq!(on(1), on(3));
        let all: Vec<u32> = (0..3000).collect();
        assert_eq!(mixture.on_tasks(&all).score(&table.on_tasks(&all)).unwrap(), on(1));
    }
}
