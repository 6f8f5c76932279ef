//! `caz reviews`: score reviewers from the text of their reviews.

use std::cell::OnceCell;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::common::Common;
use super::embedding::{Embedded, EmbeddingArgs};
use super::exit::{ExitStatus, UsageError};
use super::output::{check_output, emit};
use super::page::PageArgs;
use super::page::reviews::{ReportText, Scores, page};
use super::progress::Bar;
use super::review_scores::{meaning, scope, scores_report};
use crate::data::duplicates::Duplicates;
use crate::data::reviews::{LoadedReviews, ReviewSet, read_reviews};
use crate::data::source::Source;
use crate::data::warning::Warning;
use crate::report::Input;
use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings};
use crate::text::combined::combined_scores;
use crate::text::embed::VectorKind;
use crate::text::pairs::{Paper, ZCombine, papers_of};
use crate::text::pooling::TextUnit;
use crate::text::score::{
    ReviewerScore, ScoreName, cosine_scores, negative_scores, projected_scores, zero_counts,
};
use crate::text::space::Space;

/// Score reviewers by what their reviews share with their peers' beyond an LLM's review
///
/// Every review becomes a vector; what the LLM's reviews of the same paper already say is removed;
/// a reviewer's score is the mean similarity of what is left with the reviews of their peers.
/// Reviewers who hand in LLM text share nothing beyond it and end at the bottom.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  REVIEWS  paper, reviewer, and one of text, vector, judgments
  --z      paper, and one of text, vector, judgments; optional source, sample

Examples:
  caz reviews reviews.jsonl --z llm-reviews.jsonl --output scores.csv
  caz reviews reviews.jsonl --z llm-reviews.jsonl --report report.html")]
