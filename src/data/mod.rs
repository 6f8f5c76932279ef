//! Types and files; no statistics.
//!
//! [`source`] opens an input, [`rows`] turns any format into rows under agreed column names,
//! [`reviews`] and [`label_reader`] give the rows a meaning. What is wrong is collected by [`problem`], what is merely
//! worth knowing by [`warning`].

pub mod content;
pub mod duplicates;
pub mod ids;
pub mod items;
pub mod label_reader;
pub mod labels;
mod plain;
pub mod problem;
pub mod progress;
pub mod reviews;
pub mod rows;
pub mod source;
pub mod texts;
pub mod warning;
pub mod z;
