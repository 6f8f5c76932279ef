//! Many items, one model: labels of items, reviews of papers, judgments of reviews, verdicts on
//! pairs of answers.
//!
//! Each kind is prepared from items and settings, so that everything that can be wrong with them
//! is said before anything is sent; says by its requests what it would cost ([`Estimate`]); and is
//! run with a model that the caller made ([`Asked`]). The result, an [`Annotation`], has the rows
//! that were done, what failed, and what stopped the run, if something did. A run goes on where it
//! was if the model remembers its answers, as [`crate::llm::CachedModel`] does.

mod failure;
pub(crate) mod grid;
mod job;
pub(crate) mod judgments;
pub(crate) mod labels;
pub(crate) mod pairs;
pub(crate) mod reviews;
mod row;
mod samples;
mod task;

pub(crate) use self::failure::{Failed, Failure};
pub(crate) use self::job::{Annotation, Asked, Estimate, Prices, Stop};
pub(crate) use self::row::{Row, RowFormat, write_csv, write_json_lines};
pub(crate) use self::samples::SamplingSettings;
pub(crate) use self::task::read_task;
