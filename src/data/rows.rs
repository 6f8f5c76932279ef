//! Rows of a table in any of the formats, as fields under agreed column names.
//!
//! One reader serves every kind of table, so that the same mistake gets the same message
//! whether it is in a file of labels, of reviews or of Z. Column names are matched without
//! regard to case; a column may have synonyms, and two candidates for one column are an error,
//! because a guess would silently score the wrong thing.

use std::borrow::Cow;

use serde_json::Value;

use super::answers::{Answered, is_spreadsheet_error};
use super::formula::unguarded;
use super::near::{did_you_mean, listed, quotable, same_name};
use super::problem::{Problem, Problems};
use super::reading::Reader;
use super::source::{Format, Source};
use super::strict_json::{is_inexact, parse_strictly};
use crate::error::Remedy;

/// Longest record, in bytes: more is a broken file, such as a quote that never closes.
pub(crate) const MAX_RECORD_BYTES: usize = 16 << 20;

/// A column that every table of its kind may have.
pub type Column = NamedColumn<'static>;

/// A column that a table may have, under a name that may come from a user.
#[derive(Debug, Clone, Copy)]
pub struct NamedColumn<'a> {
    /// The name in messages.
    pub name: &'a str,
    /// Other names that mean the same.
    pub(crate) synonyms: &'a [&'a str],
    /// Whether every table of this kind must have it.
    pub(crate) required: bool,
}

impl NamedColumn<'_> {
    /// Whether a table calls the column so: case, spaces and the like do not count.
    pub fn matches(&self, header: &str) -> bool {
        let header = header.trim();
        std::iter::once(&self.name).chain(self.synonyms).any(|name| same_name(name, header))
    }

    fn names(&self) -> String {
        if self.synonyms.is_empty() {
            return format!("`{}`", self.name);
        }
        format!("`{}` (or {})", self.name, self.synonyms.join(", "))
    }
}

/// One field of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field<'a> {
    /// Absent column, empty cell or JSON null.
    Missing,
    /// A cell of a CSV file or a JSON string.
    Text(Cow<'a, str>),
    /// Any other JSON value.
    Json(Value),
}

impl Field<'_> {
    /// The value as an identifier or label: text trimmed of white space, or a JSON number or
    /// boolean as written. `None` if missing, blank, a JSON list or object, or a whole number so
    /// large that JSON readers, this one included, take others for it.
    pub(crate) fn as_name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => {
                let text = text.trim();
                (!text.is_empty()).then_some(Cow::Borrowed(text))
            }
            Self::Json(Value::Number(number)) if is_inexact(number) => None,
            Self::Json(value @ (Value::Number(_) | Value::Bool(_))) => {
                Some(Cow::Owned(value.to_string()))
            }
            _ => None,
        }
    }

    /// The value as a label: a name, a set of choices, or nothing.
    pub(super) fn answered(&self) -> Answered {
        match self {
            Self::Missing => Answered::Nothing,
            Self::Text(text) => Answered::in_cell(text),
            Self::Json(value @ (Value::Array(_) | Value::Object(_))) => Answered::of(value),
            other @ Self::Json(_) => {
                other.as_name().map_or(Answered::Structure, |name| Answered::Label(name.into()))
            }
        }
    }

    /// Why a field is no name, and what to do.
    pub(super) fn no_name(&self) -> String {
        match self {
            Self::Json(Value::Number(number)) if is_inexact(number) => format!(
                "is a number that other numbers cannot be told from (read as {number}); write it \
                 in quotes"
            ),
            Self::Text(text) if is_spreadsheet_error(text) => format!(
                "is `{}`, which a spreadsheet writes where it could not compute a cell; give every \
                 row a name",
                text.trim()
            ),
            _ => "is empty or not a name; give every row one".into(),
        }
    }

    /// The text as written; `None` if blank or not a string.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    /// Whether nothing was given.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Text(text) => text.trim().is_empty(),
            Self::Json(_) => false,
        }
    }
}

