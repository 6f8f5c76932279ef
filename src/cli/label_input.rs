//! Files of a crowd and its LLMs, and which LLM plays which part, for simulations and experiments.

use std::path::{Path, PathBuf};

use crate::error::Result;
use clap::Args;

use super::common::{Common, check_read_once};
use super::exports::ExportArgs;
use super::progress::open;
use super::reviews::DuplicatesChoice;
use crate::data::Labels;
use crate::data::import::{ImportSettings, Wanted};
use crate::data::label_reader::{LabelFiles, LabelReading, LoadedLabels, read_labels};
use crate::report::Input;
use crate::simulate::roles::Roles;

/// Files of a crowd.
#[derive(Debug, Args)]
pub(super) struct LabelInput {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks: task, label; optional source, sample
    #[arg(long, num_args = 1.., required = true, value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    exports: ExportArgs,
}

/// Which LLM plays which part.
#[derive(Debug, Clone, Args)]
pub(super) struct RoleArgs {
    /// LLM of the principal, whose first sample is Z [default: the only one in Z]
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    z_source: Vec<String>,
    /// LLM of the cheaters, who hand in a sample that is not Z [default: that of the principal]
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    llm_source: Vec<String>,
    /// Let cheaters hand in Z itself where their LLM has no other sample
    #[arg(long)]
    copy_z: bool,
}

impl RoleArgs {
    /// Which LLM plays which part, as far as keys say.
    pub(super) fn roles(&self) -> Roles {
        let (z, cheaters) = (self.z_source.clone(), self.llm_source.clone());
        Roles { z, cheaters, copy_z: self.copy_z }
    }
}

/// How labels are read.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct ReadingArgs {
    /// What to do with a second label of the same worker for the same task
    #[arg(long, value_enum, default_value_t, help_heading = "Input", hide_short_help = true)]
    duplicates: DuplicatesChoice,
    /// Compare labels as they are written: case, spaces and Unicode forms count, NaN is a label
    #[arg(long, help_heading = "Advanced")]
    exact_labels: bool,
}

impl From<ReadingArgs> for LabelReading {
    fn from(args: ReadingArgs) -> Self {
        Self { duplicates: args.duplicates.into(), exact_labels: args.exact_labels, sets: false }
    }
}

impl LabelInput {
    /// Reads all files; their bytes are gone when this returns.
    pub(super) fn load(&self, common: &Common) -> Result<(LoadedLabels, Vec<Input>)> {
        check_read_once(self.z.iter().chain([&self.labels]))?;
        let mut opener = self.exports.opener()?;
        opener.exact_labels(self.reading.exact_labels);
        let labels = opener.first(open(&self.labels, common)?, Wanted::Labels)?;
        let mut z = Vec::with_capacity(self.z.len());
        for path in &self.z {
            z.push(opener.beside(open(path, common)?, Wanted::LlmLabels)?);
        }
        z.extend(opener.take_llm());
        let files = LabelFiles { labels: &labels, z: &z, truth: None };
        let mut loaded = read_labels(&files, self.reading)?;
        loaded.warnings.splice(0..0, opener.finish()?.1);
        let sources = std::iter::once(&labels).chain(&z).zip(&loaded.rows);
        let inputs = sources.map(|(source, &rows)| Input::new(source, rows)).collect();
        Ok((loaded, inputs))
    }

    /// How files of other systems are read.
    pub(super) fn import(&self) -> Result<ImportSettings> {
        self.exports.settings()
    }

    /// How the labels are read.
    pub(super) fn reading(&self) -> LabelReading {
        self.reading.into()
    }
}

/// Reads the files of a run; their bytes are gone when this returns.
pub(super) fn read_label_files(
    labels: &Path,
    z: &[PathBuf],
    truth: Option<&Path>,
    (reading, exports): (LabelReading, &ExportArgs),
    common: &Common,
) -> Result<Labels> {
    let settings = exports.settings()?;
    let labels = open(labels, common)?;
    let z = z.iter().map(|path| open(path, common)).collect::<Result<Vec<_>, _>>()?;
    let truth = truth.map(|path| open(path, common)).transpose()?;
    Ok(Labels::from_exports((labels, z, truth), settings, reading)?)
}
