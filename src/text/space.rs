//! The common space of all reviews and LLM reviews of a run, and its center.

use std::sync::Arc;

use super::whitening::whiten;
use crate::embed::vectors::Vectors;
use crate::stats::similarity::norm;

/// Vectors of all texts of a run: first one row per review, then one row per Z.
#[derive(Debug, Clone)]
pub struct Space {
    /// Shared with the same space before centering: vectors of a large venue are most of the memory.
    rows: Arc<Vectors>,
    reviews: usize,
    /// Mean over the reviews that have a direction, `dims` entries; `None` if not centered.
    center: Option<Vec<f64>>,
}

/// A sum of unit vectors of a [`Space`], to take many cosines at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnitSum {
    values: Vec<f64>,
    /// Product of the sum with the center, 0 without one.
    along_center: f64,
}

impl Space {
    /// A space without centering; the first `reviews` rows are reviews, the others Z.
    pub fn new(vectors: impl Into<Arc<Vectors>>, reviews: usize) -> Self {
        Self { rows: vectors.into(), reviews, center: None }
    }

    /// Number of dimensions.
    pub(crate) fn dims(&self) -> usize {
        self.rows.dims()
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    /// Row of the first Z.
    pub(crate) fn first_z(&self) -> usize {
        self.reviews
    }

    /// Moves the origin to the mean of the review vectors.
    ///
    /// Embeddings of all reviews share a large component that says "this is a review of a paper";
    /// without it similarities tell papers apart. Z does not enter the mean, so that the number
    /// of LLM reviews changes nothing. Zero vectors, which stand for texts without a direction,
    /// neither enter the mean nor move.
    #[must_use]
    pub fn centered(mut self) -> Self {
        let mut sum = vec![0.0; self.dims()];
        let mut count = 0.0_f64;
        for row in 0..self.reviews {
            if self.is_zero(row) {
                continue;
            }
            count += 1.0;
            self.for_each_entry(row, |dim, value| sum[dim] += value);
        }
        if count > 0.0 {
            sum.iter_mut().for_each(|value| *value /= count);
        }
        self.center = Some(sum);
        self
    }

    /// Centers, and weighs down the directions in which all reviews differ, by whitening with a
    /// shrunk covariance of the reviews (`docs/methods.md`, combined score).
    ///
    /// Sparse vectors are only centered: their weights already count words that are everywhere
    /// less.
    #[must_use]
    pub(crate) fn whitened(self) -> Self {
        let whitened = match &*self.rows {
            Vectors::Dense(dense) => whiten(dense, self.reviews),
            Vectors::Sparse(_) => return self.centered(),
        };
        Self::new(Vectors::Dense(whitened), self.reviews)
    }

    /// Length of every row, centered if the space is; 0 for texts without a direction.
    pub(crate) fn lengths(&self) -> Vec<f64> {
        (0..self.len()).map(|row| norm(&self.block(&[row])[0])).collect()
    }

    /// Sum of the unit vectors of `rows`, whose [`Self::lengths`] are given.
    pub(crate) fn sum_of_units(
        &self,
        rows: impl Iterator<Item = usize>,
        lengths: &[f64],
    ) -> UnitSum {
        let mut values = vec![0.0; self.dims()];
        let mut inverse_lengths = 0.0;
        for row in rows.filter(|&row| lengths[row] > 0.0) {
            let inverse = 1.0 / lengths[row];
            inverse_lengths += inverse;
            self.for_each_entry(row, |dim, value| values[dim] += value * inverse);
        }
        let mut along_center = 0.0;
        if let Some(center) = &self.center {
            for (value, mean) in values.iter_mut().zip(center) {
                *value -= mean * inverse_lengths;
                along_center += *value * mean;
            }
        }
        UnitSum { values, along_center }
    }

    /// Sum of the cosines of `row`, of the given length, with all rows of the sum.
    pub(crate) fn sum_of_cosines(&self, row: usize, length: f64, sum: &UnitSum) -> f64 {
        if length == 0.0 {
            return 0.0;
        }
        let mut product = -sum.along_center;
        self.for_each_entry(row, |dim, value| product += value * sum.values[dim]);
        product / length
    }

    /// Whether the text of `row` has no direction.
    pub(crate) fn is_zero(&self, row: usize) -> bool {
        match &*self.rows {
            Vectors::Dense(dense) => dense.row(row).iter().all(|&value| value == 0.0),
            Vectors::Sparse(sparse) => sparse.row(row).iter().all(|&(_, value)| value == 0.0),
        }
    }

    /// Length of a row before centering.
    pub(crate) fn plain_norm(&self, row: usize) -> f64 {
        match &*self.rows {
            Vectors::Dense(dense) => norm(dense.row(row)),
            Vectors::Sparse(sparse) => {
                let values: Vec<f64> = sparse.row(row).iter().map(|&(_, value)| value).collect();
                norm(&values)
            }
        }
    }

    fn for_each_entry(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let mut visit_all = |row: &[f64]| {
            row.iter().enumerate().for_each(|(dim, &value)| visit(dim, value));
        };
        match &*self.rows {
            Vectors::Dense(dense) => visit_all(dense.row(row)),
            Vectors::Sparse(sparse) => {
                sparse.row(row).iter().for_each(|&(dim, value)| visit(dim as usize, value));
            }
        }
    }

    /// The given rows, centered if the space is, as dense vectors of one length.
    ///
    /// Lengths and angles among the rows are those of the whole space. For sparse vectors only
    /// the dimensions that occur in these rows are kept, and all others are one more dimension:
    /// there every row has the same part of the center.
    pub(crate) fn block(&self, rows: &[usize]) -> Vec<Vec<f64>> {
        let mut block: Vec<Vec<f64>> = match &*self.rows {
            Vectors::Dense(dense) => rows.iter().map(|&row| dense.row(row).to_vec()).collect(),
            Vectors::Sparse(_) => return self.sparse_block(rows),
        };
        if let Some(center) = &self.center {
            for (vector, &row) in block.iter_mut().zip(rows) {
                if !self.is_zero(row) {
                    vector.iter_mut().zip(center).for_each(|(value, mean)| *value -= mean);
                }
            }
        }
        block
    }

    /// Number of dimensions of [`Self::block`] of these rows.
    pub(crate) fn dims_of(&self, rows: impl Iterator<Item = usize>) -> usize {
        match &*self.rows {
            Vectors::Sparse(_) => self.words_of(rows).len() + 1,
            Vectors::Dense(_) => self.dims(),
        }
    }

    /// The dimensions that occur in these rows, ascending.
    fn words_of(&self, rows: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut dims: Vec<usize> = Vec::new();
        rows.for_each(|row| self.for_each_entry(row, |dim, _| dims.push(dim)));
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    fn sparse_block(&self, rows: &[usize]) -> Vec<Vec<f64>> {
        let dims = self.words_of(rows.iter().copied());
        let template: Option<Vec<f64>> = self.center.as_ref().map(|center| {
            let mut elsewhere = center.clone();
            dims.iter().for_each(|&dim| elsewhere[dim] = 0.0);
            let mut template: Vec<f64> = dims.iter().map(|&dim| -center[dim]).collect();
            template.push(norm(&elsewhere));
            template
        });
        rows.iter()
            .map(|&row| {
                let mut vector = match &template {
                    Some(template) if !self.is_zero(row) => template.clone(),
                    _ => vec![0.0; dims.len() + 1],
                };
                self.for_each_entry(row, |dim, value| {
                    // Every dimension of these rows was collected above.
                    if let Ok(local) = dims.binary_search(&dim) {
                        vector[local] += value;
                    }
                });
                vector
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::vectors::{DenseVectors, SparseVectors};
    use crate::stats::similarity::dot;
    use proptest::prelude::*;

    const DIMS: usize = 12;

    fn spaces(rows: &[Vec<f64>], reviews: usize) -> (Space, Space) {
        let dense = DenseVectors::from_values(DIMS, rows.concat());
        let mut sparse = SparseVectors::new(DIMS);
        for row in rows {
            let entries = (0_u32..).zip(row).filter(|(_, value)| **value != 0.0);
            sparse.push(entries.map(|(dim, &value)| (dim, value)).collect());
        }
        (Space::new(Vectors::Dense(dense), reviews), Space::new(Vectors::Sparse(sparse), reviews))
    }

    fn row() -> impl Strategy<Value = Vec<f64>> {
        let entry = prop_oneof![3 => Just(0.0), 1 => -2.0..2.0_f64];
        proptest::collection::vec(entry, DIMS)
    }

    #[test]
    fn the_center_is_the_mean_of_reviews_with_a_direction() {
        let mut rows = vec![vec![0.0; DIMS]; 4];
        rows[0][0] = 2.0;
        rows[1][1] = 4.0;
        rows[3][0] = 100.0; // Z does not count, nor does the zero review in row 2.
        let (dense, _) = spaces(&rows, 3);
        let block = dense.centered().block(&[0, 2, 3]);
        assert_eq!(block[0][..2], [1.0, -2.0]);
        assert_eq!(block[1][..2], [0.0, 0.0]);
        assert_eq!(block[2][..2], [99.0, -2.0]);
    }

    proptest! {
        #[test]
        fn sparse_blocks_have_the_inner_products_of_dense_ones(
            rows in proptest::collection::vec(row(), 2..6),
            centered: bool,
        ) {
            let (dense, sparse) = spaces(&rows, rows.len() - 1);
            let (dense, sparse) =
                if centered { (dense.centered(), sparse.centered()) } else { (dense, sparse) };
            let lengths = (dense.lengths(), sparse.lengths());
            let sums = (
                dense.sum_of_units(0..rows.len(), &lengths.0),
                sparse.sum_of_units(0..rows.len(), &lengths.1),
            );
            for row in 0..rows.len() {
                let expected: f64 = (0..rows.len())
                    .map(|other| {
                        let block = dense.block(&[row, other]);
                        let product = norm(&block[0]) * norm(&block[1]);
                        if product > 0.0 { dot(&block[0], &block[1]) / product } else { 0.0 }
                    })
                    .sum();
                let dense = dense.sum_of_cosines(row, lengths.0[row], &sums.0);
                let sparse = sparse.sum_of_cosines(row, lengths.1[row], &sums.1);
                prop_assert!((dense - expected).abs() < 1e-9, "{dense} {expected}");
                prop_assert!((sparse - expected).abs() < 1e-9, "{sparse} {expected}");
            }
            let all: Vec<usize> = (0..rows.len().min(3)).collect();
            let (dense, sparse) = (dense.block(&all), sparse.block(&all));
            for i in 0..all.len() {
                for j in 0..all.len() {
                    let (a, b) = (dot(&dense[i], &dense[j]), dot(&sparse[i], &sparse[j]));
                    prop_assert!((a - b).abs() < 1e-12, "{a} {b}");
                }
            }
        }
    }
}
