//! `--report`: the page that a result is read in.

pub(super) mod assumptions;
pub(super) mod experiment;
pub(super) mod labels;
pub(super) mod reviews;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::common::Common;
use super::exit::UsageError;
use super::output::{check_output, write_output};
use crate::report::html::{HtmlExporter, Page};
use crate::report::{Exporter, Report};

/// Sentences that close every page.
const NOT_A_VERDICT: &str = "A flag is a reason to look, never a verdict: open a person, read what there is, and decide by \
     reading.";

/// The flag of every command that has a page.
#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// Also write FILE.html, to read in a browser: tables to sort and search, plots, the evidence
    ///
    /// One file that works from a disk and loads nothing. It holds the names of people and, for
    /// `caz reviews`, parts of their texts (see --report-text); treat it like the reviews.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl PageArgs {
    /// Fails early if the page could not be written, or would replace another file.
    pub(super) fn check(&self, common: &Common) -> Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if !matches!(ending.as_deref(), Some("html" | "htm")) {
            let path = path.display();
            let message = format!("--report writes HTML, `{path}` does not end in .html");
            return Err(UsageError(message).into());
        }
        if common.output.as_ref() == Some(path) {
            let message = "--report and --output name the same file; give them two names";
            return Err(UsageError(message.into()).into());
        }
        check_output(Some(path))
    }

    /// Whether a page is wanted.
    pub(super) fn wanted(&self) -> bool {
        self.report.is_some()
    }

    /// Writes the page, if one is wanted.
    pub(super) fn write(&self, report: &Report, page: impl FnOnce() -> Result<Page>) -> Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        let page = page()?;
        write_output(path, |out| HtmlExporter { page: &page }.write(report, out))
    }
}
