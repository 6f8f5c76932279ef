//! Why a model could not be found or fetched.

use std::path::PathBuf;

use crate::error::{ErrorKind, Kinded, Remedy};
use crate::llm::trust::Distrust;

/// Why a model could not be found or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum HubError {
    /// Neither a folder nor a name the hub could have.
    #[error(
        "`{reference}` is neither a folder nor a model name like org/name or org/name@revision"
    )]
    InvalidReference { reference: String },
    /// Something that can only be a path, where there is no folder.
    #[error("there is no folder `{}`; check the path of the model", path.display())]
    MissingFolder { path: PathBuf },
    /// The model is not on this machine and the network may not be used.
    #[error(
        "`{model}` at revision `{revision}` is not on this machine and downloads are off; \
         looked at {}; allow downloads or copy the model there",
        list(looked_at)
    )]
    NotCached { model: String, revision: String, looked_at: Vec<PathBuf> },
    /// The same of what is only looked for, and of a language model, which only a user's own command
    /// fetches.
    #[error(
        "`{model}` at revision `{revision}` is not on this machine; looked at {}",
        list(looked_at)
    )]
    NotPulled { model: String, revision: String, looked_at: Vec<PathBuf> },
    /// Neither a file nor a name that a language model on the hub could have.
    #[error(
        "`{reference}` is neither a file nor the name of a language model like \
         org/name/file.gguf or org/name@revision"
    )]
    InvalidGguf { reference: String },
    /// One of several files of a model.
    #[error("`{file}` is one of several parts of a model; choose a model in one file")]
    Part { file: String },
    /// It is not said which of several files is meant.
    #[error(
        "`{model}` has {} language models: {}; say which, as in `{model}/{}`",
        files.len(), sizes(files), files.first().map_or("file.gguf", |(name, _)| name)
    )]
    SeveralFiles {
        /// The repository.
        model: String,
        /// Names and bytes of the files; 0 if the size is not known.
        files: Vec<(String, u64)>,
    },
    /// The repository has other files.
    #[error("`{model}` has no file `{file}`; it has {}", sizes(files))]
    NoSuchFile {
        /// The repository.
        model: String,
        /// What was asked for.
        file: String,
        /// Names and bytes of the files there are; 0 if the size is not known.
        files: Vec<(String, u64)>,
    },
    /// The hub does not know the model or does not show it.
    #[error(
        "{endpoint} has no model `{model}` at revision `{revision}` for you (HTTP {status}); \
         check the name, and set HF_TOKEN if it is private"
    )]
    NotFound {
        /// The hub's address.
        endpoint: String,
        /// The model's name.
        model: String,
        /// The revision.
        revision: String,
        /// The answer's status: 401, 403 or 404.
        status: u16,
    },
    /// The repository lacks files without which caz cannot use it.
    #[error("`{model}` has no {wanted}; use a model that comes with it")]
    NotUsable { model: String, wanted: &'static str },
    /// The hub could not be reached or broke off.
    #[error("cannot fetch `{model}` from {endpoint}; check the network or HF_ENDPOINT")]
    Network {
        /// The hub's address.
        endpoint: String,
        /// The model's name.
        model: String,
        /// What the client said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nobody knows whether it is the hub, or the host that it redirects to.
    #[error("{host} cannot be trusted: {problem}")]
    NotTrusted { host: String, problem: Distrust },
    /// The hub's answer is not what its interface promises.
    #[error("{endpoint} gave an answer that is not the hub's: {reason}; check HF_ENDPOINT")]
    Answer { endpoint: String, reason: String },
    /// A downloaded file is not the one the hub has.
    #[error("`{file}` arrived damaged (sha256 {found} instead of {expected}); try again")]
    Damaged { file: String, expected: String, found: String },
    /// The cache cannot be read or written.
    #[error("cannot use the cache at `{}`; check its permissions or set HF_HOME", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The download was asked to stop; what has arrived is kept for the next one.
    #[error("interrupted while `{model}` was fetched; the same again fetches the rest")]
    Interrupted { model: String },
    /// There is no home folder to put the cache in.
    #[error("cannot tell where the model cache is; set HF_HOME")]
    NoHome,
}

impl Kinded for HubError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::SeveralFiles { .. } => ErrorKind::Usage,
            network if network.is_network() => ErrorKind::Network,
            _ => ErrorKind::Missing,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NotTrusted { problem, .. } => problem.remedy(),
            Self::NotPulled { .. } => Some(Remedy::PullModel),
            _ => None,
        }
    }
}

impl HubError {
    /// Whether the network or the server is to blame, not what is or is not there.
    pub(crate) fn is_network(&self) -> bool {
        matches!(
            self,
            Self::Network { .. }
                | Self::NotTrusted { .. }
                | Self::Answer { .. }
                | Self::Damaged { .. }
        )
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// Files with their sizes.
fn sizes(files: &[(String, u64)]) -> String {
    let words = files.iter().map(|(name, bytes)| match bytes {
        0 => format!("`{name}`"),
        _ => format!("`{name}` ({})", megabytes(*bytes)),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A size in words: millions of bytes, with one digit behind the point.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
