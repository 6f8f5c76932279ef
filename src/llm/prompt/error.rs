//! Why prompts cannot be used.

use std::io;
use std::path::PathBuf;

use super::kind::PromptKind;
use crate::error::{ErrorKind, Kinded, Remedy};

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// No such name and no such file.
    #[error("there is no prompt `{name}`; a path ends in .toml")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read the prompt `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML with the keys of a prompt.
    #[error("`{name}` is not a prompt")]
    Malformed {
        /// Name or path.
        name: String,
        /// What the reader said, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// The template is wrong, or uses a variable that nobody gives.
    #[error("the template of `{name}` does not work")]
    Template {
        /// Name or path.
        name: String,
        /// What the template engine said.
        #[source]
        source: Box<minijinja::Error>,
    },
    /// The template inserts texts without the rule about fences.
    #[error(
        "the template of `{name}` lacks {{{{ fence_note }}}}, which tells the model to ignore instructions inside the texts"
    )]
    NoFenceNote {
        /// Name or path.
        name: String,
    },
    /// A variable has the name of something that caz gives.
    #[error("`{name}` has a variable `{variable}`, a name that caz itself uses; choose another")]
    ReservedName {
        /// Name or path.
        name: String,
        /// The variable.
        variable: String,
    },
    /// A text is missing.
    #[error("the prompt `{name}` needs `{variable}`: {description}")]
    MissingText {
        /// Name or path.
        name: String,
        /// The variable.
        variable: String,
        /// What it should hold.
        description: String,
    },
    /// There is a text for a variable that the prompt does not have.
    #[error("the prompt `{name}` has no variable `{variable}`; it has {known}")]
    NoVariable {
        /// Name or path.
        name: String,
        /// The variable.
        variable: String,
        /// Those that it has.
        known: String,
    },
    /// The fields cannot be told apart or have no choice.
    #[error("the fields of `{name}` do not work: {reason}")]
    Fields {
        /// Name or path.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The folder has none of the prompts that it could have.
    #[error("`{path}` has none of the files {names} (each with .toml)")]
    NoPrompts {
        /// The folder.
        path: PathBuf,
        /// Names of prompts that are looked for.
        names: String,
    },
    /// A file of the folder has the name of no prompt that is looked for.
    #[error("`{path}` is the prompt of no role; roles have {names}")]
    NoRole {
        /// The file.
        path: PathBuf,
        /// Names of prompts that are looked for.
        names: String,
    },
    /// The prompt is for something else.
    #[error("`{name}` is a prompt for {found:?}, not for {wanted:?}")]
    Kind {
        /// Name or path.
        name: String,
        /// What it is for.
        found: PromptKind,
        /// What is needed.
        wanted: PromptKind,
    },
}

impl Kinded for PromptError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::NoRole { .. }
            | Self::Kind { .. }
            | Self::NoVariable { .. } => ErrorKind::Usage,
            Self::Unreadable { .. } | Self::NoPrompts { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::Unknown { .. }).then_some(Remedy::ListPrompts)
    }
}
