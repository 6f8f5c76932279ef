//! Sends a report where the user wants it.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::common::{Common, OutputFormat};
use crate::report::{
    CsvExporter, Exporter, JsonExporter, JsonLinesExporter, Report, TextExporter, printable,
    write_file,
};

/// Writes `report` to `--output` or standard output, in the format asked for.
///
/// Formats for machines have no place for warnings outside the JSON envelope, so these go to
/// standard error as well.
pub(super) fn emit(report: &Report, common: &Common) -> Result<()> {
    let format = common.resolved_format()?;
    let exporter: Box<dyn Exporter> = match format {
        OutputFormat::Table => Box::new(TextExporter { color: common.use_color() }),
        OutputFormat::Csv => Box::new(CsvExporter),
        OutputFormat::Json => Box::new(JsonExporter),
        OutputFormat::Jsonl => Box::new(JsonLinesExporter),
    };
    if let Some(path) = &common.output {
        write_output(path, |out| exporter.write(report, out))?;
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        exporter.write(report, &mut out)?;
        out.flush()?;
    }
    if format != OutputFormat::Table || common.output.is_some() {
        for warning in &report.warnings {
            say(common, &format!("warning: {}", warning.message));
        }
    }
    Ok(())
}

/// Writes a file whole or not at all; the error names it.
pub(super) fn write_output(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    write_file(path, write).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Fails early if the folder of an output does not exist, before any work is done.
pub(super) fn check_output(path: Option<&Path>) -> Result<()> {
    let Some(folder) = path.and_then(Path::parent) else { return Ok(()) };
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let source = io::Error::from(io::ErrorKind::NotFound);
    Err(source).with_context(|| {
        format!("the folder `{}` for the output does not exist; make it first", folder.display())
    })
}

/// A line on standard error, unless `--quiet`.
#[expect(clippy::print_stderr, reason = "standard error is for talk")]
pub(super) fn say(common: &Common, line: &str) {
    if !common.quiet {
        eprintln!("{}", printable(line));
    }
}
