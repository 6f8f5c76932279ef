//! Tables and JSON of any system, by the names of their columns.

use serde_json::Value;

use super::output::Output;
use super::peek::{Peek, Root};
use super::records::Records;
use super::schema::{JUDGMENTS, Known, Schema, TEXT, TextRule, VECTOR};
use super::text_fields::joined;
use super::{ImportError, Importer, Request, Wanted};
use crate::data::near::{did_you_mean, folded, listed, quotable};
use crate::data::source::{Format, Source};

/// Whether the file has the shape that the ordinary readers take: their separator, or JSON lines.
///
/// Another separator, a `sep=` line and a list are foreign.
pub(super) fn has_own_shape(peek: &Peek<'_>, source: &Source) -> bool {
    peek.bytes.len() == source.bytes.len()
        && match (&peek.root, source.format) {
            (Root::Table { delimiter, .. }, Format::Csv) => *delimiter == b',',
            (Root::Table { delimiter, .. }, Format::Tsv) => *delimiter == b'\t',
            (Root::Json { around, .. }, Format::JsonLines) => is_lines(peek.bytes, around),
            _ => false,
        }
}

/// Whether JSON is one object a line: then the first line is whole.
fn is_lines(bytes: &[u8], around: &[String]) -> bool {
    let first =
        bytes.split(|&byte| byte == b'\n').find(|line| !line.iter().all(u8::is_ascii_whitespace));
    let whole = first.is_some_and(|line| {
        serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object())
    });
    whole && !around.is_empty()
}

/// Finds the column for each of caz's.
struct Columns<'a> {
    names: &'a [String],
    request: &'a Request<'a>,
}

impl Columns<'_> {
    /// The file's name of what the user calls so.
    fn named(&self, asked: &str) -> Result<String, ImportError> {
        let exact = self.names.iter().find(|name| *name == asked);
        let alike = || self.names.iter().find(|name| folded(name) == folded(asked));
        exact.or_else(alike).cloned().ok_or_else(|| {
            self.request.columns(format!(
                "there is no column `{}`{}; there are {}",
                quotable(asked),
                hint(&did_you_mean(self.names, &[&folded(asked)])),
                listed(self.names)
            ))
        })
    }

    /// The file's name of a column, if it has one.
    fn find(&self, known: &Known) -> Result<Option<String>, ImportError> {
        if let Some(asked) = self.request.settings.columns.get(known.key()) {
            return self.named(asked).map(Some);
        }
        for candidate in known.names() {
            let found: Vec<&String> =
                self.names.iter().filter(|name| folded(name) == candidate).collect();
            match found.as_slice() {
                [] => {}
                [one] => return Ok(Some((*one).clone())),
                several => {
                    return Err(self.request.columns(format!(
                        "{} all mean `{}`; keep one, or name it",
                        listed(several),
                        known.key()
                    )));
                }
            }
        }
        Ok(None)
    }

    /// The columns that every row needs; an error that names all that are missing.
    fn required(&self, schema: &Schema) -> Result<Vec<(String, String)>, ImportError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for known in schema.required {
            match self.find(known)? {
                Some(name) => found.push((known.key().to_owned(), name)),
                None => missing.push(format!(
                    "no column is `{}`{}",
                    known.key(),
                    hint(&did_you_mean(self.names, &known.names()))
                )),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let missing = missing.join("; ");
        Err(self.request.columns(format!("{missing}; there are {}", listed(self.names))))
    }
}

fn hint(question: &str) -> String {
    if question.is_empty() { String::new() } else { format!(" ({question})") }
}

/// Any table with a header.
pub(super) struct AnyTable;

impl Importer for AnyTable {
    fn name(&self) -> &'static str {
        "table"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        matches!(peek.root, Root::Table { .. })
    }

    fn gives(&self, _wanted: Wanted) -> bool {
        true
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        read_flat(peek, request, output)
    }
}

/// Any JSON whose objects are rows.
pub(super) struct AnyJson;

impl Importer for AnyJson {
    fn name(&self) -> &'static str {
        "json"
    }

    fn detect(&self, peek: &Peek<'_>) -> bool {
        matches!(&peek.root, Root::Json { first, .. } if !first.is_empty())
    }

    fn gives(&self, _wanted: Wanted) -> bool {
        true
    }

    fn read(
        &self,
        peek: &Peek<'_>,
        request: &Request<'_>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        read_flat(peek, request, output)
    }
}

/// Which columns of a file go where.
struct Layout {
    schema: Schema,
    /// The key in caz's own form, and the column.
    cells: Vec<(String, String)>,
    /// Columns that are joined to the text.
    text: Vec<String>,
}

