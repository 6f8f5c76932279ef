//! Answers to surveys: a row a respondent, a column a question.
//!
//! Qualtrics after other readers of the format; `LimeSurvey` after its manual ("Export responses") and
//! `application/helpers/admin/export/`; Google Forms after its help ("View & manage form responses");
//! `SurveyMonkey` after its help ("Exporting survey data", all responses data).

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::records::{Record, Records};
use super::settings::Wide;
use super::wide::Sheet;
use crate::data::near::folded;

/// A system, and what of its columns is what.
pub(super) struct Survey {
    pub(super) name: &'static str,
    /// Columns that its files have.
    has: &'static [&'static str],
    /// Columns that say who answered, of which the first that a file has is taken.
    who: &'static [&'static str],
    /// Columns that are no questions.
    about: &'static [&'static str],
    /// Why a row is no whole answer of a respondent, if it is none.
    lacks: fn(&Record<'_>) -> Option<&'static str>,
}

/// Three header rows, the third with `{"ImportId":"QID1"}`.
pub(super) const QUALTRICS: Survey = Survey {
    name: "qualtrics",
    has: &["ResponseId"],
    who: &["ResponseId"],
    about: &[
        "StartDate",
        "EndDate",
        "Status",
        "IPAddress",
        "Progress",
        "Duration (in seconds)",
        "Finished",
        "RecordedDate",
        "RecipientLastName",
        "RecipientFirstName",
        "RecipientEmail",
        "ExternalReference",
        "LocationLatitude",
        "LocationLongitude",
        "DistributionChannel",
        "UserLanguage",
    ],
    lacks: |record| {
        /// What `Status` says, in words or in numbers, of answers that no respondent gave.
        const NO_RESPONDENT: [&str; 13] = [
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
        ];
        if record.get("ResponseId").is_none() {
            return Some("respondents without an id");
        }
        let is =
            |name: &str, words: &[&str]| record.get(name).is_some_and(|cell| words.contains(&cell));
        if is("Status", &NO_RESPONDENT) || is("Status", &["EX Spam"]) {
            return Some("previews, tests and spam");
        }
        is("Finished", &["0", "False", "FALSE"]).then_some("unfinished answers")
    },
};

pub(super) const LIME_SURVEY: Survey = Survey {
    name: "limesurvey",
    has: &["id", "submitdate", "lastpage", "startlanguage"],
    who: &["token", "id"],
    about: &[
        "submitdate",
        "lastpage",
        "startlanguage",
        "seed",
        "startdate",
        "datestamp",
        "ipaddr",
        "refurl",
        "id",
    ],
    lacks: |record| record.get("submitdate").is_none().then_some("unfinished answers"),
};

/// The header has the questions, and an empty name for every further choice; the second row has what
/// can be answered.
pub(super) const SURVEY_MONKEY: Survey = Survey {
    name: "surveymonkey",
    has: &["Respondent ID", "Collector ID"],
    who: &["Respondent ID"],
    about: &[
        "Collector ID",
        "Start Date",
        "End Date",
        "IP Address",
        "Email Address",
        "First Name",
        "Last Name",
        "Custom Data 1",
    ],
    lacks: |record| record.get("Respondent ID").is_none().then_some("rows without a respondent"),
};

/// Only of forms whose questions are the tasks: one that asks for a paper and a review is a table.
pub(super) const GOOGLE_FORMS: Survey = Survey {
    name: "google-forms",
    has: &["Timestamp", "Email Address"],
    who: &["Email Address"],
    about: &["Timestamp", "Score"],
    lacks: |_| None,
};

/// Whether a column of the third header row is that of a question: all others were set by the survey
/// or by the panel, such as `PROLIFIC_PID`.
fn is_question(cell: &str) -> bool {
    // Of a question asked about several things ("loop and merge") the number of the thing comes first.
    let asked = |id: &str| {
        id.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').starts_with("QID")
    };
    // An unreadable cell takes nothing away.
    import_id(cell).is_none_or(|id| asked(&id))
}

/// What stands in a cell such as `{"ImportId":"QID1"}`.
fn import_id(cell: &str) -> Option<String> {
    let id = serde_json::from_str::<serde_json::Value>(cell).ok()?;
    Some(id.get("ImportId")?.as_str()?.to_owned())
}

impl Importer for Survey {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        const OF_TABLES: [&str; 14] = [
            "paper",
            "paper_id",
            "submission",
            "submission_id",
            "manuscript",
            "task",
            "task_id",
            "item",
            "label",
            "answer",
            "review",
            "text",
            "reviewer",
            "worker",
        ];
        let is_table = || peek.names().any(|name| OF_TABLES.contains(&folded(name).as_str()));
        peek.has_columns(self.has)
            && match self.name {
                "qualtrics" => memchr::memmem::find(peek.bytes, b"ImportId").is_some(),
                "google-forms" => !is_table(),
                _ => true,
            }
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let records = Records::of(request)?;
        let has = |name: &&&str| records.names().iter().any(|other| other == **name);
        let name = match (request.worker(), self.who.iter().find(has)) {
            (Some(asked), _) => records.named(asked)?,
            (None, Some(found)) => (*found).to_owned(),
            (None, None) => return Err(request.columns("no column says who answered".into())),
        };
        let answers = if request.settings.answer_columns.is_empty() {
            let is_about =
                |written: &str| self.about.contains(&written) || self.who.contains(&written);
            records.called(|written| !is_about(written))
        } else {
            let asked = request.settings.answer_columns.iter().map(|name| records.named(name));
            asked.collect::<Result<Vec<_>, _>>()?
        };
        let mut ids: Vec<Option<String>> = Vec::new();
        let mut row = 0;
        records.look(&mut |record| {
            row += 1;
            if answers
                .iter()
                .any(|name| record.get(name).is_some_and(|cell| import_id(cell).is_some()))
            {
                ids = answers.iter().map(|name| record.get(name).map(str::to_owned)).collect();
            }
            row < 3 && ids.is_empty()
        });
        let mut kept = Vec::new();
        for (index, name) in answers.into_iter().enumerate() {
            if name != *request.worker().unwrap_or_default()
                && ids.get(index).and_then(Option::as_deref).is_none_or(is_question)
            {
                kept.push(name);
            } else {
                output.leave_out(format!("column that is no question, `{name}`"));
            }
        }
        Sheet { way: Wide::Worker, name, answers: kept, says_headers: false }.read(
            &records,
            request,
            output,
            &self.lacks,
        )
    }
}
