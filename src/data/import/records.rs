//! The rows of a table, or of JSON whose objects are flat, by column name.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::elements::{Broken, each_object};
use super::output::Output;
use super::peek::{Peek, Root};
use super::text_fields::TextFields;
use super::{ImportError, Request};
use crate::data::near::listed;
use crate::data::rows::LineCounter;

/// The rows of a file.
pub(super) struct Records<'a> {
    peek: &'a Peek<'a>,
    request: &'a Request<'a>,
    names: Vec<String>,
}

/// One row.
pub(super) struct Record<'a> {
    names: &'a [String],
    cells: Vec<Option<String>>,
    /// Its line, or its number in a list.
    place: u64,
}

impl Record<'_> {
    /// A cell that is not blank, trimmed.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let position = self.names.iter().position(|other| other == name)?;
        let cell = self.cells[position].as_deref()?.trim();
        (!cell.is_empty()).then_some(cell)
    }
}

impl<'a> Records<'a> {
    pub(super) fn of(peek: &'a Peek<'a>, request: &'a Request<'a>) -> Result<Self, ImportError> {
        let names = match &peek.root {
            Root::Table { header, .. } => header.clone(),
            Root::Json { .. } => {
                let mut names: Vec<String> = Vec::new();
                let mut known: HashSet<String> = HashSet::new();
                let read = each_object(peek.bytes, &mut |_, object| {
                    for name in object.keys().filter(|name| !known.contains(*name)) {
                        names.push(name.clone());
                    }
                    known.extend(names[known.len()..].iter().cloned());
                    true
                });
                read.map_err(|broken| request.broken(broken))?;
                names
            }
            _ => Vec::new(),
        };
        Ok(Self { peek, request, names })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Every row; counts them.
    pub(super) fn each(
        &self,
        output: &mut Output,
        mut visit: impl FnMut(&Record<'_>, &mut Output),
    ) -> Result<(), ImportError> {
        self.rows(&mut |record| {
            output.begin(record.place);
            visit(record, output);
        })
    }

    /// Looks at every row before they are read; damage is reported when they are.
    pub(super) fn look(&self, visit: &mut dyn FnMut(&Record<'_>)) {
        let _ = self.rows(visit);
    }

    fn rows(&self, visit: &mut dyn FnMut(&Record<'_>)) -> Result<(), ImportError> {
        let Root::Table { delimiter, .. } = self.peek.root else {
            let read = each_object(self.peek.bytes, &mut |place, object| {
                let cells = self.names.iter().map(|name| cell_of(object.get(name))).collect();
                visit(&Record { names: &self.names, cells, place: place.0 });
                true
            });
            return read.map(|_| ()).map_err(|broken| self.request.broken(broken));
        };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .from_reader(self.peek.bytes);
        let mut record = csv::ByteRecord::new();
        let mut after = 0;
        if let Some(line) = open_quote(self.peek.bytes, delimiter) {
            let line = line + self.peek.lines_before;
            let message = format!("the quote that opens in line {line} is not closed");
            return Err(self.request.broken(Broken { after, message }));
        }
        let mut lines = LineCounter::default();
        let mut is_header = true;
        while matches!(reader.read_byte_record(&mut record), Ok(true)) {
            let (line, _) = lines.record(self.peek.bytes, &reader);
            let line = line + self.peek.lines_before;
            if std::mem::take(&mut is_header) {
                continue;
            }
            if record.len() == 1 && record[0].iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if record.len() != self.names.len() {
                let message = format!(
                    "the row in line {line} has {} cells and the header {}; is a quote missing?",
                    record.len(),
                    self.names.len()
                );
                return Err(self.request.broken(Broken { after, message }));
            }
            after += 1;
            let cells = record
                .iter()
                .map(|cell| Some(String::from_utf8_lossy(cell).into_owned()))
                .collect();
            visit(&Record { names: &self.names, cells, place: line });
        }
        Ok(())
    }

    /// The columns that make the text: those asked for, else those that hold prose, without `about`.
    /// Lists and objects are no prose, however long: they hold vectors, judgments, probabilities.
    pub(super) fn text_fields(&self, about: &[&str], asked: &[String]) -> Vec<String> {
        if !asked.is_empty() {
            return asked.to_vec();
        }
        let mut lengths = TextFields::default();
        // A row that breaks off is reported when the rows are read for good.
        let _ = self.rows(&mut |record| {
            for name in &self.names {
                if !about.contains(&name.as_str())
                    && let Some(text) = record.get(name)
                    && !is_structure(text)
                {
                    lengths.see(name, text);
                }
            }
        });
        lengths.chosen(asked)
    }

    /// The one column besides `about` that holds few different answers; where several do, the one
    /// that differs within a task, as what was asked about a task does not. An error that names the
    /// candidates where there is not exactly one.
    pub(super) fn only_answer(
        &self,
        task: &str,
        about: &[&str],
        request: &Request<'_>,
    ) -> Result<String, ImportError> {
        /// More different values than this share of the rows are texts and not answers.
        const MOST_DIFFERENT: f64 = 0.5;
        // Digests, since cells may be long texts.
        let mut seen: Vec<HashSet<u64>> = vec![HashSet::default(); self.names.len()];
        let mut filled = vec![0_u64; self.names.len()];
        let mut first_of_task: HashMap<u64, Vec<u64>> = HashMap::new();
        let mut differs = vec![false; self.names.len()];
        self.rows(&mut |record| {
            let cells: Vec<u64> = record.cells.iter().map(digest).collect();
            if let Some(task) = record.get(task) {
                let first = first_of_task.entry(digest(&task)).or_insert_with(|| cells.clone());
                for (index, cell) in cells.iter().enumerate() {
                    differs[index] |= *cell != first[index];
                }
            }
            for (index, name) in self.names.iter().enumerate() {
                if let Some(value) = record.get(name) {
                    filled[index] += 1;
                    seen[index].insert(digest(&value));
                }
            }
        })?;
        let mut candidates: Vec<usize> = (0..self.names.len())
            .filter(|&index| {
                !about.contains(&self.names[index].as_str())
                    && filled[index] > 0
                    && (seen[index].len() as f64) <= MOST_DIFFERENT * filled[index] as f64
            })
            .collect();
        if candidates.len() > 1 && candidates.iter().any(|&index| differs[index]) {
            candidates.retain(|&index| differs[index]);
        }
        let candidates: Vec<&String> =
            candidates.into_iter().map(|index| &self.names[index]).collect();
        match candidates.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(request.columns(format!(
                "no column holds answers out of a few; name it as the column `label`; there are {}",
                listed(&self.names)
            ))),
            several => Err(request.columns(format!(
                "several columns may hold the answers; name one as the column `label`: {}",
                listed(several)
            ))),
        }
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether a cell is a list or an object of JSON.
fn is_structure(cell: &str) -> bool {
    cell.starts_with(['[', '{']) && serde_json::from_str::<IgnoredAny>(cell).is_ok()
}

/// The line of a quote that opens a cell and is never closed.
fn open_quote(bytes: &[u8], delimiter: u8) -> Option<u64> {
    let (mut line, mut opened, mut at_start) = (1, None, true);
    let mut bytes = bytes.iter().peekable();
    while let Some(&byte) = bytes.next() {
        line += u64::from(byte == b'\n');
        match opened {
            Some(_) if byte == b'"' && bytes.next_if_eq(&&b'"').is_none() => opened = None,
            None if byte == b'"' && at_start => opened = Some(line),
            _ => {}
        }
        at_start = byte == delimiter || byte == b'\n' || byte == b'\r';
    }
    opened
}

/// A JSON value as a cell: text as it is, numbers and booleans as written, lists as JSON.
fn cell_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
