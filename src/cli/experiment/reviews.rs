//! `caz experiment reviews`: AUC of the scores of texts by kind of low-effort reviewer.

use std::str::FromStr;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::super::common::Common;
use super::super::embedding::EmbeddingArgs;
use super::super::exit::{ExitStatus, UsageError};
use super::super::review_input::ReviewInput;
use super::super::reviewer_args::ReviewerArgs;
use super::crowd::{SUMMARY_COLUMNS, cells};
use super::figures::bars;
use super::trials::TrialArgs;
use crate::data::reviews::{LoadedReviews, ReviewSet};
use crate::experiment::auc_summary::AucSummary;
use crate::experiment::reviewers::{
    ReviewersSettings, ReviewersTrial, RewritingEffect, ScoreVariant, reviewers,
};
use crate::experiment::trials::TrialGrid;
use crate::report::plot::{DistributionChart, Kind};
use crate::report::{Cell, Report, Table};
use crate::simulate::reviews::ReviewerKind;
use crate::stats::rank::mean;
use crate::text::pooling::TextUnit;
use crate::text::vectors::Vectors;

/// Trials per point in the paper.
const REPETITIONS: u32 = 100;

/// Repetitions whose scores are drawn.
const SHOWN_REPETITIONS: u32 = 5;

/// Kinds in the order of the AUCs of a trial.
const KINDS: [&str; 4] = ["mixed", "llm", "off_topic", "off_topic_llm"];

/// How well each score tells reviewers from those who hand in LLM reviews or off-topic ones
///
/// In every trial reviewers of k papers each are made from the reviews; the share of each kind of
/// low-effort reviewer is uniform from 0 to --share, at least one of each. Every source of --z is
/// Z in turn unless --z-source or --z-together is given; cheaters use the others. Texts are
/// embedded once. With one Z per paper, `span`, `min` and `mean` of --z-combine are the same.
///
/// With --polish, --formal or --shorten every trial is scored twice, with the people's own texts and
/// with the rewritten ones. The row `rewritten` then has the AUC that a rewritten person outscores
/// another one, the mean change of their percentile among people (shift), and the share of them
/// below the 5 % quantile of the others, with rewritten and with own texts (low, `low_before`).
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
    /// Scores to compare: names, or groups of them: main, projections (every --z-combine,
    /// centered or not), ablation (of the combined score), all
    #[arg(long, value_delimiter = ',', default_value = "main", value_name = "S")]
    score: Vec<ScoreGroup>,
    /// Share of each low-effort kind: uniform from 0 to this
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    share: f64,
    /// Share of each low-effort kind exactly, instead of --share
    #[arg(long, value_name = "SHARE")]
    exact_share: Option<f64>,
    #[command(flatten)]
    reviewers: ReviewerArgs,
    /// Papers that take part: all, or every second one from the first or from the second
    #[arg(long, value_enum, default_value_t)]
    half: Half,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

/// One score, or several under one name.
#[derive(Debug, Clone)]
struct ScoreGroup(Vec<ScoreVariant>);

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
    args.trials.check(common)?;
    let (loaded, inputs) = args.input.load()?;
    let settings = args.settings(&loaded, common.seed)?;
    let set = &loaded.set;
    args.reviewers.check_texts(set)?;
    let contents = settings.contents(set);
    let contents: Vec<_> = contents.iter().collect();
    let embedded = args.embedding.embed(&contents, TextUnit::Sentence, common)?;

    let described = json!({
        "embedder": embedded.name,
        "granularity": embedded.granularity,
        "experiment": settings,
    });
    let mut described = described.as_object().cloned().unwrap_or_default();
    let log = args.trials.log("experiment reviews", &inputs, &described)?;
    let all = |count| settings.grid(count).trials();
    let (count, bar) = args.trials.begin(common, REPETITIONS, all);
    let trials = reviewers(set, &embedded.vectors, &settings, count, log, &bar)?;
    drop(bar);
    described.insert("trials".into(), count.into());
    let mut warnings = loaded.warnings.clone();
    warnings.extend(embedded.warnings.iter().cloned());
    let report = Report {
        command: "experiment reviews",
        inputs,
        settings: described,
        table: table(&loaded, &settings, &trials),
        warnings,
        footer: footer(set, &settings, count, &embedded.name),
        prose: None,
    };
    args.trials.write_raw(&report, raw_table(&loaded, &settings, &trials))?;
    let title = "How well low-effort reviewers would be found";
    args.trials.publish(common, title, &report, || {
        figures((set, &embedded.vectors), &settings, (&trials, count))
    })?;
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
        let mut scores = Vec::new();
        for score in self.score.iter().flat_map(|group| &group.0) {
            if !scores.contains(score) {
                scores.push(*score);
            }
        }
        Ok(ReviewersSettings {
            papers_per_reviewer: self.k.clone(),
            z_sources: self.reviewers.z_points(&self.input, loaded)?,
            copy_z: self.reviewers.copy_z,
            reword_copies: self.reviewers.reword_copies,
            rewriting: self.reviewers.rewriting()?,
            papers: self.half.papers(loaded.set.papers.len()),
            reviews_per_paper: self.reviewers.reviews_per_paper,
            shares,
            z_coverage: self.reviewers.z_coverage,
            scores,
            seed,
        })
    }
}

