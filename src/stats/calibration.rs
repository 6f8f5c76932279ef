//! From what a model says to what is said by it, by a line through log odds.

/// Platt's map: a logistic regression of what was true on the log odds by the model, on data that the figures of
/// the docs are not from. Flags rest on the model as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) slope: f64,
    pub(crate) constant: f64,
}

impl Calibration {
    /// Of own texts: a logistic regression on the halves of the venues of reviews and answers that everything was
    /// chosen on.
    pub(crate) const OWN_TEXTS: Self = Self { slope: 0.63, constant: 0.87 };

    /// Of own labels: least error on the draws of public crowds that everything was chosen on, where who was not
    /// planted counts as answering alone; some of these guess.
    pub(crate) const OWN_LABELS: Self = Self { slope: 0.5, constant: 1.1 };

    /// The log odds that are said for those by the model.
    pub(crate) fn odds(self, odds: f64) -> f64 {
        self.slope * odds + self.constant
    }

    /// The probability that is said for one by the model; 0 and 1 stay.
    pub(crate) fn probability(self, by_model: f64) -> f64 {
        1.0 / (1.0 + (-self.odds(by_model.ln() - (1.0 - by_model).ln())).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_odds_by_hand() {
        // ln 3 and ln 1/3; the square root of 3 with half of the slope.
        let as_it_is = Calibration { slope: 1.0, constant: 0.0 };
        let halved = Calibration { slope: 0.5, constant: 3.0_f64.ln() };
        for (by_model, said) in [(0.5, 0.75), (0.75, 1.0 - 1.0 / (1.0 + 27.0_f64.sqrt()))] {
            assert!((as_it_is.probability(by_model) - by_model).abs() < 1e-15);
            assert!((halved.probability(by_model) - said).abs() < 1e-15);
        }
        for (own, odds) in [(0.5, 0.0), (0.75, 3.0_f64.ln()), (0.25, -3.0_f64.ln())] {
            let expected = 1.0 / (1.0 + (-0.63 * odds - 0.87_f64).exp());
            assert!((Calibration::OWN_TEXTS.probability(own) - expected).abs() < 1e-12);
        }
        assert_eq!([0.0, 1.0].map(|p| Some(halved.probability(p))), [Some(0.0), Some(1.0)]);
    }
}
