//! Data for the tests of the fitted mechanisms: random tables, and real crowds where they are at
//! hand.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

use std::path::PathBuf;

use proptest::prelude::*;

use crate::data::ids::Ids;
use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::data::z::{ZLabels, ZSample, ZSource};

/// Names `0..count`, enough for tables made of numbers.
pub(super) fn numbers(count: usize) -> Ids {
    let mut ids = Ids::new();
    for number in 0..count {
        ids.intern(&number.to_string());
    }
    ids
}

/// A table of numbered tasks, workers and labels.
pub(super) fn numbered(
    (tasks, workers, labels): (usize, usize, usize),
    reports: &[(u32, u32, Label)],
) -> LabelTable {
    let names =
        LabelNames { tasks: numbers(tasks), workers: numbers(workers), labels: numbers(labels) };
    let reports: Vec<LabelReport> =
        reports.iter().map(|&(task, worker, label)| LabelReport { task, worker, label }).collect();
    LabelTable::new(names, &reports)
}

/// Up to 6 tasks, 4 workers and 6 labels; tasks and workers without a report happen. At least one
/// report.
pub(super) fn small_tables() -> impl Strategy<Value = LabelTable> {
    (1..=6_usize, 1..=4_usize, 1..=6_usize).prop_flat_map(|(tasks, workers, labels)| {
        let report = proptest::option::weighted(0.7, 0..labels as Label);
        proptest::collection::vec(report, tasks * workers)
            .prop_filter("at least one report", |grid| grid.iter().any(Option::is_some))
            .prop_map(move |grid| {
                let reports: Vec<_> = grid
                    .iter()
                    .enumerate()
                    .filter_map(|(cell, label)| {
                        Some(((cell / workers) as u32, (cell % workers) as u32, (*label)?))
                    })
                    .collect();
                numbered((tasks, workers, labels), &reports)
            })
    })
}

/// One sample of one source per list of labels.
pub(super) fn z_of(table: &LabelTable, sources: &[Vec<Vec<Option<Label>>>]) -> ZLabels {
    let mut labels = table.labels().clone();
    let largest = sources.iter().flatten().flatten().flatten().max();
    for number in labels.len()..largest.map_or(0, |&label| usize::from(label) + 1) {
        labels.intern(&format!("only z {number}"));
    }
    let sources = sources
        .iter()
        .enumerate()
        .map(|(source, samples)| ZSource {
            name: format!("llm{source}"),
            samples: samples
                .iter()
                .enumerate()
                .map(|(sample, labels)| ZSample {
                    name: sample.to_string(),
                    labels: labels.clone(),
                })
                .collect(),
        })
        .collect();
    ZLabels { sources, labels }
}

/// A real crowd with the truth of its tasks; the data are not part of the project, so only ignored
/// tests may ask for it.
pub(super) fn real_crowd(folder: &str) -> (LabelTable, Vec<Option<Label>>) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    assert!(path.is_dir(), "no data in {}", path.display());
    let rows = |file: &str| -> Vec<csv::StringRecord> {
        let mut reader = csv::Reader::from_path(path.join(file)).unwrap();
        reader.records().map(Result::unwrap).collect()
    };
    let mut names = LabelNames::default();
    let reports: Vec<LabelReport> = rows("labels.csv")
        .iter()
        .map(|row| LabelReport {
            task: names.tasks.intern(&row[0]),
            worker: names.workers.intern(&row[1]),
            label: names.labels.intern(&row[2]) as Label,
        })
        .collect();
    let mut truth = vec![None; names.tasks.len()];
    for row in rows("truth.csv") {
        if let Some(task) = names.tasks.get(&row[0]) {
            truth[task as usize] = names.labels.get(&row[1]).map(|label| label as Label);
        }
    }
    (LabelTable::new(names, &reports), truth)
}

/// A real crowd and every sample of every LLM that labelled it, by task number.
///
/// # Panics
///
/// Where the data are not at hand: such a test must not pass without them.
pub(crate) fn crowd_with_samples(folder: &str) -> (LabelTable, Vec<Vec<Option<Label>>>) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    let rows = |file: &str| -> Vec<csv::StringRecord> {
        let mut reader = csv::Reader::from_path(path.join(file)).expect("../shared/data is there");
        reader.records().map(Result::unwrap).collect()
    };
    let mut names = LabelNames::default();
    let reports: Vec<LabelReport> = rows("labels.csv")
        .iter()
        .map(|row| LabelReport {
            task: names.tasks.intern(&row[0]),
            worker: names.workers.intern(&row[1]),
            label: names.labels.intern(&row[2]) as Label,
        })
        .collect();
    let mut known: Vec<String> = Vec::new();
    let mut samples: Vec<Vec<Option<Label>>> = Vec::new();
    for row in rows("z.csv") {
        let name = format!("{} {}", &row[2], &row[3]);
        let index = known.iter().position(|other| *other == name).unwrap_or_else(|| {
            known.push(name);
            samples.push(vec![None; names.tasks.len()]);
            samples.len() - 1
        });
        let label = names.labels.get(&row[1]).map(|label| label as Label);
        if let Some(task) = names.tasks.get(&row[0]) {
            samples[index][task as usize] = label;
        }
    }
    (LabelTable::new(names, &reports), samples)
}
