//! Reads the labels of a crowd, the labels of LLMs (Z), and the truth.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::collections::HashMap;

use super::duplicates::Duplicates;
use super::ids::Ids;
use super::labels::{Label, LabelNames, LabelReport, LabelTable, MAX_LABELS};
use super::plain::read_plain_reports;
use super::problem::{DataError, Problems};
use super::rows::{Column, FileProblems, Row, read_rows};
use super::source::Source;
use super::warning::{Warning, first_names};
use super::z::{ZLabels, ZSample, ZSource};

const TASK: Column = Column {
    name: "task",
    synonyms: &["question", "item", "example", "unit", "task_id"],
    required: true,
};
const WORKER: Column = Column {
    name: "worker",
    synonyms: &["annotator", "performer", "user", "worker_id"],
    required: true,
};
const LABEL: Column =
    Column { name: "label", synonyms: &["answer", "response", "value"], required: true };
const TRUTH: Column =
    Column { name: "truth", synonyms: &["gold", "true_label", "gold_label"], required: true };
const SOURCE: Column = Column { name: "source", synonyms: &["model"], required: false };
const SAMPLE: Column = Column { name: "sample", synonyms: &[], required: false };

/// The files of a run.
#[derive(Debug, Clone, Copy)]
pub struct LabelFiles<'a> {
    /// Reports of the crowd: `task`, `worker`, `label`.
    pub labels: &'a Source,
    /// Labels of LLMs: `task`, `label`, optionally `source` and `sample`.
    pub z: &'a [Source],
    /// `task`, `truth`.
    pub truth: Option<&'a Source>,
}

/// What was read, with what the reader has to say about it.
#[derive(Debug, Clone)]
pub struct LoadedLabels {
    /// The reports.
    pub table: LabelTable,
    /// Z, under the numbers of the table.
    pub z: ZLabels,
    /// The true label of each task, by task number, where it is known; numbers as in
    /// [`ZLabels::labels`].
    pub truth: Option<Vec<Option<Label>>>,
    /// Rows read from the labels, then from every file of Z, then from the truth.
    pub rows: Vec<u64>,
    /// What was dropped or is missing.
    pub warnings: Vec<Warning>,
}

/// Reads the labels of a crowd, any number of files of Z, and the truth, and checks them together.
///
/// Labels are compared as text without the white space around it. A Z without `source` is named
/// after its file. Z and truth of tasks that nobody labelled are dropped with a warning. A label
/// that only Z has is kept, with a warning, as a stratum of its own.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of every file.
pub fn read_labels(
    files: &LabelFiles<'_>,
    duplicates: Duplicates,
) -> Result<LoadedLabels, DataError> {
    let mut problems = Problems::new();
    let (table, mut read) = read_crowd(files.labels, duplicates, &mut problems);
    let mut loader = Loader {
        all_labels: table.labels().clone(),
        table: &table,
        duplicates,
        sources: Vec::new(),
        unknown_tasks: Ids::new(),
        unknown_rows: 0,
        dropped: read.dropped,
    };
    let mut rows = vec![read.rows];
    for source in files.z {
        rows.push(loader.read_z(source, &mut problems));
    }
    let truth = files.truth.map(|source| {
        let (truth, read) = loader.read_truth(source, &mut problems);
        rows.push(read);
        truth
    });
    problems.into_result()?;
    read.warnings.extend(loader.warnings());
    let z = ZLabels {
        sources: loader.sources.into_iter().map(|source| source.z).collect(),
        labels: loader.all_labels,
    };
    Ok(LoadedLabels { table, z, truth, rows, warnings: read.warnings })
}

/// What reading the crowd had to say.
#[derive(Default)]
struct ReadCrowd {
    rows: u64,
    dropped: usize,
    warnings: Vec<Warning>,
}

fn read_crowd(
    source: &Source,
    duplicates: Duplicates,
    problems: &mut Problems,
) -> (LabelTable, ReadCrowd) {
    let mut plain = read_plain_reports(source, &[TASK, WORKER, LABEL]);
    if let Some((names, mut reports)) = plain.take() {
        if duplicates == Duplicates::First {
            // The table keeps the last.
            reports.reverse();
        }
        let rows = reports.len();
        let table = LabelTable::new(names, &reports);
        let dropped = rows - table.report_count();
        if dropped == 0 || duplicates != Duplicates::Error {
            return (table, ReadCrowd { rows: rows as u64, dropped, warnings: Vec::new() });
        }
        // Otherwise read again, to name the lines.
    }
    read_crowd_by_row(source, duplicates, problems)
}

