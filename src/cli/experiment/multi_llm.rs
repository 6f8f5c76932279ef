//! `caz experiment multi-llm`: cheaters who use different LLMs.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::keyed::Keyed;
use super::crowd::{CrowdArgs, Crowds};
use crate::experiment::crowd::CrowdExperiment;

/// How well cheaters are found who use different LLMs
///
/// Every cheater picks one of several LLMs. The score is the lowest over all LLMs of the principal;
/// the column z says which ones were used: all together, or one alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment multi-llm labels.csv --z llm-labels.csv --crowd z-source=gpt-4o,llama-31")]
pub(super) struct MultiLlmArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    #[command(flatten)]
    made: Keyed<Crowds>,
}

/// Runs the command.
pub(super) fn run(args: &MultiLlmArgs, common: &Common) -> Result<ExitStatus> {
    args.crowd.run(CrowdExperiment::MultiLlm, (&args.made.llm, &[], &args.made.others), common)
}
