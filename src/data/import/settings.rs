//! How files of other systems are read, and what their rows are for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::ImportError;

/// What the rows of a file are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Reviews by people: paper, reviewer, text.
    Reviews,
    /// Reviews by LLMs: paper, source, text.
    LlmReviews,
    /// Labels by people: task, worker, label.
    Labels,
    /// Labels by LLMs: task, source, label.
    LlmLabels,
    /// Labels to be judged against gold: those of LLMs where an export marks them, else all.
    JudgedLabels,
    /// Labels of everybody, people and LLMs: task, who, label.
    Labellers,
    /// Labels by people that others are held against: task, label, and who if it is said.
    Gold,
    /// Known answers: task, truth.
    Truth,
    /// Who is behind which id: id, person.
    People,
    /// Texts with whatever identifies them.
    Texts,
    /// Items to ask a model about: a task and texts.
    Items,
    /// Papers to be reviewed: a name and texts.
    Papers,
}

impl Wanted {
    /// Whether rows are texts by somebody about a paper.
    pub(super) fn is_reviews(self) -> bool {
        matches!(self, Self::Reviews | Self::LlmReviews | Self::Texts)
    }

    /// Whether rows are labels of tasks.
    pub(super) fn is_labels(self) -> bool {
        matches!(
            self,
            Self::Labels
                | Self::LlmLabels
                | Self::JudgedLabels
                | Self::Labellers
                | Self::Gold
                | Self::Truth
        )
    }

    /// Whether who wrote a row is a source: a file of Z.
    pub(super) fn is_llm(self) -> bool {
        matches!(self, Self::LlmReviews | Self::LlmLabels | Self::JudgedLabels)
    }

    /// What the rows are, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Papers => "papers",
            Self::People => "people",
            _ if self.is_labels() => "labels",
            _ => "reviews",
        }
    }
}

/// Which way a wide table lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wide {
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
    /// Columns or fields that make the text, in this order; chosen by their length where empty.
    pub text_columns: Vec<String>,
    /// Whether the first file is a table with one row a worker or a task.
    pub wide: Option<Wide>,
}

/// Everything that [`ImportSettings::columns`] may name.
pub const COLUMN_KEYS: [&str; 18] = [
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
    /// Checks the keys of [`Self::columns`].
    ///
    /// # Errors
    ///
    /// [`ImportError::UnknownKey`] for one that is not among [`COLUMN_KEYS`].
    pub fn check(&self) -> Result<(), ImportError> {
        match self.columns.keys().find(|key| !COLUMN_KEYS.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                Err(ImportError::UnknownKey { key: key.clone(), known: COLUMN_KEYS.join(", ") })
            }
        }
    }

    /// Whether nothing is said, so that files in caz's own form pass as they are.
    pub(super) fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// What is said about a file beside the first, which has these columns.
    pub(super) fn beside(&self, has: impl Fn(&str) -> bool) -> Self {
        let columns = self.columns.iter().filter(|(_, name)| has(name));
        Self {
            from: None,
            columns: columns.map(|(key, name)| (key.clone(), name.clone())).collect(),
            text_columns: self.text_columns.iter().filter(|name| has(name)).cloned().collect(),
            wide: None,
        }
    }
}