/// Reads row by row, remembering where each report was.
fn read_crowd_by_row(
    source: &Source,
    duplicates: Duplicates,
    problems: &mut Problems,
) -> (LabelTable, ReadCrowd) {
    let mut names = LabelNames::default();
    let mut reports: Vec<LabelReport> = Vec::new();
    let mut seen: HashMap<(u32, u32), (usize, u64)> = HashMap::new();
    let mut dropped = 0;
    let mut problems = FileProblems::new(source, problems);
    let rows = read_rows(source, &[TASK, WORKER, LABEL], &mut problems, &mut |row, problems| {
        let Some(task) = row.name(0, &TASK, problems) else { return };
        let Some(worker) = row.name(1, &WORKER, problems) else { return };
        let Some(label) = row.name(2, &LABEL, problems) else { return };
        let Some(number) = intern_label(&mut names.labels, &label, row, problems) else { return };
        let key = (names.tasks.intern(&task), names.workers.intern(&worker));
        let report = LabelReport { task: key.0, worker: key.1, label: number };
        let (position, line) = *seen.entry(key).or_insert((reports.len(), row.line));
        if position == reports.len() {
            reports.push(report);
            return;
        }
        dropped += 1;
        duplicates.settle(&mut reports[position], report, || {
            let who = format!("worker `{worker}` has a second label for `{task}`");
            problems.report(Some(row.line), None, second(&who, line));
        });
    });
    (LabelTable::new(names, &reports), ReadCrowd { rows, dropped, warnings: Vec::new() })
}

fn second(who: &str, first_line: u64) -> String {
    format!("{who} (the first is in line {first_line}); remove one, or use --duplicates first|last")
}

fn intern_label(
    labels: &mut Ids,
    label: &str,
    row: &Row<'_>,
    problems: &mut FileProblems<'_>,
) -> Option<Label> {
    if labels.len() == MAX_LABELS && labels.get(label).is_none() {
        let message = format!(
            "is the label number {}, at most {MAX_LABELS} are possible; \
             labels are categories, not free text",
            MAX_LABELS + 1
        );
        problems.report(Some(row.line), Some(LABEL.name), message);
        return None;
    }
    Label::try_from(labels.intern(label)).ok()
}

/// Reads what refers to the tasks of a crowd.
struct Loader<'a> {
    table: &'a LabelTable,
    /// S, then the labels that only Z or the truth has.
    all_labels: Ids,
    duplicates: Duplicates,
    sources: Vec<ReadSource>,
    unknown_tasks: Ids,
    unknown_rows: usize,
    dropped: usize,
}

struct ReadSource {
    z: ZSource,
    /// Number of the file, from 0.
    file: usize,
    /// Line of each label, per sample.
    lines: Vec<Vec<u64>>,
}

