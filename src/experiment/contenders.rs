//! The mechanisms that compete on contaminated crowds, and the data they compete on.

use serde::{Deserialize, Serialize};

use super::auc_summary::TrialAuc;
use crate::data::labels::{Label, LabelTable};
use crate::data::z::{ZLabels, ZSample, ZSource};
use crate::mechanism::{
    Conditioning, CopyMixture, CorrelatedAgreement, CorrelatedAgreementOptions, DawidSkene,
    EmSettings, Mechanism, MechanismError, MinimumOverSources, NegativeAgreement, OutputAgreement,
};
use crate::metrics::auc::auc;
use crate::simulate::SimulateError;
use crate::simulate::labels::{ContaminatedCrowd, CrowdToContaminate, Sample, WorkerKind};

/// Why a trial failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The crowd could not be contaminated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A mechanism could not score it.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// Cheaters have nothing to hand in but Z itself.
    #[error(
        "`{llm}` has no sample besides Z, so that cheaters would hand in Z itself; \
         give more samples, choose another LLM for the cheaters with --llm-source, or add --copy-z"
    )]
    OnlyZ {
        /// The LLM.
        llm: String,
    },
    /// There is no such LLM in Z.
    #[error("Z has no source `{name}`; it has: {known}")]
    UnknownSource {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// A mechanism with the settings of its paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contender {
    /// [`CorrelatedAgreement`] given Z.
    CaZ,
    /// [`CopyMixture`].
    DsZ,
    /// [`CorrelatedAgreement`].
    Ca,
    /// [`OutputAgreement`].
    Oa,
    /// [`OutputAgreement`] against Z.
    OaZ,
    /// [`DawidSkene`].
    Ds,
    /// [`NegativeAgreement`].
    NegZ,
}

impl Contender {
    /// All of them, in the order of tables.
    pub const EACH: [Self; 7] =
        [Self::CaZ, Self::DsZ, Self::Ca, Self::Oa, Self::OaZ, Self::Ds, Self::NegZ];

    /// The name on the command line and in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CaZ => "ca_z",
            Self::DsZ => "ds_z",
            Self::Ca => "ca",
            Self::Oa => "oa",
            Self::OaZ => "oa_z",
            Self::Ds => "ds",
            Self::NegZ => "neg_z",
        }
    }

    /// Whether its scores depend on Z.
    pub fn uses_z(self) -> bool {
        matches!(self, Self::CaZ | Self::DsZ | Self::OaZ | Self::NegZ)
    }

    /// The mechanism; given several sources, the lowest score over them counts.
    pub fn mechanism(self, sources: &[ZSource]) -> Box<dyn Mechanism> {
        let options = CorrelatedAgreementOptions::default;
        let one = |source: &ZSource| -> Box<dyn Mechanism> {
            let labels = source.conditioning();
            match self {
                Self::OaZ => Box::new(OutputAgreement::new(Conditioning::on(labels))),
                Self::NegZ => Box::new(NegativeAgreement::new(labels)),
                Self::DsZ => {
                    let source = std::slice::from_ref(source);
                    Box::new(CopyMixture::new(source, EmSettings::default()))
                }
                _ => Box::new(CorrelatedAgreement::new(Conditioning::on(labels), options())),
            }
        };
        match self {
            Self::Ca => Box::new(CorrelatedAgreement::new(Conditioning::Nothing, options())),
            Self::Oa => Box::new(OutputAgreement::new(Conditioning::Nothing)),
            Self::Ds => Box::new(DawidSkene { settings: EmSettings::default() }),
            _ => match sources {
                [source] => one(source),
                _ => Box::new(MinimumOverSources::new(sources.iter().map(one).collect())),
            },
        }
    }

    /// How well the scores tell good workers from the others.
    ///
    /// # Errors
    ///
    /// What the mechanism reports.
    pub fn trial_auc(
        self,
        crowd: &ContaminatedCrowd,
        sources: &[ZSource],
    ) -> Result<TrialAuc, MechanismError> {
        let scores = self.mechanism(sources).score(&crowd.table)?;
        let items: Vec<(Option<f64>, bool)> = scores
            .workers
            .iter()
            .zip(&crowd.kinds)
            .map(|(score, kind)| (score.estimate.map(|e| e.value), *kind == WorkerKind::Good))
            .collect();
        let n_missing = items.iter().filter(|(score, _)| score.is_none()).count();
        Ok(TrialAuc { auc: auc(&items), n_missing })
    }
}

