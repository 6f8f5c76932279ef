//! Reads the labels of a crowd, the labels of LLMs (Z), and the truth.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::duplicates::{Duplicates, second};
use super::ids::{Ids, Place};
use super::label_spelling::Spelling;
use super::labels::{Label, LabelNames, LabelReport, LabelTable, MAX_LABELS};
use super::near::quotable;
use super::plain::{Given, read_plain_given, read_plain_reports};
use super::problem::{DataError, Problems};
use super::rows::{Column, Field, FileProblems, read_rows};
use super::source::Source;
use super::warning::{Warning, first_names, names_alike, names_alike_between, names_rounded};
use super::z::{ZLabels, ZSample, ZSource, by_name};
use crate::data::nouns::{ARE, HAVE, WERE, counted, verb};
use crate::error::Remedy;

/// The name of a task.
pub const TASK: Column = Column {
    name: "task",
    synonyms: &["question", "item", "example", "unit", "task_id"],
    required: true,
};
/// The name of a worker.
pub const WORKER: Column = Column {
    name: "worker",
    synonyms: &["annotator", "performer", "user", "worker_id"],
    required: true,
};
/// What was said of a task.
pub const LABEL: Column =
    Column { name: "label", synonyms: &["answer", "response", "value"], required: true };
pub(super) const TRUTH: Column = Column {
    name: "truth",
    synonyms: &["gold", "true_label", "gold_label", "label"],
    required: true,
};
/// The name of an LLM.
pub const SOURCE: Column = Column { name: "source", synonyms: &["model"], required: false };
/// Which of several answers of an LLM.
pub const SAMPLE: Column = Column { name: "sample", synonyms: &[], required: false };

/// The files of a run.
#[derive(Debug, Clone, Copy)]
pub struct LabelFiles<'a> {
    /// Reports of the crowd: `task`, `worker`, `label`.
    pub labels: &'a Source,
    /// Labels of LLMs: `task`, `label`, optionally `source` and `sample`.
    pub z: &'a [Source],
    /// `task`, `truth`, or `task`, `label`.
    pub truth: Option<&'a Source>,
}

/// How labels are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelReading {
    /// What is done with a second label.
    pub duplicates: Duplicates,
    /// Labels are compared as they are written, and every word is a label. Otherwise spellings that
    /// differ only in case, white space or Unicode form are one label, and `NaN`, `null`, `n/a`,
    /// `#N/A` and `<NA>` stand for a label that is missing.
    pub exact_labels: bool,
    /// Labels are sets, of which `[]` is the one without a label and not a label that is missing.
    #[serde(skip)]
    pub sets: bool,
}

impl From<Duplicates> for LabelReading {
    fn from(duplicates: Duplicates) -> Self {
        Self { duplicates, ..Self::default() }
    }
}

/// What was read, with what the reader has to say about it.
#[derive(Debug, Clone)]
pub struct LoadedLabels {
    /// The reports.
    pub table: LabelTable,
    /// Z, under the numbers of the table.
    pub z: ZLabels,
    /// The true label of each task, by task number, where it is known; numbers as in
    /// `ZLabels::labels`.
    pub truth: Option<Vec<Option<Label>>>,
    /// Rows read from the labels, then from every file of Z, then from the truth.
    pub rows: Vec<u64>,
    /// What was dropped or is missing.
    pub warnings: Vec<Warning>,
}

