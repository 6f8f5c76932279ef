//! What the place and the length of an answer do to a verdict, at the same quality.
//!
//! `logit P(a wins) = p s + l d + q g` over the verdicts for a side, with `s` 1 if `a` was shown
//! first and -1 if not, `d` the logarithm to base 2 of the ratio of the words of `a` and `b`, and
//! `g` 1, -1 or 0 for the gold verdict. There is no constant: which answer is called `a` means
//! nothing. Fitted by Newton's method; undefined where the verdicts are separated by the terms, as
//! those of a judge who is always right are.

use nalgebra::{DMatrix, DVector};

use super::verdicts::{Judge, Verdicts};
use crate::data::side::Side;

/// Steps after which the fit has not converged.
const STEPS: usize = 40;
/// Change of a slope that ends the fit.
const CLOSE: f64 = 1e-9;
/// A slope beyond this is that of separated verdicts.
const LARGEST: f64 = 25.0;

/// One verdict for a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    /// Cluster of the pair.
    pub cluster: u32,
    /// Whether side a won.
    pub won: bool,
    /// Place, length, gold.
    pub terms: [f64; 3],
}

/// The verdicts for a side on pairs of known length.
pub(crate) fn observations(verdicts: &Verdicts, judge: &Judge) -> Vec<Observation> {
    let mut found = Vec::new();
    for (&pair, judged) in &judge.judged {
        let pair = &verdicts.pairs[pair as usize];
        let Some((a, b)) = pair.words.filter(|(a, b)| *a > 0 && *b > 0) else { continue };
        let gold = match pair.gold() {
            Some(Side::A) => 1.0,
            Some(Side::B) => -1.0,
            _ => 0.0,
        };
        let length = (f64::from(a) / f64::from(b)).log2();
        for (place, verdict) in [1.0, -1.0].into_iter().zip(judged.orders) {
            let Some(Some(verdict @ (Side::A | Side::B))) = verdict else { continue };
            found.push(Observation {
                cluster: pair.cluster,
                won: verdict == Side::A,
                terms: [place, length, gold],
            });
        }
    }
    found
}

/// Log-odds for a side that is twice as long, place and gold being equal; `None` if undefined.
pub(crate) fn length_slope(observations: &[Observation], weights: &[u32]) -> Option<f64> {
    let used: Vec<usize> =
        (0..3).filter(|&term| observations.iter().any(|o| o.terms[term] != 0.0)).collect();
    let at = used.iter().position(|&term| term == 1)?;
    let size = used.len();
    let mut slopes = DVector::<f64>::zeros(size);
    for _ in 0..STEPS {
        let mut gradient = DVector::<f64>::zeros(size);
        let mut curvature = DMatrix::<f64>::zeros(size, size);
        for observation in observations {
            let weight = f64::from(weights[observation.cluster as usize]);
            if weight == 0.0 {
                continue;
            }
            let term = |index: usize| observation.terms[used[index]];
            let score: f64 = (0..size).map(|index| slopes[index] * term(index)).sum();
            let expected = 1.0 / (1.0 + (-score).exp());
            let error = weight * (f64::from(u8::from(observation.won)) - expected);
            let spread = weight * expected * (1.0 - expected);
            for row in 0..size {
                gradient[row] += error * term(row);
                for column in 0..=row {
                    curvature[(row, column)] += spread * term(row) * term(column);
                }
            }
        }
        curvature.fill_upper_triangle_with_lower_triangle();
        let step = curvature.cholesky()?.solve(&gradient);
        slopes += &step;
        if slopes.iter().any(|slope| !slope.is_finite() || slope.abs() > LARGEST) {
            return None;
        }
        if step.amax() < CLOSE {
            return Some(slopes[at]);
        }
    }
    None
}
