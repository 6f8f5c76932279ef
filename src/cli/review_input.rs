//! Reviews and LLM reviews that simulations and experiments are made from.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::exit::UsageError;
use super::reviews::DuplicatesChoice;
use crate::data::reviews::{LoadedReviews, read_reviews};
use crate::data::source::Source;
use crate::report::Input;

/// Real reviews, and LLM reviews of the same papers.
#[derive(Debug, Args)]
pub(super) struct ReviewInput {
    /// Reviews by people: paper, reviewer, text
    reviews: PathBuf,
    /// LLM reviews of the same papers, from at least two sources or samples
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    z: Vec<PathBuf>,
    /// The source, or source/sample, that is Z; cheaters use the others [default: as said below]
    #[arg(long, value_name = "SOURCE")]
    z_source: Option<String>,
    /// What to do with a second review of the same paper by the same reviewer
    #[arg(long, value_enum, default_value_t)]
    duplicates: DuplicatesChoice,
}

impl ReviewInput {
    /// Reads the files.
    pub(super) fn load(&self) -> Result<(LoadedReviews, Vec<Input>)> {
        let reviews = Source::read(&self.reviews)?;
        let z = self.z.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>, _>>()?;
        let loaded = read_reviews(&reviews, &z, self.duplicates.into())?;
        let sources = std::iter::once(&reviews).chain(&z).zip(&loaded.rows);
        let inputs = sources.map(|(source, &rows)| Input::new(source, rows)).collect();
        Ok((loaded, inputs))
    }

    /// Numbers of the sources that may be Z: the one asked for, or all.
    pub(super) fn z_sources(&self, loaded: &LoadedReviews) -> Result<Vec<u32>> {
        let sources = &loaded.set.sources;
        let Some(name) = &self.z_source else {
            return Ok((0..).take(sources.len()).collect());
        };
        sources.get(name).map(|source| vec![source]).ok_or_else(|| {
            let known = sources.names().join(", ");
            UsageError(format!("no source is called `{name}`; there are: {known}")).into()
        })
    }
}
