//! From results to bytes: one file per format behind [`Exporter`].
//!
//! A [`Report`] is a table with everything a reader needs to judge and to repeat it: inputs by
//! hash, settings, warnings. It holds no time and no path other than those the user typed, so the
//! same run gives the same bytes.

mod csv;
mod file;
#[cfg(feature = "html")]
pub mod html;
mod json;
mod json_lines;
pub mod plot;
mod table;
mod text;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

pub use self::csv::{CsvExporter, guarded};
pub use self::file::write_file;
pub use self::json::JsonExporter;
pub use self::json_lines::JsonLinesExporter;
pub use self::table::{Cell, Table};
pub use self::text::{TextExporter, printable};
use crate::data::source::Source;
use crate::data::warning::Warning;

/// Version of the JSON envelope; grows when a reader of the old one would break.
pub const SCHEMA_VERSION: u32 = 1;

/// An input file as it was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// The path as the user typed it.
    pub path: String,
    /// SHA-256 of the stored bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Rows read.
    pub rows: u64,
}

impl Input {
    /// Describes a source of which `rows` rows were read.
    pub fn new(source: &Source, rows: u64) -> Self {
        Self { path: source.name(), sha256: source.sha256.clone(), rows }
    }
}

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
            inputs: vec![Input { path: "r.csv".into(), sha256: "00".into(), rows: 2 }],
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