/// Reads the labels of a crowd, any number of files of Z, and the truth, and checks them together.
///
/// Labels are compared as [`LabelReading`] says, without the white space around them. A Z without `source` is named
/// after its file. Z and truth of tasks that nobody labelled are dropped with a warning. A label
/// that only Z has is kept, with a warning, as a stratum of its own.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of every file.
pub fn read_labels(
    files: &LabelFiles<'_>,
    reading: impl Into<LabelReading>,
) -> Result<LoadedLabels, DataError> {
    let reading = reading.into();
    let duplicates = reading.duplicates;
    let mut problems = Problems::new();
    let mut spelling = Spelling::new(reading);
    let (table, read) = read_crowd(files.labels, duplicates, &mut spelling, &mut problems);
    let mut loader = Loader {
        all_labels: table.labels().clone(),
        table: &table,
        duplicates,
        spelling,
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
    let truth = loader.sort_by_names(truth);
    let mut warnings = loader.warnings(truth.as_deref());
    let kinds = [("tasks", table.tasks()), ("workers", table.workers())];
    warnings.extend(kinds.iter().filter_map(|(what, names)| names_rounded(what, names)));
    let unknown = &loader.unknown_tasks;
    warnings.extend(names_rounded("tasks of Z or truth", unknown));
    let unknown = unknown.names().iter().map(String::as_str);
    warnings.extend(names_alike_between("tasks of Z or truth", table.tasks(), unknown));
    let kinds = kinds.into_iter().chain([("labels", &loader.all_labels)]);
    warnings.extend(kinds.filter_map(|(what, names)| names_alike(what, names)));
    let z = ZLabels {
        sources: loader.sources.into_iter().map(|source| source.z).collect(),
        labels: loader.all_labels,
    };
    Ok(LoadedLabels { table, z, truth, rows, warnings })
}

/// What reading the crowd had to say.
struct ReadCrowd {
    rows: u64,
    dropped: usize,
}

fn read_crowd(
    source: &Source,
    duplicates: Duplicates,
    spelling: &mut Spelling,
    problems: &mut Problems,
) -> (LabelTable, ReadCrowd) {
    if let Some((mut names, mut parts)) = read_plain_reports(source, &[TASK, WORKER, LABEL]) {
        let count = |parts: &[Vec<LabelReport>]| parts.iter().map(Vec::len).sum::<usize>();
        let rows = count(&parts);
        let mut folding = Spelling::new(spelling.reading());
        folding.fold_reports(&mut names.labels, &mut parts);
        let labelled = count(&parts);
        if duplicates == Duplicates::First {
            // The table keeps the last.
            parts.reverse();
            parts.iter_mut().for_each(|reports| reports.reverse());
        }
        let table = table_by_name(names, parts);
        let dropped = labelled - table.report_count();
        if labelled > 0 && (dropped == 0 || duplicates != Duplicates::Error) {
            *spelling = folding;
            return (table, ReadCrowd { rows: rows as u64, dropped });
        }
        // Otherwise read again, to name the lines.
    }
    read_crowd_by_row(source, duplicates, spelling, problems)
}

/// Reads row by row, remembering where each report was.
fn read_crowd_by_row(
    source: &Source,
    duplicates: Duplicates,
    spelling: &mut Spelling,
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
        let Some(label) = row.label(2, &LABEL, problems) else { return };
        let key = (names.tasks.intern(&task), names.workers.intern(&worker));
        if spelling.is_missing(&label) {
            return;
        }
        let Some(number) = intern_label(&mut names.labels, &label, row.line, problems) else {
            return;
        };
        let report = LabelReport { task: key.0, worker: key.1, label: number };
        let (position, line) = *seen.entry(key).or_insert((reports.len(), row.line));
        if position == reports.len() {
            reports.push(report);
            return;
        }
        dropped += 1;
        duplicates.settle(&mut reports[position], report, || {
            let who = format!(
                "worker `{}` has a second label for `{}`",
                quotable(&worker),
                quotable(&task)
            );
            problems.report_solvable(row.line, second(&who, line), Remedy::ChooseDuplicates);
        });
    });
    if rows > 0 && reports.is_empty() && spelling.has_missing() {
        problems.report(None, Some(LABEL.name), "every label says that there is none");
    }
    let mut reports = vec![reports];
    spelling.fold_reports(&mut names.labels, &mut reports);
    (table_by_name(names, reports), ReadCrowd { rows, dropped })
}

