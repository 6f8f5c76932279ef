//! Types and files; no statistics.
//!
//! [`source`] opens an input, [`rows`] turns any format into rows under agreed column names,
//! [`review_reader`] and [`label_reader`] give the rows a meaning. What is wrong is collected by [`problem`], what is merely
//! worth knowing by [`warning`]. Long work tells [`observer`] how far it is, hears from
//! [`interruption`] that it should stop, and is handed to threads by [`work`].

pub(crate) mod answers;
pub(crate) mod content;
pub(crate) mod duplicates;
pub(crate) mod excerpt;
pub(crate) mod formula;
pub(crate) mod hexadecimal;
pub(crate) mod hidden;
pub(crate) mod ids;
pub(crate) mod import;
pub(crate) mod input;
pub(crate) mod interruption;
pub(crate) mod items;
pub(crate) mod label_reader;
pub(crate) mod label_rows;
pub(crate) mod label_spelling;
pub(crate) mod labellers;
pub(crate) mod labels;
pub(crate) mod markup;
pub(crate) mod mtbench;
mod multiple_choice;
pub(crate) mod near;
pub(crate) mod nouns;
pub(crate) mod npz;
pub(crate) mod observer;
pub(crate) mod ordered_labels;
pub(crate) mod own_truth;
pub(crate) mod parquet;
#[cfg(feature = "pdf")]
pub(crate) mod pdf;
pub(crate) mod people;
mod plain;
pub(crate) mod problem;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod review_names;
pub(crate) mod review_reader;
pub(crate) mod review_rows;
pub(crate) mod reviews;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod side;
pub(crate) mod source;
mod strict_json;
mod task_texts;
pub(crate) mod texts;
pub(crate) mod times;
pub(crate) mod warning;
pub(crate) mod words;
pub(crate) mod work;
pub(crate) mod z;

#[cfg(test)]
pub(crate) use self::label_rows::LabelRow;
pub(crate) use self::label_rows::{Labels, ZLabelRow};
pub(crate) use self::review_rows::{ReviewFiles, Reviews};
