//! Rank-biased overlap: overlap of the tops of two rankings, deeper tops counting less.
//!
//! `RBO = (1 - p) Σ_d p^(d-1) A_d` with `A_d = X_d / d`, X the overlap of both tops of depth d and
//! p the persistence. Webber, Moffat and Zobel (2010), *ACM TOIS* 28(4). Ties: Corsi and Urbano
//! (2024), *The Treatment of Ties in Rank-Biased Overlap*, SIGIR. The rbo crate has no ties.
//!
//! The tie group of an item spans ranks t..b; the item counts at depth d
//! `c_d = 0` for d < t, `(d - t + 1) / (b - t + 1)` for t <= d < b, `1` from b on, and
//! `X_d = Σ c^S_d c^L_d` over the items of both. `a`: `A = X / d`, the mean over all orders of tied
//! items; `b`: `A = X / sqrt(Σ (c^S)² Σ (c^L)²)`, 1 for equal rankings with ties; `w`: tied items
//! all stand at rank t, `A = 2X / (|S_d| + |L_d|)`.

use std::collections::BTreeMap;

use super::ranking::{Ranking, Span};

/// What a tie means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The order of the tied items is unknown.
    A,
    /// They are equal; equal rankings have RBO 1.
    B,
    /// They all stand at the first rank of their group, as in sports.
    W,
}

/// RBO of the first N depths of two rankings of N items, in `[0, 1 - p^N]`; ties as in `a`.
///
/// N is the length of the shorter ranking. `None` if either is empty.
///
/// # Panics
///
/// If the persistence is not between 0 and 1.
pub(crate) fn truncated(x: &Ranking, y: &Ranking, persistence: f64) -> Option<f64> {
    let overlaps = Overlaps::new(x, y, Ties::A, persistence)?;
    let depth = x.len().min(y.len());
    let terms = (1..=depth).map(|d| power(persistence, d - 1) * overlaps.at(d).agreement);
    Some((1.0 - persistence) * terms.sum::<f64>())
}

/// [`truncated`] RBO, moved to `[0, 1]`: 0 for the least and 1 for the largest that two rankings
/// of the same N items without ties can have.
///
/// Largest `1 - p^N`, least `(1 - p) Σ_{d > N/2} p^(d-1) (2d - N) / d`. With ties the value may
/// be below 1 for equal rankings. `None` for rankings of different items, and of fewer than two,
/// where both are the same.
///
/// # Panics
///
/// If the persistence is not between 0 and 1.
pub(crate) fn normalised(x: &Ranking, y: &Ranking, persistence: f64) -> Option<f64> {
    let items = |ranking: &Ranking| {
        let mut items: Vec<u32> = ranking.spans().map(|(item, _)| item).collect();
        items.sort_unstable();
        items
    };
    let count = x.len();
    if count < 2 || items(x) != items(y) {
        return None;
    }
    let largest = 1.0 - power(persistence, count);
    let least: f64 = (count / 2 + 1..=count)
        .map(|d| power(persistence, d - 1) * (2 * d - count) as f64 / d as f64)
        .sum::<f64>()
        * (1.0 - persistence);
    // The sums of equal rankings may differ in the last digit.
    Some(((truncated(x, y, persistence)? - least) / (largest - least)).min(1.0))
}

