//! Cheaters who use different LLMs (Fig. 6 of the paper).
//!
//! Every cheater picks one of several LLMs. The principal has an answer of each: the score is the
//! minimum over them, each conditioned on alone. For comparison every source is also used alone.

use super::contenders::{ExperimentData, ExperimentError};
use super::detection::{CrowdTrial, DetectionSettings, given_each};
use super::trials::{TrialError, TrialLog};
use crate::data::progress::Progress;
use crate::data::z::ZSource;

/// Runs the experiment. Variants: the minimum over all sources, then each source alone.
///
/// # Errors
///
/// [`TrialError`] if a trial fails or the log cannot be used.
pub(crate) fn multi_llm(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    repetitions: u32,
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<CrowdTrial>, TrialError<ExperimentError>> {
    let variants: Vec<&[ZSource]> =
        std::iter::once(data.z.as_slice()).chain(data.z.iter().map(std::slice::from_ref)).collect();
    given_each(data, settings, &variants, repetitions, (log, progress))
}

#[cfg(test)]
mod tests {
    use super::super::contenders::tests::{crowd, roles};
    use super::super::detection::detection;
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::mechanism::MechanismName;

    #[test]
    fn each_source_alone_is_the_detection_experiment_given_that_source() {
        let (table, z) = crowd();
        let both = roles(&["a", "b"], &["a", "b"], true);
        let data = ExperimentData::new(&table, &z, &both).unwrap();
        let contenders = vec![MechanismName::CaZ, MechanismName::OaZ];
        let settings =
            DetectionSettings { llm_shares: vec![0.2], contenders, ..DetectionSettings::default() };
        let trials = multi_llm(&data, &settings, 3, None, &NoProgress).unwrap();
        for (index, source) in (1..).zip(&data.z) {
            let alone = ExperimentData { z: vec![source.clone()], ..data.clone() };
            let expected = detection(&alone, &settings, 3, None, &NoProgress).unwrap();
            for (trial, expected) in trials.iter().zip(expected) {
                assert_eq!(trial.aucs.len(), 3);
                assert_eq!(trial.aucs[index], expected.aucs[0]);
            }
        }
    }
}
