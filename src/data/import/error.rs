//! Why a file cannot be imported.

use super::wanted::Wanted;
use crate::error::{ErrorKind, Kinded, Remedy};

/// Why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// There is no such format.
    #[error("there is no format `{name}`; there are {known}")]
    UnknownFormat {
        /// What was asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// caz has no such column.
    #[error("`{key}` is no column of caz; there are {known}")]
    UnknownKey {
        /// What was named.
        key: String,
        /// All keys.
        known: String,
    },
    /// Columns were named that nothing in these files has.
    #[error("no file of this run takes {keys}; those that it takes are {known}")]
    UselessKeys {
        /// What was named.
        keys: String,
        /// The keys that would count.
        known: String,
    },
    /// Columns were named for Z, and no file of Z has them.
    #[error("no Z has a column {columns}; there are {known}")]
    NotInZ {
        /// What was named.
        columns: String,
        /// The columns that there are.
        known: String,
    },
    /// The file is of a kind that is not read.
    #[error("`{file}` is {what}; {instead}")]
    Refused {
        /// The file.
        file: String,
        /// What it is.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// The file breaks off or is damaged.
    #[error("`{file}` breaks off or is damaged after {after} rows: {message}; export it again")]
    Broken {
        /// The file.
        file: String,
        /// Rows that were whole.
        after: u64,
        /// What the reader said.
        message: String,
    },
    /// Nothing in the file is of use.
    #[error("`{file}`, read as {format}, has no row for {wanted}; {hint}")]
    Nothing {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
        /// What was wanted.
        wanted: &'static str,
        /// What was left out, or what to try.
        hint: String,
    },
    /// A table with a column for every task or every worker.
    #[error("`{file}`: {message}")]
    Wide {
        /// The file.
        file: String,
        /// What there is.
        message: String,
    },
    /// What would be taken for the answers is the same for everybody who had a task.
    #[error("`{file}`: {message}")]
    OfTask {
        /// The file.
        file: String,
        /// Which column, and which others may be meant.
        message: String,
    },
    /// A table whose columns are not understood.
    #[error("`{file}`: {message}")]
    Columns {
        /// The file.
        file: String,
        /// What is missing, what there is, and what it might be.
        message: String,
    },
}

impl ImportError {
    /// A file with nothing in it, or nothing but a header.
    pub(crate) fn empty(file: String, wanted: Wanted) -> Self {
        let hint = "it is empty, or has no row but a header".into();
        Self::Nothing { file, format: "a file", wanted: wanted.noun(), hint }
    }

    /// Whether the file holds nothing of use, so that others can do without it.
    pub(crate) fn is_of_no_use(&self) -> bool {
        matches!(self, Self::Nothing { .. } | Self::Refused { .. })
    }
}

impl ImportError {
    /// Whether the file breaks off.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Broken { .. })
    }
}

impl Kinded for ImportError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownFormat { .. } | Self::UnknownKey { .. } | Self::UselessKeys { .. } => {
                ErrorKind::Usage
            }
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Columns { .. } | Self::OfTask { .. } => Some(Remedy::NameColumns),
            Self::Wide { .. } => Some(Remedy::ReadAsWide),
            _ => None,
        }
    }
}
