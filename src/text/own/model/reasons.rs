//! Why own work is close to Z, and how far z of it rises with each reason.

use std::array::from_fn;

use nalgebra::{SMatrix, SVector};

use super::{Slot, Writer, moments, weighted_mean};

/// Reasons why own work is close to Z.
pub(super) const REASONS: usize = 3;

/// How far z of own work rises with each of [`Slot::reasons`] before anything is seen, and how many slots that is
/// worth: without it cheaters, who are close to Z without a reason, would level the slopes of a small venue.
const RISES: f64 = 0.25;
const RIDGE: f64 = 80.0;

/// What is known of a reason: its mean and deviation, and how far z of own work rises with one deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reason {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) slope: f64,
}

impl Reason {
    pub(super) const NONE: Self = Self { mean: 0.0, deviation: 1.0, slope: 0.0 };

    /// In deviations; 0 where the slot has none.
    pub(super) fn away(&self, value: f64) -> f64 {
        let away = (value - self.mean) / self.deviation;
        if away.is_nan() { 0.0 } else { away }
    }
}

/// The reasons of slots with weights, and the slopes of z on all of them together: least squares, with a ridge
/// of [`RIDGE`] slots towards a rise by [`RISES`].
pub(super) fn reasons(slots: &[Slot], weighted: &[(usize, f64)]) -> [Reason; REASONS] {
    let known = weighted.iter().filter(|&&(slot, _)| !slots[slot].x[1].is_nan());
    // Gone through many times, so that they lie side by side.
    let known: Vec<([f64; REASONS], f64, f64)> = known
        .map(|&(slot, w)| (slots[slot].reasons(Writer::Person), slots[slot].x[1], w))
        .collect();
    let mut reasons = [Reason::NONE; REASONS];
    for (at, reason) in reasons.iter_mut().enumerate() {
        let values = known.iter().map(|&(values, _, w)| ([values[at], f64::NAN], w));
        if let Some((mean, variance)) = moments(values) {
            *reason = Reason { mean: mean[0], deviation: variance[0].sqrt(), slope: 0.0 };
        }
    }
    let usual = weighted_mean(known.iter().map(|&(_, z, w)| (z, w))).unwrap_or(0.0);
    let mut products = SMatrix::<f64, REASONS, REASONS>::identity() * RIDGE;
    let mut with_z = SVector::from(reasons.map(|reason| RIDGE * RISES * reason.deviation));
    for &(values, z, w) in &known {
        let away: [f64; REASONS] = from_fn(|at| reasons[at].away(values[at]));
        let away = SVector::from(away);
        products += away * away.transpose() * w;
        with_z += away * ((z - usual) * w);
    }
    // The ridge makes it positive definite.
    if let Some(factors) = products.cholesky() {
        let slopes = factors.solve(&with_z);
        reasons.iter_mut().zip(&slopes).for_each(|(reason, slope)| reason.slope = *slope);
    }
    reasons
}
