//! Batches of Amazon Mechanical Turk, after readers of the format; the states of an assignment after
//! its documentation (data structure `Assignment`).
//!
//! Forms made of crowd elements put all their answers into one column, `Answer.taskAnswers`: a JSON
//! list of one object with a key for each element of the form.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::elements::Object;
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::{Nouns, Output};
use super::peek::Peek;
use super::records::{Portrait, Record, Records};
use super::settings::Wanted;
use crate::data::answers::{Answered, set};

/// The column of forms made of crowd elements.
const TASK_ANSWERS: &str = "Answer.taskAnswers";

pub(super) struct MTurk;

const NOUNS: Nouns = Nouns { rows: "assignments", task: "a task", worker: "a worker" };

impl Importer for MTurk {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["HITId", "AssignmentId", "WorkerId"])
            && peek.has_column_that_starts("Answer.")
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let records = Records::of(request)?;
        let task = records.column(request.task(), "HITId")?;
        if request.wanted == Wanted::Items {
            return records.each(output, |record, output| {
                output.item(record.name(&task), record.starting("Input."));
            });
        }
        let worker = records.column(request.worker(), "WorkerId")?;
        let answer = Answer::of(&records, request)?;
        output.text_fields = vec![answer.name().to_owned()];
        records.each(output, |record, output| {
            if record.get("AssignmentStatus") == Some("Rejected") {
                return output.leave_out("rejected assignments");
            }
            output.took(record.get("WorkTimeInSeconds"));
            let answer = answer.in_row(&records, record, request.wanted.is_labels());
            output.person(&NOUNS, record.name(&task), record.name(&worker), answer);
        })
    }
}

/// Where the answer to the question asked for stands.
enum Answer {
    /// In a column of its own.
    Column(String),
    /// In a column for every box, which says whether it is ticked: the name of the question, the columns
    /// and what their boxes are called.
    Boxes(String, Vec<(String, String)>),
    /// Under a key of [`TASK_ANSWERS`].
    Element(String),
}

impl Answer {
    /// The one that the user names, else the only one.
    fn of(records: &Records<'_>, request: &Request<'_>) -> Result<Self, ImportError> {
        let columns = records.called(|name| name.starts_with("Answer."));
        let mut answers: Vec<Self> = Vec::new();
        let boxes = boxes(records, &columns);
        for column in columns.iter().filter(|name| *name != TASK_ANSWERS) {
            let question = column.rsplit_once('.').map_or("", |(question, _)| question);
            match boxes.get(question) {
                Some(of_question) if of_question[0].0 == *column => {
                    answers.push(Self::Boxes(question.to_owned(), of_question.clone()));
                }
                Some(_) => {}
                None => answers.push(Self::Column(column.clone())),
            }
        }
        let mut elements = BTreeSet::new();
        if columns.iter().any(|name| name == TASK_ANSWERS) {
            records.look(&mut |record| {
                elements.extend(elements_of(record).into_iter().map(|(name, _)| name));
                true
            });
        }
        answers.extend(elements.into_iter().map(Self::Element));
        let all: Vec<String> = answers.iter().map(|answer| answer.name().to_owned()).collect();
        let Some(asked) = request.answer() else {
            // A text is what most people wrote more than a few words in.
            let prose = if request.wanted.is_reviews() && answers.len() > 1 {
                records.portraits(None).into_iter().filter(Portrait::is_prose).collect()
            } else {
                Vec::new()
            };
            let texts: Vec<usize> = (0..all.len())
                .filter(|&index| prose.iter().any(|portrait| portrait.name == all[index]))
                .collect();
            return match (texts.as_slice(), all.len()) {
                ([one], _) => Ok(answers.remove(*one)),
                (_, 1) => Ok(answers.remove(0)),
                _ => Err(request.which(None, &all)),
            };
        };
        // A column may be named without its prefix.
        let place = all
            .iter()
            .position(|name| name == asked)
            .or_else(|| all.iter().position(|name| name.strip_prefix("Answer.") == Some(asked)));
        match (place, records.named(asked)) {
            (Some(place), _) => Ok(answers.remove(place)),
            // Any column may be what somebody wants.
            (None, Ok(column)) => Ok(Self::Column(column)),
            (None, Err(_)) => Err(request.which(Some(asked), &all)),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Column(name) | Self::Boxes(name, _) | Self::Element(name) => name,
        }
    }

    fn in_row(&self, records: &Records<'_>, record: &Record<'_>, is_label: bool) -> Answered {
        match self {
            Self::Column(name) => match records.answer(record, name) {
                // Boxes of one name, in the order of the form or of the clicks.
                Answered::Label(boxes) if is_label && boxes.contains('|') => {
                    set(boxes.split('|').map(|name| name.trim().to_owned()).collect())
                }
                answer => answer,
            },
            Self::Boxes(_, boxes) => {
                let cells =
                    || boxes.iter().filter_map(|(column, name)| Some((record.get(column)?, name)));
                let ticked: Vec<String> = cells()
                    .filter(|(cell, _)| cell.eq_ignore_ascii_case("true"))
                    .map(|(_, name)| name.clone())
                    .collect();
                match (cells().count(), ticked.len()) {
                    (0, _) => Answered::Nothing,
                    (_, 0) => Answered::Label("none".to_owned()),
                    _ => set(ticked),
                }
            }
            Self::Element(name) => elements_of(record)
                .get(name)
                .map_or(Answered::Nothing, |value| answered(name, value)),
        }
    }
}

/// Questions with a column for each of several boxes, in which nothing stands but whether it is ticked.
fn boxes(records: &Records<'_>, columns: &[String]) -> BTreeMap<String, Vec<(String, String)>> {
    let mut boxes: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for column in columns {
        if let Some((question, name)) = column.rsplit_once('.').filter(|(q, _)| *q != "Answer") {
            let of_question = boxes.entry(question.to_owned()).or_default();
            of_question.push((column.clone(), name.to_owned()));
        }
    }
    boxes.retain(|_, columns| columns.len() > 1);
    if !boxes.is_empty() {
        let mut ticked: BTreeSet<String> = BTreeSet::new();
        records.look(&mut |record| {
            boxes.retain(|_, columns| {
                columns.iter().all(|(column, _)| {
                    let cell = record.get(column).unwrap_or_default().to_ascii_lowercase();
                    if cell == "true" {
                        ticked.insert(column.clone());
                    }
                    matches!(cell.as_str(), "" | "true" | "false")
                })
            });
            !boxes.is_empty()
        });
        boxes.retain(|_, columns| columns.iter().any(|(column, _)| ticked.contains(column)));
    }
    boxes
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
fn answered(element: &str, value: &Value) -> Answered {
    let Value::Object(choices) = value else { return Answered::of(value) };
    let is_ticked = |ticked: &Value| *ticked == Value::Bool(true);
    match (choices.len(), choices.iter().next()) {
        (1, Some((name, ticked))) if ticked.is_boolean() => {
            let name = if name == "on" { element } else { name };
            let not = if is_ticked(ticked) { "" } else { "not " };
            Answered::Label(format!("{not}{name}"))
        }
        (0, _) => Answered::Nothing,
        _ if choices.values().any(is_ticked) => Answered::of(value),
        _ if choices.values().all(Value::is_boolean) => Answered::Label("none".to_owned()),
        _ => Answered::of(value),
    }
}
