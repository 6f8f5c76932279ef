//! Agreement of labels that are numbers: errors, bias, order and correlation.

use super::Confusion;
use super::kappa::values_used;

/// Mean of `|label - gold|`, on the scale as given, at least 0; `None` without items.
///
/// `values` holds the number of every label.
pub(crate) fn mean_absolute_error(matrix: &Confusion, values: &[f64]) -> Option<f64> {
    mean_over_items(matrix, |gold, label| (values[label] - values[gold]).abs())
}

/// Root of the mean of `(label - gold)²`, at least 0; `None` without items.
///
/// `values` holds the number of every label.
pub(crate) fn root_mean_square_error(matrix: &Confusion, values: &[f64]) -> Option<f64> {
    mean_over_items(matrix, |gold, label| (values[label] - values[gold]).powi(2)).map(f64::sqrt)
}

/// Pearson's product-moment correlation of label and gold, in `[-1, 1]`; `None` without items, and
/// if either gives one label only.
///
/// `values` holds the number of every label.
pub(crate) fn pearson(matrix: &Confusion, values: &[f64]) -> Option<f64> {
    correlation(matrix, values, values)
}

/// Spearman's rank correlation of label and gold, as [`pearson()`]: that of the ranks, ties sharing
/// their mean rank. Labels are numbered by ascending value.
pub(crate) fn spearman(matrix: &Confusion) -> Option<f64> {
    let ranks = |counts: Vec<u64>| -> Vec<f64> {
        let mut below = 0;
        let rank = |count: u64| {
            below += count;
            (below - count) as f64 + (count as f64 + 1.0) / 2.0
        };
        counts.into_iter().map(rank).collect()
    };
    correlation(matrix, &ranks(matrix.gold_counts()), &ranks(matrix.label_counts()))
}

/// Correlation where a gold label and a label have values of their own.
fn correlation(matrix: &Confusion, of_gold: &[f64], of_label: &[f64]) -> Option<f64> {
    let (gold, labels) = (matrix.gold_counts(), matrix.label_counts());
    if values_used(&gold) < 2 || values_used(&labels) < 2 {
        return None;
    }
    let centred = |values: &[f64], counts: &[u64]| -> Vec<f64> {
        let sum: f64 = values.iter().zip(counts).map(|(value, &count)| value * count as f64).sum();
        let mean = sum / matrix.total() as f64;
        values.iter().map(|value| value - mean).collect()
    };
    let squares = |values: &[f64], counts: &[u64]| -> f64 {
        values.iter().zip(counts).map(|(value, &count)| value * value * count as f64).sum()
    };
    let (x, y) = (centred(of_gold, &gold), centred(of_label, &labels));
    let length = (squares(&x, &gold) * squares(&y, &labels)).sqrt();
    let mut sum = 0.0;
    for (row, x) in matrix.rows().zip(&x) {
        sum += x * row.iter().zip(&y).map(|(&count, y)| count as f64 * y).sum::<f64>();
    }
    // Differences too small for their squares are no variation.
    (length > 0.0).then(|| (sum / length).clamp(-1.0, 1.0))
}

/// Mean of `label - gold`: positive if the labeller gives higher labels; `None` without items.
///
/// `values` holds the number of every label.
pub(crate) fn bias(matrix: &Confusion, values: &[f64]) -> Option<f64> {
    mean_over_items(matrix, |gold, label| values[label] - values[gold])
}

fn mean_over_items(matrix: &Confusion, of: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let total = matrix.total();
    let mut sum = 0.0;
    for (gold, row) in matrix.rows().enumerate() {
        for (label, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            sum += count as f64 * of(gold, label);
        }
    }
    (total > 0).then(|| sum / total as f64)
}

/// Probability that of two items with different gold labels the one with the higher gold label has
/// the higher label, ties one half: in `[0, 1]`, 0.5 is chance. Over all pairs of items, whatever
/// their cluster.
///
/// Labels are numbered by ascending value. `None` if all items have one gold label. A constant
/// labeller has 0.5, since every pair is a tie. With two gold labels this is the area under the
/// ROC curve. `O(K²)` for K labels.
pub(crate) fn auc_over_pairs(matrix: &Confusion) -> Option<f64> {
    let size = matrix.size();
    // Of the items with a lower gold label: how many have each label.
    let mut lower = vec![0_u64; size];
    let (mut won, mut pairs) = (0.0, 0.0);
    for row in matrix.rows() {
        let mut below = 0_u64;
        for label in 0..size {
            won += row[label] as f64 * (below as f64 + lower[label] as f64 / 2.0);
            below += lower[label];
        }
        pairs += below as f64 * row.iter().sum::<u64>() as f64;
        lower.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    (pairs > 0.0).then(|| won / pairs)
}
