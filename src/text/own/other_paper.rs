//! Which other paper a review reads as written for: what to look at where it reads as off topic, and
//! how a review filed under the wrong paper shows.

use rayon::prelude::*;
use serde::Serialize;

use super::features::Comparison;
use super::space::LANES;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;

/// A review may be about a paper that it is as close to as people's are to their own, but for one in so
/// many.
const LESS_CLOSE: usize = 10;

/// The other paper of the venue that a review is closest to.
///
/// A closeness is the mean, over what other people and the LLMs wrote on a paper, of the cosine with
/// the text less the mean cosine with all texts of its kind: of people, or of that LLM. So an LLM's
/// way of writing makes no paper that it wrote about look close. In the first space, in `[-2, 2]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OtherPaper {
    /// Its number in the set.
    pub paper: u32,
    /// The closeness to it.
    pub closeness: f64,
    /// That to the paper which the review was handed in for.
    pub closeness_here: f64,
    /// Whether the review is as close to it as nine of ten reviews by people who are clear are to
    /// their own papers; `None` if nobody is clear. A review of something else is closest to some
    /// paper, too.
    pub is_close: Option<bool>,
}

impl OtherPaper {
    /// By how much the review is closer to the other paper, in `[-4, 4]`.
    pub fn lead(&self) -> f64 {
        self.closeness - self.closeness_here
    }
}

/// Looks for the closest other papers.
pub(super) struct OtherPapers<'a> {
    comparison: &'a Comparison<'a>,
    set: &'a ReviewSet,
    /// A number for every review.
    reviewer_of: &'a [usize],
    /// The reviews of each reviewer that count.
    by_reviewer: Vec<Vec<usize>>,
}

impl<'a> OtherPapers<'a> {
    pub(super) fn new(
        comparison: &'a Comparison<'a>,
        set: &'a ReviewSet,
        reviewer_of: &'a [usize],
    ) -> Self {
        let mut by_reviewer = vec![Vec::new(); set.reviewers.len()];
        for (review, &reviewer) in reviewer_of.iter().enumerate() {
            if comparison.counts[review] {
                by_reviewer[reviewer].push(review);
            }
        }
        Self { comparison, set, reviewer_of, by_reviewer }
    }

    /// For each of `suspects` the closest other paper, of equals the first by name; `None` where
    /// nobody else wrote about another paper, or about this one. `clear` are reviews by people who
    /// are.
    ///
    /// Near-duplicates are included: a text taken from another paper is what is looked for. Takes a
    /// cosine with every text of the venue for each suspect.
    pub(super) fn closest(
        &self,
        suspects: &[usize],
        clear: &[usize],
        progress: &dyn Progress,
    ) -> Vec<Option<OtherPaper>> {
        if suspects.is_empty() {
            return Vec::new();
        }
        let mut usual: Vec<f64> = clear.par_iter().filter_map(|&slot| self.here(slot)).collect();
        usual.sort_by(f64::total_cmp);
        let level = usual.get(usual.len() / LESS_CLOSE);
        let block = |slots: &[usize]| {
            if progress.interrupted() {
                return vec![None; slots.len()];
            }
            self.of_block(slots)
        };
        let closest = suspects.par_chunks(LANES).flat_map_iter(block);
        let judged = closest.map(|closest| {
            let closest = closest?;
            let is_close = level.map(|level| closest.closeness >= *level);
            Some(OtherPaper { is_close, ..closest })
        });
        judged.collect()
    }

    /// The same for up to [`LANES`] reviews, without a level to be close.
    fn of_block(&self, slots: &[usize]) -> Vec<Option<OtherPaper>> {
        let Comparison { planted, spaces, .. } = self.comparison;
        let venue = &planted.venue;
        let block = spaces[0].block(slots);
        let means: Vec<Means> = slots.iter().map(|&slot| self.means(slot)).collect();
        let mut closest: Vec<Option<(u32, f64)>> = vec![None; slots.len()];
        let mut here: Vec<Option<f64>> = vec![None; slots.len()];
        for (position, paper) in venue.papers.iter().enumerate() {
            let (mut sums, mut counts) = ([0.0; LANES], [0_usize; LANES]);
            for (row, kind) in self.texts_on(position) {
                let cosines = spaces[0].cosines(row, &block);
                for (lane, &slot) in slots.iter().enumerate() {
                    if self.is_by_another(row, kind, slot) {
                        sums[lane] += cosines[lane] - means[lane].of(kind);
                        counts[lane] += 1;
                    }
                }
            }
            // A paper of the venue has a review.
            let number = self.set.reviews[venue.reviews[paper.reviews.start]].paper;
            for (lane, &slot) in slots.iter().enumerate().filter(|&(lane, _)| counts[lane] > 0) {
                let closeness = sums[lane] / counts[lane] as f64;
                if venue.paper_of_review[slot] == position {
                    here[lane] = Some(closeness);
                } else if closest[lane].is_none_or(|(_, most)| closeness > most) {
                    closest[lane] = Some((number, closeness));
                }
            }
        }
        let both = closest.into_iter().zip(here);
        both.map(|(closest, here)| {
            let ((paper, closeness), closeness_here) = (closest?, here?);
            Some(OtherPaper { paper, closeness, closeness_here, is_close: None })
        })
        .collect()
    }

    /// Closeness of a review to its own paper; `None` if nobody else wrote about it.
    fn here(&self, slot: usize) -> Option<f64> {
        let means = self.means(slot);
        let texts = self.texts_on(self.comparison.planted.venue.paper_of_review[slot]);
        let (mut sum, mut count) = (0.0, 0_usize);
        for (row, kind) in texts.filter(|&(row, kind)| self.is_by_another(row, kind, slot)) {
            sum += self.comparison.spaces[0].cosine(slot, row) - means.of(kind);
            count += 1;
        }
        (count > 0).then(|| sum / count as f64)
    }

    /// Rows of the texts on a paper, and what wrote them.
    fn texts_on(&self, paper: usize) -> impl Iterator<Item = (usize, Kind)> {
        let Comparison { planted, counts, source_of_z, .. } = self.comparison;
        let paper = &planted.venue.papers[paper];
        let first_z = planted.venue.reviews.len();
        let reviews = paper.reviews.clone().filter(|&review| counts[review]);
        let z = paper.z.clone().map(move |z| (first_z + z, Kind::Source(source_of_z[z])));
        reviews.map(|review| (review, Kind::People)).chain(z)
    }

    fn is_by_another(&self, row: usize, kind: Kind, slot: usize) -> bool {
        kind != Kind::People || self.reviewer_of[row] != self.reviewer_of[slot]
    }

    /// Mean cosines of a review with the texts of each kind by others.
    fn means(&self, slot: usize) -> Means {
        let Comparison { spaces, reviews, n_reviews, z, z_counts, .. } = self.comparison;
        let space = &spaces[0];
        let own = &self.by_reviewer[self.reviewer_of[slot]];
        let of_own: f64 = own.iter().map(|&other| space.cosine(slot, other)).sum();
        let by_others = n_reviews - own.len();
        let sums = z[0].iter().zip(z_counts);
        Means {
            people: (space.sum_of_cosines(slot, &reviews[0]) - of_own) / by_others.max(1) as f64,
            sources: sums
                .map(|(sum, count)| space.sum_of_cosines(slot, sum) / (*count).max(1) as f64)
                .collect(),
        }
    }
}

/// What wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    People,
    /// An LLM, by its number.
    Source(usize),
}

struct Means {
    people: f64,
    sources: Vec<f64>,
}

impl Means {
    fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::People => self.people,
            Kind::Source(source) => self.sources[source],
        }
    }
}
