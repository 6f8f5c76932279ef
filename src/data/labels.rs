//! Labels of a crowd: who said what about which task, in a few bytes per report.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use rayon::prelude::*;

use super::ids::Ids;

/// Number of a label: below `LabelTable::label_count` for labels that people gave, at or above
/// it for labels that only Z or the truth has.
pub type Label = u16;

/// Most distinct labels, Z and truth included.
pub const MAX_LABELS: usize = 1 << 16;

/// One report: worker `worker` says that task `task` has label `label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelReport {
    /// Number of the task.
    pub task: u32,
    /// Number of the worker.
    pub worker: u32,
    /// Number of the label, in S.
    pub label: Label,
}

/// All reports of a crowd, at most one per task and worker.
///
/// Stored as compressed sparse rows by task, and by worker as soon as somebody asks: 6 bytes per report each.
/// Inside a task the reports are sorted by worker number, inside a worker by task number, so that sums run
/// in the same order whatever the order of the input.
#[derive(Debug, Clone)]
pub struct LabelTable {
    tasks: Ids,
    workers: Ids,
    labels: Ids,
    by_task: Rows,
    worker_count: usize,
    /// See [`LabelTable::index_workers`].
    by_worker: OnceLock<Rows>,
}

impl PartialEq for LabelTable {
    fn eq(&self, other: &Self) -> bool {
        let Self { tasks, workers, labels, by_task, worker_count, by_worker: _ } = self;
        (tasks, workers, labels) == (&other.tasks, &other.workers, &other.labels)
            && (by_task, worker_count) == (&other.by_task, &other.worker_count)
    }
}

impl Eq for LabelTable {}

/// Compressed sparse rows: row `r` holds `entries[offsets[r]..offsets[r + 1]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rows {
    offsets: Vec<u32>,
    others: Vec<u32>,
    labels: Vec<Label>,
}

impl Rows {
    fn row(&self, row: u32) -> Reports<'_> {
        let range = self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize;
        Reports { others: &self.others[range.clone()], labels: &self.labels[range] }
    }

    /// The offsets of every `size` rows, with the next one, and their entries.
    fn split(&mut self, size: usize) -> Vec<(&[u32], &mut [u32], &mut [Label])> {
        let rows = self.offsets.len() - 1;
        let (mut others, mut labels) = (&mut self.others[..], &mut self.labels[..]);
        let mut parts = Vec::new();
        for first in (0..rows).step_by(size.max(1)) {
            let offsets = &self.offsets[first..=(first + size).min(rows)];
            let count = (offsets[offsets.len() - 1] - offsets[0]) as usize;
            let (others_of_part, rest) = others.split_at_mut(count);
            others = rest;
            let (labels_of_part, rest) = labels.split_at_mut(count);
            labels = rest;
            parts.push((offsets, others_of_part, labels_of_part));
        }
        parts
    }
}

/// The reports on one task, or those of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reports<'a> {
    /// Workers of the task, or tasks of the worker, ascending.
    pub(crate) others: &'a [u32],
    /// The labels, in the same order.
    pub labels: &'a [Label],
}

impl<'a> Reports<'a> {
    /// Pairs of worker (or task) and label.
    pub(crate) fn iter(
        self,
    ) -> impl ExactSizeIterator<Item = (u32, Label)> + DoubleEndedIterator + Clone + 'a {
        self.others.iter().copied().zip(self.labels.iter().copied())
    }

    /// How many reports there are.
    pub(crate) fn len(self) -> usize {
        self.others.len()
    }

    /// Whether there is no report.
    pub(crate) fn is_empty(self) -> bool {
        self.others.is_empty()
    }
}

/// The names behind the numbers of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelNames {
    /// Names of the tasks.
    pub tasks: Ids,
    /// Names of the workers.
    pub workers: Ids,
    /// The label set S.
    pub labels: Ids,
}

/// Some tasks of a [`LabelTable`], in a table of the workers and labels that they have.
#[derive(Debug, Clone)]
pub(crate) struct TablePart {
    /// The table; its tasks and workers have no names.
    pub table: LabelTable,
    /// Numbers of its workers in the whole table, ascending.
    pub workers: Vec<u32>,
    /// Numbers of its labels in the whole table, ascending.
    pub labels: Vec<Label>,
}

