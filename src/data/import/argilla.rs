//! Records of Argilla 2: `responses` by people, `suggestions` by models; nested, or flat with columns
//! such as `<question>.responses`.
//!
//! After argilla, `argilla/src/argilla/records/`.

use serde_json::Value;

use super::elements::{Object, each_object};
use super::output::Output;
use super::peek::Peek;
use super::text_fields::name_of;
use super::{ImportError, Importer, Request, first_has};

pub(super) struct Argilla;

impl Importer for Argilla {
    fn name(&self) -> &'static str {
        "argilla"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        first_has(peek, &["fields", "responses"])
            || (first_has(peek, &["id"])
                && peek
                    .objects()
                    .iter()
                    .any(|record| record.keys().any(|key| key.ends_with(".responses"))))
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let mut question = request.settings.columns.get("label").cloned();
        let read = each_object(peek.bytes, &mut |place, record| {
            output.at(place.0);
            let id = request.task_of(&record).or_else(|| name_of(record.get("id")));
            let Some(id) = id.or_else(|| name_of(record.get("_server_id"))) else {
                output.read += 1;
                output.leave_out("records without an id");
                return true;
            };
            if record.contains_key("responses") {
                nested(&record, &id, &mut question, request, output);
            } else {
                flat(&record, &id, &mut question, request, output);
            }
            true
        });
        output.text_fields = question.into_iter().collect();
        read.map(|_| ()).map_err(|broken| request.broken(broken))
    }
}

/// The question asked for, else the first that was met.
fn is_wanted(question: &mut Option<String>, name: &str) -> bool {
    question.get_or_insert_with(|| name.to_owned()) == name
}

fn nested(
    record: &Object,
    id: &str,
    question: &mut Option<String>,
    request: &Request<'_>,
    output: &mut Output,
) {
    let answers = record.get("responses").and_then(Value::as_object);
    for (name, responses) in answers.into_iter().flatten() {
        if !is_wanted(question, name) {
            continue;
        }
        for response in responses.as_array().into_iter().flatten() {
            let status = response.get("status").and_then(Value::as_str);
            put(
                id,
                name_of(response.get("user_id")),
                response.get("value"),
                status,
                request,
                output,
            );
        }
    }
    let suggestions = record.get("suggestions").and_then(Value::as_object);
    for (name, suggestion) in suggestions.into_iter().flatten() {
        if is_wanted(question, name) {
            let agent = name_of(suggestion.get("agent"));
            suggest(id, agent, suggestion.get("value"), request, output);
        }
    }
}

fn flat(
    record: &Object,
    id: &str,
    question: &mut Option<String>,
    request: &Request<'_>,
    output: &mut Output,
) {
    for (key, values) in record {
        let list = |part: &str, name: &str| {
            record
                .get(&format!("{name}.responses.{part}"))
                .or_else(|| record.get(&format!("{name}.{part}")))
        };
        if let Some(name) = key.strip_suffix(".responses") {
            if !is_wanted(question, name) {
                continue;
            }
            let users = list("users", name).and_then(Value::as_array);
            let statuses = list("status", name).and_then(Value::as_array);
            for (index, value) in values.as_array().into_iter().flatten().enumerate() {
                let user = users.and_then(|users| name_of(users.get(index)));
                let status = statuses.and_then(|list| list.get(index)).and_then(Value::as_str);
                put(id, user, Some(value), status, request, output);
            }
        } else if let Some(name) = key.strip_suffix(".suggestion")
            && is_wanted(question, name)
        {
            let agent = name_of(record.get(&format!("{name}.suggestion.agent")));
            suggest(id, agent, Some(values), request, output);
        }
    }
}

fn answer(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Array(list) => {
            let names: Vec<String> = list.iter().filter_map(|item| name_of(Some(item))).collect();
            (!names.is_empty()).then(|| names.join("; "))
        }
        one => name_of(Some(one)),
    }
}

fn put(
    id: &str,
    user: Option<String>,
    value: Option<&Value>,
    status: Option<&str>,
    request: &Request<'_>,
    output: &mut Output,
) {
    output.read += 1;
    match (user, answer(value)) {
        _ if matches!(status, Some("discarded" | "draft")) => {
            output.leave_out("discarded or draft responses");
        }
        (None, _) => output.leave_out("responses without a user"),
        (_, None) => output.leave_out("responses without an answer"),
        (Some(user), Some(text)) if request.wanted.is_reviews() => output.review(id, &user, &text),
        (Some(user), Some(label)) => output.label(id, &user, &label),
    }
}

fn suggest(
    id: &str,
    agent: Option<String>,
    value: Option<&Value>,
    request: &Request<'_>,
    output: &mut Output,
) {
    let Some(text) = answer(value) else { return };
    let agent = agent.unwrap_or_else(|| "suggestions".into());
    if request.wanted.is_reviews() {
        output.llm_review(id, &agent, &text);
    } else {
        output.llm_label(id, &agent, &text);
    }
}
