//! `caz experiment`: would a mechanism have caught them, on data like these? How good are judges?

#[cfg(feature = "llm")]
mod answers;
mod crowd;
mod detection;
mod embeddings;
mod feedback;
mod judges;
mod multi_llm;
mod own;
mod own_labels;
mod prompts;
mod reviews;
mod sample_size;
mod trials;

use crate::error::Result;
use clap::{Args, Subcommand};

use super::common::Common;
use super::exit::ExitStatus;

/// Measure by simulation how well cheaters would be found, and how good prompts and judges are
#[derive(Debug, Args)]
pub(super) struct ExperimentArgs {
    #[command(subcommand)]
    command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value per run; smaller without some features")]
enum ExperimentCommand {
    Detection(detection::DetectionArgs),
    SampleSize(sample_size::SampleSizeArgs),
    MultiLlm(multi_llm::MultiLlmArgs),
    Reviews(reviews::ExperimentReviewsArgs),
    Embeddings(embeddings::EmbeddingsArgs),
    Own(own::ExperimentOwnArgs),
    OwnLabels(own_labels::OwnLabelsArgs),
    Prompts(prompts::PromptsArgs),
    Judges(judges::JudgesArgs),
    Feedback(feedback::FeedbackArgs),
}

/// Runs the command.
pub(super) fn run(args: &ExperimentArgs, common: &Common) -> Result<ExitStatus> {
    match &args.command {
        ExperimentCommand::Detection(args) => detection::run(args, common),
        ExperimentCommand::SampleSize(args) => sample_size::run(args, common),
        ExperimentCommand::MultiLlm(args) => multi_llm::run(args, common),
        ExperimentCommand::Reviews(args) => reviews::run(args, common),
        ExperimentCommand::Embeddings(args) => embeddings::run(args, common),
        ExperimentCommand::Own(args) => own::run(args, common),
        ExperimentCommand::OwnLabels(args) => own_labels::run(args, common),
        ExperimentCommand::Prompts(args) => prompts::run(args, common),
        ExperimentCommand::Judges(args) => judges::run(args, common),
        ExperimentCommand::Feedback(args) => feedback::run(args, common),
    }
}
