//! The coordinates of a text in a slot: how close it is to the peers' and to the LLM's texts of the
//! same paper, beyond what it shares with such texts of other papers.

use rayon::prelude::*;

use super::class::Class;
use super::ghosts::{Ghost, Planted};
use super::settings::{FEWEST_DOUBLE_PAPERS, NEAR_DUPLICATE};
use super::space::{UnitSpace, UnitSum};
use super::venue::VenuePaper;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;

/// Coordinates of one text: `peers` and `z` in each space.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Features {
    /// One value per space; `None` if nobody else's review can be compared.
    pub peers: Option<Vec<f64>>,
    /// One value per space; `None` without a Z to compare with.
    pub z: Option<Vec<f64>>,
}

/// A text on the same paper and its cosine in the first space.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Similar {
    /// Position in the reviews, or in the Z, of the set.
    pub index: usize,
    /// Cosine, in `[-1, 1]`.
    pub cosine: f64,
}

/// What is compared with what.
pub(super) struct Comparison<'a> {
    pub(super) planted: &'a Planted,
    pub(super) spaces: &'a [UnitSpace],
    /// Whether a review may be a peer: it is in the language of most.
    pub(super) counts: &'a [bool],
    /// Source of each Z by position in the venue.
    pub(super) source_of_z: Vec<usize>,
    /// Per space, the sum of the reviews that count.
    pub(super) reviews: Vec<UnitSum>,
    pub(super) n_reviews: usize,
    /// Per space and source, the sum of its Z.
    pub(super) z: Vec<Vec<UnitSum>>,
    pub(super) z_counts: Vec<usize>,
    /// Papers with two Z that differ.
    pub(super) double_papers: usize,
}

