//! One scorer for all scores of reviewers, and the names of what it can compute.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::combined::{Basis, CombinedScores, combined_scores, lower_standardised};
use super::own::OwnScores;
use super::pairs::{Paper, ZCombine, papers_of};
use super::score::{ReviewerScore, ScoreName, cosine_scores, negative_scores, projected_scores};
use super::space::Space;
use crate::data::reviews::ReviewSet;
use crate::stats::interval::Estimate;

words! {
    /// A score of reviewers and how the vectors are prepared for it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ScoreVariant {
        /// The paper's own: cosine with peers beyond Z, the span of several Z removed.
        Projected = "projected",
        /// The same with centered vectors.
        ProjectedCentered = "projected_centered",
        /// The lowest of the scores given each Z alone.
        ProjectedMin = "projected_min",
        /// The same with centered vectors.
        ProjectedCenteredMin = "projected_centered_min",
        /// The mean direction of several Z removed.
        ProjectedMean = "projected_mean",
        /// The same with centered vectors.
        ProjectedCenteredMean = "projected_centered_mean",
        /// Cosine with peers.
        Cosine = "cosine",
        /// The same with centered vectors.
        CosineCentered = "cosine_centered",
        /// Minus cosine with Z.
        Negative = "negative",
        /// The lower of topic and distance from Z.
        Combined = "combined",
        /// Its first part alone.
        CombinedTopic = "combined_topic",
        /// Its second part alone.
        CombinedZ = "combined_z",
        /// The sum of its parts in place of the lower one.
        CombinedSum = "combined_sum",
        /// Combined without whitening: vectors are only centered.
        CombinedCentered = "combined_centered",
        /// Similarities in place of contrasts: the lower of [`Self::CosineCentered`] and minus the
        /// cosine with Z, both standardised, centered vectors.
        CombinedSimilarity = "combined_similarity",
        /// The same with whitened vectors.
        CombinedSimilarityWhitened = "combined_similarity_whitened",
        /// The log odds of own work, by word weights of the texts whatever the embedder.
        Own = "own",
    }
}

impl ScoreVariant {
    /// Those a user of `caz reviews` can ask for.
    pub const MAIN: [Self; 5] =
        [Self::Projected, Self::ProjectedCentered, Self::Cosine, Self::Negative, Self::Combined];

    /// Every way to project.
    pub(crate) const PROJECTED: [Self; 6] = [
        Self::Projected,
        Self::ProjectedCentered,
        Self::ProjectedMin,
        Self::ProjectedCenteredMin,
        Self::ProjectedMean,
        Self::ProjectedCenteredMean,
    ];

    /// What the combined score is made of, and what it is without one of its ideas.
    pub(crate) const ABLATION: [Self; 7] = [
        Self::Combined,
        Self::CombinedTopic,
        Self::CombinedZ,
        Self::CombinedSum,
        Self::CombinedCentered,
        Self::CombinedSimilarity,
        Self::CombinedSimilarityWhitened,
    ];
}

/// How [`ScoreName::Projected`] is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Projection {
    /// Whether the mean review is subtracted first.
    pub centered: bool,
    /// How several Z are used together.
    pub combine: ZCombine,
}

/// The scores of all reviewers by one name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    /// One per reviewer.
    pub scores: Vec<ReviewerScore>,
    /// What only this score has.
    pub(crate) detail: ScoreDetail,
}

/// What one score has beyond an estimate per reviewer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub(crate) enum ScoreDetail {
    /// Nothing.
    None,
    /// The parts of [`ScoreName::Combined`].
    Combined {
        /// Closeness to the topic of every reviewer.
        topic: Vec<Option<f64>>,
        /// Distance from Z of every reviewer.
        away: Vec<Option<f64>>,
        /// What tells whether to trust them.
        basis: Basis,
    },
    /// Everything that [`ScoreName::Own`] says.
    Own(Arc<OwnScores>),
}

/// Scores reviewers by every name; what scores share is computed once.
///
/// `S` is a set or a way to one: a reference, a box, an `Arc`.
#[derive(Debug)]
pub(crate) struct Scorer<S> {
    set: S,
    papers: Vec<Paper>,
    plain: Space,
    centered: OnceLock<Space>,
    whitened: OnceLock<Space>,
    combined: OnceLock<CombinedScores>,
    own: Option<Arc<OwnScores>>,
}

impl<S: Deref<Target = ReviewSet>> Scorer<S> {
    /// `plain` has the vectors of the set, not centered.
    pub(crate) fn new(set: S, plain: Space) -> Self {
        let papers = papers_of(&set);
        Self {
            set,
            papers,
            plain,
            centered: OnceLock::new(),
            whitened: OnceLock::new(),
            combined: OnceLock::new(),
            own: None,
        }
    }

    /// What is scored.
    pub(crate) fn set(&self) -> &ReviewSet {
        &self.set
    }

    /// The same with what was found by [`super::own::own_scores`] of the same set.
    #[must_use]
    pub(crate) fn with_own(mut self, own: OwnScores) -> Self {
        self.own = Some(Arc::new(own));
        self
    }

    /// What [`Self::with_own`] was given.
    pub(crate) fn own(&self) -> Option<&OwnScores> {
        self.own.as_deref()
    }

    /// The papers of the set.
    pub(crate) fn papers(&self) -> &[Paper] {
        &self.papers
    }

    /// All vectors as they are.
    pub(crate) fn plain(&self) -> &Space {
        &self.plain
    }

    /// All vectors, the mean review subtracted.
    pub(crate) fn centered(&self) -> &Space {
        self.centered.get_or_init(|| self.plain.clone().centered())
    }

