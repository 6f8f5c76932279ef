//! The coordinates of a text in a slot: how close it is to the peers' and to the LLM's texts of the
//! same paper, beyond what it shares with such texts of other papers.

use rayon::prelude::*;

use super::ghosts::{Ghost, Planted};
use super::settings::{FEWEST_DOUBLE_PAPERS, NEAR_DUPLICATE};
use super::space::{LANES, Placed, UnitBlock, UnitSpace, UnitSum, of_one_task};
use super::venue::VenuePaper;
use crate::data::progress::Progress;
use crate::data::reviews::ReviewSet;
use crate::embed::word_pairs::{PairWeights, WordPairs};
use crate::stats::similarity::{sparse_along, sparse_dot};

/// z of another text of the same LLM, as a share of that of the whole Z in its own place, where the venue has one Z: mean
/// and standard deviation; then how much of that another company's comes to. By words (GPT-4o's held and Claude's handed
/// in: .61, .53 and .64 of reviews, .57 of answers), and by words and pairs (first half of reviews-iclr24).
const ASSUMED: [([f64; 2], f64); 2] = [([0.45, 0.12], 0.6), ([0.32, 0.09], 0.5)];

/// Coordinates of one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub(crate) struct Features {
    /// `None` if nobody else's review can be compared.
    pub peers: Option<f64>,
    /// `None` without a Z to compare with.
    pub z: Option<f64>,
}

impl Features {
    /// Of `peers` and `z`, NaN where there is none.
    pub(super) fn of(point: [f64; 2]) -> Self {
        let [peers, z] = point.map(|value| (!value.is_nan()).then_some(value));
        Self { peers, z }
    }
}

/// A text on the same paper and its cosine.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Similar {
    /// Position in the reviews, or in the Z, of the set.
    pub index: usize,
    /// Cosine, in `[-1, 1]`.
    pub cosine: f64,
}

/// A text in a slot before it is said who of the peers is believed.
#[derive(Debug, Clone, Default)]
pub(super) struct Stand {
    /// Reviews of the paper and their cosines.
    near: Vec<(u32, f64)>,
    /// Mean cosine with the reviews of other papers.
    elsewhere: f64,
    /// Over all Z of the paper, and over those that the text is none of.
    pub(super) z: Option<f64>,
    pub(super) z_of_others: Option<f64>,
    /// Closeness to the task's text.
    pub(super) task: Option<f64>,
}

impl Stand {
    /// Closeness to the peers of a review in whose place it is, each weighted by how far they are
    /// believed; `None` if less than half a peer is. What nearly equals the review vouches for no text
    /// in its place either.
    pub(super) fn peers(&self, review: &Self, believed: &[f64]) -> Option<f64> {
        let is_peer = |other: u32| review.near.binary_search_by_key(&other, |near| near.0).is_ok();
        let others = self.near.iter().filter(|(other, _)| is_peer(*other));
        let (weight, sum) = others.fold((0.0, 0.0), |(weight, sum), &(other, cosine)| {
            let belief = believed[other as usize];
            (weight + belief, sum + belief * cosine)
        });
        (weight >= 0.5).then(|| sum / weight - self.elsewhere)
    }
}

/// The most similar review and Z.
pub(super) type MostSimilar = (Option<Similar>, Option<Similar>);

/// Where texts stand, in the order of the venue.
#[derive(Default)]
pub(super) struct Stands {
    pub(super) reviews: Vec<Stand>,
    pub(super) most_similar: Vec<MostSimilar>,
    /// Every Z as a review of the paper.
    pub(super) z: Vec<Stand>,
    /// By slot, one per Z.
    pub(super) copies: Vec<Vec<Stand>>,
    /// The ghosts that are about another paper.
    pub(super) others: Vec<Stand>,
}

