//! Who is behind anonymous ids.

use std::collections::HashMap;

/// Persons by anonymous id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct People {
    pub(super) persons: HashMap<String, String>,
    pub(super) chairs: HashMap<String, String>,
    /// Rows of the file.
    pub rows: u64,
}

impl People {
    /// The person behind an id; the id itself where nobody is known.
    pub(crate) fn person<'a>(&'a self, id: &'a str) -> &'a str {
        self.persons.get(id).map_or(id, String::as_str)
    }

    /// The area chair in charge of what an id reviews, where the file names one.
    pub(crate) fn chair(&self, id: &str) -> Option<&str> {
        self.chairs.get(id).map(String::as_str)
    }

    /// Whether an id is known.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.persons.contains_key(id)
    }
}
