//! Vectors of texts, dense or sparse, one row per text.

/// One vector per text; every row has the same number of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub enum Vectors {
    /// Every entry is stored.
    Dense(DenseVectors),
    /// Only entries other than zero are stored.
    Sparse(SparseVectors),
}

impl Vectors {
    /// Number of rows, one per text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.len(),
            Self::Sparse(sparse) => sparse.len(),
        }
    }

    /// A row with all its entries.
    ///
    /// # Panics
    ///
    /// If the row is not below [`Self::len`].
    pub(crate) fn dense_row(&self, row: usize) -> Vec<f64> {
        match self {
            Self::Dense(dense) => dense.row(row).to_vec(),
            Self::Sparse(sparse) => {
                let mut dense = vec![0.0; sparse.dims()];
                sparse.row(row).iter().for_each(|&(dim, value)| dense[dim as usize] = value);
                dense
            }
        }
    }

    /// Copies of the given rows, in the given order.
    ///
    /// # Panics
    ///
    /// If a row is not below [`Self::len`].
    #[must_use]
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Dense(dense) => {
                let values = rows.iter().flat_map(|&row| dense.row(row)).copied().collect();
                Self::Dense(DenseVectors::from_values(dense.dims(), values))
            }
            Self::Sparse(sparse) => Self::Sparse(SparseVectors {
                dims: sparse.dims(),
                rows: rows.iter().map(|&row| sparse.row(row).to_vec()).collect(),
            }),
        }
    }

    /// The same rows in another order: row `i` is what was row `from[i]`. Unlike [`Self::select`], it
    /// needs no second copy: vectors of a large venue are most of the memory.
    ///
    /// # Panics
    ///
    /// If `from` does not name every row once.
    #[must_use]
    pub(crate) fn reordered(self, from: &[usize]) -> Self {
        assert_eq!(from.len(), self.len(), "one number per row");
        match self {
            Self::Dense(mut dense) => {
                dense.reorder(from);
                Self::Dense(dense)
            }
            Self::Sparse(SparseVectors { dims, rows }) => {
                let mut rows: Vec<Option<_>> = rows.into_iter().map(Some).collect();
                let rows = from.iter().map(|&row| rows[row].take().expect("every row once"));
                Self::Sparse(SparseVectors { dims, rows: rows.collect() })
            }
        }
    }

    /// Divides every row by its L2 norm; a row of zeros stays as it is.
    pub(crate) fn normalize(&mut self) {
        fn norm(values: impl Iterator<Item = f64>) -> f64 {
            let squared: f64 = values.map(|value| value * value).sum();
            if squared > 0.0 { squared.sqrt() } else { 1.0 }
        }
        match self {
            Self::Dense(dense) => {
                for row in dense.values.chunks_exact_mut(dense.dims.max(1)) {
                    let norm = norm(row.iter().copied());
                    row.iter_mut().for_each(|value| *value /= norm);
                }
            }
            Self::Sparse(sparse) => {
                for row in &mut sparse.rows {
                    let norm = norm(row.iter().map(|entry| entry.1));
                    row.iter_mut().for_each(|entry| entry.1 /= norm);
                }
            }
        }
    }

    /// Number of dimensions of every row.
    pub(crate) fn dims(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.dims(),
            Self::Sparse(sparse) => sparse.dims(),
        }
    }
}

/// Dense vectors in one row-major buffer of shape `(rows, dims)`.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseVectors {
    dims: usize,
    values: Vec<f64>,
}

impl DenseVectors {
    /// No rows yet, each to come with `dims` entries.
    pub fn new(dims: usize) -> Self {
        Self { dims, values: Vec::new() }
    }

    /// No rows yet, with room for `rows`, so that what is there is not copied as they come.
    pub(crate) fn with_capacity(dims: usize, rows: usize) -> Self {
        Self { dims, values: Vec::with_capacity(dims * rows) }
    }

    /// Takes a row-major buffer of shape `(values.len() / dims, dims)`.
    ///
    /// # Panics
    ///
    /// If `dims` does not divide the length of `values`: a bug of the caller.
    pub(crate) fn from_values(dims: usize, values: Vec<f64>) -> Self {
        let whole = if dims == 0 { values.is_empty() } else { values.len().is_multiple_of(dims) };
        assert!(whole, "{} values are not rows of {dims}", values.len());
        Self { dims, values }
    }

    /// Appends one row.
    ///
    /// # Panics
    ///
    /// If `row` does not have `dims` entries: a bug of the caller.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.dims, "a row has {} entries, not {}", row.len(), self.dims);
        self.values.extend_from_slice(row);
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.values.len().checked_div(self.dims).unwrap_or(0)
    }

    /// Entries per row.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The row of text `index`, `dims` entries.
    ///
    /// # Panics
    ///
    /// If `index` is not below `Self::len`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dims..(index + 1) * self.dims]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Moves row `from[i]` to row `i`, cycle by cycle.
    fn reorder(&mut self, from: &[usize]) {
        let dims = self.dims;
        let mut is_done = vec![false; from.len()];
        let mut first = vec![0.0; dims];
        for start in 0..from.len() {
            if is_done[start] {
                continue;
            }
            first.copy_from_slice(self.row(start));
            let mut to = start;
            loop {
                assert!(!std::mem::replace(&mut is_done[to], true), "every row once");
                let row = from[to];
                if row == start {
                    break;
                }
                self.values.copy_within(row * dims..(row + 1) * dims, to * dims);
                to = row;
            }
            self.values[to * dims..(to + 1) * dims].copy_from_slice(&first);
        }
    }
}

/// Sparse vectors: each row a list of `(dimension, value)`, dimensions ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseVectors {
    dims: usize,
    rows: Vec<Vec<(u32, f64)>>,
}

impl SparseVectors {
    /// No rows yet, over `dims` dimensions.
    pub(crate) fn new(dims: usize) -> Self {
        Self { dims, rows: Vec::new() }
    }

    /// Appends one row.
    ///
    /// # Panics
    ///
    /// If the dimensions are not strictly ascending and below `dims`: a bug of the caller.
    pub(crate) fn push(&mut self, row: Vec<(u32, f64)>) {
        assert!(row.is_sorted_by(|a, b| a.0 < b.0), "dimensions of a sparse row must ascend");
        assert!(
            row.last().is_none_or(|&(dim, _)| (dim as usize) < self.dims),
            "dimension too large"
        );
        self.rows.push(row);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of dimensions.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// The entries of row `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Self::len`].
    pub fn row(&self, index: usize) -> &[(u32, f64)] {
        &self.rows[index]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_reordered_as_they_are_selected(
            from in (0_usize..20).prop_flat_map(|rows| Just((0..rows).collect::<Vec<_>>()).prop_shuffle())
        ) {
            let mut dense = DenseVectors::with_capacity(2, from.len());
            let mut sparse = SparseVectors::new(2);
            for row in 0..from.len() {
                dense.push(&[row as f64, -1.0]);
                sparse.push(vec![(1, row as f64)]);
            }
            for vectors in [Vectors::Dense(dense), Vectors::Sparse(sparse)] {
                prop_assert_eq!(vectors.clone().reordered(&from), vectors.select(&from));
            }
        }
    }

    #[test]
    #[should_panic(expected = "every row once")]
    fn a_row_that_is_named_twice_is_a_bug() {
        let dense = DenseVectors::from_values(1, vec![0.0, 1.0, 2.0]);
        let _ = Vectors::Dense(dense).reordered(&[1, 1, 0]);
    }
}
