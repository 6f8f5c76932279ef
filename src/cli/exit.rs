//! Exit codes, a contract with scripts.

use std::process::ExitCode;

use crate::error::{ErrorKind, Kinded};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: done.
    Done = 0,
    /// 1: done, but a gate that the user set failed.
    GateFailed = 1,
    /// 2: the command line makes no sense.
    Usage = 2,
    /// 3: the input data are bad.
    BadInput = 3,
    /// 4: a file, model or key is missing.
    Missing = 4,
    /// 5: the network or a server failed.
    Network = 5,
    /// 130: interrupted.
    Interrupted = 130,
}

/// 101: a fault of caz itself, or no memory; the code of a Rust program that panicked.
pub const PANICKED: i32 = 101;

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

/// Flags that are fine alone but not together, or a value only known to be wrong later.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// What is said of models in files by a program that cannot run them.
#[cfg(not(feature = "local"))]
pub(super) const NO_LOCAL_MODELS: &str = "this build runs no models in files (it was made without \
    the feature local); name a model of a server, or use a build with the feature";

/// A key, folder or variable that has to be there and is not.
#[cfg(feature = "llm")]
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct MissingError(pub String);

impl Kinded for UsageError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

#[cfg(feature = "llm")]
impl Kinded for MissingError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Missing
    }
}

/// The exit code of every kind of error.
pub fn status_of(kind: ErrorKind) -> ExitStatus {
    match kind {
        ErrorKind::Usage => ExitStatus::Usage,
        ErrorKind::Missing => ExitStatus::Missing,
        ErrorKind::Network => ExitStatus::Network,
        ErrorKind::Gate => ExitStatus::GateFailed,
        ErrorKind::Interrupted => ExitStatus::Interrupted,
        // A closed pipe is the reader's choice, as with `caz ... | head`.
        ErrorKind::ClosedPipe => ExitStatus::Done,
        ErrorKind::Input => ExitStatus::BadInput,
    }
}
