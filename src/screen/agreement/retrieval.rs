//! Do labels by an LLM rank systems, and topics, as labels by people do? From runs and the labels of their
//! documents.
//!
//! Every run is scored with the labels of every labeller: precision at 10, rank-biased precision, mean
//! average precision. The scores rank the runs, and their means over runs rank the topics, the hardest
//! first; rankings by people and by another labeller are compared as in [`super::rankings`]. After
//! Thomas, Spielman, Craswell and Mitra (2024), *Large Language Models Can Accurately Predict Searcher
//! Preferences*, SIGIR.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rankings::{COLUMNS, Group, READING, RankingError, RankingSettings, answer, push_rows};
use crate::data::items::column;
use crate::data::observer::Observer;
use crate::data::problem::Problems;
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::Source;
use crate::data::warning::{Warning, first_names};
use crate::error::Result;
use crate::metrics::retrieval::{Retrieval, ranked};
use crate::report::{Cell, Input, Report, Table, settings_map};

/// Settings of a comparison by runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RetrievalSettings {
    /// Of the comparison of rankings.
    #[serde(flatten)]
    pub rankings: RankingSettings,
    /// Documents with at least this grade are relevant.
    pub relevant_from: f64,
    /// Persistence of rank-biased precision.
    pub precision_persistence: f64,
}

impl Default for RetrievalSettings {
    fn default() -> Self {
        let rankings = RankingSettings::default();
        Self { rankings, relevant_from: 1.0, precision_persistence: 0.8 }
    }
}

/// By topic the documents, with a number each: a grade, or a score.
type ByTopic = BTreeMap<String, BTreeMap<String, f64>>;

/// The same by name of a labeller or a run.
type Named = BTreeMap<String, ByTopic>;

/// Compares the rankings of runs, and of topics, by the labels of `labels` and those of `gold`.
///
/// Each file is a table (`topic, document, label`, optional `source`; `run, topic, document, score`) or in
/// the format of TREC (`topic 0 document grade`; `topic Q0 document rank score run`). Only topics of `gold`
/// count. A run without a document for a topic has 0 there, and is counted.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for files that cannot be used, [`RankingError`].
pub(crate) fn compare_by_runs(
    [runs, labels, gold]: [&Source; 3],
    settings: &RetrievalSettings,
    observer: &dyn Observer,
) -> Result<Report> {
    settings.rankings.check()?;
    let mut problems = Problems::new();
    let (runs_read, run_rows) = read(runs, &RUNS, &mut problems);
    let (judged, label_rows) = read(labels, &LABELS, &mut problems);
    let (people, gold_rows) = read(gold, &LABELS, &mut problems);
    problems.into_result()?;
    let measures = [
        Retrieval::Precision(10),
        Retrieval::RankBiasedPrecision(settings.precision_persistence),
        Retrieval::AveragePrecision,
    ];
    let topics: BTreeSet<&String> = people.values().flat_map(BTreeMap::keys).collect();
    let mut table = Table::new(&COLUMNS);
    let mut scored = Table::new(&COLUMNS);
    let mut number = 0;
    let progress = observer.stage("scoring", (judged.len() * measures.len()) as u64);
    for (gold_name, gold) in &people {
        let against = Scored::new(&runs_read, gold, &topics, settings, &measures);
        against.push(&mut scored, gold_name, &measures);
        for (name, labels) in &judged {
            let of_source = Scored::new(&runs_read, labels, &topics, settings, &measures);
            of_source.push(&mut scored, name, &measures);
            for (index, measure) in measures.iter().enumerate() {
                let (ours, theirs) = (&of_source.of[index], &against.of[index]);
                let runs = group(
                    theirs.iter().map(|row| defined(*measure, row)),
                    ours.iter().map(|row| defined(*measure, row)),
                );
                push_rows(
                    &mut table,
                    [&measure.name(), gold_name, name],
                    &runs,
                    (&settings.rankings, number),
                );
                let hard = |of: &[Vec<Option<f64>>], topic: usize| {
                    let of_topic: Vec<Option<f64>> = of.iter().map(|row| row[topic]).collect();
                    // The hardest topic stands highest.
                    defined(*measure, &of_topic).map(|mean| -mean)
                };
                let each = || 0..topics.len();
                let topics = group(each().map(|t| hard(theirs, t)), each().map(|t| hard(ours, t)));
                push_rows(
                    &mut table,
                    [&format!("{}:topics", measure.name()), gold_name, name],
                    &topics,
                    (&settings.rankings, number + 1),
                );
                number += 2;
                progress.advance(1);
                if observer.interrupted() {
                    return Err(RankingError::Interrupted.into());
                }
            }
        }
    }
    table.set_headline(answer(&table));
    scored.rows().iter().for_each(|row| table.push(row.clone()));
    Ok(Report {
        command: "agree",
        inputs: vec![
            Input::new(labels, label_rows),
            Input::new(gold, gold_rows),
            Input::new(runs, run_rows),
        ],
        settings: settings_map(settings),
        table,
        warnings: without_documents(&runs_read, &topics),
        footer: vec![
            format!(
                "Relevant: grades from {}; a document without a label is not relevant. Rows of \
                 MEASURE compare the rankings of {} runs, rows of MEASURE:topics those of {} topics, \
                 the hardest first. Intervals: 95 %, percentile bootstrap over runs or topics, B = {}, \
                 seed {}.",
                settings.relevant_from,
                runs_read.len(),
                topics.len(),
                settings.rankings.draws,
                settings.rankings.seed
            ),
            READING.into(),
        ],
        prose: None,
    })
}

