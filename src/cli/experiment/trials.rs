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
use crate::experiment::trials::{LogError, TrialLog};
use crate::report::{Input, Report};

/// How many trials, and where they go.
#[derive(Debug, Args)]
pub(super) struct TrialArgs {
    /// Trials per point of the grid
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) trials: Option<u32>,
    /// Write every finished trial to FILE, as JSON lines
    #[arg(long, value_name = "FILE.jsonl")]
    raw: Option<PathBuf>,
    /// Go on with the trials in --raw
    #[arg(long, requires = "raw")]
    resume: bool,
    /// Write figures (SVG) into DIR
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

impl TrialArgs {
    /// Fails early if an output cannot be written.
    pub(super) fn check(&self, common: &Common) -> Result<()> {
        self.page.check(common)?;
        check_output(self.raw.as_deref())
    }

    /// The file of trials, if there is one, for a run with these inputs and settings.
    pub(super) fn log(
        &self,
        command: &str,
        inputs: &[Input],
        settings: &Map<String, Value>,
    ) -> Result<Option<TrialLog>> {
        let Some(path) = &self.raw else { return Ok(None) };
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
