//! The combined score: is a review about its paper, *and* not what the LLM says about it?
//!
//! Copies of an LLM's review are close to everything that is written about the paper, off-topic
//! text is far from the LLM's review of it: one similarity can be fooled, so two are asked and the
//! worse answer counts. Both are *contrasts*: similarity with texts on the same paper minus
//! similarity with texts of the same kind on other papers. What a review has in common with every
//! review by an LLM (headings, register, stock phrases) is in both and cancels, so that a person
//! who lets an LLM polish their own words is not taken for one who handed in the LLM's.
//!
//! With `g(a, b)` the cosine of whitened vectors, for review `r` of paper `p`
//!
//! ```text
//! peers(r) = mean of g(r, reviews of p by others) - mean of g(r, reviews of other papers)
//! z_s(r)   = mean of g(r, Z of p from source s)   - mean of g(r, Z of other papers from s)
//! topic(r) = (peers(r) + mean over s of z_s(r)) / 2          (peers(r) alone without Z)
//! away(r)  = - max over s of z_s(r)                          (missing without Z)
//! ```
//!
//! A reviewer's two parts are the means of `topic` and `away` over their papers, each minus its
//! median over all reviewers and divided by 1.4826 times its median absolute deviation, which is
//! one standard deviation where values are normal. The score is the lower of the two: 0 is about
//! the middle, -3 is far below what the others do. Nobody's label is used.

use rayon::prelude::*;

use super::pairs::{Paper, plain_sums, z_similarities};
use super::score::ReviewerScore;
use super::space::{Space, UnitSum};
use crate::data::reviews::ReviewSet;
use crate::stats::interval::Estimate;
use crate::stats::rank::median;

/// Standard deviations of a normal distribution per median absolute deviation.
const NORMAL_MAD: f64 = 1.482_602_218_505_602;

/// Fewest reviewers with a part for a median and a deviation of it.
const FEWEST_REVIEWERS: usize = 3;

/// The combined scores of all reviewers, their parts, and what tells whether to trust them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CombinedScores {
    /// One score per reviewer. The standard error is that of the part that counts, over papers,
    /// with medians and deviations taken as known: the delta method for a minimum, which ignores
    /// that the other part may count in another sample.
    pub scores: Vec<ReviewerScore>,
    /// Standardised closeness to everything written about the same papers.
    pub topic: Vec<Option<f64>>,
    /// Standardised distance from what the LLM says about the same papers.
    pub away: Vec<Option<f64>>,
    /// What tells whether the scores can be trusted.
    pub basis: Basis,
}

/// What the combined scores rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Basis {
    /// Reviewers with a score.
    pub scored: usize,
    /// Those of them with Z on one paper only.
    pub single_paper: usize,
    /// Those of them with Z on two papers.
    pub two_papers: usize,
    /// Sources of Z.
    pub sources: usize,
    /// Papers with at least two reviews and a Z.
    pub papers: usize,
    /// Reviews on papers without a usable Z.
    pub reviews_without_z: usize,
    /// Reviews on papers that have one, but of sources without Z of another paper.
    pub reviews_of_lone_z: usize,
    /// Median over reviews of the contrast with peers: at most 0 where vectors do not tell
    /// papers apart.
    pub median_peers: Option<f64>,
    /// Median over reviews of the contrast with the closest Z: at most 0 where Z is not about the
    /// papers it is filed under.
    pub median_z: Option<f64>,
    /// Whether half of the reviewers agree in a part to the last digit, so that the others cannot
    /// be put on its scale.
    pub no_spread: bool,
}

/// What one review says.
#[derive(Debug, Clone, Copy, Default)]
struct ReviewParts {
    peers: Option<f64>,
    topic: Option<f64>,
    away: Option<f64>,
    /// Whether the paper has a Z with a direction.
    has_z: bool,
    pairs: usize,
    zero: usize,
}