/// The table with tasks, workers and labels numbered in the order of their names, so that sums,
/// ties and random numbers do not depend on the order of the rows.
fn table_by_name(names: LabelNames, mut parts: Vec<Vec<LabelReport>>) -> LabelTable {
    let (tasks, new_tasks) = names.tasks.sorted();
    let (workers, new_workers) = names.workers.sorted();
    let (labels, new_labels) = names.labels.sorted();
    if ![&new_tasks, &new_workers, &new_labels].iter().all(|new| new.is_sorted()) {
        parts.par_iter_mut().flatten().for_each(|report| {
            report.task = new_tasks[report.task as usize];
            report.worker = new_workers[report.worker as usize];
            report.label = new_labels[usize::from(report.label)] as Label;
        });
    }
    LabelTable::of_parts(LabelNames { tasks, workers, labels }, parts)
}

fn intern_label(
    labels: &mut Ids,
    label: &str,
    line: u64,
    problems: &mut FileProblems<'_>,
) -> Option<Label> {
    if labels.len() == MAX_LABELS && labels.get(label).is_none() {
        let message = format!(
            "is the label number {}, at most {MAX_LABELS} are possible; \
             labels are categories, not free text",
            MAX_LABELS + 1
        );
        problems.report(Some(line), Some(LABEL.name), message);
        return None;
    }
    Label::try_from(labels.intern(label)).ok()
}

/// Reads rows of a task, a label and, unless `schema` ends there, a source and a sample. Returns how many there
/// are.
fn read_given<const N: usize>(
    source: &Source,
    schema: &[Column; N],
    tasks: &Ids,
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(Given<'_>, &mut FileProblems<'_>),
) -> u64 {
    let plain = read_plain_given(source, schema, tasks, &mut |given| visit(given, problems));
    plain.unwrap_or_else(|| read_given_by_row(source, schema, tasks, problems, visit))
}

fn read_given_by_row(
    source: &Source,
    schema: &[Column],
    tasks: &Ids,
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(Given<'_>, &mut FileProblems<'_>),
) -> u64 {
    let mut last = Place::default();
    read_rows(source, schema, problems, &mut |row, problems| {
        let Some(task) = row.name(0, &schema[0], problems) else { return };
        let Some(label) = row.label(1, &schema[1], problems) else { return };
        let name = |place: usize| row.fields.get(place).and_then(Field::as_name);
        let (source, sample) = (name(2), name(3));
        let given = Given {
            task: tasks.get_after(&task, &mut last).ok_or(&task),
            label: &label,
            source: source.as_deref(),
            sample: sample.as_deref(),
            line: row.line,
        };
        visit(given, problems);
    })
}

