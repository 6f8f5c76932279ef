//! Why there is no result.

use super::Cut;
use crate::error::{ErrorKind, Kinded};

/// Settings that do not fit the data, or an interruption.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AgreementError {
    /// The cut leaves one label only, or labels have no order, or that label is none of theirs.
    #[error(
        "a scale cannot be cut at {at}: it needs numbers on both sides, or labels in an order and one of them to begin the upper side with"
    )]
    Cut { at: Cut },
    /// Ids that are the same numbers, written in two ways.
    #[error(
        "{count} tasks are numbers that the two files write in different ways, such as `{label}` in the labels and `{gold}` in gold: a program took ids for numbers; write them alike, as text"
    )]
    TwoSpellings { count: usize, label: String, gold: String },
    /// There is nothing to hold the labels against.
    #[error("one source and no gold labels: there is nothing to compare")]
    Alone,
    /// No task has a label and a gold label.
    #[error(
        "no task of the labels ({labels}) has a gold label; those have ({gold}): are the names of the tasks written alike, with leading zeros in both or in none?"
    )]
    NoCommonTask { labels: String, gold: String },
    /// A comparison needs one gold label per task.
    #[error("sources are compared against one gold label per task, there are {count} references")]
    SeveralReferences { count: usize },
    /// An interval of no width, or wider than kappa can be.
    #[error("half of the width of the interval is {half_width}, it must be between 0 and 1")]
    HalfWidth { half_width: f64 },
    /// Kappa of no source is defined.
    #[error("no source has a defined kappa with gold: there is nothing to plan by")]
    NoKappa,
    /// There is no such source.
    #[error("there is no source `{name}`; there are: {known}")]
    UnknownSource { name: String, known: String },
    /// The alternative annotator test needs people.
    #[error("the test needs the labels of at least {needed} people, there are {people}")]
    FewPeople { people: usize, needed: usize },
    /// Something was asked for that needs numbers.
    #[error("{what} needs labels that are numbers or have an order")]
    NoNumbers { what: &'static str },
    /// Labels outside the scale were to be refused.
    #[error("{rows} labels are outside the scale: {labels}")]
    OutsideScale { rows: usize, labels: String },
    /// No row has a metric of this name.
    #[error("no row has the metric `{metric}`, on which there is a bound; there are: {known}")]
    UnknownMetric { metric: String, known: String },
    /// The run was stopped.
    #[error("interrupted")]
    Interrupted,
}

impl Kinded for AgreementError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutsideScale { .. }
            | Self::Alone
            | Self::NoCommonTask { .. }
            | Self::TwoSpellings { .. } => ErrorKind::Input,
            Self::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Usage,
        }
    }
}