impl LabelTable {
    /// A table of `reports`, in any order. Of several reports of one worker on one task the last
    /// one counts; a reader that finds this wrong checks before.
    ///
    /// # Panics
    ///
    /// If a number in a report has no name, or there are 2^32 reports or more.
    pub fn new(names: LabelNames, reports: &[LabelReport]) -> Self {
        let by_task = by_task(&names, &[reports]);
        Self::of_tasks(names, by_task)
    }

    /// The same of reports in parts, one after another; they are gone before the second index is made.
    pub(super) fn of_parts(names: LabelNames, parts: Vec<Vec<LabelReport>>) -> Self {
        let by_task = by_task(&names, &parts);
        drop(parts);
        Self::of_tasks(names, by_task)
    }

    fn of_tasks(names: LabelNames, by_task: Rows) -> Self {
        let LabelNames { tasks, workers, labels } = names;
        let worker_count = workers.len();
        Self { tasks, workers, labels, by_task, worker_count, by_worker: OnceLock::new() }
    }

    /// Sorts the reports by worker, on all cores: whoever goes through them by worker says so before, and
    /// not from within a parallel loop. Where nobody did, the first who asks for a worker does it alone.
    pub(crate) fn index_workers(&self) {
        if self.by_worker.get().is_none() {
            // Not inside `get_or_init`: a thread that waits there takes other work, which might ask for it too.
            let threads = threads(self.report_count());
            let _ = self.by_worker.set(transposed(&self.by_task, self.worker_count, threads));
        }
    }

    fn by_worker(&self) -> &Rows {
        // On one core: see above.
        self.by_worker.get_or_init(|| transposed(&self.by_task, self.worker_count, 1))
    }

    /// Names of the tasks.
    pub fn tasks(&self) -> &Ids {
        &self.tasks
    }

    /// Names of the workers.
    pub fn workers(&self) -> &Ids {
        &self.workers
    }

    /// Names of the labels that people gave, the set S.
    pub fn labels(&self) -> &Ids {
        &self.labels
    }

    /// Number of tasks, those without a report included.
    pub fn task_count(&self) -> usize {
        self.by_task.offsets.len() - 1
    }

    /// Number of workers, those without a report included.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Size of the label set S.
    pub(crate) fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// Number of reports.
    pub fn report_count(&self) -> usize {
        self.by_task.others.len()
    }

