//! Exports of Label Studio: JSON with every annotation, and the flat JSON-MIN, CSV and TSV.
//!
//! After label-studio-sdk, `converter/converter.py` and `converter/exports/csv2.py`. The results of an
//! annotation stand in the order of the clicks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::elements::{Object, each_object};
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::records::Records;
use super::settings::Wanted;
use super::text_fields::name_of;
use crate::data::answers::{Answered, has_place, set, text_of};

/// Columns of the flat exports that are no answers.
const ABOUT: [&str; 7] =
    ["id", "annotator", "annotation_id", "lead_time", "created_at", "updated_at", "agreement"];

const NOUNS: Nouns = Nouns { rows: "annotations", task: "a task", worker: "an annotator" };

/// `data` and `annotations[]` (old exports: `completions`); what models predicted goes to Z.
pub(super) struct LabelStudio;

impl Importer for LabelStudio {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.objects().iter().any(|task| task.contains_key("data") && annotations(task).is_some())
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        // Which controls there are, and whether they hold texts.
        let mut controls: BTreeMap<String, bool> = BTreeMap::new();
        let looked = each_object(request.peek.bytes, &mut |_, task| {
            let predictions = task.get("predictions").and_then(Value::as_array);
            let all = annotations(&task).into_iter().flatten();
            for (name, value) in all.chain(predictions.into_iter().flatten()).flat_map(results) {
                let is_text = value.contains_key("text") && !has_place(value);
                *controls.entry(name.to_owned()).or_default() |= is_text;
            }
            true
        });
        looked.map_err(|broken| request.broken(broken))?;
        let control = if request.wanted == Wanted::Items {
            String::new()
        } else {
            // A review is a text where one is written.
            let texts = controls.values().any(|is_text| *is_text) && request.wanted.is_reviews();
            let names = controls.iter().filter(|(_, is_text)| !texts || **is_text);
            request.question(&names.map(|(name, _)| name.clone()).collect::<Vec<_>>())?
        };
        let read = each_object(request.peek.bytes, &mut |place, task| {
            output.at(place.0);
            let id = request.task_of(&task).or_else(|| name_of(task.get("id")));
            if request.wanted == Wanted::Items {
                output.begin(place.0);
                let data = task.get("data").and_then(Value::as_object).into_iter().flatten();
                output
                    .item(id.as_deref(), data.map(|(name, value)| (name.as_str(), value.clone())));
            } else {
                put(&task, id.as_deref(), &control, output);
            }
            true
        });
        output.text_fields = vec![control];
        output.text_fields.retain(|name| !name.is_empty());
        request.whole(read, output)
    }
}

fn annotations(task: &Object) -> Option<&Vec<Value>> {
    task.get("annotations").or_else(|| task.get("completions"))?.as_array()
}

/// The results of an annotation: the name of the control, and what was chosen.
fn results(annotation: &Value) -> impl Iterator<Item = (&str, &Object)> {
    let list = annotation.get("result").and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|result| {
        Some((result.get("from_name")?.as_str()?, result.get("value")?.as_object()?))
    })
}

fn put(task: &Object, id: Option<&str>, control: &str, output: &mut Output) {
    let Some(id) = id else {
        output.read += 1;
        return output.leave_out("tasks without an id");
    };
    for annotation in annotations(task).into_iter().flatten() {
        output.read += 1;
        if annotation.get("was_cancelled").is_some_and(|cancelled| cancelled == &Value::Bool(true))
        {
            output.leave_out("cancelled annotations");
            continue;
        }
        let worker = annotation.get("completed_by");
        let worker = name_of(worker)
            .or_else(|| name_of(worker?.get("email")))
            .or_else(|| name_of(worker?.get("id")));
        output.took(annotation.get("lead_time").map(Value::to_string).as_deref());
        match answer(annotation, control) {
            Ok(answer) => output.person(&NOUNS, Some(id), worker.as_deref(), answer),
            Err(reason) => output.leave_out(format!("annotations {reason}")),
        }
    }
    for prediction in task.get("predictions").and_then(Value::as_array).into_iter().flatten() {
        let model =
            name_of(prediction.get("model_version")).unwrap_or_else(|| "predictions".into());
        match answer(prediction, control) {
            Ok(answer) => output.model("predictions", id, &model, answer),
            Err(reason) => output.leave_out(format!("predictions {reason}")),
        }
    }
}

/// The answer under a control, or why it has none that is about the whole task.
fn answer(annotation: &Value, control: &str) -> Result<Answered, &'static str> {
    let values: Vec<&Object> =
        results(annotation).filter(|(name, _)| *name == control).map(|(_, value)| value).collect();
    let places = values.iter().filter(|value| has_place(value)).count();
    let is_span = |value: &&Object| value.keys().any(|key| key.ends_with("labels"));
    if places > 0 && values.iter().any(is_span) {
        return Ok(Answered::Spans);
    }
    if places > 1 {
        return Err("with an answer for each of several parts");
    }
    let mut names = Vec::new();
    for value in &values {
        match one(value) {
            Answered::Label(label) => names.push(label),
            Answered::Nothing | Answered::Word(_) => {}
            other => return Ok(other),
        }
    }
    match values.as_slice() {
        [one_value] => Ok(one(one_value)),
        // Texts are no set.
        several if several.iter().all(|value| value.contains_key("text")) => {
            Ok(text_of(&names.into()))
        }
        _ => Ok(set(names)),
    }
}

fn one(value: &Object) -> Answered {
    const KEYS: [&str; 7] =
        ["choices", "taxonomy", "labels", "rating", "number", "datetime", "selected"];
    match (KEYS.iter().find_map(|key| value.get(*key)), value.get("text")) {
        (Some(chosen), _) => Answered::of(chosen),
        (None, Some(text)) => text_of(text),
        (None, None) if value.is_empty() => Answered::Nothing,
        (None, None) => Answered::Structure,
    }
}

/// One row an annotation: `annotator, annotation_id, lead_time, ...` and the controls.
pub(super) struct LabelStudioTable;

impl Importer for LabelStudioTable {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        const KEYS: [&str; 3] = ["annotator", "annotation_id", "lead_time"];
        peek.has_columns(&KEYS) || peek.first_has(&KEYS)
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let (records, task, worker) = Records::by(request, ["id", "annotator"])?;
        let control = records.only_answer(&task, &ABOUT)?;
        output.text_fields = vec![control.clone()];
        records.each(output, |record, output| {
            output.took(record.get("lead_time"));
            let answer = records.answer(record, &control);
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
}
