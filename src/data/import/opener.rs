//! Opens the files of a run, whatever system they come from.

use std::collections::BTreeSet;

use super::catalogue::is_general;
use super::charset::decoded;
use super::error::ImportError;
use super::note::{ImportNote, Imports};
use super::peek::Peek;
use super::reading::{Asked, has_rows, imported_as};
use super::settings::{COLUMN_KEYS, ImportSettings, Wanted};
use crate::data::near::{folded, listed};
use crate::data::problem::DataError;
use crate::data::source::Source;
use crate::data::warning::Warning;

/// That a file beside others was left out.
pub(crate) fn left_out(name: &str, error: &DataError) -> Warning {
    Warning::new("file_left_out", 1, format!("`{name}` was left out: {error}"))
}

/// Opens files one after the other, and gathers what there is to say about them.
///
/// Files in caz's own form pass as they are. What an LLM wrote inside an export by people is kept
/// apart, for Z.
#[derive(Debug, Default)]
pub(crate) struct Opener {
    settings: ImportSettings,
    keep: Vec<String>,
    notes: Vec<ImportNote>,
    warnings: Vec<Warning>,
    llm: Vec<Source>,
    /// What the files that were opened were wanted for, and whether one was of a system's own form.
    wanted: Vec<Wanted>,
    has_system: bool,
    /// The columns of Z, where some are named.
    of_z: BTreeSet<String>,
    exact: bool,
}

impl Opener {
    /// Files are read as `settings` say.
    pub(crate) fn new(settings: ImportSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Words for nothing, such as `N/A`, are labels like any other.
    pub(crate) fn exact_labels(&mut self, exact: bool) {
        self.exact = exact;
    }

    /// Keeps a column that the readers of a table look at under a name of its own.
    pub(crate) fn keep(&mut self, column: &str) {
        self.keep.push(column.to_owned());
    }

    /// The file that the run is about: all settings are about it.
    ///
    /// # Errors
    ///
    /// [`DataError`] if it is of no known form, refused by name, or damaged.
    pub(crate) fn first(&mut self, source: Source, wanted: Wanted) -> Result<Source, DataError> {
        self.open(source, wanted, false)
    }

    /// A file beside it, such as Z or the truth: its format is found by looking, and it need not have
    /// the columns that the settings name.
    ///
    /// # Errors
    ///
    /// As [`Self::first`].
    pub(crate) fn beside(&mut self, source: Source, wanted: Wanted) -> Result<Source, DataError> {
        self.open(source, wanted, true)
    }

    /// Several files beside it, such as those of Z. One that holds nothing of use is left out, with a
    /// warning, if others hold something.
    ///
    /// # Errors
    ///
    /// As [`Self::first`].
    pub(crate) fn several(
        &mut self,
        sources: Vec<Source>,
        wanted: Wanted,
    ) -> Result<Vec<Source>, DataError> {
        let many = sources.len() > 1;
        let mut kept = Vec::new();
        let mut empty: Vec<(String, DataError)> = Vec::new();
        for source in sources {
            let (name, is_blank) = (source.name(), !has_rows(&source));
            match self.open(source, wanted, true) {
                Ok(source) if !many || !is_blank => kept.push(source),
                Ok(_) => empty.push((name.clone(), ImportError::empty(name, wanted).into())),
                Err(DataError::Import(error)) if many && error.is_of_no_use() => {
                    empty.push((name, error.into()));
                }
                Err(error) => return Err(error),
            }
        }
        if kept.is_empty()
            && let Some((_, error)) = empty.pop()
        {
            return Err(error);
        }
        let left_out = empty.iter().map(|(name, error)| left_out(name, error));
        self.warnings.extend(left_out);
        Ok(kept)
    }

    fn open(&mut self, source: Source, wanted: Wanted, beside: bool) -> Result<Source, DataError> {
        self.settings.check()?;
        self.wanted.push(wanted);
        let (settings, keep, exact) = (&self.settings, &self.keep[..], self.exact);
        let asked = Asked { wanted, settings, beside, keep, exact };
        let is_z = beside && wanted.is_llm() && !settings.z_columns.is_empty();
        if is_z {
            let bytes = decoded(&source.bytes).0;
            self.of_z.extend(Peek::new(&bytes).names().map(str::to_owned));
        }
        let imported = imported_as(source, &asked)?;
        let is_system = imported.note.as_ref().is_some_and(|note| !is_general(note.format));
        if is_z && is_system {
            // Questions of a form are no columns, and it has been asked for them.
            self.of_z.extend(settings.z_columns.values().cloned());
        }
        self.warnings.extend(imported.note.iter().map(ImportNote::warning));
        self.warnings.extend(imported.warnings);
        self.has_system |= is_system;
        self.notes.extend(imported.note);
        self.llm.extend(imported.llm);
        Ok(imported.source)
    }

    /// Rows by LLMs that the files so far held, one source a file: they belong to Z.
    pub(crate) fn take_llm(&mut self) -> Vec<Source> {
        std::mem::take(&mut self.llm)
    }

    /// How the files were read, and what to know about it.
    ///
    /// # Errors
    ///
    /// [`ImportError::UselessKeys`] if the settings name a column that none of the files opened
    /// could have: it would change nothing, which is not what was meant. [`ImportError::NotInZ`] if no Z has
    /// one that they name for Z.
    pub(crate) fn finish(self) -> Result<(Imports, Vec<Warning>), ImportError> {
        let taken = self.keys();
        let useless: Vec<String> = self
            .settings
            .columns
            .keys()
            .chain(self.settings.z_columns.keys())
            .filter(|key| !taken.contains(&key.as_str()))
            .map(|key| format!("`{key}`"))
            .collect();
        if !self.wanted.is_empty() && !useless.is_empty() {
            let (keys, known) = (useless.join(", "), taken.join(", "));
            return Err(ImportError::UselessKeys { keys, known });
        }
        let is_of_z = |name: &str| self.of_z.iter().any(|other| folded(other) == folded(name));
        let named = self.settings.z_columns.values().filter(|name| !is_of_z(name));
        let missing: Vec<String> = named.cloned().collect();
        if !self.of_z.is_empty() && !missing.is_empty() {
            let known: Vec<String> = self.of_z.into_iter().collect();
            let (columns, known) = (listed(&missing), listed(&known));
            return Err(ImportError::NotInZ { columns, known });
        }
        Ok((Imports { settings: self.settings, imported: self.notes }, self.warnings))
    }

    /// The keys of columns that the files opened so far could have.
    fn keys(&self) -> Vec<&'static str> {
        let named: BTreeSet<&str> = self.wanted.iter().flat_map(|wanted| wanted.keys()).collect();
        // The forms of annotation systems name a question and a task, whatever they are read for.
        let of_systems = |key: &&str| self.has_system && ["task", "label", "worker"].contains(key);
        let all = self.wanted.iter().any(|wanted| wanted.schema().keeps_others);
        let taken = |key: &&str| all || named.contains(key) || of_systems(key);
        COLUMN_KEYS.into_iter().filter(taken).collect()
    }
}