    /// Reports on `task`, by worker number.
    pub fn of_task(&self, task: u32) -> Reports<'_> {
        self.by_task.row(task)
    }

    /// Reports of `worker`, by task number.
    pub(crate) fn of_worker(&self, worker: u32) -> Reports<'_> {
        self.by_worker().row(worker)
    }

    /// Position of the first report of `task` in an array with one entry per report, ordered as
    /// the reports of task 0, of task 1, and so on.
    pub(crate) fn task_start(&self, task: u32) -> usize {
        self.by_task.offsets[task as usize] as usize
    }

    /// As [`Self::task_start`] for the reports of worker 0, of worker 1, and so on.
    #[cfg(test)]
    pub(crate) fn worker_start(&self, worker: u32) -> usize {
        self.by_worker().offsets[worker as usize] as usize
    }

    /// By worker: how many of the tasks that they answered are such.
    pub(crate) fn count_of_workers(&self, is_such: impl Fn(u32) -> bool) -> Vec<usize> {
        let mut counts = vec![0; self.worker_count()];
        // By task, since what is asked of them then lies side by side.
        for task in (0..self.task_count() as u32).filter(|&task| is_such(task)) {
            self.of_task(task).others.iter().for_each(|&worker| counts[worker as usize] += 1);
        }
        counts
    }

    /// All reports by task, then by worker.
    pub(crate) fn reports(&self) -> impl Iterator<Item = LabelReport> + '_ {
        (0..self.task_count() as u32).flat_map(move |task| {
            self.of_task(task).iter().map(move |(worker, label)| LabelReport {
                task,
                worker,
                label,
            })
        })
    }

    /// The reports on some tasks as a table of their own, with the workers and labels that they have.
    ///
    /// # Panics
    ///
    /// If there is no such task.
    #[must_use]
    pub(crate) fn part(&self, tasks: &[u32]) -> TablePart {
        let on_tasks = self.on_tasks(tasks);
        let mut workers: Vec<u32> = on_tasks.by_task.others.clone();
        let mut labels: Vec<Label> = on_tasks.by_task.labels.clone();
        workers.sort_unstable();
        workers.dedup();
        labels.sort_unstable();
        labels.dedup();
        let mut by_task = on_tasks.by_task;
        for worker in &mut by_task.others {
            *worker = workers.binary_search(worker).expect("it was just listed") as u32;
        }
        for label in &mut by_task.labels {
            *label = labels.binary_search(label).expect("it was just listed") as Label;
        }
        let mut names = Ids::default();
        for label in &labels {
            names.intern(self.labels.name(u32::from(*label)));
        }
        let table = Self {
            tasks: Ids::default(),
            workers: Ids::default(),
            labels: names,
            by_task,
            worker_count: workers.len(),
            by_worker: OnceLock::new(),
        };
        TablePart { table, workers, labels }
    }

    /// The table whose task `t` is task `tasks[t]` of this one; a task may occur several times,
    /// as in a bootstrap sample. Its tasks have no names.
    ///
    /// # Panics
    ///
    /// If there is no such task, or the new table would have 2^32 reports or more.
    #[must_use]
    pub(crate) fn on_tasks(&self, tasks: &[u32]) -> Self {
        let mut by_task = Rows::default();
        by_task.offsets.push(0);
        for &task in tasks {
            let reports = self.of_task(task);
            by_task.others.extend_from_slice(reports.others);
            by_task.labels.extend_from_slice(reports.labels);
            let end = u32::try_from(by_task.others.len()).expect("fewer than 2^32 reports");
            by_task.offsets.push(end);
        }
        Self {
            tasks: Ids::new(),
            workers: self.workers.clone(),
            labels: self.labels.clone(),
            by_task,
            worker_count: self.worker_count,
            by_worker: OnceLock::new(),
        }
    }
}

/// The reports of each task by worker; of several of one worker the last.
fn by_task<P: AsRef<[LabelReport]> + Sync>(names: &LabelNames, parts: &[P]) -> Rows {
    let count: usize = parts.iter().map(|part| part.as_ref().len()).sum();
    assert!(u32::try_from(count).is_ok(), "fewer than 2^32 reports");
    let of_threads = parts.len().div_ceil(threads(count)).max(1);
    let chunks: Vec<Parts<'_, P>> = parts.chunks(of_threads).map(Parts).collect();
    let mut rows = sorted(&chunks, (names.tasks.len(), count));
    let (workers, labels) = (names.workers.len(), names.labels.len());
    let size = rows_per_thread(names.tasks.len(), count);
    let repeats = rows.split(size).into_par_iter().map(|(offsets, others, labels_of)| {
        let mut pairs: Vec<(u32, Label)> = Vec::new();
        let mut repeats = false;
        for ends in offsets.windows(2) {
            let row = (ends[0] - offsets[0]) as usize..(ends[1] - offsets[0]) as usize;
            let (others, labels_of) = (&mut others[row.clone()], &mut labels_of[row]);
            if !others.is_sorted() {
                pairs.clear();
                pairs.extend(others.iter().copied().zip(labels_of.iter().copied()));
                // Stable, so that the last one stays the last.
                pairs.sort_by_key(|(worker, _)| *worker);
                for ((other, label), pair) in others.iter_mut().zip(&mut *labels_of).zip(&pairs) {
                    (*other, *label) = *pair;
                }
            }
            let have_names = others.last().is_none_or(|last| (*last as usize) < workers)
                && labels_of.iter().all(|label| usize::from(*label) < labels);
            assert!(have_names, "every number has a name");
            repeats |= others.windows(2).any(|pair| pair[0] == pair[1]);
        }
        repeats
    });
    let repeats = repeats.reduce(|| false, |a, b| a | b);
    if repeats { without_repeats(rows) } else { rows }
}

