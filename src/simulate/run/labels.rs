//! A real crowd in which some workers stop working.

use serde::{Deserialize, Serialize};

use super::{SimulatedFile, write_labels, write_rows};
use crate::data::import::ImportSettings;
use crate::data::label_reader::LabelReading;
use crate::data::label_reader::LoadedLabels;
use crate::data::z::ZSource;
use crate::error::Result;
use crate::report::{Input, Report, Table, settings_map};
use crate::simulate::SimulateError;
use crate::simulate::labels::{ContaminatedCrowd, Shares, WorkerKind, contaminate};
use crate::simulate::roles::{ExperimentData, Roles};
use crate::stats::seed::stream;

/// How a crowd is contaminated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LabelsSettings {
    /// Who does what.
    #[serde(flatten)]
    pub shares: Shares,
    /// Which LLM plays which part; a run has what was left open filled in.
    #[serde(flatten)]
    pub roles: Roles,
    /// How the labels were read.
    #[serde(flatten)]
    pub reading: LabelReading,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
    /// Seed of everything random.
    pub seed: u64,
}

impl LabelsSettings {
    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// As [`Shares::check`].
    pub(crate) fn check(&self) -> Result<(), SimulateError> {
        self.shares.check()
    }

    /// Contaminates the crowd.
    ///
    /// # Errors
    ///
    /// For settings that make no sense or do not fit the data.
    pub(crate) fn run(&self, loaded: LoadedLabels, inputs: Vec<Input>) -> Result<SimulatedLabels> {
        self.check()?;
        let roles = self.roles.of_one(&loaded.z)?;
        let data = ExperimentData::new(&loaded.table, &loaded.z, &roles)?;
        let mut random = stream(self.seed, "simulate labels", 0);
        let crowd = contaminate(&data.crowd, &self.shares, &mut random)?;
        let z = data.z;
        let settings = Self { roles, ..self.clone() };
        Ok(SimulatedLabels { settings, crowd, z, loaded, inputs })
    }
}

/// A contaminated crowd with what it was made from.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedLabels {
    /// The settings, with every LLM named.
    pub settings: LabelsSettings,
    /// The crowd and who did what.
    pub crowd: ContaminatedCrowd,
    /// What the principal holds: one sample per source.
    pub z: Vec<ZSource>,
    loaded: LoadedLabels,
    inputs: Vec<Input>,
}

impl SimulatedLabels {
    /// Labels, Z and truth.
    pub(crate) fn files(&self) -> Vec<SimulatedFile<'_>> {
        vec![
            SimulatedFile::new("labels.csv", |out| write_labels(out, &self.crowd.table)),
            SimulatedFile::new("z.csv", |out| {
                let z = self.z.iter().flat_map(|source| {
                    let sample = &source.samples[0];
                    let labels = sample.labels.iter().zip(self.loaded.table.tasks().names());
                    labels.filter_map(|(label, task)| {
                        let label = self.loaded.z.labels.name(u32::from((*label)?)).to_owned();
                        Some([task.clone(), label, source.name.clone(), sample.name.clone()])
                    })
                });
                write_rows(out, &["task", "label", "source", "sample"], z)
            }),
            SimulatedFile::new("truth.csv", |out| {
                let kinds = self.crowd.kinds.iter().zip(self.loaded.table.workers().names());
                let kinds = kinds.map(|(kind, worker)| [worker.clone(), kind.as_str().to_owned()]);
                write_rows(out, &["worker", "kind"], kinds)
            }),
        ]
    }

    /// Workers and labels by kind.
    pub(crate) fn report(&self) -> Report {
        Report {
            command: "simulate labels",
            inputs: self.inputs.clone(),
            settings: settings_map(&self.settings),
            table: self.table(),
            warnings: self.loaded.warnings.clone(),
            footer: vec![
                "Good workers are those that were left alone; in the real crowd not all of them \
                 need be good."
                    .into(),
            ],
            prose: None,
        }
    }

    fn table(&self) -> Table {
        let (before, crowd) = (&self.loaded.table, &self.crowd);
        let mut table = Table::new(&["kind", "n_workers", "n_labels", "n_changed"]);
        for kind in WorkerKind::EACH {
            let of_kind = (0..).zip(&crowd.kinds).filter(|(_, other)| **other == kind);
            let (mut workers, mut labels, mut changed) = (0_usize, 0_usize, 0_usize);
            for (worker, _) in of_kind {
                let (old, new) = (before.of_worker(worker), crowd.table.of_worker(worker));
                workers += 1;
                labels += new.len();
                let pairs = old.labels.iter().zip(new.labels);
                changed += pairs.filter(|(old, new)| old != new).count();
            }
            table.push(vec![kind.as_str().into(), workers.into(), labels.into(), changed.into()]);
        }
        table
    }
}