/// Reads what refers to the tasks of a crowd.
struct Loader<'a> {
    table: &'a LabelTable,
    /// S, then the labels that only Z or the truth has.
    all_labels: Ids,
    duplicates: Duplicates,
    spelling: Spelling,
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
        let (table, schema) = (self.table, [TASK, LABEL, SOURCE, SAMPLE]);
        read_given(source, &schema, table.tasks(), &mut problems, &mut |given, problems| {
            let line = given.line;
            let origin = given.source.unwrap_or(&stem);
            // Before the task is looked up: a source without any known task is a source, too.
            let (index, sample) = self.position(origin, given.sample, file);
            let Some((task, label)) = self.known(&given, problems) else { return };
            let source = &mut self.sources[index];
            if source.file != file {
                let message = format!(
                    "`{}` is the name of a source in an earlier file of Z; \
                     give the files different names, or their rows a `source`",
                    quotable(origin)
                );
                problems.report(Some(line), Some("source"), message);
                return;
            }
            let first = &mut source.lines[sample][task as usize];
            let slot = &mut source.z.samples[sample].labels[task as usize];
            if slot.is_none() {
                (*slot, *first) = (Some(label), line);
                return;
            }
            self.dropped += 1;
            self.duplicates.settle(slot, Some(label), || {
                let who = format!(
                    "`{}` has a second label for `{}`; \
                     number independent ones in a column `sample`",
                    quotable(origin),
                    quotable(table.tasks().name(task))
                );
                let message = second(&who, *first);
                problems.report_solvable(line, message, Remedy::ChooseDuplicates);
            });
        })
    }

    /// The task and the label of a row; `None`, and counted, of a task that the crowd does not have.
    fn known(
        &mut self,
        given: &Given<'_>,
        problems: &mut FileProblems<'_>,
    ) -> Option<(u32, Label)> {
        match given.task {
            Ok(_) if self.spelling.is_missing(given.label) => None,
            Ok(task) => {
                let label = intern_label(&mut self.all_labels, given.label, given.line, problems)?;
                Some((task, label))
            }
            Err(name) => {
                self.unknown_tasks.intern(name);
                self.unknown_rows += 1;
                None
            }
        }
    }

    /// Where the labels of a source and sample go, new if they were not seen before.
    fn position(&mut self, origin: &str, sample: Option<&str>, file: usize) -> (usize, usize) {
        let tasks = self.table.task_count();
        let found = self.sources.iter().position(|source| source.z.name == origin);
        let index = found.unwrap_or_else(|| {
            let z = ZSource { name: origin.into(), samples: Vec::new() };
            self.sources.push(ReadSource { z, file, lines: Vec::new() });
            self.sources.len() - 1
        });
        let source = &mut self.sources[index];
        let is_sample = |known: &ZSample| match sample {
            Some(sample) => known.name == sample,
            None => known.name.is_empty(),
        };
        let found = source.z.samples.iter().position(is_sample);
        let sample = found.unwrap_or_else(|| {
            let name = sample.unwrap_or_default().to_owned();
            source.z.samples.push(ZSample { name, labels: vec![None; tasks] });
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
        let tasks = self.table.tasks();
        let rows =
            read_given(source, &[TASK, TRUTH], tasks, &mut problems, &mut |given, problems| {
                let line = given.line;
                let Some((task, label)) = self.known(&given, problems) else { return };
                let (slot, first) = (&mut truth[task as usize], &mut lines[task as usize]);
                if slot.is_none() {
                    (*slot, *first) = (Some(label), line);
                    return;
                }
                self.dropped += 1;
                self.duplicates.settle(slot, Some(label), || {
                    let who = format!("task `{}` has a second truth", quotable(tasks.name(task)));
                    let message = second(&who, *first);
                    problems.report_solvable(line, message, Remedy::ChooseDuplicates);
                });
            });
        (truth, rows)
    }

    /// Gives every label one spelling, and brings what was numbered by first appearance into the
    /// order of names: the labels that only Z or the truth has, the sources of one file, the samples
    /// of a source. Returns the truth with its new numbers.
    fn sort_by_names(&mut self, truth: Option<Vec<Option<Label>>>) -> Option<Vec<Option<Label>>> {
        let own = self.table.label_count();
        let (folded, numbers) = self.spelling.fold(&self.all_labels, own);
        let mut others: Vec<String> = folded.names()[own..].to_vec();
        others.sort();
        let labels: Ids = self.table.labels().names().iter().chain(&others).collect();
        let new: Vec<Label> = numbers
            .iter()
            .map(|&number| folded.name(u32::from(number)))
            .map(|name| labels.get(name).expect("the same names") as Label)
            .collect();
        let renumber = |slots: &mut [Option<Label>]| {
            slots.iter_mut().flatten().for_each(|label| *label = new[usize::from(*label)]);
        };
        for source in &mut self.sources {
            source.z.samples.iter_mut().for_each(|sample| renumber(&mut sample.labels));
            source.z.samples.sort_by(|a, b| by_name(&a.name, &b.name));
        }
        self.sources.sort_by(|a, b| (a.file, &a.z.name).cmp(&(b.file, &b.z.name)));
        self.all_labels = labels;
        self.unknown_tasks = std::mem::take(&mut self.unknown_tasks).sorted().0;
        truth.map(|mut truth| {
            renumber(&mut truth);
            truth
        })
    }

    fn warnings(&self, truth: Option<&[Option<Label>]>) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = self.spelling.warnings().collect();
        let mut warn = |code, names: &[&str], count: usize, message: String| {
            if count > 0 {
                let names = if names.is_empty() { "" } else { &first_names(names) };
                let separator = if names.is_empty() { "" } else { ": " };
                warnings.push(Warning::new(code, count, format!("{message}{separator}{names}")));
            }
        };
        let dropped = self.dropped;
        let message =
            format!("{} {} dropped", counted(dropped, "duplicate label"), verb(dropped, WERE));
        warn("duplicates_dropped", &[], self.dropped, message);
        let count = self.unknown_rows;
        let message = format!(
            "{} of Z or truth {} of {} that nobody labelled",
            counted(count, "row"),
            verb(count, ARE),
            counted(self.unknown_tasks.len(), "task")
        );
        let unknown: Vec<&str> = self.unknown_tasks.names().iter().map(String::as_str).collect();
        warn("z_of_unknown_tasks", &unknown, count, message);
        let by_z = self.used(self.labels_of_z());
        let (outside, unused) = self.one_sided(&by_z);
        let message = format!(
            "{} of Z {} outside the label set of the crowd; each is a stratum of its own",
            counted(outside.len(), "label"),
            verb(outside.len(), ARE)
        );
        warn("z_labels_outside", &outside, outside.len(), message);
        if !self.sources.is_empty() {
            let message = format!(
                "{} of the crowd {} given by no LLM, which may be misspelt or stand for nothing",
                counted(unused.len(), "label"),
                verb(unused.len(), ARE)
            );
            warn("labels_without_z", &unused, unused.len(), message);
        }
        if let Some(truth) = truth {
            let (outside, _) = self.one_sided(&self.used(truth.iter().flatten().copied()));
            let message = format!(
                "{} of the truth {} given by no worker",
                counted(outside.len(), "label"),
                verb(outside.len(), ARE)
            );
            warn("truth_labels_outside", &outside, outside.len(), message);
        }
        let tasks = self.table.task_count();
        for source in &self.sources {
            let labels = source.z.conditioning();
            let without: Vec<&str> = (0..tasks)
                .filter(|&task| labels[task].is_none())
                .map(|task| self.table.tasks().name(task as u32))
                .collect();
            let message = format!(
                "{} of {} {} no Z of `{}` and {} left out of the scores that need it",
                without.len(),
                counted(tasks, "task"),
                verb(without.len(), HAVE),
                source.z.name,
                verb(without.len(), ARE)
            );
            warn("tasks_without_z", &without, without.len(), message);
        }
        let single: Vec<&str> = (0..tasks as u32)
            .filter(|&task| self.table.of_task(task).len() == 1)
            .map(|task| self.table.tasks().name(task))
            .collect();
        let (tasks, have) = (counted(single.len(), "task"), verb(single.len(), HAVE));
        let message = format!("{tasks} {have} a single label, which no peer can support");
        warn("tasks_with_one_label", &single, single.len(), message);
        warnings
    }

    fn labels_of_z(&self) -> impl Iterator<Item = Label> {
        let samples = self.sources.iter().flat_map(|source| &source.z.samples);
        samples.flat_map(|sample| sample.labels.iter().flatten().copied())
    }

    /// Which labels occur, by number.
    fn used(&self, labels: impl Iterator<Item = Label>) -> Vec<bool> {
        let mut used = vec![false; self.all_labels.len()];
        labels.for_each(|label| used[usize::from(label)] = true);
        used
    }

    /// Names of the labels that are used and not the crowd's, and of those of the crowd that are
    /// not used.
    fn one_sided(&self, used: &[bool]) -> (Vec<&str>, Vec<&str>) {
        let own = self.table.label_count();
        let named = |inside: bool| {
            let labels = self.all_labels.names().iter().zip(used).enumerate();
            labels
                .filter(move |(label, (_, used))| (*label < own) == inside && **used != inside)
                .map(|(_, (name, _))| name.as_str())
                .collect()
        };
        (named(false), named(true))
    }
}

/// Whether a warning speaks of labels as they are in the files: it says nothing of what was made of them.
pub(super) fn of_whole_labels(warning: &Warning) -> bool {
    ["z_labels_outside", "labels_without_z", "truth_labels_outside"].contains(&warning.code)
}

#[cfg(test)]
mod tests;
