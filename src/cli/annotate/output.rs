//! Rows of an annotation in the formats that caz reads back.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::cli::common::{Common, OutputFormat};
use crate::cli::exit::UsageError;
use crate::cli::output::write_output;
use crate::report::SCHEMA_VERSION;

/// One row, keys in the order of the columns.
pub(super) type Row = Map<String, Value>;

/// The formats of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFormat {
    Csv,
    JsonLines,
    Json,
}

impl RowFormat {
    /// By flag, by the ending of the output, else `default`.
    pub(super) fn of(common: &Common, default: Self) -> Result<Self> {
        let ending = common.output.as_deref().and_then(Path::extension);
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        match (common.format, ending.as_deref()) {
            (Some(OutputFormat::Csv), _) | (None, Some("csv")) => Ok(Self::Csv),
            (Some(OutputFormat::Jsonl), _) | (None, Some("jsonl" | "ndjson")) => {
                Ok(Self::JsonLines)
            }
            (Some(OutputFormat::Json), _) | (None, Some("json")) => Ok(Self::Json),
            (None, None) if common.output.is_none() => Ok(default),
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
    if let Some(path) = &common.output {
        write_output(path, write)
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        Ok(out.flush()?)
    }
}

/// Text goes into cells as it is: these files are read by caz, and a review may well start with
/// a dash, which an apostrophe against formulas would change.
fn write_csv(columns: &[&str], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
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
pub(super) fn write_json_lines(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
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
