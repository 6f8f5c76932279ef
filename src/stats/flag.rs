//! Flags: a word per person that says whether the score is worth a look.
//!
//! A flag is a reason to look, never a verdict.

use serde::{Deserialize, Serialize};

use super::interval::{Estimate, Intervals, benjamini_hochberg};
use super::rank::median;

words! {
    /// What the score and its uncertainty say about one person.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Flag {
        /// The score is above 0 beyond chance, with the false discovery rate controlled.
        Informative = "informative",
        /// Even the upper end of the interval is below the margin.
        Uninformative = "uninformative",
        /// Neither; more tasks or papers would be needed.
        Inconclusive = "inconclusive",
        /// Fewer tasks or papers than asked for, or no score at all.
        TooFew = "too_few",
    }
}

words! {
    /// What to do about a worker or a reviewer whose answers `own` was asked about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OwnFlag {
        /// Worth a look by a person: one of the largest set of the lowest `p_own` whose mean is at most
        /// the false discovery rate.
        Look = "look",
        /// More likely not their own work than own (`p_own` below one half), but not surely enough; in a
        /// venue that is too small for a scale, whoever is not worth a look; in a crowd most of which may not
        /// answer alone, whoever surely reads as an LLM that is in no file, too.
        Unsure = "unsure",
        /// Nothing stands out.
        Clear = "clear",
        /// Nothing can be said; the result has the reason.
        NotJudged = "not_judged",
    }
}

/// Estimated share of people whose work is not their own from which on they may be the majority: from
/// half on, what is measured turns round.
pub(crate) const MAJORITY: f64 = 0.45;

/// When a flag is raised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlagSettings {
    /// Largest adjusted p-value of an `informative` person.
    pub false_discovery_rate: f64,
    /// Bound for `uninformative`; `None` for `MARGIN_OF_MEDIAN` of the median score.
    pub margin: Option<f64>,
    /// Fewest tasks or papers for any other flag than `too_few`.
    pub min_count: usize,
}

/// Share of the median score below which a person adds little.
pub(crate) const MARGIN_OF_MEDIAN: f64 = 0.25;

/// Default of [`FlagSettings::false_discovery_rate`].
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// One flag per person.
///
/// `people` holds the estimate (missing if undefined) and the number of tasks or papers behind
/// it. `informative`: the one-sided t test of "at most 0", adjusted over the people with enough
/// tasks by Benjamini-Hochberg, is at most the false discovery rate. `uninformative`: the upper
/// end of the 95 % interval is below the margin; without a margin given that is a quarter of the
/// median score of the people with enough tasks, or 0 if the median is negative.
pub fn flags(people: &[(Option<Estimate>, usize)], settings: &FlagSettings) -> Vec<Flag> {
    let enough: Vec<Option<Estimate>> = people
        .iter()
        .map(|&(estimate, count)| estimate.filter(|_| count >= settings.min_count))
        .collect();
    let margin = settings.margin.unwrap_or_else(|| {
        let values: Vec<f64> = enough.iter().flatten().map(|estimate| estimate.value).collect();
        median(&values).unwrap_or(0.0).max(0.0) * MARGIN_OF_MEDIAN
    });
    let p_values: Vec<Option<f64>> =
        enough.iter().map(|estimate| estimate.and_then(|e| e.p_not_positive())).collect();
    let adjusted = benjamini_hochberg(&p_values);
    let mut intervals = Intervals::default();
    enough
        .iter()
        .zip(adjusted)
        .map(|(estimate, p)| {
            let Some(estimate) = estimate else { return Flag::TooFew };
            if p.is_some_and(|p| p <= settings.false_discovery_rate) {
                Flag::Informative
            } else if intervals.of(estimate).is_some_and(|(_, high)| high < margin) {
                Flag::Uninformative
            } else {
                Flag::Inconclusive
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(value: f64, error: f64, count: usize) -> (Option<Estimate>, usize) {
        let estimate = Estimate { value, standard_error: Some(error), degrees_of_freedom: 50.0 };
        (Some(estimate), count)
    }

    #[test]
    fn each_flag_has_its_case() {
        let settings = FlagSettings { false_discovery_rate: 0.05, margin: None, min_count: 5 };
        // Median of 0.4, 0.4, 0.0, 0.1 is 0.25; margin 0.0625. t(0.975, 50) is about 2.01.
        let people = [
            person(0.4, 0.05, 50),
            person(0.4, 0.05, 50),
            person(0.0, 0.02, 50),
            person(0.1, 0.2, 50),
            person(9.0, 0.1, 4),
            (None, 50),
        ];
        assert_eq!(
            flags(&people, &settings),
            [
                Flag::Informative,
                Flag::Informative,
                Flag::Uninformative,
                Flag::Inconclusive,
                Flag::TooFew,
                Flag::TooFew
            ]
        );
    }
}
