//! How probable deviations are at people, and own answers after all people were tested.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::UNCONFIRMED;

/// Degrees of freedom of deviations: what people differ by is estimated.
const FREEDOM: f64 = 20.0;

/// Pseudo-counts: own answers, and others.
const PRIOR: [f64; 2] = [10.0, 0.5];

/// Largest exponent: p-values of cheaters are small.
const MOST: f64 = 0.2;

/// The probability that somebody who answers alone has so many deviations.
pub(super) fn tail(deviations: f64) -> f64 {
    let Ok(student) = StudentsT::new(0.0, 1.0, FREEDOM) else { return 1.0 };
    student.sf(deviations.max(-40.0))
}

/// The deviations that are exceeded with this probability.
pub(super) fn deviations_of(probability: f64) -> f64 {
    let Ok(student) = StudentsT::new(0.0, 1.0, FREEDOM) else { return 0.0 };
    -student.inverse_cdf(probability.clamp(1e-15, 1.0 - 1e-15))
}

/// How probable deviations that count at one question are at somebody of the crowd who answers alone, whoever it
/// is: discrete tests have their distributions, and nobody who cannot come so far adds to the false discoveries
/// (Heyse, Journal of Probability and Statistics 2011).
#[derive(Debug)]
pub(super) struct Tails {
    people: f64,
    /// Deviations from which on those of somebody count, ascending, and the sum of the tails from each place on.
    from: Vec<f64>,
    rest: Vec<f64>,
    /// Most deviations that somebody can have, ascending.
    most: Vec<f64>,
}

impl Tails {
    /// From where on, and how far, each comes.
    pub(super) fn new(reaches: impl Iterator<Item = [f64; 2]> + Clone) -> Self {
        let people = reaches.clone().count() as f64;
        let (mut from, mut most): (Vec<f64>, Vec<f64>) =
            reaches.filter(|[from, most]| from <= most).map(|[from, most]| (from, most)).unzip();
        from.sort_unstable_by(f64::total_cmp);
        most.sort_unstable_by(f64::total_cmp);
        let mut rest = vec![0.0];
        rest.extend(from.iter().rev().scan(0.0, |sum, &from| {
            *sum += tail(from);
            Some(*sum)
        }));
        rest.reverse();
        Self { people, from, rest, most }
    }

    /// Mean over the people of the probability of so many deviations; up to one they count of everybody.
    pub(super) fn at(&self, deviations: f64) -> f64 {
        if deviations <= UNCONFIRMED {
            return tail(deviations);
        }
        let counted = self.from.partition_point(|from| *from <= deviations);
        let gone = self.most.partition_point(|most| *most < deviations);
        ((counted - gone) as f64 * tail(deviations) + self.rest[counted]) / self.people
    }
}

/// P-values of people who answer alone are uniform; those of others have the density `a p^(a - 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mixture {
    /// Share of the uniform part.
    own: f64,
    /// Exponent of the rest.
    exponent: f64,
}

impl Mixture {
    /// The beta-uniform mixture of Pounds and Morris (Bioinformatics 19, 2003), by EM.
    pub(super) fn fit(p_values: &[f64]) -> Self {
        let mut fitted = Self { own: 0.9, exponent: 0.1 };
        for _ in 0..200 {
            let (mut others, mut logs) = (PRIOR[1], PRIOR[1] / MOST);
            for &p in p_values {
                let other = 1.0 - fitted.own / fitted.density(p);
                others += other;
                logs -= other * p.max(1e-300).ln();
            }
            let all = p_values.len() as f64 + PRIOR[0] + PRIOR[1];
            fitted =
                Self { own: 1.0 - others / all, exponent: (others / logs.max(1e-300)).min(MOST) };
        }
        fitted
    }

    /// Most that the share of people who answer alone can be: the density of p-values of 1.
    pub(super) fn most_own(&self) -> f64 {
        self.density(1.0)
    }

    fn density(&self, p: f64) -> f64 {
        self.own + (1.0 - self.own) * self.exponent * p.max(1e-300).powf(self.exponent - 1.0)
    }

    /// The probability that somebody with this p-value answers alone; grows with it, at most 1. Who has a
    /// p-value of 1 does, surely.
    pub(super) fn own(&self, p: f64) -> f64 {
        (self.most_own() / self.density(p)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_the_mean_over_people_of_what_each_can_reach() {
        let reaches =
            [[-2.0, 9.0], [2.5, 4.0], [3.0, 2.0], [f64::NEG_INFINITY, f64::INFINITY], [3.5, 6.0]];
        let tails = Tails::new(reaches.into_iter());
        for step in -10..40 {
            let deviations = f64::from(step) * 0.25;
            let of = |[from, most]: [f64; 2]| {
                let is_reached = deviations.max(from) <= most;
                if deviations <= 1.0 {
                    tail(deviations)
                } else if is_reached {
                    tail(deviations.max(from))
                } else {
                    0.0
                }
            };
            let expected = reaches.map(of).iter().sum::<f64>() / 5.0;
            assert!((tails.at(deviations) - expected).abs() < 1e-12, "{deviations}");
        }
        assert!((deviations_of(tail(2.0)) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_tenth_with_tiny_p_values_does_not_answer_alone_and_the_rest_does() {
        let mut p: Vec<f64> = (0..90).map(|k| (f64::from(k) + 0.5) / 90.0).collect();
        p.extend((0..10).map(|k| 10f64.powi(-4 - k)));
        let fitted = Mixture::fit(&p);
        assert!((fitted.own - 0.9).abs() < 0.03, "{fitted:?}");
        assert!((fitted.own..0.93).contains(&fitted.most_own()), "{fitted:?}");
        assert!(fitted.own(1e-4) < 0.1 && fitted.own(0.3) > 0.85);
        let steps: Vec<f64> = (1..100).map(|k| fitted.own(f64::from(k) / 100.0)).collect();
        assert!(steps.is_sorted(), "{steps:?}");
        assert_eq!(Some(fitted.own(1.0)), Some(1.0));
    }

    #[test]
    fn nobody_is_suspected_where_p_values_are_uniform_or_missing() {
        let p: Vec<f64> = (0..50).map(|k| (f64::from(k) + 0.5) / 50.0).collect();
        let fitted = Mixture::fit(&p);
        assert!(p.iter().all(|&p| fitted.own(p) > 0.5), "{fitted:?}");
        assert!(Mixture::fit(&[]).own(0.5) > 0.9);
    }
}
