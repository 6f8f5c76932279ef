//! A scale cut in two.

/// The labels of a scale as 0 (below `cut`) and 1 (at or above it), by number of the label.
///
/// `None` if all labels are on one side: then there is nothing to tell apart.
pub(crate) fn binarized(values: &[f64], cut: f64) -> Option<Vec<usize>> {
    let sides: Vec<usize> = values.iter().map(|&value| usize::from(value >= cut)).collect();
    (sides.contains(&0) && sides.contains(&1)).then_some(sides)
}
