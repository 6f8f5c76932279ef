//! What missing labels could do.
//!
//! A metric over the items that have a label says nothing about the others. Its bounds are the lowest
//! and the highest of three values: without the missing labels, if every one were right, and if every
//! one were wrong: as far from gold as the
//! scale allows if labels are numbers, else the label that gold has most often besides. For bias
//! the missing labels are all the lowest, or all the highest. For precision they are given to the
//! label wherever that is wrong, and withheld where it is right, or the other way round.
//!
//! Whatever the missing labels are, accuracy, mean absolute error, bias, precision and recall are
//! within these bounds; what corrects for chance or goes by ranks need not be, since it depends on
//! how often each label is given.

use super::{Confusion, Metric};

/// Lower and upper bound of a metric, the lower one first; both its value if nothing is missing. A value
/// that is defined lies within.
///
/// `missing[g]` counts the items of gold label g without a label. `None` where the metric is
/// undefined either way.
///
/// # Panics
///
/// If there is not one count per label.
pub(crate) fn bounds(
    metric: Metric,
    matrix: &Confusion,
    missing: &[u64],
    values: Option<&[f64]>,
) -> Option<(f64, f64)> {
    assert_eq!(missing.len(), matrix.size(), "one count per label");
    let filled = |fill: &dyn Fn(usize) -> usize| {
        let mut matrix = matrix.clone();
        for (gold, &items) in missing.iter().enumerate() {
            matrix.add(gold, fill(gold), items);
        }
        metric.of(&matrix, values)
    };
    let last = matrix.size().checked_sub(1)?;
    let (one, other) = match metric {
        Metric::Bias => (filled(&|_| 0), filled(&|_| last)),
        Metric::Precision(label) => {
            let another = usize::from(label == 0).min(last);
            let wrong = filled(&|gold| if gold == label { another } else { label });
            // What is right: only the items of the label get it.
            let right = filled(&|gold| if gold == label { label } else { gold });
            (wrong, right)
        }
        _ => {
            let gold_counts: Vec<u64> =
                matrix.gold_counts().iter().zip(missing).map(|(a, b)| a + b).collect();
            let wrong = |gold: usize| wrong_label(gold, &gold_counts, values);
            (filled(&wrong), filled(&|gold| gold))
        }
    };
    let (one, other) = (one?, other?);
    let value = metric.of(matrix, values).unwrap_or(one);
    Some((one.min(other).min(value), one.max(other).max(value)))
}

/// The label that is most wrong for this gold label; the lower one of two.
fn wrong_label(gold: usize, gold_counts: &[u64], values: Option<&[f64]>) -> usize {
    let badness = |label: usize| match values {
        Some(values) => (values[label] - values[gold]).abs(),
        None => gold_counts[label] as f64,
    };
    let others = (0..gold_counts.len()).filter(|&label| label != gold);
    // `max_by` gives the last of equals, so they are gone through from the end.
    others.rev().max_by(|&a, &b| badness(a).total_cmp(&badness(b))).unwrap_or(gold)
}
