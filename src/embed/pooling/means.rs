//! Means of unit vectors.

use std::collections::BTreeMap;

use crate::embed::vectors::{DenseVectors, SparseVectors, Vectors};
use crate::stats::similarity::norm;

/// Means of unit vectors, text by text in ascending order.
pub(super) struct Means {
    rows: Vectors,
    /// Sum over the sentences so far of the text whose row comes next.
    sum: Sum,
    count: usize,
    without_direction: Vec<usize>,
}

enum Sum {
    Dense(Vec<f64>),
    Sparse(BTreeMap<u32, f64>),
}

impl Means {
    /// Empty, for sentence vectors such as these, of this many texts.
    pub(super) fn like(vectors: &Vectors, texts: usize) -> Self {
        let (rows, sum) = match vectors {
            Vectors::Dense(dense) => (
                Vectors::Dense(DenseVectors::with_capacity(dense.dims(), texts)),
                Sum::Dense(vec![0.0; dense.dims()]),
            ),
            Vectors::Sparse(sparse) => {
                (Vectors::Sparse(SparseVectors::new(sparse.dims())), Sum::Sparse(BTreeMap::new()))
            }
        };
        Self { rows, sum, count: 0, without_direction: Vec::new() }
    }

    /// Adds row `sentence` of `vectors`, scaled to unit length, to the mean of text `owner`.
    pub(super) fn add(&mut self, owner: usize, vectors: &Vectors, sentence: usize) {
        self.close_rows_before(owner);
        let length = row_norm(vectors, sentence);
        if length == 0.0 {
            return;
        }
        self.count += 1;
        match (&mut self.sum, vectors) {
            (Sum::Dense(sum), Vectors::Dense(dense)) => {
                let row = dense.row(sentence);
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / length);
            }
            (Sum::Sparse(sum), Vectors::Sparse(sparse)) => {
                for &(dim, value) in sparse.row(sentence) {
                    *sum.entry(dim).or_insert(0.0) += value / length;
                }
            }
            _ => unreachable!("an embedder gives either dense or sparse vectors"),
        }
    }

    fn close_rows_before(&mut self, owner: usize) {
        while self.rows.len() < owner {
            self.close_row();
        }
    }

    fn close_row(&mut self) {
        let count = self.count.max(1) as f64;
        match (&mut self.rows, &mut self.sum) {
            (Vectors::Dense(rows), Sum::Dense(sum)) => {
                for value in sum.iter_mut() {
                    *value /= count;
                }
                rows.push(sum);
                sum.fill(0.0);
            }
            (Vectors::Sparse(rows), Sum::Sparse(sum)) => {
                let sum = std::mem::take(sum);
                rows.push(sum.into_iter().map(|(dim, value)| (dim, value / count)).collect());
            }
            _ => unreachable!("rows and sum are made together"),
        }
        // Opposite sentences may cancel; what is left has no direction either.
        let row = self.rows.len() - 1;
        if row_norm(&self.rows, row) == 0.0 {
            self.without_direction.push(row);
        }
        self.count = 0;
    }

    pub(super) fn finish(mut self, texts: usize) -> (Vectors, Vec<usize>) {
        self.close_rows_before(texts);
        (self.rows, self.without_direction)
    }
}

/// Euclidean length of a row.
pub(super) fn row_norm(vectors: &Vectors, row: usize) -> f64 {
    match vectors {
        Vectors::Dense(dense) => norm(dense.row(row)),
        Vectors::Sparse(sparse) => {
            let largest =
                sparse.row(row).iter().fold(0.0_f64, |most, entry| most.max(entry.1.abs()));
            if largest == 0.0 {
                return 0.0;
            }
            let squares = sparse.row(row).iter().map(|entry| (entry.1 / largest).powi(2));
            largest * squares.sum::<f64>().sqrt()
        }
    }
}
