//! Classifications of Zooniverse: a row a classification, the answers as JSON in `annotations`.
//!
//! After panoptes, `app/models/...` is not needed: the columns and the JSON are those that
//! aggregation-for-caesar reads (`panoptes_aggregation/scripts/extract_panoptes_csv.py`).

use std::collections::BTreeSet;

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
        let mut questions = BTreeSet::new();
        records.look(&mut |record| {
            questions.extend(annotations(record).into_iter().map(|(task, _)| task));
            true
        });
        let question = request.question(&questions.into_iter().collect::<Vec<_>>())?;
        output.text_fields = vec![question.clone()];
        records.each(output, |record, output| {
            let found = annotations(record).into_iter().find(|(task, _)| *task == question);
            let answer = request.answered(found.as_ref().map(|(_, value)| value));
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
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
