//! What to do when one person reports twice on the same thing.

use serde::{Deserialize, Serialize};

/// How a second report of the same person on the same task or paper is treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// None: it is an error.
    #[default]
    Error,
    /// The first.
    First,
    /// The last.
    Last,
    /// All: texts are joined in the order of the file.
    Join,
}

impl Duplicates {
    /// Leaves what counts in the place of the `first` report, or refuses that there is a `second`.
    pub(super) fn settle<T>(self, first: &mut T, second: T, refuse: impl FnOnce()) {
        match self {
            Self::First => {}
            Self::Last => *first = second,
            Self::Error | Self::Join => refuse(),
        }
    }
}

/// That there is a second report, in words; `who` says whose it is.
pub(super) fn second(who: &str, first_line: u64) -> String {
    format!("{who} (the first is in line {first_line})")
}
