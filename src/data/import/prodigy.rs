//! JSON lines of Prodigy: `_input_hash`, `_task_hash`, and who annotated. Known from other readers
//! of the format, not from its source.

use serde_json::Value;

use super::elements::each_object;
use super::output::Output;
use super::peek::Peek;
use super::text_fields::name_of;
use super::{ImportError, Importer, Request, first_has};

pub(super) struct Prodigy;

impl Importer for Prodigy {
    fn name(&self) -> &'static str {
        "prodigy"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        first_has(peek, &["_input_hash", "_task_hash"])
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let read = each_object(peek.bytes, &mut |place, example| {
            output.begin(place.0);
            let task = request.task_of(&example).or_else(|| name_of(example.get("_input_hash")));
            let worker = name_of(example.get("_annotator_id"))
                .or_else(|| name_of(example.get("_session_id")));
            let decision = example.get("answer").and_then(Value::as_str);
            let label = match (example.get("accept"), name_of(example.get("label"))) {
                // The choices that were ticked; none is an answer, too.
                (Some(Value::Array(ticked)), _) => {
                    let names: Vec<String> =
                        ticked.iter().filter_map(|choice| name_of(Some(choice))).collect();
                    Some(if names.is_empty() { "none".to_owned() } else { names.join("; ") })
                }
                // A binary question: is it this label?
                (_, Some(label)) => match decision {
                    Some("accept") => Some(label),
                    Some("reject") => Some(format!("not {label}")),
                    _ => None,
                },
                _ => None,
            };
            match (task, worker, label) {
                _ if decision == Some("ignore") => output.leave_out("ignored examples"),
                // What is ticked on an example that was rejected is what somebody found wrong.
                _ if decision == Some("reject") && example.contains_key("accept") => {
                    output.leave_out("rejected examples");
                }
                (Some(task), Some(worker), Some(label)) => output.label(&task, &worker, &label),
                (_, None, _) => output.leave_out("examples without an annotator"),
                _ => output.leave_out("examples without an answer"),
            }
            true
        });
        output.text_fields = vec!["accept or label".into()];
        read.map(|_| ()).map_err(|broken| request.broken(broken))
    }
}
