//! Principal components of a table of vectors, the same on every run and thread count.
//!
//! Reference: Jolliffe (2002), "Principal Component Analysis", second edition, section 1.1.

use nalgebra::DMatrix;
use rayon::prelude::*;

/// Rows whose products are summed in one go. Fixed, so that the order of the sums does not
/// depend on the number of threads.
const ROWS_PER_SUM: usize = 1024;

/// The leading principal axes of a table.
#[derive(Debug, Clone)]
pub(super) struct PrincipalComponents {
    /// Mean of every column; it is subtracted before projecting.
    mean: Vec<f64>,
    /// `dims` axes of `width` entries, row-major, unit length, by descending variance. The entry
    /// of an axis that is largest in size is positive (the first of equals).
    axes: Vec<f64>,
    /// Share of the variance along these axes, in `[0, 1]`.
    pub(super) explained: f64,
}

impl PrincipalComponents {
    /// The first `dims` axes of `rows`, row-major with `width` columns.
    ///
    /// # Panics
    ///
    /// If `dims` is larger than `width`, or there is no row: bugs of the caller.
    pub(super) fn fit(rows: &[f64], width: usize, dims: usize) -> Self {
        assert!(dims <= width && !rows.is_empty(), "{dims} axes of {width} columns");
        let mean = mean(rows, width);
        let covariance = covariance(rows, &mean);
        let total: f64 = (0..width).map(|i| covariance[(i, i)]).sum();
        let eigen = covariance.symmetric_eigen();
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        order.truncate(dims);
        let mut axes = Vec::with_capacity(dims * width);
        for &index in &order {
            let axis = eigen.eigenvectors.column(index);
            // `iamax` takes the first of equals.
            let sign = axis[axis.iamax()].signum();
            axes.extend(axis.iter().map(|entry| sign * entry));
        }
        let kept: f64 = order.iter().map(|&index| eigen.eigenvalues[index]).sum();
        Self { mean, axes, explained: if total > 0.0 { kept / total } else { 1.0 } }
    }

    /// The coordinates of every row along the axes, row-major.
    pub(super) fn project(&self, rows: &[f64]) -> Vec<f64> {
        let width = self.mean.len();
        rows.par_chunks_exact(width)
            .flat_map_iter(|row| {
                self.axes.chunks_exact(width).map(move |axis| {
                    let centered = row.iter().zip(&self.mean).map(|(x, mean)| x - mean);
                    centered.zip(axis).map(|(x, entry)| x * entry).sum::<f64>()
                })
            })
            .collect()
    }
}

fn mean(rows: &[f64], width: usize) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(sum, &x)| *sum += x);
    }
    let count = (rows.len() / width) as f64;
    for sum in &mut mean {
        *sum /= count;
    }
    mean
}

/// Divided by the number of rows; the axes do not depend on the divisor.
fn covariance(rows: &[f64], mean: &[f64]) -> DMatrix<f64> {
    let width = mean.len();
    let sums: Vec<Vec<f64>> = rows
        .par_chunks(ROWS_PER_SUM * width)
        .map(|rows| {
            let mut products = vec![0.0; width * width];
            for row in rows.chunks_exact(width) {
                let centered: Vec<f64> = row.iter().zip(mean).map(|(x, mean)| x - mean).collect();
                for (line, &x) in products.chunks_exact_mut(width).zip(&centered) {
                    line.iter_mut().zip(&centered).for_each(|(sum, &y)| *sum += x * y);
                }
            }
            products
        })
        .collect();
    let mut products = vec![0.0; width * width];
    for sum in sums {
        products.iter_mut().zip(sum).for_each(|(total, part)| *total += part);
    }
    let count = (rows.len() / width) as f64;
    DMatrix::from_vec(width, width, products) / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_have_that_line_as_first_axis_with_its_largest_entry_positive() {
        // Mean (3, 1); centered the points are -1, 0 and 1 times (-3, 4) / 5 times 5.
        let rows = [6.0, -3.0, 3.0, 1.0, 0.0, 5.0];
        let components = PrincipalComponents::fit(&rows, 2, 1);
        assert!((components.axes[0] - -0.6).abs() < 1e-12, "{:?}", components.axes);
        assert!((components.axes[1] - 0.8).abs() < 1e-12, "{:?}", components.axes);
        assert!((components.explained - 1.0).abs() < 1e-12);
        let expected = [-5.0, 0.0, 5.0];
        for (x, expected) in components.project(&rows).iter().zip(expected) {
            assert!((x - expected).abs() < 1e-12, "{x} is not {expected}");
        }
    }

    #[test]
    fn all_axes_together_keep_every_distance() {
        let rows: Vec<f64> = (0_u16..60).map(|i| f64::from(i * i % 17) - 4.0).collect();
        let projected = PrincipalComponents::fit(&rows, 4, 4).project(&rows);
        let squared =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum() };
        for i in 0..15 {
            for j in 0..15 {
                let before = squared(&rows[4 * i..4 * i + 4], &rows[4 * j..4 * j + 4]);
                let after = squared(&projected[4 * i..4 * i + 4], &projected[4 * j..4 * j + 4]);
                assert!((before - after).abs() < 1e-9, "{before} is not {after}");
            }
        }
    }
}
