//! Does a score go with the truth? Correlation of two numbers per person, some of them missing.

use std::cmp::Ordering;

use serde::Serialize;

/// How two numbers go together over the people who have both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Correlation {
    /// People with both numbers.
    pub n: usize,
    /// Pearson's product-moment correlation, in `[-1, 1]`; `None` for fewer than two people or
    /// where one of the two numbers is the same for all.
    pub pearson: Option<f64>,
    /// Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank. Missing
    /// as [`Self::pearson`].
    pub spearman: Option<f64>,
}

/// Correlation of the pairs in which nothing is missing, e.g. a score and an accuracy by worker.
///
/// # Panics
///
/// If a number is NaN: an undefined score is `None`.
pub(crate) fn correlation(
    pairs: impl IntoIterator<Item = (Option<f64>, Option<f64>)>,
) -> Correlation {
    let (a, b): (Vec<f64>, Vec<f64>) =
        pairs.into_iter().filter_map(|(a, b)| Some((a?, b?))).unzip();
    assert!(a.iter().chain(&b).all(|value| !value.is_nan()), "an undefined number is None");
    Correlation {
        n: a.len(),
        pearson: pearson(&a, &b),
        spearman: pearson(&mid_ranks(&a), &mid_ranks(&b)),
    }
}

fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    let varies = |values: &[f64]| {
        values.iter().any(|value| value.partial_cmp(&values[0]).is_some_and(Ordering::is_ne))
    };
    if a.is_empty() || !varies(a) || !varies(b) {
        return None;
    }
    let centered = |values: &[f64]| -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - mean).collect()
    };
    let (a, b) = (centered(a), centered(b));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let length = (dot(&a, &a) * dot(&b, &b)).sqrt();
    // Differences too small for their squares are no variation.
    (length > 0.0).then(|| (dot(&a, &b) / length).clamp(-1.0, 1.0))
}

/// Rank of each value from 1 for the smallest; equal values share the mean of their ranks.
fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0_usize;
    #[expect(clippy::float_cmp, reason = "a tie is exact equality, also of -0 and 0")]
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &index in tie {
            ranks[index] = below as f64 + (tie.len() as f64 + 1.0) / 2.0;
        }
        below += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(a: &[f64], b: &[f64]) -> Correlation {
        correlation(a.iter().copied().map(Some).zip(b.iter().copied().map(Some)))
    }

    #[test]
    fn both_by_hand() {
        // Means 2 and 2; products (-1)(-2) + 0 + 1 * 3 = 5, squares 2 and 14 with b = 0, 1, 5:
        // mean 2, deviations -2, -1, 3: 5 / sqrt(28). Ranks agree.
        let got = of(&[1.0, 2.0, 3.0], &[0.0, 1.0, 5.0]);
        assert!((got.pearson.unwrap() - 5.0 / 28.0_f64.sqrt()).abs() < 1e-12);
        assert!((got.spearman.unwrap() - 1.0).abs() < 1e-12);
        // Ties: ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, squares 1.5 and 2.
        let tied = of(&[0.0, 0.0, 7.0], &[1.0, 2.0, 3.0]);
        assert!((tied.spearman.unwrap() - 1.5 / 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn undefined_is_missing() {
        let nothing = Correlation::default();
        assert_eq!(correlation([]), nothing);
        assert_eq!(correlation([(Some(1.0), None), (None, Some(1.0))]), nothing);
        assert_eq!(of(&[1.0], &[2.0]), Correlation { n: 1, ..nothing });
        assert_eq!(of(&[1.0, 1.0], &[2.0, 3.0]), Correlation { n: 2, ..nothing });
    }

    proptest! {
        #[test]
        fn correlations_are_symmetric_bounded_and_blind_to_scale(
            pairs in prop::collection::vec((-9..9_i32, -9..9_i32), 0..20),
        ) {
            let a: Vec<f64> = pairs.iter().map(|p| f64::from(p.0)).collect();
            let b: Vec<f64> = pairs.iter().map(|p| f64::from(p.1)).collect();
            let (one, other) = (of(&a, &b), of(&b, &a));
            let scaled: Vec<f64> = a.iter().map(|x| 3.0 - 2.0 * x).collect();
            let turned = of(&scaled, &b);
            for (x, y, minus) in [
                (one.pearson, other.pearson, turned.pearson),
                (one.spearman, other.spearman, turned.spearman),
            ] {
                prop_assert_eq!(x.is_some(), y.is_some() && minus.is_some());
                if let (Some(x), Some(y), Some(minus)) = (x, y, minus) {
                    prop_assert!((-1.0..=1.0).contains(&x));
                    prop_assert!((x - y).abs() < 1e-12 && (x + minus).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn three_ranks_of_which_two_are_swapped() {
        use crate::metrics::correlation::correlation;
        // Ranks 1, 2, 3 against 1, 3, 2: 1 - 6 (0 + 1 + 1) / (3 * 8) = 1/2.
        let pairs = [(Some(0.1), Some(2.0)), (Some(0.2), Some(9.0)), (Some(0.9), Some(3.0))];
        let both = correlation(pairs.into_iter().chain([(None, Some(1.0))]));
        assert_eq!(both.n, 3);
        assert!((both.spearman.unwrap() - 0.5).abs() < 1e-12);
    }
}
