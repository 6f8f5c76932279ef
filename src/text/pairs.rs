//! Similarities inside one paper: every pair of reviews, before and after projection, and every
//! review with every Z.

use super::projection::Complement;
use super::space::Space;
use crate::data::reviews::ReviewSet;
use crate::stats::similarity::{ZERO_RESIDUAL, dot, norm, unit, unit_cosine};

/// Which rows of a [`Space`] belong to each paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// Positions in [`ReviewSet::reviews`], equal to the rows of the space.
    pub reviews: Vec<usize>,
    /// Positions in [`ReviewSet::z`]; the row in the space is this plus the number of reviews.
    pub z: Vec<usize>,
}

/// The papers of a set, by number.
pub fn papers_of(set: &ReviewSet) -> Vec<Paper> {
    let mut papers = vec![Paper { reviews: Vec::new(), z: Vec::new() }; set.papers.len()];
    for (index, review) in set.reviews.iter().enumerate() {
        papers[review.paper as usize].reviews.push(index);
    }
    for (index, z) in set.z.iter().enumerate() {
        papers[z.paper as usize].z.push(index);
    }
    papers
}

/// How several Z of one paper are used together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ZCombine {
    /// Remove everything that any of them says.
    #[default]
    Span,
    /// Score with each source alone and keep the lowest.
    Min,
    /// Remove their mean direction.
    Mean,
}

/// A symmetric table of similarities between the reviews of one paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairTable {
    size: usize,
    /// Cosine of reviews `a < b`, `None` where one of the two has nothing left.
    values: Vec<Option<f64>>,
}

impl PairTable {
    fn new(units: &[Option<Vec<f64>>]) -> Self {
        let size = units.len();
        let mut values = Vec::with_capacity(size * size.saturating_sub(1) / 2);
        for b in 1..size {
            for a in 0..b {
                values.push(match (&units[a], &units[b]) {
                    (Some(a), Some(b)) => Some(unit_cosine(Some(a), Some(b))),
                    _ => None,
                });
            }
        }
        Self { size, values }
    }

    /// Similarity of two different reviews in `[-1, 1]`; `None` if one of them has nothing left,
    /// which counts as 0 in scores.
    ///
    /// # Panics
    ///
    /// If `a == b` or one is no review.
    pub(crate) fn get(&self, a: usize, b: usize) -> Option<f64> {
        assert_ne!(a, b, "a review is not its own peer");
        let (a, b) = (a.min(b), a.max(b));
        self.values[b * (b - 1) / 2 + a]
    }
}

/// From this many reviews on the cosines of a paper are summed through the sum of its unit vectors.
const MANY_REVIEWS: usize = 2048;

/// What every review of one paper shares with all its peers together: the sums of the rows of a
/// [`PairTable`], without its memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PeerSums {
    sums: Vec<f64>,
    /// Peers that count as 0 because one of the two has nothing left.
    zero: Vec<usize>,
}

impl PeerSums {
    fn new(units: &[Option<Vec<f64>>]) -> Self {
        let left = units.iter().flatten().count();
        let gone = units.len() - left;
        let zero = units.iter().map(|unit| match unit {
            Some(_) => gone,
            None => units.len() - 1,
        });
        let zero = zero.collect();
        let sums = if units.len() < MANY_REVIEWS { by_pair(units) } else { by_sum(units) };
        Self { sums, zero }
    }

    /// Number of reviews.
    pub(crate) fn size(&self) -> usize {
        self.sums.len()
    }

    /// The sum of the cosines of a review with all its peers.
    ///
    /// # Panics
    ///
    /// If there is no such review.
    pub(crate) fn sum(&self, review: usize) -> f64 {
        self.sums[review]
    }

    /// How many of these cosines count as 0 because one side has nothing left.
    ///
    /// # Panics
    ///
    /// If there is no such review.
    pub(crate) fn zero(&self, review: usize) -> usize {
        self.zero[review]
    }
}

/// Pair after pair; the peers of every review are added in their order.
fn by_pair(units: &[Option<Vec<f64>>]) -> Vec<f64> {
    let mut sums = vec![0.0; units.len()];
    for (b, of_b) in units.iter().enumerate() {
        for (a, of_a) in units[..b].iter().enumerate() {
            let cosine = unit_cosine(of_a.as_deref(), of_b.as_deref());
            sums[a] += cosine;
            sums[b] += cosine;
        }
    }
    sums
}

/// `u · Σ u' - u · u`, equal but for rounding, in time linear in the number of reviews.
fn by_sum(units: &[Option<Vec<f64>>]) -> Vec<f64> {
    let dims = units.iter().flatten().map(Vec::len).next().unwrap_or(0);
    let mut all = vec![0.0; dims];
    for unit in units.iter().flatten() {
        all.iter_mut().zip(unit).for_each(|(sum, value)| *sum += value);
    }
    let of_unit = |unit: &Vec<f64>| dot(unit, &all) - dot(unit, unit);
    units.iter().map(|unit| unit.as_ref().map_or(0.0, of_unit)).collect()
}

/// Cosines of the reviews of `paper` as they are.
pub(crate) fn plain_pairs(space: &Space, paper: &Paper) -> PairTable {
    PairTable::new(&plain_units(space, paper))
}

