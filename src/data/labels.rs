//! Labels of a crowd: who said what about which task, in a few bytes per report.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

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
/// Stored twice as compressed sparse rows, by task and by worker: 12 bytes per report. Inside a
/// task the reports are sorted by worker number, inside a worker by task number, so that sums run
/// in the same order whatever the order of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelTable {
    tasks: Ids,
    workers: Ids,
    labels: Ids,
    by_task: Rows,
    by_worker: Rows,
}

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
        let by_worker = transposed(&by_task, workers.len());
        Self { tasks, workers, labels, by_task, by_worker }
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
        self.by_worker.offsets.len() - 1
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
        self.by_worker.row(worker)
    }

    /// Position of the first report of `task` in an array with one entry per report, ordered as
    /// the reports of task 0, of task 1, and so on.
    pub(crate) fn task_start(&self, task: u32) -> usize {
        self.by_task.offsets[task as usize] as usize
    }

    /// As [`Self::task_start`] for the reports of worker 0, of worker 1, and so on.
    #[cfg(test)]
    pub(crate) fn worker_start(&self, worker: u32) -> usize {
        self.by_worker.offsets[worker as usize] as usize
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
        let by_worker = transposed(&by_task, workers.len());
        let mut names = Ids::default();
        for label in &labels {
            names.intern(self.labels.name(u32::from(*label)));
        }
        let table = Self {
            tasks: Ids::default(),
            workers: Ids::default(),
            labels: names,
            by_task,
            by_worker,
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
        let by_worker = transposed(&by_task, self.worker_count());
        Self {
            tasks: Ids::new(),
            workers: self.workers.clone(),
            labels: self.labels.clone(),
            by_task,
            by_worker,
        }
    }
}

/// The reports of each task by worker; of several of one worker the last.
fn by_task<P: AsRef<[LabelReport]> + Sync>(names: &LabelNames, parts: &[P]) -> Rows {
    let all = || parts.iter().flat_map(AsRef::as_ref);
    let (count, tasks) = (parts.iter().map(|part| part.as_ref().len()).sum(), names.tasks.len());
    assert!(u32::try_from(count).is_ok(), "fewer than 2^32 reports");
    let has_names = |report: &LabelReport| {
        (report.task as usize) < tasks
            && (report.worker as usize) < names.workers.len()
            && usize::from(report.label) < names.labels.len()
    };
    let all_have = parts.par_iter().all(|part| part.as_ref().par_iter().all(has_names));
    assert!(all_have, "every number has a name");
    let mut rows = sorted(|| all().map(|r| (r.task, r.worker, r.label)), (tasks, count));
    let size = rows_per_thread(tasks, count);
    rows.split(size).into_par_iter().for_each(|(offsets, others, labels)| {
        let mut pairs: Vec<(u32, Label)> = Vec::new();
        for ends in offsets.windows(2) {
            let row = (ends[0] - offsets[0]) as usize..(ends[1] - offsets[0]) as usize;
            let (others, labels) = (&mut others[row.clone()], &mut labels[row]);
            if others.is_sorted() {
                continue;
            }
            pairs.clear();
            pairs.extend(others.iter().copied().zip(labels.iter().copied()));
            // Stable, so that the last one stays the last.
            pairs.sort_by_key(|(worker, _)| *worker);
            for ((other, label), pair) in others.iter_mut().zip(labels).zip(&pairs) {
                (*other, *label) = *pair;
            }
        }
    });
    without_repeats(rows)
}

/// How many rows a thread takes where every one goes through all entries: few entries are not worth a second.
pub(crate) fn rows_per_thread(rows: usize, entries: usize) -> usize {
    const WORTH_A_THREAD: usize = if cfg!(test) { 4 } else { 1 << 16 };
    rows.div_ceil(rayon::current_num_threads().min(1 + entries / WORTH_A_THREAD)).max(1)
}

/// Stable counting sort of `(row, other, label)` by row. Every thread looks at all entries, and takes those
/// of its rows.
fn sorted<I: Iterator<Item = (u32, u32, Label)>>(
    entries: impl Fn() -> I + Sync,
    (rows, count): (usize, usize),
) -> Rows {
    let size = rows_per_thread(rows, count);
    let mut offsets = vec![0_u32; rows + 1];
    let counts = offsets[1..].par_chunks_mut(size).enumerate();
    counts.for_each(|(chunk, counts)| {
        let first = chunk * size;
        entries().for_each(|(row, ..)| {
            if let Some(count) = counts.get_mut((row as usize).wrapping_sub(first)) {
                *count += 1;
            }
        });
    });
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    let mut sorted = Rows { offsets, others: vec![0; count], labels: vec![0; count] };
    sorted.split(size).into_par_iter().enumerate().for_each(
        |(chunk, (offsets, others, labels))| {
            let first = chunk * size;
            let mut next: Vec<u32> =
                offsets[..offsets.len() - 1].iter().map(|o| o - offsets[0]).collect();
            entries().for_each(|(row, other, label)| {
                if let Some(next) = next.get_mut((row as usize).wrapping_sub(first)) {
                    others[*next as usize] = other;
                    labels[*next as usize] = label;
                    *next += 1;
                }
            });
        },
    );
    sorted
}

/// The same entries by the other index; inside a row they are in the order of the old rows.
fn transposed(rows: &Rows, others: usize) -> Rows {
    let entries = || {
        (0..rows.offsets.len() as u32 - 1)
            .flat_map(|row| rows.row(row).iter().map(move |(other, label)| (other, row, label)))
    };
    sorted(entries, (others, rows.others.len()))
}

/// Keeps the last of equal neighbours of each row.
fn without_repeats(mut rows: Rows) -> Rows {
    let repeats = (0..rows.offsets.len() as u32 - 1)
        .into_par_iter()
        .any(|row| rows.row(row).others.windows(2).any(|pair| pair[0] == pair[1]));
    if !repeats {
        return rows;
    }
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
