//! What a run on labels can be asked to do otherwise.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::ordered_labels::{LabelScale, LabelValues};
use crate::error::{ErrorKind, Kinded};
use crate::mechanism::{
    CorrelatedAgreementOptions, EmSettings, LearnFrom, MAX_ITERATIONS, MechanismName,
    MechanismOptions, OwnSettings, PeerDraws, ScoringFunction, SeveralSources, TOLERANCE,
};
use crate::stats::flag::{FALSE_DISCOVERY_RATE, FlagSettings};

/// Default of [`LabelsSettings::min_tasks`].
pub const MIN_TASKS: usize = 10;

/// Every setting of a run that can change its result; what is serialised is its provenance.
///
/// How second labels are treated is a property of the [`Labels`](crate::data::Labels).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelsSettings {
    /// Mechanisms to score with, in the order of the result; none: those that fit the crowd.
    pub mechanism: Vec<MechanismName>,
    /// `ds_z`: what is done with several LLMs; others have the lowest score over them.
    pub z_combine: SeveralSources,
    /// Fewest tasks behind a score for any other flag than `too_few`.
    pub min_tasks: usize,
    /// False discovery rate of the flags `informative` and `look`, from 0 to 1.
    pub fdr: f64,
    /// Bound of the flag `uninformative`; a quarter of the median score if there is none.
    pub margin: Option<f64>,
    /// `ca`, `ca_z`: whose labels say which pairs count as agreement.
    pub learn_from: LearnFrom,
    /// `ca`, `ca_z`: draw so many random peers and penalty tasks per label, at least 1, instead of
    /// averaging over all.
    pub sampled: Option<u32>,
    /// The draws as the paper prints them: every peer, and a penalty task that may be the task itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sampled_as_printed: bool,
    /// `ca`, `ca_z`: which labels count as agreement.
    pub scoring_function: ScoringFunction,
    /// The order of the labels; none where they are the same or not.
    pub scale: Option<LabelScale>,
    /// Whether labels are sets, split into one task a label.
    pub multi: bool,
    /// The mechanism whose probabilities make the consensus.
    pub consensus_by: MechanismName,
    /// Whether the consensus leaves out who is flagged `look`.
    pub drop_flagged: bool,
    /// `ds`, `ds_z`: standard errors from so many bootstrap samples of the tasks, at least 2.
    pub bootstrap: Option<u32>,
    /// `ds`, `ds_z`: stop when the objective gains less than this share of its size.
    pub tolerance: f64,
    /// `ds`, `ds_z`: stop after so many iterations, at least 1.
    pub max_iterations: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for LabelsSettings {
    fn default() -> Self {
        Self {
            mechanism: Vec::new(),
            z_combine: SeveralSources::default(),
            min_tasks: MIN_TASKS,
            fdr: FALSE_DISCOVERY_RATE,
            margin: None,
            learn_from: LearnFrom::default(),
            sampled: None,
            sampled_as_printed: false,
            scoring_function: ScoringFunction::default(),
            scale: None,
            multi: false,
            consensus_by: MechanismName::Ds,
            drop_flagged: false,
            bootstrap: None,
            tolerance: TOLERANCE,
            max_iterations: MAX_ITERATIONS,
            seed: 0,
        }
    }
}

/// Why there is no run, or no evidence, on these labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelsError {
    /// A setting is out of its range.
    #[error("`{setting}` is {value}; it must be {range}")]
    OutOfRange {
        /// The field of the settings.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// Nobody has this name.
    #[error("no worker is called `{name}`")]
    UnknownWorker {
        /// The name asked for.
        name: String,
    },
}

