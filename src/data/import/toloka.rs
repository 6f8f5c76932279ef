//! Assignments of Toloka, after toloka-kit, `src/client/assignment.py`.

use sha2::{Digest, Sha256};

use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::{ImportError, Importer, Request};

pub(super) struct Toloka;

impl Importer for Toloka {
    fn name(&self) -> &'static str {
        "toloka"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_column_that_starts("INPUT:")
            && peek.has_column_that_starts("OUTPUT:")
            && peek.has_columns(&["ASSIGNMENT:worker_id"])
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let records = Records::of(peek, request)?;
        let starting = |start: &str| -> Vec<String> {
            records.names().iter().filter(|name| name.starts_with(start)).cloned().collect()
        };
        let (inputs, outputs) = (starting("INPUT:"), starting("OUTPUT:"));
        let answer = match (request.settings.columns.get("label"), outputs.as_slice()) {
            (Some(asked), _) => asked.clone(),
            (None, [one]) => one.clone(),
            (None, several) => {
                let message = format!(
                    "there are several outputs; name one as the column `label`: {}",
                    several.join(", ")
                );
                return Err(request.columns(message));
            }
        };
        let task = request.settings.columns.get("task");
        output.text_fields = vec![answer.clone()];
        records.each(output, |record, output| {
            if record
                .get("ASSIGNMENT:status")
                .is_some_and(|status| status.eq_ignore_ascii_case("rejected"))
            {
                return output.leave_out("rejected assignments");
            }
            // Golden tasks have a known answer and repeat; they count like others.
            let task = match task {
                Some(name) => record.get(name).map(str::to_owned),
                None => {
                    Some(digest(inputs.iter().map(|name| record.get(name).unwrap_or_default())))
                }
            };
            match (task, record.get("ASSIGNMENT:worker_id"), record.get(&answer)) {
                (Some(task), Some(worker), Some(text)) if request.wanted.is_reviews() => {
                    output.review(&task, worker, text);
                }
                (Some(task), Some(worker), Some(label)) => output.label(&task, worker, label),
                (None, ..) => output.leave_out("assignments without a task"),
                (_, None, _) => output.leave_out("assignments without a worker"),
                (.., None) => output.leave_out("assignments without an answer"),
            }
        })
    }
}

/// A name for a task made of its inputs: the same inputs are the same task.
fn digest<'a>(inputs: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for input in inputs {
        hash.update(input.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
