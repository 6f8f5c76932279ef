//! `caz experiment embeddings`: which embedder to take.

use std::path::PathBuf;

use crate::error::Result;
use clap::Args;

use super::super::common::{Common, OutputFormat};
use super::super::embedding::EmbeddingArgs;
use super::super::exit::ExitStatus;
use super::super::keyed::{Keyed, Keys};
use super::super::output::emit;
use super::super::progress::{Terminal, open};
use super::super::review_input::ReviewFiles;
use super::super::reviewer_args::ReviewerArgs;
use super::reviews::{ScoreGroup, distinct};
use super::trials::{TrialArgs, caption};
use crate::data::own_truth::OwnTruth;
use crate::embed::settings::EmbedderSpec;
use crate::experiment::embeddings::{EmbeddingsSettings, ROUNDS, SHARE, embeddings};
use crate::experiment::reviews::Half;
use crate::experiment::reviews::ReviewTrialsSettings;
use crate::report::Input;

/// Which embedder to take: how well each tells low effort on your reviews, with intervals
///
/// One review in ten is replaced by an LLM's review, by a person's of another paper and by an LLM's of
/// another paper, in the same way for every embedder of --embedder; judgment vectors are also tested
/// with reviewers who draw their judgments from those of people (`prior`) and from a hat (`random`).
/// Every review is scored by itself. The intervals are over papers, and those of differences to the
/// best embedder are over the same papers. --truth has whose work the reviews are in place of all this.
/// `texts_per_s` is measured, so it alone differs between runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment embeddings reviews.jsonl --z llm-reviews.jsonl --embedder tfidf,static,aspects")]
pub(super) struct EmbeddingsArgs {
    #[command(flatten)]
    input: ReviewFiles,
    /// Whose work reviews are: reviewer, own (1 or 0), optional paper, kind
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trials", "venue"], help_heading = "Input")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    trials: TrialArgs,
    /// Scores to compare: names, own among them, or groups: main, projections, ablation, all
    #[arg(long, value_delimiter = ',', default_value = "main", value_name = "S")]
    score: Vec<ScoreGroup>,
    #[command(flatten)]
    venue: Keyed<HalfVenue>,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

/// A venue that is made up of some papers.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct HalfVenue {
    /// Papers that take part: all, or every second one from the first or from the second
    #[arg(long, value_enum, default_value_t)]
    half: Half,
    #[command(flatten)]
    reviewers: ReviewerArgs,
}

impl Keys for HalfVenue {
    const FLAG: &'static str = "venue";
    const ABOUT: &'static str = "What the made-up venue is like";
}

/// Runs the command.
pub(super) fn run(args: &EmbeddingsArgs, common: &Common) -> Result<ExitStatus> {
    args.trials.check(common)?;
    let trials = ReviewTrialsSettings {
        k: vec![1],
        scores: distinct(&args.score),
        shares: (SHARE, SHARE),
        half: args.venue.half,
        making: args.venue.reviewers.settings(&args.input)?,
        seed: common.seed,
        trials: args.trials.count(ROUNDS),
    };
    trials.check()?;
    let embedders = match args.embedding.embedder.as_slice() {
        [] => vec![EmbedderSpec::Tfidf, EmbedderSpec::Static(None), EmbedderSpec::Aspects(None)],
        named => named.to_vec(),
    };
    let embedding = args.embedding.settings(common);
    let settings = EmbeddingsSettings { embedders, embedding, trials };
    let (loaded, mut inputs) = args.input.load(common)?;
    let truth = match &args.truth {
        Some(path) => {
            let source = open(path, common)?;
            let truth = OwnTruth::read(&source, &loaded.set)?;
            inputs.push(Input::new(&source, truth.rows));
            Some(truth)
        }
        None => None,
    };
    let (models, observer) = (args.embedding.models(common), Terminal::new(common));
    let file = args.trials.file()?;
    let run = args.embedding.waiting(common, || {
        embeddings(&settings, loaded, inputs, truth.as_ref(), &models, file.as_ref(), &observer)
    });
    let run = run.map_err(|error| args.trials.how_to_go_on(error))?;
    let report = run.report();
    args.trials.write_raw(&report, report.table.clone())?;
    let page = |figures: &[_]| run.page(figures, &caption);
    args.trials.write_figures(common, &report, || Ok(run.figures()), page)?;
    let table = matches!(common.resolved_format()?, OutputFormat::Table);
    emit(&if table { run.shown() } else { report }, common)?;
    Ok(ExitStatus::Done)
}
