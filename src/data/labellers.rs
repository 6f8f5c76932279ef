//! Reads labels of several labellers of the same tasks: LLMs, prompts, samples, people.
//!
//! One reader for every file that says who gives which task which label: a crowd, the labels of
//! LLMs, gold labels. A labeller is a `source`, or a `worker`, or the file; a `prompt` and, where a
//! source has several, a `sample` make labellers of their own. A row without a label is a task that
//! the labeller did not answer readably: it is kept, and counted.

#![expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 names and rows")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answers::Answered;
use super::duplicates::Duplicates;
use super::ids::Ids;
use super::label_reader::{self, SAMPLE, TASK};
use super::label_spelling::clicked;
use super::near::quotable;
use super::problem::{DataError, Problems};
use super::rows::{Column, Field, FileProblems, NamedColumn, read_rows};
use super::source::Source;
use crate::data::nouns::{HAVE, counted, verb};
use crate::error::Remedy;

pub(super) const SOURCE: Column =
    Column { name: "source", synonyms: &["model", "judge", "llm"], required: false };
pub(super) const WORKER: Column = Column { required: false, ..label_reader::WORKER };
pub(super) const PROMPT: Column = Column { name: "prompt", synonyms: &[], required: false };
pub(super) const LABEL: Column = Column {
    name: "label",
    synonyms: &[
        "answer",
        "response",
        "value",
        "grade",
        "truth",
        "gold",
        "true_label",
        "gold_label",
    ],
    required: true,
};
const CLUSTER: Column = Column { name: "cluster", synonyms: &["topic", "group"], required: true };

/// Where the clusters of the tasks are.
#[derive(Debug, Clone, Copy)]
pub enum ClusterSource<'a> {
    /// In a column of this name of any of the files.
    Column(&'a str),
    /// In a file with `task` and `cluster`.
    File(&'a Source),
}

/// The files of a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LabellerFiles<'a> {
    /// `task`, `label`, optional `source` or `worker`, `prompt`, `sample`.
    pub labels: &'a Source,
    /// The same of people; one labeller if it names nobody.
    pub gold: Option<&'a Source>,
    /// An earlier state of the labels.
    pub since: Option<&'a Source>,
    /// Without it every task is its own cluster.
    pub clusters: Option<ClusterSource<'a>>,
}

impl<'a> LabellerFiles<'a> {
    /// One file and nothing beside it.
    pub fn new(labels: &'a Source) -> Self {
        Self { labels, gold: None, since: None, clusters: None }
    }

    /// All files, in the order of `Labellings::rows`.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &'a Source> + use<'a> {
        let clusters = match self.clusters {
            Some(ClusterSource::File(source)) => Some(source),
            Some(ClusterSource::Column(_)) | None => None,
        };
        [Some(self.labels), self.gold, self.since, clusters].into_iter().flatten()
    }

    /// The column that has the clusters, if one has.
    pub(crate) fn cluster_column(&self) -> Option<&'a str> {
        match self.clusters {
            Some(ClusterSource::Column(name)) => Some(name),
            Some(ClusterSource::File(_)) | None => None,
        }
    }
}

/// The labels of one labeller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labeller {
    /// `source`, `source:prompt`, `source#sample`.
    pub name: String,
    /// Task and label, by ascending task; `None` is a row without a label.
    pub labels: Vec<(u32, Option<u32>)>,
}

impl Labeller {
    /// The label of a task; `None` without a row or without a label.
    pub(crate) fn label(&self, task: u32) -> Option<u32> {
        let found = self.labels.binary_search_by_key(&task, |(task, _)| *task).ok()?;
        self.labels[found].1
    }
}

/// Everything that was read, under common numbers that do not depend on the order of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labellings {
    /// Names of the tasks, ascending.
    pub tasks: Vec<String>,
    /// Texts of the labels, ascending.
    pub texts: Vec<String>,
    /// By name.
    pub labellers: Vec<Labeller>,
    /// The people behind the gold labels, by name; empty without a file of gold labels.
    pub gold: Vec<Labeller>,
    /// The labellers of the earlier state, by name; empty without one.
    pub since: Vec<Labeller>,
    /// Cluster of every task, and names of the clusters, ascending; `None` if every task is its
    /// own.
    pub clusters: Option<(Vec<u32>, Vec<String>)>,
    /// Rows read from the labels, the gold labels, the earlier state and the clusters.
    pub rows: Vec<u64>,
    /// Second labels of a labeller for a task that were dropped.
    pub dropped: usize,
    /// Labels that are sets of choices in another order than the one that stands for all, as written.
    pub sets: Vec<String>,
}