pub(super) struct ReviewsArgs {
    /// Reviews by people: paper, reviewer, text
    reviews: PathBuf,
    /// LLM reviews of the same papers; several files, or sources in one, are used together
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    z: Vec<PathBuf>,
    /// Scores to report
    #[arg(long, value_enum, value_delimiter = ',', default_value = "projected", value_name = "S")]
    score: Vec<ScoreChoice>,
    /// Subtract the mean review before projecting; auto: for text, not for judgments
    #[arg(long, value_enum, default_value_t)]
    center: Center,
    /// How several LLM reviews of one paper are used together
    #[arg(long, value_enum, default_value_t)]
    z_combine: CombineChoice,
    /// Fewer papers than this give the flag `too_few`
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_papers: usize,
    /// False discovery rate of the flag `informative`
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag `uninformative` [default: a quarter of the median score]
    #[arg(long, value_name = "F")]
    margin: Option<f64>,
    /// What to do with a second review of the same paper by the same reviewer
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
    /// Show the evidence for one reviewer instead of the scores of all
    #[arg(long, value_name = "REVIEWER", conflicts_with = "report")]
    explain: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    /// How much of the reviews goes into the report; they may be confidential
    #[arg(long, value_enum, default_value_t, requires = "report", value_name = "TEXT")]
    report_text: ReportText,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScoreChoice {
    /// Similarity with peers beyond the LLM
    Projected,
    /// Similarity with peers; rewards what both took from an LLM
    Cosine,
    /// Minus the similarity with the LLM; rewards off-topic text
    Negative,
    /// On topic and not what the LLM says, the lower of both on the scale of all reviewers
    Combined,
    /// All of them
    All,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Center {
    /// On for embeddings and word weights, off for judgments
    #[default]
    Auto,
    /// Subtract the mean
    On,
    /// Leave vectors as they are
    Off,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CombineChoice {
    /// Remove everything that any of them says
    #[default]
    Span,
    /// Score with each source alone and keep the lowest
    Min,
    /// Remove their mean direction
    Mean,
}

/// Which of several reports of one person on one thing counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum DuplicatesChoice {
    /// None: it is an error
    #[default]
    Error,
    /// The first
    First,
    /// The last
    Last,
}

impl From<DuplicatesChoice> for Duplicates {
    fn from(choice: DuplicatesChoice) -> Self {
        match choice {
            DuplicatesChoice::Error => Self::Error,
            DuplicatesChoice::First => Self::First,
            DuplicatesChoice::Last => Self::Last,
        }
    }
}

/// Everything that scores and explanations are made from.
pub(super) struct Run {
    pub(super) loaded: LoadedReviews,
    pub(super) inputs: Vec<Input>,
    pub(super) papers: Vec<Paper>,
    pub(super) embedded: Embedded,
    pub(super) plain: Space,
    pub(super) projected: Space,
    pub(super) centered: bool,
    pub(super) combine: ZCombine,
    pub(super) warnings: Vec<Warning>,
    /// Scores by [`ScoreName`], once they are asked for: by the table, and again by the page.
    scored: [OnceCell<Scored>; 4],
}

/// The scores of all reviewers by one name.
pub(super) struct Scored {
    pub(super) scores: Vec<ReviewerScore>,
    /// Closeness to the topic and distance from Z, if the score is made of them.
    pub(super) parts: Option<[Vec<Option<f64>>; 2]>,
    pub(super) warnings: Vec<Warning>,
}

/// Runs the command.
pub(super) fn run(args: &ReviewsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.check()?;
    args.page.check(common)?;
    let run = prepare(args, common)?;
    let report = match &args.explain {
        Some(reviewer) => super::explain::report(&run.evidence(), reviewer, &run.context(args))?,
        None => scores_report(args, &run),
    };
    args.page.write(&report, || {
        let bar = Bar::new(common, "comparing sentences", run.papers.len() as u64);
        page(&report, &run.scores_of_page(args), args.report_text.into(), &bar)
    })?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}

impl ReviewsArgs {
    fn check(&self) -> Result<()> {
        let standard_inputs =
            self.z.iter().chain([&self.reviews]).filter(|path| path.as_os_str() == "-").count();
        if standard_inputs > 1 {
            return Err(UsageError("standard input (`-`) can be read only once".into()).into());
        }
        if !(0.0..=1.0).contains(&self.fdr) {
            return Err(UsageError(format!("--fdr is {}, it must be from 0 to 1", self.fdr)).into());
        }
        Ok(())
    }

    pub(super) fn flags(&self) -> FlagSettings {
        FlagSettings {
            false_discovery_rate: self.fdr,
            margin: self.margin,
            min_count: self.min_papers,
        }
    }

    pub(super) fn scores(&self) -> Vec<ScoreName> {
        let mut scores = Vec::new();
        for choice in &self.score {
            let names: &[ScoreName] = match choice {
                ScoreChoice::Projected => &[ScoreName::Projected],
                ScoreChoice::Cosine => &[ScoreName::Cosine],
                ScoreChoice::Negative => &[ScoreName::Negative],
                ScoreChoice::Combined => &[ScoreName::Combined],
                ScoreChoice::All => &[
                    ScoreName::Projected,
                    ScoreName::Cosine,
                    ScoreName::Negative,
                    ScoreName::Combined,
                ],
            };
            for name in names {
                if !scores.contains(name) {
                    scores.push(*name);
                }
            }
        }
        scores
    }
}

fn prepare(args: &ReviewsArgs, common: &Common) -> Result<Run> {
    let reviews = Source::read(&args.reviews)?;
    let z = args.z.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>, _>>()?;
    let loaded = read_reviews(&reviews, &z, args.duplicates.into())?;
    let inputs: Vec<Input> = std::iter::once(&reviews)
        .chain(&z)
        .zip(&loaded.rows)
        .map(|(source, &rows)| Input::new(source, rows))
        .collect();
    drop((reviews, z));

    let set = &loaded.set;
    let contents: Vec<_> = set.contents().collect();
    let embedded = args.embedding.embed(&contents, TextUnit::Sentence, common)?;
    let centered = match args.center {
        Center::Auto => embedded.kind != VectorKind::Judgments,
        Center::On => true,
        Center::Off => false,
    };
    let plain = Space::new(embedded.vectors.clone(), set.reviews.len());
    let projected = if centered { plain.clone().centered() } else { plain.clone() };
    let mut warnings = loaded.warnings.clone();
    warnings.extend(embedded.warnings.iter().cloned());
    warnings.extend(direction_warnings(set, &plain));
    let combine = match args.z_combine {
        CombineChoice::Span => ZCombine::Span,
        CombineChoice::Min => ZCombine::Min,
        CombineChoice::Mean => ZCombine::Mean,
    };
    let papers = papers_of(set);
    let scored = Default::default();
    let run = Run {
        loaded,
        inputs,
        papers,
        embedded,
        plain,
        projected,
        centered,
        combine,
        warnings,
        scored,
    };
    Ok(run)
}

fn direction_warnings(set: &ReviewSet, space: &Space) -> Vec<Warning> {
    let (z, reviews) = zero_counts(set, space);
    let mut warnings = Vec::new();
    if z > 0 {
        let message = format!("{z} Z vectors are zero, carry no direction and are skipped");
        warnings.push(Warning::new("zero_z", z, message));
    }
    if reviews > 0 {
        let message = format!(
            "{reviews} reviews have a zero vector (no word the embedder knows); \
             their pairs count as 0"
        );
        warnings.push(Warning::new("zero_reviews", reviews, message));
    }
    warnings
}

impl Run {
    pub(super) fn scores(&self, name: ScoreName) -> &Scored {
        self.scored[name as usize].get_or_init(|| self.computed(name))
    }

    fn computed(&self, name: ScoreName) -> Scored {
        let (set, papers) = (&self.loaded.set, &self.papers);
        let scores = match name {
            ScoreName::Projected => projected_scores(set, papers, &self.projected, self.combine),
            ScoreName::Cosine => cosine_scores(set, papers, &self.plain),
            ScoreName::Negative => negative_scores(set, papers, &self.plain),
            ScoreName::Combined => {
                let combined = combined_scores(set, papers, &self.plain.clone().whitened());
                let warnings = super::combined::warnings(&combined.basis, set.reviews.len());
                let parts = Some([combined.topic, combined.away]);
                return Scored { scores: combined.scores, parts, warnings };
            }
        };
        Scored { scores, parts: None, warnings: Vec::new() }
    }

    fn evidence(&self) -> crate::text::explain::Evidence<'_> {
        crate::text::explain::Evidence {
            set: &self.loaded.set,
            papers: &self.papers,
            plain: &self.plain,
            projected: &self.projected,
            combine: self.combine,
            embedder: self.embedded.embedder.as_deref(),
        }
    }

    fn scores_of_page(&self, args: &ReviewsArgs) -> Scores<'_> {
        let names = args.scores();
        let meanings = names.iter().map(|name| (name.as_str(), meaning(*name, self.centered)));
        let combined = names.contains(&ScoreName::Combined);
        Scores {
            evidence: self.evidence(),
            scope: scope(self),
            meanings: meanings.collect(),
            projected: &self.scores(ScoreName::Projected).scores,
            negative: &self.scores(ScoreName::Negative).scores,
            parts: combined.then(|| self.scores(ScoreName::Combined).parts.as_ref()).flatten(),
        }
    }

    fn context(&self, args: &ReviewsArgs) -> super::explain::Context {
        let name = ScoreName::Projected;
        super::explain::Context {
            inputs: self.inputs.clone(),
            settings: self.settings(args),
            scores: self.scores(name).scores.clone(),
            embedder: self.embedded.name.clone(),
        }
    }

    pub(super) fn settings(&self, args: &ReviewsArgs) -> Map<String, Value> {
        let scores: Vec<&str> = args.scores().iter().map(|score| score.as_str()).collect();
        let settings = json!({
            "embedder": self.embedded.name,
            "granularity": self.embedded.granularity,
            "dims": self.plain.dims(),
            "score": scores,
            "centered": self.centered,
            "z_combine": self.combine,
            "min_papers": args.min_papers,
            "fdr": args.fdr,
            "margin": args.margin,
            "duplicates": Duplicates::from(args.duplicates),
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}
