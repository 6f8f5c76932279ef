//! What the tables of reviewers and of workers show alike: estimates, worst first.

use crate::report::Cell;
use crate::stats::interval::Estimate;

/// The cells under `score`, `se`, `ci_low` and `ci_high`.
pub(super) fn estimate_cells(estimate: Option<Estimate>) -> [Cell; 4] {
    let interval = estimate.and_then(|estimate| estimate.interval());
    [
        estimate.map(|estimate| estimate.value).into(),
        estimate.and_then(|estimate| estimate.standard_error).into(),
        interval.map(|(low, _)| low).into(),
        interval.map(|(_, high)| high).into(),
    ]
}

/// Positions by ascending score, missing ones last, ties by name.
pub(super) fn worst_first(values: &[Option<f64>], names: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| {
        let by_score = match (values[a], values[b]) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        by_score.then_with(|| names[a].cmp(&names[b]))
    });
    order
}
