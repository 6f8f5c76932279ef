//! The arithmetic that latent class models share: reports grouped in cells, the E-step over
//! tasks, the sums of the M-step over workers.
//!
//! A *cell* holds the reports of one worker with one label in one *context*. A context is what
//! the model knows about a task before it sees a report: nothing for Dawid and Skene (a single
//! context), the label of Z for the copy mixture. Given the true class, all reports of a cell
//! have the same probability, so a model is a table of log probabilities, cell by class, and a
//! table of log weights, context by class:
//!
//! `P(class h | task q) ∝ exp( context_weight[context(q), h] + Σ over reports r of q of
//! weight[cell(r), h] )`
//!
//! The E-step runs over tasks in parallel, the M-step over workers; every sum runs in the order
//! of the table, so the result does not depend on the number of threads. Memory: 8 bytes per
//! report, 8 bytes per cell and class, 8 bytes per task and class.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

use rayon::prelude::*;

use super::MechanismError;
use crate::data::labels::{Label, LabelTable};

/// Most bytes that the tables of a fit may take: 4 GiB. Larger ones are refused before the work
/// starts rather than end in a crash for want of memory.
pub(crate) const MAX_STATE_BYTES: usize = 1 << 32;

/// Tasks per piece of the parallel E-step, a constant so that sums are split the same way on
/// every machine.
const TASKS_PER_PIECE: usize = 1024;

/// Workers whose cells a thread makes at a time.
const WORKERS_PER_PIECE: usize = 256;

/// Reports of a table grouped by worker, label and context.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    classes: usize,
    contexts: usize,
    context_of_task: Vec<u32>,
    /// Reports of task `q` are `task_offsets[q]..task_offsets[q + 1]`.
    task_offsets: Vec<u32>,
    /// Cell of each report, in the order of the tasks.
    cell_of_report: Vec<u32>,
    /// Cells of worker `i` are `worker_offsets[i]..worker_offsets[i + 1]`, by label, then context.
    worker_offsets: Vec<u32>,
    /// Tasks of cell `c` are `tasks[cell_offsets[c]..cell_offsets[c + 1]]`.
    cell_offsets: Vec<u32>,
    tasks: Vec<u32>,
    kind: Vec<CellKind>,
}

/// What the reports of a cell have in common, besides the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellKind {
    pub(super) label: Label,
    pub(super) context: u32,
}

/// The cells of consecutive workers, numbered from 0.
struct Piece {
    /// Where the cells of each worker end.
    worker_ends: Vec<u32>,
    /// Where the tasks of each cell start.
    cell_starts: Vec<u32>,
    kind: Vec<CellKind>,
    tasks: Vec<u32>,
}

impl Piece {
    fn new(table: &LabelTable, workers: &[u32], context_of_task: &[u32]) -> Self {
        let (mut worker_ends, mut cell_starts, mut kind) = (Vec::new(), Vec::new(), Vec::new());
        let (mut tasks, mut reports): (Vec<u32>, Vec<(CellKind, u32)>) = (Vec::new(), Vec::new());
        for &worker in workers {
            let context = |task: u32| context_of_task[task as usize];
            let kinds = table.of_worker(worker);
            let kinds = kinds
                .iter()
                .map(|(task, label)| (CellKind { label, context: context(task) }, task));
            reports.clear();
            reports.extend(kinds);
            // Stable: the tasks of a cell stay ascending.
            reports.sort_by_key(|&(kind, _)| kind);
            for cell in reports.chunk_by(|(a, _), (b, _)| a == b) {
                cell_starts.push(tasks.len() as u32);
                kind.push(cell[0].0);
                tasks.extend(cell.iter().map(|&(_, task)| task));
            }
            worker_ends.push(kind.len() as u32);
        }
        Self { worker_ends, cell_starts, kind, tasks }
    }
}

impl Cells {
    /// Groups the reports of `table`; `context_of_task` has one entry below `contexts` per task.
    ///
    /// Refuses tables whose state would exceed [`MAX_STATE_BYTES`]; `matrices` is how many tables of
    /// class by class the model has besides.
    pub(super) fn new(
        table: &LabelTable,
        context_of_task: Vec<u32>,
        (contexts, matrices): (usize, usize),
    ) -> Result<Self, MechanismError> {
        let mut cells = Self {
            classes: table.label_count(),
            contexts,
            task_offsets: (0..table.task_count() as u32)
                .map(|task| table.task_start(task) as u32)
                .collect(),
            cell_of_report: Vec::new(),
            worker_offsets: Vec::with_capacity(table.worker_count() + 1),
            cell_offsets: Vec::new(),
            tasks: Vec::with_capacity(table.report_count()),
            kind: Vec::new(),
            context_of_task,
        };
        cells.task_offsets.push(table.report_count() as u32);
        cells.worker_offsets.push(0);
        let workers: Vec<u32> = (0..table.worker_count() as u32).collect();
        let pieces: Vec<Piece> = workers
            .par_chunks(WORKERS_PER_PIECE)
            .map(|workers| Piece::new(table, workers, &cells.context_of_task))
            .collect();
        for piece in pieces {
            let first = cells.kind.len() as u32;
            cells.worker_offsets.extend(piece.worker_ends.iter().map(|end| first + end));
            let first = cells.tasks.len() as u32;
            cells.cell_offsets.extend(piece.cell_starts.iter().map(|start| first + start));
            cells.kind.extend(piece.kind);
            cells.tasks.extend(piece.tasks);
        }
        cells.cell_offsets.push(cells.tasks.len() as u32);
        cells.check_size(matrices)?;
        cells.cell_of_report = cells.number_reports(table);
        Ok(cells)
    }

