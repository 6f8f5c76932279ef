//! Two labellers on the same items: which one agrees better?

use rand::RngExt;
use rayon::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};

use super::Confusion;
use super::bootstrap::ClusterCounts;
use crate::data::progress::Progress;
use crate::stats::seed::stream;

/// Differences this close count as equal: sums in another order differ in the last digits.
const EQUAL: f64 = 1e-12;

/// Exact two-sided p-value of the test by `McNemar` that both labellers are right equally often.
///
/// `only_first` items are right by the first alone, `only_second` by the second alone; under the
/// null hypothesis each is a fair coin: `p = min(1, 2 P(X <= min))`, X binomial. In `(0, 1]`; 1 if
/// there is no such item. `McNemar` (1947), *Psychometrika* 12(2).
pub(crate) fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let total = only_first + only_second;
    let Ok(coin) = Binomial::new(0.5, total) else { return 1.0 };
    (2.0 * coin.cdf(only_first.min(only_second))).min(1.0)
}

/// How a permutation test draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permutations {
    /// Random assignments, at least 1; all assignments are gone through if they are no more.
    pub draws: u32,
    /// Seed; draw r uses its own stream.
    pub seed: u64,
}

/// Two-sided p-values that the labellers are exchangeable inside every cluster, one per metric.
///
/// In every assignment a coin per cluster decides whose labels of its items are whose; the p-value
/// is the share of assignments with a difference at least as large as the real one, the real one
/// counted among them: in `(0, 1]`. If there are no more than `draws` assignments, all are gone
/// through and the p-value is exact. `None` where the difference is undefined; assignments in
/// which it is undefined count as at least as large. Noreen (1989), *Computer-Intensive Methods
/// for Testing Hypotheses*.
///
/// `of` gives the metrics of a matrix.
///
/// # Panics
///
/// If the labellers do not have the same clusters.
pub(crate) fn exchangeable(
    (first, second): (&ClusterCounts, &ClusterCounts),
    permutations: Permutations,
    progress: &dyn Progress,
    of: impl Fn(&Confusion) -> Vec<Option<f64>> + Sync,
) -> Vec<Option<f64>> {
    let clusters = first.clusters();
    assert_eq!(clusters, second.clusters(), "the same clusters");
    let difference = |keep: &[u32]| -> Vec<Option<f64>> {
        let swap: Vec<u32> = keep.iter().map(|&kept| 1 - kept).collect();
        let (mut one, mut other) = (first.weighted(keep), second.weighted(keep));
        second.add_weighted(&swap, one.counts_mut());
        first.add_weighted(&swap, other.counts_mut());
        of(&one).into_iter().zip(of(&other)).map(|(a, b)| Some(a? - b?)).collect()
    };
    let observed = difference(&vec![1; clusters]);
    let all = u32::try_from(clusters).ok().and_then(|clusters| 1_u64.checked_shl(clusters));
    let all = all.filter(|&all| all <= u64::from(permutations.draws));
    let draws = all.unwrap_or(u64::from(permutations.draws));
    let extreme: Vec<Vec<bool>> = (0..draws)
        .into_par_iter()
        .map(|draw| {
            let keep: Vec<u32> = if all.is_some() {
                (0..clusters).map(|cluster| u32::from(draw >> cluster & 1 == 0)).collect()
            } else {
                let mut random = stream(permutations.seed, "sign flips", draw);
                (0..clusters).map(|_| u32::from(random.random::<bool>())).collect()
            };
            let found = if progress.interrupted() { Vec::new() } else { difference(&keep) };
            progress.advance(1);
            let at_least = |(found, observed): (&Option<f64>, &Option<f64>)| {
                let (Some(found), Some(observed)) = (found, observed) else { return true };
                found.abs() >= observed.abs() - EQUAL
            };
            found.iter().zip(&observed).map(at_least).collect()
        })
        .collect();
    // A random sample of assignments does not hold the real one by itself.
    let real = u64::from(all.is_none());
    (0..observed.len())
        .map(|metric| {
            observed[metric]?;
            let as_large =
                extreme.iter().filter(|draw| draw.get(metric).copied().unwrap_or(true)).count();
            Some((as_large as u64 + real) as f64 / (draws + real) as f64)
        })
        .collect()
}

/// Adjusted p-values of Holm (1979), *Scandinavian Journal of Statistics* 6(2), which control the
/// probability of a single false rejection.
///
/// `(m - rank + 1) p`, made monotone from the smallest up, where `m` counts the values that are
/// not missing. Missing stays missing.
pub(crate) fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| Some((index, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &(index, p)) in order.iter().enumerate() {
        largest = largest.max((order.len() - rank) as f64 * p).min(1.0);
        adjusted[index] = Some(largest);
    }
    adjusted
}