/// A crowd with the principal's Z and what cheaters can hand in.
#[derive(Debug, Clone)]
pub struct ExperimentData<'a> {
    /// The crowd and the samples of the cheaters.
    pub crowd: CrowdToContaminate<'a>,
    /// What the principal has: one sample per source.
    pub z: Vec<ZSource>,
}

/// Which LLMs play which part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    /// Names of the principal's LLMs; their first samples are Z.
    pub z: Vec<String>,
    /// Names of the cheaters' LLMs; they hand in any sample that is not Z.
    pub cheaters: Vec<String>,
    /// Cheaters may hand in Z itself where their LLM has no other sample.
    pub copy_z: bool,
}

impl<'a> ExperimentData<'a> {
    /// Gives every LLM its part.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] for a name that Z does not have, or cheaters without anything to hand
    /// in.
    pub fn new(
        table: &'a LabelTable,
        z: &'a ZLabels,
        roles: &Roles,
    ) -> Result<Self, ExperimentError> {
        let find = |name: &String| {
            z.sources.iter().find(|source| source.name == *name).ok_or_else(|| {
                let names: Vec<&str> = z.sources.iter().map(|s| s.name.as_str()).collect();
                ExperimentError::UnknownSource { name: name.clone(), known: names.join(", ") }
            })
        };
        let principal = roles.z.iter().map(|name| Ok(first_sample(find(name)?)));
        let principal = principal.collect::<Result<Vec<ZSource>, ExperimentError>>()?;
        let samples = |name: &String| {
            let source = find(name)?;
            let taken = usize::from(roles.z.contains(name));
            let mut left: Vec<Sample<'a>> =
                source.samples.iter().skip(taken).map(|sample| sample.labels.as_slice()).collect();
            if left.is_empty() && roles.copy_z {
                left.extend(source.samples.first().map(|sample| sample.labels.as_slice()));
            }
            if left.is_empty() {
                return Err(ExperimentError::OnlyZ { llm: name.clone() });
            }
            Ok(left)
        };
        let llms = roles.cheaters.iter().map(samples).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { crowd: CrowdToContaminate { table, labels: &z.labels, llms }, z: principal })
    }
}

/// The source with its first sample alone: Z must not hold what cheaters hand in.
fn first_sample(source: &ZSource) -> ZSource {
    let samples = source.samples.iter().take(1).cloned().collect();
    ZSource { name: source.name.clone(), samples }
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
    use crate::simulate::crowd::{Confusion, CrowdPlan};
    use crate::stats::seed::stream;

    /// A crowd whose good workers are right more often than the LLM, with two LLMs of two and
    /// one samples.
    pub(crate) fn crowd() -> (LabelTable, ZLabels) {
        let plan = CrowdPlan {
            tasks: 150,
            workers_per_task: 6,
            human: Confusion::symmetric("human", 3, 0.75).unwrap(),
            llm: Confusion::symmetric("llm", 3, 0.6).unwrap(),
            consistency: 1.0,
            lazy: vec![0.0; 20],
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
        assert!(matches!(only_z, ExperimentError::OnlyZ { llm } if llm == "b"));
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
        let trial = Contender::CaZ.trial_auc(&crowd, &[nothing]).unwrap();
        assert_eq!(trial, TrialAuc { auc: None, n_missing: 20 });
        let trial = Contender::CaZ.trial_auc(&crowd, &z.sources[..1]).unwrap();
        assert!(trial.auc.is_some() && trial.n_missing == 0);
    }
}
