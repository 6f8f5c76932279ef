//! `caz reviews`: score reviewers from the text of their reviews.

use std::path::PathBuf;

use crate::error::{Error, Remedy, Result};
use clap::{Args, ValueEnum};

use super::canary::read_plan;
use super::common::{Common, OutputFormat, check_read_once};
use super::embedding::EmbeddingArgs;
use super::exit::{ExitStatus, UsageError};
use super::exports::ExportArgs;
use super::output::{check_output, emit};
use super::page::PageArgs;
use super::progress::{Terminal, doing, open};
use super::shown_reviews::shown;
use super::workers::WorkersArgs;
use crate::data::duplicates::Duplicates;
use crate::data::review_names::{Names, ReviewReading};
use crate::data::{ReviewFiles, Reviews};
use crate::report::Input;
use crate::report::html::ReviewText;
use crate::screen::reviews::{By, Centering};
use crate::screen::{Asking, ReviewsSettings, ScoreName, Sentences, reviews_with};
use crate::stats::flag::FALSE_DISCOVERY_RATE;
use crate::text::own::OwnSettings;
use crate::text::pairs::ZCombine;

/// Score reviewers by what their reviews share with their peers' beyond an LLM's review
///
/// Where texts can be compared, the score `own` says how likely a reviewer's reviews are their own
/// work, by where copies of the LLM's reviews and texts about other papers stand when they are
/// planted in this venue; the flag `look` names those to read. Otherwise `projected` is the mean
/// similarity with the reviews of their peers after what the LLM's reviews of the same paper say is
/// removed; reviewers who hand in LLM text share nothing beyond it and end at the bottom.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  REVIEWS  paper, reviewer, and one of text, vector, judgments
  --z      paper, and one of text, vector, judgments; optional source, sample
  --tasks  paper, text (the abstract, the question, the text to summarise)
Answers of crowd workers are read the same way: task, worker, answer.
Exports of OpenReview, HotCRP, EasyChair, CMT and others are taken as they are.

Examples:
  caz reviews reviews.jsonl --z llm-reviews.jsonl --output scores.csv
  caz reviews reviews.jsonl --z llm-reviews.jsonl --report report.html
  caz reviews answers.csv --z llm-answers.csv --tasks tasks.csv --workers pay.csv")]
