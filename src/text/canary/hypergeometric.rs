//! Tails of the hypergeometric distribution for small draws.

/// P(X = `k`) where `m` of `n` are drawn without replacement and `c` of the `n` count.
///
/// 0 where `k` cannot be. By products of ratios, so it is exact to rounding for any `n`.
///
/// # Panics
///
/// If `c` or `m` is larger than `n`: a bug of the caller.
pub(crate) fn exactly(n: usize, c: usize, m: usize, k: usize) -> f64 {
    assert!(c <= n && m <= n, "no more than there are");
    if k > c || k > m || m - k > n - c {
        return 0.0;
    }
    // C(m, k) [c]_k [n - c]_(m - k) / [n]_m with falling factorials.
    let mut value = 1.0;
    for i in 0..k {
        value *= (m - i) as f64 / (k - i) as f64 * (c - i) as f64 / (n - i) as f64;
    }
    for i in 0..m - k {
        value *= (n - c - i) as f64 / (n - k - i) as f64;
    }
    value
}

/// P(X >= `f`), as [`exactly`].
///
/// # Panics
///
/// As [`exactly`].
pub(crate) fn at_least(n: usize, c: usize, m: usize, f: usize) -> f64 {
    if f == 0 {
        return 1.0;
    }
    (f..=m).map(|k| exactly(n, c, m, k)).sum::<f64>().min(1.0)
}
