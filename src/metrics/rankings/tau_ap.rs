//! AP correlation: Kendall's tau with more weight at the top.
//!
//! `tau_AP = 2 / (n - 1) Σ_{i >= 2} C(i) / (i - 1) - 1`, with C(i) the number of things above rank
//! i of the ranking that are also above it in the reference. Yilmaz, Aslam and Robertson (2008),
//! SIGIR. With ties: Urbano and Marrero (2017), *The Treatment of Ties in AP Correlation*, ICTIR.
//! All are `O(n²)`. Larger scores stand higher.

/// Things above another one, and how many of them the reference has above it, too.
struct Above {
    /// Rank of the first thing of the tie group in the ranking, from 1.
    rank: usize,
    /// Things in higher groups that the reference has higher, too.
    concordant: usize,
}

fn above(reference: &[f64], ranking: &[f64]) -> Vec<Above> {
    assert_eq!(reference.len(), ranking.len(), "two scores for each");
    let all = || reference.iter().zip(ranking);
    assert!(all().all(|(x, y)| !x.is_nan() && !y.is_nan()), "an undefined score has no rank");
    all()
        .map(|(x, y)| Above {
            rank: 1 + ranking.iter().filter(|other| *other > y).count(),
            concordant: all().filter(|(other_x, other_y)| *other_y > y && *other_x > x).count(),
        })
        .collect()
}

/// AP correlation of a ranking with a reference, in `[-1, 1]`; a tie in the ranking is one rank.
///
/// Not symmetric. Things of the first tie group have nothing above them and are left out; others
/// are compared with what is above their group: `2 / m Σ C(i) / (rank of the group - 1) - 1` over
/// those m. A tie in the reference is not concordant. Without ties this is the `tau_AP` of Yilmaz
/// and others. `None` if the ranking is one group, and for fewer than two things.
///
/// # Panics
///
/// If the lengths differ or a score is NaN.
pub(crate) fn tau_ap(reference: &[f64], ranking: &[f64]) -> Option<f64> {
    let below_top: Vec<Above> =
        above(reference, ranking).into_iter().filter(|item| item.rank > 1).collect();
    let sum: f64 =
        below_top.iter().map(|item| item.concordant as f64 / (item.rank - 1) as f64).sum();
    (!below_top.is_empty()).then(|| 2.0 * sum / below_top.len() as f64 - 1.0)
}

/// `tau_AP,b`: the mean of [`tau_ap`] both ways round; symmetric, for ties that mean "equal".
///
/// `None` if either is.
///
/// # Panics
///
/// If the lengths differ or a score is NaN.
pub(crate) fn tau_ap_b(x: &[f64], y: &[f64]) -> Option<f64> {
    Some((tau_ap(x, y)? + tau_ap(y, x)?) / 2.0)
}
