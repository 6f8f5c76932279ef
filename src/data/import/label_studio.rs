//! Exports of Label Studio: JSON with every annotation, and the flat JSON-MIN, CSV and TSV.
//!
//! After label-studio-sdk, `converter/converter.py` and `converter/exports/csv2.py`.

use serde_json::Value;

use super::elements::{Object, each_object};
use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::text_fields::name_of;
use super::{ImportError, Importer, Request};

/// Columns of the flat exports that are no answers.
const ABOUT: [&str; 7] =
    ["id", "annotator", "annotation_id", "lead_time", "created_at", "updated_at", "agreement"];

/// `data` and `annotations[]` (old exports: `completions`); what models predicted goes to Z.
pub(super) struct LabelStudio;

impl Importer for LabelStudio {
    fn name(&self) -> &'static str {
        "label-studio"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.objects().iter().any(|task| task.contains_key("data") && annotations(task).is_some())
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let asked = request.settings.columns.get("label").map(String::as_str);
        let mut control: Option<String> = asked.map(str::to_owned);
        let read = each_object(peek.bytes, &mut |place, task| {
            output.at(place.0);
            put(&task, request, &mut control, output);
            true
        });
        output.text_fields = control.into_iter().collect();
        read.map(|_| ()).map_err(|broken| request.broken(broken))
    }
}

fn annotations(task: &Object) -> Option<&Vec<Value>> {
    task.get("annotations").or_else(|| task.get("completions"))?.as_array()
}

fn put(task: &Object, request: &Request<'_>, control: &mut Option<String>, output: &mut Output) {
    let Some(id) = request.task_of(task).or_else(|| name_of(task.get("id"))) else {
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
        let Some(worker) = worker else {
            output.leave_out("annotations without an annotator");
            continue;
        };
        output.took(annotation.get("lead_time").map(Value::to_string).as_deref());
        match answer(annotation, control) {
            Some(label) if request.wanted.is_reviews() => output.review(&id, &worker, &label),
            Some(label) => output.label(&id, &worker, &label),
            None => output.leave_out("annotations without an answer"),
        }
    }
    for prediction in task.get("predictions").and_then(Value::as_array).into_iter().flatten() {
        let model =
            name_of(prediction.get("model_version")).unwrap_or_else(|| "predictions".into());
        match answer(prediction, control) {
            Some(label) if request.wanted.is_reviews() => output.llm_review(&id, &model, &label),
            Some(label) => output.llm_label(&id, &model, &label),
            None => output.leave_out("predictions without an answer"),
        }
    }
}

/// The answer under the control asked for; under the first one met where none was.
fn answer(annotation: &Value, control: &mut Option<String>) -> Option<String> {
    for result in annotation.get("result")?.as_array()? {
        let Some(name) = result.get("from_name").and_then(Value::as_str) else { continue };
        if control.as_deref().is_some_and(|control| control != name) {
            continue;
        }
        let value = result.get("value")?;
        let found = ["choices", "labels", "taxonomy", "text"]
            .iter()
            .find_map(|key| several(value.get(*key)?))
            .or_else(|| name_of(value.get("rating")))
            .or_else(|| name_of(value.get("number")));
        if let Some(found) = found {
            control.get_or_insert_with(|| name.to_owned());
            return Some(found);
        }
    }
    None
}

/// One string, or several joined in their order.
fn several(value: &Value) -> Option<String> {
    match value {
        Value::Array(list) => {
            let names: Vec<String> = list.iter().filter_map(|item| name_of(Some(item))).collect();
            (!names.is_empty()).then(|| names.join("; "))
        }
        one => name_of(Some(one)),
    }
}

/// One row an annotation: `annotator, annotation_id, lead_time, ...` and the controls.
pub(super) struct LabelStudioTable;

impl Importer for LabelStudioTable {
    fn name(&self) -> &'static str {
        "label-studio-min"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        const KEYS: [&str; 3] = ["annotator", "annotation_id", "lead_time"];
        peek.has_columns(&KEYS)
            || peek
                .objects()
                .first()
                .is_some_and(|row| KEYS.iter().all(|key| row.contains_key(*key)))
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let records = Records::of(peek, request)?;
        let task = request.settings.columns.get("task").map_or("id", String::as_str);
        let control = match request.settings.columns.get("label") {
            Some(asked) => asked.clone(),
            None => records.only_answer(task, &ABOUT, request)?,
        };
        output.text_fields = vec![control.clone()];
        records.each(output, |record, output| {
            output.took(record.get("lead_time"));
            match (record.get(task), record.get("annotator"), record.get(&control)) {
                (Some(task), Some(worker), Some(label)) if request.wanted.is_reviews() => {
                    output.review(task, worker, label);
                }
                (Some(task), Some(worker), Some(label)) => output.label(task, worker, label),
                (_, None, _) => output.leave_out("annotations without an annotator"),
                (None, ..) => output.leave_out("annotations without a task"),
                (.., None) => output.leave_out("annotations without an answer"),
            }
        })
    }
}
