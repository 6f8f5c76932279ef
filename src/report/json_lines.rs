//! JSON lines: one object per row and nothing else.

use std::io::{self, Write};

use super::json::object;
use super::{Exporter, Report};

/// Writes one row per line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonLinesExporter;

impl Exporter for JsonLinesExporter {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        for row in report.table.rows() {
            serde_json::to_writer(&mut *out, &object(&report.table, row))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::*;

    #[test]
    fn one_object_per_line() {
        let text = written(&JsonLinesExporter, &example());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"{"reviewer":"a, \"b\"","score":0.30000000000000004,"rank":1}"#);
        assert_eq!(lines.len(), 2);
    }
}
