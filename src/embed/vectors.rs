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
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.len(),
            Self::Sparse(sparse) => sparse.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row with all its entries.
    ///
    /// # Panics
    ///
    /// If the row is not below [`Self::len`].
    pub fn dense_row(&self, row: usize) -> Vec<f64> {
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
    pub fn select(&self, rows: &[usize]) -> Self {
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

    /// Number of dimensions of every row.
    pub fn dims(&self) -> usize {
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

    /// Takes a row-major buffer of shape `(values.len() / dims, dims)`.
    ///
    /// # Panics
    ///
    /// If `dims` does not divide the length of `values`: a bug of the caller.
    pub fn from_values(dims: usize, values: Vec<f64>) -> Self {
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
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dims).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries per row.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The row of text `index`, `dims` entries.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Self::len`].
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dims..(index + 1) * self.dims]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|index| self.row(index))
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
    pub fn new(dims: usize) -> Self {
        Self { dims, rows: Vec::new() }
    }

    /// Appends one row.
    ///
    /// # Panics
    ///
    /// If the dimensions are not strictly ascending and below `dims`: a bug of the caller.
    pub fn push(&mut self, row: Vec<(u32, f64)>) {
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
    pub fn dims(&self) -> usize {
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
