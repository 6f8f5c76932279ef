//! Contaminated and synthetic crowds: data of which it is known who answered how.

use crate::error::{ErrorKind, Kinded, Remedy};

pub(crate) mod crowd;
pub(crate) mod labels;
pub(crate) mod making;
pub(crate) mod reviews;
pub(crate) mod rewording;
pub(crate) mod roles;
pub(crate) mod run;

/// Why nothing could be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// A share of people is not one.
    #[error("the share `{name}` is {value}; give a number from 0 to 1")]
    BadShare {
        /// Name of the share.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// There are more low-effort people than people.
    #[error("the shares of low-effort workers sum to {sum}, more than 1; lower them")]
    SharesTooLarge {
        /// Sum of the shares.
        sum: f64,
    },
    /// Workers are to copy an LLM, but there is nothing that they could copy.
    #[error("there is no LLM answer to copy besides Z; give another sample or another LLM")]
    NoSamples,
    /// A synthetic crowd without tasks, workers or labels.
    #[error("a synthetic crowd needs at least 1 {what}")]
    Empty {
        /// What there is none of.
        what: &'static str,
    },
    /// A row of a confusion matrix has not one entry per label.
    #[error(
        "row {row} of the confusion matrix `{name}` has {found} entries for {labels} labels; \
         make it square, one row per true label"
    )]
    NotSquare {
        /// Whose matrix.
        name: &'static str,
        /// The true label, by number from 1.
        row: usize,
        /// Entries of the row.
        found: usize,
        /// Rows of the matrix.
        labels: usize,
    },
    /// An entry of a confusion matrix is no probability.
    #[error(
        "row {row}, column {column} of the confusion matrix `{name}` is {value}; give a \
         probability from 0 to 1"
    )]
    NoProbability {
        /// Whose matrix.
        name: &'static str,
        /// The true label, by number from 1.
        row: usize,
        /// The signal, by number from 1.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A row of a confusion matrix is no distribution.
    #[error("row {row} of the confusion matrix `{name}` sums to {sum}; make it sum to 1")]
    NoDistribution {
        /// Whose matrix.
        name: &'static str,
        /// The true label, by number from 1.
        row: usize,
        /// Its sum.
        sum: f64,
    },
    /// People and LLM do not have the same labels.
    #[error(
        "the confusion matrix `human` has {human} labels and `llm` has {llm}; \
         give both the same number"
    )]
    DifferentLabels {
        /// Rows of the matrix of people.
        human: usize,
        /// Rows of the matrix of the LLM.
        llm: usize,
    },
    /// There is no such source of Z.
    #[error("no source is called `{name}`; there are: {known}")]
    UnknownSource {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Rules rewrite texts, and there are none.
    #[error("{without} reviews and Z have no text to rewrite")]
    NoTexts {
        /// How many have none.
        without: usize,
    },
}

impl Kinded for SimulateError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }

    fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::NoTexts { .. }).then_some(Remedy::DropRewriting)
    }
}

/// A share as it should be.
fn check_share(name: &'static str, value: f64) -> Result<(), SimulateError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(SimulateError::BadShare { name, value }) }
}
