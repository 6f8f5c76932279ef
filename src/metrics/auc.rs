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

/// Items sorted by score once, for [`auc`] under many weights of the clusters they belong to: a
/// cluster drawn twice counts as two.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClusteredAuc {
    /// Cluster and class of every item with a score, ascending; ties end where the next begins.
    items: Vec<(u32, bool)>,
    /// Where each tie ends.
    ends: Vec<usize>,
}

impl ClusteredAuc {
    /// Takes a score, whether it is positive, and the cluster of every item.
    ///
    /// # Panics
    ///
    /// If a score is NaN: an undefined score is `None`.
    pub(crate) fn new(items: impl IntoIterator<Item = (Option<f64>, bool, u32)>) -> Self {
        let scored = items.into_iter().filter_map(|(score, class, of)| Some((score?, class, of)));
        let mut scored: Vec<(f64, bool, u32)> = scored.collect();
        assert!(scored.iter().all(|(score, ..)| !score.is_nan()), "an undefined score is None");
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ends = Vec::new();
        #[expect(clippy::float_cmp, reason = "a tie is exact equality, also of -0 and 0")]
        for tie in scored.chunk_by(|a, b| a.0 == b.0) {
            ends.push(ends.last().unwrap_or(&0) + tie.len());
        }
        Self { items: scored.into_iter().map(|(_, class, of)| (of, class)).collect(), ends }
    }

    /// The AUC where the items of cluster `c` count `weights[c]` times each; `None` if a class has no
    /// weight.
    ///
    /// # Panics
    ///
    /// If a cluster has no weight.
    pub(crate) fn auc(&self, weights: &[f64]) -> Option<f64> {
        let (mut positives, mut below, mut won, mut start) = (0.0, 0.0, 0.0, 0);
        for &end in &self.ends {
            let mut tie = [0.0; 2];
            for &(cluster, positive) in &self.items[start..end] {
                tie[usize::from(positive)] += weights[cluster as usize];
            }
            won += tie[1] * (below + tie[0] / 2.0);
            below += tie[0];
            positives += tie[1];
            start = end;
        }
        let pairs = positives * below;
        (pairs > 0.0).then(|| won / pairs)
    }
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
        fn a_cluster_counts_as_often_as_it_is_drawn(
            items in items(),
            drawn in proptest::collection::vec(0..3_u8, 4),
        ) {
            let clustered = || (0..4).cycle().zip(&items);
            let times = |cluster: u32| usize::from(drawn[cluster as usize]);
            let repeated: Vec<_> = clustered()
                .flat_map(|(cluster, item)| std::iter::repeat_n(*item, times(cluster)))
                .collect();
            let sorted = ClusteredAuc::new(clustered().map(|(c, item)| (item.0, item.1, c)));
            let weights: Vec<f64> = drawn.iter().map(|&n| f64::from(n)).collect();
            let (found, expected) = (sorted.auc(&weights), by_pairs(&repeated));
            prop_assert_eq!(found.is_some(), expected.is_some());
            prop_assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }

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

    #[test]
    fn a_win_and_a_tie_of_two_pairs() {
        use crate::metrics::auc::auc;
        // Pairs (0.9, 0.2), (0.9, 0.9): won 1, tied ½, so 1.5 of 2.
        let items = [(Some(0.9), true), (Some(0.2), false), (Some(0.9), false), (None, true)];
        assert_eq!(auc(&items), Some(0.75));
        assert_eq!(auc(&[(Some(1.0), true)]), None);
    }
}