/// One row: a field per column of the schema, in the order of the schema.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Line in the file where the row starts, from 1.
    pub line: u64,
    /// One field per column of the schema.
    pub fields: &'a [Field<'a>],
}

impl Row<'_> {
    /// The field `index`, which is `column`, as a name; a problem is reported if it is none.
    pub(super) fn name(
        &self,
        index: usize,
        column: &NamedColumn<'_>,
        problems: &mut FileProblems<'_>,
    ) -> Option<Cow<'_, str>> {
        let name = self.fields[index].as_name().filter(|name| !is_spreadsheet_error(name));
        if name.is_none() {
            let message = self.fields[index].no_name();
            problems.report(Some(self.line), Some(column.name), message);
        }
        name
    }

    /// The field `index`, which is `column`, as a label; lists of choices are one, too, and `[]`
    /// stands for what holds nothing. A problem is reported if it is none.
    pub(super) fn label(
        &self,
        index: usize,
        column: &NamedColumn<'_>,
        problems: &mut FileProblems<'_>,
    ) -> Option<Cow<'_, str>> {
        if let Field::Json(value @ (Value::Array(_) | Value::Object(_))) = &self.fields[index] {
            match Answered::of(value) {
                Answered::Label(label) => return Some(label.into()),
                Answered::Nothing | Answered::Word(_) => return Some("[]".into()),
                Answered::Spans | Answered::Structure => {}
            }
        }
        let label = self.fields[index].as_name();
        label.or_else(|| self.name(index, column, problems))
    }
}

/// Collects problems of one file, so that messages need not repeat its name.
#[derive(Debug)]
pub(crate) struct FileProblems<'a> {
    file: String,
    has_nameable_columns: bool,
    problems: &'a mut Problems,
}

impl<'a> FileProblems<'a> {
    /// Problems of `source` go to `problems`.
    pub(crate) fn new(source: &Source, problems: &'a mut Problems) -> Self {
        let has_nameable_columns = source.has_nameable_columns;
        Self { file: source.name_in_messages(), has_nameable_columns, problems }
    }

    /// Reports a problem at a line and column, where known.
    pub(crate) fn report(
        &mut self,
        line: Option<u64>,
        column: Option<&str>,
        message: impl Into<String>,
    ) {
        self.push(line, column, message.into(), None);
    }

    /// Reports a problem of a line that a setting would solve.
    pub(crate) fn report_solvable(
        &mut self,
        line: u64,
        message: impl Into<String>,
        remedy: Remedy,
    ) {
        self.push(Some(line), None, message.into(), Some(remedy));
    }

    /// Reports that several columns of a line may be the one.
    fn report_ambiguous(&mut self, line: u64, column: &NamedColumn<'_>, candidates: &[String]) {
        let message = format!("{} both name it; keep one of them", candidates.join(" and "));
        let remedy = self.has_nameable_columns.then_some(Remedy::NameColumns);
        self.push(Some(line), Some(column.name), message, remedy);
    }

    /// Reports that a header has no such column, with what it has; `or` says what else would do.
    pub(super) fn report_missing<S: AsRef<str>>(
        &mut self,
        column: &NamedColumn<'_>,
        or: &str,
        names: &[S],
    ) {
        let known: Vec<&str> = [column.name].iter().chain(column.synonyms).copied().collect();
        let near = match did_you_mean(names, &known) {
            question if question.is_empty() => question,
            question => format!("; {question}"),
        };
        let header = listed(names);
        let message = format!("the header lacks {}{or}{near}; it has: {header}", column.names());
        let remedy = self.has_nameable_columns.then_some(Remedy::NameColumns);
        self.push(Some(1), Some(column.name), message, remedy);
    }

    fn push(
        &mut self,
        line: Option<u64>,
        column: Option<&str>,
        message: String,
        remedy: Option<Remedy>,
    ) {
        let (file, column) = (self.file.clone(), column.map(str::to_owned));
        self.problems.push(Problem { file, line, column, message, remedy });
    }
}

