//! Why there are no scores.

use crate::error::{ErrorKind, Kinded};

/// Why `own` has no scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnError {
    /// The rate is no probability.
    #[error("the rate of false alarms is {fdr}; it must be above 0 and below 1")]
    Fdr {
        /// What was asked for.
        fdr: f64,
    },
    /// There is not one vector for each text that was planted.
    #[error("there are {found} vectors for {expected} texts")]
    Rows {
        /// Texts.
        expected: usize,
        /// Vectors.
        found: usize,
    },
    /// The run was asked to stop.
    #[error("interrupted while texts were compared")]
    Interrupted,
}

impl Kinded for OwnError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Fdr { .. } | Self::Rows { .. } => ErrorKind::Usage,
        }
    }
}