pub(super) struct ReviewsArgs {
    /// Reviews by people: paper, reviewer, text
    reviews: PathBuf,
    /// LLM reviews of the same papers; several files, or sources in one, are used together.
    /// Needed unless the export of REVIEWS holds some
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    /// What people and LLM had before them: task or paper, and text. It is taken out of every text before
    /// anything is compared [default: what REVIEWS itself has: `task_text`, abstract, `Input.*`]
    #[arg(long = "tasks", value_name = "FILE", help_heading = "Input")]
    tasks_file: Option<PathBuf>,
    /// Who is one person: a name throughout, or a name on a paper
    #[arg(long, value_enum, default_value_t, help_heading = "Advanced")]
    names: Names,
    /// Scores to report
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto", value_name = "S")]
    score: Vec<ScoreChoice>,
    /// Subtract the mean review before projecting; auto: for text, not for judgments
    #[arg(long, value_enum, default_value_t, help_heading = "Advanced")]
    center: Centering,
    /// How several LLM reviews of one paper are used together, but by own
    #[arg(long, value_enum, default_value_t, help_heading = "Advanced")]
    z_combine: ZCombine,
    /// Fewer papers than this give the flag `too_few`, which own has not
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Advanced")]
    min_papers: usize,
    /// Rate of false alarms behind the flag `look`; false discovery rate of `informative`
    #[arg(long, value_name = "F", default_value_t = FALSE_DISCOVERY_RATE)]
    fdr: f64,
    /// Bound of the flag `uninformative` [default: a quarter of the median score]
    #[arg(long, value_name = "F", help_heading = "Advanced")]
    margin: Option<f64>,
    /// own: reviews with fewer words are not judged
    #[arg(long, value_name = "N", default_value_t = OwnSettings::default().min_words, hide_short_help = true)]
    min_words: usize,
    /// What a row is: a person, or one text (own only)
    #[arg(long, value_enum, default_value_t, help_heading = "Output", hide_short_help = true)]
    by: By,
    /// Say what these LLM reviews could find here, by kind of text, and flag nobody
    #[arg(long, conflicts_with_all = ["explain", "report", "workers", "by"], help_heading = "Output", hide_short_help = true)]
    dry_run: bool,
    /// The plan of `caz canary make`: flag look who repeats all of a paper's phrases
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    canaries: Option<PathBuf>,
    #[command(flatten)]
    workers: WorkersArgs,
    /// Reviewers that a table on standard output shows by each score, worst first; files have all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        help_heading = "Output",
        hide_short_help = true
    )]
    top: usize,
    /// What to do with a second review of the same paper by the same reviewer
    #[arg(long, value_enum, default_value_t, help_heading = "Input", hide_short_help = true)]
    duplicates: Duplicates,
    /// Who is behind anonymous ids: id, person, optional ac (area chair); or the groups of `OpenReview`
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    people: Option<PathBuf>,
    /// Show the evidence for one reviewer instead of the scores of all
    #[arg(long, value_name = "REVIEWER", conflicts_with = "report", help_heading = "Output")]
    explain: Option<String>,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
    /// How much of the reviews goes into the report; they may be confidential
    #[arg(
        long,
        value_enum,
        default_value_t,
        requires = "report",
        value_name = "TEXT",
        help_heading = "Output",
        hide_short_help = true
    )]
    report_text: ReviewText,
    #[command(flatten)]
    embedding: EmbeddingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScoreChoice {
    /// Own where there are texts and Z, combined where most texts are too short, else projected
    Auto,
    /// Is it their own work? Flags who to look at
    Own,
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

/// Runs the command.
pub(super) fn run(args: &ReviewsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    let settings = args.settings(common);
    args.check()?;
    settings.check()?;
    args.page.check(common)?;
    args.workers.check()?;
    let plan = args.canaries.as_ref().map(|path| read_plan(path, common)).transpose()?;
    let reviews = args.read(common)?;
    let asking = Asking {
        models: &args.embedding.models(common),
        observer: &Terminal::new(common),
        sentences: args.sentences(),
        other_papers: args.explain.is_some() || args.page.wanted(),
    };
    let mut run = args.embedding.waiting(common, || reviews_with(reviews, &settings, &asking))?;
    if let Some((plan, source)) = plan {
        run = run.with_canaries(&plan, Input::new(&source, plan.papers.len() as u64))?;
    }
    let report = match &args.explain {
        Some(reviewer) => doing(common, "comparing", || run.explain(reviewer))?,
        None if args.dry_run => doing(common, "planting", || run.what_could_be_found())?,
        None => doing(common, "scoring", || run.report())?,
    };
    if args.workers.wanted() {
        args.workers.write(&report, || run.workers())?;
    }
    args.page.write(common, &report, || run.page(args.report_text))?;
    let is_list = args.explain.is_none() && !args.dry_run;
    let for_people = common.resolved_format()? == OutputFormat::Table && is_list;
    if for_people {
        let top = if common.output.is_some() { usize::MAX } else { args.top };
        emit(&shown(&report, &run, top), common)?;
    } else {
        emit(&report, common)?;
    }
    Ok(ExitStatus::Done)
}

impl ReviewsArgs {
    fn check(&self) -> Result<()> {
        if self.score.len() > 1 && self.score.contains(&ScoreChoice::Auto) {
            return Err(UsageError("--score auto stands alone".into()).into());
        }
        check_read_once(
            self.z
                .iter()
                .chain([&self.reviews])
                .chain(&self.people)
                .chain(&self.tasks_file)
                .chain(&self.canaries),
        )?;
        Ok(())
    }

    fn read(&self, common: &Common) -> Result<Reviews> {
        let settings = self.exports.settings()?;
        let reviews = open(&self.reviews, common)?;
        let z = self.z.iter().map(|path| open(path, common)).collect::<Result<Vec<_>, _>>()?;
        let people = self.people.as_ref().map(|path| open(path, common)).transpose()?;
        let tasks = self.tasks_file.as_ref().map(|path| open(path, common)).transpose()?;
        let files = ReviewFiles { reviews, z, people, tasks };
        let reading = ReviewReading { duplicates: self.duplicates, names: self.names };
        let read = Reviews::from_exports(files, settings, reading)?;
        if read.set.z.is_empty() {
            let file = self.reviews.display();
            let message =
                format!("there is no review by an LLM to compare with, also not in `{file}`");
            return Err(Error::usage(message).with_remedy(Remedy::GiveZFile));
        }
        Ok(read)
    }

    /// Whose sentences the output shows.
    fn sentences(&self) -> Sentences {
        match &self.explain {
            Some(reviewer) => Sentences::Of(reviewer.clone()),
            None if self.page.wanted() && self.report_text != ReviewText::None => {
                Sentences::Everybody
            }
            None => Sentences::None,
        }
    }

    /// The scores asked for; `None` for the one that fits.
    fn scores(&self) -> Option<Vec<ScoreName>> {
        let names = self.score.iter().map(|choice| choice.names());
        Some(names.collect::<Option<Vec<_>>>()?.concat())
    }

    fn settings(&self, common: &Common) -> ReviewsSettings {
        ReviewsSettings {
            score: self.scores(),
            center: self.center,
            z_combine: self.z_combine,
            by: self.by,
            min_papers: self.min_papers,
            fdr: self.fdr,
            margin: self.margin,
            min_words: self.min_words,
            seed: common.seed,
            embedding: self.embedding.settings(common),
            beside: self.embedding.beside(),
        }
    }
}

impl ScoreChoice {
    fn names(self) -> Option<&'static [ScoreName]> {
        Some(match self {
            Self::Auto => return None,
            Self::Own => &[ScoreName::Own],
            Self::Projected => &[ScoreName::Projected],
            Self::Cosine => &[ScoreName::Cosine],
            Self::Negative => &[ScoreName::Negative],
            Self::Combined => &[ScoreName::Combined],
            Self::All => &ScoreName::EACH,
        })
    }
}