/// Reads every row of `source` and hands it to `visit`; returns the number of rows handed over.
///
/// What is wrong with the file or a row goes to `problems`; such a row is not handed over, the
/// next one is still read. Blank lines, and rows of empty cells as spreadsheets leave them below a table,
/// are skipped. `visit` may report problems of its own.
pub(crate) fn read_rows(
    source: &Source,
    schema: &[NamedColumn<'_>],
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(&Row<'_>, &mut FileProblems<'_>),
) -> u64 {
    if source.bytes.iter().all(u8::is_ascii_whitespace) {
        problems.report(None, None, "the file is empty; it needs at least one row of data");
        return 0;
    }
    if source.bytes.starts_with(b"\xff\xfe") || source.bytes.starts_with(b"\xfe\xff") {
        problems.report(None, None, "the file is UTF-16; save it as UTF-8");
        return 0;
    }
    let seen = problems.problems.total();
    let rows = match source.format {
        Format::Csv => read_delimited(source, b',', schema, problems, visit),
        Format::Tsv => read_delimited(source, b'\t', schema, problems, visit),
        Format::JsonLines => read_json_lines(source, schema, problems, visit),
    };
    if rows == 0 && problems.problems.total() == seen {
        problems.report(None, None, "there is a header but no row of data");
    }
    rows
}

/// Names of the columns of a table, or of the keys of its first object; empty if there are none.
///
/// For tables whose columns have names of their own; what is wrong with them `read_rows` says.
pub fn header(source: &Source) -> Vec<String> {
    let delimiter = match source.format {
        Format::Csv => b',',
        Format::Tsv => b'\t',
        Format::JsonLines => {
            let mut lines = source.bytes.split(|&byte| byte == b'\n');
            let first = lines.find(|line| !line.iter().all(u8::is_ascii_whitespace));
            let object = first.and_then(|line| parse_object(line).ok());
            return object.map_or_else(Vec::new, |o| o.keys().cloned().collect());
        }
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(source.bytes.as_slice());
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => record.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

fn read_delimited(
    source: &Source,
    delimiter: u8,
    schema: &[NamedColumn<'_>],
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(&Row<'_>, &mut FileProblems<'_>),
) -> u64 {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(source.bytes.as_slice());
    let mut record = csv::ByteRecord::new();
    // Reading from memory cannot fail and `flexible` accepts every width, so the only outcomes
    // are "a record" and "the end".
    if !matches!(reader.read_byte_record(&mut record), Ok(true)) {
        return 0;
    }
    let names: Vec<&[u8]> = record.iter().collect();
    let Some(header) = Header::of(&names, (source, delimiter), schema, problems) else { return 0 };

    let mut rows = 0;
    let mut lines = LineCounter::default();
    lines.record(&source.bytes, &reader);
    let progress = source.listener.reading(source.bytes.len());
    let mut reading = Reader::new(&*progress);
    while matches!(reader.read_byte_record(&mut record), Ok(true)) {
        let (line, bytes) = lines.record(&source.bytes, &reader);
        let line = source.place(line);
        reading.at(lines.offset);
        if bytes.len() > MAX_RECORD_BYTES {
            problems.report(Some(line), None, too_long(bytes.len()));
            continue;
        }
        if lines.offset >= source.bytes.len() && open_quote(bytes) {
            problems.report(
                Some(line),
                None,
                "a quote is opened here and never closed; close it, or double it inside a field",
            );
            continue;
        }
        let cells: Vec<&[u8]> = record.iter().collect();
        let is_blank = cells.iter().all(|cell| cell.trim_ascii().is_empty());
        // What was imported has lost what a spreadsheet left below it: empty cells are values there.
        if is_blank && (cells.len() == 1 || source.imported.is_none()) {
            continue;
        }
        let mut fields = Vec::with_capacity(schema.len());
        if header.decode(&cells, line, problems, &mut fields) {
            rows += 1;
            visit(&Row { line, fields: &fields }, problems);
        }
    }
    rows
}

/// Finds the line and the bytes of each record.
///
/// The csv crate's own line numbers are of the end of the record before, which is another line
/// after blank lines and after CRLF.
#[derive(Default)]
pub(super) struct LineCounter {
    offset: usize,
    newlines: u64,
}

impl LineCounter {
    /// Line (from 1) and bytes of the record that `reader` has just read.
    pub(super) fn record<'a>(
        &mut self,
        all: &'a [u8],
        reader: &csv::Reader<&[u8]>,
    ) -> (u64, &'a [u8]) {
        let end = usize::try_from(reader.position().byte()).unwrap_or(all.len()).min(all.len());
        let bytes = &all[self.offset..end];
        self.offset = end;
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let newlines = |bytes: &[u8]| bytecount::count(bytes, b'\n') as u64;
        let line = self.newlines + newlines(&bytes[..blank]) + 1;
        self.newlines += newlines(bytes);
        (line, &bytes[blank..])
    }
}

/// Whether the bytes of a record that ends the file hold an odd number of quotes.
fn open_quote(bytes: &[u8]) -> bool {
    bytecount::count(bytes, b'"') % 2 == 1
}

fn too_long(bytes: usize) -> String {
    format!(
        "the record has {bytes} bytes, at most {MAX_RECORD_BYTES} are allowed; \
         is it really one record a line?"
    )
}

/// Where the columns of a schema are.
struct Header<'a> {
    width: usize,
    positions: Vec<Option<usize>>,
    schema: &'a [NamedColumn<'a>],
}

impl<'s> Header<'s> {
    /// `None` if the header is unusable.
    fn of(
        header: &[&[u8]],
        (source, delimiter): (&Source, u8),
        schema: &'s [NamedColumn<'s>],
        problems: &mut FileProblems<'_>,
    ) -> Option<Self> {
        let names: Vec<Cow<'_, str>> =
            header.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let mut usable = true;
        let mut positions = Vec::with_capacity(schema.len());
        for column in schema {
            let found: Vec<usize> =
                (0..names.len()).filter(|&index| column.matches(&names[index])).collect();
            if found.len() > 1 {
                let quoted = |&index: &usize| format!("`{}`", quotable(names[index].trim()));
                let candidates: Vec<String> = found.iter().map(quoted).collect();
                problems.report_ambiguous(1, column, &candidates);
                usable = false;
            }
            if found.is_empty() && column.required {
                if seems_headless(&source.bytes, delimiter) {
                    // The other columns are missing for the same reason.
                    problems.report_missing(column, &format!(", and {HEADLESS}"), &names);
                    return None;
                }
                problems.report_missing(column, "", &names);
                usable = false;
            }
            positions.push(found.first().copied());
        }
        usable.then_some(Self { width: names.len(), positions, schema })
    }

    /// The fields of a record; `false` if it is unusable.
    fn decode<'a>(
        &self,
        cells: &[&'a [u8]],
        line: u64,
        problems: &mut FileProblems<'_>,
        fields: &mut Vec<Field<'a>>,
    ) -> bool {
        if cells.len() != self.width {
            let message = format!(
                "the row has {} fields, the header has {}; \
                 put fields that contain the separator in double quotes",
                cells.len(),
                self.width
            );
            problems.report(Some(line), None, message);
            return false;
        }
        for (position, column) in self.positions.iter().zip(self.schema) {
            let Some(position) = *position else {
                fields.push(Field::Missing);
                continue;
            };
            match std::str::from_utf8(cells[position]) {
                Ok("") => fields.push(Field::Missing),
                Ok(text) => fields.push(Field::Text(Cow::Borrowed(unguarded(text)))),
                Err(error) => {
                    problems.report(Some(line), Some(column.name), bad_utf8(error.valid_up_to()));
                    return false;
                }
            }
        }
        true
    }
}

