//! The flag for the file of people, the same for labels and texts.

use clap::Args;

use super::common::OutputFormat;
use super::exit::UsageError;
use super::files::OutputFile;
use super::output::{check_output, exporter, write_output};
use crate::error::Result;
use crate::report::{Report, Table};

/// Where the file of people goes.
#[derive(Debug, Default, Args)]
pub(super) struct WorkersArgs {
    /// Write one row a person too, for whom to pay: flag, quality, copied, tasks, and how fast they
    /// worked where the file has times
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    workers: Option<OutputFile>,
}

impl WorkersArgs {
    /// Whether such a file is asked for.
    pub(super) fn wanted(&self) -> bool {
        self.workers.is_some()
    }

    /// Finds what cannot be written before anything is read.
    pub(super) fn check(&self) -> Result<()> {
        let Some(path) = &self.workers else { return Ok(()) };
        if OutputFormat::by_ending(path).is_none() {
            let message = format!(
                "cannot tell the format of `{}`; end it in .csv, .json, .jsonl, .md or .txt",
                path.display()
            );
            return Err(UsageError(message).into());
        }
        check_output(self.workers.as_deref())
    }

    /// Writes the file, if it is asked for, with inputs and settings of `report`, for its owner only.
    pub(super) fn write(&self, report: &Report, people: impl FnOnce() -> Table) -> Result<()> {
        let Some((path, format)) =
            self.workers.as_ref().and_then(|path| Some((path, OutputFormat::by_ending(path)?)))
        else {
            return Ok(());
        };
        let report = Report { table: people(), footer: Vec::new(), ..report.clone() };
        write_output(path, |out| exporter(format, false, None).write(&report, out))
    }
}
