//! Types and files; no statistics.
//!
//! [`source`] opens an input, [`rows`] turns any format into rows under agreed column names,
//! [`reviews`] and [`label_reader`] give the rows a meaning. What is wrong is collected by [`problem`], what is merely
//! worth knowing by [`warning`]. Long work tells [`observer`] how far it is, hears from
//! [`interruption`] that it should stop, and is handed to threads by [`work`].

pub(crate) mod answers;
pub mod content;
pub mod duplicates;
pub(crate) mod excerpt;
pub mod formula;
pub(crate) mod hexadecimal;
pub mod ids;
pub mod import;
pub mod input;
pub mod interruption;
pub mod items;
pub mod label_reader;
mod label_rows;
pub(crate) mod label_spelling;
pub mod labellers;
pub mod labels;
pub mod mtbench;
mod multiple_choice;
pub(crate) mod near;
pub mod nouns;
pub mod npz;
pub mod observer;
pub mod ordered_labels;
pub mod own_truth;
pub mod parquet;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod people;
mod plain;
pub mod problem;
pub mod progress;
pub mod reading;
pub mod review_names;
mod review_rows;
pub mod reviews;
pub mod rows;
pub mod scale;
pub mod side;
pub mod source;
mod strict_json;
mod task_texts;
pub mod texts;
pub mod times;
pub mod warning;
pub mod words;
pub mod work;
pub mod z;

pub use self::label_rows::{LabelRow, Labels, ZLabelRow};
pub use self::review_rows::{ReviewFiles, ReviewRow, Reviews, ZRow};
