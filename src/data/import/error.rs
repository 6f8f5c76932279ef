//! Why a file cannot be imported.

use crate::data::problem::DataError;
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
    /// A table whose columns are not understood.
    #[error("`{file}`: {message}")]
    Columns {
        /// The file.
        file: String,
        /// What is missing, what there is, and what it might be.
        message: String,
    },
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
        matches!(self, Self::Columns { .. }).then_some(Remedy::NameColumns)
    }
}

impl From<ImportError> for DataError {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}