fn group(
    first: impl Iterator<Item = Option<f64>>,
    second: impl Iterator<Item = Option<f64>>,
) -> Group {
    let mut group = Group::default();
    for (first, second) in first.zip(second) {
        if let (Some(first), Some(second)) = (first, second) {
            group.first.push(first);
            group.second.push(second);
        } else {
            group.missing += 1;
        }
    }
    group
}

/// The mean of what is defined.
fn defined(measure: Retrieval, values: &[Option<f64>]) -> Option<f64> {
    measure.mean(&values.iter().copied().flatten().collect::<Vec<_>>())
}

/// Scores of all runs by the labels of one labeller.
struct Scored<'a> {
    runs: Vec<&'a str>,
    topics: Vec<&'a str>,
    /// By measure, run and topic.
    of: Vec<Vec<Vec<Option<f64>>>>,
}

impl<'a> Scored<'a> {
    fn new(
        runs: &'a Named,
        labels: &ByTopic,
        topics: &BTreeSet<&'a String>,
        settings: &RetrievalSettings,
        measures: &[Retrieval],
    ) -> Self {
        let is_relevant = |grade: &f64| *grade >= settings.relevant_from;
        let of_run = |run: &ByTopic| -> Vec<(Vec<bool>, usize)> {
            let of_topic = |topic: &&String| {
                let graded = labels.get(*topic);
                let relevant = |document: &str| {
                    graded.and_then(|graded| graded.get(document)).is_some_and(is_relevant)
                };
                let listed: Vec<(&str, f64)> = run.get(*topic).map_or_else(Vec::new, |documents| {
                    documents.iter().map(|(name, score)| (name.as_str(), *score)).collect()
                });
                let ranking = ranked(&listed).into_iter().map(relevant).collect();
                let all =
                    graded.map_or(0, |graded| graded.values().filter(|g| is_relevant(g)).count());
                (ranking, all)
            };
            topics.iter().map(of_topic).collect()
        };
        let rankings: Vec<Vec<(Vec<bool>, usize)>> = runs.values().map(of_run).collect();
        let of = |measure: &Retrieval| {
            let of_run = |run: &Vec<(Vec<bool>, usize)>| {
                run.iter().map(|(ranking, all)| measure.of(ranking, *all)).collect()
            };
            rankings.iter().map(of_run).collect()
        };
        Self {
            runs: runs.keys().map(String::as_str).collect(),
            topics: topics.iter().map(|topic| topic.as_str()).collect(),
            of: measures.iter().map(of).collect(),
        }
    }

    /// The mean score of every run and of every topic.
    fn push(&self, table: &mut Table, labeller: &str, measures: &[Retrieval]) {
        for (measure, of) in measures.iter().zip(&self.of) {
            let mut push = |group: String, metric: String, values: &[Option<f64>]| {
                let count = values.iter().flatten().count();
                let mut cells = vec![group.into(), labeller.into(), Cell::Missing, metric.into()];
                cells.extend([defined(*measure, values).into(), Cell::Missing, Cell::Missing]);
                cells.extend([count.into(), Cell::from(values.len() - count)]);
                table.push(cells);
            };
            for (run, values) in self.runs.iter().zip(of) {
                push(measure.name(), format!("score:{run}"), values);
            }
            for (index, topic) in self.topics.iter().enumerate() {
                let values: Vec<Option<f64>> = of.iter().map(|run| run[index]).collect();
                push(format!("{}:topics", measure.name()), format!("score:{topic}"), &values);
            }
        }
    }
}

