//! `caz simulate reviews`: reviewers of several papers, some of whom do not review.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::super::common::Common;
use super::super::exit::{ExitStatus, UsageError};
use super::super::output::{emit, write_output};
use super::super::review_input::ReviewInput;
use super::super::reviewer_args::ReviewerArgs;
use super::files::{output_folder, to_stdout, write_rows};
use crate::data::content::Content;
use crate::data::reviews::ReviewSet;
use crate::report::{Report, Table};
use crate::simulate::reviews::{
    ReviewerKind, ReviewerOptions, SimulatedReviewers, simulate_reviewers,
};
use crate::simulate::rewording::Rewriting;
use crate::stats::seed::stream;

/// Make reviewers of several papers from real reviews, some of whom hand in something else
///
/// Writes three files into the folder: reviews.jsonl (paper, reviewer, text), z.jsonl (the LLM
/// reviews that the chair holds) and truth.csv (reviewer, kind: human, llm, `off_topic` or
/// `off_topic_llm`; and whether a person's texts were rewritten, where that was asked for). Every human review stands for at most one reviewer on its own paper; LLM reviews
/// that are handed in are not those in z.jsonl. Z is the first source unless --z-source is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate reviews reviews.jsonl --z llm.jsonl --k 5 --llm .05 --output simulated
         caz reviews simulated/reviews.jsonl --z simulated/z.jsonl --score combined")]
pub(super) struct SimulateReviewsArgs {
    #[command(flatten)]
    input: ReviewInput,
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

/// Runs the command.
pub(super) fn run(args: &SimulateReviewsArgs, common: &Common) -> Result<ExitStatus> {
    let (loaded, inputs) = args.input.load()?;
    let real = &loaded.set;
    let z_sources = args.reviewers.z_points(&args.input, &loaded)?.swap_remove(0);
    let rewriting = args.reviewers.rewriting()?;
    args.reviewers.check_texts(real)?;
    let options = ReviewerOptions {
        papers: (0..).take(real.papers.len()).collect(),
        papers_per_reviewer: args.k,
        reviews_per_paper: args.reviewers.reviews_per_paper,
        z_sources,
        copy_z: args.reviewers.copy_z,
        reword_copies: args.reviewers.reword_copies,
        rewritten: rewriting.map_or(0.0, |(_, share)| share),
        z_coverage: args.reviewers.z_coverage,
        shares: [args.llm, args.off_topic, args.off_topic_llm],
        at_least: 0,
    };
    let mut random = stream(common.seed, "simulate reviews", 0);
    let mut simulated = simulate_reviewers(real, &options, &mut random)
        .map_err(|error| UsageError(error.to_string()))?;
    // Nobody is rewritten without a rewriting, and then it does not matter which one.
    simulated.fill_contents(real, rewriting.map_or(Rewriting::Formal, |(how, _)| how));
    let folder = output_folder(common)?;
    let set = &simulated.set;
    let reviews = set.reviews.iter().map(|review| {
        let reviewer = ("reviewer", set.reviewers.name(review.reviewer));
        row(set, &[("paper", set.papers.name(review.paper)), reviewer], &review.content)
    });
    write_output(&folder.join("reviews.jsonl"), |out| write_lines(reviews, out))?;
    let z = set.z.iter().map(|z| {
        let source = ("source", set.sources.name(z.source));
        row(set, &[("paper", set.papers.name(z.paper)), source], &z.content)
    });
    write_output(&folder.join("z.jsonl"), |out| write_lines(z, out))?;
    write_truth(&folder.join("truth.csv"), &simulated, rewriting.is_some())?;

    let names = |z: &u32| real.sources.names().get(*z as usize).cloned();
    let settings = json!({
        "k": args.k,
        "reviews_per_paper": args.reviewers.reviews_per_paper,
        "llm": args.llm,
        "off_topic": args.off_topic,
        "off_topic_llm": args.off_topic_llm,
        "z_coverage": args.reviewers.z_coverage,
        "z_source": options.z_sources.iter().map(names).collect::<Vec<_>>(),
        "copy_z": args.reviewers.copy_z,
        "reword_copies": args.reviewers.reword_copies,
        "rewriting": rewriting,
        "seed": common.seed,
    });
    let report = Report {
        command: "simulate reviews",
        inputs,
        settings: settings.as_object().cloned().unwrap_or_default(),
        table: summary(&simulated),
        warnings: loaded.warnings.clone(),
        footer: vec![format!(
            "Wrote reviews.jsonl, z.jsonl and truth.csv to {}. Reviews of several people make one \
             simulated reviewer.",
            folder.display()
        )],
        prose: None,
    };
    emit(&report, &to_stdout(common))?;
    Ok(ExitStatus::Done)
}

fn write_truth(path: &Path, simulated: &SimulatedReviewers, with_rewritten: bool) -> Result<()> {
    let reviewers = simulated.kinds.iter().zip(simulated.set.reviewers.names());
    let rows = reviewers.zip(&simulated.rewritten).map(|((kind, reviewer), rewritten)| {
        let mut row = vec![reviewer.clone(), kind.as_str().to_owned()];
        if with_rewritten {
            row.push(if *rewritten { "yes" } else { "no" }.to_owned());
        }
        row
    });
    let header = if with_rewritten { 3 } else { 2 };
    write_rows(path, &["reviewer", "kind", "rewritten"][..header], rows)
}

fn write_lines(
    rows: impl Iterator<Item = Map<String, Value>>,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *out, &row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn row(set: &ReviewSet, names: &[(&str, &str)], content: &Content) -> Map<String, Value> {
    let mut row = Map::new();
    for (column, name) in names {
        row.insert((*column).to_owned(), (*name).into());
    }
    if let Some(text) = &content.text {
        row.insert("text".to_owned(), text.as_str().into());
    }
    if let Some(vector) = &content.vector {
        row.insert("vector".to_owned(), vector.clone().into());
    }
    if let Some(judgments) = &content.judgments {
        let named = set.shape.categories.iter().cloned().zip(judgments.iter().map(|&v| v.into()));
        row.insert("judgments".to_owned(), Value::Object(named.collect()));
    }
    row
}

/// Reviewers and reviews by kind.
fn summary(simulated: &SimulatedReviewers) -> Table {
    let mut table = Table::new(&["kind", "n_reviewers", "n_reviews"]);
    for kind in [&[ReviewerKind::Human][..], &ReviewerKind::LOW_EFFORT].concat() {
        let kind_of = |reviewer: u32| simulated.kinds[reviewer as usize];
        let reviewers = simulated.kinds.iter().filter(|other| **other == kind).count();
        let reviews =
            simulated.set.reviews.iter().filter(|review| kind_of(review.reviewer) == kind);
        table.push(vec![kind.as_str().into(), reviewers.into(), reviews.count().into()]);
    }
    table
}
