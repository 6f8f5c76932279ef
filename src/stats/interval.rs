//! Student intervals, one-sided tests, and the Benjamini-Hochberg adjustment.

use std::collections::HashMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Level of every interval that caz prints.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A mean with what is needed to judge it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, at least 0; `None` if one observation is all there is.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of the standard error, at least 1 where there is one.
    pub degrees_of_freedom: f64,
}

impl Estimate {
    /// Mean of independent observations, with the standard error of the mean and `n - 1` degrees
    /// of freedom. `None` without observations.
    pub fn of_mean(observations: &[f64]) -> Option<Self> {
        let count = observations.len() as f64;
        if observations.is_empty() {
            return None;
        }
        let value = observations.iter().sum::<f64>() / count;
        let variance = sample_variance(observations);
        Some(Self {
            value,
            standard_error: variance.map(|variance| (variance / count).sqrt()),
            degrees_of_freedom: count - 1.0,
        })
    }

    /// Two-sided interval of Student's t at level `CONFIDENCE`, low end first.
    ///
    /// `None` without a standard error or with less than one degree of freedom.
    pub fn interval(&self) -> Option<(f64, f64)> {
        Intervals::default().of(self)
    }

    /// One-sided p-value of "the true value is at most 0" by the t test.
    ///
    /// With a standard error of 0 the value is taken as certain: 0 if positive, else 1.
    pub(crate) fn p_not_positive(&self) -> Option<f64> {
        let error = self.standard_error?;
        let distribution = self.distribution()?;
        if error == 0.0 {
            return Some(if self.value > 0.0 { 0.0 } else { 1.0 });
        }
        Some(distribution.sf(self.value / error))
    }

    fn distribution(&self) -> Option<StudentsT> {
        if self.degrees_of_freedom < 1.0 {
            return None;
        }
        StudentsT::new(0.0, 1.0, self.degrees_of_freedom).ok()
    }
}

/// [`Estimate::interval`] of many: their degrees of freedom are often the same, and a quantile takes long.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    /// By the bits of the degrees of freedom.
    quantiles: HashMap<u64, f64>,
}

impl Intervals {
    /// That of one estimate.
    pub(crate) fn of(&mut self, estimate: &Estimate) -> Option<(f64, f64)> {
        let error = estimate.standard_error?;
        let distribution = estimate.distribution()?;
        let quantile = || distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let degrees = estimate.degrees_of_freedom.to_bits();
        let quantile = *self.quantiles.entry(degrees).or_insert_with(quantile);
        Some((estimate.value - quantile * error, estimate.value + quantile * error))
    }
}

/// A share of cases with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share, from 0 to 1.
    pub value: f64,
    /// Wilson's interval at level [`CONFIDENCE`], low end first, inside 0 to 1.
    pub interval: (f64, f64),
    /// Number of cases that say as much.
    pub cases: f64,
}

impl Share {
    /// The share `value` of so many cases with Wilson's interval (1927), which is never empty: that
    /// of 10 of 10 begins at .72. `None` without a case.
    pub(crate) fn wilson(value: f64, n: f64) -> Option<Self> {
        let z = normal_quantile();
        let scale = 1.0 + z * z / n;
        let middle = (value + z * z / (2.0 * n)) / scale;
        let spread = value * (1.0 - value) / n + z * z / (4.0 * n * n);
        let half = z / scale * spread.max(0.0).sqrt();
        // Of none and of all the end is exact, which rounding would not give.
        let low = if value > 0.0 { (middle - half).max(0.0) } else { 0.0 };
        let high = if value < 1.0 { (middle + half).min(1.0) } else { 1.0 };
        let interval = (low, high);
        (n > 0.0).then_some(Self { value, interval, cases: n })
    }
}

/// So many standard deviations a normal variable lies within with [`CONFIDENCE`]: 1.96.
pub(crate) fn normal_quantile() -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

/// Variance with divisor `n - 1`, two passes; `None` for fewer than two observations.
pub(crate) fn sample_variance(observations: &[f64]) -> Option<f64> {
    if observations.len() < 2 {
        return None;
    }
    let count = observations.len() as f64;
    let mean = observations.iter().sum::<f64>() / count;
    let squares: f64 = observations.iter().map(|value| (value - mean).powi(2)).sum();
    Some(squares / (count - 1.0))
}