fn footer(
    set: &ReviewSet,
    settings: &ReviewersSettings,
    count: u32,
    embedder: &str,
) -> Vec<String> {
    let mut footer = vec![
        format!(
            "Made reviewers from {} reviews of {} papers, {count} trials per k and source of Z; \
             embedder {}.",
            set.reviews.len(),
            settings.papers.len(),
            embedder
        ),
        "mean_auc: probability that a reviewer who wrote scores above one who did not; 0.5 is \
         chance. q10_auc: one trial in ten is worse. Rows without z are over all sources."
            .into(),
    ];
    if settings.rewriting.is_some() {
        let text = "rewritten: probability that a person whose reviews were rewritten scores above \
                    another person. shift: mean change of their percentile among people. low: share \
                    of them below the 5 % quantile of the others; low_before: with their own texts.";
        footer.push(text.into());
    }
    footer
}

/// Trials of the points that `keep` keeps.
fn kept<'a>(
    settings: &'a ReviewersSettings,
    trials: &'a [ReviewersTrial],
    keep: impl Fn(usize, &[u32]) -> bool + 'a,
) -> impl Iterator<Item = &'a ReviewersTrial> {
    let kept = settings.grid(1).with_ids(trials).filter(move |(id, _)| {
        let (k, z) = settings.point(id.point);
        keep(k, z)
    });
    kept.map(|(_, trial)| trial)
}

fn z_name(loaded: &LoadedReviews, z: &[u32]) -> String {
    z.iter().map(|&z| loaded.set.sources.name(z)).collect::<Vec<_>>().join(" + ")
}

/// Columns behind the summary where reviews were rewritten.
const EFFECT_COLUMNS: [&str; 3] = ["shift", "low", "low_before"];

fn table(loaded: &LoadedReviews, settings: &ReviewersSettings, trials: &[ReviewersTrial]) -> Table {
    let mut columns = vec!["k", "score_name", "kind", "z"];
    columns.extend(SUMMARY_COLUMNS);
    let with_effects = settings.rewriting.is_some();
    if with_effects {
        columns.extend(EFFECT_COLUMNS);
    }
    let mut table = Table::new(&columns);
    for &k in &settings.papers_per_reviewer {
        let of_k = |z: Option<&[u32]>| {
            let z = z.map(<[u32]>::to_vec);
            kept(settings, trials, move |other, used| {
                other == k && z.as_ref().is_none_or(|z| z == used)
            })
        };
        for (score, name) in settings.scores.iter().enumerate() {
            let mut push = |kind: &str, z: Option<&[u32]>, summary, effect: [Cell; 3]| {
                let z_name = z.map(|z| z_name(loaded, z));
                let mut row: Vec<Cell> =
                    vec![k.into(), name.as_str().into(), kind.into(), z_name.into()];
                row.extend(cells(&summary));
                row.extend(effect.into_iter().filter(|_| with_effects));
                table.push(row);
            };
            let missing = || [Cell::Missing, Cell::Missing, Cell::Missing];
            for (kind, kind_name) in KINDS.into_iter().enumerate() {
                let summary = |z| AucSummary::of(of_k(z).map(|trial| trial.aucs[score][kind]));
                push(kind_name, None, summary(None), missing());
                if settings.z_sources.len() > 1 && kind == 0 {
                    for z in &settings.z_sources {
                        push(kind_name, Some(z), summary(Some(z)), missing());
                    }
                }
            }
            if with_effects {
                let effects = || of_k(None).map(|trial| trial.effects[score]);
                let summary = AucSummary::of(effects().map(|effect| effect.auc));
                let mean_of = |part: fn(RewritingEffect) -> Option<f64>| {
                    mean(&effects().filter_map(part).collect::<Vec<_>>())
                };
                let means = [
                    mean_of(|effect| effect.shift),
                    mean_of(|effect| effect.low),
                    mean_of(|effect| effect.low_before),
                ];
                push("rewritten", None, summary, means.map(Cell::from));
            }
        }
    }
    table
}

