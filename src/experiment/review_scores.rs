//! The scores of reviewers that compete in an experiment.

use std::cell::OnceCell;

use serde::Serialize;

use crate::data::reviews::ReviewSet;
use crate::text::combined::{CombinedScores, combined_scores, lower_standardised};
use crate::text::pairs::{Paper, ZCombine, papers_of};
use crate::text::score::{ReviewerScore, cosine_scores, negative_scores, projected_scores};
use crate::text::space::Space;

/// A score of reviewers and how the vectors are prepared for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreVariant {
    /// The paper's own: cosine with peers beyond Z, the span of several Z removed.
    Projected,
    /// The same with centered vectors.
    ProjectedCentered,
    /// The lowest of the scores given each Z alone.
    ProjectedMin,
    /// The same with centered vectors.
    ProjectedCenteredMin,
    /// The mean direction of several Z removed.
    ProjectedMean,
    /// The same with centered vectors.
    ProjectedCenteredMean,
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
    /// The sum of its parts in place of the lower one.
    CombinedSum,
    /// Combined without whitening: vectors are only centered.
    CombinedCentered,
    /// Similarities in place of contrasts: the lower of [`Self::CosineCentered`] and minus the
    /// cosine with Z, both standardised, centered vectors.
    CombinedSimilarity,
    /// The same with whitened vectors.
    CombinedSimilarityWhitened,
}

impl ScoreVariant {
    /// All of them, in the order of tables.
    pub const EACH: [Self; 16] = [
        Self::Projected,
        Self::ProjectedCentered,
        Self::ProjectedMin,
        Self::ProjectedCenteredMin,
        Self::ProjectedMean,
        Self::ProjectedCenteredMean,
        Self::Cosine,
        Self::CosineCentered,
        Self::Negative,
        Self::Combined,
        Self::CombinedTopic,
        Self::CombinedZ,
        Self::CombinedSum,
        Self::CombinedCentered,
        Self::CombinedSimilarity,
        Self::CombinedSimilarityWhitened,
    ];

    /// Those a user of `caz reviews` can ask for.
    pub const MAIN: [Self; 5] =
        [Self::Projected, Self::ProjectedCentered, Self::Cosine, Self::Negative, Self::Combined];

    /// Every way to project.
    pub const PROJECTED: [Self; 6] = [
        Self::Projected,
        Self::ProjectedCentered,
        Self::ProjectedMin,
        Self::ProjectedCenteredMin,
        Self::ProjectedMean,
        Self::ProjectedCenteredMean,
    ];

    /// What the combined score is made of, and what it is without one of its ideas.
    pub const ABLATION: [Self; 7] = [
        Self::Combined,
        Self::CombinedTopic,
        Self::CombinedZ,
        Self::CombinedSum,
        Self::CombinedCentered,
        Self::CombinedSimilarity,
        Self::CombinedSimilarityWhitened,
    ];

    /// The word in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Projected => "projected",
            Self::ProjectedCentered => "projected_centered",
            Self::ProjectedMin => "projected_min",
            Self::ProjectedCenteredMin => "projected_centered_min",
            Self::ProjectedMean => "projected_mean",
            Self::ProjectedCenteredMean => "projected_centered_mean",
            Self::Cosine => "cosine",
            Self::CosineCentered => "cosine_centered",
            Self::Negative => "negative",
            Self::Combined => "combined",
            Self::CombinedTopic => "combined_topic",
            Self::CombinedZ => "combined_z",
            Self::CombinedSum => "combined_sum",
            Self::CombinedCentered => "combined_centered",
            Self::CombinedSimilarity => "combined_similarity",
            Self::CombinedSimilarityWhitened => "combined_similarity_whitened",
        }
    }
}

/// Scores the reviewers of one trial by every variant; what variants share is computed once.
pub(super) struct Scorer<'a> {
    set: &'a ReviewSet,
    papers: Vec<Paper>,
    plain: Space,
    centered: OnceCell<Space>,
    whitened: OnceCell<Space>,
    combined: OnceCell<CombinedScores>,
}

impl<'a> Scorer<'a> {
    /// `plain` has the vectors of the set, not centered.
    pub(super) fn new(set: &'a ReviewSet, plain: Space) -> Self {
        Self {
            set,
            papers: papers_of(set),
            plain,
            centered: OnceCell::new(),
            whitened: OnceCell::new(),
            combined: OnceCell::new(),
        }
    }

    fn centered(&self) -> &Space {
        self.centered.get_or_init(|| self.plain.clone().centered())
    }

