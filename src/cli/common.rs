//! Flags that every subcommand takes.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::files::OutputFile;
use crate::data::interruption::Interruption;
use crate::error::{Context, Error, ErrorKind, Result};
use clap::{Args, ValueEnum};

use super::exit::UsageError;
use super::spending::Spending;

/// Format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Aligned columns for people, with a footer in words
    Table,
    /// Comma-separated values, full precision
    Csv,
    /// One JSON envelope: inputs, settings, results, warnings
    Json,
    /// One JSON object per row
    Jsonl,
    /// A Markdown table, three decimals, with the notes below
    Markdown,
    /// A Parquet file, full precision, the rest of the envelope in its metadata
    #[cfg(feature = "parquet")]
    Parquet,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment forbids it
    #[default]
    #[value(help = "On a terminal, unless NO_COLOR is set or TERM is dumb")]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// More threads than any machine that this runs on has use for.
const MOST_THREADS: usize = 1024;

/// Flags that every subcommand takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Format of the result [default: by the ending of --output, else table]
    #[arg(long, global = true, value_enum, help_heading = "Output")]
    pub format: Option<OutputFormat>,
    /// Write the result to FILE instead of standard output
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Output")]
    pub output: Option<OutputFile>,
    /// Seed of everything random; the same seed gives the same bytes
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "Advanced")]
    pub seed: u64,
    /// Number of threads; never changes a result [default: all cores]
    #[arg(long, global = true, value_name = "N", help_heading = "Advanced")]
    pub threads: Option<usize>,
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Show no progress bars
    #[arg(long, global = true, help_heading = "Advanced")]
    pub(crate) no_progress: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, help_heading = "Advanced")]
    pub color: ColorChoice,
    /// Make no network connection at all
    #[arg(long, global = true, help_heading = "Advanced")]
    pub offline: bool,
    /// Believe servers whose certificates are signed by the authorities in FILE (PEM), and no others
    /// [default: the authorities that browsers believe]
    #[cfg(any(feature = "llm", feature = "hub"))]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Advanced")]
    pub ca: Option<PathBuf>,
    /// How work hears that it should stop.
    #[arg(skip)]
    pub interruption: Interruption,
    /// What was spent at a model.
    #[arg(skip)]
    pub(crate) spending: Spending,
}

/// The PDF files in a folder, by name.
pub(super) fn pdfs_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder `{}`", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| ending_of(path).as_deref() == Some("pdf"));
    paths.sort();
    if paths.is_empty() {
        let message = format!("the folder `{}` has no PDF file", folder.display());
        return Err(Error::new(ErrorKind::Input, message));
    }
    Ok(paths)
}

/// The ending of a file in lower case, without the dot.
pub(super) fn ending_of(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

impl OutputFormat {
    /// The format that the ending of a file asks for.
    pub(super) fn by_ending(path: &Path) -> Option<Self> {
        match ending_of(path).as_deref() {
            Some("csv") => Some(Self::Csv),
            Some("json") => Some(Self::Json),
            Some("jsonl" | "ndjson") => Some(Self::Jsonl),
            Some("txt") => Some(Self::Table),
            Some("md") => Some(Self::Markdown),
            #[cfg(feature = "parquet")]
            Some("parquet") => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Refuses to read standard input (`-`) for more than one of these files.
pub(super) fn check_read_once<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) -> Result<()> {
    if files.into_iter().filter(|path| path.as_ref().as_os_str() == "-").count() > 1 {
        return Err(UsageError("standard input (`-`) can be read only once".into()).into());
    }
    Ok(())
}

impl Common {
    /// Whose certificates are believed.
    #[cfg(any(feature = "llm", feature = "hub"))]
    pub(super) fn trust(&self) -> Result<crate::llm::Trust> {
        match &self.ca {
            None => Ok(crate::llm::Trust::default()),
            Some(path) => Ok(crate::llm::Trust::from_file(path)?),
        }
    }

    /// The format asked for, by flag, by the ending of `--output`, or the table.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if the ending of `--output` says nothing and no `--format` is given.
    pub fn resolved_format(&self) -> Result<OutputFormat> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = &self.output else { return Ok(OutputFormat::Table) };
        OutputFormat::by_ending(path).ok_or_else(|| {
            let shown = path.display();
            let message = if ending_of(path).as_deref() == Some("parquet") {
                format!(
                    "this build of caz writes no Parquet, which `{shown}` would be; build it with the \
                     feature `parquet`, or write .csv, .json or .jsonl"
                )
            } else {
                format!(
                    "cannot tell the format of `{shown}`; end it in .csv, .json, .jsonl, .md or .txt, \
                     or add --format"
                )
            };
            UsageError(message).into()
        })
    }

    /// Whether to colour what goes to standard output.
    pub(crate) fn use_color(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
                    || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                !plain && self.output.is_none() && std::io::stdout().is_terminal()
            }
        }
    }

    /// Columns of the terminal that a table is shown on: what `COLUMNS` says, or the terminal itself;
    /// `None` for files and pipes.
    pub(crate) fn width(&self) -> Option<usize> {
        /// Narrower than this nothing can be read.
        const NARROWEST: usize = 40;
        if self.output.is_some() {
            return None;
        }
        let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = asked.or_else(|| comfy_table::Table::new().width().map(usize::from));
        width.map(|width| width.max(NARROWEST))
    }

    /// Whether progress bars may be drawn.
    pub(crate) fn show_progress(&self) -> bool {
        !self.quiet && !self.no_progress && std::io::stderr().is_terminal()
    }

    /// Runs `work` on as many threads as asked for.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for zero threads; what `work` reports.
    pub(crate) fn in_thread_pool<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        if self.threads.is_some_and(|threads| threads == 0 || threads > MOST_THREADS) {
            let message = format!("--threads must be at least 1 and at most {MOST_THREADS}");
            return Err(UsageError(message).into());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.unwrap_or(0))
            .build()
            .map_err(|error| Error::of(ErrorKind::Usage, error).context("cannot start threads"))?
            .install(work)
    }
}
