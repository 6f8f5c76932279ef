//! Rows of a table in any of the formats, as fields under agreed column names.
//!
//! One reader serves every kind of table, so that the same mistake gets the same message
//! whether it is in a file of labels, of reviews or of Z. Column names are matched without
//! regard to case; a column may have synonyms, and two candidates for one column are an error,
//! because a guess would silently score the wrong thing.

mod delimited;
mod json_lines;
mod problems;

use std::borrow::Cow;

use serde_json::Value;

use self::delimited::read_delimited;
pub(super) use self::delimited::{HEADLESS, LineCounter, reader_of, seems_headless};
use self::json_lines::{parse_object, read_json_lines};
pub(crate) use self::problems::FileProblems;
use super::answers::{Answered, is_spreadsheet_error};
use super::near::same_name;
use super::source::{Format, Source};
use super::strict_json::is_inexact;

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
    let seen = problems.total();
    let rows = match source.format {
        Format::Csv => read_delimited(source, b',', schema, problems, visit),
        Format::Tsv => read_delimited(source, b'\t', schema, problems, visit),
        Format::JsonLines => read_json_lines(source, schema, problems, visit),
    };
    if rows == 0 && problems.total() == seen {
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
    let mut reader = reader_of(&source.bytes, delimiter);
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => record.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

fn too_long(bytes: usize) -> String {
    format!(
        "the record has {bytes} bytes, at most {MAX_RECORD_BYTES} are allowed; \
         is it really one record a line?"
    )
}

fn bad_utf8(byte: usize) -> String {
    format!("is not valid UTF-8 at byte {}; save the file as UTF-8", byte + 1)
}

#[cfg(test)]
mod tests;
