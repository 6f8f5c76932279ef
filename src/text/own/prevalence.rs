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

/// The estimated share of people with a review that is not theirs, of whom `open` have P(own) by the
/// model and `decided` have copied a review word for word, with its interval; nobody need be added to
/// those where `anybody` of the others is not worth a look.
pub(super) fn prevalence(
    shares: &Shares,
    open: &[f64],
    decided: usize,
    anybody: bool,
) -> Option<Prevalence> {
    let judged = open.len() + decided;
    if judged == 0 {
        return None;
    }
    let of_all = |share: f64| (share * open.len() as f64 + decided as f64) / judged as f64;
    let share = of_all(mean(open).map_or(0.0, |own| 1.0 - own));
    let (low, high) = if open.is_empty() { (0.0, 0.0) } else { shares.interval() };
    let low = of_all(if anybody { low } else { 0.0 }).min(share);
    Some(Prevalence { share, interval: (low, of_all(high).max(share)), judged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_copied_is_counted_and_nobody_else_where_nobody_else_is_worth_a_look() {
        let shares = Shares { grid: vec![(0.0, -9.0), (0.1, 0.0), (0.2, -9.0)] };
        let low = |anybody| prevalence(&shares, &[0.9; 8], 2, anybody).unwrap().interval.0;
        assert!((low(false) - 0.2).abs() < 1e-12);
        // Of eight a tenth and the two.
        assert!((low(true) - 0.28).abs() < 1e-12);
    }
}
