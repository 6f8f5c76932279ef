//! Shrunk whitening: directions in which all reviews differ count less.

use nalgebra::DMatrix;

use crate::embed::vectors::DenseVectors;

/// Subtracts the mean of the first `fitted` rows and divides by the square root of their shrunk
/// covariance, so that what sets *all* reviews apart (length, register, headings) weighs no more
/// than what sets papers apart.
///
/// With mean `m` and covariance `C` (divisor: the number of rows) of the fitted rows that have a
/// direction, and `d` dimensions, a row `x` becomes `L⁻¹ (x - m)` where
/// `L Lᵀ = C + (trace C / d) I`: half way between whitening and plain centering. Cosines do not
/// depend on which square root is taken. Zero rows neither enter `m` and `C` nor move. Without any
/// spread (`C = 0`) rows are only centered.
pub(super) fn whiten(rows: &DenseVectors, fitted: usize) -> DenseVectors {
    let dims = rows.dims();
    let used: Vec<usize> = (0..fitted).filter(|&row| !is_zero(rows.row(row))).collect();
    let mean = mean_of(rows, &used);
    let factor = shrunk_covariance(rows, &used, &mean).cholesky();
    let mut whitened = DenseVectors::new(dims);
    for row in rows.rows() {
        let mut vector = row.to_vec();
        if !is_zero(row) {
            vector.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
            if let Some(factor) = &factor {
                solve_lower(factor.l_dirty(), &mut vector);
            }
        }
        whitened.push(&vector);
    }
    whitened
}

fn is_zero(row: &[f64]) -> bool {
    row.iter().all(|&value| value == 0.0)
}

fn mean_of(rows: &DenseVectors, used: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; rows.dims()];
    for &row in used {
        mean.iter_mut().zip(rows.row(row)).for_each(|(sum, value)| *sum += value);
    }
    let count = used.len().max(1) as f64;
    mean.iter_mut().for_each(|value| *value /= count);
    mean
}

/// `C + (trace C / d) I`; only the lower triangle is filled, which is all that Cholesky reads.
fn shrunk_covariance(rows: &DenseVectors, used: &[usize], mean: &[f64]) -> DMatrix<f64> {
    let dims = rows.dims();
    let mut sums = vec![0.0; dims * dims];
    let mut centered = vec![0.0; dims];
    for &row in used {
        for (target, (value, mean)) in centered.iter_mut().zip(rows.row(row).iter().zip(mean)) {
            *target = value - mean;
        }
        for (column, &left) in centered.iter().enumerate() {
            let target = &mut sums[column * dims + column..(column + 1) * dims];
            target
                .iter_mut()
                .zip(&centered[column..])
                .for_each(|(sum, right)| *sum += left * right);
        }
    }
    let count = used.len().max(1) as f64;
    sums.iter_mut().for_each(|sum| *sum /= count);
    let mut covariance = DMatrix::from_vec(dims, dims, sums);
    let shrinkage = covariance.trace() / dims.max(1) as f64;
    (0..dims).for_each(|dim| covariance[(dim, dim)] += shrinkage);
    covariance
}

/// Solves `L y = x` in place, `L` the lower triangle of `matrix`, column by column.
fn solve_lower(matrix: &DMatrix<f64>, x: &mut [f64]) {
    let dims = x.len();
    let values = matrix.as_slice();
    for column in 0..dims {
        let entries = &values[column * dims + column..(column + 1) * dims];
        let solved = x[column] / entries[0];
        x[column] = solved;
        x[column + 1..].iter_mut().zip(&entries[1..]).for_each(|(x, entry)| *x -= entry * solved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::similarity::dot;
    use proptest::prelude::*;

    #[test]
    fn two_axes_of_different_spread_by_hand() {
        // Mean 0, C = diag(8, 2), trace / 2 = 5: divided by √13 and √7.
        let rows = vec![4.0, 0.0, -4.0, 0.0, 0.0, 2.0, 0.0, -2.0];
        let whitened = whiten(&DenseVectors::from_values(2, rows), 4);
        for (row, expected) in whitened.rows().zip([
            [4.0 / 13_f64.sqrt(), 0.0],
            [-4.0 / 13_f64.sqrt(), 0.0],
            [0.0, 2.0 / 7_f64.sqrt()],
            [0.0, -2.0 / 7_f64.sqrt()],
        ]) {
            assert!((row[0] - expected[0]).abs() < 1e-15 && (row[1] - expected[1]).abs() < 1e-15);
        }
    }

    #[test]
    fn rows_without_spread_are_only_centered() {
        let rows = DenseVectors::from_values(2, vec![1.0, 2.0, 1.0, 2.0, 3.0, 3.0]);
        let whitened = whiten(&rows, 2);
        assert_eq!(whitened.row(0), [0.0, 0.0]);
        assert_eq!(whitened.row(2), [2.0, 1.0]);
    }

    #[test]
    fn zero_rows_neither_count_nor_move() {
        let with = DenseVectors::from_values(1, vec![1.0, 0.0, 3.0]);
        let whitened = whiten(&with, 3);
        // Mean 2, C = 1, shrunk 2.
        assert!((whitened.row(0)[0] + 1.0 / 2_f64.sqrt()).abs() < 1e-15);
        assert_eq!(whitened.row(1), [0.0]);
    }

    proptest! {
        #[test]
        fn products_are_those_of_the_inverse_matrix(
            values in proptest::collection::vec(-2.0..2.0_f64, 18),
            fitted in 1..6_usize,
        ) {
            let rows = DenseVectors::from_values(3, values);
            let mut mean = [0.0; 3];
            for i in 0..fitted {
                for (dim, mean) in mean.iter_mut().enumerate() {
                    *mean += rows.row(i)[dim] / fitted as f64;
                }
            }
            let matrix = DMatrix::from_fn(3, 3, |a, b| {
                (0..fitted)
                    .map(|i| (rows.row(i)[a] - mean[a]) * (rows.row(i)[b] - mean[b]))
                    .sum::<f64>() / fitted as f64
            });
            prop_assume!(matrix.trace() > 1e-3);
            let inverse = (&matrix + DMatrix::identity(3, 3) * (matrix.trace() / 3.0))
                .try_inverse()
                .unwrap();
            let whitened = whiten(&rows, fitted);
            for i in 0..6 {
                for j in 0..6 {
                    let centered = |row: usize| {
                        DMatrix::from_fn(3, 1, |dim, _| rows.row(row)[dim] - mean[dim])
                    };
                    let expected = (centered(i).transpose() * &inverse * centered(j))[(0, 0)];
                    let product = dot(whitened.row(i), whitened.row(j));
                    prop_assert!((product - expected).abs() < 1e-8 * (1.0 + expected.abs()));
                }
            }
        }
    }
}