/// The sums of [`plain_pairs`] over the peers of every review.
pub(crate) fn plain_sums(space: &Space, paper: &Paper) -> PeerSums {
    PeerSums::new(&plain_units(space, paper))
}

fn plain_units(space: &Space, paper: &Paper) -> Vec<Option<Vec<f64>>> {
    space.block(&paper.reviews).iter().map(|review| unit(review)).collect()
}

/// The sums of [`projected_pairs`] over the peers of every review; `None` as there.
pub(crate) fn projected_sums(
    space: &Space,
    paper: &Paper,
    z: &[usize],
    mean_of_z: bool,
) -> Option<PeerSums> {
    Some(PeerSums::new(&projected_units(space, paper, z, mean_of_z)?))
}

/// Cosines of what is left of the reviews of `paper` beyond the Z at `z`, positions in
/// [`ReviewSet::z`].
///
/// `None` if no Z has a direction: then there is nothing to condition on.
pub(crate) fn projected_pairs(
    space: &Space,
    paper: &Paper,
    z: &[usize],
    mean_of_z: bool,
) -> Option<PairTable> {
    Some(PairTable::new(&projected_units(space, paper, z, mean_of_z)?))
}

/// What is left of every review of the paper, at length 1; `None` where nothing is.
fn projected_units(
    space: &Space,
    paper: &Paper,
    z: &[usize],
    mean_of_z: bool,
) -> Option<Vec<Option<Vec<f64>>>> {
    let rows: Vec<usize> =
        paper.reviews.iter().copied().chain(z.iter().map(|z| space.first_z() + z)).collect();
    let block = space.block(&rows);
    let (reviews, z) = block.split_at(paper.reviews.len());
    let complement = complement(space, &rows[reviews.len()..], z, mean_of_z);
    if complement.rank() == 0 {
        return None;
    }
    Some(reviews.iter().map(|review| complement.unit_residual(review)).collect())
}

/// Whether the Z of `paper` have a direction to remove.
pub(crate) fn has_direction(space: &Space, paper: &Paper, mean_of_z: bool) -> bool {
    let rows: Vec<usize> = paper.z.iter().map(|z| space.first_z() + z).collect();
    complement(space, &rows, &space.block(&rows), mean_of_z).rank() > 0
}

/// What is left of the space without the Z of a paper, whose vectors stand in `rows`.
fn complement(space: &Space, rows: &[usize], z: &[Vec<f64>], mean_of_z: bool) -> Complement {
    let dims = z.first().map_or(0, Vec::len);
    // A Z that is zero, or the center itself but for rounding, carries no direction.
    let z: Vec<&[f64]> = z
        .iter()
        .zip(rows)
        .filter(|(vector, row)| norm(vector) > ZERO_RESIDUAL * space.plain_norm(**row))
        .map(|(vector, _)| vector.as_slice())
        .collect();
    let mean;
    let removed: Vec<&[f64]> = if mean_of_z && !z.is_empty() {
        mean = mean_of_units(&z);
        vec![&mean]
    } else {
        z
    };
    Complement::new(dims, &removed)
}

fn mean_of_units(z: &[&[f64]]) -> Vec<f64> {
    let mut mean = vec![0.0; z[0].len()];
    for z in z.iter().filter_map(|z| unit(z)) {
        mean.iter_mut().zip(&z).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|value| *value /= z.len() as f64);
    mean
}

/// Cosine of every review of `paper` with every Z of it, as they are: one row per review, in the
/// order of `paper.z`; 0 where one has no direction.
pub(crate) fn z_similarities(space: &Space, paper: &Paper) -> Vec<Vec<f64>> {
    let rows: Vec<usize> =
        paper.reviews.iter().copied().chain(paper.z.iter().map(|z| space.first_z() + z)).collect();
    let units: Vec<_> = space.block(&rows).iter().map(|vector| unit(vector)).collect();
    let (reviews, z) = units.split_at(paper.reviews.len());
    reviews
        .iter()
        .map(|review| z.iter().map(|z| unit_cosine(review.as_deref(), z.as_deref())).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units() -> impl Strategy<Value = Vec<Option<Vec<f64>>>> {
        let entry = proptest::collection::vec(-1.0..1.0_f64, 4);
        let row = proptest::option::weighted(0.8, entry);
        let rows = proptest::collection::vec(row, 1..12);
        rows.prop_map(|rows| rows.iter().map(|row| unit(row.as_deref()?)).collect())
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_table_either_way(units in units()) {
            let table = PairTable::new(&units);
            let sums = PeerSums::new(&units);
            let fast = by_sum(&units);
            for (a, fast) in fast.iter().enumerate() {
                let peers = (0..units.len()).filter(|&b| b != a);
                let pairs: Vec<Option<f64>> = peers.map(|b| table.get(a, b)).collect();
                let expected: f64 = pairs.iter().map(|pair| pair.unwrap_or(0.0)).sum();
                prop_assert!((sums.sum(a) - expected).abs() <= 0.0);
                prop_assert_eq!(sums.zero(a), pairs.iter().filter(|pair| pair.is_none()).count());
                prop_assert!((fast - expected).abs() < 1e-12);
            }
        }
    }
}
