//! `caz experiment multi-llm`: cheaters who use different LLMs.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::crowd::CrowdArgs;
use crate::experiment::crowd::CrowdExperiment;
use crate::experiment::detection::LLM_SHARES;

/// How well cheaters are found who use different LLMs
///
/// Every cheater picks one of several LLMs. The score is the lowest over all LLMs of the principal;
/// the column z says which ones were used: all together, or one alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment multi-llm labels.csv --z llm-labels.csv --z-source gpt-4o,llama-31")]
pub(super) struct MultiLlmArgs {
    #[command(flatten)]
    crowd: CrowdArgs,
    /// Shares of LLM cheaters
    #[arg(long, value_delimiter = ',', num_args = 1.., default_values_t = LLM_SHARES, value_name = "SHARE")]
    llm: Vec<f64>,
}

/// Runs the command.
pub(super) fn run(args: &MultiLlmArgs, common: &Common) -> Result<ExitStatus> {
    args.crowd.run(CrowdExperiment::MultiLlm, (&args.llm, &[]), common)
}
