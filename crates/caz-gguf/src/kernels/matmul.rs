//! Matrix products on the gemm crate: single-threaded, kernels chosen at run time.
//!
//! # Why a row of the product does not depend on the other rows
//!
//! gemm computes every entry as one chain of fused multiply-adds along the inner dimension, cut
//! into blocks whose length follows from the inner dimension and the processor's caches, not from
//! the number of rows (for more than 64 columns; below, up to an inner dimension of 512, there is
//! one block). Two of its special cases do depend on the shape: a product with a single row, which
//! encoders avoid by padding, and very small products of two matrices that are both
//! contiguous along the inner dimension, which only the attention scores of one text are.

/// A read-only matrix inside a slice: entry `(i, j)` is at `i * row_stride + j * column_stride`.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    pub values: &'a [f32],
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
    pub column_stride: usize,
}

/// A matrix to write to, its rows contiguous: entry `(i, j)` is at `i * row_stride + j`.
pub struct MatrixMut<'a> {
    pub values: &'a mut [f32],
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
}

impl<'a> Matrix<'a> {
    /// All of `values` as rows of `columns` entries.
    pub fn row_major(values: &'a [f32], columns: usize) -> Self {
        let rows = values.len() / columns;
        Self { values, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The transposed matrix over the same values.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            values: self.values,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    /// Index one past the last entry, 0 if there is none.
    fn end(&self) -> usize {
        end(self.rows, self.columns, self.row_stride, self.column_stride)
    }
}

fn end(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    if rows == 0 || columns == 0 {
        return 0;
    }
    (rows - 1) * row_stride + (columns - 1) * column_stride + 1
}

/// `product = scale * left * right`; what was in `product` is not read.
///
/// # Panics
///
/// If the shapes do not fit each other or a matrix does not fit its slice: a bug of the caller.
pub fn multiply(product: &mut MatrixMut<'_>, left: Matrix<'_>, right: Matrix<'_>, scale: f32) {
    let (rows, columns, inner) = (left.rows, right.columns, left.columns);
    assert_eq!(
        (product.rows, product.columns, inner),
        (rows, columns, right.rows),
        "shapes differ"
    );
    assert!(columns <= product.row_stride, "rows of the product overlap");
    assert!(end(rows, columns, product.row_stride, 1) <= product.values.len(), "product too short");
    assert!(left.end() <= left.values.len(), "left matrix too short");
    assert!(right.end() <= right.values.len(), "right matrix too short");
    let stride = usize::cast_signed;
    // SAFETY: `gemm` reads the entries (i, k) of `left` and (k, j) of `right` and writes the
    // entries (i, j) of the product, for i < rows, j < columns, k < inner, at the offsets given by
    // the strides; with `read_dst = false` it does not read the product. The assertions show that
    // the largest of these offsets, hence all of them, lie inside the three slices (strides are
    // not negative), so every pointer it forms for an access is in bounds of one allocation and
    // every value read is an initialized f32. `columns <= row_stride` makes the written entries
    // distinct. The product cannot alias an input because it is borrowed mutably. A slice has at
    // most isize::MAX bytes, so no stride that passed the assertions changes sign in the cast
    // (a stride that is never used, of a dimension of length 1, is only multiplied by zero).
    #[expect(unsafe_code, reason = "the gemm crate takes pointers; checked above")]
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            product.values.as_mut_ptr(),
            1,
            stride(product.row_stride),
            false,
            left.values.as_ptr(),
            stride(left.column_stride),
            stride(left.row_stride),
            right.values.as_ptr(),
            stride(right.column_stride),
            stride(right.row_stride),
            0.0,
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::numbers;
    use super::*;

    proptest! {
        #[test]
        fn the_product_is_the_sum_over_the_inner_dimension(
            rows in 1_usize..40, columns in 1_usize..80, inner in 1_usize..70,
            gap in 0_usize..5, seed in any::<u32>(), transposed in any::<bool>(),
        ) {
            let left = numbers(rows * inner, seed);
            let right = numbers(inner * columns, seed ^ 0x5555);
            let mut values = vec![f32::NAN; rows * (columns + gap)];
            let left_matrix = Matrix::row_major(&left, inner);
            let right_matrix = if transposed {
                Matrix::row_major(&right, inner).transposed()
            } else {
                Matrix::row_major(&right, columns)
            };
            let mut product =
                MatrixMut { values: &mut values, rows, columns, row_stride: columns + gap };
            multiply(&mut product, left_matrix, right_matrix, 0.5);
            for i in 0..rows {
                for j in 0..columns {
                    let expected: f64 = (0..inner)
                        .map(|k| {
                            let at = if transposed { j * inner + k } else { k * columns + j };
                            f64::from(left[i * inner + k]) * f64::from(right[at])
                        })
                        .sum::<f64>()
                        * 0.5;
                    let found = f64::from(values[i * (columns + gap) + j]);
                    prop_assert!((found - expected).abs() < 1e-5, "{found} {expected}");
                }
                for j in columns..columns + gap {
                    prop_assert!(values[i * (columns + gap) + j].is_nan(), "wrote into a gap");
                }
            }
        }

        #[test]
        fn a_row_of_the_product_does_not_depend_on_the_other_rows(
            rows in 2_usize..200, columns in 1_usize..100, inner in 3_usize..600, seed in any::<u32>(),
        ) {
            let left = numbers(rows * inner, seed);
            let right = numbers(inner * columns, seed ^ 0x5555);
            let product = |left: &[f32]| {
                let left = Matrix::row_major(left, inner);
                let mut values = vec![0.0; left.rows * columns];
                let mut product =
                    MatrixMut { values: &mut values, rows: left.rows, columns, row_stride: columns };
                multiply(&mut product, left, Matrix::row_major(&right, columns), 1.0);
                values
            };
            let all = product(&left);
            let last_two = product(&left[(rows - 2) * inner..]);
            // The special case for 64 columns or fewer has its own block length above 512.
            if columns > 64 || inner <= 512 {
                prop_assert_eq!(&all[(rows - 2) * columns..], &last_two[..]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "left matrix too short")]
    fn a_matrix_that_leaves_its_slice_is_refused() {
        let mut values = [0.0; 4];
        let mut product = MatrixMut { values: &mut values, rows: 2, columns: 2, row_stride: 2 };
        let left =
            Matrix { values: &[1.0; 3], rows: 2, columns: 2, row_stride: 2, column_stride: 1 };
        multiply(&mut product, left, Matrix::row_major(&[1.0; 4], 2), 1.0);
    }
}
