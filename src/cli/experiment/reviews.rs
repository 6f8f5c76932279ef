//! `caz experiment reviews`: AUC of the scores of texts by kind of low-effort reviewer.

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::super::common::Common;
use super::super::embedding::EmbeddingArgs;
use super::super::exit::{ExitStatus, UsageError};
use super::super::output::check_output;
use super::super::review_input::ReviewInput;
use super::crowd::{SUMMARY_COLUMNS, bar, cells};
use super::figures::bars;
use super::trials::TrialArgs;
use crate::data::reviews::LoadedReviews;
use crate::experiment::auc_summary::AucSummary;
use crate::experiment::reviewers::{ReviewersSettings, ReviewersTrial, ScoreVariant, reviewers};
use crate::report::{Report, Table};
use crate::text::pooling::TextUnit;

/// Trials per point in the paper.
const REPETITIONS: u32 = 100;

/// Kinds in the order of the AUCs of a trial.
const KINDS: [&str; 4] = ["mixed", "llm", "off_topic", "off_topic_llm"];

/// How well each score tells reviewers from those who hand in LLM reviews or off-topic ones
///
/// In every trial reviewers of k papers each are made from the reviews; the share of each kind of
/// low-effort reviewer is uniform from 0 to --share, at least one of each. Every source of --z is
/// Z in turn unless --z-source is given; cheaters use the others. Texts are embedded once. With
/// one Z per paper, `span`, `min` and `mean` of --z-combine are the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz experiment reviews reviews.jsonl --z llm-reviews.jsonl --k 5,8 --embedder tfidf")]
pub(super) struct ExperimentReviewsArgs {
    #[command(flatten)]
    input: ReviewInput,
    #[command(flatten)]
    trials: TrialArgs,
    /// Papers per reviewer
    #[arg(long, value_delimiter = ',', default_values_t = [5, 8], value_name = "K")]
    k: Vec<usize>,
    /// Most reviews per paper
    #[arg(long, value_name = "N", default_value_t = 3)]
    reviews_per_paper: usize,
    /// Share of each low-effort kind: uniform from 0 to this
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    share: f64,
    /// Share of each low-effort kind exactly, instead of --share
    #[arg(long, value_name = "SHARE")]
    exact_share: Option<f64>,
    /// Share of the papers with Z
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    z_coverage: f64,
    /// Papers that take part: all, or every second one from the first or from the second
    #[arg(long, value_enum, default_value_t)]
    half: Half,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Half {
    #[default]
    All,
    First,
    Second,
}

impl Half {
    fn papers(self, count: usize) -> Vec<u32> {
        let papers = (0..).take(count);
        match self {
            Self::All => papers.collect(),
            Self::First => papers.filter(|paper| paper % 2 == 0).collect(),
            Self::Second => papers.filter(|paper| paper % 2 == 1).collect(),
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &ExperimentReviewsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.trials.check(common)?;
    let (loaded, inputs) = args.input.load()?;
    let settings = args.settings(&loaded, common.seed)?;
    let set = &loaded.set;
    let contents = set.reviews.iter().map(|review| &review.content);
    let contents: Vec<_> = contents.chain(set.z.iter().map(|z| &z.content)).collect();
    let embedded = args.embedding.embed(&contents, TextUnit::Sentence, common)?;

    let described = json!({
        "embedder": embedded.name,
        "granularity": embedded.granularity,
        "experiment": settings,
    });
    let mut described = described.as_object().cloned().unwrap_or_default();
    let log = args.trials.log("experiment reviews", &inputs, &described)?;
    let count = args.trials.trials.unwrap_or(REPETITIONS);
    let progress = bar(common, settings.grid(count).trials());
    let trials = reviewers(set, &embedded.vectors, &settings, count, log, &progress)?;
    drop(progress);
    described.insert("trials".into(), count.into());
    let mut warnings = loaded.warnings.clone();
    warnings.extend(embedded.warnings.iter().cloned());
    let report = Report {
        command: "experiment reviews",
        inputs,
        settings: described,
        table: table(&loaded, &settings, &trials),
        warnings,
        footer: vec![
            format!(
                "Made reviewers from {} reviews of {} papers, {count} trials per k and source of \
                 Z; embedder {}.",
                set.reviews.len(),
                settings.papers.len(),
                embedded.name
            ),
            "mean_auc: probability that a reviewer who wrote scores above one who did not; 0.5 is \
             chance. q10_auc: one trial in ten is worse. Rows without z are over all sources."
                .into(),
        ],
        prose: None,
    };
    let title = "How well low-effort reviewers would be found";
    args.trials.publish(common, title, &report, || Ok(figures(&settings, &trials)))?;
    Ok(ExitStatus::Done)
}

impl ExperimentReviewsArgs {
    fn settings(&self, loaded: &LoadedReviews, seed: u64) -> Result<ReviewersSettings> {
        let shares = self.exact_share.map_or((0.0, self.share), |share| (share, share));
        let share = shares.1;
        if !(0.0..=1.0).contains(&share) {
            let message = format!("a share of reviewers is {share}, it must be from 0 to 1");
            return Err(UsageError(message).into());
        }
        Ok(ReviewersSettings {
            papers_per_reviewer: self.k.clone(),
            z_sources: self.input.z_sources(loaded)?,
            papers: self.half.papers(loaded.set.papers.len()),
            reviews_per_paper: self.reviews_per_paper,
            shares,
            z_coverage: self.z_coverage,
            scores: ScoreVariant::EACH.to_vec(),
            seed,
        })
    }
}

fn summary(
    settings: &ReviewersSettings,
    trials: &[ReviewersTrial],
    (score, kind): (usize, usize),
    keep: impl Fn(usize, u32) -> bool,
) -> AucSummary {
    let points = u64::from(settings.grid(1).points);
    let kept = (0_u64..).zip(trials).filter(|(index, _)| {
        let (k, z) = settings.point((index % points) as u32);
        keep(k, z)
    });
    AucSummary::of(kept.map(|(_, trial)| trial.aucs[score][kind]))
}

fn table(loaded: &LoadedReviews, settings: &ReviewersSettings, trials: &[ReviewersTrial]) -> Table {
    let mut columns = vec!["k", "score_name", "kind", "z"];
    columns.extend(SUMMARY_COLUMNS);
    let mut table = Table::new(&columns);
    for &k in &settings.papers_per_reviewer {
        for (score, name) in settings.scores.iter().enumerate() {
            for (kind, kind_name) in KINDS.into_iter().enumerate() {
                let mut push = |z: Option<u32>| {
                    let keep =
                        |other: usize, source: u32| other == k && z.is_none_or(|z| z == source);
                    let z_name = z.map(|z| loaded.set.sources.name(z));
                    let mut row: Vec<_> =
                        vec![k.into(), name.as_str().into(), kind_name.into(), z_name.into()];
                    row.extend(cells(&summary(settings, trials, (score, kind), keep)));
                    table.push(row);
                };
                push(None);
                if settings.z_sources.len() > 1 && kind == 0 {
                    settings.z_sources.iter().for_each(|&z| push(Some(z)));
                }
            }
        }
    }
    table
}

fn figures(settings: &ReviewersSettings, trials: &[ReviewersTrial]) -> Vec<(String, String)> {
    let each = || settings.scores.iter().enumerate();
    let figure = |k: usize| {
        let all = each().map(|(score, name)| {
            (name.as_str().to_owned(), summary(settings, trials, (score, 0), |other, _| other == k))
        });
        let title = format!("Reviewers of {k} papers told from low-effort ones");
        (format!("reviews-k{k}.svg"), bars(&title, all.collect()))
    };
    settings.papers_per_reviewer.iter().map(|&k| figure(k)).collect()
}
