//! `caz experiment own`: whether the flags of the score own keep their promise on data like yours.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::keyed::{Keyed, Keys};
use super::super::output::{check_output, emit};
use super::super::progress::Terminal;
use super::super::review_input::ReviewFiles;
use crate::error::Result;
use crate::experiment::own_calibration::scenarios::ScenarioGroup;
use crate::experiment::own_calibration::{OwnTrials, OwnTrialsSettings, TRIALS};
use crate::experiment::reviews::Half;

/// Whether the flags of the score own keep their promise: who is found, who is accused
///
/// Venues are made from the reviews: people with some papers each, of whom some hand in something
/// else than their own work. The score own, which knows nothing of this, is asked who was flagged,
/// who should have been, whether its probabilities are right and whether its estimated share of
/// cheaters is. Where the name of a row says `text not in Z`, what a cheater hands in is taken out
/// of Z, or is by a source that is not Z.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment own reviews.jsonl --z llm-reviews.jsonl --scenario papers,kinds")]
pub(super) struct ExperimentOwnArgs {
    #[command(flatten)]
    input: ReviewFiles,
    /// What people and the LLM had before them: paper, text
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// What is varied: papers each, kinds of cheaters, how honest people write, share of cheaters,
    /// Z and peers, size of the venue, one review a person, cheating at times, words, people who are
    /// like themselves, junk by others, the people of the files
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT",
        default_values_t = ScenarioGroup::value_variants().to_vec())]
    scenario: Vec<ScenarioGroup>,
    /// Venues of every scenario
    #[arg(long, value_name = "N", default_value_t = TRIALS, value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,
    /// Rates of false alarms to ask for; rows of one kind of text are at the second
    #[arg(long, value_delimiter = ',', value_name = "F", default_values_t = [0.01, 0.05, 0.1])]
    fdr: Vec<f64>,
    #[command(flatten)]
    venue: Keyed<OwnVenue>,
}

/// Of which papers venues are made.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct OwnVenue {
    /// Papers that take part: all, or every second one from the first or from the second
    #[arg(long, value_enum, default_value_t)]
    half: Half,
}

impl Keys for OwnVenue {
    const FLAG: &'static str = "venue";
    const ABOUT: &'static str = "What the made-up venues are like";
}

/// Runs the command.
pub(super) fn run(args: &ExperimentOwnArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    let mut scenario: Vec<ScenarioGroup> = Vec::new();
    for group in args.scenario.iter().copied() {
        if !scenario.contains(&group) {
            scenario.push(group);
        }
    }
    let settings = OwnTrialsSettings {
        scenario,
        half: args.venue.half,
        fdr: args.fdr.clone(),
        trials: args.trials,
        seed: common.seed,
        duplicates: args.input.duplicates(),
        import: args.input.import()?,
    };
    settings.check()?;
    let (loaded, inputs) = args.input.load_with_tasks(args.tasks.as_deref(), common)?;
    let run = OwnTrials::new(&settings, loaded, inputs)?.run(&Terminal::new(common))?;
    emit(&run.report(), common)?;
    Ok(ExitStatus::Done)
}
