//! Why there is no result.

use crate::error::{ErrorKind, Kinded};

/// Settings that do not fit the verdicts, or an interruption.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum JudgesError {
    /// There is no such judge.
    #[error("there is no judge `{name}`; there are: {known}")]
    UnknownJudge { name: String, known: String },
    /// A panel has fewer than two members.
    #[error(
        "`{name}` takes two judges or more: it is what those that are measured decide together"
    )]
    PanelOfOne { name: String },
    /// A panel goes by scores.
    #[error("`{name}` goes by scores, and no verdict has `score_a` and `score_b`")]
    NoScores { name: String },
    /// The run was stopped.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl Kinded for JudgesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownJudge { .. } | Self::PanelOfOne { .. } | Self::NoScores { .. } => {
                ErrorKind::Usage
            }
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}
