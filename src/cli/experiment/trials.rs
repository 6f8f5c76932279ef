//! Flags of everything that runs trials.

use super::super::files::OutputFile;
use crate::error::{Context, Error, ErrorKind, Result};
use clap::Args;

use super::super::common::{Common, OutputFormat};
use super::super::exit::UsageError;
use super::super::output::{check_output, emit, write_output};
use super::super::page::PageArgs;
use crate::experiment::figures::Figure;
use crate::experiment::trials::TrialFile;
use crate::report::html::Page;
use crate::report::{CsvExporter, Exporter, JsonExporter, Report, Table};

/// How many trials, and where they go.
#[derive(Debug, Args)]
pub(super) struct TrialArgs {
    /// Trials per point [default: 50; reviews 100, embeddings 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// Write every finished trial to FILE, as it finishes, and go on with those of the same run that are
    /// there: a file that ends in .jsonl. One that ends in .csv or .json is written when all are finished,
    /// from FILE.jsonl beside it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    raw: Option<OutputFile>,
    /// Write figures (SVG) into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    figures: Option<OutputFile>,
    #[command(flatten)]
    page: PageArgs,
}

/// What stands under a figure of a page.
pub(super) fn caption(figure: &Figure) -> String {
    format!("As a file: {} (--figures DIR).", figure.name)
}

impl TrialArgs {
    /// Fails early if an output cannot be written.
    pub(super) fn check(&self, common: &Common) -> Result<()> {
        common.resolved_format()?;
        check_output(common.output.as_deref())?;
        self.page.check(common)?;
        check_output(self.raw.as_deref())
    }

    /// Trials per point, `default` unless another number was asked for.
    pub(super) fn count(&self, default: u32) -> u32 {
        self.trials.unwrap_or(default)
    }

    /// By the ending of the file; what it is like when all trials are finished.
    fn raw_format(&self) -> Result<Option<OutputFormat>> {
        let Some(path) = &self.raw else { return Ok(None) };
        let format = OutputFormat::by_ending(path);
        if let Some(OutputFormat::Csv | OutputFormat::Json | OutputFormat::Jsonl) = format {
            return Ok(format);
        }
        let path = path.display();
        Err(UsageError(format!("end `{path}` in .jsonl, .csv or .json")).into())
    }

    /// The file that trials are appended to as they finish: `--raw` itself, or beside it.
    pub(super) fn file(&self) -> Result<Option<TrialFile>> {
        let (Some(path), Some(format)) = (&self.raw, self.raw_format()?) else { return Ok(None) };
        let mut path = path.as_os_str().to_owned();
        if format != OutputFormat::Jsonl {
            path.push(".jsonl");
        }
        Ok(Some(TrialFile { path: path.into(), resume: true }))
    }

    /// Writes all trials as a table, if `--raw` asks for one; `report` says what they are of.
    pub(super) fn write_raw(&self, report: &Report, table: Table) -> Result<()> {
        let (Some(path), Some(format)) = (&self.raw, self.raw_format()?) else { return Ok(()) };
        let exporter: &dyn Exporter = match format {
            OutputFormat::Csv => &CsvExporter,
            OutputFormat::Json => &JsonExporter,
            _ => return Ok(()),
        };
        let report = Report { table, ..report.clone() };
        write_output(path, |out| exporter.write(&report, out))
    }

    /// Says how to go on, if it was Ctrl-C or a request to end that stopped the run.
    pub(super) fn how_to_go_on(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Interrupted {
            return error;
        }
        let how = match &self.raw {
            Some(path) => format!(
                "finished trials are kept in `{}`, the same command goes on from here",
                path.display()
            ),
            None => "nothing was kept, --raw FILE keeps finished trials".to_owned(),
        };
        Error::new(ErrorKind::Interrupted, format!("{error:#}; {how}"))
    }

    /// Writes the figures and the page that are wanted.
    pub(super) fn write_figures(
        &self,
        common: &Common,
        report: &Report,
        figures: impl FnOnce() -> Result<Vec<Figure>>,
        page: impl FnOnce(&[Figure]) -> Page,
    ) -> Result<()> {
        let wanted = self.figures.is_some() || self.page.wanted();
        let figures = if wanted { figures()? } else { Vec::new() };
        if let Some(folder) = &self.figures {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
            for Figure { name, svg } in &figures {
                write_output(&folder.join(name), |out| out.write_all(svg.as_bytes()))?;
            }
        }
        self.page.write(common, report, || Ok(page(&figures)))
    }

    /// The same, then the result.
    pub(super) fn publish(
        &self,
        common: &Common,
        report: &Report,
        figures: impl FnOnce() -> Result<Vec<Figure>>,
        page: impl FnOnce(&[Figure]) -> Page,
    ) -> Result<()> {
        self.write_figures(common, report, figures, page)?;
        emit(report, common)
    }
}
