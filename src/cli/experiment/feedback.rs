//! `caz experiment feedback`: what is feedback over several turns worth?

use std::path::PathBuf;

use clap::Args;

use super::super::common::{Common, check_read_once};
use super::super::exit::ExitStatus;
use super::super::output::{check_output, emit};
use super::super::page::PageArgs;
use super::super::progress::{Terminal, open};
use crate::data::source::Source;
use crate::error::Result;
use crate::experiment::feedback::{By, FeedbackSettings, study};
use crate::metrics::agreement::bootstrap::DRAWS;

/// What feedback over several turns is worth, from recorded runs
///
/// Shares solved by budget of turns, their slope, and what every provider and kind of feedback
/// gains over runs without, on the same items. No model is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: caz experiment feedback runs.csv --format csv
          caz experiment feedback runs.csv --by task
          caz experiment feedback none.csv check-again.csv textual.csv
            (each by `caz annotate judgments --gold GOLD --judge feedback=... --feedback-runs FILE`)")]
pub(super) struct FeedbackArgs {
    /// Runs: item, success (1 or 0); optional provider and feedback (none, textual, check-again,
    /// ...), `max_turns` (the budget), task, turns, `invalid_turns`, tokens
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Bootstrap draws behind every interval
    #[arg(long, value_name = "B", default_value_t = DRAWS, value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: u32,
    /// Which runs are looked at together: all, or those of each task (and of each kind, where tasks
    /// are named kind/task)
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    by: By,
    #[command(flatten)]
    page: PageArgs,
}

/// Runs the command.
pub(super) fn run(args: &FeedbackArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    check_read_once(&args.runs)?;
    let sources: Result<Vec<Source>, _> = args.runs.iter().map(|path| open(path, common)).collect();
    let sources = sources?;
    let by = args.by;
    let settings = FeedbackSettings { by, draws: args.bootstrap, seed: common.seed };
    let run = study(&sources, &settings, &Terminal::new(common))?;
    let report = run.report();
    args.page.write(common, &report, || Ok(run.page()))?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}
