//! Annotations of Potato: flat tables `instance_id,user_id,<schema>.<label>`, and `user_state.json`.
//!
//! After potato, `tabular_exporter.py`.

use serde_json::Value;

use super::elements::each_object;
use super::output::Output;
use super::peek::{Peek, Root};
use super::records::Records;
use super::text_fields::name_of;
use super::{ImportError, Importer, Request};

pub(super) struct Potato;

impl Importer for Potato {
    fn name(&self) -> &'static str {
        "potato"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["instance_id", "user_id"])
            || (peek.has_around("user_id") && peek.has_around("instance_id_to_label_to_value"))
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        if matches!(peek.root, Root::Json { .. }) {
            return user_state(peek, request, output);
        }
        let records = Records::of(peek, request)?;
        // Columns of one question are `schema.label`; a ticked one is filled in.
        let mut schemas: Vec<&str> = records
            .names()
            .iter()
            .filter_map(|name| name.split_once('.').map(|(schema, _)| schema))
            .collect();
        schemas.sort_unstable();
        schemas.dedup();
        let asked = request.settings.columns.get("label").map(String::as_str);
        let schema = match (asked, schemas.as_slice()) {
            (Some(asked), _) => asked.to_owned(),
            (None, [one]) => (*one).to_owned(),
            (None, several) => {
                let message = format!(
                    "there are several questions; name one as the column `label`: {}",
                    several.join(", ")
                );
                return Err(request.columns(message));
            }
        };
        output.text_fields = vec![schema.clone()];
        let start = format!("{schema}.");
        let labels: Vec<(String, String)> = records
            .names()
            .iter()
            .filter_map(|name| Some((name.clone(), name.strip_prefix(&start)?.to_owned())))
            .collect();
        records.each(output, |record, output| {
            let ticked: Vec<&str> = labels
                .iter()
                .filter(|(name, _)| {
                    record.get(name).is_some_and(|value| !matches!(value, "0" | "false" | "False"))
                })
                .map(|(_, label)| label.as_str())
                .collect();
            match (record.get("instance_id"), record.get("user_id")) {
                _ if ticked.is_empty() => output.leave_out("annotations without an answer"),
                (Some(task), Some(worker)) => output.label(task, worker, &ticked.join("; ")),
                _ => output.leave_out("annotations without an instance or a user"),
            }
        })
    }
}

/// One user's state: answers by instance.
fn user_state(
    peek: &Peek<'_>,
    request: &Request<'_>,
    output: &mut Output,
) -> Result<(), ImportError> {
    let asked = request.settings.columns.get("label").cloned();
    let read = each_object(peek.bytes, &mut |place, state| {
        output.at(place.0);
        let Some(worker) = name_of(state.get("user_id")) else {
            output.leave_out("states without a user");
            return true;
        };
        let instances = state.get("instance_id_to_label_to_value").and_then(Value::as_object);
        for (task, answers) in instances.into_iter().flatten() {
            output.read += 1;
            match first_answer(answers, asked.as_deref()) {
                Some(label) => output.label(task, &worker, &label),
                None => output.leave_out("annotations without an answer"),
            }
        }
        true
    });
    read.map(|_| ()).map_err(|broken| request.broken(broken))
}

/// Answers are pairs of `{schema, name}` and a value, or a map by schema.
fn first_answer(answers: &Value, asked: Option<&str>) -> Option<String> {
    if let Some(pairs) = answers.as_array() {
        return pairs.iter().find_map(|pair| {
            let label = pair.get(0)?;
            let schema = label.get("schema").and_then(Value::as_str);
            let wanted = asked.is_none() || asked == schema;
            wanted.then(|| name_of(label.get("name")).or_else(|| name_of(pair.get(1)))).flatten()
        });
    }
    let map = answers.as_object()?;
    let value = match asked {
        Some(asked) => map.get(asked)?,
        None => map.values().next()?,
    };
    match value {
        Value::Object(ticked) => ticked.keys().next().cloned(),
        other => name_of(Some(other)),
    }
}
