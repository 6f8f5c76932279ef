//! Sends a report where the user wants it.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, ErrorKind, Result};

use super::common::{Common, OutputFormat};
use super::exit::UsageError;
use super::terminal::talk;
use crate::report::{
    CsvExporter, Exporter, JsonExporter, JsonLinesExporter, MarkdownExporter, Readers, Report,
    Table, TextExporter, check_writable, printable_lines, write_file,
};

/// Writes `report` to `--output` or standard output, in the format asked for.
///
/// Formats for machines have no place for warnings outside the JSON envelope, so these go to
/// standard error as well.
///
/// # Errors
///
/// No format is known for the file, or it cannot be written.
pub fn emit(report: &Report, common: &Common) -> Result<()> {
    let report = &advised(report);
    let format = common.resolved_format()?;
    let exporter = exporter(format, common.use_color(), common.width());
    let write = |out: &mut dyn Write| exporter.write(report, out);
    match &common.output {
        Some(path) => write_output(path, write)?,
        // A table for people shows what would act on a terminal, and may have colours of its own.
        None if format == OutputFormat::Table => write_stdout(write)?,
        None => print(write)?,
    }
    // Tables for people hold their warnings.
    if !matches!(format, OutputFormat::Table | OutputFormat::Markdown) || common.output.is_some() {
        for warning in &report.warnings {
            say(common, &format!("warning: {}", warning.message));
        }
    }
    Ok(())
}

/// What writes a format.
pub(super) fn exporter(
    format: OutputFormat,
    color: bool,
    width: Option<usize>,
) -> Box<dyn Exporter> {
    match format {
        OutputFormat::Table => Box::new(TextExporter { color, width }),
        OutputFormat::Csv => Box::new(CsvExporter),
        OutputFormat::Json => Box::new(JsonExporter),
        OutputFormat::Jsonl => Box::new(JsonLinesExporter),
        OutputFormat::Markdown => Box::new(MarkdownExporter),
        #[cfg(feature = "parquet")]
        OutputFormat::Parquet => Box::new(crate::report::ParquetExporter),
    }
}

/// The report with what would help in the words of this program.
pub(super) fn advised(report: &Report) -> Report {
    let mut report = report.clone();
    for warning in &mut report.warnings {
        *warning = warning.clone().advised(&super::remedy::phrase);
    }
    report
}

/// Writes a file whole or not at all; the error names it. A new one is readable by its owner only:
/// results quote reviews, name people, or are made of both, and nobody should have to know which.
pub(super) fn write_output(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    write_for(path, Readers::Owner, write)
}

/// As `write_output`, for what no user's data goes into, and everybody may read: pages of the
/// manual, and SQL.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_public_output(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    write_for(path, Readers::Anyone, write)
}

fn write_for(
    path: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if is_standard_output(path) {
        return write_stdout(write);
    }
    write_file(path, readers, write).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Where standard output goes to a file, opening it by name would begin at its start again.
fn is_standard_output(path: &Path) -> bool {
    ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Writes to standard output. A reader that has seen enough (`| head`) is an error of its own kind,
/// which ends the program in silence; a full disk is an error like any other.
///
/// # Errors
///
/// Standard output cannot be written to, or its reader is gone.
pub fn write_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = Remembering { inner: BufWriter::new(io::stdout().lock()), failed: None };
    let written = write(&mut out).and_then(|()| out.flush());
    // Writers of formats wrap the cause, so that its kind is lost.
    match (written, out.failed) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(io::ErrorKind::BrokenPipe)) => {
            Err(io::Error::from(io::ErrorKind::BrokenPipe).into())
        }
        (Err(error), _) => Err(error).context("cannot write to standard output"),
    }
}

/// As [`write_stdout`], for rows and texts of other people: on a terminal characters that would act on it are
/// shown, where a pipe gets every byte.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    if !io::stdout().is_terminal() {
        return write_stdout(write);
    }
    let mut bytes = Vec::new();
    write(&mut bytes).context("cannot write to standard output")?;
    let text = String::from_utf8_lossy(&bytes);
    write_stdout(|out| out.write_all(printable_lines(&text).as_bytes()))
}

/// A text that is the whole result: into `--output`, else as [`print`] does.
#[cfg(feature = "llm")]
pub(super) fn write_text(text: &str, common: &Common) -> Result<()> {
    match &common.output {
        Some(path) => write_output(path, |out| out.write_all(text.as_bytes())),
        None => print(|out| out.write_all(text.as_bytes())),
    }
}

/// A writer that knows the kind of the last failure.
struct Remembering<W> {
    inner: W,
    failed: Option<io::ErrorKind>,
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes).inspect_err(|error| self.failed = Some(error.kind()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush().inspect_err(|error| self.failed = Some(error.kind()))
    }
}

/// The default place of a file that goes with an output: `scores.csv` -> `scores.errors.jsonl`.
pub(super) fn beside(output: &Path, ending: &str) -> PathBuf {
    output.with_extension(ending)
}

/// Fails early if an output cannot be written, before any work is done or paid for.
///
/// # Errors
///
/// The folder is not there, or the file cannot be written.
pub fn check_output(path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let message = format!(
            "the folder `{}` for the output does not exist; make it first",
            folder.display()
        );
        return Err(Error::new(ErrorKind::Missing, message));
    }
    if is_standard_output(path) {
        return Ok(());
    }
    check_writable(path).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Fails early if a table beside the report cannot be written: its format is that of its name.
pub(super) fn check_table(path: Option<&Path>) -> Result<()> {
    if let Some(path) = path {
        format_of(path)?;
    }
    check_output(path)
}

/// Writes a table beside the report in the format of its name, with inputs and settings of `report`.
pub(super) fn write_table(path: &Path, report: &Report, table: Table) -> Result<()> {
    let format = format_of(path)?;
    let report = Report { table, footer: Vec::new(), ..report.clone() };
    write_output(path, |out| exporter(format, false, None).write(&report, out))
}

fn format_of(path: &Path) -> Result<OutputFormat> {
    OutputFormat::by_ending(path).ok_or_else(|| {
        let path = path.display();
        let message = format!(
            "cannot tell the format of `{path}`; end it in .csv, .json, .jsonl, .md or .txt"
        );
        UsageError(message).into()
    })
}

/// A line on standard error, unless `--quiet`.
pub(super) fn say(common: &Common, line: &str) {
    if !common.quiet {
        talk(&crate::report::printable(line));
    }
}
