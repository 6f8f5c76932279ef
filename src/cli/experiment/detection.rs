//! `caz experiment detection`: AUC by share of LLM cheaters.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::crowd::CrowdArgs;
use crate::experiment::crowd::CrowdExperiment;
use crate::experiment::detection::LLM_SHARES;

/// How well each mechanism tells good workers from LLM cheaters, guessers and biased workers
///
/// In every trial some workers of the crowd are made to hand in an LLM, others to guess, others to
/// give the most common label. Rows without `llm_share` are over all shares, as in Table 1 of the
/// paper.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment detection labels.csv --z llm-labels.csv --figures figures")]
pub(super) struct DetectionArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    /// Shares of LLM cheaters
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = LLM_SHARES, value_name = "SHARE")]
    llm: Vec<f64>,
}

/// Runs the command.
pub(super) fn run(args: &DetectionArgs, common: &Common) -> Result<ExitStatus> {
    args.crowd.run(CrowdExperiment::Detection, (&args.llm, &[]), common)
}
