//! Annotations of doccano: `{username}.jsonl` of the export by users, and the older form whose
//! `annotations` say who gave them.
//!
//! After doccano, `backend/data_export/celery_tasks.py` and `pipeline/`; the rows of the export by users
//! do not say who annotated, the name of the file does.

use serde_json::Value;

use super::elements::{Object, each_object};
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::settings::Wanted;
use super::text_fields::name_of;
use crate::data::answers::{Answered, set};

/// Where the answers are, by kind of project: labels of the text, labels of an intent with its entities,
/// entities with relations, boxes.
const ANSWERS: [&str; 4] = ["label", "cats", "entities", "bbox"];

const NOUNS: Nouns = Nouns { rows: "examples", task: "an id", worker: "an annotator" };

pub(super) struct Doccano;

impl Importer for Doccano {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        let by_user = |example: &Object| {
            let has = |key: &str| example.contains_key(key);
            let commented = has("Comments") && ANSWERS.iter().any(|key| has(key));
            // Before version 1.5.
            let older = has("data")
                && example["data"].is_string()
                && example.get("label").is_some_and(Value::is_array);
            commented || older || approved(example)
        };
        peek.objects().iter().any(|example| {
            example.contains_key("id") && (by_user(example) || annotations(example).is_some())
        })
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let is_old = request.peek.objects().iter().any(|example| annotations(example).is_some());
        let is_approved = request.peek.objects().iter().any(approved);
        if (request.stem == "all" && !is_old) || is_approved {
            return Err(ImportError::Refused {
                file: request.file.clone(),
                what:
                    "an export of the annotations of all users of doccano together, which does not \
                       say who annotated"
                        .into(),
                instead: "export it once more with one file per user".into(),
            });
        }
        let has =
            |key: &str| request.peek.objects().iter().any(|example| example.contains_key(key));
        let first = ANSWERS.into_iter().find(|key| has(key)).unwrap_or(ANSWERS[0]);
        let question = request.answer().unwrap_or(first);
        let read = each_object(request.peek.bytes, &mut |place, example| {
            output.at(place.0);
            let task = request.task_of(&example).or_else(|| name_of(example.get("id")));
            let task = task.as_deref();
            if request.wanted == Wanted::Items {
                output.begin(place.0);
                let text = example.get("text").or_else(|| example.get("data"));
                output.item(task, text.map(|text| ("text", text.clone())).into_iter());
                return true;
            }
            if let Some(annotations) = annotations(&example) {
                old(task, annotations, output);
            } else {
                output.read += 1;
                let answer = request.answered(example.get(question));
                output.person(&NOUNS, task, Some(&request.stem), answer);
            }
            true
        });
        output.text_fields = vec![if is_old { "annotations" } else { question }.to_owned()];
        request.whole(read, output)
    }
}

/// Whether the example is of an export before version 1.3: all annotators in one, and who approved.
fn approved(example: &Object) -> bool {
    ["annotation_approver", "labels", "text"].iter().all(|key| example.contains_key(*key))
}

/// The annotations of the older form, if the example is in it.
fn annotations(example: &Object) -> Option<&Vec<Value>> {
    let list = example.get("annotations")?.as_array()?;
    let is_old = example.contains_key("text") && !example.contains_key("data");
    let says_who = list.iter().all(|annotation| annotation.get("user").is_some());
    (is_old && says_who).then_some(list)
}

/// Each user's annotations are one answer.
fn old(task: Option<&str>, annotations: &[Value], output: &mut Output) {
    let mut users: Vec<(String, Vec<String>, bool)> = Vec::new();
    for annotation in annotations {
        let Some(user) = name_of(annotation.get("user")) else {
            output.read += 1;
            output.leave_out("annotations without a user");
            continue;
        };
        let position = users.iter().position(|(known, ..)| *known == user).unwrap_or_else(|| {
            users.push((user, Vec::new(), false));
            users.len() - 1
        });
        users[position].2 |= annotation.get("start_offset").is_some();
        let label = annotation.get("label").or_else(|| annotation.get("text"));
        users[position].1.extend(name_of(label));
    }
    for (user, labels, is_span) in users {
        output.read += 1;
        let answer = if is_span { Answered::Spans } else { set(labels) };
        output.person(&NOUNS, task, Some(&user), answer);
    }
}
