//! Opens the files of a run, whatever system they come from.

use super::note::{ImportNote, Imports};
use super::settings::{ImportSettings, Wanted};
use super::{Asked, imported_as};
use crate::data::problem::DataError;
use crate::data::source::Source;
use crate::data::warning::Warning;

/// Opens files one after the other, and gathers what there is to say about them.
///
/// Files in caz's own form pass as they are. What an LLM wrote inside an export by people is kept
/// apart, for Z.
#[derive(Debug, Default)]
pub struct Opener {
    settings: ImportSettings,
    keep: Vec<String>,
    notes: Vec<ImportNote>,
    warnings: Vec<Warning>,
    llm: Vec<Source>,
}

impl Opener {
    /// Files are read as `settings` say.
    pub fn new(settings: ImportSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Keeps a column that the readers of a table look at under a name of its own.
    pub fn keep(&mut self, column: &str) {
        self.keep.push(column.to_owned());
    }

    /// The file that the run is about: all settings are about it.
    ///
    /// # Errors
    ///
    /// [`DataError`] if it is of no known form, refused by name, or damaged.
    pub fn first(&mut self, source: Source, wanted: Wanted) -> Result<Source, DataError> {
        self.open(source, wanted, false)
    }

    /// A file beside it, such as Z or the truth: its format is found by looking, and it need not have
    /// the columns that the settings name.
    ///
    /// # Errors
    ///
    /// As [`Self::first`].
    pub fn beside(&mut self, source: Source, wanted: Wanted) -> Result<Source, DataError> {
        self.open(source, wanted, true)
    }

    fn open(&mut self, source: Source, wanted: Wanted, beside: bool) -> Result<Source, DataError> {
        let asked = Asked { wanted, settings: &self.settings, beside, keep: &self.keep };
        let imported = imported_as(source, &asked)?;
        self.warnings.extend(imported.note.iter().map(ImportNote::warning));
        self.warnings.extend(imported.warnings);
        self.notes.extend(imported.note);
        self.llm.extend(imported.llm);
        Ok(imported.source)
    }

    /// Rows by LLMs that the files so far held, one source a file: they belong to Z.
    pub fn take_llm(&mut self) -> Vec<Source> {
        std::mem::take(&mut self.llm)
    }

    /// How the files were read, and what to know about it.
    pub fn finish(self) -> (Imports, Vec<Warning>) {
        (Imports { settings: self.settings, imported: self.notes }, self.warnings)
    }
}
