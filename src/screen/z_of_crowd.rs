//! Whether the labels of an LLM can be labels of the same tasks as those of a crowd.

use std::collections::BTreeSet;

use crate::data::Labels;
use crate::data::labels::Label;
use crate::data::warning::first_names;
use crate::error::{Error, ErrorKind, Result};

/// Refuses Z of which no label is on a task of the crowd, or none is a label of the crowd: with them
/// nobody would seem to copy.
///
/// # Errors
///
/// Bad input, with names from both sides.
pub(super) fn check(set: &Labels) -> Result<()> {
    if set.z.sources.is_empty() {
        return Ok(());
    }
    let samples = set.z.sources.iter().flat_map(|source| &source.samples);
    let found: BTreeSet<Label> =
        samples.flat_map(|sample| sample.labels.iter().flatten().copied()).collect();
    let crowd = set.table.labels().names();
    let message = if found.is_empty() {
        let tasks = first_names(set.table.tasks().names());
        format!(
            "no task of the labels ({tasks}) has a label of the LLM: are the names of the tasks written \
             alike, with leading zeros in both or in none?"
        )
    } else if found.iter().all(|&label| usize::from(label) >= crowd.len()) {
        let names = set.z.labels.names();
        let of_z: Vec<&str> =
            found.iter().map(|&label| names[usize::from(label)].as_str()).collect();
        format!(
            "the LLM has none of the labels of the crowd ({}), but {}: are they written alike?",
            first_names(crowd),
            first_names(&of_z)
        )
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Input, message))
}
