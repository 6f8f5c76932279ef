//! Who is worth a look, so that few of them are false alarms.

use super::result::OwnScores;
use super::settings::CAP_ASSUMED;
use crate::stats::flag::CAP;

/// P(own) of all judged reviewers, in order, to ask who would be flagged.
#[derive(Debug, Clone)]
pub(super) struct FlagRule {
    ascending: Vec<f64>,
    /// Sum of the first so many values.
    sums: Vec<f64>,
    fdr: f64,
    cap: f64,
}

impl FlagRule {
    /// `assumed` says that what another LLM writes is assumed, not known.
    pub(super) fn new(own: &[f64], fdr: f64, assumed: bool) -> Self {
        let mut ascending = own.to_vec();
        ascending.sort_by(f64::total_cmp);
        let mut sums = vec![0.0];
        for value in &ascending {
            sums.push(sums[sums.len() - 1] + value);
        }
        let cap = fdr * if assumed { CAP_ASSUMED } else { CAP };
        Self { ascending, sums, fdr, cap }
    }

    /// Whether somebody with this P(own), one of those it was made of, is flagged: the mean of all
    /// that are no higher is at most the rate, and the value itself is not above the cap.
    ///
    /// Running means never fall, so this is the largest set of lowest values; equal values are in
    /// it together or not at all.
    pub(super) fn flags(&self, own: f64) -> bool {
        let count = self.ascending.partition_point(|&value| value <= own);
        own <= self.cap && self.sums[count] <= self.fdr * count as f64
    }

    /// Whether somebody new would be, if they were `own`; `instead_of` leaves one value out.
    pub(super) fn would_flag(&self, own: f64, instead_of: Option<f64>) -> bool {
        let mut count = self.ascending.partition_point(|&value| value <= own);
        let mut sum = self.sums[count];
        if let Some(value) = instead_of.filter(|&value| value <= own) {
            count -= 1;
            sum -= value;
        }
        own <= self.cap && sum + own <= self.fdr * (count + 1) as f64
    }
}

/// Who would be flagged at another rate of false alarms, one per reviewer; nobody who is not judged.
pub fn flagged_at(scores: &OwnScores, fdr: f64) -> Vec<bool> {
    let own = || scores.reviewers.iter().map(|reviewer| reviewer.posterior.map(|p| p.own));
    let rule = FlagRule::new(&own().flatten().collect::<Vec<_>>(), fdr, scores.assumed_ratio);
    own().map(|own| own.is_some_and(|own| rule.flags(own))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_set_by_hand() {
        // Means 0, .03, .05, .0875; the cap at .05 is .2.
        let rule = FlagRule::new(&[0.2, 0.06, 0.09, 0.0], 0.05, false);
        assert_eq!([0.0, 0.06, 0.09, 0.2].map(|own| rule.flags(own)), [true, true, true, false]);
        // With an assumed ratio nobody above .05 is flagged.
        let rule = FlagRule::new(&[0.2, 0.06, 0.09, 0.0], 0.05, true);
        assert_eq!([0.0, 0.06].map(|own| rule.flags(own)), [true, false]);
        // Somebody new with .09 in place of .06: (0 + .09 + .09) / 3 is too much.
        let rule = FlagRule::new(&[0.2, 0.06, 0.09, 0.0], 0.05, false);
        assert!(rule.would_flag(0.05, None));
        assert!(!rule.would_flag(0.09, Some(0.06)));
    }

    proptest! {
        #[test]
        fn it_is_the_largest_set_of_lowest_values(
            values in prop::collection::vec(0.0..0.2_f64, 1..12),
            fdr in 0.05..0.3_f64,
        ) {
            let rule = FlagRule::new(&values, fdr, false);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let largest = (0..=sorted.len())
                .rev()
                .find(|&count| sorted[..count].iter().sum::<f64>() <= fdr * count as f64)
                .unwrap();
            let flagged = values.iter().filter(|&&value| rule.flags(value)).count();
            prop_assert_eq!(flagged, largest);
            let mut others = values.clone();
            let own = others.pop().unwrap();
            let without = FlagRule::new(&others, fdr, false);
            prop_assert_eq!(without.would_flag(own, None), rule.flags(own));
            prop_assert_eq!(rule.would_flag(own, Some(own)), rule.flags(own));
        }
    }
}