/// Reads all files and checks them together.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of every file, second labels among them unless
/// `duplicates` says which one counts.
pub(crate) fn read_labellers(
    files: &LabellerFiles<'_>,
    duplicates: Duplicates,
) -> Result<Labellings, DataError> {
    let mut problems = Problems::new();
    let column = match files.clusters {
        Some(ClusterSource::Column(name)) => Some(name),
        _ => None,
    };
    let mut loader = Loader { column, duplicates, ..Loader::default() };
    let mut rows = Vec::new();
    let mut states = Vec::new();
    // Whoever has no name is called after the file; earlier labels after that of the labels now, as
    // they are of the same labeller.
    let stem = files.labels.stem();
    let gold_stem = files.gold.map(Source::stem).unwrap_or_default();
    for (source, stem) in
        [(Some(files.labels), &stem), (files.gold, &gold_stem), (files.since, &stem)]
    {
        states.push(source.map_or_else(Vec::new, |source| {
            let (state, read) = loader.read(source, stem, &mut problems);
            rows.push(read);
            state
        }));
    }
    if let Some(ClusterSource::File(source)) = files.clusters {
        rows.push(loader.read_clusters(source, &mut problems));
    }
    loader.check_clusters(files, &mut problems);
    problems.into_result()?;
    let (tasks, task_numbers) = ascending(&loader.tasks);
    let (sets, in_order) = loader.in_order();
    let (texts, places) = ascending(&in_order);
    let text_numbers: Vec<u32> = loader
        .texts
        .names()
        .iter()
        .zip(&sets)
        .map(|(name, set)| in_order.get(set.as_ref().unwrap_or(name)).unwrap_or_default())
        .map(|number| places[number as usize])
        .collect();
    let sets = loader.texts.names().iter().zip(&sets);
    let sets = sets.filter(|(_, set)| set.is_some()).map(|(name, _)| name.clone()).collect();
    let mut states = states.into_iter().map(|state| {
        let mut labellers: Vec<Labeller> = state
            .into_iter()
            .map(|(name, labels)| {
                let number = |(task, label): (u32, Option<u32>)| {
                    (task_numbers[task as usize], label.map(|label| text_numbers[label as usize]))
                };
                let mut labels: Vec<_> = labels.into_iter().map(number).collect();
                labels.sort_unstable();
                Labeller { name, labels }
            })
            .collect();
        labellers.sort_by(|a, b| a.name.cmp(&b.name));
        labellers
    });
    let mut next = || states.next().unwrap_or_default();
    let (labellers, gold, since) = (next(), next(), next());
    let clusters = files.clusters.map(|_| {
        let (names, numbers) = ascending(&loader.clusters);
        let mut of_task = vec![0; tasks.len()];
        for (&task, &cluster) in &loader.cluster_of {
            of_task[task_numbers[task as usize] as usize] = numbers[cluster as usize];
        }
        (of_task, names)
    });
    Ok(Labellings {
        tasks,
        texts,
        labellers,
        gold,
        since,
        clusters,
        rows,
        dropped: loader.dropped,
        sets,
    })
}

/// The names in ascending order, and the place of each number in it.
fn ascending(ids: &Ids) -> (Vec<String>, Vec<u32>) {
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_by_key(|&id| ids.name(id));
    let mut places = vec![0; order.len()];
    for (place, &id) in order.iter().enumerate() {
        places[id as usize] = place as u32;
    }
    (order.iter().map(|&id| ids.name(id).to_owned()).collect(), places)
}

/// A row: labeller, sample, task, label, line.
type Entry = (u32, u32, u32, Option<u32>, u64);

/// Labellers by name with task and label.
type State = Vec<(String, Vec<(u32, Option<u32>)>)>;

#[derive(Default)]
struct Loader<'a> {
    column: Option<&'a str>,
    duplicates: Duplicates,
    tasks: Ids,
    texts: Ids,
    clusters: Ids,
    /// By number of the task.
    cluster_of: BTreeMap<u32, u32>,
    dropped: usize,
}