    fn whitened(&self) -> &Space {
        self.whitened.get_or_init(|| self.plain.clone().whitened())
    }

    fn combined(&self) -> &CombinedScores {
        self.combined.get_or_init(|| combined_scores(self.set, &self.papers, self.whitened()))
    }

    /// Scores of all reviewers.
    pub(super) fn scores(&self, variant: ScoreVariant) -> Vec<Option<f64>> {
        use ScoreVariant as V;
        let (set, papers) = (self.set, self.papers.as_slice());
        let projected =
            |space: &Space, combine| values(&projected_scores(set, papers, space, combine));
        match variant {
            V::Projected => projected(&self.plain, ZCombine::Span),
            V::ProjectedCentered => projected(self.centered(), ZCombine::Span),
            V::ProjectedMin => projected(&self.plain, ZCombine::Min),
            V::ProjectedCenteredMin => projected(self.centered(), ZCombine::Min),
            V::ProjectedMean => projected(&self.plain, ZCombine::Mean),
            V::ProjectedCenteredMean => projected(self.centered(), ZCombine::Mean),
            V::Cosine => values(&cosine_scores(set, papers, &self.plain)),
            V::CosineCentered => values(&cosine_scores(set, papers, self.centered())),
            V::Negative => values(&negative_scores(set, papers, &self.plain)),
            V::Combined => values(&self.combined().scores),
            V::CombinedTopic => self.combined().topic.clone(),
            V::CombinedZ => self.combined().away.clone(),
            V::CombinedSum => {
                let parts = self.combined().topic.iter().zip(&self.combined().away);
                parts.map(|(topic, away)| Some((*topic)? + (*away)?)).collect()
            }
            V::CombinedCentered => values(&combined_scores(set, papers, self.centered()).scores),
            V::CombinedSimilarity => self.lower_similarity(self.centered()),
            V::CombinedSimilarityWhitened => self.lower_similarity(self.whitened()),
        }
    }

    fn lower_similarity(&self, space: &Space) -> Vec<Option<f64>> {
        let peers = values(&cosine_scores(self.set, &self.papers, space));
        let away = values(&negative_scores(self.set, &self.papers, space));
        lower_standardised(&peers, &away)
    }
}

fn values(scores: &[ReviewerScore]) -> Vec<Option<f64>> {
    scores.iter().map(|score| score.estimate.map(|estimate| estimate.value)).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::simulate::reviews::tests::real;
    use crate::stats::seed::stream;
    use crate::text::vectors::{DenseVectors, Vectors};

    #[test]
    fn every_variant_is_the_score_that_its_name_says() {
        use ScoreVariant as V;
        // Eight papers with two Z that differ, each reviewer one review.
        let set = real(8, 3);
        let mut random = stream(1, "test", 0);
        let mut rows = DenseVectors::new(6);
        for _ in 0..set.reviews.len() + set.z.len() {
            rows.push(&[(); 6].map(|()| random.random_range(-1.0..1.5)));
        }
        let plain = Space::new(Vectors::Dense(rows), set.reviews.len());
        let scorer = Scorer::new(&set, plain.clone());
        let papers = papers_of(&set);
        let centered = plain.clone().centered();
        let mut seen: Vec<Vec<Option<f64>>> = Vec::new();
        for (variant, space, combine) in [
            (V::Projected, &plain, ZCombine::Span),
            (V::ProjectedCentered, &centered, ZCombine::Span),
            (V::ProjectedMin, &plain, ZCombine::Min),
            (V::ProjectedCenteredMin, &centered, ZCombine::Min),
            (V::ProjectedMean, &plain, ZCombine::Mean),
            (V::ProjectedCenteredMean, &centered, ZCombine::Mean),
        ] {
            let expected = values(&projected_scores(&set, &papers, space, combine));
            assert_eq!(scorer.scores(variant), expected, "{}", variant.as_str());
        }
        for variant in ScoreVariant::EACH {
            let scores = scorer.scores(variant);
            assert!(scores.iter().all(Option::is_some), "{}", variant.as_str());
            assert!(!seen.contains(&scores), "{} is a score of another name", variant.as_str());
            seen.push(scores);
        }
        let [topic, away, sum, lower] =
            [V::CombinedTopic, V::CombinedZ, V::CombinedSum, V::Combined].map(|v| scorer.scores(v));
        for index in 0..topic.len() {
            let (topic, away) = (topic[index].unwrap(), away[index].unwrap());
            assert!((sum[index].unwrap() - (topic + away)).abs() < 1e-12);
            assert!((lower[index].unwrap() - topic.min(away)).abs() < 1e-12);
        }
    }
}
