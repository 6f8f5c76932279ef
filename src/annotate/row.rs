//! Rows of an annotation.

use serde_json::{Map, Value};

/// One row, keys in the order of the columns.
pub type Row = Map<String, Value>;

/// A row that names an item.
pub(super) fn named(pairs: &[(&str, Option<&str>)]) -> Row {
    pairs
        .iter()
        .filter_map(|(key, value)| value.map(|value| ((*key).to_owned(), Value::from(value))))
        .collect()
}
