//! The file of finished trials.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::grid::{TrialGrid, TrialId};
use crate::data::hexadecimal::hexadecimal;
use crate::data::warning::Warning;
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::report::Input;

/// Why a file of trials could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// There is such a file, and the run was not asked to go on with it.
    #[error("`{}` exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is of other inputs, settings, seed or version.
    #[error(
        "`{}` holds trials of another run (its {field} differs); \
         use the same inputs and settings, or another file", path.display()
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The first entry of the header that differs.
        field: String,
    },
    /// A line is not a trial, or not the one expected there.
    #[error("`{}`, line {line}: not trial {repetition} at point {point}; remove the file", path.display())]
    NotATrial {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Repetition expected there, from 0.
        repetition: u32,
        /// Point expected there, from 0.
        point: u32,
    },
    /// The file could not be read or written.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Kinded for LogError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. } => ErrorKind::Usage,
            Self::Io { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::Exists { .. }).then_some(Remedy::Resume)
    }
}

/// One line of the log.
#[derive(Serialize, Deserialize)]
struct Line<T> {
    #[serde(flatten)]
    id: TrialId,
    result: T,
}

/// Where the finished trials of a run are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrialFile {
    /// The file.
    pub path: PathBuf,
    /// Whether to go on with the trials that it holds.
    pub resume: bool,
}

impl TrialFile {
    /// Opens the file for a run of `command` with these inputs and settings; what is not in
    /// `settings` does not matter to a run that goes on with it.
    ///
    /// # Errors
    ///
    /// As [`TrialLog::open`].
    pub(crate) fn open(
        &self,
        command: &str,
        inputs: &[Input],
        settings: &Map<String, Value>,
    ) -> Result<TrialLog, LogError> {
        // The contents of the inputs, not their names: files may move between two runs.
        let inputs: Vec<Value> =
            inputs.iter().map(|i| json!({ "sha256": i.sha256, "rows": i.rows })).collect();
        let header = json!({
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "inputs": inputs,
            "settings": settings,
        });
        TrialLog::open(&self.path, &header, self.resume)
    }
}

/// A file of finished trials: JSON lines, the first of which says what run they are of.
#[derive(Debug)]
pub struct TrialLog {
    path: PathBuf,
    file: File,
    /// Finished trials, as lines.
    lines: Vec<String>,
    /// The first line that is not as it was written, from 1.
    damaged: Option<usize>,
}

impl TrialLog {
    /// Opens `path` for a run described by `header`: inputs, settings, seed and version, but not
    /// the number of trials. With `resume`, trials that are there are kept, up to the first line that
    /// is not as it was written: that trial and those after it are run again.
    ///
    /// # Errors
    ///
    /// [`LogError`] if the file exists and `resume` is not set, or is of another run, or cannot
    /// be opened.
    pub(crate) fn open(path: &Path, header: &Value, resume: bool) -> Result<Self, LogError> {
        let failed = |source| LogError::Io { path: path.into(), source };
        if path.exists() && !resume {
            return Err(LogError::Exists { path: path.into() });
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        // What follows the last line end was being written when the run was killed.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines().map(str::to_owned);
        let known = lines.next();
        let mut end = known.as_ref().map_or(0, |header| header.len() + 1);
        if let Some(known) = &known {
            let known: Value = serde_json::from_str(known).unwrap_or_default();
            if let Some(field) = first_difference(&known, header) {
                return Err(LogError::OtherRun { path: path.into(), field });
            }
        }
        let mut kept: Vec<String> = Vec::new();
        let mut damaged = None;
        for line in lines {
            if !is_as_written(&line) {
                damaged = Some(kept.len() + 2);
                break;
            }
            end += line.len() + 1;
            kept.push(line);
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(end as u64).map_err(failed)?;
        if known.is_none() {
            file.write_all(format!("{header}\n").as_bytes()).map_err(failed)?;
        }
        Ok(Self { path: path.into(), file, lines: kept, damaged })
    }

    /// The first line that was not as it was written, from 1: it and those after it are gone, and
    /// their trials are run again.
    pub(crate) fn damaged(&self) -> Option<Warning> {
        let line = self.damaged?;
        let message = format!(
            "`{}`, line {line} is not as it was written: its trial and those after it are run again",
            self.path.display()
        );
        Some(Warning::new("trials_damaged", 1, message))
    }

    /// How many trials are finished.
    #[cfg(test)]
    pub(crate) fn finished(&self) -> usize {
        self.lines.len()
    }

    pub(in crate::experiment) fn read<T: DeserializeOwned>(
        &self,
        grid: TrialGrid,
    ) -> Result<Vec<T>, LogError> {
        let wanted = usize::try_from(grid.trials()).unwrap_or(usize::MAX);
        (0..)
            .zip(self.lines.iter().take(wanted))
            .map(|(index, text)| {
                let id = grid.id(index as u64);
                match serde_json::from_str::<Line<T>>(text) {
                    Ok(line) if line.id == id => Ok(line.result),
                    _ => Err(LogError::NotATrial {
                        path: self.path.clone(),
                        line: index + 2,
                        repetition: id.repetition,
                        point: id.point,
                    }),
                }
            })
            .collect()
    }

    /// One write per trial, so that a killed run leaves whole lines.
    pub(in crate::experiment) fn append<T: Serialize>(
        &mut self,
        id: TrialId,
        result: &T,
    ) -> Result<(), LogError> {
        let failed = |source: io::Error| LogError::Io { path: self.path.clone(), source };
        let text =
            serde_json::to_string(&Line { id, result }).map_err(|error| failed(error.into()))?;
        let text = format!("{SUM}{}\",{}\n", sum(&text), text.strip_prefix('{').unwrap_or(&text));
        self.file.write_all(text.as_bytes()).map_err(failed)
    }
}

/// How a line begins: with a sum over the rest, so that a number that a disk or a hand has changed
/// is not taken for a result.
const SUM: &str = "{\"sum\":\"";

/// The sum of a line without its sum.
fn sum(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes())[..8])
}

fn is_as_written(line: &str) -> bool {
    let parts = line.strip_prefix(SUM).and_then(|rest| rest.split_once("\","));
    parts.is_some_and(|(known, rest)| sum(&format!("{{{rest}")) == known)
}

/// The name of the first entry in which two objects differ.
fn first_difference(known: &Value, header: &Value) -> Option<String> {
    if known == header {
        return None;
    }
    let entries = header.as_object().into_iter().flatten();
    let field = entries.into_iter().find(|(key, value)| known.get(key.as_str()) != Some(value));
    Some(field.map_or_else(|| "header".into(), |(key, _)| key.clone()))
}