/// What is compared with what.
pub(super) struct Comparison<'a> {
    pub(super) planted: &'a Planted,
    pub(super) space: &'a UnitSpace,
    /// Whether a review may be a peer: it is in the language of most, and no copy of a Z.
    pub(super) counts: &'a [bool],
    /// Source of each Z by position in the venue.
    pub(super) source_of_z: Vec<usize>,
    pub(super) n_reviews: usize,
    /// Z of each source.
    pub(super) z_counts: Vec<usize>,
    /// Papers with two Z that differ.
    pub(super) double_papers: usize,
    reviews: Vec<Placed>,
    z: Vec<Placed>,
    sum_of_reviews: UnitSum,
    /// By source; `None` of one with a single Z.
    sums_of_z: Vec<Option<UnitSum>>,
    /// Pairs of words, where they count, and their sums by source; empty of one with a single Z.
    pairs: Option<(&'a WordPairs, Vec<Vec<f64>>)>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        set: &ReviewSet,
        planted: &'a Planted,
        space: &'a UnitSpace,
        pairs: Option<&'a WordPairs>,
        counts: &'a [bool],
    ) -> Self {
        let venue = &planted.venue;
        let first_z = venue.reviews.len();
        let source_of_z: Vec<usize> =
            venue.z.iter().map(|&index| set.z[index].source as usize).collect();
        let mut z_counts = vec![0; set.sources.len()];
        source_of_z.iter().for_each(|&source| z_counts[source] += 1);
        let place = |row: usize, paper: usize| space.place(row, planted.tasks[paper]);
        let papers = venue.paper_of_review.iter().enumerate();
        let reviews: Vec<Placed> = papers.map(|(row, &paper)| place(row, paper)).collect();
        let papers = venue.paper_of_z.iter().enumerate();
        let z: Vec<Placed> = papers.map(|(z, &paper)| place(first_z + z, paper)).collect();
        let counted = || reviews.iter().zip(counts).filter(|(_, counts)| **counts);
        let sum_of_reviews = space.sum(counted().map(|(placed, _)| placed));
        // A Z that is alone of its source is compared with no other, and sums are large.
        let of_source = |source: usize| {
            let of = z.iter().zip(&source_of_z).filter(|(_, of)| **of == source);
            (z_counts[source] > 1).then(|| space.sum(of.map(|(placed, _)| placed)))
        };
        let sums_of_z = (0..set.sources.len()).map(of_source).collect();
        let sum_of_pairs = |pairs: &WordPairs, source: usize| {
            let of = (0..z.len()).filter(|&z| source_of_z[z] == source);
            if z_counts[source] > 1 { pairs.sum(of.map(|z| first_z + z)) } else { Vec::new() }
        };
        let pairs = pairs.map(|pairs| {
            let sources = (0..z_counts.len()).into_par_iter();
            (pairs, sources.map(|source| sum_of_pairs(pairs, source)).collect())
        });
        let n_reviews = counted().count();
        let differ = |a: usize, b: usize| space.placed_cosine(&z[a], &z[b]) <= NEAR_DUPLICATE;
        let double =
            |paper: &&VenuePaper| paper.z.clone().any(|a| (paper.z.start..a).any(|b| differ(a, b)));
        let double_papers = venue.papers.iter().filter(double).count();
        Self {
            planted,
            space,
            counts,
            source_of_z,
            n_reviews,
            z_counts,
            double_papers,
            reviews,
            z,
            sum_of_reviews,
            sums_of_z,
            pairs,
        }
    }

    /// What is assumed of an unknown LLM here, see [`ASSUMED`].
    pub(super) fn assumed(&self) -> ([f64; 2], f64) {
        ASSUMED[usize::from(self.pairs.is_some())]
    }

    /// Whether it has to be assumed how another LLM writes, because too few papers have two Z.
    pub(super) fn assumed_ratio(&self) -> bool {
        self.double_papers < FEWEST_DOUBLE_PAPERS
    }

    /// Where all texts stand.
    pub(super) fn stands(&self, progress: &dyn Progress) -> Stands {
        let papers = self.planted.venue.papers.par_iter().enumerate();
        let of = |block: &mut UnitBlock, (number, paper): (usize, &VenuePaper)| {
            if progress.interrupted() {
                return Stands::default();
            }
            let found = self.on_paper(number, paper, block);
            progress.advance((2 * paper.reviews.len() + paper.z.len()) as u64);
            found
        };
        let mut all = Stands { others: self.of_others(progress), ..Stands::default() };
        for of in papers.map_init(UnitBlock::default, of).collect::<Vec<_>>() {
            all.reviews.extend(of.reviews);
            all.most_similar.extend(of.most_similar);
            all.z.extend(of.z);
            all.copies.extend(of.copies);
        }
        all
    }

    fn on_paper(&self, number: usize, paper: &VenuePaper, block: &mut UnitBlock) -> Stands {
        let texts = self.texts_on(paper);
        let is_few = texts.len() <= LANES;
        if is_few {
            let rows: Vec<usize> = texts.iter().map(|placed| placed.row).collect();
            self.space.fill(block, &rows);
        }
        let near = |placed: &Placed| {
            if !is_few {
                return self.near(placed, &texts);
            }
            let cosines = texts.iter().zip(self.space.cosines(placed.row, block));
            cosines.map(|(other, cosine)| of_one_task(cosine, placed, other)).collect()
        };
        let z_pairs = self.pairs_of_z(paper);
        let stand = |near: &[f64], placed: &Placed, slot: Option<usize>, is: Option<usize>| {
            self.stand(near, placed, number, slot, is, &z_pairs)
        };
        let of_review = |slot: usize| {
            let placed = &self.reviews[slot];
            let near = near(placed);
            let most_similar = self.most_similar(&near, paper, slot);
            (stand(&near, placed, Some(slot), None), most_similar)
        };
        let of_z = |z: usize| stand(&near(&self.z[z]), &self.z[z], None, Some(z));
        let of_copies = |slot: usize| {
            let of = |(z, &row): (usize, &usize)| {
                let placed = self.space.place(row, self.planted.tasks[number]);
                stand(&near(&placed), &placed, Some(slot), Some(z))
            };
            paper.z.clone().zip(&self.planted.copies[slot]).map(of).collect()
        };
        // A large paper on all threads.
        let slots = || paper.reviews.clone().into_par_iter().with_min_len(LANES);
        let (reviews, most_similar) = slots().map(of_review).unzip();
        let z = paper.z.clone().into_par_iter().with_min_len(LANES).map(of_z).collect();
        let copies = slots().map(of_copies).collect();
        Stands { reviews, most_similar, z, copies, others: Vec::new() }
    }

    /// Where the ghosts that are about another paper stand.
    fn of_others(&self, progress: &dyn Progress) -> Vec<Stand> {
        let of = |ghost: &Ghost| {
            if progress.interrupted() {
                return Stand::default();
            }
            let paper = self.planted.venue.paper_of_review[ghost.slot];
            let placed = self.space.place(ghost.row, self.planted.tasks[paper]);
            let near = self.near(&placed, &self.texts_on(&self.planted.venue.papers[paper]));
            let z_pairs = self.pairs_of_z(&self.planted.venue.papers[paper]);
            let mut stand = self.stand(&near, &placed, paper, Some(ghost.slot), ghost.z, &z_pairs);
            if ghost.z.is_some() && stand.z_of_others.is_some() {
                stand.z = stand.z_of_others;
            }
            progress.advance(1);
            stand
        };
        self.planted.others.par_iter().map(of).collect()
    }

    /// The reviews of a paper, then its Z.
    fn texts_on(&self, paper: &VenuePaper) -> Vec<&Placed> {
        self.reviews[paper.reviews.clone()].iter().chain(&self.z[paper.z.clone()]).collect()
    }

    /// The pairs of words of the Z of a paper, where they count.
    fn pairs_of_z(&self, paper: &VenuePaper) -> Vec<PairWeights> {
        let Some((pairs, _)) = &self.pairs else { return Vec::new() };
        paper.z.clone().map(|z| pairs.row(self.reviews.len() + z)).collect()
    }

    /// Cosines of a text with others.
    fn near(&self, placed: &Placed, texts: &[&Placed]) -> Vec<f64> {
        texts.iter().map(|other| self.space.placed_cosine(placed, other)).collect()
    }

    /// A text in a slot of a paper, `near` its cosines with the texts on the paper; `is` says which Z it is,
    /// if it is one. `z_pairs` are the pairs of the Z of the paper.
    fn stand(
        &self,
        near: &[f64],
        placed: &Placed,
        paper: usize,
        slot: Option<usize>,
        is: Option<usize>,
        z_pairs: &[PairWeights],
    ) -> Stand {
        let paper = &self.planted.venue.papers[paper];
        let (near_reviews, near_z) = near.split_at(paper.reviews.len());
        let cosines: Vec<(usize, f64)> = (paper.reviews.clone().zip(near_reviews.iter().copied()))
            .filter(|(other, _)| self.counts[*other])
            .collect();
        let elsewhere = self.n_reviews - cosines.len();
        let mut stand = Stand { task: placed.task_cosine(), ..Stand::default() };
        if elsewhere > 0 {
            let all = self.space.sum_of_cosines(placed, &self.sum_of_reviews);
            let here: f64 = cosines.iter().map(|(_, cosine)| cosine).sum();
            stand.elsewhere = (all - here) / elsewhere as f64;
            let near = cosines.into_iter();
            let near = near.filter(|&(o, cosine)| Some(o) != slot && cosine <= NEAR_DUPLICATE);
            stand.near = near
                .filter_map(|(other, cosine)| Some((u32::try_from(other).ok()?, cosine)))
                .collect();
        }
        let to_z = |z: usize| {
            let of_paper = paper.z.contains(&z).then(|| near_z[z - paper.z.start]);
            of_paper.unwrap_or_else(|| self.space.placed_cosine(placed, &self.z[z]))
        };
        let pairs = self.pairs.as_ref().map(|(pairs, sums)| (pairs, sums, pairs.row(placed.row)));
        let contrast = |z: usize| {
            let source = self.source_of_z[z];
            let all = self.space.sum_of_cosines(placed, self.sums_of_z[source].as_ref()?);
            let by_words = self.contrast(z, is, &to_z, all)?;
            let Some((pairs, sums, text)) = &pairs else { return Some(by_words) };
            let to_z = |z: usize| {
                let of_paper = z.checked_sub(paper.z.start).and_then(|at| z_pairs.get(at));
                let cosine = |z: &PairWeights| sparse_dot(text, z);
                of_paper.map_or_else(|| cosine(&pairs.row(self.reviews.len() + z)), cosine)
            };
            let by_pairs = self.contrast(z, is, &to_z, sparse_along(text, &sums[source]))?;
            Some((by_words + by_pairs) / 2.0)
        };
        let contrasts: Vec<(usize, f64)> =
            paper.z.clone().filter_map(|z| Some((z, contrast(z)?))).collect();
        let mean = |values: Vec<f64>| crate::stats::rank::mean(&values);
        stand.z = mean(contrasts.iter().map(|(_, contrast)| *contrast).collect());
        let other = |z: usize| {
            is.is_none_or(|is| {
                self.source_of_z[z] != self.source_of_z[is]
                    && self.space.placed_cosine(&self.z[z], &self.z[is]) <= NEAR_DUPLICATE
            })
        };
        let of_others = contrasts.iter().filter(|(z, _)| other(*z)).map(|(_, contrast)| *contrast);
        stand.z_of_others = mean(of_others.collect());
        stand
    }

    /// Cosine with a Z less the mean with the Z of that source on other papers, but for the one that the
    /// text is itself; `None` if there is no other. `all` is the sum of the cosines with all of the source.
    fn contrast(
        &self,
        z: usize,
        is: Option<usize>,
        to_z: &impl Fn(usize) -> f64,
        all: f64,
    ) -> Option<f64> {
        let source = self.source_of_z[z];
        let itself = is.filter(|&is| is != z && self.source_of_z[is] == source);
        let left = self.z_counts[source] - 1 - usize::from(itself.is_some());
        let here = to_z(z);
        let itself = itself.map_or(0.0, to_z);
        (left > 0).then(|| here - (all - here - itself) / left as f64)
    }

    /// The most similar review and Z of the same paper, near-duplicates included.
    fn most_similar(&self, near: &[f64], paper: &VenuePaper, slot: usize) -> MostSimilar {
        let venue = &self.planted.venue;
        let (reviews, z) = near.split_at(paper.reviews.len());
        let best = |all: &mut dyn Iterator<Item = Similar>| {
            all.reduce(|best, next| if next.cosine > best.cosine { next } else { best })
        };
        let similar = |index: usize, &cosine: &f64| Similar { index, cosine };
        let reviews = paper.reviews.clone().zip(reviews).filter(|(other, _)| *other != slot);
        let z = paper.z.clone().zip(z);
        (
            best(&mut reviews.map(|(other, cosine)| similar(venue.reviews[other], cosine))),
            best(&mut z.map(|(z, cosine)| similar(venue.z[z], cosine))),
        )
    }

    /// Median over the papers with several Z of the mean cosine of two of them, as a share of 1.
    pub(super) fn likeness_of_sources(&self) -> Option<f64> {
        let of_paper = |paper: &VenuePaper| {
            let pairs = paper.z.clone().flat_map(|a| (paper.z.start..a).map(move |b| (a, b)));
            let cosines: Vec<f64> =
                pairs.map(|(a, b)| self.space.placed_cosine(&self.z[a], &self.z[b])).collect();
            crate::stats::rank::mean(&cosines)
        };
        let values: Vec<f64> = self.planted.venue.papers.iter().filter_map(of_paper).collect();
        crate::stats::rank::median(&values)
    }
}
