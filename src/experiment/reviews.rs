//! The experiment on reviews, from settings and reviews to tables, figures and a page.
//!
//! [`ReviewTrials::new`] puts settings and reviews together, [`ReviewTrials::contents`] says what
//! has to be embedded, by whatever embedder, and [`ReviewTrials::run`] does the trials.

mod figures;
mod tables;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::auc_summary::answer;
use super::figures::Figure;
use super::reviewers::{ReviewersSettings, ReviewersTrial, ScoreVariant, reviewers};
use super::trials::{TrialFile, TrialLog};
use crate::data::content::Content;
use crate::data::observer::Observer;
use crate::data::review_reader::LoadedReviews;
use crate::data::warning::Warning;
use crate::embed::vectors::Vectors;
use crate::error::{Error, Result};
#[cfg(feature = "html")]
use crate::report::html::Page;
use crate::report::{Board, Cell, Input, Report, Table, settings_map};
use crate::simulate::making::MakingSettings;

/// The name in results.
pub(crate) const COMMAND: &str = "experiment reviews";

/// Trials per point in the paper.
pub(crate) const REPETITIONS: u32 = 100;

/// Which papers take part, to choose by one half and to test by the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// All of them.
    #[default]
    All,
    /// Every second one from the first.
    First,
    /// Every second one from the second.
    Second,
}

impl Half {
    /// Numbers of the papers that take part, of so many.
    pub fn papers(self, count: usize) -> Vec<u32> {
        let papers = (0..).take(count);
        match self {
            Self::All => papers.collect(),
            Self::First => papers.filter(|paper| paper % 2 == 0).collect(),
            Self::Second => papers.filter(|paper| paper % 2 == 1).collect(),
        }
    }
}

/// Settings of the experiment on reviews: with those of the embedding its provenance, and all but
/// [`Self::trials`] the key by which a run goes on with trials that are there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewTrialsSettings {
    /// Papers per reviewer, a point of the grid each.
    pub k: Vec<usize>,
    /// Who competes.
    pub scores: Vec<ScoreVariant>,
    /// The share of each low-effort kind is uniform from the first to the second number.
    pub shares: (f64, f64),
    /// Which papers take part.
    pub half: Half,
    /// How reviewers are made.
    #[serde(flatten)]
    pub making: MakingSettings,
    /// Seed; every trial has its own streams.
    pub seed: u64,
    /// Trials per point of the grid. More trials are the same experiment.
    pub trials: u32,
}

impl Default for ReviewTrialsSettings {
    fn default() -> Self {
        Self {
            k: vec![5, 8],
            scores: ScoreVariant::MAIN.to_vec(),
            shares: (0.0, 0.1),
            half: Half::All,
            making: MakingSettings::default(),
            seed: 0,
            trials: REPETITIONS,
        }
    }
}

impl ReviewTrialsSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// For a share that is none.
    pub(crate) fn check(&self) -> Result<()> {
        for share in [self.shares.0, self.shares.1] {
            if !(0.0..=1.0).contains(&share) {
                let message = format!("a share of reviewers is {share}, it must be from 0 to 1");
                return Err(Error::usage(message));
            }
        }
        Ok(self.making.check()?)
    }
}

/// Vectors of all contents of the trials, and how they came about.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddedContents {
    /// One row per content, in the order of [`ReviewTrials::contents`].
    pub vectors: Arc<Vectors>,
    /// Name of the embedder.
    pub embedder: String,
    /// `sentence`, `text`, or nothing where vectors were given.
    pub granularity: Option<&'static str>,
    /// Every setting that can change a vector.
    pub settings: Map<String, Value>,
    /// What was cut or looks odd.
    pub warnings: Vec<Warning>,
}

/// An experiment on reviews that is ready to be embedded.
#[derive(Debug, Clone)]
pub(crate) struct ReviewTrials {
    pub(super) settings: ReviewTrialsSettings,
    /// The settings with papers and sources by number.
    pub(super) grid: ReviewersSettings,
    pub(super) loaded: LoadedReviews,
    pub(super) inputs: Vec<Input>,
}

impl ReviewTrials {
    /// Puts settings and reviews together.
    ///
    /// # Errors
    ///
    /// For settings that make no sense or do not fit the reviews.
    pub(crate) fn new(
        settings: &ReviewTrialsSettings,
        loaded: LoadedReviews,
        inputs: Vec<Input>,
    ) -> Result<Self> {
        settings.check()?;
        let making = &settings.making;
        let grid = ReviewersSettings {
            papers_per_reviewer: settings.k.clone(),
            z_sources: making.z_points(&loaded.set.sources)?,
            copy_z: making.copy_z,
            reword_copies: making.reword_copies,
            rewriting: making.rewriting,
            papers: settings.half.papers(loaded.set.papers.len()),
            reviews_per_paper: making.reviews_per_paper,
            shares: settings.shares,
            z_coverage: making.z_coverage,
            scores: settings.scores.clone(),
            seed: settings.seed,
        };
        making.check_texts(&loaded.set)?;
        Ok(Self { settings: settings.clone(), grid, loaded, inputs })
    }

    /// What has to be embedded.
    pub(crate) fn contents(&self) -> Vec<Content> {
        self.grid.contents(&self.loaded.set)
    }

