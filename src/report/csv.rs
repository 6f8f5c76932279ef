//! Comma-separated values: the table alone, full precision, empty cells for missing values.

use std::io::{self, Write};

use super::{Cell, Exporter, Report};
use crate::data::formula::guarded;

/// Writes the table with a header line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CsvExporter;

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
        Cell::Text(text) => guarded(text).into_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => exact(*number),
    }
}

/// The shortest digits that read back as the same number, with an exponent where a probability of
/// one in a quintillion would fill a line with zeros.
fn exact(number: f64) -> String {
    if number == 0.0 || (1e-5..1e16).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
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
        for hostile in [
            "=1+1",
            "-x",
            "+1-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "-1+cmd|' /C calc'!A0",
            "-inf",
        ] {
            assert_eq!(field(&hostile.into()), format!("'{hostile}"));
        }
        for harmless in ["-1", "+2.5", "-1e-3", "ada", "a=1", "", "x-y"] {
            assert_eq!(field(&harmless.into()), harmless);
        }
        assert_eq!(field(&Cell::Number(-0.5)), "-0.5");
    }

    #[test]
    fn numbers_far_from_one_have_an_exponent_and_read_back_the_same() {
        for (number, text) in [
            (2.5e-30, "2.5e-30"),
            (-1e-300, "-1e-300"),
            (1e-5, "0.00001"),
            (3e20, "3e20"),
            (0.0, "0"),
        ] {
            assert_eq!(field(&Cell::Number(number)), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }

    #[test]
    fn every_text_cell_of_a_file_is_guarded() {
        let mut report = example();
        report.table = super::super::Table::new(&["reviewer", "score", "flag"]);
        report.table.push(vec!["=a".into(), (-2.5).into(), "@b".into()]);
        report.table.push(vec!["+c\nd".into(), (-1.0).into(), Cell::Missing]);
        assert_eq!(
            written(&CsvExporter, &report),
            "reviewer,score,flag\n'=a,-2.5,'@b\n\"'+c\nd\",-1,\n"
        );
    }
}
