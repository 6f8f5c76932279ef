//! `caz experiment own-labels`: what the flags of own would find in a crowd.

use std::path::PathBuf;

use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::exports::ExportArgs;
use super::super::keyed::{Keyed, Keys, OF_A_CROWD};
use super::super::label_input::{ReadingArgs, read_label_files};
use super::super::output::{check_output, emit};
use super::super::progress::Terminal;
use crate::error::Result;
use crate::experiment::own_labels::{OwnLabelsSettings, own_labels};

/// What the flags of own would find in your crowd: how many cheaters of each kind, how many people
///
/// Some workers hand in something else on their own tasks: the LLM's labels, nearly all of them, those
/// of an LLM that is not in your files (where you have several samples or sources), guesses, one label
/// always. own, which knows nothing of this, is asked whom it flags. An LLM's labels are needed; a
/// truth is not.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment own-labels labels.csv --z llm-labels.csv")]
pub(super) struct OwnLabelsArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks: task, label; optional source, sample
    #[arg(long, num_args = 1.., required = true, value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    #[command(flatten)]
    crowd: Keyed<Planted>,
    /// Trials
    #[arg(long, value_name = "N", default_value_t = OwnLabelsSettings::default().trials,
        value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,
    /// False discovery rate of the flag look
    #[arg(long, value_name = "F", default_value_t = OwnLabelsSettings::default().fdr)]
    fdr: f64,
    /// Fewest tasks of a worker who is judged
    #[arg(long, value_name = "N", default_value_t = OwnLabelsSettings::default().min_tasks)]
    min_tasks: usize,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    exports: ExportArgs,
}

/// What becomes of a crowd.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Planted {
    /// Share of the judged workers who are planted in a trial
    #[arg(long, value_name = "SHARE", default_value_t = OwnLabelsSettings::default().share)]
    share: f64,
}

impl Keys for Planted {
    const FLAG: &'static str = "crowd";
    const ABOUT: &'static str = OF_A_CROWD;
}

/// Runs the command.
pub(super) fn run(args: &OwnLabelsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    let settings = OwnLabelsSettings {
        share: args.crowd.share,
        trials: args.trials,
        fdr: args.fdr,
        min_tasks: args.min_tasks,
        seed: common.seed,
    };
    let reading = (args.reading.into(), &args.exports);
    let set = read_label_files(&args.labels, &args.z, None, reading, common)?;
    emit(&own_labels(set, &settings, &Terminal::new(common))?.report(), common)?;
    Ok(ExitStatus::Done)
}
