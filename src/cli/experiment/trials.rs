//! Flags of everything that runs trials.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};

use super::super::common::Common;
use super::super::exit::UsageError;
use super::super::output::{check_output, emit, write_output};
use super::super::page::PageArgs;
use super::super::page::experiment::page;
use super::super::progress::Bar;
use crate::experiment::trials::{LogError, TrialLog};
use crate::report::{CsvExporter, Exporter, Input, JsonExporter, Report, Table};

/// How many trials, and where they go.
#[derive(Debug, Args)]
pub(super) struct TrialArgs {
    /// Trials per point of the grid
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// Write every finished trial to FILE, as it finishes: a file that ends in .jsonl. One that ends
    /// in .csv or .json is written when all are finished, from FILE.jsonl beside it
    #[arg(long, value_name = "FILE")]
    raw: Option<PathBuf>,
    /// Go on with the trials that --raw left
    #[arg(long, requires = "raw")]
    resume: bool,
    /// Write figures (SVG) into DIR
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

/// What a file of trials is like when all are finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawFormat {
    JsonLines,
    Csv,
    Json,
}

impl TrialArgs {
    /// Fails early if an output cannot be written.
    pub(super) fn check(&self, common: &Common) -> Result<()> {
        common.resolved_format()?;
        check_output(common.output.as_deref())?;
        self.page.check(common)?;
        if let Some(path) = self.log_path()?
            && path.exists()
            && !self.resume
        {
            return Err(UsageError(LogError::Exists { path }.to_string()).into());
        }
        check_output(self.raw.as_deref())
    }

    /// By the ending of the file.
    fn raw_format(&self) -> Result<Option<RawFormat>> {
        let Some(path) = &self.raw else { return Ok(None) };
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("jsonl" | "ndjson") => Ok(Some(RawFormat::JsonLines)),
            Some("csv") => Ok(Some(RawFormat::Csv)),
            Some("json") => Ok(Some(RawFormat::Json)),
            _ => {
                let path = path.display();
                let message = format!("end `{path}` in .jsonl, .csv or .json");
                Err(UsageError(message).into())
            }
        }
    }

    /// The file that trials are appended to as they finish: `--raw` itself, or beside it.
    fn log_path(&self) -> Result<Option<PathBuf>> {
        let (Some(path), Some(format)) = (&self.raw, self.raw_format()?) else { return Ok(None) };
        if format == RawFormat::JsonLines {
            return Ok(Some(path.clone()));
        }
        let mut beside = path.clone().into_os_string();
        beside.push(".jsonl");
        Ok(Some(beside.into()))
    }

    /// Writes all trials as a table, if `--raw` asks for one; `report` says what they are of.
    pub(super) fn write_raw(&self, report: &Report, table: Table) -> Result<()> {
        let (Some(path), Some(format)) = (&self.raw, self.raw_format()?) else { return Ok(()) };
        let exporter: &dyn Exporter = match format {
            RawFormat::JsonLines => return Ok(()),
            RawFormat::Csv => &CsvExporter,
            RawFormat::Json => &JsonExporter,
        };
        let report = Report { table, ..report.clone() };
        write_output(path, |out| exporter.write(&report, out))
    }

    /// Makes Ctrl-C, and a request to end, say how to go on; the process ends with code 130.
    ///
    /// Nothing needs to be saved at that point: finished trials are in the file, and of one that
    /// was being written whole lines count.
    #[cfg(feature = "llm")]
    fn explain_interruption(&self, common: &Common) {
        let line = match self.raw.as_deref() {
            Some(path) => format!(
                "interrupted; finished trials are kept, the same command with `--raw {} --resume` \
                 goes on from here",
                path.display()
            ),
            None => "interrupted; nothing was kept, --raw FILE keeps finished trials".to_owned(),
        };
        // The bar has no line end.
        let after_bar = common.show_progress().then(String::new);
        let lines = after_bar.into_iter().chain([line]).collect();
        super::super::interruption::explain_interruption(common, lines);
    }

    /// Without the crate that hears of it, the process ends without a word.
    #[cfg(not(feature = "llm"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    fn explain_interruption(&self, _common: &Common) {}

    /// The file of trials, if there is one, for a run with these inputs and settings.
    pub(super) fn log(
        &self,
        command: &str,
        inputs: &[Input],
        settings: &Map<String, Value>,
    ) -> Result<Option<TrialLog>> {
        let Some(path) = &self.log_path()? else { return Ok(None) };
        // The contents of the inputs, not their names: files may move between two runs.
        let inputs: Vec<Value> =
            inputs.iter().map(|i| json!({ "sha256": i.sha256, "rows": i.rows })).collect();
        let header = json!({
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "inputs": inputs,
            "settings": settings,
        });
        match TrialLog::open(path, &header, self.resume) {
            Ok(log) => Ok(Some(log)),
            Err(error @ LogError::Exists { .. }) => Err(UsageError(error.to_string()).into()),
            Err(error) => Err(error.into()),
        }
    }

    /// What is ready once the trials begin: their number per point, `default` unless another one
    /// was asked for, and a bar for all of them.
    pub(super) fn begin(
        &self,
        common: &Common,
        default: u32,
        all: impl FnOnce(u32) -> u64,
    ) -> (u32, Bar) {
        let count = self.trials.unwrap_or(default);
        self.explain_interruption(common);
        (count, Bar::new(common, "trials", all(count)))
    }

    /// Writes the figures and the page that are wanted, then the result; the title is that of the
    /// page, the figures are file names and SVG.
    pub(super) fn publish(
        &self,
        common: &Common,
        title: &str,
        report: &Report,
        figures: impl FnOnce() -> Result<Vec<(String, String)>>,
    ) -> Result<()> {
        let wanted = self.figures.is_some() || self.page.wanted();
        let figures = if wanted { figures()? } else { Vec::new() };
        if let Some(folder) = &self.figures {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
            for (name, picture) in &figures {
                write_output(&folder.join(name), |out| out.write_all(picture.as_bytes()))?;
            }
        }
        self.page.write(report, || Ok(page(title, report, &figures)))?;
        emit(report, common)
    }
}
