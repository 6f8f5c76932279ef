//! What to do when one person reports twice on the same thing.

use serde::Serialize;

/// How a second report of the same person on the same task or paper is treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// It is a problem of the input.
    #[default]
    Error,
    /// The first one counts; the others are dropped and counted.
    First,
    /// The last one counts; the others are dropped and counted.
    Last,
}

impl Duplicates {
    /// Leaves what counts in the place of the `first` report, or refuses that there is a `second`.
    pub(super) fn settle<T>(self, first: &mut T, second: T, refuse: impl FnOnce()) {
        match self {
            Self::First => {}
            Self::Last => *first = second,
            Self::Error => refuse(),
        }
    }
}
