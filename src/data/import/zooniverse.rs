//! Classifications of Zooniverse: a row a classification, the answers as JSON in `annotations`.
//!
//! After panoptes, `app/models/...` is not needed: the columns and the JSON are those that
//! aggregation-for-caesar reads (`panoptes_aggregation/scripts/extract_panoptes_csv.py`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::records::{Record, Records};
use super::text_fields::name_of;

const NOUNS: Nouns = Nouns { rows: "classifications", task: "a subject", worker: "a user" };

pub(super) struct Zooniverse;

impl Importer for Zooniverse {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["classification_id", "user_name", "annotations", "subject_ids"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let (records, task, worker) = Records::by(request, ["subject_ids", "user_name"])?;
        // Every workflow of a project counts its tasks from T0.
        let mut workflows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        records.look(&mut |record| {
            for (task, _) in annotations(record) {
                workflows.entry(task).or_default().insert(workflow(record));
            }
            true
        });
        let questions: BTreeMap<String, (&String, Option<&String>)> = workflows
            .iter()
            .flat_map(|(task, of)| {
                let is_alone = of.len() == 1;
                of.iter().map(move |workflow| {
                    let name = format!("{workflow}/{task}");
                    if is_alone {
                        (task.clone(), (task, None))
                    } else {
                        (name, (task, Some(workflow)))
                    }
                })
            })
            .collect();
        let question = request.question(&questions.keys().cloned().collect::<Vec<_>>())?;
        let (asked, only) = questions[&question];
        output.text_fields = vec![question.clone()];
        records.each(output, |record, output| {
            if only.is_some_and(|only| *only != workflow(record)) {
                return output.leave_out("classifications of another workflow");
            }
            let found = annotations(record).into_iter().find(|(task, _)| task == asked);
            let answer = request.answered(found.as_ref().map(|(_, value)| value));
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
}

fn workflow(record: &Record<'_>) -> String {
    record.get("workflow_id").unwrap_or_default().to_owned()
}

/// The answers of a classification by task of the workflow.
fn annotations(record: &Record<'_>) -> Vec<(String, Value)> {
    let all = record.get("annotations").and_then(|cell| serde_json::from_str(cell).ok());
    let Some(Value::Array(all)) = all else { return Vec::new() };
    let pairs = all.into_iter().filter_map(|mut annotation| {
        let value = annotation.get_mut("value").map(Value::take)?;
        Some((name_of(annotation.get("task"))?, value))
    });
    pairs.collect()
}
