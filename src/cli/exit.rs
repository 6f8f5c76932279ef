//! Exit codes, a contract with scripts.

use std::process::ExitCode;

use crate::data::problem::DataError;

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
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

/// Flags that are fine alone but not together, or a value only known to be wrong later.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

#[cfg(feature = "bert")]
fn model_status(cause: &(dyn std::error::Error + 'static)) -> Option<ExitStatus> {
    use crate::text::embed::bert::BertError;
    use crate::text::embed::hub::HubError;

    if let Some(error) = cause.downcast_ref::<HubError>() {
        return Some(if error.is_network() { ExitStatus::Network } else { ExitStatus::Missing });
    }
    let error = cause.downcast_ref::<BertError>()?;
    Some(match error {
        BertError::MissingFile { .. } | BertError::Read { .. } => ExitStatus::Missing,
        _ => ExitStatus::BadInput,
    })
}

/// A key, folder or variable that has to be there and is not.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct MissingError(pub String);

/// The exit code of an error: that of the first known cause in its chain.
pub fn status_of(error: &anyhow::Error) -> ExitStatus {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<DataError>() {
            return match error {
                DataError::Missing { .. } => ExitStatus::Missing,
                _ => ExitStatus::BadInput,
            };
        }
        #[cfg(feature = "bert")]
        if let Some(status) = model_status(cause) {
            return status;
        }
        if cause.is::<UsageError>() {
            return ExitStatus::Usage;
        }
        if cause.is::<MissingError>() {
            return ExitStatus::Missing;
        }
        #[cfg(feature = "llm")]
        if let Some(status) = super::llm::status_of(cause) {
            return status;
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            // A closed pipe is the reader's choice, as with `caz ... | head`.
            return match error.kind() {
                std::io::ErrorKind::BrokenPipe => ExitStatus::Done,
                _ => ExitStatus::Missing,
            };
        }
    }
    ExitStatus::BadInput
}
