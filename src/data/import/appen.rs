//! Judgments of Appen (`CrowdFlower`), the full report: `_unit_id`, `_worker_id`, `_trust`, `_tainted`.
//!
//! After its documentation, "Guide to: Reports Page and Settings Explained" (the full report): judgments of a contributor who was
//! removed for too many wrong answers to test questions are tainted. Read in public files, for example
//! of `CrowdTruth`.

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::records::Records;

const NOUNS: Nouns = Nouns { rows: "judgments", task: "a unit", worker: "a worker" };

pub(super) struct Appen;

impl Importer for Appen {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["_unit_id", "_worker_id", "_tainted"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let (records, task, worker) = Records::by(request, ["_unit_id", "_worker_id"])?;
        let about = records.called(|name| name.starts_with('_') || name.ends_with("_gold"));
        let about: Vec<&str> = about.iter().map(String::as_str).collect();
        let answer = records.only_answer(&task, &about)?;
        output.text_fields = vec![answer.clone()];
        records.each(output, |record, output| {
            let is_tainted = |cell: &str| {
                ["true", "t", "1", "yes"].iter().any(|yes| cell.eq_ignore_ascii_case(yes))
            };
            if record.get("_tainted").is_some_and(is_tainted) {
                return output.leave_out("tainted judgments");
            }
            let answer = records.answer(record, &answer);
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
}
