//! Answers of Qualtrics: three header rows, the third with `{"ImportId":"QID1"}`; a row a respondent,
//! a column a question. Known from other readers of the format, not from its source.

use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::{ImportError, Importer, Request};

/// Columns about the respondent and the survey.
const ABOUT: [&str; 17] = [
    "StartDate",
    "EndDate",
    "Status",
    "IPAddress",
    "Progress",
    "Duration (in seconds)",
    "Finished",
    "RecordedDate",
    "ResponseId",
    "RecipientLastName",
    "RecipientFirstName",
    "RecipientEmail",
    "ExternalReference",
    "LocationLatitude",
    "LocationLongitude",
    "DistributionChannel",
    "UserLanguage",
];

/// What the column `Status` says, in words or in numbers, of answers that no respondent gave.
const NO_RESPONDENT: [&str; 14] = [
    "1",
    "Survey Preview",
    "2",
    "Survey Test",
    "8",
    "Spam",
    "9",
    "Survey Preview Spam",
    "12",
    "Imported Spam",
    "17",
    "Offline Survey Preview",
    "40",
    "EX Spam",
];

/// Whether a column of the third header row is that of a question: all others were set by the survey
/// or by the panel, such as `PROLIFIC_PID`.
fn is_question(cell: &str) -> bool {
    let id = serde_json::from_str::<serde_json::Value>(cell).ok();
    let id = id.as_ref().and_then(|value| value.get("ImportId")?.as_str());
    // Of a question asked about several things ("loop and merge") the number of the thing comes first.
    let asked =
        |id: &str| id.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').to_owned();
    // An unreadable cell takes nothing away.
    id.is_none_or(|id| asked(id).starts_with("QID"))
}

pub(super) struct Qualtrics;

impl Importer for Qualtrics {
    fn name(&self) -> &'static str {
        "qualtrics"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["ResponseId"]) && memchr::memmem::find(peek.bytes, b"ImportId").is_some()
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let records = Records::of(peek, request)?;
        let mut questions: Vec<String> = records
            .names()
            .iter()
            .filter(|name| !ABOUT.contains(&name.as_str()) && !name.trim().is_empty())
            .cloned()
            .collect();
        let mut row = 0;
        records.each(output, |record, output| {
            row += 1;
            // The wording of the questions, and their import ids.
            let is_header = row <= 2
                && record
                    .get("ResponseId")
                    .is_none_or(|id| id == "Response ID" || id.contains("ImportId"));
            if is_header {
                output.read -= 1;
                questions.retain(|question| {
                    let asked = record.get(question).is_none_or(is_question);
                    if !asked {
                        output.leave_out(format!("column that is no question, `{question}`"));
                    }
                    asked
                });
                return;
            }
            let Some(worker) = record.get("ResponseId") else {
                return output.leave_out("respondents without an id");
            };
            if record.get("Status").is_some_and(|status| NO_RESPONDENT.contains(&status)) {
                return output.leave_out("previews, tests and spam");
            }
            if record.get("Finished").is_some_and(|done| matches!(done, "0" | "False" | "FALSE")) {
                return output.leave_out("unfinished answers");
            }
            for question in &questions {
                if let Some(answer) = record.get(question) {
                    if request.wanted.is_reviews() {
                        output.review(question, worker, answer);
                    } else {
                        output.label(question, worker, answer);
                    }
                }
            }
        })
    }
}
