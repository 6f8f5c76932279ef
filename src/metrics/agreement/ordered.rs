//! Agreement of labels that are numbers: mean absolute error, bias, and order.

use super::Confusion;

/// Mean of `|label - gold|`, on the scale as given, at least 0; `None` without items.
///
/// `values` holds the number of every label.
pub fn mean_absolute_error(matrix: &Confusion, values: &[f64]) -> Option<f64> {
    mean_over_items(matrix, |gold, label| (values[label] - values[gold]).abs())
}

/// Mean of `label - gold`: positive if the labeller gives higher labels; `None` without items.
///
/// `values` holds the number of every label.
pub fn bias(matrix: &Confusion, values: &[f64]) -> Option<f64> {
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
pub fn auc_over_pairs(matrix: &Confusion) -> Option<f64> {
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
