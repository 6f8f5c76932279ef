//! `caz simulate`: data of which it is known who answered how.

mod crowd;
mod labels;
mod reviews;

use crate::error::{Context, Result};
use clap::{Args, Subcommand};

use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::output::{emit, write_output};
use super::progress::doing;
use crate::report::Report;
use crate::simulate::run::SimulatedFile;

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

/// Writes the files of a simulation into the folder named by `--output`, made if it does not exist,
/// and gives the report.
fn write(files: &[SimulatedFile<'_>], mut report: Report, common: &Common) -> Result<Report> {
    let Some(folder) = &common.output else {
        return Err(UsageError("name a folder for the files; add --output DIR".into()).into());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    for file in files {
        write_output(&folder.join(file.name), |out| file.write(out))?;
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let (last, first) = names.split_last().expect("every simulation has files");
    let wrote = format!("Wrote {} and {last} to {}.", first.join(", "), folder.display());
    let said = std::iter::once(wrote).chain(report.footer);
    report.footer = vec![said.collect::<Vec<_>>().join(" ")];
    Ok(report)
}
