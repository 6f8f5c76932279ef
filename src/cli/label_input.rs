//! Files of a crowd and its LLMs, and which LLM plays which part, for simulations and experiments.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::exit::UsageError;
use super::reviews::DuplicatesChoice;
use crate::data::label_reader::{LabelFiles, LoadedLabels, read_labels};
use crate::data::source::Source;
use crate::experiment::contenders::{ExperimentData, ExperimentError, Roles};
use crate::report::Input;

/// Files and roles.
#[derive(Debug, Args)]
pub(super) struct LabelInput {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks: task, label; optional source, sample
    #[arg(long, num_args = 1.., required = true, value_name = "FILE")]
    z: Vec<PathBuf>,
    /// LLM of the principal, whose first sample is Z [default: the only one in Z]
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    z_source: Vec<String>,
    /// LLM of the cheaters, who hand in a sample that is not Z [default: that of the principal]
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    llm_source: Vec<String>,
    /// Let cheaters hand in Z itself where their LLM has no other sample
    #[arg(long)]
    copy_z: bool,
    /// What to do with a second label of the same worker for the same task
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
}

impl LabelInput {
    /// Reads all files; their bytes are gone when this returns.
    pub(super) fn load(&self) -> Result<(LoadedLabels, Vec<Input>)> {
        let labels = Source::read(&self.labels)?;
        let z = self.z.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>, _>>()?;
        let files = LabelFiles { labels: &labels, z: &z, truth: None };
        let loaded = read_labels(&files, self.duplicates.into())?;
        let sources = std::iter::once(&labels).chain(&z).zip(&loaded.rows);
        let inputs = sources.map(|(source, &rows)| Input::new(source, rows)).collect();
        Ok((loaded, inputs))
    }

    /// One LLM of the principal, any of the cheaters.
    pub(super) fn single_roles(&self, loaded: &LoadedLabels) -> Result<Roles> {
        let z = match (self.z_source.as_slice(), loaded.z.sources.as_slice()) {
            ([name], _) => vec![name.clone()],
            ([], [only]) => vec![only.name.clone()],
            _ => {
                let names = all_names(loaded).join(", ");
                let message = format!("name one LLM of Z with --z-source; there are: {names}");
                return Err(UsageError(message).into());
            }
        };
        let cheaters = if self.llm_source.is_empty() { z.clone() } else { self.llm_source.clone() };
        Ok(Roles { z, cheaters, copy_z: self.copy_z })
    }

    /// Several LLMs of the principal, by default all, and the same ones of the cheaters.
    pub(super) fn several_roles(&self, loaded: &LoadedLabels) -> Result<Roles> {
        let z = if self.z_source.is_empty() { all_names(loaded) } else { self.z_source.clone() };
        if z.len() < 2 {
            let message = "several LLMs are needed; name them with --z-source A,B".into();
            return Err(UsageError(message).into());
        }
        let cheaters = if self.llm_source.is_empty() { z.clone() } else { self.llm_source.clone() };
        Ok(Roles { z, cheaters, copy_z: self.copy_z })
    }

    #[expect(clippy::unused_self, reason = "belongs to the flags that it checks")]
    /// The data of an experiment; a wrong name on the command line is a usage error.
    pub(super) fn data<'a>(
        &self,
        loaded: &'a LoadedLabels,
        roles: &Roles,
    ) -> Result<ExperimentData<'a>> {
        ExperimentData::new(&loaded.table, &loaded.z, roles).map_err(|error| match error {
            ExperimentError::UnknownSource { .. } | ExperimentError::OnlyZ { .. } => {
                UsageError(error.to_string()).into()
            }
            error => error.into(),
        })
    }
}

fn all_names(loaded: &LoadedLabels) -> Vec<String> {
    loaded.z.sources.iter().map(|source| source.name.clone()).collect()
}
