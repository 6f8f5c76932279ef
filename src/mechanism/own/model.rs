//! Five densities and who belongs to which: EM for `own`, Bayes for everybody.

use rayon::prelude::*;
use statrs::function::erf::erfc;

use super::features::{Normal, WorkerFeatures, last_half_step};
use super::people::densities;
use crate::stats::rank::median;
use crate::stats::similarity::dot;

/// Least eigenvalue of a covariance: a copy word for word has none of its own.
const LEAST_VARIANCE: f64 = 1e-4;

/// Pseudo-counts of the class shares.
const OWN_PSEUDO_COUNT: f64 = 1.0;
const GHOST_PSEUDO_COUNT: f64 = 0.05;

/// Share of own work at the start.
const START: f64 = 0.9;

/// EM steps; the posteriors settle in far fewer.
const STEPS: usize = 60;

/// Turns a median absolute deviation into a standard deviation.
const NORMAL_MAD: f64 = 1.482_602_218_505_602;

/// Logs of share times density at some features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logs {
    /// Of every kind.
    pub(super) kinds: [f64; 5],
    /// The parts of `llm` that are of a sample somebody has, and of an LLM of which nobody has one.
    pub(super) known_llm: f64,
    pub(super) unknown_llm: f64,
}

impl Logs {
    /// The same where the samples that somebody has stand for copies.
    pub(super) fn known_as_copies(mut self) -> Self {
        self.kinds[1] = log_sum(&[self.kinds[1], self.known_llm]);
        self.kinds[2] = self.unknown_llm;
        self.known_llm = f64::NEG_INFINITY;
        self
    }

    /// Whether such answers read as those of an LLM, but of none that is in the files.
    pub(super) fn is_by_unknown_llm(&self) -> bool {
        let [_, copy, _, guess, constant] = self.kinds;
        let likelier_than = |others: [f64; 2]| self.unknown_llm > log_sum(&others);
        likelier_than([copy, self.known_llm]) && likelier_than([guess, constant])
    }
}

/// The fitted model.
///
/// Own work is what a person does on the same tasks, [`WorkerFeatures::person`], plus what the
/// people of this crowd have in common, [`Model::shift`], plus what one differs from another.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) shift: [f64; 2],
    /// Between workers.
    pub(super) between: [f64; 3],
    log_shares: [f64; 5],
}

impl Model {
    /// Fits `own` and the shares. The order of the workers changes only the last digits.
    pub(super) fn fit(workers: &[&WorkerFeatures]) -> Self {
        let mut model = Self::start(workers);
        // The densities of ghosts never change.
        let ghosts: Vec<[f64; 4]> = workers
            .par_iter()
            .map(|worker| log_ghosts(worker, worker.own.mean, worker.step, worker.constant).0)
            .collect();
        for _ in 0..STEPS {
            let old = model.clone();
            let steps: Vec<([f64; 5], f64)> = workers
                .par_iter()
                .zip(&ghosts)
                .with_min_len(1024)
                .map(|(worker, ghosts)| {
                    let people = old.log_people(worker, worker.own.mean, worker.step);
                    let all = log_sum(&people);
                    let posterior = posterior(&old.weighed(all, *ghosts));
                    (posterior, posterior[0] * (people[0] - all).exp())
                })
                .collect();
            // By how much each is one of most people.
            let average: Vec<f64> = steps.iter().map(|(_, average)| *average).collect();
            model.update(workers, &average);
            model.log_shares = shares(steps.iter().map(|(posterior, _)| posterior));
            if model.is_near(&old) {
                break;
            }
        }
        model
    }

    fn is_near(&self, other: &Self) -> bool {
        let all = |model: &Self| {
            let [a, b] = model.shift;
            let [c, d, e] = model.between;
            [a, b, c, d, e].into_iter().chain(model.log_shares.map(f64::exp)).collect::<Vec<_>>()
        };
        all(self).iter().zip(all(other)).all(|(new, old)| (new - old).abs() < 1e-7)
    }