/// On how many cores so many entries are worth it.
fn threads(entries: usize) -> usize {
    const WORTH_A_THREAD: usize = if cfg!(test) { 4 } else { 1 << 16 };
    rayon::current_num_threads().min(1 + entries / WORTH_A_THREAD)
}

/// How many rows a thread takes: few entries are not worth a second one.
pub(crate) fn rows_per_thread(rows: usize, entries: usize) -> usize {
    rows.div_ceil(threads(entries)).max(1)
}

/// Reports that are gone through one after another, as often as it takes.
trait Entries: Sync {
    /// Row, place within it, and label of each.
    fn each(&self, visit: impl FnMut(u32, u32, Label));
}

/// Reports by task, in parts.
struct Parts<'a, P>(&'a [P]);

impl<P: AsRef<[LabelReport]> + Sync> Entries for Parts<'_, P> {
    fn each(&self, mut visit: impl FnMut(u32, u32, Label)) {
        for part in self.0 {
            part.as_ref().iter().for_each(|report| visit(report.task, report.worker, report.label));
        }
    }
}

/// The entries of some rows by the other index.
struct Transposed<'a> {
    rows: &'a Rows,
    some: Range<u32>,
}

impl Entries for Transposed<'_> {
    fn each(&self, mut visit: impl FnMut(u32, u32, Label)) {
        // Loops, not one iterator out of many: that takes several times as long.
        for row in self.some.clone() {
            let Reports { others, labels } = self.rows.row(row);
            for (other, label) in others.iter().zip(labels) {
                visit(*other, row, *label);
            }
        }
    }
}

/// Stable counting sort by row, a thread a chunk.
fn sorted<E: Entries>(chunks: &[E], (rows, count): (usize, usize)) -> Rows {
    let counted = |chunk: &E| {
        let mut counts = vec![0_u32; rows];
        chunk.each(|row, _, _| counts[row as usize] += 1);
        counts
    };
    // By chunk and row the place of the next entry.
    let mut next: Vec<Vec<u32>> = in_parallel(chunks.iter().collect(), counted);
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut end = 0;
    offsets.push(0);
    for row in 0..rows {
        for counts in &mut next {
            end += std::mem::replace(&mut counts[row], end);
        }
        offsets.push(end);
    }
    // Every thread writes to places of its own all over the place; to store at ease is what atomics can, too.
    let others: Vec<AtomicU32> = vec![0; count].into_iter().map(AtomicU32::new).collect();
    let labels: Vec<AtomicU16> = vec![0; count].into_iter().map(AtomicU16::new).collect();
    in_parallel(chunks.iter().zip(&mut next).collect(), |(chunk, next)| {
        chunk.each(|row, other, label| {
            let place = next[row as usize] as usize;
            others[place].store(other, Ordering::Relaxed);
            labels[place].store(label, Ordering::Relaxed);
            next[row as usize] += 1;
        });
    });
    let others = others.into_iter().map(AtomicU32::into_inner).collect();
    let labels = labels.into_iter().map(AtomicU16::into_inner).collect();
    Rows { offsets, others, labels }
}

/// Works on each part on a core of its own, on one part right here; the results in the order of the parts.
fn in_parallel<T: Send, R: Send>(parts: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if parts.len() <= 1 {
        parts.into_iter().map(work).collect()
    } else {
        parts.into_par_iter().map(work).collect()
    }
}

/// The same entries by the other index, on so many cores; inside a row they are in the order of the old rows.
fn transposed(rows: &Rows, others: usize, threads: usize) -> Rows {
    let count = rows.offsets.len() as u32 - 1;
    let size = count.div_ceil(threads as u32).max(1);
    let starts = (0..count).step_by(size as usize);
    let some = |start: u32| Transposed { rows, some: start..(start + size).min(count) };
    sorted(&starts.map(some).collect::<Vec<_>>(), (others, rows.others.len()))
}

