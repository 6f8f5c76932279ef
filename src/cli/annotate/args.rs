//! Flags that several kinds of annotation share.

use clap::Args;

use super::super::files::OutputFile;
use crate::annotate::SamplingSettings;
use crate::cli::common::Common;
use crate::cli::llm::LlmArgs;

/// Flags of every kind of annotation.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) out: OutputArgs,
}

/// Flags of everything that asks a model about many items.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutputArgs {
    /// Say how many requests and tokens it would take; send nothing
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) dry_run: bool,
    /// More failures than this give exit code 1; they are listed beside --output, in a file that ends in
    /// .errors.jsonl
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Advanced")]
    pub(super) max_failed: u64,
    /// Write settings, counts, costs and suspicious texts to FILE as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub(super) summary: Option<OutputFile>,
    #[command(flatten)]
    pub(in crate::cli) llm: LlmArgs,
}

impl RunArgs {
    pub(super) fn sampling(&self, samples: u32, common: &Common) -> SamplingSettings {
        SamplingSettings {
            samples,
            temperature: self.out.llm.temperature,
            max_tokens: self.out.llm.max_tokens,
            seed: common.seed,
        }
    }
}
