//! Detection of low-effort workers by share of LLM cheaters (Fig. 3, Tables 1 and 6-9 of the
//! paper).
//!
//! Per trial the share of random and that of biased workers are uniform on `[0, 0.2]`, the share
//! of LLM cheaters is a point of the grid, and every mechanism scores the same contaminated crowd.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::auc_summary::TrialAuc;
use super::contenders::{ExperimentData, ExperimentError, competitors, trial_auc};
use super::trials::{TrialError, TrialGrid, TrialId, TrialLog, run_trials};
use crate::data::progress::Progress;
use crate::data::z::ZSource;
use crate::mechanism::MechanismName;
use crate::simulate::labels::{ContaminatedCrowd, Shares, contaminate};

/// Shares of LLM cheaters in the paper.
pub(crate) const LLM_SHARES: [f64; 5] = [0.0, 0.05, 0.1, 0.15, 0.2];

/// Most random and most biased workers, as shares.
pub(crate) const OTHER_SHARE: f64 = 0.2;

/// Trials per share of LLM cheaters in the paper.
pub(crate) const REPETITIONS: u32 = 50;

/// The grid of an experiment with a share of LLM cheaters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DetectionSettings {
    /// Shares of LLM cheaters.
    pub llm_shares: Vec<f64>,
    /// The shares of random and of biased workers are uniform from 0 to this.
    #[serde(rename = "others")]
    pub other_share: f64,
    /// Who competes.
    #[serde(rename = "mechanism")]
    pub contenders: Vec<MechanismName>,
    /// Seed; every trial has its own streams.
    pub seed: u64,
}

impl Default for DetectionSettings {
    fn default() -> Self {
        Self {
            llm_shares: LLM_SHARES.to_vec(),
            other_share: OTHER_SHARE,
            contenders: competitors(),
            seed: 0,
        }
    }
}

impl DetectionSettings {
    /// The trials with so many repetitions.
    pub(crate) fn grid(&self, repetitions: u32) -> TrialGrid {
        let points = u32::try_from(self.llm_shares.len()).unwrap_or(u32::MAX);
        TrialGrid { points, repetitions }
    }

    /// # Errors
    ///
    /// [`ExperimentError::Simulate`] if a share cannot be drawn.
    pub(crate) fn check(&self) -> Result<(), ExperimentError> {
        for &llm in &self.llm_shares {
            Shares { llm, random: self.other_share, biased: self.other_share }.check()?;
        }
        Ok(())
    }

    /// The crowd of a trial.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Simulate`] if it cannot be contaminated.
    pub(crate) fn crowd(
        &self,
        data: &ExperimentData<'_>,
        id: TrialId,
    ) -> Result<(Shares, ContaminatedCrowd), ExperimentError> {
        let mut random = id.stream(self.seed, "contaminate labels");
        let mut other = || match self.other_share {
            share if share > 0.0 => random.random_range(0.0..=share),
            _ => 0.0,
        };
        let (random_share, biased) = (other(), other());
        let llm = self.llm_shares[id.point as usize];
        let shares = Shares { llm, random: random_share, biased };
        let crowd = contaminate(&data.crowd, &shares, &mut random)?;
        Ok((shares, crowd))
    }
}

/// What came out of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CrowdTrial {
    /// Shares of low-effort workers.
    pub shares: Shares,
    /// One entry per variant of the experiment, then one per contender.
    pub aucs: Vec<Vec<TrialAuc>>,
}

/// Runs the experiment; results repetition by repetition, with one variant.
///
/// # Errors
///
/// [`TrialError`] if a trial fails or the log cannot be used.
pub(crate) fn detection(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    repetitions: u32,
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<CrowdTrial>, TrialError<ExperimentError>> {
    given_each(data, settings, &[&data.z], repetitions, (log, progress))
}

/// Contaminates a crowd per trial and scores it given each of `variants` of Z, a variant each.
pub(super) fn given_each(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    variants: &[&[ZSource]],
    repetitions: u32,
    (log, progress): (Option<TrialLog>, &dyn Progress),
) -> Result<Vec<CrowdTrial>, TrialError<ExperimentError>> {
    run_trials(settings.grid(repetitions), log, progress, |id| {
        let (shares, crowd) = settings.crowd(data, id)?;
        let row = |z: &&[ZSource]| {
            let aucs = settings.contenders.iter().map(|&name| trial_auc(name, &crowd, z));
            aucs.collect::<Result<Vec<_>, _>>()
        };
        let aucs = variants.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        Ok(CrowdTrial { shares, aucs })
    })
}

#[cfg(test)]
mod tests {
    use super::super::contenders::tests::{crowd, roles};
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::simulate::labels::WorkerKind;

    #[test]
    fn the_same_seed_gives_the_same_trials_on_any_number_of_threads() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a"], false)).unwrap();
        let settings = DetectionSettings { seed: 3, ..DetectionSettings::default() };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| detection(&data, &settings, 4, None, &NoProgress)).unwrap()
        };
        let trials = run(1);
        assert_eq!(run(3), trials);
        assert_eq!(trials.len(), 20);
        assert!(trials.iter().all(|trial| trial.shares.random <= OTHER_SHARE));
        // Point 4 of every repetition has 20 % LLM cheaters.
        assert!(trials.chunks(5).all(|points| points[4].shares.llm > 0.19));
        let other = DetectionSettings { seed: 4, ..settings.clone() };
        assert_ne!(detection(&data, &other, 4, None, &NoProgress).unwrap(), trials);
    }

    #[test]
    fn good_workers_of_a_synthetic_crowd_are_found() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["b"], &["b"], true)).unwrap();
        let contenders = vec![MechanismName::CaZ, MechanismName::NegZ];
        let settings = DetectionSettings { contenders, ..DetectionSettings::default() };
        let trials = detection(&data, &settings, 10, None, &NoProgress).unwrap();
        let defined: Vec<f64> = trials.iter().filter_map(|trial| trial.aucs[0][0].auc).collect();
        let mean = defined.iter().sum::<f64>() / defined.len() as f64;
        // About 45 tasks per worker of accuracy 0.75, against workers who know nothing of the
        // truth beyond Z, so that each of their scores is 0 but for chance.
        assert!(defined.len() >= 40 && mean > 0.95, "{mean}");
    }

    #[test]
    fn a_trial_without_low_effort_workers_has_no_auc() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a"], false)).unwrap();
        let settings = DetectionSettings {
            llm_shares: vec![0.0],
            other_share: 0.0,
            ..DetectionSettings::default()
        };
        let trials = detection(&data, &settings, 1, None, &NoProgress).unwrap();
        assert!(trials[0].aucs[0].iter().all(|trial| trial.auc.is_none()));
        let (_, crowd) = settings.crowd(&data, TrialId { repetition: 0, point: 0 }).unwrap();
        assert!(crowd.kinds.iter().all(|kind| *kind == WorkerKind::Good));
        assert_eq!(crowd.table, table);
    }
}
