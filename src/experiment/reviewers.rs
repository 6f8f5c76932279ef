//! Detection of low-effort reviewers by the scores of their texts (Fig. 7 of the paper).
//!
//! Every trial makes reviewers from real reviews ([`crate::simulate::reviews`]), with the share of
//! each low-effort kind uniform on `[0, 0.1]` and at least one of each, and asks of every score
//! the AUC that a reviewer who writes outscores one who does not: all kinds mixed and each alone.
//! Texts are embedded once; a trial works on their vectors.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::auc_summary::TrialAuc;
use super::trials::{TrialError, TrialGrid, TrialId, TrialLog, run_trials};
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;
use crate::metrics::auc::auc;
use crate::simulate::SimulateError;
use crate::simulate::reviews::{
    Origin, ReviewerKind, ReviewerOptions, SimulatedReviewers, simulate_reviewers,
};
use crate::text::combined::combined_scores;
use crate::text::pairs::{ZCombine, papers_of};
use crate::text::score::{ReviewerScore, cosine_scores, negative_scores, projected_scores};
use crate::text::space::Space;
use crate::text::vectors::Vectors;

/// A score of reviewers and how the vectors are prepared for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreVariant {
    /// The paper's own: cosine with peers beyond Z.
    Projected,
    /// The same with centered vectors.
    ProjectedCentered,
    /// Cosine with peers.
    Cosine,
    /// The same with centered vectors.
    CosineCentered,
    /// Minus cosine with Z.
    Negative,
    /// The lower of topic and distance from Z.
    Combined,
    /// Its first part alone.
    CombinedTopic,
    /// Its second part alone.
    CombinedZ,
    /// Combined without whitening: vectors are only centered.
    CombinedCentered,
}

impl ScoreVariant {
    /// All of them, in the order of tables.
    pub const EACH: [Self; 9] = [
        Self::Projected,
        Self::ProjectedCentered,
        Self::Cosine,
        Self::CosineCentered,
        Self::Negative,
        Self::Combined,
        Self::CombinedTopic,
        Self::CombinedZ,
        Self::CombinedCentered,
    ];

    /// The word in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Projected => "projected",
            Self::ProjectedCentered => "projected_centered",
            Self::Cosine => "cosine",
            Self::CosineCentered => "cosine_centered",
            Self::Negative => "negative",
            Self::Combined => "combined",
            Self::CombinedTopic => "combined_topic",
            Self::CombinedZ => "combined_z",
            Self::CombinedCentered => "combined_centered",
        }
    }

    /// Scores of all reviewers; `plain` is not centered. With one Z per paper, every way to
    /// combine several is the same.
    fn scores(self, set: &ReviewSet, plain: &Space) -> Vec<Option<f64>> {
        let papers = papers_of(set);
        let values = |scores: Vec<ReviewerScore>| {
            scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect()
        };
        let projected =
            |space: &Space| values(projected_scores(set, &papers, space, ZCombine::Span));
        let whitened = || combined_scores(set, &papers, &plain.clone().whitened());
        match self {
            Self::Projected => projected(plain),
            Self::ProjectedCentered => projected(&plain.clone().centered()),
            Self::Cosine => values(cosine_scores(set, &papers, plain)),
            Self::CosineCentered => values(cosine_scores(set, &papers, &plain.clone().centered())),
            Self::Negative => values(negative_scores(set, &papers, plain)),
            Self::Combined => values(whitened().scores),
            Self::CombinedTopic => whitened().topic,
            Self::CombinedZ => whitened().away,
            Self::CombinedCentered => {
                values(combined_scores(set, &papers, &plain.clone().centered()).scores)
            }
        }
    }
}

/// The grid of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewersSettings {
    /// Papers per reviewer, a point of the grid each.
    pub papers_per_reviewer: Vec<usize>,
    /// Numbers of the sources that are Z in turn, a point each; cheaters use the others.
    pub z_sources: Vec<u32>,
    /// Numbers of the papers that take part.
    pub papers: Vec<u32>,
    /// Most reviews per paper.
    pub reviews_per_paper: usize,
    /// The share of each low-effort kind is uniform from the first to the second number.
    pub shares: (f64, f64),
    /// Share of the papers with Z.
    pub z_coverage: f64,
    /// Who competes.
    pub scores: Vec<ScoreVariant>,
    /// Seed; every trial has its own streams.
    pub seed: u64,
}

impl ReviewersSettings {
    /// The trials with so many repetitions; sources vary fastest.
    pub fn grid(&self, repetitions: u32) -> TrialGrid {
        let points = self.papers_per_reviewer.len() * self.z_sources.len();
        TrialGrid { points: u32::try_from(points).unwrap_or(u32::MAX), repetitions }
    }

    /// Papers per reviewer and source of Z at a point of the grid.
    pub fn point(&self, point: u32) -> (usize, u32) {
        let point = point as usize;
        let sources = self.z_sources.len();
        (self.papers_per_reviewer[point / sources], self.z_sources[point % sources])
    }

    /// The reviewers of a trial, without contents.
    ///
    /// # Errors
    ///
    /// [`SimulateError`] if they cannot be simulated.
    pub fn reviewers(
        &self,
        real: &ReviewSet,
        id: TrialId,
    ) -> Result<SimulatedReviewers, SimulateError> {
        let mut random = id.stream(self.seed, "simulate reviewers");
        let (low, high) = self.shares;
        let shares = [0; 3].map(|_| if high > low { random.random_range(low..=high) } else { low });
        let (papers_per_reviewer, z_source) = self.point(id.point);
        let options = ReviewerOptions {
            papers: self.papers.clone(),
            papers_per_reviewer,
            reviews_per_paper: self.reviews_per_paper,
            z_source,
            z_coverage: self.z_coverage,
            shares,
            at_least: 1,
        };
        simulate_reviewers(real, &options, &mut random)
    }
}

