//! Assignments of Toloka, after toloka-kit, `src/client/assignment.py`.

use sha2::{Digest, Sha256};

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::records::Records;
use super::settings::Wanted;

const NOUNS: Nouns = Nouns { rows: "assignments", task: "a task", worker: "a worker" };

pub(super) struct Toloka;

impl Importer for Toloka {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_column_that_starts("INPUT:")
            && peek.has_column_that_starts("OUTPUT:")
            && peek.has_columns(&["ASSIGNMENT:worker_id"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let records = Records::of(request)?;
        let (inputs, outputs) = (
            records.called(|name| name.starts_with("INPUT:")),
            records.called(|name| name.starts_with("OUTPUT:")),
        );
        let is_item = request.wanted == Wanted::Items;
        let answer = match (request.answer(), outputs.as_slice()) {
            _ if is_item => String::new(),
            // A column may be named without its prefix.
            (Some(asked), _) => match records.named(asked) {
                Ok(name) => name,
                Err(error) => records.named(&format!("OUTPUT:{asked}")).map_err(|_| error)?,
            },
            (None, [one]) => one.clone(),
            (None, several) => return Err(request.which(None, several)),
        };
        let task = request.task().map(|task| records.named(task)).transpose()?;
        let worker = records.column(request.worker(), "ASSIGNMENT:worker_id")?;
        output.text_fields = if is_item { Vec::new() } else { vec![answer.clone()] };
        records.each(output, |record, output| {
            // Golden tasks have a known answer and repeat; they count like others.
            let task = match &task {
                Some(name) => record.name(name).map(str::to_owned),
                None => {
                    Some(digest(inputs.iter().map(|name| record.get(name).unwrap_or_default())))
                }
            };
            if is_item {
                return output.item(task.as_deref(), record.starting("INPUT:"));
            }
            let status = record.get("ASSIGNMENT:status").unwrap_or_default();
            if status.eq_ignore_ascii_case("rejected") {
                return output.leave_out("rejected assignments");
            }
            let answer = records.answer(record, &answer);
            output.person(&NOUNS, task.as_deref(), record.name(&worker), answer);
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
