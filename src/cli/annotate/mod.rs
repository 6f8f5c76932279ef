//! `caz annotate`: ask a language model for labels, reviews or judgments.

mod judgments;
mod labels;
mod output;
mod reviews;
mod run;

use std::path::PathBuf;

use crate::error::Result;
use clap::{Args, Subcommand};

pub(super) use self::output::{RowFormat, write_json_lines};
pub(super) use self::run::Output;
use super::common::Common;
use super::exit::ExitStatus;
use super::llm::LlmArgs;
use crate::annotate::SamplingSettings;

/// Make Z with a language model: labels of items, reviews of papers, judgments of reviews
///
/// Every answer is stored the moment it arrives. A run that was stopped, by Ctrl-C, a budget or a
/// crash, goes on where it was when the same command is given again. Texts are sent to the server
/// named by --base-url and nowhere else; nothing is sent with --dry-run, --replay or --offline.
#[derive(Debug, Args)]
pub(super) struct AnnotateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Labels(labels::LabelsArgs),
    Reviews(reviews::ReviewsArgs),
    Judgments(Box<judgments::JudgmentsArgs>),
}

/// Flags of every kind of annotation.
#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    out: OutputArgs,
}

/// Flags of everything that asks a model about many items.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Say how many requests and tokens it would take; send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// List what failed in FILE, one JSON object a line
    /// [default: beside --output, ending in .errors.jsonl, if anything failed]
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// More failures than this give exit code 1
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_failed: u64,
    /// Write settings, counts, costs and suspicious texts to FILE as JSON
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    pub(super) llm: LlmArgs,
}

impl RunArgs {
    fn sampling(&self, samples: u32, common: &Common) -> SamplingSettings {
        SamplingSettings {
            samples,
            temperature: self.out.llm.temperature,
            max_tokens: self.out.llm.max_tokens,
            seed: common.seed,
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &AnnotateArgs, common: &Common) -> Result<ExitStatus> {
    match &args.what {
        What::Labels(args) => labels::run(args, common),
        What::Reviews(args) => reviews::run(args, common),
        What::Judgments(args) => judgments::run(args, common),
    }
}
