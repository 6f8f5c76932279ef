//! Area under the ROC curve of a score against binary truth.
//!
//! `AUC = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)`, computed from mid-ranks as in Mann and Whitney (1947),
//! *Ann. Math. Statist.* 18(1), in `O(n log n)`.

/// Area under the ROC curve, in `[0, 1]`; 0.5 is chance.
///
/// Each item is a score and whether it is positive; a larger score means "more likely positive".
/// Tied scores count one half. Items with a missing score are left out; count them yourself.
/// `None` if one class is absent among the items with a score.
///
/// # Panics
///
/// If a score is NaN: an undefined score is `None`.
///
/// # Examples
///
/// ```
/// use caz::metrics::auc::auc;
/// // Pairs (0.9, 0.2), (0.9, 0.9): won 1, tied ½, so 1.5 of 2.
/// let items = [(Some(0.9), true), (Some(0.2), false), (Some(0.9), false), (None, true)];
/// assert_eq!(auc(&items), Some(0.75));
/// assert_eq!(auc(&[(Some(1.0), true)]), None);
/// ```
pub fn auc(items: &[(Option<f64>, bool)]) -> Option<f64> {
    let mut scored: Vec<(f64, bool)> =
        items.iter().filter_map(|&(score, positive)| Some((score?, positive))).collect();
    assert!(scored.iter().all(|(score, _)| !score.is_nan()), "an undefined score is None");
    let positives = scored.iter().filter(|(_, positive)| *positive).count();
    let negatives = scored.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rank_sum = 0.0;
    let mut below = 0_usize;
    #[expect(clippy::float_cmp, reason = "a tie is exact equality, also of -0 and 0")]
    for tie in scored.chunk_by(|a, b| a.0 == b.0) {
        let mid_rank = below as f64 + (tie.len() as f64 + 1.0) / 2.0;
        rank_sum += mid_rank * tie.iter().filter(|(_, positive)| *positive).count() as f64;
        below += tie.len();
    }
    let (positives, negatives) = (positives as f64, negatives as f64);
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, over all pairs.
    fn by_pairs(items: &[(Option<f64>, bool)]) -> Option<f64> {
        let (mut won, mut pairs) = (0.0, 0.0);
        for &(high, positive) in items {
            for &(low, other) in items {
                let (Some(high), Some(low)) = (high, low) else { continue };
                if positive && !other {
                    pairs += 1.0;
                    won += if high > low { 1.0 } else { f64::from(u8::from(high >= low)) / 2.0 };
                }
            }
        }
        (pairs > 0.0).then(|| won / pairs)
    }

    fn items() -> impl Strategy<Value = Vec<(Option<f64>, bool)>> {
        let score = prop_oneof![
            1 => Just(None),
            8 => (-3..3_i32).prop_map(|score| Some(f64::from(score) / 2.0)),
            1 => Just(Some(-0.0)),
        ];
        proptest::collection::vec((score, any::<bool>()), 0..40)
    }

    proptest! {
        #[test]
        fn equals_the_definition_and_flips_with_the_sign(items in items()) {
            let area = auc(&items);
            let flipped: Vec<_> =
                items.iter().map(|&(score, positive)| (score.map(|s| -s), positive)).collect();
            match (area, by_pairs(&items), auc(&flipped)) {
                (Some(area), Some(expected), Some(flipped)) => {
                    prop_assert!((area - expected).abs() < 1e-12);
                    prop_assert!((area + flipped - 1.0).abs() < 1e-12);
                }
                (area, expected, flipped) => {
                    prop_assert_eq!(area, None);
                    prop_assert_eq!(expected, None);
                    prop_assert_eq!(flipped, None);
                }
            }
        }
    }
}
