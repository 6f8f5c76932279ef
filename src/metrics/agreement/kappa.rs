//! Cohen's kappa, plain and weighted.
//!
//! `kappa = 1 - Σ w o / Σ w e`, with `o` the observed shares of pairs of labels, `e` the products
//! of the shares of both labellers, and a distance `w`: 1 for different labels (Cohen 1960,
//! *Educ. Psychol. Meas.* 20(1)), `|i - j|`, or `(i - j)²` (Cohen 1968, *Psychol. Bull.* 70(4)).

use super::Confusion;

/// How far two labels are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distance<'a> {
    /// 1 if they differ.
    Nominal,
    /// `|i - j|`, of the values of the labels.
    Linear(&'a [f64]),
    /// `(i - j)²`, of the values of the labels.
    Quadratic(&'a [f64]),
}

impl Distance<'_> {
    /// The distance of two labels, at least 0.
    ///
    /// # Panics
    ///
    /// If a label has no value.
    pub(crate) fn between(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Nominal => f64::from(u8::from(a != b)),
            Self::Linear(values) => (values[a] - values[b]).abs(),
            Self::Quadratic(values) => (values[a] - values[b]).powi(2),
        }
    }
}

/// Cohen's kappa, at most 1; 0 is what chance gives.
///
/// `None` without items, and if either labeller gives one label only: then the labels say nothing,
/// and the formula would give 0 whatever the gold labels are, or 0/0.
pub(crate) fn kappa(matrix: &Confusion, distance: Distance<'_>) -> Option<f64> {
    let (gold, labels) = (matrix.gold_counts(), matrix.label_counts());
    if values_used(&gold) < 2 || values_used(&labels) < 2 {
        return None;
    }
    let total = matrix.total() as f64;
    let (mut observed, mut expected) = (0.0, 0.0);
    for (i, row) in matrix.rows().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            let weight = distance.between(i, j);
            observed += weight * count as f64;
            expected += weight * gold[i] as f64 * labels[j] as f64;
        }
    }
    Some(1.0 - observed * total / expected)
}

/// How many labels occur.
pub(super) fn values_used(counts: &[u64]) -> usize {
    counts.iter().filter(|&&count| count > 0).count()
}
