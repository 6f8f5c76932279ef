//! Shrunk whitening: directions in which all reviews differ count less.

use nalgebra::DMatrix;

use crate::embed::vectors::DenseVectors;
use crate::stats::similarity::dot;

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
    let scaled = with_squares(rows);
    let rows = scaled.as_ref().unwrap_or(rows);
    let dims = rows.dims();
    let used: Vec<usize> = (0..fitted).filter(|&row| !is_zero(rows.row(row))).collect();
    let mean = mean_of(rows, &used);
    if used.len() < dims {
        return whiten_by_rows(rows, &used, &mean);
    }
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

/// The rows times a power of two where squares of their entries would leave the range of numbers;
/// whitening takes out any scale.
fn with_squares(rows: &DenseVectors) -> Option<DenseVectors> {
    const FAR: i32 = 300;
    let largest = rows.rows().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let power = if largest > 2.0_f64.powi(FAR) {
        -2 * FAR
    } else if largest > 0.0 && largest < 2.0_f64.powi(-FAR) {
        2 * FAR
    } else {
        return None;
    };
    let values = rows.rows().flatten().map(|value| value * 2.0_f64.powi(power));
    Some(DenseVectors::from_values(rows.dims(), values.collect()))
}

/// The same where the used rows are fewer than the dimensions, without a matrix of all dimensions.
///
/// With `X` the used rows minus `m`, divided by `√(n λ)` where `λ = trace C / d`, and
/// `L Lᵀ = I + X Xᵀ`, a square root of the inverse is `(I - Xᵀ (Lᵀ + I)⁻¹ L⁻¹ X) / √λ` (Andrews, AIAA
/// Journal 6, 1968).
fn whiten_by_rows(rows: &DenseVectors, used: &[usize], mean: &[f64]) -> DenseVectors {
    let (dims, count) = (rows.dims(), used.len());
    let mut centered = DenseVectors::new(dims);
    for row in rows.rows() {
        let mean = mean.iter().map(|mean| if is_zero(row) { 0.0 } else { *mean });
        let vector: Vec<f64> = row.iter().zip(mean).map(|(value, mean)| value - mean).collect();
        centered.push(&vector);
    }
    let squares = used.iter().map(|&row| dot(centered.row(row), centered.row(row)));
    let scale = (squares.sum::<f64>() / dims as f64).sqrt();
    if scale <= 0.0 {
        return centered;
    }
    // Both layouts of `X`, since sums along the rows of a matrix are slow.
    let mut by_dimension = vec![0.0; dims * count];
    let mut by_row = DenseVectors::new(dims);
    for (place, &row) in used.iter().enumerate() {
        let vector: Vec<f64> = centered.row(row).iter().map(|value| value / scale).collect();
        (0..dims).for_each(|dim| by_dimension[dim * count + place] = vector[dim]);
        by_row.push(&vector);
    }
    let products_with = |vector: &[f64]| -> Vec<f64> {
        let mut products = vec![0.0; count];
        for (value, column) in vector.iter().zip(by_dimension.chunks_exact(count)) {
            products.iter_mut().zip(column).for_each(|(sum, other)| *sum += value * other);
        }
        products
    };
    let mut products =
        DMatrix::from_vec(count, count, by_row.rows().flat_map(products_with).collect());
    (0..count).for_each(|place| products[(place, place)] += 1.0);
    let Some(factor) = products.cholesky() else { return centered };
    let lower = factor.l();
    let upper = lower.transpose();
    let shrinkage = scale / (count as f64).sqrt();
    let mut whitened = DenseVectors::new(dims);
    for row in centered.rows() {
        let mut vector = row.to_vec();
        if !is_zero(row) {
            let mut shares = products_with(row);
            solve_lower(&lower, &mut shares);
            solve_upper_plus_one(&upper, &mut shares);
            for (share, other) in shares.iter().zip(by_row.rows()) {
                vector.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
            }
            vector.iter_mut().for_each(|value| *value /= shrinkage);
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

/// Solves `(U + I) y = x` in place, `U` the upper triangle of `matrix`, column by column.
fn solve_upper_plus_one(matrix: &DMatrix<f64>, x: &mut [f64]) {
    let dims = x.len();
    let values = matrix.as_slice();
    for column in (0..dims).rev() {
        let entries = &values[column * dims..=column * dims + column];
        let solved = x[column] / (entries[column] + 1.0);
        x[column] = solved;
        x[..column].iter_mut().zip(entries).for_each(|(x, entry)| *x -= entry * solved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn fewer_rows_than_dimensions_by_hand() {
        // Mean 0, C = diag(16, 0, 0), trace / 3 = 16/3: squares divided by 64/3 and by 16/3.
        let rows = vec![4.0, 0.0, 0.0, -4.0, 0.0, 0.0, 0.0, 2.0, 0.0, 4.0, 2.0, 0.0];
        let whitened = whiten(&DenseVectors::from_values(3, rows), 2);
        let products = [[0.75, -0.75, 0.0, 0.75], [0.0, 0.0, 0.75, 0.75], [0.75, -0.75, 0.75, 1.5]];
        for (row, expected) in [0, 2, 3].into_iter().zip(products) {
            for (other, expected) in expected.into_iter().enumerate() {
                let product = dot(whitened.row(row), whitened.row(other));
                assert!((product - expected).abs() < 1e-14, "{row} {other}: {product}");
            }
        }
    }

    #[test]
    fn the_scale_of_rows_does_not_matter_even_where_squares_would_overflow() {
        for dims in [2, 6] {
            let values = [4.0, 1.0, -4.0, 0.0, 3.0, 2.0, 0.0, -2.0, 1.0, 7.0, -1.0, 5.0];
            let scaled = |power: i32| {
                let values = values.map(|value| value * 2.0_f64.powi(power));
                whiten(&DenseVectors::from_values(dims, values.to_vec()), 12 / dims)
            };
            assert_eq!(scaled(0), scaled(1000));
            assert_eq!(scaled(0), scaled(-1000));
        }
    }

    #[test]
    fn wide_rows_without_spread_or_direction_do_not_move_further() {
        let rows = DenseVectors::from_values(3, vec![1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 3.0, 3.0, 1.0]);
        assert_eq!(whiten(&rows, 2).row(2), [2.0, 1.0, 1.0]);
        let none = DenseVectors::from_values(2, vec![0.0, 0.0, 3.0, 1.0]);
        assert_eq!(whiten(&none, 1).row(1), [3.0, 1.0]);
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
            values in proptest::collection::vec(-2.0..2.0_f64, 42),
            dims in proptest::sample::select(vec![2_usize, 3, 7]),
            fitted in 1..6_usize,
        ) {
            let rows = DenseVectors::from_values(dims, values[..6 * dims].to_vec());
            let mut mean = vec![0.0; dims];
            for i in 0..fitted {
                for (dim, mean) in mean.iter_mut().enumerate() {
                    *mean += rows.row(i)[dim] / fitted as f64;
                }
            }
            let matrix = DMatrix::from_fn(dims, dims, |a, b| {
                (0..fitted)
                    .map(|i| (rows.row(i)[a] - mean[a]) * (rows.row(i)[b] - mean[b]))
                    .sum::<f64>() / fitted as f64
            });
            prop_assume!(matrix.trace() > 1e-3);
            let inverse = (&matrix + DMatrix::identity(dims, dims) * (matrix.trace() / dims as f64))
                .try_inverse()
                .unwrap();
            let whitened = whiten(&rows, fitted);
            for i in 0..6 {
                for j in 0..6 {
                    let centered = |row: usize| {
                        DMatrix::from_fn(dims, 1, |dim, _| rows.row(row)[dim] - mean[dim])
                    };
                    let expected = (centered(i).transpose() * &inverse * centered(j))[(0, 0)];
                    let product = dot(whitened.row(i), whitened.row(j));
                    prop_assert!((product - expected).abs() < 1e-9 * (1.0 + expected.abs()));
                }
            }
        }
    }
}
