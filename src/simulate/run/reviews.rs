//! Reviewers of several papers, some of whom do not review.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SimulatedFile, write_rows};
use crate::data::content::Content;
use crate::data::review_reader::LoadedReviews;
use crate::data::reviews::ReviewSet;
use crate::data::warning::Warning;
use crate::error::{Error, Result};
use crate::report::{Input, Report, Table, settings_map};
use crate::simulate::making::MakingSettings;
use crate::simulate::reviews::{
    ReviewerKind, ReviewerOptions, SimulatedReviewers, simulate_reviewers,
};
use crate::simulate::rewording::Rewriting;
use crate::stats::seed::stream;

/// How reviewers are simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewsSettings {
    /// Papers per reviewer.
    pub k: usize,
    /// Share of the reviewers, rounded down, who hand in LLM reviews of their papers.
    pub llm: f64,
    /// Share who hand in human reviews of other papers.
    pub off_topic: f64,
    /// Share who hand in LLM reviews of other papers.
    pub off_topic_llm: f64,
    /// How reviewers are made.
    #[serde(flatten)]
    pub making: MakingSettings,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for ReviewsSettings {
    fn default() -> Self {
        Self {
            k: 5,
            llm: 0.0,
            off_topic: 0.0,
            off_topic_llm: 0.0,
            making: MakingSettings::default(),
            seed: 0,
        }
    }
}

impl ReviewsSettings {
    /// Makes the reviewers. Unless a source is named, or all are Z together, the first is Z.
    ///
    /// # Errors
    ///
    /// For settings that make no sense or do not fit the reviews.
    pub(crate) fn run(
        &self,
        loaded: LoadedReviews,
        inputs: Vec<Input>,
    ) -> Result<SimulatedReviews> {
        let making = &self.making;
        making.check()?;
        let real = &loaded.set;
        let z_sources = making.z_points(&real.sources)?.into_iter().next().unwrap_or_default();
        making.check_texts(real)?;
        let options = ReviewerOptions {
            papers: (0..).take(real.papers.len()).collect(),
            papers_per_reviewer: self.k,
            reviews_per_paper: making.reviews_per_paper,
            z_sources,
            copy_z: making.copy_z,
            reword_copies: making.reword_copies,
            rewritten: making.rewriting.map_or(0.0, |(_, share)| share),
            z_coverage: making.z_coverage,
            shares: [self.llm, self.off_topic, self.off_topic_llm],
            at_least: 0,
        };
        let mut random = stream(self.seed, "simulate reviews", 0);
        let mut simulated = simulate_reviewers(real, &options, &mut random)
            .map_err(|error| Error::usage(error.to_string()))?;
        // Nobody is rewritten without a rewriting, and then it does not matter which one.
        simulated.fill_contents(real, making.rewriting.map_or(Rewriting::Formal, |(how, _)| how));
        let name = |z: &u32| real.sources.names().get(*z as usize).cloned();
        let z = options.z_sources.iter().filter_map(name).collect();
        let warnings = loaded.warnings;
        Ok(SimulatedReviews { settings: self.clone(), simulated, z, warnings, inputs })
    }
}

/// Simulated reviewers with what they were made from.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedReviews {
    /// The settings.
    pub settings: ReviewsSettings,
    /// The reviewers, their reviews and who did what.
    pub simulated: SimulatedReviewers,
    /// Names of the sources that are Z.
    pub z: Vec<String>,
    warnings: Vec<Warning>,
    inputs: Vec<Input>,
}

impl SimulatedReviews {
    /// Reviews, Z and truth.
    pub(crate) fn files(&self) -> Vec<SimulatedFile<'_>> {
        let set = &self.simulated.set;
        vec![
            SimulatedFile::new("reviews.jsonl", move |out| {
                let reviews = set.reviews.iter().map(|review| {
                    let reviewer = ("reviewer", set.reviewers.name(review.reviewer));
                    row(set, &[("paper", set.papers.name(review.paper)), reviewer], &review.content)
                });
                write_lines(reviews, out)
            }),
            SimulatedFile::new("z.jsonl", move |out| {
                let z = set.z.iter().map(|z| {
                    let source = ("source", set.sources.name(z.source));
                    row(set, &[("paper", set.papers.name(z.paper)), source], &z.content)
                });
                write_lines(z, out)
            }),
            SimulatedFile::new("truth.csv", |out| self.write_truth(out)),
        ]
    }

    fn write_truth(&self, out: &mut dyn Write) -> io::Result<()> {
        let with_rewritten = self.settings.making.rewriting.is_some();
        let simulated = &self.simulated;
        let reviewers = simulated.kinds.iter().zip(simulated.set.reviewers.names());
        let rows = reviewers.zip(&simulated.rewritten).map(|((kind, reviewer), rewritten)| {
            let mut row = vec![reviewer.clone(), kind.as_str().to_owned()];
            if with_rewritten {
                row.push(if *rewritten { "yes" } else { "no" }.to_owned());
            }
            row
        });
        let header = if with_rewritten { 3 } else { 2 };
        write_rows(out, &["reviewer", "kind", "rewritten"][..header], rows)
    }

    /// Reviewers and reviews by kind.
    pub(crate) fn report(&self) -> Report {
        let simulated = &self.simulated;
        let mut table = Table::new(&["kind", "n_reviewers", "n_reviews"]);
        for kind in [&[ReviewerKind::Human][..], &ReviewerKind::LOW_EFFORT].concat() {
            let kind_of = |reviewer: u32| simulated.kinds[reviewer as usize];
            let reviewers = simulated.kinds.iter().filter(|other| **other == kind).count();
            let reviews =
                simulated.set.reviews.iter().filter(|review| kind_of(review.reviewer) == kind);
            table.push(vec![kind.as_str().into(), reviewers.into(), reviews.count().into()]);
        }
        let mut settings = settings_map(&self.settings);
        settings.insert("z_source".into(), self.z.clone().into());
        Report {
            command: "simulate reviews",
            inputs: self.inputs.clone(),
            settings,
            table,
            warnings: self.warnings.clone(),
            footer: vec!["Reviews of several people make one simulated reviewer.".into()],
            prose: None,
        }
    }
}

fn write_lines(
    rows: impl Iterator<Item = Map<String, Value>>,
    out: &mut dyn Write,
) -> io::Result<()> {
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