/// AUCs of one score in one trial: all low-effort kinds mixed, then each alone.
pub type KindAucs = [TrialAuc; 4];

/// What came out of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewersTrial {
    /// Reviewers in all.
    pub n_reviewers: usize,
    /// One entry per score.
    pub aucs: Vec<KindAucs>,
}

/// Runs the experiment; results repetition by repetition.
///
/// `vectors` has one row per review of `real`, then one per Z.
///
/// # Errors
///
/// [`TrialError`] if a trial fails or the log cannot be used.
pub fn reviewers(
    real: &ReviewSet,
    vectors: &Vectors,
    settings: &ReviewersSettings,
    repetitions: u32,
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<ReviewersTrial>, TrialError<SimulateError>> {
    run_trials(settings.grid(repetitions), log, progress, |id| {
        let simulated = settings.reviewers(real, id)?;
        let rows: Vec<usize> = simulated
            .origins
            .iter()
            .map(|origin| match *origin {
                Origin::Review(index) => index,
                Origin::Z(index) => real.reviews.len() + index,
            })
            .collect();
        let space = Space::new(vectors.select(&rows), simulated.set.reviews.len());
        let aucs = settings
            .scores
            .iter()
            .map(|score| kind_aucs(&score.scores(&simulated.set, &space), &simulated.kinds));
        Ok(ReviewersTrial { n_reviewers: simulated.kinds.len(), aucs: aucs.collect() })
    })
}

fn kind_aucs(scores: &[Option<f64>], kinds: &[ReviewerKind]) -> KindAucs {
    let against = |keep: &dyn Fn(ReviewerKind) -> bool| {
        let items: Vec<(Option<f64>, bool)> = scores
            .iter()
            .zip(kinds)
            .filter(|(_, kind)| **kind == ReviewerKind::Human || keep(**kind))
            .map(|(&score, &kind)| (score, kind == ReviewerKind::Human))
            .collect();
        let n_missing = items.iter().filter(|(score, _)| score.is_none()).count();
        TrialAuc { auc: auc(&items), n_missing }
    };
    let [llm, off_topic, off_topic_llm] =
        ReviewerKind::LOW_EFFORT.map(|kind| against(&|other| other == kind));
    [against(&|_| true), llm, off_topic, off_topic_llm]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::simulate::reviews::tests::real;
    use crate::text::vectors::DenseVectors;

    fn settings(papers: u32) -> ReviewersSettings {
        ReviewersSettings {
            papers_per_reviewer: vec![2, 4],
            z_sources: vec![0, 1],
            papers: (0..papers).collect(),
            reviews_per_paper: 3,
            shares: (0.0, 0.1),
            z_coverage: 1.0,
            scores: ScoreVariant::EACH.to_vec(),
            seed: 5,
        }
    }

    /// People write about their paper, each with words of their own; both LLMs say the same.
    fn vectors(set: &ReviewSet) -> Vectors {
        let papers = set.papers.len();
        let mut vectors = DenseVectors::new(3 * papers);
        for (index, review) in set.reviews.iter().enumerate() {
            let mut row = vec![0.0; 3 * papers];
            row[review.paper as usize] = 1.0;
            row[2 * papers + (index * 7) % papers] += 0.3;
            vectors.push(&row);
        }
        for z in &set.z {
            let mut row = vec![0.0; 3 * papers];
            row[z.paper as usize] = 0.7;
            row[papers + z.paper as usize] = 1.0;
            vectors.push(&row);
        }
        Vectors::Dense(vectors)
    }

    #[test]
    fn the_same_seed_gives_the_same_trials_on_any_number_of_threads() {
        let set = real(16, 4);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let vectors = vectors(&set);
            pool.install(|| reviewers(&set, &vectors, &settings(16), 3, None, &NoProgress)).unwrap()
        };
        let trials = run(1);
        assert_eq!(trials.len(), 12);
        assert_eq!(run(3), trials);
    }

    #[test]
    fn the_combined_score_finds_every_kind_where_others_miss_one() {
        let set = real(24, 4);
        let trials = reviewers(&set, &vectors(&set), &settings(24), 5, None, &NoProgress).unwrap();
        let mean = |score: ScoreVariant, kind: usize| {
            let index = ScoreVariant::EACH.iter().position(|other| *other == score).unwrap();
            let aucs: Vec<f64> =
                trials.iter().filter_map(|trial| trial.aucs[index][kind].auc).collect();
            assert_eq!(aucs.len(), trials.len());
            aucs.iter().sum::<f64>() / aucs.len() as f64
        };
        for kind in 0..4 {
            assert!(mean(ScoreVariant::Combined, kind) > 0.9, "kind {kind}");
        }
        // Distance from Z rewards any other paper.
        assert!(mean(ScoreVariant::Negative, 2) < 0.5);
    }

    #[test]
    fn an_auc_by_hand() {
        use ReviewerKind::{Human, Llm, OffTopic};
        // Humans 3 and 1, llm 2: one pair of two; off_topic 0: both; a missing human is counted.
        let scores = [Some(3.0), Some(1.0), Some(2.0), Some(0.0), None];
        let aucs = kind_aucs(&scores, &[Human, Human, Llm, OffTopic, Human]);
        assert_eq!(aucs.map(|trial| trial.auc), [Some(0.75), Some(0.5), Some(1.0), None]);
        assert_eq!(aucs.map(|trial| trial.n_missing), [1, 1, 1, 1]);
    }
}