    /// Cell of each report of `table`, in the order of the tasks.
    fn number_reports(&self, table: &LabelTable) -> Vec<u32> {
        let mut numbers = vec![0; table.report_count()];
        let mut rest = numbers.as_mut_slice();
        let mut pieces = Vec::new();
        for first in (0..self.task_count()).step_by(TASKS_PER_PIECE) {
            let end = (first + TASKS_PER_PIECE).min(self.task_count());
            let (piece, others) =
                rest.split_at_mut((self.task_offsets[end] - self.task_offsets[first]) as usize);
            pieces.push((first as u32..end as u32, piece));
            rest = others;
        }
        pieces.into_par_iter().for_each(|(tasks, piece)| {
            let reports = tasks.flat_map(|task| {
                let context = self.context_of_task[task as usize];
                table
                    .of_task(task)
                    .iter()
                    .map(move |(worker, label)| (worker, CellKind { label, context }))
            });
            for (number, (worker, kind)) in piece.iter_mut().zip(reports) {
                let cells = self.of_worker(worker as usize);
                *number =
                    (cells.start + self.kind[cells].partition_point(|&other| other < kind)) as u32;
            }
        });
        numbers
    }

    fn check_size(&self, matrices: usize) -> Result<(), MechanismError> {
        let rows = self.cell_count() + self.task_count() + self.worker_count() + self.contexts;
        let rows = rows.saturating_add(matrices.saturating_mul(self.classes));
        let bytes = rows.saturating_mul(self.classes).saturating_mul(size_of::<f64>());
        if bytes > MAX_STATE_BYTES {
            return Err(MechanismError::TooLarge {
                gibibytes: bytes.div_ceil(1 << 30),
                limit: MAX_STATE_BYTES >> 30,
                classes: self.classes,
            });
        }
        Ok(())
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn contexts(&self) -> usize {
        self.contexts
    }

    pub(super) fn task_count(&self) -> usize {
        self.context_of_task.len()
    }

    pub(super) fn worker_count(&self) -> usize {
        self.worker_offsets.len() - 1
    }

    pub(super) fn cell_count(&self) -> usize {
        self.kind.len()
    }

    /// Numbers of the cells of `worker`.
    pub(super) fn of_worker(&self, worker: usize) -> std::ops::Range<usize> {
        self.worker_offsets[worker] as usize..self.worker_offsets[worker + 1] as usize
    }

    pub(super) fn kind(&self, cell: usize) -> CellKind {
        self.kind[cell]
    }

    /// Tasks of the reports of a cell, ascending.
    pub(super) fn tasks_of(&self, cell: usize) -> &[u32] {
        &self.tasks[self.cell_offsets[cell] as usize..self.cell_offsets[cell + 1] as usize]
    }

    /// Splits a table with one row per cell into one part per worker.
    pub(super) fn split_by_worker<'a>(&self, mut rows: &'a mut [f64]) -> Vec<&'a mut [f64]> {
        let mut parts = Vec::with_capacity(self.worker_count());
        for worker in 0..self.worker_count() {
            let (part, rest) = rows.split_at_mut(self.of_worker(worker).len() * self.classes);
            parts.push(part);
            rows = rest;
        }
        parts
    }

    /// Share of each label in the reports of each task, row-major task by class; a row of zeros
    /// for a task without a report.
    pub(super) fn vote_shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.task_count() * self.classes];
        for task in 0..self.task_count() {
            let cells = self.cells_of_task(task);
            for &cell in cells {
                let label = usize::from(self.kind[cell as usize].label);
                shares[task * self.classes + label] += 1.0 / cells.len() as f64;
            }
        }
        shares
    }

    /// Cells of the reports of `task`, by worker.
    pub(super) fn cells_of_task(&self, task: usize) -> &[u32] {
        &self.cell_of_report[self.task_offsets[task] as usize..self.task_offsets[task + 1] as usize]
    }

    /// Sum of the posteriors of the tasks with a report, row-major context by class.
    pub(super) fn context_sums(&self, posteriors: &[f64]) -> Vec<f64> {
        let classes = self.classes;
        let mut sums = vec![0.0; self.contexts * classes];
        for (task, posterior) in posteriors.chunks_exact(classes).enumerate() {
            if self.task_offsets[task] == self.task_offsets[task + 1] {
                continue;
            }
            let start = self.context_of_task[task] as usize * classes;
            for (sum, probability) in sums[start..start + classes].iter_mut().zip(posterior) {
                *sum += probability;
            }
        }
        sums
    }

    /// Adds the posteriors of `tasks` to `sum`, one entry per class.
    pub(super) fn add_posteriors(&self, tasks: &[u32], posteriors: &[f64], sum: &mut [f64]) {
        match self.classes {
            2 => add_posteriors::<2>(tasks, posteriors, sum),
            3 => add_posteriors::<3>(tasks, posteriors, sum),
            4 => add_posteriors::<4>(tasks, posteriors, sum),
            5 => add_posteriors::<5>(tasks, posteriors, sum),
            classes => {
                for &task in tasks {
                    let start = task as usize * classes;
                    for (sum, probability) in
                        sum.iter_mut().zip(&posteriors[start..start + classes])
                    {
                        *sum += probability;
                    }
                }
            }
        }
    }

    /// The E-step: overwrites `posteriors` (task by class) and returns the log-likelihood.
    ///
    /// `weights` is row-major cell by class, `context_weights` context by class, both logs of
    /// probabilities and so possibly `-inf`; at least one class of every task must be possible.
    pub(super) fn e_step(
        &self,
        weights: &[f64],
        context_weights: &[f64],
        posteriors: &mut [f64],
    ) -> f64 {
        let tables = Tables { weights, context_weights };
        let pieces: Vec<f64> = posteriors
            .par_chunks_mut(TASKS_PER_PIECE * self.classes)
            .enumerate()
            .map(|(piece, posteriors)| {
                let first = piece * TASKS_PER_PIECE;
                match self.classes {
                    2 => self.e_step_piece::<2>(tables, first, posteriors),
                    3 => self.e_step_piece::<3>(tables, first, posteriors),
                    4 => self.e_step_piece::<4>(tables, first, posteriors),
                    5 => self.e_step_piece::<5>(tables, first, posteriors),
                    _ => self.e_step_any(tables, first, posteriors),
                }
            })
            .collect();
        pieces.iter().sum()
    }

    /// The E-step of consecutive tasks with `K` classes, known to the compiler.
    fn e_step_piece<const K: usize>(
        &self,
        tables: Tables<'_>,
        first: usize,
        posteriors: &mut [f64],
    ) -> f64 {
        let (weights, _) = tables.weights.as_chunks::<K>();
        let (context_weights, _) = tables.context_weights.as_chunks::<K>();
        let (posteriors, _) = posteriors.as_chunks_mut::<K>();
        let mut log_likelihood = 0.0;
        for (task, posterior) in (first..).zip(posteriors) {
            let mut sum = context_weights[self.context_of_task[task] as usize];
            for &cell in self.cells_of_task(task) {
                let row = &weights[cell as usize];
                for h in 0..K {
                    sum[h] += row[h];
                }
            }
            log_likelihood += normalize_logs(&mut sum);
            *posterior = sum;
        }
        log_likelihood
    }

    /// The same for any number of classes.
    fn e_step_any(&self, tables: Tables<'_>, first: usize, posteriors: &mut [f64]) -> f64 {
        let classes = self.classes;
        let mut log_likelihood = 0.0;
        for (task, posterior) in (first..).zip(posteriors.chunks_exact_mut(classes)) {
            let context = self.context_of_task[task] as usize * classes;
            posterior.copy_from_slice(&tables.context_weights[context..context + classes]);
            for &cell in self.cells_of_task(task) {
                let row = &tables.weights[cell as usize * classes..][..classes];
                for (sum, weight) in posterior.iter_mut().zip(row) {
                    *sum += weight;
                }
            }
            log_likelihood += normalize_logs(posterior);
        }
        log_likelihood
    }
}