    /// Medians and median absolute deviations, which a third of cheaters does not move far.
    fn start(workers: &[&WorkerFeatures]) -> Self {
        let mut log_shares = [((1.0 - START) / 4.0).ln(); 5];
        log_shares[0] = START.ln();
        let (mut shift, mut variances) = ([0.0; 2], [0.0; 2]);
        for feature in 0..2 {
            let values: Vec<f64> = workers.iter().map(|worker| beyond(worker)[feature]).collect();
            let middle = median(&values).unwrap_or(0.0);
            let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
            let sampling: Vec<f64> =
                workers.iter().map(|worker| worker.person.covariance[2 * feature]).collect();
            let spread = median(&deviations).unwrap_or(0.0) * NORMAL_MAD;
            shift[feature] = middle;
            variances[feature] = spread * spread - median(&sampling).unwrap_or(0.0);
        }
        Self { shift, between: floored([variances[0], 0.0, variances[1]]), log_shares }
    }

    /// One step for `own`, each worker with weight `p_own`: the shift by generalised least squares,
    /// then the spread between workers from what is expected of each.
    fn update(&mut self, workers: &[&WorkerFeatures], own: &[f64]) {
        let total: f64 = own.iter().sum();
        if total <= 0.0 {
            return;
        }
        let (mut precision, mut weighed) = ([0.0; 3], [0.0; 2]);
        for (worker, own) in workers.iter().zip(own) {
            let inverse = inverse(self.own(worker).covariance);
            let part = times(inverse, beyond(worker));
            (0..3).for_each(|c| precision[c] += own * inverse[c]);
            (0..2).for_each(|f| weighed[f] += own * part[f]);
        }
        self.shift = times(inverse(precision), weighed);
        let mut between = [0.0; 3];
        for (worker, own) in workers.iter().zip(own) {
            let inverse = inverse(self.own(worker).covariance);
            let y = beyond(worker);
            let rest = times(inverse, [y[0] - self.shift[0], y[1] - self.shift[1]]);
            let expected = times(self.between, rest);
            // Covariance of what is left unknown: B - B (B + S)^-1 B.
            let [first, second] =
                [[self.between[0], self.between[1]], [self.between[1], self.between[2]]];
            let (u, v) = (times(inverse, first), times(inverse, second));
            let unknown = [
                self.between[0] - dot(&first, &u),
                self.between[1] - dot(&first, &v),
                self.between[2] - dot(&second, &v),
            ];
            let products =
                [expected[0] * expected[0], expected[0] * expected[1], expected[1] * expected[1]];
            (0..3).for_each(|c| between[c] += own * (products[c] + unknown[c]));
        }
        self.between = floored(between.map(|sum| sum / total));
    }

    /// The density of own work of most people in the tasks of this worker.
    pub(super) fn own(&self, worker: &WorkerFeatures) -> Normal {
        let sampling = floored(worker.person.covariance);
        Normal {
            mean: [0, 1].map(|f| worker.person.mean[f] + self.shift[f]),
            covariance: [0, 1, 2].map(|c| self.between[c] + sampling[c]),
        }
    }

    /// Log of share times density of every kind; minus infinity for a ghost that is not there.
    pub(super) fn log_weights(&self, worker: &WorkerFeatures) -> Logs {
        self.log_weights_at(worker, worker.own.mean, worker.step, worker.constant)
    }

    /// The same at other features and another step in the tasks of this worker, and with other evidence
    /// of a `constant` answer.
    pub(super) fn log_weights_at(
        &self,
        worker: &WorkerFeatures,
        x: [f64; 2],
        step: f64,
        constant: f64,
    ) -> Logs {
        let (ghosts, parts) = log_ghosts(worker, x, step, constant);
        let people = log_sum(&self.log_people(worker, x, step));
        let [known_llm, unknown_llm] = parts.map(|part| part + self.log_shares[2]);
        Logs { kinds: self.weighed(people, ghosts), known_llm, unknown_llm }
    }

    /// The densities of own work for this worker, each with its share of the people; that of most
    /// comes first.
    pub(super) fn people(&self, worker: &WorkerFeatures) -> [(f64, Normal); 3] {
        densities(self.own(worker), worker)
    }

    /// Logs of share times density of each; minus infinity for those that are not there.
    fn log_people(&self, worker: &WorkerFeatures, x: [f64; 2], step: f64) -> [f64; 3] {
        self.people(worker).map(|(share, normal)| {
            if share <= 0.0 {
                return f64::NEG_INFINITY;
            }
            share.ln() + log_weight(&normal, x, step)
        })
    }

    fn weighed(&self, people: f64, ghosts: [f64; 4]) -> [f64; 5] {
        let mut logs = [people; 5];
        logs[1..].copy_from_slice(&ghosts);
        logs.iter_mut().zip(self.log_shares).for_each(|(log, share)| *log += share);
        logs
    }
}

