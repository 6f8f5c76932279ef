//! Annotations of Potato: tables `instance_id,user_id,<schema>.<label>`, the older ones with `user` and
//! `<schema>:::<label>`, and `user_state.json`.
//!
//! After potato, `tabular_exporter.py` and `docs/data_format.md`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::elements::{Object, each_object};
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::{Peek, Root};
use super::records::Records;
use super::text_fields::name_of;
use crate::data::answers::{Answered, set};

const NOUNS: Nouns =
    Nouns { rows: "annotations", task: "an instance or a user", worker: "an instance or a user" };

/// Between question and label in the older tables.
const OLD: &str = ":::";

/// Under a user's state: instance, question and label, value.
const STATE: &str = "instance_id_to_label_to_value";

/// Marked places of a user.
const SPANS: &str = "instance_id_to_span_to_value";

pub(super) struct Potato;

impl Importer for Potato {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["instance_id", "user_id"])
            || is_old(peek)
            || peek.first_has(&["user_id", STATE])
            || (peek.has_around("user_id") && peek.has_around(STATE))
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if matches!(request.peek.root, Root::Json { .. }) {
            return user_state(request, output);
        }
        let (between, user) = if is_old(request.peek) { (OLD, "user") } else { (".", "user_id") };
        let (records, task, worker) = Records::by(request, ["instance_id", user])?;
        let mut columns: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for name in records.names() {
            if let Some((schema, label)) = name.split_once(between) {
                columns
                    .entry(schema.to_owned())
                    .or_default()
                    .push((name.clone(), label.to_owned()));
            }
        }
        let questions: Vec<String> = columns.keys().cloned().collect();
        let question = request.question(&questions)?;
        output.text_fields = vec![question.clone()];
        records.each(output, |record, output| {
            let cells = columns[&question].iter();
            let pairs = cells.filter_map(|(name, label)| Some((label.as_str(), record.get(name)?)));
            let answer = answered(pairs);
            if answer == Answered::Nothing {
                return output.leave_out("annotations without an answer");
            }
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
}

fn is_old(peek: &Peek<'_>) -> bool {
    peek.has_columns(&["user", "instance_id"])
        && peek.header().iter().any(|name| name.contains(OLD))
}

/// The labels that are ticked, or what was written or set in a field that has no label.
fn answered<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Answered {
    const FIELDS: [&str; 5] = ["text_box", "textbox", "slider", "number", "select-one"];
    let mut names = Vec::new();
    for (label, value) in pairs {
        if FIELDS.iter().any(|field| label.starts_with(field)) {
            names.push(value.trim().to_owned());
        } else if !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "null")
        {
            names.push(label.to_owned());
        }
    }
    names.retain(|name| !name.is_empty());
    match names.as_slice() {
        [one] => Answered::in_cell(one),
        _ => set(names),
    }
}

/// Every question of an instance, with the labels and their values: pairs of `{schema, name}` and a
/// value, or a map by question.
fn by_question(answers: &Value) -> BTreeMap<String, Vec<(String, String)>> {
    let mut all: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let text = |value: &Value| name_of(Some(value)).unwrap_or_default();
    for pair in answers.as_array().into_iter().flatten() {
        let label = pair.get(0);
        let field = |key: &str| name_of(label?.get(key));
        if let Some(schema) = field("schema") {
            let value = pair.get(1).map(text).unwrap_or_default();
            all.entry(schema).or_default().push((field("name").unwrap_or_default(), value));
        }
    }
    for (schema, value) in answers.as_object().into_iter().flatten() {
        let labels = all.entry(schema.clone()).or_default();
        match value {
            Value::Object(ticked) => {
                labels.extend(ticked.iter().map(|(label, value)| (label.clone(), text(value))));
            }
            other => labels.push(("text_box".into(), text(other))),
        }
    }
    all
}

/// One user's state: answers by instance.
fn user_state(request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
    let instances = |state: &Object| {
        let instances = state.get(STATE).and_then(Value::as_object).cloned();
        instances.into_iter().flatten().collect::<Vec<_>>()
    };
    let mut questions: BTreeSet<String> = BTreeSet::new();
    let looked = each_object(request.peek.bytes, &mut |_, state| {
        let answers = instances(&state);
        questions.extend(answers.iter().flat_map(|(_, answers)| by_question(answers).into_keys()));
        true
    });
    looked.map_err(|broken| request.broken(broken))?;
    let questions: Vec<String> = questions.into_iter().collect();
    if questions.is_empty() && memchr::memmem::find(request.peek.bytes, SPANS.as_bytes()).is_some()
    {
        output.spans += 1;
        return Ok(());
    }
    let question = request.question(&questions)?;
    let read = each_object(request.peek.bytes, &mut |place, state| {
        output.at(place.0);
        let Some(worker) = name_of(state.get("user_id")) else {
            output.leave_out("states without a user");
            return true;
        };
        for (task, answers) in instances(&state) {
            output.read += 1;
            let labels = by_question(&answers).remove(&question).unwrap_or_default();
            let pairs = labels.iter().map(|(label, value)| (label.as_str(), value.as_str()));
            output.person(&NOUNS, Some(&task), Some(&worker), answered(pairs));
        }
        true
    });
    output.text_fields = vec![question];
    request.whole(read, output)
}
