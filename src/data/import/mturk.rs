//! Batches of Amazon Mechanical Turk, after readers of the format; the states of an assignment after
//! its documentation (data structure `Assignment`).
//!
//! Forms made of crowd elements put all their answers into one column, `Answer.taskAnswers`: a JSON
//! list of one object with a key for each element of the form.

use std::collections::BTreeSet;

use serde_json::Value;

use super::elements::Object;
use super::output::Output;
use super::peek::Peek;
use super::records::{Record, Records};
use super::text_fields::name_of;
use super::{ImportError, Importer, Request};

/// The column of forms made of crowd elements.
const TASK_ANSWERS: &str = "Answer.taskAnswers";

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
        let answer = Answer::of(&records, request)?;
        output.text_fields = vec![answer.name().to_owned()];
        records.each(output, |record, output| {
            if record.get("AssignmentStatus") == Some("Rejected") {
                return output.leave_out("rejected assignments");
            }
            output.took(record.get("WorkTimeInSeconds"));
            match (record.get(task), record.get("WorkerId"), answer.in_row(record)) {
                (Some(task), Some(worker), Some(text)) if request.wanted.is_reviews() => {
                    output.review(task, worker, &text);
                }
                (Some(task), Some(worker), Some(label)) => output.label(task, worker, &label),
                (None, ..) => output.leave_out("assignments without a task"),
                (_, None, _) => output.leave_out("assignments without a worker"),
                (.., None) => output.leave_out("assignments without an answer"),
            }
        })
    }
}

/// Where the answer to the question asked for stands.
enum Answer {
    /// In a column of its own.
    Column(String),
    /// Under a key of [`TASK_ANSWERS`].
    Element(String),
}

impl Answer {
    /// The one that the user names, else the only one.
    fn of(records: &Records<'_>, request: &Request<'_>) -> Result<Self, ImportError> {
        let names = records.names();
        let columns = names.iter().filter(|name| name.starts_with("Answer."));
        let mut answers: Vec<Self> = columns
            .clone()
            .filter(|name| *name != TASK_ANSWERS)
            .map(|name| Self::Column(name.clone()))
            .collect();
        let mut elements = BTreeSet::new();
        if columns.clone().any(|name| name == TASK_ANSWERS) {
            records.look(&mut |record| {
                elements.extend(elements_of(record).into_iter().map(|(name, _)| name));
            });
        }
        answers.extend(elements.into_iter().map(Self::Element));
        let listed = |answers: &[Self]| {
            answers.iter().map(|answer| answer.name().to_owned()).collect::<Vec<_>>().join(", ")
        };
        let all = listed(&answers);
        let Some(asked) = request.settings.columns.get("label") else {
            let message = match answers.len() {
                1 => return Ok(answers.remove(0)),
                0 => "no assignment holds an answer".to_owned(),
                _ => format!("there are several answers; name one as the column `label`: {all}"),
            };
            return Err(request.columns(message));
        };
        // A column may be named without its prefix.
        let short = |answer: &Self| answer.name().strip_prefix("Answer.") == Some(asked);
        let place = answers
            .iter()
            .position(|answer| answer.name() == asked)
            .or_else(|| answers.iter().position(short));
        match place {
            Some(place) => Ok(answers.remove(place)),
            // Any column may be what somebody wants.
            None if names.contains(asked) => Ok(Self::Column(asked.clone())),
            None => Err(request.columns(format!("there is no answer `{asked}`; there are {all}"))),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Column(name) | Self::Element(name) => name,
        }
    }

    fn in_row(&self, record: &Record<'_>) -> Option<String> {
        match self {
            Self::Column(name) => record.get(name).map(str::to_owned),
            Self::Element(name) => answered(name, elements_of(record).get(name)?),
        }
    }
}

/// The answers of a form by the name of its element; nothing where the cell is no such JSON.
fn elements_of(record: &Record<'_>) -> Object {
    let whole = record.get(TASK_ANSWERS).and_then(|cell| serde_json::from_str(cell).ok());
    match whole {
        Some(Value::Array(forms)) => {
            let forms = forms.into_iter().filter_map(|form| match form {
                Value::Object(form) => Some(form),
                _ => None,
            });
            forms.flatten().collect()
        }
        Some(Value::Object(form)) => form,
        _ => Object::new(),
    }
}

/// What was answered: a text as it is; of buttons and boxes, each a name with whether it is chosen,
/// the names of those that are. A single box that is not ticked is `not` its name; a box without a
/// name of its own (`on`) has that of the element.
fn answered(element: &str, value: &Value) -> Option<String> {
    let Value::Object(choices) = value else { return name_of(Some(value)) };
    let chosen = choices.iter().filter(|(_, chosen)| **chosen == Value::Bool(true));
    let names: Vec<&str> = chosen.map(|(name, _)| name.as_str()).collect();
    if let (1, Some(name)) = (choices.len(), choices.keys().next()) {
        let name = if name == "on" { element } else { name };
        return Some(if names.is_empty() { format!("not {name}") } else { name.to_owned() });
    }
    match names.len() {
        0 if choices.is_empty() => None,
        0 => Some("none".to_owned()),
        _ => Some(names.join("; ")),
    }
}
