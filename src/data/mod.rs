//! Types and files; no statistics.
//!
//! [`source`] opens an input, [`rows`] turns any format into rows under agreed column names,
//! [`reviews`] gives the rows a meaning. What is wrong is collected by [`problem`], what is merely
//! worth knowing by [`warning`].

pub mod content;
pub mod duplicates;
pub mod ids;
pub mod labels;
pub mod problem;
pub mod progress;
pub mod reviews;
pub mod rows;
pub mod source;
pub mod warning;
pub mod z;