/// Scores every reviewer; `space` should be [`Space::whitened`].
///
/// A review without a peer, or a set with reviews of one paper only, has no topic; one without a
/// Z, or whose sources cover one paper only, no distance from Z. Reviewers lack a part if none of
/// their reviews has it, and the score if they lack one part. A part whose median absolute
/// deviation is 0, or that fewer than 3 reviewers have, is missing for everybody. Texts without a
/// direction have cosine 0 with everything; a Z without one is skipped. Every paper of a reviewer
/// weighs the same.
pub(crate) fn combined_scores(set: &ReviewSet, papers: &[Paper], space: &Space) -> CombinedScores {
    let background = Background::new(set, papers, space);
    let by_paper: Vec<Vec<ReviewParts>> =
        papers.par_iter().map(|paper| parts_of_paper(set, space, paper, &background)).collect();

    let mut topic = vec![Vec::new(); set.reviewers.len()];
    let mut away = vec![Vec::new(); set.reviewers.len()];
    let mut counts = vec![(0, 0); set.reviewers.len()];
    for (paper, parts) in papers.iter().zip(&by_paper) {
        for (&review, parts) in paper.reviews.iter().zip(parts) {
            let reviewer = set.reviews[review].reviewer as usize;
            topic[reviewer].extend(parts.topic);
            away[reviewer].extend(parts.away);
            counts[reviewer].0 += parts.pairs;
            counts[reviewer].1 += parts.zero;
        }
    }
    let topic = Part::new(&topic);
    let away = Part::new(&away);
    let scores: Vec<ReviewerScore> = counts
        .iter()
        .enumerate()
        .map(|(reviewer, &(n_pairs, n_zero))| {
            let parts = [&topic, &away].map(|part| part.values[reviewer]);
            let estimate = match parts {
                [Some(topic), Some(away)] if topic.value <= away.value => Some(topic),
                [Some(_), away] => away,
                _ => None,
            };
            let n_papers = if estimate.is_some() { away.counts[reviewer] } else { 0 };
            ReviewerScore { estimate, n_papers, n_pairs, n_zero }
        })
        .collect();
    let no_spread = topic.no_spread || away.no_spread;
    let basis = Basis { no_spread, ..basis(set, papers, &by_paper, &scores) };
    CombinedScores { scores, topic: topic.into_values(), away: away.into_values(), basis }
}

/// Sums of unit vectors of all texts of a kind, to compare with texts on other papers.
struct Background {
    lengths: Vec<f64>,
    reviews: UnitSum,
    /// Per source: the sum, and the number of Z with a direction.
    z: Vec<(UnitSum, usize)>,
}

impl Background {
    fn new(set: &ReviewSet, papers: &[Paper], space: &Space) -> Self {
        let lengths = space.lengths();
        let rows = papers.iter().flat_map(|paper| paper.reviews.iter().copied());
        let reviews = space.sum_of_units(rows, &lengths);
        let z = (0..set.sources.len())
            .map(|source| {
                let rows: Vec<usize> = (0..set.z.len())
                    .filter(|&z| set.z[z].source as usize == source)
                    .map(|z| space.first_z() + z)
                    .filter(|&row| lengths[row] > 0.0)
                    .collect();
                (space.sum_of_units(rows.iter().copied(), &lengths), rows.len())
            })
            .collect();
        Self { lengths, reviews, z }
    }
}

/// Mean of the sum of `count` values minus the mean of the rest of `all_count` values.
fn contrast(sum: f64, count: usize, all_sum: f64, all_count: usize) -> f64 {
    sum / count as f64 - (all_sum - sum) / (all_count - count) as f64
}

fn parts_of_paper(
    set: &ReviewSet,
    space: &Space,
    paper: &Paper,
    background: &Background,
) -> Vec<ReviewParts> {
    let peers = plain_sums(space, paper);
    let count = peers.size().saturating_sub(1);
    let z = z_similarities(space, paper);
    let elsewhere = set.reviews.len() - paper.reviews.len();
    let has_z = paper.z.iter().any(|z| background.lengths[space.first_z() + z] > 0.0);
    (0..paper.reviews.len())
        .map(|index| {
            let row = paper.reviews[index];
            let length = background.lengths[row];
            let with_peers = peers.sum(index);
            let own = with_peers + if length > 0.0 { 1.0 } else { 0.0 };
            let all = space.sum_of_cosines(row, length, &background.reviews);
            let peer_contrast = (count > 0 && elsewhere > 0)
                .then(|| with_peers / count as f64 - (all - own) / elsewhere as f64);
            let z: Vec<f64> = z_contrasts(set, space, paper, background, row, &z[index]);
            let mean_z = (!z.is_empty()).then(|| z.iter().sum::<f64>() / z.len() as f64);
            ReviewParts {
                peers: peer_contrast,
                topic: peer_contrast.map(|peers| mean_z.map_or(peers, |z| f64::midpoint(peers, z))),
                away: z.iter().copied().reduce(f64::max).map(|closest| -closest),
                has_z,
                pairs: count,
                zero: peers.zero(index),
            }
        })
        .collect()
}

