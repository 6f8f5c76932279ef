//! Ranks, medians and quantiles of scores, some of which may be missing.

/// Scores that differ by less than this share of the larger are equal but for rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Whether two scores are equal but for rounding: the order of a sum must not decide a rank.
pub(crate) fn is_tied(a: f64, b: f64) -> bool {
    let scale = a.abs().max(b.abs());
    scale.is_finite() && (a - b).abs() <= ROUNDING * scale || a.total_cmp(&b).is_eq()
}

/// Rank of each score, 1 for the highest; scores that are equal within [`ROUNDING`] of their
/// neighbour share the better rank and the next one is skipped (1, 2, 2, 4). Missing scores have no
/// rank.
pub(crate) fn descending_ranks(scores: &[Option<f64>]) -> Vec<Option<u64>> {
    let mut order: Vec<(usize, f64)> =
        scores.iter().enumerate().filter_map(|(index, score)| Some((index, (*score)?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut ranks = vec![None; scores.len()];
    let mut rank = 0;
    for (position, &(index, score)) in order.iter().enumerate() {
        let tied = position > 0 && is_tied(order[position - 1].1, score);
        if !tied {
            rank = position as u64 + 1;
        }
        ranks[index] = Some(rank);
    }
    ranks
}

/// Sum over number; `None` without values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Middle value, the mean of the two middle ones for an even number; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        None
    } else if sorted.len().is_multiple_of(2) {
        Some((sorted[middle - 1] + sorted[middle]) / 2.0)
    } else {
        Some(sorted[middle])
    }
}

/// Quantile of ascending values by linear interpolation (type 7 of Hyndman and Fan 1996, the
/// default of R and `NumPy`): 0 gives the smallest, 0.5 the median, 1 the largest. `None` without
/// values.
///
/// # Panics
///
/// If `probability` is not in `[0, 1]`: a bug of the caller.
pub(crate) fn quantile(ascending: &[f64], probability: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&probability), "a probability");
    let last = ascending.len().checked_sub(1)?;
    let position = probability * last as f64;
    let below = whole(position);
    let above = (below + 1).min(last);
    Some(ascending[below] + (position - below as f64) * (ascending[above] - ascending[below]))
}

/// A count or a place that was computed as a float, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are at least 0 and below 2^53"
)]
pub(crate) fn whole(count: f64) -> usize {
    count as usize
}

/// Positions by ascending score, missing ones last, ties by name.
pub(crate) fn worst_first(values: &[Option<f64>], names: &[String]) -> Vec<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_better_rank_and_missing_has_none() {
        let scores = [Some(0.5), None, Some(0.9), Some(0.5), Some(-1.0)];
        assert_eq!(descending_ranks(&scores), [Some(2), None, Some(1), Some(2), Some(4)]);
    }

    #[test]
    fn what_rounding_tells_apart_is_a_tie() {
        let third = 0.1 + 0.2;
        assert!(third > 0.3);
        let scores = [Some(0.3), Some(third), Some(0.0), Some(-0.0), Some(0.3 - 1e-11)];
        assert_eq!(descending_ranks(&scores), [Some(1), Some(1), Some(4), Some(4), Some(3)]);
        assert_eq!(descending_ranks(&[Some(f64::INFINITY), Some(1.0)]), [Some(1), Some(2)]);
    }

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn quantiles_interpolate() {
        // As numpy.quantile([1, 2, 4, 8], [0, .1, .5, .9, 1]).
        let got = [0.0, 0.1, 0.5, 0.9, 1.0].map(|p| quantile(&[1.0, 2.0, 4.0, 8.0], p).unwrap());
        for (got, want) in got.into_iter().zip([1.0, 1.3, 3.0, 6.8, 8.0]) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        assert_eq!(quantile(&[3.0], 0.1), Some(3.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