fn without_documents(runs: &Named, topics: &BTreeSet<&String>) -> Vec<Warning> {
    let lacks = |run: &&String| topics.iter().any(|topic| !runs[*run].contains_key(*topic));
    let names: Vec<&String> = runs.keys().filter(lacks).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "runs without a document for some topic, which counts as 0: {}",
        first_names(&names)
    );
    vec![Warning::new("topics_without_documents", names.len(), message)]
}

/// How a kind of files is read.
struct Kind {
    schema: [Column; 4],
    /// Words of a line of TREC, and which of them are the columns of the schema.
    words: usize,
    places: [Option<usize>; 4],
}

const TOPIC: Column = column("topic", &["query", "qid", "query_id"], true);
const DOCUMENT: Column = column("document", &["doc", "docid", "docno", "doc_id", "passage"], true);

const LABELS: Kind = Kind {
    schema: [
        column("source", &["worker", "judge", "model", "llm"], false),
        TOPIC,
        DOCUMENT,
        column("label", &["grade", "relevance", "rel"], true),
    ],
    words: 4,
    places: [None, Some(0), Some(2), Some(3)],
};

const RUNS: Kind = Kind {
    schema: [
        column("run", &["system", "tag", "run_id"], true),
        TOPIC,
        DOCUMENT,
        column("score", &[], true),
    ],
    words: 6,
    places: [Some(5), Some(0), Some(2), Some(4)],
};

/// Numbers of documents by name, topic and document, and the rows read.
fn read(source: &Source, kind: &Kind, problems: &mut Problems) -> (Named, u64) {
    let mut found = Named::new();
    let mut file = FileProblems::new(source, problems);
    let mut add = |line: u64, cells: [Option<&str>; 4], problems: &mut FileProblems<'_>| {
        let [name, topic, document, number] = cells;
        let (Some(topic), Some(document)) = (topic, document) else {
            problems.report(Some(line), None, "needs a topic and a document");
            return;
        };
        let value = number.and_then(|text| text.parse::<f64>().ok()).filter(|n| n.is_finite());
        let Some(value) = value else {
            // A document without a label has none.
            if number.is_some() || kind.words == RUNS.words {
                let column = kind.schema[3].name;
                problems.report(Some(line), Some(column), "is not a number");
            }
            return;
        };
        let name = name.map_or_else(|| source.stem(), str::to_owned);
        let of_topic = found.entry(name).or_default().entry(topic.to_owned()).or_default();
        if of_topic.insert(document.to_owned(), value).is_some() {
            let message = format!("`{document}` stands twice for the topic `{topic}`; remove one");
            problems.report(Some(line), None, message);
        }
    };
    if let Some(lines) = trec(source, kind.words) {
        let mut rows = 0;
        for (line, words) in lines {
            rows += 1;
            if words.len() == kind.words {
                add(line, kind.places.map(|place| place.map(|at| words[at])), &mut file);
            } else {
                let message = format!("has {} words, not {}", words.len(), kind.words);
                file.report(Some(line), None, message);
            }
        }
        return (found, rows);
    }
    let rows = read_rows(source, &kind.schema, &mut file, &mut |row, problems| {
        let cells = [0, 1, 2, 3].map(|index| row.fields[index].as_name());
        add(row.line, cells.each_ref().map(|cell| cell.as_deref()), problems);
    });
    (found, rows)
}

/// The words of every line, if the first has as many as a file of TREC and no comma.
fn trec(source: &Source, words: usize) -> Option<Vec<(u64, Vec<&str>)>> {
    let text = std::str::from_utf8(&source.bytes).ok()?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(u64, Vec<&str>)> =
        lines.map(|(number, line)| (number, line.split_whitespace().collect())).collect();
    let (_, first) = lines.first()?;
    // Its last number is a number, so that it is no header.
    let number = first.get(if words == RUNS.words { 4 } else { 3 })?;
    (first.len() == words && number.parse::<f64>().is_ok()).then_some(lines)
}

#[cfg(test)]
mod tests;