impl Loader<'_> {
    /// For each label the set of choices that it is in another order, if it is one, and what is left.
    fn in_order(&self) -> (Vec<Option<String>>, Ids) {
        let names = self.texts.names();
        let sets = clicked(names.iter().map(|name| name.as_str().into()).collect());
        let kept = sets.iter().map(AsRef::<str>::as_ref).collect();
        let changed = |(set, name): (Cow<'_, str>, &String)| (*set != **name).then(|| set.into());
        (sets.into_iter().zip(names).map(changed).collect(), kept)
    }

    fn read(&mut self, source: &Source, stem: &str, problems: &mut Problems) -> (State, u64) {
        let mut problems = FileProblems::new(source, problems);
        let cluster =
            NamedColumn { name: self.column.unwrap_or(""), synonyms: &[], required: false };
        let schema = [TASK, LABEL, SOURCE, WORKER, PROMPT, SAMPLE, cluster];
        let schema = if self.column.is_some() { &schema[..] } else { &schema[..6] };
        let (mut names, mut samples) = (Ids::new(), Ids::new());
        let mut entries: Vec<Entry> = Vec::new();
        let rows = read_rows(source, schema, &mut problems, &mut |row, problems| {
            let Some(task) = row.name(0, &TASK, problems) else { return };
            let label = match row.fields[1].answered() {
                // The scale decides what a word such as `N/A` means: who lists it there means a label.
                Answered::Label(label) | Answered::Word(label) => Some(label),
                Answered::Nothing => None,
                Answered::Spans | Answered::Structure => {
                    let message = "is a list or an object; a label is a text or a number";
                    problems.report(Some(row.line), Some(LABEL.name), message);
                    return;
                }
            };
            let (source, worker) = (row.fields[2].as_name(), row.fields[3].as_name());
            if source.is_some() && worker.is_some() {
                let message = "stands beside `worker`; remove the one that is not the labeller";
                problems.report(Some(row.line), Some(SOURCE.name), message);
                return;
            }
            let mut name: String = source.or(worker).map_or_else(|| stem.to_owned(), Into::into);
            if let Some(prompt) = row.fields[4].as_name() {
                name = format!("{name}:{prompt}");
            }
            let sample = row.fields[5].as_name().unwrap_or_default();
            let task_id = self.tasks.intern(&task);
            let label = label.map(|label| self.texts.intern(&label));
            entries.push((names.intern(&name), samples.intern(&sample), task_id, label, row.line));
            if let Some(Field::Text(_) | Field::Json(_)) = row.fields.get(6)
                && let Some(cluster) = row.fields[6].as_name()
            {
                self.put_cluster(task_id, &task, &cluster, row.line, problems);
            }
        });
        (self.sorted(entries, (&names, &samples), &mut problems), rows)
    }

    /// The entries by labeller, each with one label per task.
    fn sorted(
        &mut self,
        mut entries: Vec<Entry>,
        (names, samples): (&Ids, &Ids),
        problems: &mut FileProblems<'_>,
    ) -> State {
        // Stable, so that reports of one labeller on one task stay in the order of the file.
        entries.sort_by_key(|&(name, sample, task, _, _)| (name, sample, task));
        let mut state: State = Vec::new();
        for of_name in entries.chunk_by(|a, b| a.0 == b.0) {
            let several = of_name.iter().any(|entry| entry.1 != of_name[0].1);
            for of_sample in of_name.chunk_by(|a, b| a.1 == b.1) {
                let name = names.name(of_name[0].0);
                let name = if several {
                    format!("{name}#{}", samples.name(of_sample[0].1))
                } else {
                    name.to_owned()
                };
                let mut labels = Vec::with_capacity(of_sample.len());
                for same in of_sample.chunk_by(|a, b| a.2 == b.2) {
                    let (_, _, task, mut label, first_line) = same[0];
                    for &(_, _, _, second, line) in &same[1..] {
                        self.dropped += 1;
                        let task = self.tasks.name(task);
                        self.duplicates.settle(&mut label, second, || {
                            let who = format!(
                                "`{}` has a second label for `{}`",
                                quotable(&name),
                                quotable(task)
                            );
                            let message = super::duplicates::second(&who, first_line);
                            problems.report_solvable(line, message, Remedy::ChooseDuplicates);
                        });
                    }
                    labels.push((task, label));
                }
                state.push((name, labels));
            }
        }
        state
    }

    fn read_clusters(&mut self, source: &Source, problems: &mut Problems) -> u64 {
        let mut problems = FileProblems::new(source, problems);
        read_rows(source, &[TASK, CLUSTER], &mut problems, &mut |row, problems| {
            let Some(task) = row.name(0, &TASK, problems) else { return };
            let Some(cluster) = row.name(1, &CLUSTER, problems) else { return };
            // Clusters of tasks that nobody labelled do not matter.
            if let Some(id) = self.tasks.get(&task) {
                self.put_cluster(id, &task, &cluster, row.line, problems);
            }
        })
    }

    fn put_cluster(
        &mut self,
        id: u32,
        task: &str,
        cluster: &str,
        line: u64,
        problems: &mut FileProblems<'_>,
    ) {
        let number = self.clusters.intern(cluster);
        let known = *self.cluster_of.entry(id).or_insert(number);
        if known != number {
            let known = self.clusters.name(known);
            let [task, cluster, known] = [task, cluster, known].map(quotable);
            let message = format!("`{task}` is in cluster `{cluster}` here and in `{known}` above");
            problems.report(Some(line), None, message);
        }
    }

    /// Every task has to be in a cluster, if there are any.
    fn check_clusters(&self, files: &LabellerFiles<'_>, problems: &mut Problems) {
        let (source, column) = match files.clusters {
            None => return,
            Some(ClusterSource::Column(name)) => (files.labels, name),
            Some(ClusterSource::File(source)) => (source, CLUSTER.name),
        };
        let mut problems = FileProblems::new(source, problems);
        let without: Vec<&str> = (0..self.tasks.len() as u32)
            .filter(|task| !self.cluster_of.contains_key(task))
            .map(|task| self.tasks.name(task))
            .collect();
        if !without.is_empty() {
            let names = super::warning::first_names(&without);
            let (tasks, have) = (counted(without.len(), "task"), verb(without.len(), HAVE));
            let message = format!("{tasks} {have} no cluster: {names}");
            problems.report(None, Some(column), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn source(name: &str, text: &str) -> Source {
        Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
    }

    fn read(labels: &str, clusters: Option<ClusterSource<'_>>) -> Result<Labellings, DataError> {
        let labels = source("labels.csv", labels);
        let files = LabellerFiles { labels: &labels, gold: None, since: None, clusters };
        read_labellers(&files, Duplicates::Error)
    }

    #[test]
    fn sources_prompts_and_samples_are_labellers() {
        let text = "task,model,prompt,sample,label\nq2,a,p,,1\nq1,a,p,,\nq1,b,,0,1\nq1,b,,1,2\n";
        let read = read(text, None).unwrap();
        let names: Vec<&str> = read.labellers.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["a:p", "b#0", "b#1"]);
        // Tasks and texts are numbered by name; the empty label is a row without a label.
        assert_eq!(read.labellers[0].labels, [(0, None), (1, Some(0))]);
        assert_eq!(read.labellers[2].label(0), Some(1));
        assert_eq!(read.labellers[2].label(1), None);
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_one_sample_has_no_suffix() {
        let one = read("task,worker,sample,label\nq1,w,0,x\nq2,v,0,y\n", None).unwrap();
        let other = read("task,worker,sample,label\nq2,v,0,y\nq1,w,0,x\n", None).unwrap();
        assert_eq!(one, other);
        assert_eq!(one.labellers[1].name, "w");
        assert_eq!(read("task,label\nq1,x\n", None).unwrap().labellers[0].name, "labels");
    }

    #[test]
    fn choices_in_the_order_of_clicks_are_one_label() {
        let text = "task,worker,label\nq1,v,b|a\nq1,w,a|b\nq2,v,a\nq2,w,a\n";
        let read = read(text, None).unwrap();
        assert_eq!(read.texts, ["a", "a; b"]);
        assert_eq!(read.labellers[0].labels, read.labellers[1].labels);
        assert_eq!(read.sets, ["b|a", "a|b"]);
    }

    #[test]
    fn second_labels_and_two_names_of_a_labeller_are_problems() {
        let error = read("task,source,label\nq,a,1\nq,a,2\n", None).unwrap_err().to_string();
        assert!(error.contains("labels.csv:3") && error.contains("second label"), "{error}");
        let error = read("task,source,worker,label\nq,a,w,1\n", None).unwrap_err().to_string();
        assert!(error.contains("beside `worker`"), "{error}");
    }

    #[test]
    fn clusters_are_a_column_or_a_file_and_cover_every_task() {
        let text = "task,label,topic\nq1,x,t2\nq2,x,t1\n";
        let found = read(text, Some(ClusterSource::Column("topic"))).unwrap();
        assert_eq!(found.clusters, Some((vec![1, 0], vec!["t1".into(), "t2".into()])));
        let file = source("c.csv", "task,cluster\nq1,t\nq9,t\n");
        let error = read(text, Some(ClusterSource::File(&file))).unwrap_err().to_string();
        assert!(error.contains("1 task has no cluster: q2"), "{error}");
        let file = source("c.csv", "task,cluster\nq1,t\nq2,t\nq1,u\n");
        let error = read(text, Some(ClusterSource::File(&file))).unwrap_err().to_string();
        assert!(error.contains("`q1` is in cluster `u` here and in `t` above"), "{error}");
    }
}
