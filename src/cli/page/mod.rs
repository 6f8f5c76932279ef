//! `--report`: the page that a result is read in.

use super::files::OutputFile;
use crate::error::Result;
use clap::Args;

use super::common::{Common, ending_of};
use super::exit::UsageError;
use super::output::{advised, check_output, write_output};
use super::progress::doing;
use crate::report::html::{HtmlExporter, Page};
use crate::report::{Exporter, Report};

/// The flag of every command that has a page.
#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// Also write FILE.html, to read in a browser: tables to sort and search, plots, the evidence
    ///
    /// One file that works from a disk and loads nothing. It holds the names of people and, for
    /// `caz reviews`, parts of their texts (see --report-text); treat it like the reviews. A new
    /// file is readable by its owner only.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<OutputFile>,
    /// What the page is about, e.g. the name of the venue; stands above it, also in print
    #[arg(
        long,
        value_name = "TEXT",
        requires = "report",
        help_heading = "Output",
        hide_short_help = true
    )]
    title: Option<String>,
}

impl PageArgs {
    /// Fails early if the page could not be written, or would replace another file.
    pub(super) fn check(&self, common: &Common) -> Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        if !matches!(ending_of(path).as_deref(), Some("html" | "htm")) {
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
    pub(super) fn write(
        &self,
        common: &Common,
        report: &Report,
        page: impl FnOnce() -> Result<Page>,
    ) -> Result<()> {
        let Some(path) = &self.report else { return Ok(()) };
        doing(common, "making the page", || {
            let mut page = page()?;
            if let Some(title) = &self.title {
                page.title = format!("{title}: {}", page.title);
            }
            let report = advised(report);
            write_output(path, |out| HtmlExporter { page: &page }.write(&report, out))
        })
    }
}