/// Logs of the shares of the kinds.
fn shares<'a>(posteriors: impl Iterator<Item = &'a [f64; 5]>) -> [f64; 5] {
    let mut counts = [GHOST_PSEUDO_COUNT; 5];
    counts[0] = OWN_PSEUDO_COUNT;
    for posterior in posteriors {
        counts.iter_mut().zip(posterior).for_each(|(count, p)| *count += p);
    }
    let all: f64 = counts.iter().sum();
    counts.map(|count| (count / all).ln())
}

/// Features less those of a person on the same tasks.
fn beyond(worker: &WorkerFeatures) -> [f64; 2] {
    [0, 1].map(|f| worker.own.mean[f] - worker.person.mean[f])
}

/// Log density of each kind of ghost, equal parts of its densities, and of `llm` the parts of the samples
/// that somebody has and of the LLM of which nobody has one.
fn log_ghosts(
    worker: &WorkerFeatures,
    x: [f64; 2],
    step: f64,
    constant: f64,
) -> ([f64; 4], [f64; 2]) {
    let of_kind = |kind: usize| -> Vec<f64> {
        let ghosts = &worker.ghosts[kind];
        let equal = (ghosts.len().max(1) as f64).ln();
        ghosts.iter().map(|ghost| log_weight(ghost, x, step) - equal).collect()
    };
    let mut kinds = [0, 1, 2, 3].map(|kind| log_sum(&of_kind(kind)));
    kinds[3] += constant;
    let llms = of_kind(1);
    // The samples come first.
    let (known, unknown) = llms.split_at(llms.len().saturating_sub(1));
    (kinds, [log_sum(known), log_sum(unknown)])
}

/// Log of the sum of exponentials; minus infinity of none.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// Probabilities from logs of weights.
pub(super) fn posterior(logs: &[f64; 5]) -> [f64; 5] {
    let total = log_sum(logs);
    let weights = logs.map(|log| (log - total).exp());
    let total: f64 = weights.iter().sum();
    weights.map(|weight| weight / total)
}

/// `ln p_own - ln(1 - p_own)`.
pub(super) fn log_odds(logs: &[f64; 5]) -> f64 {
    logs[0] - log_sum(&logs[1..])
}

/// Log density; of who says what Z says on every task, the log of the density of the agreement and of the
/// probability to say so.
///
/// All answers alike are one point of a row of points, a `step` of the copy excess apart: a copier is
/// on it for certain, and a person with some probability, which may be large where tasks are easy and
/// the LLM is good. The densities of both at the point say little of that: a copier's is as high as it
/// is made narrow. Whoever is there also agrees with the others as often as all there; the densities of
/// that are kept all the same, since without them the probabilities are too cautious
/// (`docs/results.md`). The weights at this point are not comparable with those elsewhere, and nobody
/// compares them.
fn log_weight(normal: &Normal, x: [f64; 2], step: f64) -> f64 {
    let covariance = floored(normal.covariance);
    let last = last_half_step(step);
    if x[0] < last {
        return log_density(&Normal { covariance, ..*normal }, x);
    }
    let ([a, b, _], [_, _, c]) = (normal.covariance, covariance);
    let offset = x[1] - normal.mean[1];
    let of_agreement = -0.5 * (offset * offset / c + c.ln() + std::f64::consts::TAU.ln());
    let mean = normal.mean[0] + b / c * offset;
    // So narrow that what has no spread is certain.
    let sd = (a - b * b / c).max(0.0).sqrt().max(step / 16.0);
    of_agreement + log_above((last - mean) / sd)
}

/// Log of the probability that a standard normal variable is above `t`.
fn log_above(t: f64) -> f64 {
    /// Beyond this the probability is too small a number, and this series exact to 1e-7.
    const FAR: f64 = 30.0;
    if t < FAR {
        return (0.5 * erfc(t / std::f64::consts::SQRT_2)).ln();
    }
    let square = t * t;
    -0.5 * (square + std::f64::consts::TAU.ln()) - t.ln() - (1.0 - 2.5 / square) / square
}

fn log_density(normal: &Normal, x: [f64; 2]) -> f64 {
    let [a, b, c] = normal.covariance;
    let determinant = a * c - b * b;
    let offset = [x[0] - normal.mean[0], x[1] - normal.mean[1]];
    let distance = dot(&offset, &times(inverse(normal.covariance), offset));
    -0.5 * (distance + determinant.ln()) - std::f64::consts::TAU.ln()
}

