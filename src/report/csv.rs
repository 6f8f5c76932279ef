//! Comma-separated values: the table alone, full precision, empty cells for missing values.

use std::io::{self, Write};

use super::{Cell, Exporter, Report};

/// Writes the table with a header line.
#[derive(Debug, Clone, Copy)]
pub struct CsvExporter;

impl Exporter for CsvExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(report.table.columns())?;
        for row in report.table.rows() {
            for cell in row {
                writer.write_field(field(cell))?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Text(text) => guarded(text),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
    }
}

/// Text that a spreadsheet would run as a formula gets a leading apostrophe.
///
/// Names come from strangers; `=HYPERLINK(...)` as a reviewer name must stay text.
fn guarded(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::*;

    #[test]
    fn quotes_precision_and_missing_cells() {
        assert_eq!(
            written(&CsvExporter, &example()),
            "reviewer,score,rank\n\"a, \"\"b\"\"\",0.30000000000000004,1\nc\u{1b}[31m,,\n"
        );
    }

    #[test]
    fn formulas_are_disarmed_and_negative_numbers_are_not() {
        assert_eq!(field(&"=1+1".into()), "'=1+1");
        assert_eq!(field(&"-x".into()), "'-x");
        assert_eq!(field(&Cell::Number(-0.5)), "-0.5");
    }
}