/// Extrapolated RBO: what is seen goes on below the end of the shorter ranking; in `[0, 1]`.
///
/// With lengths `s <= l`: `(1-p)/p [ Σ_{d<=l} A_d p^d + (X_l + (l-s) A_s)/l p^(l+1)/(1-p) ]`, where
/// for `s < d <= l` the overlap has `(d-s) A_s` more, times the mean `c^L` of the items of the
/// longer ranking alone that count at d. Equal rankings have 1 (with ties: in `b` and `w`).
/// `None` if either ranking is empty.
///
/// # Panics
///
/// If the persistence is not between 0 and 1.
pub(crate) fn extrapolated(x: &Ranking, y: &Ranking, persistence: f64, ties: Ties) -> Option<f64> {
    let overlaps = Overlaps::new(x, y, ties, persistence)?;
    let (short, long) = (overlaps.short, overlaps.long);
    let at_short = overlaps.at(short).agreement;
    let seen: f64 = (1..=long)
        .map(|depth| {
            let overlap = overlaps.at(depth);
            let agreement = if depth <= short {
                overlap.agreement
            } else {
                let more = (depth - short) as f64 * at_short * overlap.only_long;
                (overlap.common + more) * overlap.factor
            };
            agreement * power(persistence, depth)
        })
        .sum();
    let end = (overlaps.at(long).common + (long - short) as f64 * at_short) / long as f64;
    let unseen = end * power(persistence, long + 1) / (1.0 - persistence);
    Some(((1.0 - persistence) / persistence * (seen + unseen)).min(1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a short list")]
fn power(base: f64, exponent: usize) -> f64 {
    base.powi(exponent as i32)
}

/// Overlaps of two rankings at every depth.
struct Overlaps {
    ties: Ties,
    short: usize,
    long: usize,
    /// Spans of the items of both, in the shorter and in the longer ranking.
    both: Vec<(Span, Span)>,
    all_short: Vec<Span>,
    all_long: Vec<Span>,
    only_long: Vec<Span>,
}

struct Overlap {
    /// X.
    common: f64,
    /// A.
    agreement: f64,
    /// A over X, from the sizes of both tops alone.
    factor: f64,
    /// Mean contribution of the items of the longer ranking alone that have one, else 0.
    only_long: f64,
}

impl Overlaps {
    fn new(x: &Ranking, y: &Ranking, ties: Ties, persistence: f64) -> Option<Self> {
        assert!(persistence > 0.0 && persistence < 1.0, "a persistence between 0 and 1");
        let (short, long) = if x.len() <= y.len() { (x, y) } else { (y, x) };
        if short.is_empty() {
            return None;
        }
        let in_short: BTreeMap<u32, Span> = short.spans().collect();
        let (both, only_long): (Vec<_>, Vec<_>) =
            long.spans().partition(|(item, _)| in_short.contains_key(item));
        Some(Self {
            ties,
            short: short.len(),
            long: long.len(),
            both: both.into_iter().map(|(item, span)| (in_short[&item], span)).collect(),
            all_short: short.spans().map(|(_, span)| span).collect(),
            all_long: long.spans().map(|(_, span)| span).collect(),
            only_long: only_long.into_iter().map(|(_, span)| span).collect(),
        })
    }

    /// What a span counts at a depth, in `[0, 1]`.
    fn contribution(&self, span: Span, depth: usize) -> f64 {
        let Span { top, bottom } = span;
        if depth < top {
            0.0
        } else if depth >= bottom || self.ties == Ties::W {
            1.0
        } else {
            (depth - top + 1) as f64 / (bottom - top + 1) as f64
        }
    }

    fn at(&self, depth: usize) -> Overlap {
        let c = |span: &Span| self.contribution(*span, depth);
        let common = self.both.iter().map(|(short, long)| c(short) * c(long)).sum();
        // Below its end the shorter ranking is taken to go on without ties.
        let beyond = depth.saturating_sub(self.short) as f64;
        let size = |of: &dyn Fn(f64) -> f64| {
            let short: f64 = self.all_short.iter().map(|span| of(c(span))).sum();
            let long: f64 = self.all_long.iter().map(|span| of(c(span))).sum();
            (short + beyond, long)
        };
        let factor = match self.ties {
            Ties::A => 1.0 / depth as f64,
            Ties::B => {
                let (short, long) = size(&|c| c * c);
                1.0 / (short * long).sqrt()
            }
            Ties::W => {
                let (short, long) = size(&|c| c);
                2.0 / (short + long)
            }
        };
        let seen: Vec<f64> = self.only_long.iter().map(c).filter(|c| *c > 0.0).collect();
        let only_long =
            if seen.is_empty() { 0.0 } else { seen.iter().sum::<f64>() / seen.len() as f64 };
        let agreement = common * factor;
        Overlap { common, agreement, factor, only_long }
    }
}
