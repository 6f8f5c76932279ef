//! Flags of everything that runs trials.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};

use super::super::exit::UsageError;
use super::super::output::{check_output, write_output};
use crate::experiment::trials::{LogError, TrialLog};
use crate::report::Input;

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
}

impl TrialArgs {
    /// Fails early if an output cannot be written.
    pub(super) fn check(&self) -> Result<()> {
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

    /// Writes figures into the folder, if there is one: file names and SVG.
    pub(super) fn write_figures(&self, figures: &[(String, String)]) -> Result<()> {
        let Some(folder) = &self.figures else { return Ok(()) };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        for (name, picture) in figures {
            write_output(&folder.join(name), |out| out.write_all(picture.as_bytes()))?;
        }
        Ok(())
    }

    /// Whether figures are wanted.
    pub(super) fn wants_figures(&self) -> bool {
        self.figures.is_some()
    }
}