impl Loader<'_> {
    fn read_z(&mut self, source: &Source, problems: &mut Problems) -> u64 {
        let mut problems = FileProblems::new(source, problems);
        let stem = source.stem();
        let file = self.sources.iter().map(|source| source.file + 1).max().unwrap_or(0);
        let schema = [TASK, LABEL, SOURCE, SAMPLE];
        read_rows(source, &schema, &mut problems, &mut |row, problems| {
            let Some(task) = row.name(0, &TASK, problems) else { return };
            let Some(label) = row.name(1, &LABEL, problems) else { return };
            let origin = row.fields[2].as_name().map_or_else(|| stem.clone(), Into::into);
            let sample = row.fields[3].as_name().map(String::from).unwrap_or_default();
            // Before the task is looked up: a source without any known task is a source, too.
            let (index, sample_index) = self.position(&origin, &sample, file);
            let Some(task_id) = self.table.tasks().get(&task) else {
                self.unknown_tasks.intern(&task);
                self.unknown_rows += 1;
                return;
            };
            let all_labels = &mut self.all_labels;
            let Some(label) = intern_label(all_labels, &label, row, problems) else { return };
            let source = &mut self.sources[index];
            if source.file != file {
                let message = format!(
                    "`{origin}` is the name of a source in an earlier file of Z; \
                     give the files different names, or their rows a `source`"
                );
                problems.report(Some(row.line), Some("source"), message);
                return;
            }
            let line = &mut source.lines[sample_index][task_id as usize];
            let slot = &mut source.z.samples[sample_index].labels[task_id as usize];
            if slot.is_none() {
                (*slot, *line) = (Some(label), row.line);
                return;
            }
            self.dropped += 1;
            self.duplicates.settle(slot, Some(label), || {
                let who = format!(
                    "`{origin}` has a second label for `{task}`; \
                     number independent ones in a column `sample`"
                );
                problems.report(Some(row.line), None, second(&who, *line));
            });
        })
    }

    /// Where the labels of a source and sample go, new if they were not seen before.
    fn position(&mut self, origin: &str, sample: &str, file: usize) -> (usize, usize) {
        let tasks = self.table.task_count();
        let found = self.sources.iter().position(|source| source.z.name == origin);
        let index = found.unwrap_or_else(|| {
            let z = ZSource { name: origin.into(), samples: Vec::new() };
            self.sources.push(ReadSource { z, file, lines: Vec::new() });
            self.sources.len() - 1
        });
        let source = &mut self.sources[index];
        let found = source.z.samples.iter().position(|known| known.name == sample);
        let sample = found.unwrap_or_else(|| {
            source.z.samples.push(ZSample { name: sample.into(), labels: vec![None; tasks] });
            source.lines.push(vec![0; tasks]);
            source.lines.len() - 1
        });
        (index, sample)
    }

    fn read_truth(
        &mut self,
        source: &Source,
        problems: &mut Problems,
    ) -> (Vec<Option<Label>>, u64) {
        let mut truth = vec![None; self.table.task_count()];
        let mut lines = vec![0; truth.len()];
        let mut problems = FileProblems::new(source, problems);
        let rows = read_rows(source, &[TASK, TRUTH], &mut problems, &mut |row, problems| {
            let Some(task) = row.name(0, &TASK, problems) else { return };
            let Some(label) = row.name(1, &TRUTH, problems) else { return };
            let Some(id) = self.table.tasks().get(&task) else {
                self.unknown_tasks.intern(&task);
                self.unknown_rows += 1;
                return;
            };
            let labels = &mut self.all_labels;
            let Some(label) = intern_label(labels, &label, row, problems) else { return };
            let (slot, line) = (&mut truth[id as usize], &mut lines[id as usize]);
            if slot.is_none() {
                (*slot, *line) = (Some(label), row.line);
                return;
            }
            self.dropped += 1;
            self.duplicates.settle(slot, Some(label), || {
                let who = format!("task `{task}` has a second truth");
                problems.report(Some(row.line), None, second(&who, *line));
            });
        });
        (truth, rows)
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |code, names: &[&str], count: usize, message: String| {
            if count > 0 {
                let names = if names.is_empty() { "" } else { &first_names(names) };
                let separator = if names.is_empty() { "" } else { ": " };
                warnings.push(Warning::new(code, count, format!("{message}{separator}{names}")));
            }
        };
        let message = format!("{} duplicate labels were dropped", self.dropped);
        warn("duplicates_dropped", &[], self.dropped, message);
        let count = self.unknown_rows;
        let message = format!(
            "{count} rows of Z or truth are of {} tasks that nobody labelled",
            self.unknown_tasks.len()
        );
        let unknown: Vec<&str> = self.unknown_tasks.names().iter().map(String::as_str).collect();
        warn("z_of_unknown_tasks", &unknown, count, message);
        let outside: Vec<&str> = self.labels_outside().map(|l| self.all_labels.name(l)).collect();
        let message = format!(
            "{} labels of Z are outside the label set of the crowd; each is a stratum of its own",
            outside.len()
        );
        warn("z_labels_outside", &outside, outside.len(), message);
        let tasks = self.table.task_count();
        for source in &self.sources {
            let labels = source.z.conditioning();
            let without: Vec<&str> = (0..tasks)
                .filter(|&task| labels[task].is_none())
                .map(|task| self.table.tasks().name(task as u32))
                .collect();
            let message = format!(
                "{} of {tasks} tasks have no Z of `{}` and are left out of the scores that need it",
                without.len(),
                source.z.name
            );
            warn("tasks_without_z", &without, without.len(), message);
        }
        let single: Vec<&str> = (0..tasks as u32)
            .filter(|&task| self.table.of_task(task).len() == 1)
            .map(|task| self.table.tasks().name(task))
            .collect();
        let message =
            format!("{} tasks have a single label, which no peer can support", single.len());
        warn("tasks_with_one_label", &single, single.len(), message);
        warnings
    }

    /// Labels that Z has and the crowd has not, by number.
    fn labels_outside(&self) -> impl Iterator<Item = u32> {
        let mut used = vec![false; self.all_labels.len()];
        let samples = self.sources.iter().flat_map(|source| &source.z.samples);
        for &label in samples.flat_map(|sample| sample.labels.iter().flatten()) {
            used[usize::from(label)] = true;
        }
        (self.table.label_count()..used.len()).filter(move |&l| used[l]).map(|l| l as u32)
    }
}

#[cfg(test)]
mod tests;
