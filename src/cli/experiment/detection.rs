//! `caz experiment detection`: AUC by share of LLM cheaters.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::keyed::Keyed;
use super::crowd::{CrowdArgs, Crowds};
use crate::experiment::crowd::CrowdExperiment;

/// How well each mechanism tells good workers from LLM cheaters, guessers and biased workers
///
/// In every trial some workers of the crowd are made to hand in an LLM, others to guess, others to
/// give the most common label. Rows without `llm_share` are over all shares, as in Table 1 of the
/// paper.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment detection labels.csv --z llm-labels.csv --crowd copy-z --figures figures")]
pub(super) struct DetectionArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    #[command(flatten)]
    made: Keyed<Crowds>,
}

/// Runs the command.
pub(super) fn run(args: &DetectionArgs, common: &Common) -> Result<ExitStatus> {
    args.crowd.run(CrowdExperiment::Detection, (&args.made.llm, &[], &args.made.others), common)
}