fn read_flat(
    peek: &Peek<'_>,
    request: &Request<'_>,
    output: &mut Output,
) -> Result<(), ImportError> {
    let records = Records::of(peek, request)?;
    let layout = Layout::of(&records, request)?;
    output.text_fields.clone_from(&layout.text);
    records.each(output, |record, output| {
        let mut row: Vec<(&str, Value)> = Vec::with_capacity(layout.cells.len() + 1);
        for (key, name) in &layout.cells {
            row.push((key, record.get(name).map_or(Value::Null, Value::from)));
        }
        if !layout.text.is_empty() {
            let joined = joined(&layout.text, |name| record.get(name));
            row.push(("text", if joined.is_empty() { Value::Null } else { joined.into() }));
        }
        match layout.lack(&row) {
            Some(reason) => output.leave_out(reason),
            None => output.row(&row),
        }
    })
}

impl Layout {
    fn of(records: &Records<'_>, request: &Request<'_>) -> Result<Self, ImportError> {
        let names = records.names();
        let columns = Columns { names, request };
        let schema = request.wanted.schema();
        let mut cells = columns.required(&schema)?;
        for known in schema.optional {
            let found = columns.find(known)?;
            // One column is one thing.
            let found = found.filter(|name| !cells.iter().any(|(_, other)| other == name));
            cells.extend(found.map(|name| (known.key().to_owned(), name)));
        }
        for column in request.keep {
            let found = names.iter().find(|name| name.eq_ignore_ascii_case(column.trim()));
            cells.extend(found.map(|name| (column.clone(), name.clone())));
        }
        if schema.text == TextRule::Content {
            for known in [VECTOR, JUDGMENTS] {
                let found = columns.find(&known)?;
                cells.extend(found.map(|name| (known.key().to_owned(), name)));
            }
        }
        let text = text_columns(records, &columns, (&schema, &cells))?;
        if schema.keeps_others {
            for (key, name) in &request.settings.columns {
                if !cells.iter().any(|(known, _)| known == key) {
                    cells.push((key.clone(), columns.named(name)?));
                }
            }
            for name in names {
                let key = folded(name);
                let used = cells.iter().any(|(other, column)| *other == key || column == name);
                if !used && !text.contains(name) && (text.is_empty() || key != "text") {
                    cells.push((key, name.clone()));
                }
            }
        }
        Ok(Self { schema, cells, text })
    }

    /// Why a row is of no use, if it is of none.
    fn lack(&self, row: &[(&str, Value)]) -> Option<String> {
        if row.iter().all(|(_, value)| value.is_null()) {
            return Some("empty rows".into());
        }
        let lacks = |key: &str| row.iter().any(|(other, value)| *other == key && value.is_null());
        let needed = self.schema.required.iter().map(Known::key);
        let needed = needed.filter(|key| *key != "label" || !self.schema.keeps_unanswered);
        if let Some(key) = needed.into_iter().find(|key| lacks(key)) {
            return Some(format!("rows without a {key}"));
        }
        let is_content = |key: &str| matches!(key, "text" | "vector" | "judgments");
        let has_content = || row.iter().any(|(key, value)| is_content(key) && !value.is_null());
        let needs_content = matches!(self.schema.text, TextRule::Content | TextRule::Needed);
        (needs_content && !has_content()).then(|| "rows without a text".into())
    }
}

/// The columns that make the text of a row.
fn text_columns(
    records: &Records<'_>,
    columns: &Columns<'_>,
    (schema, cells): (&Schema, &[(String, String)]),
) -> Result<Vec<String>, ImportError> {
    let asked = &columns.request.settings.text_columns;
    if !asked.is_empty() && schema.text != TextRule::None {
        return asked.iter().map(|name| columns.named(name)).collect();
    }
    if matches!(schema.text, TextRule::None | TextRule::IfAsked) {
        return Ok(Vec::new());
    }
    if let Some(name) = columns.find(&TEXT)? {
        return Ok(vec![name]);
    }
    let used: Vec<&str> = cells.iter().map(|(_, name)| name.as_str()).collect();
    let text = records.text_fields(&used, asked);
    let has_other = cells.iter().any(|(key, _)| matches!(key.as_str(), "vector" | "judgments"));
    if text.is_empty() && !has_other {
        return Err(columns.request.columns(format!(
            "no column holds the text of the reviews{}; name it as `text`; there are {}",
            hint(&did_you_mean(records.names(), &TEXT.names())),
            listed(records.names())
        )));
    }
    Ok(text)
}
