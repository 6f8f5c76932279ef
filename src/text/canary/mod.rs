//! Canaries: phrases hidden in papers, and the exact test for them in reviews.
//!
//! For each paper a few phrases are drawn uniformly from a large [`Dictionary`] and hidden in its file with
//! the request to a language model to use them ([`instruction`]). Whoever never saw them can use them only
//! by chance. Under the hypothesis that a review was written without sight of its paper's phrases, they
//! are a uniform draw of `m` out of `N`, independent of the review; so with `c` phrases of the dictionary
//! in the review, the number of its paper's among them is hypergeometric, exactly, whatever people write:
//!
//! ```text
//! p = P( Hypergeometric(N, c, m) >= f )
//! ```
//!
//! The statistics are those of Rao, Kumar, Lakkaraju, Shah (arXiv 2503.15772). What is found says that
//! the paper's file went through a language model, not that the model wrote the review.

mod check;
mod dictionary;
mod find;
mod hypergeometric;
#[cfg(feature = "pdf")]
mod pdf;
mod plan;
mod task;
#[cfg(test)]
mod tests;

pub(crate) use self::check::{Checked, ReviewFindings, check};
pub(crate) use self::dictionary::Dictionary;
#[cfg(feature = "pdf")]
pub(crate) use self::pdf::{hidden_in_pdf, in_pdf};
pub(crate) use self::plan::{Instruction, MOST_PHRASES, Plan, PlannedPaper, instruction};
pub(crate) use self::task::hidden_in_text;
