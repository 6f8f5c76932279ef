//! Batches of Amazon Mechanical Turk. Known from other readers of the format, not from its source.

use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::{ImportError, Importer, Request};

pub(super) struct MTurk;

impl Importer for MTurk {
    fn name(&self) -> &'static str {
        "mturk"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["HITId", "AssignmentId", "WorkerId"])
            && peek.has_column_that_starts("Answer.")
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let records = Records::of(peek, request)?;
        let task = request.settings.columns.get("task").map_or("HITId", String::as_str);
        let answers: Vec<&String> =
            records.names().iter().filter(|name| name.starts_with("Answer.")).collect();
        let answer = match (request.settings.columns.get("label"), answers.as_slice()) {
            (Some(asked), _) => asked.clone(),
            (None, [one]) => (*one).clone(),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                let message = format!(
                    "there are several answers; name one as the column `label`: {}",
                    names.join(", ")
                );
                return Err(request.columns(message));
            }
        };
        output.text_fields = vec![answer.clone()];
        records.each(output, |record, output| {
            if record.get("AssignmentStatus") == Some("Rejected") {
                return output.leave_out("rejected assignments");
            }
            match (record.get(task), record.get("WorkerId"), record.get(&answer)) {
                (Some(task), Some(worker), Some(text)) if request.wanted.is_reviews() => {
                    output.review(task, worker, text);
                }
                (Some(task), Some(worker), Some(label)) => output.label(task, worker, label),
                (None, ..) => output.leave_out("assignments without a task"),
                (_, None, _) => output.leave_out("assignments without a worker"),
                (.., None) => output.leave_out("assignments without an answer"),
            }
        })
    }
}
