//! Records of Argilla: `responses` by people, `suggestions` by models; nested as in version 2 or 1, or
//! flat with columns such as `<question>.responses`.
//!
//! After argilla, `argilla/src/argilla/records/`, and for version 1 its documentation of
//! `FeedbackRecord`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::elements::{Object, each_object};
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::settings::Wanted;
use super::text_fields::name_of;
use crate::data::answers::Answered;

const NOUNS: Nouns = Nouns { rows: "responses", task: "an id", worker: "a user" };

pub(super) struct Argilla;

impl Importer for Argilla {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.first_has(&["fields", "responses"])
            || (peek.first_has(&["id"])
                && peek
                    .objects()
                    .iter()
                    .any(|record| record.keys().any(|key| key.ends_with(".responses"))))
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let is_item = request.wanted == Wanted::Items;
        let mut questions: BTreeSet<String> = BTreeSet::new();
        let looked = each_object(request.peek.bytes, &mut |_, record| {
            questions.extend(said(&record).into_iter().map(|said| said.question.to_owned()));
            true
        });
        looked.map_err(|broken| request.broken(broken))?;
        let questions: Vec<String> = questions.into_iter().collect();
        let question = if is_item { String::new() } else { request.question(&questions)? };
        let read = each_object(request.peek.bytes, &mut |place, record| {
            output.at(place.0);
            let id = request.task_of(&record).or_else(|| name_of(record.get("id")));
            let id = id.or_else(|| name_of(record.get("_server_id")));
            if is_item {
                output.begin(place.0);
                let fields = record.get("fields").and_then(Value::as_object).into_iter().flatten();
                let fields = fields.map(|(name, value)| (name.as_str(), value.clone()));
                output.item(id.as_deref(), fields);
                return true;
            }
            let Some(id) = id else {
                output.read += 1;
                output.leave_out("records without an id");
                return true;
            };
            for said in said(&record).into_iter().filter(|said| said.question == question) {
                let value = said.value.map(|value| value.get("value").unwrap_or(value));
                let answer = request.answered(value);
                if said.is_model {
                    let model = said.who.unwrap_or_else(|| "suggestions".into());
                    if !matches!(answer, Answered::Nothing) {
                        output.model("suggestions", &id, &model, answer);
                    }
                    continue;
                }
                output.read += 1;
                if matches!(said.status, Some("discarded" | "draft")) {
                    output.leave_out("discarded or draft responses");
                } else {
                    output.person(&NOUNS, Some(&id), said.who.as_deref(), answer);
                }
            }
            true
        });
        output.text_fields = vec![question];
        output.text_fields.retain(|name| !name.is_empty());
        request.whole(read, output)
    }
}

/// What somebody said to a question.
struct Said<'a> {
    question: &'a str,
    who: Option<String>,
    is_model: bool,
    status: Option<&'a str>,
    value: Option<&'a Value>,
}

/// Everything that is said about a record, in each of the three forms.
fn said(record: &Object) -> Vec<Said<'_>> {
    let text =
        |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut all = Vec::new();
    match record.get("responses") {
        Some(Value::Object(questions)) => {
            for (question, responses) in questions {
                all.extend(responses.as_array().into_iter().flatten().map(|response| Said {
                    question,
                    who: name_of(response.get("user_id")),
                    is_model: false,
                    status: response.get("status").and_then(Value::as_str),
                    value: response.get("value"),
                }));
            }
        }
        // Version 1: a response has the answers to all questions.
        Some(Value::Array(responses)) => {
            for response in responses {
                let values = response.get("values").and_then(Value::as_object);
                all.extend(values.into_iter().flatten().map(|(question, value)| Said {
                    question,
                    who: name_of(response.get("user_id")),
                    is_model: false,
                    status: response.get("status").and_then(Value::as_str),
                    value: Some(value),
                }));
            }
        }
        _ => flat(record, &mut all),
    }
    match record.get("suggestions") {
        Some(Value::Object(questions)) => {
            all.extend(questions.iter().map(|(question, suggestion)| Said {
                question,
                who: text(suggestion, "agent"),
                is_model: true,
                status: None,
                value: suggestion.get("value"),
            }));
        }
        Some(Value::Array(suggestions)) => {
            all.extend(suggestions.iter().filter_map(|suggestion| {
                Some(Said {
                    question: suggestion.get("question_name")?.as_str()?,
                    who: text(suggestion, "agent"),
                    is_model: true,
                    status: None,
                    value: suggestion.get("value"),
                })
            }));
        }
        _ => {}
    }
    all
}

/// Columns such as `<question>.responses` with lists of the same length.
fn flat<'a>(record: &'a Object, all: &mut Vec<Said<'a>>) {
    for (key, values) in record {
        if let Some(question) = key.strip_suffix(".responses") {
            let list = |part: &str| {
                let long = record.get(&format!("{question}.responses.{part}"));
                long.or_else(|| record.get(&format!("{question}.{part}")))?.as_array()
            };
            let (users, statuses) = (list("users"), list("status"));
            let values = values.as_array().into_iter().flatten().enumerate();
            all.extend(values.map(|(index, value)| Said {
                question,
                who: users.and_then(|users| name_of(users.get(index))),
                is_model: false,
                status: statuses.and_then(|list| list.get(index)).and_then(Value::as_str),
                value: Some(value),
            }));
        } else if let Some(question) = key.strip_suffix(".suggestion") {
            all.push(Said {
                question,
                who: name_of(record.get(&format!("{question}.suggestion.agent"))),
                is_model: true,
                status: None,
                value: Some(values),
            });
        }
    }
}
