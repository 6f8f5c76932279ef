//! JSON: one envelope with inputs, settings, results, warnings and errors.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Cell, Exporter, Input, Report, SCHEMA_VERSION, Table, Warning};

/// Writes the envelope, indented by two spaces, one object per row in `results`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonExporter;

impl Exporter for JsonExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let results = report.table.rows().iter().map(|row| object(&report.table, row)).collect();
        serde_json::to_writer_pretty(&mut *out, &Envelope::of(report, Some(results)))?;
        out.write_all(b"\n")
    }
}

/// What surrounds the rows of a result; without them where there are none.
#[derive(Debug, Serialize)]
pub(super) struct Envelope<'a> {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    inputs: &'a [Input],
    settings: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    summary: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Value>>,
    warnings: &'a [Warning],
    errors: [(); 0],
}

impl<'a> Envelope<'a> {
    /// The envelope of a report around these rows.
    pub(super) fn of(report: &'a Report, results: Option<Vec<Value>>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            command: report.command,
            version: env!("CARGO_PKG_VERSION"),
            inputs: &report.inputs,
            settings: &report.settings,
            summary: report.table.summary(),
            results,
            warnings: &report.warnings,
            errors: [],
        }
    }
}

/// A row as an object, keys in the order of the columns.
pub(super) fn object(table: &Table, row: &[Cell]) -> Value {
    let pairs = table.columns().iter().zip(row).map(|(column, cell)| {
        let value = match cell {
            Cell::Missing => Value::Null,
            Cell::Text(text) => Value::from(text.as_str()),
            Cell::Integer(number) => Value::from(*number),
            Cell::Number(number) => Value::from(*number),
        };
        ((*column).to_owned(), value)
    });
    Value::Object(pairs.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{example, written};
    use super::*;

    #[test]
    fn the_envelope_has_its_keys_in_order_and_null_for_missing() {
        let value: Value = serde_json::from_str(&written(&JsonExporter, &example())).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "schema_version",
                "command",
                "version",
                "inputs",
                "settings",
                "results",
                "warnings",
                "errors"
            ]
        );
        assert_eq!(value["results"][0]["score"], json!(0.1 + 0.2));
        assert_eq!(value["results"][1]["score"], Value::Null);
        assert_eq!(value["warnings"][0]["code"], "papers_without_z");
    }
}
