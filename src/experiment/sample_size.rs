//! How many tasks the LLM must label (Fig. 5 of the paper).
//!
//! A trial contaminates the crowd once, with a fixed share of LLM cheaters, and takes Z away from
//! more and more tasks: the tasks that keep Z at a smaller share are among those that keep it at
//! a larger one, so that points of a curve are paired. Mechanisms without Z, such as `ca`, score
//! the whole crowd at every point: the dashed line of the figure.

use rand::seq::SliceRandom;

use super::auc_summary::TrialAuc;
use super::contenders::{ExperimentData, ExperimentError, on_part, trial_auc};
use super::detection::{CrowdTrial, DetectionSettings};
use super::trials::{TrialError, TrialId, TrialLog, run_trials};
use crate::data::progress::Progress;
use crate::data::z::ZSource;
use crate::mechanism::MechanismName;
use crate::simulate::labels::{ContaminatedCrowd, count_of};

/// Shares of the tasks with Z in the paper.
pub(crate) const COVERAGES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// Share of LLM cheaters in the paper.
pub(crate) const LLM_SHARE: f64 = 0.15;

/// Runs the experiment with one variant per coverage, each the share of the tasks with Z that
/// keep it, rounded down. `settings` should have one share of LLM cheaters.
///
/// # Errors
///
/// [`TrialError`] if a trial fails or the log cannot be used.
pub(crate) fn sample_size(
    data: &ExperimentData<'_>,
    settings: &DetectionSettings,
    (coverages, repetitions): (&[f64], u32),
    log: Option<TrialLog>,
    progress: &dyn Progress,
) -> Result<Vec<CrowdTrial>, TrialError<ExperimentError>> {
    run_trials(settings.grid(repetitions), log, progress, |id| {
        let (shares, crowd) = settings.crowd(data, id)?;
        let order = covered_tasks(data, settings.seed, id);
        let mut aucs: Vec<Vec<TrialAuc>> = Vec::new();
        for &coverage in coverages {
            let z = covering(data, &order[..count_of(coverage, order.len())]);
            let first = aucs.first();
            let row = with_z(&settings.contenders, &crowd, &z, first.map(Vec::as_slice))?;
            aucs.push(row);
        }
        Ok(CrowdTrial { shares, aucs })
    })
}

/// The tasks with Z in the order in which they keep it.
fn covered_tasks(data: &ExperimentData<'_>, seed: u64, id: TrialId) -> Vec<usize> {
    let has_z = |task: usize| data.z.iter().any(|source| source.conditioning()[task].is_some());
    let mut tasks: Vec<usize> = (0..data.crowd.table.task_count()).filter(|&t| has_z(t)).collect();
    tasks.shuffle(&mut id.stream(seed, "order of tasks with Z"));
    tasks
}

fn covering(data: &ExperimentData<'_>, tasks: &[usize]) -> Vec<ZSource> {
    let mut keep = vec![false; data.crowd.table.task_count()];
    tasks.iter().for_each(|&task| keep[task] = true);
    data.z.iter().map(|source| on_part(source, &keep)).collect()
}

/// AUCs given `z`; those of mechanisms without Z are taken from `first`, where there is one.
fn with_z(
    contenders: &[MechanismName],
    crowd: &ContaminatedCrowd,
    z: &[ZSource],
    first: Option<&[TrialAuc]>,
) -> Result<Vec<TrialAuc>, ExperimentError> {
    let aucs = contenders.iter().enumerate().map(|(index, &name)| match first {
        Some(first) if !name.needs_z() => Ok(first[index]),
        _ => Ok(trial_auc(name, crowd, z)?),
    });
    aucs.collect()
}

#[cfg(test)]
mod tests {
    use super::super::contenders::tests::{crowd, roles};
    use super::*;
    use crate::data::progress::NoProgress;

    #[test]
    fn full_coverage_is_the_detection_experiment_and_ca_does_not_change() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a"], false)).unwrap();
        let contenders = vec![MechanismName::CaZ, MechanismName::Ca];
        let settings = DetectionSettings {
            llm_shares: vec![0.15],
            contenders,
            ..DetectionSettings::default()
        };
        let curve = sample_size(&data, &settings, (&[0.2, 1.0], 3), None, &NoProgress).unwrap();
        let whole = super::super::detection::detection(&data, &settings, 3, None, &NoProgress);
        for (trial, whole) in curve.iter().zip(whole.unwrap()) {
            assert_eq!(trial.aucs[1], whole.aucs[0]);
            assert_eq!(trial.aucs[0][1], trial.aucs[1][1]);
            assert_ne!(trial.aucs[0][0], trial.aucs[1][0]);
        }
    }

    #[test]
    fn no_coverage_leaves_nothing_to_score() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a"], false)).unwrap();
        let contenders = vec![MechanismName::CaZ];
        let settings = DetectionSettings {
            llm_shares: vec![0.15],
            contenders,
            ..DetectionSettings::default()
        };
        let curve = sample_size(&data, &settings, (&[0.0], 1), None, &NoProgress).unwrap();
        assert_eq!(curve[0].aucs[0][0], TrialAuc { auc: None, n_missing: 20 });
    }

    #[test]
    fn tasks_that_keep_z_are_nested() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a"], false)).unwrap();
        let order = covered_tasks(&data, 0, TrialId { repetition: 0, point: 0 });
        assert_eq!(order.len(), 150);
        let count = |part: usize| {
            let z = covering(&data, &order[..part]);
            z[0].samples[0].labels.iter().flatten().count()
        };
        assert_eq!((count(0), count(30), count(150)), (0, 30, 150));
    }
}
