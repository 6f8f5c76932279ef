//! Which other paper a review reads as written for: what to look at where it reads as off topic, and
//! how a review filed under the wrong paper shows.

use rayon::prelude::*;
use serde::Serialize;

use super::features::Comparison;
use super::space::{LANES, Placed, UnitBlock, UnitSum};
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;

/// A review may be about a paper that it is as close to as people's are to their own, the least close one
/// in so many left out.
const LESS_CLOSE: usize = 10;

/// The other paper of the venue that a review is closest to.
///
/// A closeness is the mean, over what other people and the LLMs wrote on a paper, of the cosine with
/// the text less the mean cosine with what the same kind, people or that LLM, wrote on other papers. So
/// an LLM's way of writing makes no paper that it wrote about look close. In the first space, in
/// `[-2, 2]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OtherPaper {
    /// Its number in the set.
    pub paper: u32,
    /// The closeness to it.
    pub(crate) closeness: f64,
    /// That to the paper which the review was handed in for.
    pub(crate) closeness_here: f64,
    /// Whether the review is closer to it than the least close tenth of the reviews that read as own work
    /// are to their own papers; `None` if none does. A review of something else is closest to some paper,
    /// too.
    pub is_close: Option<bool>,
}

impl OtherPaper {
    /// By how much the review is closer to the other paper, in `[-4, 4]`.
    pub(crate) fn lead(&self) -> f64 {
        self.closeness - self.closeness_here
    }

    /// Whether the review is about the other paper as far as can be told: closer to it than to its own, and not
    /// known to be farther than reviews are from their papers.
    pub(crate) fn is_closer(&self) -> bool {
        self.lead() > 0.0 && self.is_close != Some(false)
    }
}

/// Looks for the closest other papers.
pub(super) struct OtherPapers<'a> {
    comparison: &'a Comparison<'a>,
    /// A number for every review.
    reviewer_of: &'a [usize],
    /// The reviews of each reviewer that count.
    by_reviewer: Vec<Vec<usize>>,
    /// Sum of the reviews that count, then of the Z of each source, tasks left in.
    sums: Vec<UnitSum>,
}

impl<'a> OtherPapers<'a> {
    pub(super) fn new(
        comparison: &'a Comparison<'a>,
        set: &ReviewSet,
        reviewer_of: &'a [usize],
    ) -> Self {
        let mut by_reviewer = vec![Vec::new(); set.reviewers.len()];
        for (review, &reviewer) in reviewer_of.iter().enumerate() {
            if comparison.counts[review] {
                by_reviewer[reviewer].push(review);
            }
        }
        let first_z = reviewer_of.len();
        let kind = |row: usize| match row.checked_sub(first_z) {
            None => comparison.counts[row].then_some(PEOPLE),
            Some(z) => Some(1 + comparison.source_of_z[z]),
        };
        let rows: Vec<Placed> = (0..first_z + comparison.source_of_z.len())
            .map(|row| comparison.space.place(row, None))
            .collect();
        let of_kind = |wanted: usize| {
            let rows = rows.iter().enumerate().filter(|(row, _)| kind(*row) == Some(wanted));
            comparison.space.sum(rows.map(|(_, placed)| placed))
        };
        let sums = (0..=comparison.z_counts.len()).map(of_kind).collect();
        Self { comparison, reviewer_of, by_reviewer, sums }
    }

    /// For each of `suspects` the closest other paper, of equals the first by name; `None` where
    /// nobody else wrote about another paper, or about this one. `usual` are reviews that read as own
    /// work.
    ///
    /// Near-duplicates are included: a text taken from another paper is what is looked for. Takes a
    /// cosine with every text of the venue for each suspect.
    pub(super) fn closest(
        &self,
        suspects: &[usize],
        usual: &[usize],
        progress: &dyn Progress,
    ) -> Vec<Option<OtherPaper>> {
        let mut usual: Vec<f64> = usual.par_iter().filter_map(|&slot| self.here(slot)).collect();
        usual.sort_by(f64::total_cmp);
        let level = usual.get(usual.len() / LESS_CLOSE).copied();
        let block = |slots: &[usize]| {
            if progress.interrupted() {
                return vec![None; slots.len()];
            }
            self.of_block(slots, level)
        };
        suspects.par_chunks(LANES).flat_map_iter(block).collect()
    }

