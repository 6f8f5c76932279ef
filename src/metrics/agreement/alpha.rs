//! Krippendorff's alpha for nominal, ordinal and interval labels, any number of raters.
//!
//! `alpha = 1 - D_o / D_e` from the coincidence matrix: a unit with m ratings adds to `o[c, k]` the
//! number of ordered pairs of its ratings with values c and k, over `m - 1`; units with fewer than
//! two ratings are left out. With `n_c = Σ_k o[c, k]` and `n = Σ n_c`:
//!
//! `D_o = Σ o[c, k] δ²(c, k) / n`, `D_e = Σ n_c n_k δ²(c, k) / (n (n - 1))`
//!
//! `δ²`: nominal `1[c != k]`; interval `(v_c - v_k)²`; ordinal `(Σ_{g=c..k} n_g - (n_c + n_k)/2)²`.
//! Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*. (Off the diagonal `e[c, k] =
//! n_c n_k / (n - 1)`; on it `δ` is 0.)

use super::Confusion;

/// What kind of labels they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level<'a> {
    /// Names without an order.
    Nominal,
    /// Ranks; labels are numbered in ascending order.
    Ordinal,
    /// Numbers; the value of every label.
    Interval(&'a [f64]),
}

/// How often pairs of labels meet in a unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coincidences {
    size: usize,
    /// Row by row, symmetric.
    pairs: Vec<f64>,
}

impl Coincidences {
    /// No unit yet, `size` labels.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, pairs: vec![0.0; size * size] }
    }

    /// Adds a unit, as the number of ratings per label, `times` times.
    ///
    /// # Panics
    ///
    /// If the unit has not one count per label.
    pub(crate) fn add(&mut self, unit: &[u64], times: f64) {
        assert_eq!(unit.len(), self.size, "one count per label");
        let ratings: u64 = unit.iter().sum();
        if ratings < 2 {
            return;
        }
        let used = || unit.iter().enumerate().filter(|(_, count)| **count > 0);
        for (c, &first) in used() {
            for (k, &second) in used() {
                let others = if c == k { second - 1 } else { second };
                let pairs = (first * others) as f64 / (ratings as f64 - 1.0);
                self.pairs[c * self.size + k] += times * pairs;
            }
        }
    }

    /// The coincidences of units, each as the number of ratings per label, all of `size` labels.
    ///
    /// # Panics
    ///
    /// If a unit has not `size` counts.
    #[cfg(test)]
    pub(crate) fn of_units<I: AsRef<[u64]>>(size: usize, units: &[I]) -> Self {
        let mut found = Self::new(size);
        units.iter().for_each(|unit| found.add(unit.as_ref(), 1.0));
        found
    }

    /// The coincidences of two raters: every item with two ratings counts both ways round.
    pub(crate) fn of_two(matrix: &Confusion) -> Self {
        let size = matrix.size();
        let mut pairs = vec![0.0; size * size];
        for (c, row) in matrix.rows().enumerate() {
            for (k, &count) in row.iter().enumerate() {
                pairs[c * size + k] += count as f64;
                pairs[k * size + c] += count as f64;
            }
        }
        Self { size, pairs }
    }

    /// Krippendorff's alpha, at most 1; 0 is what chance gives.
    ///
    /// `None` if no unit has two ratings, all of those ratings are one label, or their distances are
    /// out of the range of numbers.
    pub(crate) fn alpha(&self, level: Level<'_>) -> Option<f64> {
        let size = self.size;
        let row = |c: usize| &self.pairs[c * size..(c + 1) * size];
        let counts: Vec<f64> = (0..size).map(|c| row(c).iter().sum()).collect();
        if counts.iter().filter(|&&count| count > 0.0).count() < 2 {
            return None;
        }
        // Ratings up to and with a label, for the distance of ranks.
        let below: Vec<f64> = counts
            .iter()
            .scan(0.0, |sum, count| {
                *sum += count;
                Some(*sum - count / 2.0)
            })
            .collect();
        let distance = |c: usize, k: usize| match level {
            Level::Nominal => f64::from(u8::from(c != k)),
            Level::Ordinal => (below[c] - below[k]).powi(2),
            Level::Interval(values) => (values[c] - values[k]).powi(2),
        };
        let (mut observed, mut expected) = (0.0, 0.0);
        for c in 0..size {
            for k in 0..size {
                let distance = distance(c, k);
                observed += row(c)[k] * distance;
                expected += counts[c] * counts[k] * distance;
            }
        }
        let total: f64 = counts.iter().sum();
        Some(1.0 - (total - 1.0) * observed / expected).filter(|alpha| alpha.is_finite())
    }
}
