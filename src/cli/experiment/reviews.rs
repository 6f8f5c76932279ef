//! `caz experiment reviews`: AUC of the scores of texts by kind of low-effort reviewer.

use std::str::FromStr;

use crate::error::Result;
use clap::Args;

use super::super::common::{Common, OutputFormat};
use super::super::embedding::EmbeddingArgs;
use super::super::exit::ExitStatus;
use super::super::keyed::{Keyed, Keys};
use super::super::output::emit;
use super::super::progress::Terminal;
use super::super::review_input::ReviewFiles;
use super::super::reviewer_args::ReviewerArgs;
use super::trials::{TrialArgs, caption};
use crate::embed::pooling::TextUnit;
use crate::embed::settings::Granularity;
use crate::experiment::reviewers::ScoreVariant;
use crate::experiment::reviews::{
    EmbeddedContents, Half, REPETITIONS, ReviewTrials, ReviewTrialsSettings,
};

/// How well each score tells reviewers from those who hand in LLM reviews or off-topic ones
///
/// In every trial reviewers of k papers each are made from the reviews; the share of each kind of
/// low-effort reviewer is uniform from 0 to share, at least one of each. Every source of --z is
/// Z in turn unless z-source or z-together is given; cheaters use the others. Texts are
/// embedded once. With one Z per paper, `span`, `min` and `mean` of --z-combine are the same.
///
/// With polish, formal or shorten every trial is scored twice, with the people's own texts and
/// with the rewritten ones. The row `rewritten` then has the AUC that a rewritten person outscores
/// another one, the mean change of their percentile among people (shift), and the share of them
/// below the 5 % quantile of the others, with rewritten and with own texts (low, `low_before`).
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment reviews reviews.jsonl --z llm-reviews.jsonl --venue k=2,3,copy-z --embedder tfidf")]
pub(super) struct ExperimentReviewsArgs {
    #[command(flatten)]
    input: ReviewFiles,
    #[command(flatten)]
    trials: TrialArgs,
    /// Scores to compare: names (own among them, by word weights whatever --embedder), or groups:
    /// main, projections (every --z-combine, centered or not), ablation (of the combined score), all
    #[arg(long, value_delimiter = ',', default_value = "main", value_name = "S")]
    score: Vec<ScoreGroup>,
    #[command(flatten)]
    venue: Keyed<Venues>,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

/// Venues that are made up.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Venues {
    /// Papers per reviewer
    #[arg(long, value_delimiter = ',', default_values_t = [5, 8], value_name = "K")]
    k: Vec<usize>,
    /// Share of each low-effort kind: uniform from 0 to this, or from A to B as A..B
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = from_to)]
    share: (f64, f64),
    /// Papers that take part: all, or every second one from the first or from the second
    #[arg(long, value_enum, default_value_t)]
    half: Half,
    #[command(flatten)]
    reviewers: ReviewerArgs,
}

impl Keys for Venues {
    const FLAG: &'static str = "venue";
    const ABOUT: &'static str = "What the made-up venues are like";
}

/// One score, or several under one name.
#[derive(Debug, Clone)]
pub(super) struct ScoreGroup(Vec<ScoreVariant>);

/// `B` is from 0 to B, `A..B` from A.
fn from_to(text: &str) -> Result<(f64, f64), String> {
    let (low, high) = text.split_once("..").unwrap_or(("0", text));
    let number = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
    let (low, high) = (number(low)?, number(high)?);
    if low <= high { Ok((low, high)) } else { Err(format!("{low} is not below {high}")) }
}

/// Every score once, in the order asked for.
pub(super) fn distinct(groups: &[ScoreGroup]) -> Vec<ScoreVariant> {
    let mut scores = Vec::new();
    for score in groups.iter().flat_map(|group| &group.0) {
        if !scores.contains(score) {
            scores.push(*score);
        }
    }
    scores
}

impl FromStr for ScoreGroup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = ScoreVariant::EACH.into_iter().find(|score| score.as_str() == text);
        Ok(Self(match (text, one) {
            ("all", _) => ScoreVariant::EACH.to_vec(),
            ("main", _) => ScoreVariant::MAIN.to_vec(),
            ("projections", _) => ScoreVariant::PROJECTED.to_vec(),
            ("ablation", _) => ScoreVariant::ABLATION.to_vec(),
            (_, Some(score)) => vec![score],
            (_, None) => {
                let names = ScoreVariant::EACH.map(ScoreVariant::as_str).join(", ");
                return Err(format!("choose main, projections, ablation, all, or from {names}"));
            }
        }))
    }
}

/// Runs the command.
pub(super) fn run(args: &ExperimentReviewsArgs, common: &Common) -> Result<ExitStatus> {
    args.trials.check(common)?;
    let settings = args.settings(common.seed)?;
    settings.check()?;
    let (loaded, inputs) = args.input.load(common)?;
    let trials = ReviewTrials::new(&settings, loaded, inputs)?;
    let contents = trials.contents();
    let contents: Vec<_> = contents.iter().collect();
    let how_to_go_on = |error| args.trials.how_to_go_on(error);
    let embedded =
        args.embedding.embed(&contents, TextUnit::Sentence, common).map_err(how_to_go_on)?;
    let embedded = EmbeddedContents {
        vectors: embedded.vectors,
        embedder: embedded.name,
        granularity: embedded.granularity.map(Granularity::as_str),
        settings: embedded.settings,
        warnings: embedded.warnings,
    };
    let file = args.trials.file()?;
    let observer = Terminal::new(common);
    let run = trials.run(embedded, file.as_ref(), &observer).map_err(how_to_go_on)?;
    let report = run.report();
    args.trials.write_raw(&report, run.raw())?;
    let page = |figures: &[_]| run.page(figures, &caption);
    args.trials.write_figures(common, &report, || run.figures(), page)?;
    let for_people = common.output.is_none() && common.resolved_format()? == OutputFormat::Table;
    emit(&if for_people { run.shown() } else { report }, common)?;
    Ok(ExitStatus::Done)
}

impl ExperimentReviewsArgs {
    fn settings(&self, seed: u64) -> Result<ReviewTrialsSettings> {
        Ok(ReviewTrialsSettings {
            k: self.venue.k.clone(),
            scores: distinct(&self.score),
            shares: self.venue.share,
            half: self.venue.half,
            making: self.venue.reviewers.settings(&self.input)?,
            seed,
            trials: self.trials.count(REPETITIONS),
        })
    }
}
