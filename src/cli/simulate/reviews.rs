//! `caz simulate reviews`: reviewers of several papers, some of whom do not review.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::keyed::{Keyed, Keys};
use super::super::review_input::ReviewFiles;
use super::super::reviewer_args::ReviewerArgs;
use super::files;
use crate::report::Report;
use crate::simulate::run::ReviewsSettings;

/// Make reviewers of several papers from real reviews, some of whom hand in something else
///
/// Writes three files into the folder: reviews.jsonl (paper, reviewer, text), z.jsonl (the LLM
/// reviews that the chair holds) and truth.csv (reviewer, kind: human, llm, `off_topic` or
/// `off_topic_llm`; and whether a person's texts were rewritten, where that was asked for). Every human review stands for at most one reviewer on its own paper; LLM reviews
/// that are handed in are not those in z.jsonl. Z is the first source by name unless z-source is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate reviews reviews.jsonl --z llm.jsonl --venue k=2,llm=.2,copy-z --output simulated
         caz reviews simulated/reviews.jsonl --z simulated/z.jsonl --score combined")]
pub(super) struct SimulateReviewsArgs {
    #[command(flatten)]
    input: ReviewFiles,
    #[command(flatten)]
    venue: Keyed<Venue>,
}

/// A venue that is made up.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Venue {
    /// Papers per reviewer
    #[arg(long, value_name = "K", default_value_t = 5)]
    k: usize,
    /// Share of the reviewers, rounded down, who hand in LLM reviews of their papers
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    llm: f64,
    /// Share who hand in human reviews of other papers
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    off_topic: f64,
    /// Share who hand in LLM reviews of other papers
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    off_topic_llm: f64,
    #[command(flatten)]
    reviewers: ReviewerArgs,
}

impl Keys for Venue {
    const FLAG: &'static str = "venue";
    const ABOUT: &'static str = "What the made-up venue is like";
}

/// Runs the command.
pub(super) fn run(args: &SimulateReviewsArgs, common: &Common) -> Result<Report> {
    let settings = ReviewsSettings {
        k: args.venue.k,
        llm: args.venue.llm,
        off_topic: args.venue.off_topic,
        off_topic_llm: args.venue.off_topic_llm,
        making: args.venue.reviewers.settings(&args.input)?,
        seed: common.seed,
    };
    let (loaded, inputs) = args.input.load(&super::silent(common))?;
    let run = settings.run(loaded, inputs)?;
    files::write(&run.files(), run.report(), common)
}
