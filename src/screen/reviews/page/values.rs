//! Scores by reviewer, as figures and measures take them.

use super::super::ReviewsRun;
use crate::text::score::ScoreName;
use crate::text::scorer::ScoreDetail;

/// The estimates of a score by reviewer, times `sign`.
pub(super) fn values(run: &ReviewsRun, name: ScoreName, sign: f64) -> Vec<Option<f64>> {
    let scores = &run.scored(name).scores;
    scores.iter().map(|score| score.estimate.map(|estimate| sign * estimate.value)).collect()
}

/// Closeness to the topic and distance from Z, by reviewer.
type Parts<'a> = (&'a [Option<f64>], &'a [Option<f64>]);

/// The parts of the combined score.
pub(super) fn parts(run: &ReviewsRun) -> Option<Parts<'_>> {
    match &run.scored(ScoreName::Combined).detail {
        ScoreDetail::Combined { topic, away, .. } => Some((topic, away)),
        ScoreDetail::None | ScoreDetail::Own(_) => None,
    }
}