#[derive(Clone, Copy)]
struct Tables<'a> {
    weights: &'a [f64],
    context_weights: &'a [f64],
}

fn add_posteriors<const K: usize>(tasks: &[u32], posteriors: &[f64], sum: &mut [f64]) {
    let (posteriors, _) = posteriors.as_chunks::<K>();
    let mut total = [0.0; K];
    for &task in tasks {
        let row = &posteriors[task as usize];
        for h in 0..K {
            total[h] += row[h];
        }
    }
    for (sum, total) in sum.iter_mut().zip(total) {
        *sum += total;
    }
}

/// A class whose log weight is this far below the largest counts as impossible: its part would be
/// smaller than the smallest number of full precision.
pub const IMPOSSIBLE_BELOW: f64 = -708.0;

/// Turns logs of weights into probabilities; returns the log of the sum of the weights.
#[inline]
pub(super) fn normalize_logs(logs: &mut [f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for log in logs.iter_mut() {
        let shifted = *log - largest;
        *log = if shifted < IMPOSSIBLE_BELOW { 0.0 } else { shifted.exp() };
        total += *log;
    }
    for probability in logs.iter_mut() {
        *probability /= total;
    }
    largest + total.ln()
}

/// Whether an iterative fit may stop: the last step gained at most `tolerance` times the
/// absolute value of the objective, or times 1 where that is smaller. An objective of 0, of a model
/// that explains every label, has no relative gain: rounding alone would decide.
pub fn has_converged(objective: &[f64], tolerance: f64) -> bool {
    match objective {
        [.., before, last] => last - before <= tolerance * last.abs().max(1.0),
        _ => false,
    }
}
