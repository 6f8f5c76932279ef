//! Where importers put their rows: JSON lines under caz's names.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::settings::Wanted;
use crate::data::answers::Answered;
use crate::data::warning::Warning;

/// JSON lines in the making.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    /// Where each row stood in the file.
    pub(super) places: Vec<u64>,
}

impl Lines {
    /// How many rows there are.
    pub(super) fn count(&self) -> u64 {
        self.places.len() as u64
    }

    fn push(&mut self, place: u64, fields: &[(&str, &Value)]) {
        let object: Map<String, Value> = fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| ((*key).to_owned(), (*value).clone()))
            .collect();
        // A map of values has no key that is no string and no number that is not finite.
        self.bytes.extend_from_slice(Value::Object(object).to_string().as_bytes());
        self.bytes.push(b'\n');
        self.places.push(place);
    }
}

/// What a format gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gave {
    pub(super) reviews: bool,
    pub(super) labels: bool,
}

/// What the rows of a format are called where they are left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nouns {
    /// In the plural.
    pub(super) rows: &'static str,
    pub(super) task: &'static str,
    pub(super) worker: &'static str,
}

/// Rows by people, rows by LLMs, and what was left out.
#[derive(Debug)]
pub(super) struct Output {
    wanted: Wanted,
    /// Whether a word for nothing is a label like any other.
    exact: bool,
    /// Whether the format gave reviews, and whether it gave labels.
    pub(super) gave: Gave,
    pub(super) people: Lines,
    pub(super) llm: Lines,
    pub(super) read: u64,
    /// Rows with an answer, where a row may have several.
    pub(super) answered: Option<u64>,
    /// Rows without their last cells.
    pub(super) short: u64,
    /// Answers that are marked places.
    pub(super) spans: u64,
    /// Rows that are left out and hold the error of a spreadsheet.
    pub(super) spreadsheet_errors: u64,
    /// Tasks that were put out as items.
    items: HashSet<String>,
    place: u64,
    /// Seconds of work on the next row.
    seconds: Option<f64>,
    pub(super) left_out: BTreeMap<String, u64>,
    pub(super) text_fields: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

impl Output {
    pub(super) fn new(wanted: Wanted, exact: bool) -> Self {
        Self {
            wanted,
            exact,
            gave: Gave::default(),
            people: Lines::default(),
            llm: Lines::default(),
            read: 0,
            answered: None,
            short: 0,
            spans: 0,
            spreadsheet_errors: 0,
            items: HashSet::new(),
            place: 0,
            seconds: None,
            left_out: BTreeMap::new(),
            text_fields: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// One more row was read: the one at this line, or of this number in a list.
    pub(super) fn begin(&mut self, place: u64) {
        self.read += 1;
        self.place = place;
    }

    /// The place of the row that was begun.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// What follows stood there, whenever it was read.
    pub(super) fn at(&mut self, place: u64) {
        self.place = place;
    }

    /// How long somebody worked on the next row; what is no number says nothing.
    pub(super) fn took(&mut self, seconds: Option<&str>) {
        self.seconds = seconds.and_then(|seconds| seconds.parse().ok());
    }

    /// What a person answered, as a review or a label; left out where something is missing.
    pub(super) fn person(
        &mut self,
        nouns: &Nouns,
        task: Option<&str>,
        worker: Option<&str>,
        answer: Answered,
    ) {
        let Nouns { rows, task: no_task, worker: no_worker } = nouns;
        let Some(task) = task else {
            return self.leave_out(format!("{rows} without {no_task}"));
        };
        let Some(worker) = worker else {
            return self.leave_out(format!("{rows} without {no_worker}"));
        };
        match self.taken(rows, answer) {
            Some(text) if self.wanted.is_reviews() => self.review(task, worker, &text),
            Some(label) => self.label(task, worker, &label),
            None => {}
        }
    }

    /// What a model answered; `rows` is what is left out where it did not.
    pub(super) fn model(&mut self, rows: &str, task: &str, model: &str, answer: Answered) {
        match self.taken(rows, answer) {
            Some(text) if self.wanted.is_reviews() => self.llm_review(task, model, &text),
            Some(label) => self.llm_label(task, model, &label),
            None => {}
        }
    }

    fn taken(&mut self, rows: &str, answer: Answered) -> Option<String> {
        match answer {
            Answered::Label(text) => return Some(text),
            Answered::Word(word) if self.exact && !self.wanted.is_reviews() => return Some(word),
            Answered::Nothing | Answered::Word(_) => {
                self.leave_out(format!("{rows} without an answer"));
            }
            Answered::Spans => self.spans += 1,
            Answered::Structure => self.leave_out(format!("{rows} whose answer has parts")),
        }
        None
    }

    /// The label in a cell, `null` where there is none; whether it is left out is for the caller.
    pub(super) fn label_of(&mut self, cell: Option<&str>) -> Value {
        match cell.map_or(Answered::Nothing, Answered::in_cell) {
            Answered::Label(label) => Value::from(label),
            Answered::Word(word) if self.exact => Value::from(word),
            Answered::Spans => {
                self.spans += 1;
                Value::Null
            }
            Answered::Nothing | Answered::Word(_) | Answered::Structure => Value::Null,
        }
    }

    /// A review by a person.
    pub(super) fn review(&mut self, paper: &str, reviewer: &str, text: &str) {
        self.gave.reviews = true;
        let who = if self.wanted.is_llm() { "source" } else { "reviewer" };
        let [paper, reviewer, text] = [paper, reviewer, text].map(Value::from);
        let seconds = Value::from(self.seconds.take());
        let fields = [("paper", &paper), (who, &reviewer), ("text", &text), ("seconds", &seconds)];
        self.people.push(self.place, &fields);
    }

    /// A review by an LLM.
    pub(super) fn llm_review(&mut self, paper: &str, source: &str, text: &str) {
        let [paper, source, text] = [paper, source, text].map(Value::from);
        self.push_llm(&[("paper", &paper), ("source", &source), ("text", &text)]);
    }

    /// A label by a person.
    fn label(&mut self, task: &str, worker: &str, label: &str) {
        self.gave.labels = true;
        let [task, worker, label] = [task, worker, label].map(Value::from);
        if self.wanted == Wanted::Truth {
            return self.people.push(self.place, &[("task", &task), ("truth", &label)]);
        }
        let who = if self.wanted.is_llm() { "source" } else { "worker" };
        let seconds = Value::from(self.seconds.take());
        let fields = [("task", &task), (who, &worker), ("label", &label), ("seconds", &seconds)];
        self.people.push(self.place, &fields);
    }

    /// A label by an LLM.
    fn llm_label(&mut self, task: &str, source: &str, label: &str) {
        let [task, source, label] = [task, source, label].map(Value::from);
        self.push_llm(&[("task", &task), ("source", &source), ("label", &label)]);
    }

    fn push_llm(&mut self, fields: &[(&str, &Value)]) {
        match self.wanted {
            Wanted::Truth | Wanted::Gold => self.leave_out("rows by an LLM"),
            Wanted::Labellers | Wanted::Texts => self.people.push(self.place, fields),
            _ => self.llm.push(self.place, fields),
        }
    }

    /// What a task is about, once for each task.
    pub(super) fn item<'a>(
        &mut self,
        task: Option<&str>,
        fields: impl Iterator<Item = (&'a str, Value)>,
    ) {
        let Some(task) = task else { return self.leave_out("rows without a task") };
        if !self.items.insert(task.to_owned()) {
            return self.leave_out("further rows of a task");
        }
        let mut row = vec![("task", Value::from(task))];
        row.extend(fields.filter(|(name, _)| *name != "task"));
        self.row(&row);
    }

    /// Any row under caz's names; `null` is left out.
    pub(super) fn row(&mut self, fields: &[(&str, Value)]) {
        let fields: Vec<(&str, &Value)> = fields.iter().map(|(key, value)| (*key, value)).collect();
        self.people.push(self.place, &fields);
    }

    /// One more row that is left out.
    pub(super) fn leave_out(&mut self, reason: impl Into<String>) {
        *self.left_out.entry(reason.into()).or_default() += 1;
    }
}
