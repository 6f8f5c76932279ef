//! A scale cut in two.

use crate::stats::rank::is_tied;

/// The labels of a scale as 0 (below `cut`) and 1 (at or above it), by number of the label.
///
/// `None` if all labels are on one side: then there is nothing to tell apart.
pub(crate) fn binarized(values: &[f64], cut: f64) -> Option<Vec<usize>> {
    // The mean of .1 and .7 is at .4, though its last digit is below.
    let is_above = |value: f64| value > cut || is_tied(value, cut);
    let sides: Vec<usize> = values.iter().map(|&value| usize::from(is_above(value))).collect();
    (sides.contains(&0) && sides.contains(&1)).then_some(sides)
}
