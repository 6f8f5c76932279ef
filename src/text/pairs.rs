//! Similarities inside one paper: every pair of reviews, before and after projection, and every
//! review with every Z.

use super::projection::Complement;
use super::similarity::{ZERO_RESIDUAL, norm, unit, unit_cosine};
use super::space::Space;
use crate::data::reviews::ReviewSet;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ZCombine {
    /// Everything in the span of all Z is removed.
    #[default]
    Span,
    /// Each source alone gives a score; the lowest counts.
    Min,
    /// The mean of the unit vectors of all Z is removed.
    Mean,
}

/// A symmetric table of similarities between the reviews of one paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTable {
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

    /// Number of reviews.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Similarity of two different reviews in `[-1, 1]`; `None` if one of them has nothing left,
    /// which counts as 0 in scores.
    ///
    /// # Panics
    ///
    /// If `a == b` or one is not below [`Self::size`].
    pub fn get(&self, a: usize, b: usize) -> Option<f64> {
        assert_ne!(a, b, "a review is not its own peer");
        let (a, b) = (a.min(b), a.max(b));
        self.values[b * (b - 1) / 2 + a]
    }
}

/// Cosines of the reviews of `paper` as they are.
pub fn plain_pairs(space: &Space, paper: &Paper) -> PairTable {
    let units: Vec<_> = space.block(&paper.reviews).iter().map(|review| unit(review)).collect();
    PairTable::new(&units)
}

/// Cosines of what is left of the reviews of `paper` beyond the Z at `z`, positions in
/// [`ReviewSet::z`].
///
/// `None` if no Z has a direction: then there is nothing to condition on.
pub fn projected_pairs(
    space: &Space,
    paper: &Paper,
    z: &[usize],
    mean_of_z: bool,
) -> Option<PairTable> {
    let rows: Vec<usize> =
        paper.reviews.iter().copied().chain(z.iter().map(|z| space.first_z() + z)).collect();
    let block = space.block(&rows);
    let (reviews, z) = block.split_at(paper.reviews.len());
    // A Z that is zero, or the center itself but for rounding, carries no direction.
    let z: Vec<&[f64]> = z
        .iter()
        .zip(&rows[reviews.len()..])
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
    let dims = block.first().map_or(0, Vec::len);
    let complement = Complement::new(dims, &removed);
    if complement.rank() == 0 {
        return None;
    }
    let units: Vec<_> = reviews.iter().map(|review| complement.unit_residual(review)).collect();
    Some(PairTable::new(&units))
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
pub fn z_similarities(space: &Space, paper: &Paper) -> Vec<Vec<f64>> {
    let rows: Vec<usize> =
        paper.reviews.iter().copied().chain(paper.z.iter().map(|z| space.first_z() + z)).collect();
    let units: Vec<_> = space.block(&rows).iter().map(|vector| unit(vector)).collect();
    let (reviews, z) = units.split_at(paper.reviews.len());
    reviews
        .iter()
        .map(|review| z.iter().map(|z| unit_cosine(review.as_deref(), z.as_deref())).collect())
        .collect()
}
