//! `caz annotate`: ask a language model for labels, reviews, answers or judgments.

mod answers;
mod args;
mod judgments;
mod labels;
mod output;
mod papers;
mod reviews;
mod run;

use crate::error::Result;
use clap::{Args, Subcommand};

pub(super) use self::args::OutputArgs;
pub(super) use self::run::{Ended, Output};
use super::common::Common;
use super::exit::ExitStatus;

/// Make Z with a language model: labels of items, reviews of papers, answers to tasks, judgments of reviews
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
    Answers(answers::AnswersArgs),
    Judgments(Box<judgments::JudgmentsArgs>),
}

/// Runs the command.
pub(super) fn run(args: &AnnotateArgs, common: &Common) -> Result<ExitStatus> {
    match &args.what {
        What::Labels(args) => labels::run(args, common),
        What::Answers(args) => answers::run(args, common),
        What::Reviews(args) => reviews::run(args, common),
        What::Judgments(args) => judgments::run(args, common),
    }
}
