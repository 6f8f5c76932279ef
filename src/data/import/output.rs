//! Where importers put their rows: JSON lines under caz's names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::settings::Wanted;
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

/// Rows by people, rows by LLMs, and what was left out.
#[derive(Debug)]
pub(super) struct Output {
    wanted: Wanted,
    /// Whether the format gave reviews, and whether it gave labels.
    pub(super) gave: Gave,
    pub(super) people: Lines,
    pub(super) llm: Lines,
    pub(super) read: u64,
    place: u64,
    /// Seconds of work on the next row.
    seconds: Option<f64>,
    pub(super) left_out: BTreeMap<String, u64>,
    pub(super) text_fields: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

impl Output {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            gave: Gave::default(),
            people: Lines::default(),
            llm: Lines::default(),
            read: 0,
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
    pub(super) fn label(&mut self, task: &str, worker: &str, label: &str) {
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
    pub(super) fn llm_label(&mut self, task: &str, source: &str, label: &str) {
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
