//! What a user should know about a result although nothing failed: always with a count.

use serde::Serialize;

use super::ids::Ids;
use super::near::some_of;
use crate::error::Remedy;

/// Most names in a message.
const SHOWN_NAMES: usize = 3;

/// Something that was left out, skipped or assumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A stable word for scripts, e.g. `papers_without_z`.
    pub code: &'static str,
    /// How many things it concerns.
    pub count: u64,
    /// A sentence for people, with the first few names.
    pub message: String,
    /// A setting that would help; the command line says it with its flags.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

impl Warning {
    /// A warning about `count` things.
    pub fn new(code: &'static str, count: usize, message: impl Into<String>) -> Self {
        Self { code, count: count as u64, message: message.into(), remedy: None }
    }

    /// The same with what would help.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// The same with what would help inside the message, in the words of `phrase`.
    #[must_use]
    pub fn advised(mut self, phrase: &dyn Fn(Remedy) -> &'static str) -> Self {
        if let Some(remedy) = self.remedy.take() {
            self.message = format!("{}; {}", self.message, phrase(remedy));
        }
        self
    }
}

/// A warning if some names look alike; `what` names them in the plural.
pub fn names_alike(what: &str, names: &Ids) -> Option<Warning> {
    let groups: Vec<String> = names.look_alikes().iter().map(|group| first_names(group)).collect();
    let message = format!(
        "some {what} have names that differ only in case, width or white space and count as \
         different: {}",
        groups.iter().take(3).cloned().collect::<Vec<_>>().join("; ")
    );
    (!groups.is_empty()).then(|| Warning::new("names_alike", groups.len(), message))
}

/// The first few of many names, for messages: `a, b, c and 4 more`.
pub fn first_names<S: AsRef<str>>(names: &[S]) -> String {
    // A file whose columns are mixed up has a whole review for a name.
    some_of(names, SHOWN_NAMES, " and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_help_is_said_once_and_by_whoever_prints() {
        let warning = Warning::new("a", 1, "b").with_remedy(Remedy::MoreIterations);
        assert_eq!(warning.message, "b");
        let said = warning.advised(&|_| "c").advised(&|_| "d");
        assert_eq!(said, Warning::new("a", 1, "b; c"));
    }

    #[test]
    fn three_names_are_shown_and_the_rest_counted() {
        assert_eq!(first_names(&["a"]), "a");
        assert_eq!(first_names(&["a", "b", "c"]), "a, b, c");
        assert_eq!(first_names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