/// Which Z a text is compared with, and which are elsewhere.
#[derive(Debug, Clone, Copy)]
struct ZRule {
    /// Leave out this Z, its source, and what nearly equals it.
    without: Option<usize>,
    /// Leave the Z of this paper out of those of other papers: the text is one of them.
    not_of: Option<usize>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        set: &ReviewSet,
        planted: &'a Planted,
        spaces: &'a [UnitSpace],
        counts: &'a [bool],
    ) -> Self {
        let venue = &planted.venue;
        let n_sources = set.sources.len();
        let source_of_z: Vec<usize> =
            venue.z.iter().map(|&index| set.z[index].source as usize).collect();
        let mut z_counts = vec![0; n_sources];
        source_of_z.iter().for_each(|&source| z_counts[source] += 1);
        let first_z = venue.reviews.len();
        let counted = || (0..first_z).filter(|&review| counts[review]);
        let reviews = spaces.iter().map(|space| space.sum(counted())).collect();
        let of_source = |space: &UnitSpace, source: usize| {
            let z = (0..venue.z.len()).filter(|&z| source_of_z[z] == source);
            space.sum(z.map(|z| first_z + z))
        };
        let z = spaces
            .iter()
            .map(|space| (0..n_sources).map(|source| of_source(space, source)).collect())
            .collect();
        let n_reviews = counted().count();
        let differ =
            |a: usize, b: usize| spaces[0].cosine(first_z + a, first_z + b) <= NEAR_DUPLICATE;
        let double =
            |paper: &&VenuePaper| paper.z.clone().any(|a| (paper.z.start..a).any(|b| differ(a, b)));
        let double_papers = venue.papers.iter().filter(double).count();
        Self {
            planted,
            spaces,
            counts,
            source_of_z,
            reviews,
            n_reviews,
            z,
            z_counts,
            double_papers,
        }
    }

    /// Whether it has to be assumed how another LLM writes, because too few papers have two Z.
    pub(super) fn assumed_ratio(&self) -> bool {
        self.double_papers < FEWEST_DOUBLE_PAPERS
    }

    /// Features of all reviews.
    pub(super) fn of_reviews(&self, progress: &dyn Progress) -> Vec<Features> {
        let rule = ZRule { without: None, not_of: None };
        Self::each(0..self.planted.venue.reviews.len(), progress, |slot| Features {
            peers: self.peers(slot, slot),
            z: self.z(slot, slot, rule),
        })
    }

    /// Features of all ghosts.
    pub(super) fn of_ghosts(&self, progress: &dyn Progress) -> Vec<Features> {
        Self::each(0..self.planted.ghosts.len(), progress, |index| {
            self.of_ghost(&self.planted.ghosts[index])
        })
    }

    fn each(
        range: std::ops::Range<usize>,
        progress: &dyn Progress,
        of: impl Fn(usize) -> Features + Sync,
    ) -> Vec<Features> {
        let one = |index| {
            if progress.interrupted() {
                return Features::default();
            }
            let features = of(index);
            progress.advance(1);
            features
        };
        range.into_par_iter().map(one).collect()
    }

    fn of_ghost(&self, ghost: &Ghost) -> Features {
        let peers = self.peers(ghost.row, ghost.slot);
        let all = ZRule { without: None, not_of: None };
        let z = match ghost.class {
            Class::Llm if self.assumed_ratio() => {
                let copy = self.z(ghost.row, ghost.slot, all);
                copy.map(|values| values.into_iter().map(|value| value * ghost.ratio).collect())
            }
            Class::Llm => {
                let rule = ZRule { without: ghost.z, not_of: None };
                let Some(z) = self.z(ghost.row, ghost.slot, rule) else {
                    // No other Z of the paper: nothing shows what another LLM writes here.
                    return Features::default();
                };
                Some(z)
            }
            // Where no other source covers the slot: the same source, but not the text itself.
            Class::OffTopicLlm => self
                .z(ghost.row, ghost.slot, ZRule { without: ghost.z, not_of: None })
                .or_else(|| {
                    let not_of = Some(ghost.home);
                    self.z(ghost.row, ghost.slot, ZRule { without: None, not_of })
                }),
            _ => self.z(ghost.row, ghost.slot, all),
        };
        Features { peers, z }
    }

    /// The reviews that a text in a slot is compared with.
    fn peers_of(&self, row: usize, slot: usize) -> impl Iterator<Item = usize> {
        let paper = &self.planted.venue.papers[self.planted.venue.paper_of_review[slot]];
        paper.reviews.clone().filter(move |&other| {
            other != slot
                && self.counts[other]
                && self.spaces[0].cosine(row, other) <= NEAR_DUPLICATE
        })
    }

    fn peers(&self, row: usize, slot: usize) -> Option<Vec<f64>> {
        let venue = &self.planted.venue;
        let same = venue.papers[venue.paper_of_review[slot]].reviews.clone();
        let same: Vec<usize> = same.filter(|&review| self.counts[review]).collect();
        let elsewhere = self.n_reviews - same.len();
        // Before peers are looked for, which takes a cosine for each.
        if elsewhere == 0 {
            return None;
        }
        let peers: Vec<usize> = self.peers_of(row, slot).collect();
        if peers.is_empty() {
            return None;
        }
        let contrast = |(space, sum): (&UnitSpace, &UnitSum)| {
            let near = mean_cosine(space, row, &peers);
            let all = space.sum_of_cosines(row, sum);
            let here: f64 = same.iter().map(|&review| space.cosine(row, review)).sum();
            near - (all - here) / elsewhere as f64
        };
        Some(self.spaces.iter().zip(&self.reviews).map(contrast).collect())
    }

    fn z(&self, row: usize, slot: usize, rule: ZRule) -> Option<Vec<f64>> {
        let venue = &self.planted.venue;
        let first_z = venue.reviews.len();
        let used: Vec<usize> = venue.papers[venue.paper_of_review[slot]]
            .z
            .clone()
            .filter(|&z| {
                rule.without.is_none_or(|without| {
                    self.source_of_z[z] != self.source_of_z[without]
                        && self.spaces[0].cosine(first_z + z, first_z + without) <= NEAR_DUPLICATE
                })
            })
            .collect();
        let elsewhere = |z: usize| {
            let home = rule.not_of.and_then(|paper| self.z_of(paper, self.source_of_z[z]));
            (home, self.z_counts[self.source_of_z[z]] - 1 - usize::from(home.is_some()))
        };
        let used: Vec<usize> = used.into_iter().filter(|&z| elsewhere(z).1 > 0).collect();
        if used.is_empty() {
            return None;
        }
        let contrast = |(space, sums): (&UnitSpace, &Vec<UnitSum>)| {
            let of = |&z: &usize| {
                let here = space.cosine(row, first_z + z);
                let (home, count) = elsewhere(z);
                let home = home.map_or(0.0, |home| space.cosine(row, first_z + home));
                let all = space.sum_of_cosines(row, &sums[self.source_of_z[z]]);
                here - (all - here - home) / count as f64
            };
            used.iter().map(of).sum::<f64>() / used.len() as f64
        };
        Some(self.spaces.iter().zip(&self.z).map(contrast).collect())
    }

    /// The Z of a paper by a source.
    fn z_of(&self, paper: usize, source: usize) -> Option<usize> {
        self.planted.venue.papers[paper].z.clone().find(|&z| self.source_of_z[z] == source)
    }

    /// The most similar review and Z of the same paper, near-duplicates included.
    pub(super) fn most_similar(&self, slot: usize) -> (Option<Similar>, Option<Similar>) {
        let venue = &self.planted.venue;
        let paper = &venue.papers[venue.paper_of_review[slot]];
        let best = |rows: Vec<(usize, usize)>| {
            let similar = rows
                .into_iter()
                .map(|(row, index)| Similar { index, cosine: self.spaces[0].cosine(slot, row) });
            similar.reduce(|best, next| if next.cosine > best.cosine { next } else { best })
        };
        let reviews = paper.reviews.clone().filter(|&other| other != slot);
        let first_z = venue.reviews.len();
        (
            best(reviews.map(|other| (other, venue.reviews[other])).collect()),
            best(paper.z.clone().map(|z| (first_z + z, venue.z[z])).collect()),
        )
    }

    /// Median over the papers with several Z of the mean cosine of two of them, as a share of 1.
    pub(super) fn likeness_of_sources(&self) -> Option<f64> {
        let venue = &self.planted.venue;
        let first_z = venue.reviews.len();
        let of_paper = |paper: &VenuePaper| {
            let pairs = paper.z.clone().flat_map(|a| (paper.z.start..a).map(move |b| (a, b)));
            let cosines: Vec<f64> =
                pairs.map(|(a, b)| self.spaces[0].cosine(first_z + a, first_z + b)).collect();
            crate::stats::rank::mean(&cosines)
        };
        let values: Vec<f64> = venue.papers.iter().filter_map(of_paper).collect();
        crate::stats::rank::median(&values)
    }
}

fn mean_cosine(space: &UnitSpace, row: usize, others: &[usize]) -> f64 {
    others.iter().map(|&other| space.cosine(row, other)).sum::<f64>() / others.len() as f64
}
