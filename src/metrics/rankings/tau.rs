//! Kendall's tau-b.
//!
//! `(C - D) / sqrt((P - T_x) (P - T_y))`, with P pairs, C concordant, D discordant, and T tied in
//! one ranking. Kendall (1945), *Biometrika* 33(3). Counted by the kendalls crate in `O(n log n)`,
//! which handles ties; here are its outcomes for what is undefined.

/// Kendall's tau-b of two scores of the same things, in `[-1, 1]`.
///
/// `None` for fewer than two things, and if either score is constant.
///
/// # Panics
///
/// If the lengths differ or a score is NaN.
pub(crate) fn tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "two scores for each");
    assert!(x.iter().chain(y).all(|score| !score.is_nan()), "an undefined score has no rank");
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    let constant = |scores: &[f64]| scores.windows(2).all(|pair| pair[0] == pair[1]);
    if constant(x) || constant(y) {
        return None;
    }
    // The crate compares both by order and by `==`, which disagree on -0 and 0.
    let [x, y] = [x, y].map(|scores| scores.iter().map(|score| score + 0.0).collect::<Vec<_>>());
    let (tau, _) = kendalls::tau_b_with_comparator(&x, &y, f64::total_cmp).ok()?;
    tau.is_finite().then(|| tau.clamp(-1.0, 1.0))
}
