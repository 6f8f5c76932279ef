//! Which other paper a review reads as written for: what to look at where it reads as off topic, and
//! how a review filed under the wrong paper shows.

use serde::Serialize;

use super::features::Comparison;
use super::space::LANES;
use crate::data::reviews::ReviewSet;

/// The other paper whose texts a review is closest to, in the first space.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elsewhere {
    /// Its number in the set.
    pub paper: u32,
    /// Mean cosine with its reviews by other people and its Z, in `[-1, 1]`.
    pub there: f64,
    /// The same with the texts of the paper it was handed in for; `None` without any.
    pub here: Option<f64>,
}

impl Elsewhere {
    /// By how much it is closer to the other paper, in `[-2, 2]`.
    pub fn lead(&self) -> f64 {
        self.there - self.here.unwrap_or(0.0)
    }
}

impl Comparison<'_> {
    /// Of each of up to [`LANES`] reviews the closest other paper of the venue, of equals the first
    /// by name; `None` where nobody else wrote about another paper.
    ///
    /// `reviewer_of` has a number for every review. Near-duplicates are included: a text taken from
    /// another paper is what is looked for.
    pub(super) fn elsewhere(
        &self,
        set: &ReviewSet,
        slots: &[usize],
        reviewer_of: &[usize],
    ) -> Vec<Option<Elsewhere>> {
        let (venue, space) = (&self.planted.venue, &self.spaces[0]);
        let first_z = venue.reviews.len();
        let block = space.block(slots);
        let mut closest: Vec<Option<Elsewhere>> = vec![None; slots.len()];
        let mut here: Vec<Option<f64>> = vec![None; slots.len()];
        for (position, paper) in venue.papers.iter().enumerate() {
            let (mut sums, mut counts) = ([0.0; LANES], [0_usize; LANES]);
            let reviews = paper.reviews.clone().filter(|&review| self.counts[review]);
            let reviews = reviews.map(|review| (review, Some(reviewer_of[review])));
            for (row, by) in reviews.chain(paper.z.clone().map(|z| (first_z + z, None))) {
                let cosines = space.cosines(row, &block);
                for (lane, &slot) in slots.iter().enumerate() {
                    if by != Some(reviewer_of[slot]) {
                        sums[lane] += cosines[lane];
                        counts[lane] += 1;
                    }
                }
            }
            // A paper of the venue has a review.
            let number = set.reviews[venue.reviews[paper.reviews.start]].paper;
            for (lane, &slot) in slots.iter().enumerate().filter(|&(lane, _)| counts[lane] > 0) {
                let there = sums[lane] / counts[lane] as f64;
                if venue.paper_of_review[slot] == position {
                    here[lane] = Some(there);
                } else if closest[lane].is_none_or(|closest| there > closest.there) {
                    closest[lane] = Some(Elsewhere { paper: number, there, here: None });
                }
            }
        }
        let both = closest.into_iter().zip(here);
        both.map(|(closest, here)| Some(Elsewhere { here, ..closest? })).collect()
    }
}
