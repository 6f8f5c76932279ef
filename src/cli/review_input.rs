//! Reviews and LLM reviews that simulations and experiments are made from.

use std::path::{Path, PathBuf};

use crate::error::Result;
use clap::Args;

use super::common::{Common, check_read_once};
use super::exports::ExportArgs;
use super::progress::open;
use super::reviews::DuplicatesChoice;
use crate::data::duplicates::Duplicates;
use crate::data::import::{ImportSettings, Wanted};
use crate::data::nouns::Nouns;
use crate::data::people::People;
use crate::data::review_reader::{LoadedReviews, ReviewSources, read_review_sources};
use crate::report::Input;

/// Real reviews, and LLM reviews of the same papers.
#[derive(Debug, Args)]
pub(super) struct ReviewFiles {
    /// Reviews by people: paper, reviewer, text
    reviews: PathBuf,
    /// LLM reviews of the same papers, from at least two sources or samples
    #[arg(long, required = true, num_args = 1.., value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    /// What to do with a second review of the same paper by the same reviewer
    #[arg(long, value_enum, default_value_t, help_heading = "Input", hide_short_help = true)]
    duplicates: DuplicatesChoice,
    #[command(flatten)]
    exports: ExportArgs,
}

impl ReviewFiles {
    /// Reads the files.
    pub(super) fn load(&self, common: &Common) -> Result<(LoadedReviews, Vec<Input>)> {
        self.load_with_tasks(None, common)
    }

    /// Reads the files, and the texts of the tasks where a file is given.
    pub(super) fn load_with_tasks(
        &self,
        tasks: Option<&Path>,
        common: &Common,
    ) -> Result<(LoadedReviews, Vec<Input>)> {
        let files = self.z.iter().map(PathBuf::as_path).chain([self.reviews.as_path()]);
        check_read_once(files.chain(tasks))?;
        let mut opener = self.exports.opener()?;
        let reviews = opener.first(open(&self.reviews, common)?, Wanted::Reviews)?;
        let mut z = Vec::with_capacity(self.z.len());
        for path in &self.z {
            z.push(opener.beside(open(path, common)?, Wanted::LlmReviews)?);
        }
        z.extend(opener.take_llm());
        let tasks = match tasks {
            Some(path) => Some(opener.beside(open(path, common)?, Wanted::Papers)?),
            None => None,
        };
        let sources = ReviewSources {
            reviews: &reviews,
            z: &z,
            tasks: tasks.as_ref().map(|tasks| (tasks, true)),
            people: &People::default(),
            nouns: Nouns::default(),
        };
        let mut loaded = read_review_sources(&sources, Duplicates::from(self.duplicates).into())?;
        loaded.warnings.splice(0..0, opener.finish()?.1);
        let sources = std::iter::once(&reviews).chain(&z).chain(&tasks).zip(&loaded.rows);
        let inputs = sources.map(|(source, &rows)| Input::new(source, rows)).collect();
        Ok((loaded, inputs))
    }

    /// How files of other systems are read.
    pub(super) fn import(&self) -> Result<ImportSettings> {
        self.exports.settings()
    }

    /// What happens to a second review.
    pub(super) fn duplicates(&self) -> Duplicates {
        self.duplicates.into()
    }
}
