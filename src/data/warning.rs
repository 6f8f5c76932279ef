//! What a user should know about a result although nothing failed: always with a count.

use serde::Serialize;

/// Something that was left out, skipped or assumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A stable word for scripts, e.g. `papers_without_z`.
    pub code: &'static str,
    /// How many things it concerns.
    pub count: u64,
    /// A sentence for people, with the first few names.
    pub message: String,
}

impl Warning {
    /// A warning about `count` things.
    pub fn new(code: &'static str, count: usize, message: impl Into<String>) -> Self {
        Self { code, count: count as u64, message: message.into() }
    }
}

/// The first few of many names, for messages: `a, b, c and 4 more`.
pub fn first_names<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(hidden) => format!("{shown} and {hidden} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_names_are_shown_and_the_rest_counted() {
        assert_eq!(first_names(&["a"]), "a");
        assert_eq!(first_names(&["a", "b", "c"]), "a, b, c");
        assert_eq!(first_names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
