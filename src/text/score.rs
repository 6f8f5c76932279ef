//! Scores of reviewers from the similarities of their reviews.
//!
//! The score of a reviewer is the mean, over all pairs of one of their reviews and another review
//! of the same paper, of the cosine similarity of the two
//!
//! - `projected`: after everything that the LLM's reviews of the paper say is removed
//!   (Zhang, Pang, Zhu, Liu, NeurIPS 2025, appendix F),
//! - `cosine`: as they are, a baseline that rewards what both took from an LLM,
//! - `negative`: minus the mean cosine with the LLM's reviews, a baseline that rewards any text
//!   that is unlike them, off-topic ones included.
//!
//! `combined`, in [`super::combined`], asks for two things at once; `own`, in [`super::own`], whether
//! it is the reviewer's own work.
//!
//! Pairs with a review of which nothing is left count as 0.

use rayon::prelude::*;

use super::pairs::{
    Paper, PeerSums, ZCombine, has_direction, plain_sums, projected_sums, z_similarities,
};
use super::space::Space;
use crate::data::reviews::ReviewSet;
use crate::stats::interval::{Estimate, sample_variance};

words! {
    /// A score of reviewers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ScoreName {
        /// Cosine with peers beyond the LLM.
        Projected = "projected",
        /// Cosine with peers.
        Cosine = "cosine",
        /// Minus cosine with the LLM.
        Negative = "negative",
        /// On the paper's topic and not what the LLM says, see `super::combined`.
        Combined = "combined",
        /// Log odds of the reviewer's own work, see `super::own`.
        Own = "own",
    }
}

impl ScoreName {
    /// Whether a value of 0 means "adds nothing", so that flags make sense.
    ///
    /// Only the projected similarity has such a point. Plain cosines are above 0 for everybody who
    /// writes about the same papers, copies of an LLM most of all; negative similarities are below
    /// 0 for everybody; and the combined score, the lower of two parts, is below 0 for most. Own work
    /// has flags of its own.
    pub(crate) fn has_zero(self) -> bool {
        self == Self::Projected
    }
}

/// The score of one reviewer and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReviewerScore {
    /// The score, in `[-1, 1]` but for [`ScoreName::Combined`] and
    /// [`ScoreName::Own`], with its standard error; `None` if no pair could be compared.
    pub estimate: Option<Estimate>,
    /// Papers with at least one comparison.
    pub(crate) n_papers: usize,
    /// Comparisons: with peers, or with Z for [`ScoreName::Negative`], or with both for
    /// [`ScoreName::Own`].
    pub(crate) n_pairs: usize,
    /// Those of them that count as 0 because nothing is left of one side.
    pub(crate) n_zero: usize,
}

/// The comparisons of one reviewer, paper by paper.
#[derive(Debug, Clone, Default)]
struct PaperSums {
    paper_means: Vec<f64>,
    sum: f64,
    pairs: usize,
    zero: usize,
}

impl PaperSums {
    fn add_paper(&mut self, values: impl Iterator<Item = Option<f64>>) {
        let (mut sum, mut pairs) = (0.0, 0_usize);
        for value in values {
            sum += value.unwrap_or(0.0);
            pairs += 1;
            self.zero += usize::from(value.is_none());
        }
        self.add_sum(sum, pairs, 0);
    }

    /// Adds a paper by the sum over its pairs, `zero` of which count as 0.
    fn add_sum(&mut self, sum: f64, pairs: usize, zero: usize) {
        self.zero += zero;
        if pairs > 0 {
            self.paper_means.push(sum / pairs as f64);
            self.sum += sum;
            self.pairs += pairs;
        }
    }

    /// Mean over pairs; standard error clustered by paper: `√(variance of paper means / papers)`.
    fn score(&self) -> ReviewerScore {
        let papers = self.paper_means.len();
        let estimate = (self.pairs > 0).then(|| Estimate {
            value: self.sum / self.pairs as f64,
            standard_error: sample_variance(&self.paper_means)
                .map(|variance| (variance / papers as f64).sqrt()),
            degrees_of_freedom: papers as f64 - 1.0,
        });
        ReviewerScore { estimate, n_papers: papers, n_pairs: self.pairs, n_zero: self.zero }
    }
}

/// Plain cosine with peers, one entry per reviewer.
pub fn cosine_scores(set: &ReviewSet, papers: &[Paper], space: &Space) -> Vec<ReviewerScore> {
    let sums: Vec<Option<PeerSums>> =
        papers.par_iter().map(|paper| Some(plain_sums(space, paper))).collect();
    scores_of_sums(set, papers, &sums)
}