/// Every trial, score and kind.
fn raw_table(
    loaded: &LoadedReviews,
    settings: &ReviewersSettings,
    trials: &[ReviewersTrial],
) -> Table {
    let columns = ["repetition", "k", "z", "n_reviewers", "score_name", "kind", "auc", "n_missing"];
    let columns: Vec<_> = columns.into_iter().chain(EFFECT_COLUMNS).collect();
    let mut table = Table::new(&columns);
    for (id, trial) in settings.grid(1).with_ids(trials) {
        let (k, z) = settings.point(id.point);
        for (score, name) in settings.scores.iter().enumerate() {
            let kinds = KINDS.into_iter().zip(trial.aucs[score]);
            let kinds = kinds.map(|(kind, auc)| (kind, auc, [None; 3]));
            let effect = trial.effects.get(score).map(|effect| {
                ("rewritten", effect.auc, [effect.shift, effect.low, effect.low_before])
            });
            for (kind, auc, effect) in kinds.chain(effect) {
                let mut row: Vec<Cell> = vec![(id.repetition as usize).into(), k.into()];
                row.extend([z_name(loaded, z).into(), trial.n_reviewers.into()]);
                row.extend([name.as_str().into(), kind.into()]);
                row.extend([auc.auc.into(), auc.n_missing.into()]);
                row.extend(effect.map(Cell::from));
                table.push(row);
            }
        }
    }
    table
}

/// AUCs of every `k`, and the scores in a few trials.
fn figures(
    (set, vectors): (&ReviewSet, &Vectors),
    settings: &ReviewersSettings,
    (trials, repetitions): (&[ReviewersTrial], u32),
) -> Result<Vec<(String, String)>> {
    let each = || settings.scores.iter().enumerate();
    let aucs = |k: usize| {
        let all = each().map(|(score, name)| {
            let of_k = kept(settings, trials, move |other, _| other == k);
            (name.as_str().to_owned(), AucSummary::of(of_k.map(|trial| trial.aucs[score][0])))
        });
        let title = format!("Reviewers of {k} papers told from low-effort ones");
        (format!("reviews-k{k}.svg"), bars(&title, all.collect()))
    };
    let mut figures: Vec<_> = settings.papers_per_reviewer.iter().map(|&k| aucs(k)).collect();
    // One trial has few cheaters; the first ones with the first k, given each Z, have enough.
    let shown = repetitions.min(SHOWN_REPETITIONS);
    let points = u32::try_from(settings.z_sources.len())?;
    let ids = TrialGrid { points, repetitions: shown }.ids();
    let shown =
        ids.map(|id| settings.trial_scores(set, vectors, id)).collect::<Result<Vec<_>, _>>()?;
    for (index, score) in settings.scores.iter().enumerate() {
        let of = |kind: ReviewerKind| {
            let all = shown.iter().flat_map(|(kinds, scores)| kinds.iter().zip(&scores[index]));
            let scores = all.filter(|(other, _)| **other == kind).filter_map(|(_, score)| *score);
            Kind { name: kind.as_str().into(), scores: scores.collect() }
        };
        let all = std::iter::once(ReviewerKind::Human).chain(ReviewerKind::LOW_EFFORT);
        let name = score.as_str();
        let k = settings.point(0).0;
        let chart = DistributionChart {
            title: format!("Scores in {} trials, reviewers of {k} papers", shown.len()),
            x_name: format!("{name} score; box: quartiles, bar: median"),
            kinds: all.map(of).collect(),
        };
        figures.push((format!("scores-{name}.svg"), chart.svg()));
    }
    Ok(figures)
}