/// Keeps the last of equal neighbours of each row.
fn without_repeats(mut rows: Rows) -> Rows {
    let mut kept = 0;
    for row in 0..rows.offsets.len() - 1 {
        let range = rows.offsets[row] as usize..rows.offsets[row + 1] as usize;
        // The start of this row has been overwritten by the end of the row before.
        rows.offsets[row] = kept as u32;
        for position in range.clone() {
            let repeated =
                position + 1 < range.end && rows.others[position] == rows.others[position + 1];
            if !repeated {
                rows.others[kept] = rows.others[position];
                rows.labels[kept] = rows.labels[position];
                kept += 1;
            }
        }
    }
    if let Some(last) = rows.offsets.last_mut() {
        *last = kept as u32;
    }
    rows.others.truncate(kept);
    rows.labels.truncate(kept);
    rows
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table from `(task, worker, label)` names.
    pub(crate) fn table(reports: &[(&str, &str, &str)]) -> LabelTable {
        let mut names = LabelNames::default();
        let reports: Vec<LabelReport> = reports
            .iter()
            .map(|(task, worker, label)| LabelReport {
                task: names.tasks.intern(task),
                worker: names.workers.intern(worker),
                label: Label::try_from(names.labels.intern(label)).unwrap(),
            })
            .collect();
        LabelTable::new(names, &reports)
    }

    #[test]
    fn reports_are_found_by_task_and_by_worker_in_order() {
        let table = table(&[("q", "b", "x"), ("r", "a", "y"), ("q", "a", "y")]);
        assert_eq!(table.of_task(0).iter().collect::<Vec<_>>(), [(0, 0), (1, 1)]);
        assert_eq!(table.of_worker(1).iter().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        assert_eq!((table.task_count(), table.worker_count(), table.label_count()), (2, 2, 2));
        assert_eq!((table.task_start(1), table.worker_start(1)), (2, 1));
    }

    #[test]
    fn the_last_of_repeated_reports_counts() {
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("r", "a", "x"),
            ("q", "a", "y"),
            ("r", "a", "y"),
        ]);
        assert_eq!(table.report_count(), 3);
        assert_eq!(table.of_worker(0).labels, [1, 1]);
        assert_eq!(table.of_task(0).labels, [1, 0]);
    }

    proptest::proptest! {
        #[test]
        fn a_table_is_the_last_report_of_each_pair_whatever_the_parts(
            reports in proptest::collection::vec((0..5_u32, 0..6_u32, 0..3_u16), 0..40),
            cut in 0..40_usize,
        ) {
            let names = LabelNames {
                tasks: ["q", "r", "s", "t", "u"].iter().collect(),
                workers: ["a", "b", "c", "d", "e", "f"].iter().collect(),
                labels: ["x", "y", "z"].iter().collect(),
            };
            let report = |&(task, worker, label): &(u32, u32, Label)| LabelReport { task, worker, label };
            let last: std::collections::BTreeMap<(u32, u32), Label> =
                reports.iter().map(|&(task, worker, label)| ((task, worker), label)).collect();
            let all: Vec<LabelReport> = reports.iter().map(report).collect();
            let (first, second) = all.split_at(cut.min(all.len()));
            let table = LabelTable::of_parts(names.clone(), vec![first.to_vec(), second.to_vec()]);
            let want = last.iter().map(|(&(task, worker), &label)| LabelReport { task, worker, label });
            proptest::prop_assert!(table.reports().eq(want));
            for worker in 0..6 {
                let of_worker = last.iter().filter(|((_, other), _)| *other == worker);
                let want = of_worker.map(|(&(task, _), &label)| (task, label));
                proptest::prop_assert!(table.of_worker(worker).iter().eq(want));
            }
            proptest::prop_assert_eq!(LabelTable::new(names, &all), table);
        }
    }

    #[test]
    fn a_resampled_table_repeats_and_drops_tasks() {
        let table = table(&[("q", "a", "x"), ("r", "b", "y"), ("r", "a", "y")]);
        let resampled = table.on_tasks(&[1, 1]);
        assert_eq!(resampled.task_count(), 2);
        assert_eq!(resampled.worker_count(), 2);
        assert_eq!(resampled.of_worker(0).iter().collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    }
}