    /// Runs the trials; finished ones are kept in `file`.
    ///
    /// # Errors
    ///
    /// For a file of other trials, where no reviewers can be made, and if `observer` asked to
    /// stop.
    pub(crate) fn run(
        self,
        embedded: EmbeddedContents,
        file: Option<&TrialFile>,
        observer: &dyn Observer,
    ) -> Result<ReviewTrialsRun> {
        let mut key = provenance(&self.settings, &embedded);
        key.remove("trials");
        let log = file.map(|file| file.open(COMMAND, &self.inputs, &key)).transpose()?;
        if let Some(damaged) = log.as_ref().and_then(TrialLog::damaged) {
            observer.say(&format!("warning: {}", damaged.message));
        }
        let (set, count) = (&self.loaded.set, self.settings.trials);
        let progress = observer.stage("trials", self.grid.grid(count).trials());
        let trials = reviewers(set, &embedded.vectors, &self.grid, count, log, progress.as_ref())?;
        drop(progress);
        let Self { settings, grid, loaded, inputs } = self;
        Ok(ReviewTrialsRun { settings, trials, embedded, grid, loaded, inputs })
    }
}

/// Every setting, those of the embedding among them.
fn provenance(settings: &ReviewTrialsSettings, embedded: &EmbeddedContents) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("embedder".into(), embedded.embedder.as_str().into());
    all.insert("granularity".into(), embedded.granularity.into());
    all.insert("embedding".into(), embedded.settings.clone().into());
    all.extend(settings_map(settings));
    all
}

/// A finished experiment on reviews.
#[derive(Debug, Clone)]
pub(crate) struct ReviewTrialsRun {
    /// The settings.
    pub settings: ReviewTrialsSettings,
    /// The results, repetition by repetition.
    pub trials: Vec<ReviewersTrial>,
    embedded: EmbeddedContents,
    grid: ReviewersSettings,
    loaded: LoadedReviews,
    inputs: Vec<Input>,
}

impl ReviewTrialsRun {
    /// The summary with what it is of.
    pub(crate) fn report(&self) -> Report {
        let mut warnings = self.loaded.warnings.clone();
        warnings.extend(self.embedded.warnings.iter().cloned());
        let mut table = tables::summary(self);
        let mixed = |&k: &usize| {
            let only = [("k", k.into()), ("kind", "mixed".into()), ("z", Cell::Missing)];
            answer(&table, "score_name", &only, &format!(" with {k} papers each"))
        };
        let answers: Vec<String> = self.grid.papers_per_reviewer.iter().filter_map(mixed).collect();
        if !answers.is_empty() {
            table.set_headline(answers.join(" "));
        }
        Report {
            command: COMMAND,
            inputs: self.inputs.clone(),
            settings: provenance(&self.settings, &self.embedded),
            table,
            warnings,
            footer: self.footer(),
            prose: None,
        }
    }

    /// The result for people: a row a score, best first, the kinds side by side.
    pub(crate) fn shown(&self) -> Report {
        let mut report = self.report();
        let (all, mut rows) = (report.table.clone(), None);
        for &k in &self.grid.papers_per_reviewer {
            let only = [("k", k.into()), ("z", Cell::Missing)];
            let board = Board {
                names: &["k", "score_name"],
                metrics: Some((
                    "kind",
                    &["mixed", "llm", "off_topic", "off_topic_llm", "rewritten"],
                )),
                value: "mean_auc",
                beside: &["q10_auc"],
                only: &only,
            };
            let of_k = board.table(&all, &board.standings(&all));
            match &mut rows {
                None => rows = Some(of_k),
                Some(rows) if rows.columns() == of_k.columns() => {
                    of_k.rows().iter().for_each(|row| rows.push(row.clone()));
                }
                Some(_) => return report,
            }
        }
        let Some(mut rows) = rows.filter(|rows| !rows.rows().is_empty()) else { return report };
        rows.set_headline_of(&all);
        report.table = rows;
        report.footer.push("Figures by source of Z, and all columns, are in files.".into());
        report
    }

    fn footer(&self) -> Vec<String> {
        let mut footer = vec![
            format!(
                "Made reviewers from {} reviews of {} papers, {} trials per k and source of Z; \
                 embedder {}.",
                self.loaded.set.reviews.len(),
                self.grid.papers.len(),
                self.settings.trials,
                self.embedded.embedder
            ),
            "mean_auc: probability that a reviewer who wrote scores above one who did not; 0.5 is \
             chance. q10_auc: one trial in ten is worse. Rows without z are over all sources."
                .into(),
        ];
        if self.grid.rewriting.is_some() {
            let text = "rewritten: probability that a person whose reviews were rewritten scores above \
                        another person. shift: mean change of their percentile among people. low: share \
                        of them below the 5 % quantile of the others; low_before: with their own texts.";
            footer.push(text.into());
        }
        footer
    }

    /// Every trial, score and kind.
    pub(crate) fn raw(&self) -> Table {
        tables::raw(self)
    }

    /// AUCs of every `k`, and the scores in a few trials.
    ///
    /// # Errors
    ///
    /// Where no reviewers can be made.
    pub(crate) fn figures(&self) -> Result<Vec<Figure>> {
        figures::figures(self)
    }

    /// The page; `caption` says what stands under a figure.
    #[cfg(feature = "html")]
    pub(crate) fn page(&self, figures: &[Figure], caption: &dyn Fn(&Figure) -> String) -> Page {
        let title = "How well low-effort reviewers would be found";
        super::page::page(title, &self.report(), figures, caption)
    }

    /// Trials of the points that `keep` keeps.
    fn kept<'a>(
        &'a self,
        keep: impl Fn(usize, &[u32]) -> bool + 'a,
    ) -> impl Iterator<Item = &'a ReviewersTrial> {
        let kept = self.grid.grid(1).with_ids(&self.trials).filter(move |(id, _)| {
            let (k, z) = self.grid.point(id.point);
            keep(k, z)
        });
        kept.map(|(_, trial)| trial)
    }

    fn z_name(&self, z: &[u32]) -> String {
        z.iter().map(|&z| self.loaded.set.sources.name(z)).collect::<Vec<_>>().join(" + ")
    }
}

#[cfg(test)]
mod tests;