/// What is said of a file without a header.
pub(super) const HEADLESS: &str = "the file seems to have no header: what is in its first line is also in \
                                   others; write the names of the columns into a line before";

/// Whether most cells of the first line stand in their columns again.
pub(super) fn seems_headless(bytes: &[u8], delimiter: u8) -> bool {
    /// Rows that are looked at.
    const LOOKED_AT: usize = 1000;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(bytes);
    let mut records = reader.byte_records().take(LOOKED_AT).map_while(Result::ok);
    let Some(first) = records.next() else { return false };
    let mut again = vec![false; first.len()];
    for record in records.filter(|record| *record != first) {
        for (again, (a, b)) in again.iter_mut().zip(first.iter().zip(&record)) {
            *again |= a == b && !a.trim_ascii().is_empty();
        }
    }
    let count = again.iter().filter(|again| **again).count();
    count > 1 && 2 * count > first.len()
}

fn bad_utf8(byte: usize) -> String {
    format!("is not valid UTF-8 at byte {}; save the file as UTF-8", byte + 1)
}

fn read_json_lines(
    source: &Source,
    schema: &[NamedColumn<'_>],
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(&Row<'_>, &mut FileProblems<'_>),
) -> u64 {
    let mut rows = 0;
    let progress = source.listener.reading(source.bytes.len());
    let (mut reading, mut offset) = (Reader::new(&*progress), 0);
    for (index, bytes) in source.bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = source.place(index as u64 + 1);
        reading.at(offset);
        offset += bytes.len() + 1;
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if bytes.len() > MAX_RECORD_BYTES {
            problems.report(Some(line), None, too_long(bytes.len()));
            continue;
        }
        let object = match parse_object(bytes) {
            Ok(object) => object,
            Err(message) => {
                problems.report(Some(line), None, message);
                if bytes.starts_with(b"[") {
                    // One JSON list over many lines would only repeat the same problem.
                    return rows;
                }
                continue;
            }
        };
        if let Some(fields) = pick_fields(object, schema, line, problems) {
            rows += 1;
            visit(&Row { line, fields: &fields }, problems);
        }
    }
    rows
}