/// Adjusted p-values of Benjamini and Hochberg (1995), which control the false discovery rate.
///
/// `p[i] * m / rank`, made monotone from the largest down, where `m` counts the values that are
/// not missing. Missing stays missing.
pub(crate) fn benjamini_hochberg(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| Some((index, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let tests = order.len() as f64;
    let mut adjusted = vec![None; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, &(index, p)) in order.iter().enumerate().rev() {
        least = least.min(p * tests / (rank as f64 + 1.0));
        adjusted[index] = Some(least);
    }
    adjusted
}

/// Fewest of these null hypotheses that are false, with a confidence of 1 - `level`: all but the largest set that
/// the test of Simes (1986) does not reject, since every set is tested (Goeman and Solari, Statistical Science 26,
/// 2011). Valid where the test is: for independent and for positively dependent p-values.
pub(crate) fn fewest_false(p_values: &[f64], level: f64) -> usize {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Of the sets of one size that of the largest p-values is rejected last; and of fewer, whenever one of more is.
    let is_rejected = |left_out: usize| {
        let tests = sorted.len() - left_out;
        (1..).zip(&sorted[left_out..]).any(|(rank, p)| *p <= f64::from(rank) * level / tests as f64)
    };
    let left_out: Vec<usize> = (0..sorted.len()).collect();
    left_out.partition_point(|left_out| is_rejected(*left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_few_are_false_as_by_all_sets(
            p_values in prop::collection::vec(prop_oneof![0.0..0.05, 0.0..1.0], 0..9),
        ) {
            let is_rejected = |set: &u32| {
                let mut p: Vec<f64> = (0..p_values.len()).filter(|at| set >> at & 1 == 1).map(|at| p_values[at]).collect();
                p.sort_by(f64::total_cmp);
                (0..p.len()).any(|at| p[at] <= 0.05 * (at + 1) as f64 / p.len() as f64)
            };
            let most_true = (0..1_u32 << p_values.len()).filter(|set| !is_rejected(set)).map(u32::count_ones).max();
            prop_assert_eq!(fewest_false(&p_values, 0.05), p_values.len() - most_true.unwrap() as usize);
        }
    }

    #[test]
    fn false_hypotheses_by_hand() {
        // Of four .05/4 is .0125: with .01 left out, .03 is above .05/3 and .04 above .1/3.
        assert_eq!(fewest_false(&[0.01, 0.03, 0.04, 0.9], 0.05), 1);
        assert_eq!(fewest_false(&[0.0, 0.0, 0.9], 0.05), 2);
        assert_eq!([fewest_false(&[0.5], 0.05), fewest_false(&[], 0.05)], [0, 0]);
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    #[test]
    fn interval_of_a_mean_by_hand() {
        // Mean 2, variance ((1)² + 0 + (1)²) / 2 = 1, se = 1/√3; t(0.975, 2) = 4.302653 (tables).
        let estimate = Estimate::of_mean(&[1.0, 2.0, 3.0]).unwrap();
        let (low, high) = estimate.interval().unwrap();
        let half = 4.302_652_7 / 3.0_f64.sqrt();
        assert!(close(low, 2.0 - half, 1e-6) && close(high, 2.0 + half, 1e-6), "{low} {high}");
    }

    #[test]
    fn wilson_intervals_are_those_of_the_tables() {
        // 1 of 10: .0179 to .4042 (Brown, Cai, DasGupta 2001, formula 4); 10 of 10: 10 / (10 + z^2).
        let share = Share::wilson(0.1, 10.0).unwrap();
        assert!(close(share.interval.0, 0.0179, 5e-5) && close(share.interval.1, 0.4042, 5e-5));
        let all = Share::wilson(1.0, 10.0).unwrap();
        assert!(close(all.interval.0, 10.0 / (10.0 + 1.959_963_985_f64.powi(2)), 1e-9));
        assert_eq!(Some(all.interval.1), Some(1.0));
        assert_eq!(Share::wilson(0.0, 10.0).map(|none| none.interval.0), Some(0.0));
        assert_eq!(Share::wilson(0.5, 0.0), None);
    }

    #[test]
    fn p_value_with_one_degree_of_freedom_is_cauchy() {
        // t = 1 with 1 degree of freedom: 1/2 - atan(1)/π = 1/4.
        let estimate = Estimate { value: 3.0, standard_error: Some(3.0), degrees_of_freedom: 1.0 };
        assert!(close(estimate.p_not_positive().unwrap(), 0.25, 1e-9));
    }

    proptest! {
        #[test]
        fn intervals_of_many_are_those_of_each(
            people in prop::collection::vec((-1.0..1.0, prop::option::of(0.0..1.0), 0..4_u8), 0..20),
        ) {
            let mut intervals = Intervals::default();
            for (value, standard_error, degrees) in people {
                let estimate = Estimate { value, standard_error, degrees_of_freedom: f64::from(degrees) };
                prop_assert_eq!(intervals.of(&estimate), estimate.interval());
            }
        }
    }

    #[test]
    fn one_observation_has_a_value_and_no_interval() {
        let estimate = Estimate::of_mean(&[0.4]).unwrap();
        assert!(close(estimate.value, 0.4, 0.0));
        assert_eq!(estimate.standard_error, None);
        assert_eq!(estimate.interval(), None);
        assert_eq!(estimate.p_not_positive(), None);
        assert_eq!(Estimate::of_mean(&[]), None);
    }

    #[test]
    fn benjamini_hochberg_matches_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5), "BH") in R:
        // 0.025 0.050 0.050 0.025 0.500
        let p = [0.01, 0.04, 0.03, 0.005, 0.5].map(Some);
        let expected = [0.025, 0.05, 0.05, 0.025, 0.5];
        for (got, want) in benjamini_hochberg(&p).iter().zip(expected) {
            assert!(close(got.unwrap(), want, 1e-12), "{got:?} {want}");
        }
        assert_eq!(benjamini_hochberg(&[None, Some(0.2)]), [None, Some(0.2)]);
    }
}
