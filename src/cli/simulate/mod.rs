//! `caz simulate`: data of which it is known who answered how.

mod crowd;
mod files;
mod labels;
mod reviews;

use crate::error::Result;
use clap::{Args, Subcommand};

use super::common::Common;
use super::exit::ExitStatus;
use super::output::emit;
use super::progress::doing;

/// Make data of which it is known who cheats, for tests and teaching
#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    #[command(subcommand)]
    command: SimulateCommand,
}

#[derive(Debug, Subcommand)]
enum SimulateCommand {
    Labels(labels::SimulateLabelsArgs),
    Reviews(reviews::SimulateReviewsArgs),
    Crowd(crowd::SimulateCrowdArgs),
}

/// For reading, while the bar of the whole command is drawn.
fn silent(common: &Common) -> Common {
    Common { no_progress: true, ..common.clone() }
}

/// Runs the command.
pub(super) fn run(args: &SimulateArgs, common: &Common) -> Result<ExitStatus> {
    let simulated = doing(common, "simulating", || match &args.command {
        SimulateCommand::Labels(args) => labels::run(args, common),
        SimulateCommand::Reviews(args) => reviews::run(args, common),
        SimulateCommand::Crowd(args) => crowd::run(args, common),
    })?;
    // The result is printed where no bar is in the way.
    emit(&simulated, &Common { output: None, ..common.clone() })?;
    Ok(ExitStatus::Done)
}
