//! How many people hand in something that is not theirs.

use rayon::prelude::*;

use super::model::{Judged, Model};
use super::result::Prevalence;
use crate::stats::rank::mean;

/// How likely the texts are, by the share of people with one that is not theirs.
#[derive(Default)]
pub(super) struct Shares {
    /// Shares and the logarithms of their likelihoods.
    grid: Vec<(f64, f64)>,
}

impl Shares {
    pub(super) fn new<'a>(model: &Model, people: impl Iterator<Item = &'a Judged>) -> Self {
        /// Shares that are tried between one in a hundred thousand and nearly all, each so many times
        /// the one before.
        const STEPS: i32 = 600;
        // By how much the person's texts are likelier if one is not theirs.
        let ratio = |judged: &Judged| {
            let prior = model.prior(judged.slots.len());
            let odds = (judged.logs[1] - judged.logs[0]) - (prior / (1.0 - prior)).ln();
            odds.clamp(-50.0, 50.0).exp()
        };
        let ratios: Vec<f64> = people.map(ratio).collect();
        let shares = (0..=STEPS).map(|step| {
            if step == 0 {
                0.0
            } else {
                10_f64.powf(5.0 * (f64::from(step) / f64::from(STEPS) - 1.0))
            }
        });
        let shares: Vec<f64> = shares.map(|share| share.min(0.999)).collect();
        let fit = |&share: &f64| {
            let each = ratios.iter().map(|ratio| (1.0 - share + share * ratio).ln());
            (share, each.sum::<f64>())
        };
        Self { grid: shares.par_iter().map(fit).collect() }
    }

    fn best(&self) -> (f64, f64) {
        let best = |best: (f64, f64), next: &(f64, f64)| if next.1 > best.1 { *next } else { best };
        self.grid.iter().fold((0.0, f64::NEG_INFINITY), best)
    }

    /// The shares whose logarithm is within 1.92 of the largest: a 95 % interval.
    fn interval(&self) -> (f64, f64) {
        let (_, most) = self.best();
        let inside = self.grid.iter().filter(|(_, value)| *value >= most - 1.92);
        let inside = inside.map(|(share, _)| *share);
        (inside.clone().fold(1.0, f64::min), inside.fold(0.0, f64::max))
    }

    /// Where the interval begins, as a share of the likeliest.
    pub(super) fn least(&self) -> f64 {
        let (best, _) = self.best();
        if best > 0.0 { self.interval().0 / best } else { 0.0 }
    }
}

/// The estimated share of people with a review that is not theirs, of whom `open` have P(own) as it is said and
/// `decided` have copied a review word for word. Its interval is that of the likelihood, but begins at `least` of the
/// open if that is less, and ends at `most` if that is more: what the model takes for an LLM's may be what people are
/// like, and the other way round.
pub(super) fn prevalence(
    shares: &Shares,
    open: &[f64],
    decided: usize,
    [least, most]: [f64; 2],
) -> Option<Prevalence> {
    let judged = open.len() + decided;
    if judged == 0 {
        return None;
    }
    let of_all = |share: f64| (share * open.len() as f64 + decided as f64) / judged as f64;
    let share = of_all(mean(open).map_or(0.0, |own| 1.0 - own));
    let (low, high) = if open.is_empty() { (0.0, 0.0) } else { shares.interval() };
    let (low, high) = (of_all(low.min(least)), of_all(high.max(most)));
    Some(Prevalence { share, interval: (low.min(share), high.max(share)), judged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_copied_is_counted_and_the_interval_only_grows_by_the_bounds() {
        let shares = Shares { grid: vec![(0.0, -9.0), (0.2, 0.0), (0.3, 1.0), (0.4, -9.0)] };
        // Eight of ten are open, of whom .2 to .3, and two copied.
        let ends = |bounds, expected: [f64; 2]| {
            let found = prevalence(&shares, &[0.75; 8], 2, bounds).unwrap();
            assert!((found.share - 0.4).abs() < 1e-12);
            let (low, high) = found.interval;
            assert!((low - expected[0]).abs() < 1e-12 && (high - expected[1]).abs() < 1e-12);
        };
        ends([0.25, 0.25], [0.36, 0.44]);
        ends([0.125, 0.5], [0.3, 0.6]);
        ends([0.0, 1.0], [0.2, 1.0]);
    }
}