/// Cosine with peers beyond Z, one entry per reviewer; papers without a usable Z are left out.
///
/// With [`ZCombine::Min`] every source of Z gives a score on the papers it covers, and a reviewer
/// keeps the lowest, with its own counts.
pub fn projected_scores(
    set: &ReviewSet,
    papers: &[Paper],
    space: &Space,
    combine: ZCombine,
) -> Vec<ReviewerScore> {
    let score_with = |keep: &(dyn Fn(u32) -> bool + Sync)| {
        let sums: Vec<Option<PeerSums>> = papers
            .par_iter()
            .map(|paper| {
                let z: Vec<usize> =
                    paper.z.iter().copied().filter(|&z| keep(set.z[z].source)).collect();
                projected_sums(space, paper, &z, combine == ZCombine::Mean)
            })
            .collect();
        scores_of_sums(set, papers, &sums)
    };
    if combine != ZCombine::Min || set.sources.is_empty() {
        return score_with(&|_| true);
    }
    let sources = 0..u32::try_from(set.sources.len()).unwrap_or(u32::MAX);
    let mut lowest: Option<Vec<ReviewerScore>> = None;
    for source in sources {
        let scores = score_with(&|other| other == source);
        lowest = Some(match lowest {
            None => scores,
            Some(lowest) => lowest.into_iter().zip(scores).map(|(a, b)| lower(a, b)).collect(),
        });
    }
    lowest.unwrap_or_default()
}

/// The score with the lower value; one that is defined before one that is not.
fn lower(a: ReviewerScore, b: ReviewerScore) -> ReviewerScore {
    match (a.estimate, b.estimate) {
        (Some(first), Some(second)) if second.value < first.value => b,
        (None, Some(_)) => b,
        _ => a,
    }
}

/// Minus the mean cosine with the Z of each paper, one entry per reviewer.
pub fn negative_scores(set: &ReviewSet, papers: &[Paper], space: &Space) -> Vec<ReviewerScore> {
    let tables: Vec<Vec<Vec<f64>>> =
        papers.par_iter().map(|paper| z_similarities(space, paper)).collect();
    let mut evidence = vec![PaperSums::default(); set.reviewers.len()];
    for (paper, table) in papers.iter().zip(&tables) {
        let usable: Vec<bool> =
            paper.z.iter().map(|z| !space.is_zero(space.first_z() + z)).collect();
        for (&review, similarities) in paper.reviews.iter().zip(table) {
            let reviewer = set.reviews[review].reviewer as usize;
            let zero = space.is_zero(review);
            let values = similarities.iter().zip(&usable).filter(|(_, usable)| **usable);
            evidence[reviewer].add_paper(values.map(|(value, _)| (!zero).then_some(-value)));
        }
    }
    evidence.iter().map(PaperSums::score).collect()
}

fn scores_of_sums(
    set: &ReviewSet,
    papers: &[Paper],
    sums: &[Option<PeerSums>],
) -> Vec<ReviewerScore> {
    let mut evidence = vec![PaperSums::default(); set.reviewers.len()];
    for (paper, sums) in papers.iter().zip(sums) {
        let Some(sums) = sums else { continue };
        for (position, &review) in paper.reviews.iter().enumerate() {
            let reviewer = set.reviews[review].reviewer as usize;
            let (peers, zero) = (sums.size() - 1, sums.zero(position));
            evidence[reviewer].add_sum(sums.sum(position), peers, zero);
        }
    }
    evidence.iter().map(PaperSums::score).collect()
}

/// How many papers have Z and are still left out of [`projected_scores`], since their Z have no
/// direction: each is zero, or equals the center, or their mean does.
pub(crate) fn papers_without_direction(
    papers: &[Paper],
    space: &Space,
    combine: ZCombine,
) -> usize {
    let mean = combine == ZCombine::Mean;
    papers
        .par_iter()
        .filter(|paper| !paper.z.is_empty() && !has_direction(space, paper, mean))
        .count()
}

/// How many Z vectors have no direction, and how many reviews.
pub(crate) fn zero_counts(set: &ReviewSet, space: &Space) -> (usize, usize) {
    let count = |rows: std::ops::Range<usize>| rows.filter(|&row| space.is_zero(row)).count();
    let first_z = space.first_z();
    (count(first_z..first_z + set.z.len()), count(0..first_z))
}

#[cfg(test)]
mod tests;
