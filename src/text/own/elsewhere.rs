//! Which other paper a review reads as written for: what to look at where it reads as off topic, and
//! how a review filed under the wrong paper shows.

use serde::Serialize;

use super::features::Comparison;

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
    /// The closest other paper of the venue, by its position, of equals the first by name; `None`
    /// where nobody else wrote about another paper.
    ///
    /// `reviewer_of` has a number for every review. Near-duplicates are included: a text taken from
    /// another paper is what is looked for.
    pub(super) fn elsewhere(
        &self,
        slot: usize,
        reviewer_of: &[usize],
    ) -> Option<(usize, f64, Option<f64>)> {
        let (venue, space) = (&self.planted.venue, &self.spaces[0]);
        let first_z = venue.reviews.len();
        let text = space.sum(std::iter::once(slot));
        let with_paper = |paper: usize| {
            let paper = &venue.papers[paper];
            let reviews = paper
                .reviews
                .clone()
                .filter(|&other| reviewer_of[other] != reviewer_of[slot] && self.counts[other]);
            let rows = reviews.chain(paper.z.clone().map(|z| first_z + z));
            let (sum, count) = rows.fold((0.0, 0_usize), |(sum, count), row| {
                (sum + space.sum_of_cosines(row, &text), count + 1)
            });
            (count > 0).then(|| sum / count as f64)
        };
        let own = venue.paper_of_review[slot];
        let others = (0..venue.papers.len()).filter(|&paper| paper != own);
        let closest = others
            .filter_map(|paper| Some((paper, with_paper(paper)?)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        closest.map(|(paper, there)| (paper, there, with_paper(own)))
    }
}