fn parse_object(bytes: &[u8]) -> Result<serde_json::Map<String, Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| bad_utf8(error.valid_up_to()))?;
    match parse_strictly(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Array(_)) => {
            Err("is a JSON list; write one object a line (`jq -c '.[]'` does it)".into())
        }
        Ok(_) => Err("is not a JSON object; write one object a line".into()),
        Err(error) => {
            let hint = if error.is_data() {
                "; keep one of them"
            } else if text.starts_with('[') {
                "; write one object a line, not a list (`jq -c '.[]'` does it)"
            } else {
                "; write one complete object a line"
            };
            // serde's message ends in "at line 1 column N"; the line is ours, the column is its.
            let cause = error.to_string();
            let cause = cause.split(" at line ").next().unwrap_or_default();
            Err(format!("is not valid JSON at character {}: {cause}{hint}", error.column()))
        }
    }
}

fn pick_fields(
    mut object: serde_json::Map<String, Value>,
    schema: &[NamedColumn<'_>],
    line: u64,
    problems: &mut FileProblems<'_>,
) -> Option<Vec<Field<'static>>> {
    let mut fields = Vec::with_capacity(schema.len());
    let mut usable = true;
    for column in schema {
        let found: Vec<String> = object.keys().filter(|key| column.matches(key)).cloned().collect();
        if found.len() > 1 {
            let candidates: Vec<String> = found.iter().map(|key| format!("`{key}`")).collect();
            problems.report_ambiguous(line, column, &candidates);
            usable = false;
        }
        let value = found.first().and_then(|key| object.remove(key));
        if value.is_none() && column.required {
            let message = format!("the object lacks the key {}", column.names());
            problems.report(Some(line), Some(column.name), message);
            usable = false;
        }
        fields.push(match value {
            None | Some(Value::Null) => Field::Missing,
            Some(Value::String(text)) => Field::Text(Cow::Owned(text)),
            Some(value) => Field::Json(value),
        });
    }
    usable.then_some(fields)
}

#[cfg(test)]
mod tests;