    /// The same for up to [`LANES`] reviews; `level` is the closeness from which on one is close.
    fn of_block(&self, slots: &[usize], level: Option<f64>) -> Vec<Option<OtherPaper>> {
        let Comparison { planted, space, .. } = self.comparison;
        let venue = &planted.venue;
        let mut block = UnitBlock::default();
        space.fill(&mut block, slots);
        let all: Vec<Vec<Sum>> = slots.iter().map(|&slot| self.sums(slot)).collect();
        let mut closest: Vec<Option<(u32, f64)>> = vec![None; slots.len()];
        let mut here: Vec<Option<f64>> = vec![None; slots.len()];
        let mut on_paper = vec![vec![Sum::default(); self.kinds()]; slots.len()];
        for (position, paper) in venue.papers.iter().enumerate() {
            for (row, kind) in self.texts_on(position) {
                let cosines = space.cosines(row, &block);
                for (lane, &slot) in slots.iter().enumerate() {
                    if self.is_by_another(row, kind, slot) {
                        on_paper[lane][kind].add(cosines[lane]);
                    }
                }
            }
            for (lane, &slot) in slots.iter().enumerate() {
                let found = closeness(&on_paper[lane], &all[lane]);
                on_paper[lane].fill(Sum::default());
                let Some(closeness) = found else { continue };
                if venue.paper_of_review[slot] == position {
                    here[lane] = Some(closeness);
                } else if closest[lane].is_none_or(|(_, most)| closeness > most) {
                    closest[lane] = Some((paper.number, closeness));
                }
            }
        }
        let both = closest.into_iter().zip(here);
        both.map(|(closest, here)| {
            let ((paper, closeness), closeness_here) = (closest?, here?);
            let is_close = level.map(|level| closeness >= level);
            Some(OtherPaper { paper, closeness, closeness_here, is_close })
        })
        .collect()
    }

    /// Closeness of a review to its own paper; `None` if nobody else wrote about it, or nobody about
    /// another.
    fn here(&self, slot: usize) -> Option<f64> {
        let mut on_paper = vec![Sum::default(); self.kinds()];
        for (row, kind) in self.texts_on(self.comparison.planted.venue.paper_of_review[slot]) {
            if self.is_by_another(row, kind, slot) {
                on_paper[kind].add(self.comparison.space.cosine(slot, row));
            }
        }
        closeness(&on_paper, &self.sums(slot))
    }

    /// How many kinds of texts there are: [`PEOPLE`], and every source of Z after them.
    fn kinds(&self) -> usize {
        1 + self.comparison.z_counts.len()
    }

    /// Rows of the texts on a paper, and their kinds.
    fn texts_on(&self, paper: usize) -> impl Iterator<Item = (usize, usize)> {
        let Comparison { planted, counts, source_of_z, .. } = self.comparison;
        let paper = &planted.venue.papers[paper];
        let first_z = planted.venue.reviews.len();
        let reviews = paper.reviews.clone().filter(|&review| counts[review]);
        let z = paper.z.clone().map(move |z| (first_z + z, 1 + source_of_z[z]));
        reviews.map(|review| (review, PEOPLE)).chain(z)
    }

    fn is_by_another(&self, row: usize, kind: usize, slot: usize) -> bool {
        kind != PEOPLE || self.reviewer_of[row] != self.reviewer_of[slot]
    }

    /// Cosines of a review with all texts by others, by kind.
    fn sums(&self, slot: usize) -> Vec<Sum> {
        let Comparison { space, n_reviews, z_counts, .. } = self.comparison;
        let own = &self.by_reviewer[self.reviewer_of[slot]];
        let of_own: f64 = own.iter().map(|&other| space.cosine(slot, other)).sum();
        let placed = space.place(slot, None);
        let sum = |kind: usize| space.sum_of_cosines(&placed, &self.sums[kind]);
        let people = Sum { cosines: sum(PEOPLE) - of_own, count: n_reviews - own.len() };
        let sources = z_counts.iter().enumerate();
        let sources = sources.map(|(source, &count)| Sum { cosines: sum(1 + source), count });
        std::iter::once(people).chain(sources).collect()
    }
}

/// The kind of what people wrote.
const PEOPLE: usize = 0;

/// Cosines of one review with some texts.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    cosines: f64,
    count: usize,
}

impl Sum {
    fn add(&mut self, cosine: f64) {
        self.cosines += cosine;
        self.count += 1;
    }
}

/// Mean over the texts on a paper of the cosine less that with the texts of its kind on other papers;
/// a kind that wrote about no other is left out. `None` without any.
fn closeness(on_paper: &[Sum], all: &[Sum]) -> Option<f64> {
    let mut sum = Sum::default();
    for (here, all) in on_paper.iter().zip(all).filter(|(here, _)| here.count > 0) {
        let others = all.count - here.count;
        if others > 0 {
            let elsewhere = (all.cosines - here.cosines) / others as f64;
            sum.cosines += here.cosines - here.count as f64 * elsewhere;
            sum.count += here.count;
        }
    }
    (sum.count > 0).then(|| sum.cosines / sum.count as f64)
}