impl Kinded for LabelsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl LabelsSettings {
    /// Looks for values out of range.
    ///
    /// # Errors
    ///
    /// `LabelsError::OutOfRange` for the first one.
    pub fn check(&self) -> Result<(), LabelsError> {
        let margin = self.margin.unwrap_or(0.0);
        let tolerance_is_fine = self.tolerance >= 0.0 && self.tolerance.is_finite();
        let checks = [
            ((0.0..=1.0).contains(&self.fdr), "fdr", self.fdr.to_string(), "from 0 to 1"),
            (margin.is_finite(), "margin", margin.to_string(), "a finite number"),
            (tolerance_is_fine, "tolerance", self.tolerance.to_string(), "at least 0 and finite"),
            (self.max_iterations > 0, "max_iterations", "0".into(), "at least 1"),
            (self.sampled != Some(0), "sampled", "0".into(), "at least 1"),
            (
                self.bootstrap.is_none_or(|count| count > 1),
                "bootstrap",
                self.bootstrap.unwrap_or_default().to_string(),
                "at least 2",
            ),
        ];
        match checks.into_iter().find(|(fine, ..)| !fine) {
            None => Ok(()),
            Some((_, setting, value, range)) => {
                Err(LabelsError::OutOfRange { setting, value, range })
            }
        }
    }

    /// As the mechanisms take them.
    #[doc(hidden)]
    pub fn options(&self, values: Option<&LabelValues>) -> MechanismOptions {
        let places: Option<Arc<[f64]>> = values.map(|values| values.places.as_slice().into());
        let scoring_function = match (&self.scoring_function, &places) {
            (ScoringFunction::Estimated, Some(places)) => ScoringFunction::Ordered(places.clone()),
            (function, _) => function.clone(),
        };
        MechanismOptions {
            correlated_agreement: CorrelatedAgreementOptions {
                scoring_function,
                learn_from: self.learn_from,
                sampling: self.sampled.map(|draws| PeerDraws {
                    draws,
                    printed: self.sampled_as_printed,
                    seed: self.seed,
                }),
            },
            em: EmSettings { tolerance: self.tolerance, max_iterations: self.max_iterations },
            several_sources: self.z_combine,
            own: OwnSettings {
                false_discovery_rate: self.fdr,
                min_tasks: self.min_tasks,
                ..OwnSettings::default()
            },
            places,
        }
    }

    /// As the flags take them.
    #[doc(hidden)]
    pub fn flags(&self) -> FlagSettings {
        FlagSettings {
            false_discovery_rate: self.fdr,
            margin: self.margin,
            min_count: self.min_tasks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_out_of_range_is_named() {
        let settings = LabelsSettings::default;
        assert_eq!(settings().check(), Ok(()));
        let cases = [
            ("fdr", LabelsSettings { fdr: 1.5, ..settings() }),
            ("fdr", LabelsSettings { fdr: f64::NAN, ..settings() }),
            ("margin", LabelsSettings { margin: Some(f64::NAN), ..settings() }),
            ("tolerance", LabelsSettings { tolerance: -1.0, ..settings() }),
            ("tolerance", LabelsSettings { tolerance: f64::INFINITY, ..settings() }),
            ("max_iterations", LabelsSettings { max_iterations: 0, ..settings() }),
            ("sampled", LabelsSettings { sampled: Some(0), ..settings() }),
            ("bootstrap", LabelsSettings { bootstrap: Some(1), ..settings() }),
        ];
        for (name, settings) in cases {
            let LabelsError::OutOfRange { setting, .. } = settings.check().unwrap_err() else {
                panic!("{name}")
            };
            assert_eq!(setting, name);
        }
    }

    #[test]
    fn settings_are_read_back_and_a_misspelt_one_is_refused() {
        let settings = LabelsSettings { margin: Some(0.1), seed: 7, ..LabelsSettings::default() };
        let text = serde_json::to_string(&settings).unwrap();
        let read = |text: &str| serde_json::from_str::<LabelsSettings>(text);
        assert_eq!(read(&text).unwrap(), settings);
        assert_eq!(read("{\"seed\":7,\"margin\":0.1}").unwrap(), settings);
        assert!(read("{\"sed\":7}").is_err());
        assert!(read("{\"scoring_function\":\"given\"}").is_err());
    }
}