    /// The vectors in which projected scores are computed.
    pub(crate) fn projected(&self, projection: Projection) -> &Space {
        if projection.centered { self.centered() } else { &self.plain }
    }

    fn whitened(&self) -> &Space {
        self.whitened.get_or_init(|| self.plain.clone().whitened())
    }

    fn combined(&self) -> &CombinedScores {
        self.combined.get_or_init(|| combined_scores(&self.set, &self.papers, self.whitened()))
    }

    /// The scores of all reviewers by a name; `projection` concerns [`ScoreName::Projected`]. Nobody
    /// has a score by [`ScoreName::Own`] without [`Self::with_own`].
    pub(crate) fn scores(&self, name: ScoreName, projection: Projection) -> Scored {
        let (set, papers) = (&*self.set, self.papers.as_slice());
        let scores = match name {
            ScoreName::Projected => {
                projected_scores(set, papers, self.projected(projection), projection.combine)
            }
            ScoreName::Cosine => cosine_scores(set, papers, &self.plain),
            ScoreName::Negative => negative_scores(set, papers, &self.plain),
            ScoreName::Combined => {
                let CombinedScores { scores, topic, away, basis } = self.combined().clone();
                return Scored { scores, detail: ScoreDetail::Combined { topic, away, basis } };
            }
            ScoreName::Own => return self.own_scored(),
        };
        Scored { scores, detail: ScoreDetail::None }
    }

    fn own_scored(&self) -> Scored {
        let none = ReviewerScore { estimate: None, n_papers: 0, n_pairs: 0, n_zero: 0 };
        let mut scores = vec![none; self.set.reviewers.len()];
        let Some(own) = &self.own else { return Scored { scores, detail: ScoreDetail::None } };
        for (score, found) in scores.iter_mut().zip(&own.reviewers) {
            score.n_papers = found.n_papers;
            score.estimate = found.score.map(|value| Estimate {
                value,
                standard_error: None,
                degrees_of_freedom: found.n_papers as f64 - 1.0,
            });
        }
        for paper in &self.papers {
            for &review in &paper.reviews {
                if own.reviews[review].reason.is_none() {
                    let reviewer = self.set.reviews[review].reviewer as usize;
                    scores[reviewer].n_pairs += paper.reviews.len() - 1 + paper.z.len();
                }
            }
        }
        Scored { scores, detail: ScoreDetail::Own(Arc::clone(own)) }
    }

    /// The values of a score as experiments compare them.
    pub(crate) fn values(&self, variant: ScoreVariant) -> Vec<Option<f64>> {
        use ScoreVariant as V;
        let scores = |name, centered, combine| {
            values(&self.scores(name, Projection { centered, combine }).scores)
        };
        let projected = |centered, combine| scores(ScoreName::Projected, centered, combine);
        match variant {
            V::Projected => projected(false, ZCombine::Span),
            V::ProjectedCentered => projected(true, ZCombine::Span),
            V::ProjectedMin => projected(false, ZCombine::Min),
            V::ProjectedCenteredMin => projected(true, ZCombine::Min),
            V::ProjectedMean => projected(false, ZCombine::Mean),
            V::ProjectedCenteredMean => projected(true, ZCombine::Mean),
            V::Cosine => scores(ScoreName::Cosine, false, ZCombine::Span),
            V::CosineCentered => values(&cosine_scores(&self.set, &self.papers, self.centered())),
            V::Negative => scores(ScoreName::Negative, false, ZCombine::Span),
            V::Combined => values(&self.combined().scores),
            V::CombinedTopic => self.combined().topic.clone(),
            V::CombinedZ => self.combined().away.clone(),
            V::CombinedSum => {
                let parts = self.combined().topic.iter().zip(&self.combined().away);
                parts.map(|(topic, away)| Some((*topic)? + (*away)?)).collect()
            }
            V::CombinedCentered => {
                values(&combined_scores(&self.set, &self.papers, self.centered()).scores)
            }
            V::CombinedSimilarity => self.lower_similarity(self.centered()),
            V::CombinedSimilarityWhitened => self.lower_similarity(self.whitened()),
            V::Own => values(&self.own_scored().scores),
        }
    }

    fn lower_similarity(&self, space: &Space) -> Vec<Option<f64>> {
        let peers = values(&cosine_scores(&self.set, &self.papers, space));
        let away = values(&negative_scores(&self.set, &self.papers, space));
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
    use crate::embed::vectors::{DenseVectors, Vectors};
    use crate::simulate::reviews::tests::real;
    use crate::stats::seed::stream;

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
            assert_eq!(scorer.values(variant), expected, "{}", variant.as_str());
        }
        for variant in ScoreVariant::EACH {
            let scores = scorer.values(variant);
            if variant == V::Own {
                assert!(scores.iter().all(Option::is_none), "nobody asked for it");
                continue;
            }
            assert!(scores.iter().all(Option::is_some), "{}", variant.as_str());
            assert!(!seen.contains(&scores), "{} is a score of another name", variant.as_str());
            seen.push(scores);
        }
        let [topic, away, sum, lower] =
            [V::CombinedTopic, V::CombinedZ, V::CombinedSum, V::Combined].map(|v| scorer.values(v));
        for index in 0..topic.len() {
            let (topic, away) = (topic[index].unwrap(), away[index].unwrap());
            assert!((sum[index].unwrap() - (topic + away)).abs() < 1e-12);
            assert!((lower[index].unwrap() - topic.min(away)).abs() < 1e-12);
        }
    }
}
