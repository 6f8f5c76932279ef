//! JSON lines of Prodigy: `_input_hash`, `_task_hash`, and who annotated. Known from other readers
//! of the format, not from its source.

use serde_json::Value;

use super::elements::each_object;
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::settings::Wanted;
use super::text_fields::name_of;
use crate::data::answers::{Answered, text_of};

const NOUNS: Nouns = Nouns { rows: "examples", task: "a task", worker: "an annotator" };

pub(super) struct Prodigy;

impl Importer for Prodigy {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.first_has(&["_input_hash", "_task_hash"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let asked = request.answer();
        let read = each_object(request.peek.bytes, &mut |place, example| {
            output.begin(place.0);
            let task = request.task_of(&example).or_else(|| name_of(example.get("_input_hash")));
            if request.wanted == Wanted::Items {
                let text = example.get("text").map(|text| ("text", text.clone()));
                output.item(task.as_deref(), text.into_iter());
                return true;
            }
            let worker = name_of(example.get("_annotator_id"))
                .or_else(|| name_of(example.get("_session_id")));
            let decision = example.get("answer").and_then(Value::as_str);
            let accept = example.get("accept").and_then(Value::as_array);
            let spans = example.get("spans").and_then(Value::as_array);
            let answer = match (asked, accept, name_of(example.get("label"))) {
                (Some(asked), ..) if asked != "accept" && asked != "label" => {
                    example.get(asked).map_or(Answered::Nothing, text_of)
                }
                // The choices that were ticked; none is an answer, too.
                (_, Some(ticked), _) if ticked.is_empty() => Answered::Label("none".to_owned()),
                (_, Some(ticked), _) => Answered::of(&Value::Array(ticked.clone())),
                // A binary question: is it this label?
                (_, _, Some(label)) => match decision {
                    Some("accept") => Answered::Label(label),
                    Some("reject") => Answered::Label(format!("not {label}")),
                    _ => Answered::Nothing,
                },
                _ if spans.is_some_and(|spans| !spans.is_empty()) => Answered::Spans,
                _ => Answered::Nothing,
            };
            if decision == Some("ignore") {
                output.leave_out("ignored examples");
            } else if decision == Some("reject") && accept.is_some() {
                // What is ticked on an example that was rejected is what somebody found wrong.
                output.leave_out("rejected examples");
            } else {
                output.person(&NOUNS, task.as_deref(), worker.as_deref(), answer);
            }
            true
        });
        output.text_fields = vec![asked.unwrap_or("accept or label").to_owned()];
        request.whole(read, output)
    }
}