/// Contrast of one review with the Z of each source that covers its paper and another one.
fn z_contrasts(
    set: &ReviewSet,
    space: &Space,
    paper: &Paper,
    background: &Background,
    row: usize,
    similarities: &[f64],
) -> Vec<f64> {
    let mut contrasts = Vec::new();
    for (source, (sum, count)) in background.z.iter().enumerate() {
        let (mut own, mut own_count) = (0.0, 0);
        for (&z, similarity) in paper.z.iter().zip(similarities) {
            if set.z[z].source as usize == source && background.lengths[space.first_z() + z] > 0.0 {
                own += similarity;
                own_count += 1;
            }
        }
        if own_count > 0 && own_count < *count {
            let all = space.sum_of_cosines(row, background.lengths[row], sum);
            contrasts.push(contrast(own, own_count, all, *count));
        }
    }
    contrasts
}

/// Variance of the median of `n` normal numbers times `n`, in units of their variance: `π / 2`.
const MEDIAN_VARIANCE: f64 = 1.57;

/// The same for their median absolute deviation times 1.4826, relative to its value.
const DEVIATION_VARIANCE: f64 = 1.37;

/// The lower of two scores of every reviewer, each first put on the scale of the combined score:
/// minus its median, divided by 1.4826 times its median absolute deviation.
///
/// Missing where one of the two is, and for everybody where one cannot be put on the scale, as in
/// [`combined_scores`]. This is what a combined score of other parts would be.
pub(crate) fn lower_standardised(a: &[Option<f64>], b: &[Option<f64>]) -> Vec<Option<f64>> {
    let [a, b] = [a, b].map(|values| {
        let values: Vec<Vec<f64>> = values.iter().map(|value| Vec::from_iter(*value)).collect();
        Part::new(&values).into_values()
    });
    a.iter().zip(&b).map(|(a, b)| Some(a.as_ref()?.min(*b.as_ref()?))).collect()
}

/// One part of all reviewers on the scale of robust standard deviations.
struct Part {
    values: Vec<Option<Estimate>>,
    counts: Vec<usize>,
    no_spread: bool,
}

impl Part {
    /// `per_review` holds the values of the papers of each reviewer.
    fn new(per_review: &[Vec<f64>]) -> Self {
        let counts = per_review.iter().map(Vec::len).collect();
        let estimates: Vec<Option<Estimate>> =
            per_review.iter().map(|values| Estimate::of_mean(values)).collect();
        let means: Vec<f64> = estimates.iter().flatten().map(|estimate| estimate.value).collect();
        let center = median(&means).unwrap_or(0.0);
        let deviations: Vec<f64> = means.iter().map(|mean| (mean - center).abs()).collect();
        let scale = median(&deviations).unwrap_or(0.0) * NORMAL_MAD;
        let enough = means.len() >= FEWEST_REVIEWERS;
        // Below this, differences are what rounding left of equal values.
        let defined = enough && scale > 1e-12;
        let values = estimates
            .into_iter()
            .map(|estimate| {
                estimate.filter(|_| defined).map(|estimate| {
                    let value = (estimate.value - center) / scale;
                    let of_yardstick =
                        (MEDIAN_VARIANCE + value * value * DEVIATION_VARIANCE) / means.len() as f64;
                    Estimate {
                        value,
                        standard_error: estimate
                            .standard_error
                            .map(|error| ((error / scale).powi(2) + of_yardstick).sqrt()),
                        ..estimate
                    }
                })
            })
            .collect();
        Self { values, counts, no_spread: enough && !defined }
    }

    fn into_values(self) -> Vec<Option<f64>> {
        self.values.into_iter().map(|value| value.map(|estimate| estimate.value)).collect()
    }
}

fn basis(
    set: &ReviewSet,
    papers: &[Paper],
    by_paper: &[Vec<ReviewParts>],
    scores: &[ReviewerScore],
) -> Basis {
    let reviews: Vec<&ReviewParts> = by_paper.iter().flatten().collect();
    let values = |part: fn(&ReviewParts) -> Option<f64>| -> Vec<f64> {
        reviews.iter().filter_map(|review| part(review)).collect()
    };
    let scored = || scores.iter().filter(|score| score.estimate.is_some());
    Basis {
        scored: scored().count(),
        single_paper: scored().filter(|score| score.n_papers == 1).count(),
        two_papers: scored().filter(|score| score.n_papers == 2).count(),
        sources: set.sources.len(),
        papers: papers
            .iter()
            .zip(by_paper)
            .filter(|(paper, parts)| {
                paper.reviews.len() > 1 && parts.iter().any(|parts| parts.has_z)
            })
            .count(),
        reviews_without_z: reviews.iter().filter(|review| !review.has_z).count(),
        reviews_of_lone_z: reviews
            .iter()
            .filter(|review| review.has_z && review.away.is_none())
            .count(),
        median_peers: median(&values(|review| review.peers)),
        median_z: median(&values(|review| review.away.map(|away| -away))),
        no_spread: false,
    }
}

#[cfg(test)]
mod tests;
