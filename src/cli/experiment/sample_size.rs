//! `caz experiment sample-size`: AUC by share of the tasks that the LLM labels.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::keyed::{Keyed, Keys, OF_A_CROWD};
use super::crowd::{CrowdArgs, Others};
use crate::experiment::crowd::CrowdExperiment;
use crate::experiment::sample_size::{COVERAGES, LLM_SHARE};

/// How many tasks the LLM must label for its labels to help
///
/// Takes Z away from more and more tasks. Mechanisms without Z score the whole crowd every time,
/// for comparison.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment sample-size labels.csv --z llm-labels.csv --crowd copy-z --mechanism ca_z,ca")]
pub(super) struct SampleSizeArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    #[command(flatten)]
    made: Keyed<Covered>,
}

/// Crowds with Z for several shares of the tasks.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Covered {
    /// Share of LLM cheaters
    #[arg(long, default_value_t = LLM_SHARE, value_name = "SHARE")]
    llm: f64,
    /// Shares of the tasks with Z that keep it
    #[arg(long, value_delimiter = ',', default_values_t = COVERAGES, value_name = "SHARE")]
    coverage: Vec<f64>,
    #[command(flatten)]
    others: Others,
}

impl Keys for Covered {
    const FLAG: &'static str = "crowd";
    const ABOUT: &'static str = OF_A_CROWD;
}

/// Runs the command.
pub(super) fn run(args: &SampleSizeArgs, common: &Common) -> Result<ExitStatus> {
    args.crowd.run(
        CrowdExperiment::SampleSize,
        (&[args.made.llm], &args.made.coverage, &args.made.others),
        common,
    )
}
