//! How files of other systems are read, and what their rows are for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::ImportError;
pub(crate) use super::wanted::Wanted;

/// Which way a wide table lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wide {
    /// One row a worker, one column a task.
    Worker,
    /// One row a task, one column a worker.
    Task,
}

/// How files are read; part of the settings of every run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportSettings {
    /// Name of the format of the first file; found by looking where there is none.
    pub from: Option<String>,
    /// Which column is which of caz's: `text` -> `review_body`. Files beside the first, such as Z,
    /// need not have them.
    pub columns: BTreeMap<String, String>,
    /// The same for files of Z, before `columns`: `task` -> `id`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) z_columns: BTreeMap<String, String>,
    /// Columns of a wide table that hold answers; found by looking where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answer_columns: Vec<String>,
    /// Columns or fields that make the text, in this order; chosen by their length where empty.
    pub(crate) text_columns: Vec<String>,
    /// Whether the first file is a table with one row a worker or a task.
    pub(crate) wide: Option<Wide>,
}

/// Everything that [`ImportSettings::columns`] may name.
pub(crate) const COLUMN_KEYS: [&str; 18] = [
    "paper",
    "reviewer",
    "text",
    "task",
    "worker",
    "label",
    "source",
    "sample",
    "prompt",
    "truth",
    "id",
    "title",
    "abstract",
    "context",
    "request",
    "response_a",
    "response_b",
    "task_text",
];

impl ImportSettings {
    /// Checks the keys of [`Self::columns`] and [`Self::z_columns`].
    ///
    /// # Errors
    ///
    /// [`ImportError::UnknownKey`] for one that is not among [`COLUMN_KEYS`].
    pub(crate) fn check(&self) -> Result<(), ImportError> {
        let mut keys = self.columns.keys().chain(self.z_columns.keys());
        match keys.find(|key| !COLUMN_KEYS.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                Err(ImportError::UnknownKey { key: key.clone(), known: COLUMN_KEYS.join(", ") })
            }
        }
    }

    /// Whether nothing is said about a file, so that one in caz's own form passes as it is.
    pub(super) fn is_silent(&self) -> bool {
        Self { z_columns: BTreeMap::new(), ..self.clone() } == Self::default()
    }

    /// What is said about a file beside the first, which has these columns.
    pub(super) fn beside(&self, is_z: bool, has: impl Fn(&str) -> bool) -> Self {
        let z = self.z_columns.iter().filter(|_| is_z);
        let columns = self.columns.iter().chain(z).filter(|(_, name)| has(name));
        Self {
            columns: columns.map(|(key, name)| (key.clone(), name.clone())).collect(),
            text_columns: self.text_columns.iter().filter(|name| has(name)).cloned().collect(),
            ..Self::default()
        }
    }
}
