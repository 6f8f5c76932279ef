//! Many items, one model: labels of items, reviews of papers, judgments of reviews, verdicts on
//! pairs of answers.
//!
//! Each kind is prepared from items and settings, so that everything that can be wrong with them
//! is said before anything is sent; says by its requests what it would cost ([`Estimate`]); and is
//! run with a model that the caller made ([`Asked`]). The result, an [`Annotation`], has the rows
//! that were done, what failed, and what stopped the run, if something did. A run goes on where it
//! was if the model remembers its answers, as [`crate::llm::CachedModel`] does.

mod failure;
pub mod grid;
mod job;
pub mod judgments;
pub mod labels;
pub mod pairs;
pub mod reviews;
mod row;
mod samples;
mod task;

pub use self::failure::{Failed, Failure};
pub use self::grid::{Grid, GridSettings};
pub use self::job::{Annotation, Asked, Estimate, Flagged, Prices, Stop};
pub use self::judgments::{Judgments, JudgmentsSettings};
pub use self::labels::{Labels, LabelsSettings};
pub use self::reviews::{Reviews, ReviewsSettings};
pub use self::row::{Row, RowFormat, write_csv, write_json_lines};
pub use self::samples::SamplingSettings;
pub use self::task::read_task;
