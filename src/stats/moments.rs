//! Mean and variance in one pass, without subtracting large numbers.

use super::interval::Estimate;

/// Count, mean and sum of squared deviations of the numbers pushed so far.
///
/// Welford (1962), *Technometrics* 4(3), with the merge of Chan, Golub and `LeVeque` (1983), *The
/// American Statistician* 37(3).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Of numbers whose sums were made elsewhere.
    pub fn of(count: u64, mean: f64, squares: f64) -> Self {
        Self { count, mean, squares }
    }

    /// Takes in one number.
    pub(crate) fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Takes in all numbers of `other`. Not associative in the last digits, so merge in a fixed
    /// order.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.count == 0 {
            if self.count == 0 {
                *self = *other;
            }
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let difference = other.mean - self.mean;
        self.mean += difference * m / (n + m);
        self.squares += other.squares + difference * difference * n * m / (n + m);
        self.count += other.count;
    }

    /// The same count and mean with another sum of squares, for a mean whose variance has other
    /// parts than the spread of its terms.
    #[must_use]
    pub(crate) fn with_squares(self, squares: f64) -> Self {
        Self { squares, ..self }
    }

    /// How many numbers there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 without numbers.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Sum of their squared deviations from the mean, at least 0.
    pub(crate) fn squares(&self) -> f64 {
        self.squares
    }

    /// The mean with its standard error and `n - 1` degrees of freedom; `None` without numbers.
    pub fn estimate(&self) -> Option<Estimate> {
        let count = self.count as f64;
        (self.count > 0).then(|| Estimate {
            value: self.mean,
            standard_error: (self.count > 1).then(|| (self.squares / (count - 1.0) / count).sqrt()),
            degrees_of_freedom: count - 1.0,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.push(value));
        moments
    }

    #[test]
    fn moments_of_four_numbers_by_hand() {
        // Mean 5; squares 9 + 1 + 1 + 9 = 20; variance 20/3, of the mean 20/12.
        let moments = moments(&[2.0, 4.0, 6.0, 8.0]);
        assert_eq!((moments.count(), moments.mean(), moments.squares()), (4, 5.0, 20.0));
        let error = moments.estimate().unwrap().standard_error.unwrap();
        assert!((error - (20.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert_eq!(Moments::default().estimate(), None);
    }

    proptest! {
        #[test]
        fn merged_moments_equal_the_two_pass_formula(
            a in prop::collection::vec(-10.0..10.0_f64, 0..20),
            b in prop::collection::vec(-10.0..10.0_f64, 0..20),
        ) {
            let mut merged = moments(&a);
            merged.merge(&moments(&b));
            let all: Vec<f64> = a.into_iter().chain(b).collect();
            match (merged.estimate(), Estimate::of_mean(&all)) {
                (Some(got), Some(want)) => {
                    prop_assert!((got.value - want.value).abs() < 1e-12);
                    let error = |e: Estimate| e.standard_error.unwrap_or(-1.0);
                    prop_assert!((error(got) - error(want)).abs() < 1e-10);
                }
                (got, want) => prop_assert_eq!(got, want),
            }
        }
    }
}
