//! What people are like: their middle and how far they differ, whatever a part of them does.

use crate::stats::rank::whole;

/// How many deviations beyond the middle people reach on the side of cheaters.
const REACH: f64 = 2.0;

/// Share of all values at which the median of those of people lies if a fifth cheat.
const MEDIAN_OF_ALL: f64 = 0.4;

/// Median of the square of a standard normal variable.
const MEDIAN_SQUARE: f64 = 0.454_936_423_119_572_7;

/// Of values with errors: where most lie, and the variance between people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct People {
    pub(super) middle: f64,
    pub(super) between: f64,
}

impl People {
    /// From values and their variances; cheaters have *higher* values. The variance between people
    /// comes from the lower half, where no cheater is, by the median of the squares, and is no smaller than that
    /// of all if a fifth cheat: the lower half of a few people may be narrow by chance. The middle is the median, by
    /// weight, of those who are not far above it.
    pub(super) fn of(values: &[(f64, f64)]) -> Self {
        let mut people = Self {
            middle: quantile(values.iter().map(|value| value.0).collect(), 0.5),
            between: 0.0,
        };
        for _ in 0..30 {
            people.between = between(values, people.middle);
            let mut kept: Vec<(f64, f64)> = values
                .iter()
                .filter(|(value, variance)| {
                    value - people.middle <= REACH * (people.between + variance).sqrt()
                })
                .map(|(value, variance)| (*value, 1.0 / (people.between + variance).max(1e-12)))
                .collect();
            let middle = weighted_median(&mut kept);
            if (middle - people.middle).abs() < 1e-9 {
                break;
            }
            people.middle = middle;
        }
        people
    }

    /// How many deviations above people a value lies.
    pub(super) fn deviations(&self, (value, variance): (f64, f64)) -> f64 {
        (value - self.middle) / self.deviation(variance)
    }

    /// The standard deviation of values of people with this variance.
    pub(super) fn deviation(&self, variance: f64) -> f64 {
        (self.between + variance).max(1e-12).sqrt()
    }
}

/// The variance between people for which the median of (value - middle)^2 / (between + variance) over the
/// values that are not above the middle is that of a normal variable, or the one for which that of people among all is,
/// whichever is larger.
fn between(values: &[(f64, f64)], middle: f64) -> f64 {
    let lower: Vec<(f64, f64)> =
        values.iter().filter(|(value, _)| *value <= middle).copied().collect();
    let is_more = |between: f64| {
        let squared = |(value, variance): &(f64, f64)| {
            (value - middle).powi(2) / (between + variance).max(1e-12)
        };
        let is_wide = |values: &[(f64, f64)], share: f64| {
            quantile(values.iter().map(squared).collect(), share) > MEDIAN_SQUARE
        };
        is_wide(&lower, 0.5) || is_wide(values, MEDIAN_OF_ALL)
    };
    if !is_more(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while is_more(high) {
        high *= 2.0;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if is_more(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// What [`crate::stats::rank::quantile`] says of these values, without sorting them; 0 without values.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let (_, lower, above) = values.select_nth_unstable_by(whole(place), f64::total_cmp);
    let upper = above.iter().copied().min_by(f64::total_cmp);
    upper.map_or(*lower, |upper| *lower + place.fract() * (upper - *lower))
}

/// The first value up to which half of the weight lies; 0 without values.
fn weighted_median(values: &mut [(f64, f64)]) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // The lower of two middles, whatever rounding says of equal weights.
    let half = (0.5 - 1e-12) * values.iter().map(|value| value.1).sum::<f64>();
    let mut sum = 0.0;
    let found = values.iter().find(|value| {
        sum += value.1;
        sum >= half
    });
    found.or(values.last()).map_or(0.0, |value| value.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_cheaters_moves_neither_the_middle_nor_the_deviation() {
        // Quantiles of a normal with deviation .1 around 0, of which .05 is error; 25 of 125 at 1.
        let quantile = |k: u32| {
            let normal = statrs::distribution::Normal::standard();
            0.1 * statrs::distribution::ContinuousCDF::inverse_cdf(
                &normal,
                (f64::from(k) + 0.5) / 100.0,
            )
        };
        let mut values: Vec<(f64, f64)> = (0..100).map(|k| (quantile(k), 0.0025)).collect();
        values.extend([(1.0, 0.0025); 25]);
        let people = People::of(&values);
        assert!(people.middle.abs() < 0.015, "{people:?}");
        assert!((people.between.sqrt() - 0.0866).abs() < 0.015, "{people:?}");
        assert!(people.deviations((1.0, 0.0025)) > 8.0);
    }

    #[test]
    fn medians_by_hand() {
        assert_eq!(Some(quantile(vec![3.0, 1.0, 2.0], 0.5)), Some(2.0));
        assert_eq!(Some(quantile(vec![4.0, 1.0, 2.0, 3.0], 0.5)), Some(2.5));
        assert_eq!(Some(quantile(vec![], 0.5)), Some(0.0));
        assert_eq!(Some(quantile(vec![4.0, 1.0, 2.0, 3.0], 0.25)), Some(1.75));
        assert_eq!(Some(quantile(vec![7.0, 1.0, 2.0, 3.0, 9.0], MEDIAN_OF_ALL)), Some(2.6));
        assert_eq!(Some(weighted_median(&mut [(1.0, 1.0), (3.0, 5.0), (2.0, 1.0)])), Some(3.0));
        // Variances of 0 and all alike: nobody differs.
        let people = People::of(&[(2.0, 0.0); 4]);
        assert_eq!((people.middle, people.between), (2.0, 0.0));
    }
}
