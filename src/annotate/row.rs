//! Rows of an annotation, and their files, which caz reads back.

use std::io::{self, Write};

use crate::data::formula::guarded;
use serde_json::{Map, Value, json};

use crate::report::SCHEMA_VERSION;

/// One row, keys in the order of the columns.
pub(crate) type Row = Map<String, Value>;

/// A row that names an item.
pub(super) fn named(pairs: &[(&str, Option<&str>)]) -> Row {
    pairs
        .iter()
        .filter_map(|(key, value)| value.map(|value| ((*key).to_owned(), Value::from(value))))
        .collect()
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowFormat {
    /// A table with a header.
    Csv,
    /// One object a line.
    JsonLines,
    /// One object with what is known about the run, and the rows under `results`.
    Json,
}

impl RowFormat {
    /// Writes `rows`; `columns` are those of [`Self::Csv`], in order, and `about` goes into
    /// [`Self::Json`].
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub(crate) fn write(
        self,
        columns: &[&str],
        rows: &[Row],
        about: &Map<String, Value>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Csv => write_csv(columns, rows, out),
            Self::JsonLines => write_json_lines(rows, out),
            Self::Json => write_json(rows, about, out),
        }
    }
}

/// Writes a table with a header; a missing value is an empty cell.
///
/// Text that a spreadsheet would run is [`guarded`], as in reports; caz reads it back as it was.
///
/// # Errors
///
/// If `out` cannot be written.
pub(crate) fn write_csv(columns: &[&str], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns)?;
    for row in rows {
        for column in columns {
            match row.get(*column) {
                None | Some(Value::Null) => writer.write_field("")?,
                Some(Value::String(text)) => writer.write_field(guarded(text).as_ref())?,
                Some(other) => writer.write_field(other.to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// Writes one object a line.
///
/// # Errors
///
/// If `out` cannot be written.
pub(crate) fn write_json_lines(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *out, row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_json(rows: &[Row], about: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    let mut envelope = Map::new();
    envelope.insert("schema_version".into(), json!(SCHEMA_VERSION));
    envelope.extend(about.clone());
    envelope.insert("results".into(), json!(rows));
    serde_json::to_writer_pretty(&mut *out, &envelope)?;
    out.write_all(b"\n")
}
