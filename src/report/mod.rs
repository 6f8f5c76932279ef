//! From results to bytes: one file per format behind [`Exporter`].
//!
//! A [`Report`] is a table with everything a reader needs to judge and to repeat it: inputs by
//! hash, settings, warnings. It holds no time and no path other than those the user typed, so the
//! same run gives the same bytes.

pub(crate) mod csv;
pub(crate) mod file;
#[cfg(feature = "html")]
pub(crate) mod html;
pub(crate) mod json;
mod json_lines;
mod leaderboard;
mod markdown;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod plot;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use self::csv::CsvExporter;
pub(crate) use self::file::{Readers, check_writable, write_file};
pub(crate) use self::json::JsonExporter;
pub(crate) use self::json_lines::JsonLinesExporter;
pub(crate) use self::leaderboard::Board;
pub(crate) use self::markdown::MarkdownExporter;
#[cfg(feature = "parquet")]
pub(crate) use self::parquet::ParquetExporter;
pub(crate) use self::table::{Cell, Table, estimate_cells};
#[cfg(feature = "html")]
pub(crate) use self::text::folded;
pub(crate) use self::text::{
    TextExporter, printable, printable_lines, printable_name, three_decimals, two_decimals,
};
pub(crate) use crate::data::input::Input;
use crate::data::warning::Warning;

/// Version of the JSON envelope; grows when a reader of the old one would break.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// The result of one command.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The subcommand, e.g. `reviews`.
    pub command: &'static str,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Every setting that changes the result, defaults included.
    pub settings: Map<String, Value>,
    /// The result.
    pub table: Table,
    /// What was left out or assumed.
    pub warnings: Vec<Warning>,
    /// Sentences for people, shown under the table on a terminal.
    pub footer: Vec<String>,
    /// A text for people in place of the table, for results that read better as one.
    pub prose: Option<String>,
}

/// A struct of settings as it goes into a [`Report`] and into files that a run goes on with.
pub fn settings_map(settings: &impl Serialize) -> Map<String, Value> {
    let value = serde_json::to_value(settings).expect("settings are plain data");
    value.as_object().cloned().unwrap_or_default()
}

/// Writes a report in one format.
pub trait Exporter {
    /// Writes all of `report` to `out`.
    ///
    /// # Errors
    ///
    /// What `out` reports, a closed pipe among others.
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One row with a text that needs quoting, a missing cell and a number with many digits.
    pub(crate) fn example() -> Report {
        let mut table = Table::new(&["reviewer", "score", "rank"]);
        table.push(vec!["a, \"b\"".into(), (0.1 + 0.2).into(), 1_usize.into()]);
        table.push(vec!["c\u{1b}[31m".into(), Cell::Missing, Cell::Missing]);
        Report {
            command: "reviews",
            inputs: vec![Input { path: "r.csv".into(), sha256: Some("00".into()), rows: 2 }],
            settings: [("seed".to_owned(), Value::from(1))].into_iter().collect(),
            table,
            warnings: vec![Warning::new("papers_without_z", 1, "1 paper has no Z")],
            footer: vec!["A flag is a reason to look.".into()],
            prose: None,
        }
    }

    pub(crate) fn written(exporter: &dyn Exporter, report: &Report) -> String {
        let mut bytes = Vec::new();
        exporter.write(report, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}
