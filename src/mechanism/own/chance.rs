//! How probable own answers are, after all people were tested.

/// Pseudo-counts: own answers, and others.
const PRIOR: [f64; 2] = [10.0, 0.5];

/// Largest exponent: p-values of cheaters are small.
const MOST: f64 = 0.2;

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

    fn density(&self, p: f64) -> f64 {
        self.own + (1.0 - self.own) * self.exponent * p.max(1e-300).powf(self.exponent - 1.0)
    }

    /// The probability that somebody with this p-value answers alone; grows with it, at most 1. Who has a
    /// p-value of 1 does, surely.
    pub(super) fn own(&self, p: f64) -> f64 {
        (self.density(1.0) / self.density(p)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_with_tiny_p_values_does_not_answer_alone_and_the_rest_does() {
        let mut p: Vec<f64> = (0..90).map(|k| (f64::from(k) + 0.5) / 90.0).collect();
        p.extend((0..10).map(|k| 10f64.powi(-4 - k)));
        let fitted = Mixture::fit(&p);
        assert!((fitted.own - 0.9).abs() < 0.03, "{fitted:?}");
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
