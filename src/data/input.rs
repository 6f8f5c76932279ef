//! What identifies an input in a result.

use serde::Serialize;

use super::source::Source;

/// An input file as it was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// The path as the user typed it.
    pub path: String,
    /// SHA-256 of the stored bytes, lower-case hexadecimal; none of what an engine reads where it is.
    pub sha256: Option<String>,
    /// Rows read.
    pub rows: u64,
}

impl Input {
    /// Describes a source of which `rows` rows were read.
    pub fn new(source: &Source, rows: u64) -> Self {
        Self { path: source.name(), sha256: Some(source.sha256.clone()), rows }
    }
}
