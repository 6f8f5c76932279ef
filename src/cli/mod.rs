//! The command line: one file per subcommand; the only module that prints, reads environment
//! variables or decides exit codes.

#[cfg(feature = "llm")]
mod annotate;
mod assumptions;
#[cfg(feature = "bert")]
mod bert;
#[cfg(feature = "llm")]
mod cache;
mod combined;
mod common;
mod completions;
mod doctor;
mod embed;
mod embedding;
mod estimates;
mod exit;
mod experiment;
mod explain;
#[cfg(feature = "llm")]
mod interruption;
#[cfg(feature = "llm")]
mod judging;
mod label_input;
mod label_scores;
mod labels;
#[cfg(feature = "llm")]
mod llm;
#[cfg(feature = "bert")]
mod models;
#[cfg(feature = "llm")]
mod openai;
mod output;
mod page;
mod progress;
#[cfg(feature = "llm")]
mod prompts;
mod review_input;
mod review_scores;
mod reviewer_args;
mod reviews;
mod short_reviews;
mod simulate;

use anyhow::Result;
use clap::{Parser, Subcommand};

pub use self::common::Common;
pub use self::exit::{ExitStatus, UsageError, status_of};

/// Does this person's review or label add information beyond what an LLM already says?
///
/// caz scores people by what their answers share with their peers beyond what both share with an
/// LLM's answer to the same task. A score is a reason to look, never a verdict.
#[derive(Debug, Parser)]
#[command(name = "caz", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reviews(reviews::ReviewsArgs),
    Labels(labels::LabelsArgs),
    Assumptions(assumptions::AssumptionsArgs),
    Embed(embed::EmbedArgs),
    Simulate(simulate::SimulateArgs),
    Experiment(experiment::ExperimentArgs),
    #[cfg(feature = "bert")]
    Models(models::ModelsArgs),
    /// Say what is installed, which models are there and where the caches are
    Doctor,
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    Man,
    #[cfg(feature = "llm")]
    Annotate(annotate::AnnotateArgs),
    #[cfg(feature = "llm")]
    Prompts(prompts::PromptsArgs),
    #[cfg(feature = "llm")]
    Cache(cache::CacheArgs),
}

/// Runs a parsed command line.
///
/// # Errors
///
/// What the subcommand reports; [`status_of`] gives its exit code.
pub fn run(cli: &Cli) -> Result<ExitStatus> {
    let common = &cli.common;
    common.in_thread_pool(|| match &cli.command {
        Command::Reviews(args) => reviews::run(args, common),
        Command::Labels(args) => labels::run(args, common),
        Command::Assumptions(args) => assumptions::run(args, common),
        Command::Embed(args) => embed::run(args, common),
        Command::Simulate(args) => simulate::run(args, common),
        Command::Experiment(args) => experiment::run(args, common),
        #[cfg(feature = "bert")]
        Command::Models(args) => models::run(args, common),
        Command::Doctor => doctor::run(common),
        Command::Completions(args) => completions::completions(args),
        Command::Man => completions::man(),
        #[cfg(feature = "llm")]
        Command::Annotate(args) => annotate::run(args, common),
        #[cfg(feature = "llm")]
        Command::Prompts(args) => prompts::run(args, common),
        #[cfg(feature = "llm")]
        Command::Cache(args) => cache::run(args, common),
    })
}
