//! Contaminated and synthetic crowds: data of which it is known who answered how.

pub mod crowd;
pub mod labels;
pub mod reviews;

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
    /// A row of a confusion matrix is no distribution.
    #[error("row {row} of the confusion matrix `{name}` is no distribution; make it sum to 1")]
    NoDistribution {
        /// Whose matrix.
        name: &'static str,
        /// The true label, by number.
        row: usize,
    },
}

/// A share as it should be.
fn check_share(name: &'static str, value: f64) -> Result<(), SimulateError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(SimulateError::BadShare { name, value }) }
}
