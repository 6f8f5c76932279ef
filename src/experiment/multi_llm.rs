//! Cheaters who use different LLMs (Fig. 6 of the paper).
//!
//! Every cheater picks one of several LLMs. The principal has an answer of each: the score is the
//! minimum over them, each conditioned on alone. For comparison every source is also used alone.

use super::contenders::{ExperimentData, ExperimentError};
use super::detection::{CrowdTrial, DetectionSettings};
use super::trials::{TrialError, TrialLog, run_trials};
use crate::data::progress::Progress;
use crate::data::z::ZSource;

/// Runs the experiment. Variants: the minimum over all sources, then each source alone.
///
/// # Errors
///
/// [`TrialError`] if a trial fails or the log cannot be used.
pub fn multi_llm(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    repetitions: u32,
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<CrowdTrial>, TrialError<ExperimentError>> {
    let variants: Vec<&[ZSource]> =
        std::iter::once(data.z.as_slice()).chain(data.z.iter().map(std::slice::from_ref)).collect();
    run_trials(settings.grid(repetitions), log, progress, |id| {
        let (shares, crowd) = settings.crowd(data, id)?;
        let row = |z: &&[ZSource]| {
            let aucs = settings.contenders.iter().map(|contender| contender.trial_auc(&crowd, z));
            aucs.collect::<Result<Vec<_>, _>>()
        };
        let aucs = variants.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        Ok(CrowdTrial { shares, aucs })
    })
}

#[cfg(test)]
mod tests {
    use super::super::contenders::Contender;
    use super::super::contenders::tests::{crowd, roles};
    use super::super::detection::detection;
    use super::*;
    use crate::data::progress::NoProgress;

    #[test]
    fn each_source_alone_is_the_detection_experiment_given_that_source() {
        let (table, z) = crowd();
        let both = roles(&["a", "b"], &["a", "b"], true);
        let data = ExperimentData::new(&table, &z, &both).unwrap();
        let contenders = vec![Contender::CaZ, Contender::OaZ];
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