/// Inverse of a symmetric matrix.
fn inverse([a, b, c]: [f64; 3]) -> [f64; 3] {
    let determinant = a * c - b * b;
    [c / determinant, -b / determinant, a / determinant]
}

/// A symmetric matrix times a vector.
fn times([a, b, c]: [f64; 3], [x, y]: [f64; 2]) -> [f64; 2] {
    [a * x + b * y, b * x + c * y]
}

/// The symmetric matrix with its eigenvalues raised to [`LEAST_VARIANCE`].
pub(super) fn floored([a, b, c]: [f64; 3]) -> [f64; 3] {
    let (middle, half) = ((a + c) / 2.0, (a - c) / 2.0);
    let radius = half.hypot(b);
    let (high, low) =
        ((middle + radius).max(LEAST_VARIANCE), (middle - radius).max(LEAST_VARIANCE));
    let angle = b.atan2(half) / 2.0;
    let (sine, cosine) = angle.sin_cos();
    [
        high * cosine * cosine + low * sine * sine,
        (high - low) * sine * cosine,
        high * sine * sine + low * cosine * cosine,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVERAGE: Normal = Normal { mean: [0.7, 0.8], covariance: [0.04, 0.006, 0.0025] };

    /// The density between two copy excesses, by the rule of Simpson.
    fn between(normal: &Normal, agreement: f64, from: f64, to: f64) -> f64 {
        const PARTS: u32 = 20_000;
        let width = (to - from) / f64::from(PARTS);
        let at = |part: u32| log_density(normal, [from + f64::from(part) * width, agreement]).exp();
        let weight = |part: u32| match part {
            0 | PARTS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=PARTS).map(|part| weight(part) * at(part)).sum::<f64>() * width / 3.0
    }

    #[test]
    fn all_answers_alike_weigh_what_is_beyond_the_last_half_step() {
        for (step, agreement) in [(0.25, 0.8), (0.1, 0.9), (0.02, 0.75)] {
            let expected = between(&AVERAGE, agreement, 1.0 - step / 2.0, 3.0);
            let found = log_weight(&AVERAGE, [1.0, agreement], step).exp();
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
            // Short of it nothing is changed.
            let x = [1.0 - step, 0.8];
            assert_eq!(log_weight(&AVERAGE, x, step).to_bits(), log_density(&AVERAGE, x).to_bits());
        }
    }

    #[test]
    fn all_alike_is_certain_of_a_copy_and_of_a_person_about_the_product_over_tasks() {
        // Tasks on which a share of the others, all alike, says what Z says; people of two labels.
        for (tasks, share) in [(12_i32, 0.9_f64), (20, 0.95), (40, 0.97), (400, 0.5)] {
            let step = 1.0 / (f64::from(tasks) * (1.0 - share));
            let variance = share * (1.0 - share) / (f64::from(tasks) * (1.0 - share).powi(2));
            let person = Normal { mean: [0.0, share], covariance: [variance, 0.0, 1e-3] };
            // A copy has no spread of its own; both agree with the others alike.
            let copy = Normal { mean: [1.0, share], covariance: [0.0, 0.0, 1e-3] };
            let at = |normal: &Normal| log_weight(normal, [1.0, share], step);
            let of_agreement = -0.5 * (1e-3_f64.ln() + std::f64::consts::TAU.ln());
            assert!((at(&copy) - of_agreement).abs() < 1e-9, "{}", at(&copy));
            let (found, exact) = (at(&person) - at(&copy), f64::from(tasks) * share.ln());
            // Of many tasks both are nothing: e to the power of less than -200.
            let near = if tasks > 100 { found < -150.0 } else { (found - exact).abs() < 0.2 };
            assert!(near, "{found} {exact}");
        }
    }

    #[test]
    fn logs_of_tails_are_those_of_another_implementation() {
        // Python's math.erfc, and for 40 an asymptotic series in 50 digits.
        for (t, expected) in [
            (-40.0, 0.0),
            (0.0, -std::f64::consts::LN_2),
            (1.96, -3.688_963_651_729_64),
            (29.9, -451.322_912_458_53),
            (40.0, -804.608_442_013_754),
        ] {
            let found = log_above(t);
            let near = 1e-6 * f64::max(1.0, f64::abs(expected));
            assert!((found - expected).abs() < near, "{t}: {found} {expected}");
        }
        // Where the series takes over.
        assert!((log_above(30.0 - 1e-9) - log_above(30.0)).abs() < 1e-6);
    }
}
