//! Rows of an annotation in the formats that caz reads back.

use std::io::{self, Write};

use crate::error::Result;
use serde_json::{Map, Value, json};

use crate::annotate::Row;
use crate::cli::common::{Common, OutputFormat};
use crate::cli::exit::UsageError;
use crate::cli::output::{write_private_output, write_stdout};
use crate::report::SCHEMA_VERSION;

/// The formats of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum RowFormat {
    Csv,
    JsonLines,
    Json,
}

impl RowFormat {
    /// By flag, by the ending of the output, else `default`.
    pub(super) fn of(common: &Common, default: Self) -> Result<Self> {
        let by_ending = common.output.as_deref().and_then(OutputFormat::by_ending);
        match common.format.or(by_ending) {
            Some(OutputFormat::Csv) => Ok(Self::Csv),
            Some(OutputFormat::Jsonl) => Ok(Self::JsonLines),
            Some(OutputFormat::Json) => Ok(Self::Json),
            None if common.output.is_none() => Ok(default),
            _ => {
                let message = "annotations are written as csv, jsonl or json; \
                               end --output so, or add --format";
                Err(UsageError(message.into()).into())
            }
        }
    }
}

/// Writes all rows where the user wants them, whole or not at all.
pub(super) fn write_rows(
    format: RowFormat,
    columns: &[&str],
    rows: &[Row],
    about: &Map<String, Value>,
    common: &Common,
) -> Result<()> {
    let write = |out: &mut dyn Write| match format {
        RowFormat::Csv => write_csv(columns, rows, out),
        RowFormat::JsonLines => write_json_lines(rows, out),
        RowFormat::Json => write_json(rows, about, out),
    };
    match &common.output {
        Some(path) => write_private_output(path, write),
        None => write_stdout(write),
    }
}

/// Text goes into cells as it is: these files are read by caz, and a review may well start with
/// a dash, which an apostrophe against formulas would change.
pub(super) fn write_csv(columns: &[&str], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns)?;
    for row in rows {
        for column in columns {
            match row.get(*column) {
                None | Some(Value::Null) => writer.write_field("")?,
                Some(Value::String(text)) => writer.write_field(text)?,
                Some(other) => writer.write_field(other.to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// One object a line.
pub(in crate::cli) fn write_json_lines(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
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
