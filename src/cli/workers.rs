//! The flag for the file of people, the same for labels and texts.

use clap::Args;

use super::files::OutputFile;
use super::output::{check_table, write_table};
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
        check_table(self.workers.as_deref())
    }

    /// Writes the file, if it is asked for, with inputs and settings of `report`, for its owner only.
    pub(super) fn write(&self, report: &Report, people: impl FnOnce() -> Table) -> Result<()> {
        match &self.workers {
            Some(path) => write_table(path, report, people()),
            None => Ok(()),
        }
    }
}
