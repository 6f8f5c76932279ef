//! The mechanisms that compete on contaminated crowds, and the data they compete on.

use super::auc_summary::TrialAuc;
use crate::data::labels::Label;
use crate::data::z::{ZSample, ZSource};
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::mechanism::{LearnFrom, MechanismError, MechanismName, MechanismOptions, build};
use crate::metrics::auc::auc;
use crate::simulate::SimulateError;
use crate::simulate::labels::{ContaminatedCrowd, WorkerKind};
pub(crate) use crate::simulate::roles::{ExperimentData, Roles, RolesError};

/// Why a trial failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ExperimentError {
    /// The crowd could not be contaminated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A mechanism could not score it.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The LLMs cannot play their parts.
    #[error(transparent)]
    Roles(#[from] RolesError),
    /// A share of the tasks is not one.
    #[error("the coverage {value} is not a number from 0 to 1")]
    BadCoverage { value: f64 },
}

impl Kinded for ExperimentError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Simulate(error) => error.kind(),
            Self::Mechanism(error) => error.kind(),
            Self::Roles(error) => error.kind(),
            Self::BadCoverage { .. } => ErrorKind::Usage,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Simulate(error) => error.remedy(),
            Self::Mechanism(error) => error.remedy(),
            Self::Roles(error) => error.remedy(),
            Self::BadCoverage { .. } => None,
        }
    }
}

/// All mechanisms, in the order of tables of experiments: those that find copies best come first.
pub(crate) fn competitors() -> Vec<MechanismName> {
    let mut each = MechanismName::EACH.to_vec();
    each.sort_by_key(|name| {
        !matches!(name, MechanismName::CaZ | MechanismName::ExcessZ | MechanismName::DsZ)
    });
    each
}

/// How well the scores of a mechanism, with the settings of its paper (T learned from all), tell good workers from the
/// others. Given several sources, the lowest score over them counts.
///
/// # Errors
///
/// What the mechanism reports.
pub(crate) fn trial_auc(
    name: MechanismName,
    crowd: &ContaminatedCrowd,
    sources: &[ZSource],
) -> Result<TrialAuc, MechanismError> {
    let mut options = MechanismOptions::default();
    options.correlated_agreement.learn_from = LearnFrom::All;
    let mechanism = build(name, sources, &options)?;
    let scores = mechanism.score(&crowd.table)?;
    let items: Vec<(Option<f64>, bool)> = scores
        .workers
        .iter()
        .zip(&crowd.kinds)
        .map(|(score, kind)| (score.estimate.map(|e| e.value), *kind == WorkerKind::Good))
        .collect();
    let n_missing = items.iter().filter(|(score, _)| score.is_none()).count();
    Ok(TrialAuc { auc: auc(&items), n_missing })
}

/// The source on the tasks for which `keep` is true; other tasks have no Z.
pub(crate) fn on_part(source: &ZSource, keep: &[bool]) -> ZSource {
    let samples = source.samples.iter().map(|sample| {
        let labels: Vec<Option<Label>> =
            sample.labels.iter().zip(keep).map(|(label, keep)| label.filter(|_| *keep)).collect();
        ZSample { name: sample.name.clone(), labels }
    });
    ZSource { name: source.name.clone(), samples: samples.collect() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::labels::LabelTable;
    use crate::data::z::ZLabels;
    use crate::simulate::crowd::{CrowdPlan, SignalMatrix};
    use crate::stats::seed::stream;

    /// A crowd whose good workers are right more often than the LLM, with two LLMs of two and
    /// one samples.
    pub(crate) fn crowd() -> (LabelTable, ZLabels) {
        let plan = CrowdPlan {
            tasks: 150,
            workers_per_task: 6,
            human: SignalMatrix::symmetric("human", 3, 0.75).unwrap(),
            llm: SignalMatrix::symmetric("llm", 3, 0.6).unwrap(),
            consistency: 1.0,
            lazy: vec![0.0; 20],
            blend: false,
        };
        let crowd = plan.draw(&mut stream(5, "crowd", 0)).unwrap();
        let sample = |index| {
            // Samples that differ from each other in two thirds of the tasks.
            let labels = crowd.z.iter().enumerate();
            labels.map(|(task, &z)| Some(if task % 3 == index { (z + 1) % 3 } else { z })).collect()
        };
        let samples = |indices: &[usize]| {
            let sample =
                |&index: &usize| ZSample { name: index.to_string(), labels: sample(index) };
            indices.iter().map(sample).collect()
        };
        let sources = vec![
            ZSource { name: "a".into(), samples: samples(&[0, 1]) },
            ZSource { name: "b".into(), samples: samples(&[2]) },
        ];
        let labels = crowd.table.labels().clone();
        (crowd.table, ZLabels { sources, labels })
    }

    pub(crate) fn roles(z: &[&str], cheaters: &[&str], copy_z: bool) -> Roles {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Roles { z: names(z), cheaters: names(cheaters), copy_z }
    }

    #[test]
    fn cheaters_never_hand_in_z_unless_they_may() {
        let (table, z) = crowd();
        let data = ExperimentData::new(&table, &z, &roles(&["a"], &["a", "b"], false)).unwrap();
        assert_eq!(data.z[0].samples, z.sources[0].samples[..1]);
        assert_eq!(data.crowd.llms[0], [z.sources[0].samples[1].labels.as_slice()]);
        assert_eq!(data.crowd.llms[1], [z.sources[1].samples[0].labels.as_slice()]);
        let only_z = ExperimentData::new(&table, &z, &roles(&["b"], &["b"], false)).unwrap_err();
        assert!(matches!(only_z, RolesError::OnlyZ { llm } if llm == "b"));
        let copies = ExperimentData::new(&table, &z, &roles(&["b"], &["b"], true)).unwrap();
        assert_eq!(copies.crowd.llms[0], [copies.z[0].samples[0].labels.as_slice()]);
        let unknown = ExperimentData::new(&table, &z, &roles(&["c"], &["a"], false)).unwrap_err();
        assert_eq!(unknown.to_string(), "Z has no source `c`; it has: a, b");
    }

    #[test]
    fn people_without_a_score_are_counted_and_left_out() {
        let (table, z) = crowd();
        let kinds = vec![WorkerKind::Good; table.worker_count()];
        let mut crowd = ContaminatedCrowd { table, kinds };
        crowd.kinds[0] = WorkerKind::Llm;
        let nothing = on_part(&z.sources[0], &vec![false; crowd.table.task_count()]);
        let trial = trial_auc(MechanismName::CaZ, &crowd, &[nothing]).unwrap();
        assert_eq!(trial, TrialAuc { auc: None, n_missing: 20 });
        let trial = trial_auc(MechanismName::CaZ, &crowd, &z.sources[..1]).unwrap();
        assert!(trial.auc.is_some() && trial.n_missing == 0);
    }
}
