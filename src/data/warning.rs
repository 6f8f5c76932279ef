//! What a user should know about a result although nothing failed: always with a count, and never
//! with more than the first few names: there may be millions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ids::{Ids, is_as_written, same_to_people};
use super::near::some_of;
use crate::error::Remedy;

/// Most names in a message.
const SHOWN_NAMES: usize = 3;

/// Most names beside each reason of a message.
const SHOWN_BY_REASON: usize = 5;

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
    pub(crate) fn advised(mut self, phrase: &dyn Fn(Remedy) -> &'static str) -> Self {
        if let Some(remedy) = self.remedy.take() {
            self.message = format!("{}; {}", self.message, phrase(remedy));
        }
        self
    }
}

/// A warning if some names look alike; `what` names them in the plural.
pub(crate) fn names_alike(what: &str, names: &Ids) -> Option<Warning> {
    let groups: Vec<String> = names.look_alikes().iter().map(|group| first_names(group)).collect();
    let message = format!(
        "some {what} have names that differ only in case, width, white space or the zeros of a \
         number and count as different: {}",
        first_of(groups.iter().cloned(), SHOWN_NAMES)
    );
    (!groups.is_empty()).then(|| Warning::new("names_alike", groups.len(), message))
}

/// A warning if names of one file look like other names of another; `what` names them in the plural.
pub(crate) fn names_alike_between<'a>(
    what: &str,
    known: &Ids,
    others: impl Iterator<Item = &'a str>,
) -> Option<Warning> {
    let others: BTreeSet<&str> = others.filter(|name| known.get(name).is_none()).collect();
    if others.is_empty() {
        return None;
    }
    let odd = known.names().iter().filter(|name| !is_as_written(name));
    let odd: BTreeMap<String, &str> =
        odd.map(|name| (same_to_people(name), name.as_str())).collect();
    let pairs: Vec<String> = others
        .iter()
        .filter_map(|name| {
            let form = same_to_people(name);
            let written = || known.get(&form).filter(|_| is_as_written(&form));
            let last = odd.get(&form).copied();
            let like = written().map(|number| known.name(number)).into_iter().chain(last);
            // Of several the last one of the file.
            let like = like.max_by_key(|name| known.get(name))?;
            Some(format!("`{name}` and `{like}`"))
        })
        .collect();
    let message = format!(
        "{} {what} are named as others only but for case, width, white space or the zeros of a number, \
         and count as different: {}; write them alike in both files",
        pairs.len(),
        first_of(pairs.iter().cloned(), SHOWN_NAMES)
    );
    (!pairs.is_empty()).then(|| Warning::new("names_alike", pairs.len(), message))
}

/// A warning if some names look like long numbers that a spreadsheet rounded, such as `1.2316E+18`:
/// several may have become one.
pub(crate) fn names_rounded(what: &str, names: &Ids) -> Option<Warning> {
    let rounded: Vec<&String> = names.names().iter().filter(|name| is_rounded(name)).collect();
    let message = format!(
        "{} {what} have names like numbers that a spreadsheet rounded, under which several may be \
         one: {}; give such columns as text",
        rounded.len(),
        first_names(&rounded)
    );
    (!rounded.is_empty()).then(|| Warning::new("names_rounded", rounded.len(), message))
}

/// Whether a name is a whole number with fewer digits than it is long, or with nothing but zeros after
/// the 15 digits that spreadsheets keep.
fn is_rounded(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !name.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    if let Some((number, exponent)) = name.split_once(['e', 'E']) {
        let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
        let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
        let Ok(exponent) = exponent.parse::<usize>() else { return false };
        return whole.len() == 1 && digits(whole) && digits(rest) && rest.len() < exponent;
    }
    name.len() > 16 && digits(name) && name[15..].bytes().all(|byte| byte == b'0')
}

/// The first few of many names, for messages: `a, b, c and 4 more`.
pub(crate) fn first_names<S: AsRef<str>>(names: &[S]) -> String {
    // A file whose columns are mixed up has a whole review for a name.
    some_of(names, SHOWN_NAMES, " and ")
}

/// The first few of many phrases, for messages: `a; b; and 4 more`.
pub(crate) fn first_of(phrases: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let hidden = phrases.len().saturating_sub(most);
    let shown = phrases.take(most).collect::<Vec<_>>().join("; ");
    match hidden {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// How many have each reason and the first few of their names, the most frequent reason first:
/// `7 too short (a, b, c, d, e and 2 more); 1 in German (f)`.
///
/// What comes is a name with its reason, a phrase that fits behind a number.
pub(crate) fn by_reason<'a>(people: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    people.for_each(|(name, reason)| groups.entry(reason).or_default().push(name));
    let mut groups: Vec<(String, Vec<&str>)> = groups.into_iter().collect();
    // Stable, so that equal ones are in the order of their words.
    groups.sort_by_key(|(_, names)| Reverse(names.len()));
    let one = |(reason, names): &(String, Vec<&str>)| {
        format!("{} {reason} ({})", names.len(), some_of(names, SHOWN_BY_REASON, " and "))
    };
    groups.iter().map(one).collect::<Vec<_>>().join("; ")
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
    fn numbers_that_a_spreadsheet_rounded_are_told_from_others() {
        for rounded in ["1.2316E+18", "2.45945e15", "1E+20", "123456789012345000"] {
            assert!(is_rounded(rounded), "{rounded}");
        }
        for whole in
            ["1.5", "12", "1e", "e5", "1.2345E+4", "1234567890123456789", "item 1E+5", "1E-5"]
        {
            assert!(!is_rounded(whole), "{whole}");
        }
        let names: Ids = ["1.2316E+18", "a"].iter().collect();
        assert_eq!(names_rounded("tasks", &names).unwrap().count, 1);
        assert!(names_rounded("tasks", &["a"].iter().collect()).is_none());
    }

    #[test]
    fn names_of_two_files_that_only_zeros_tell_apart_are_named() {
        let known: Ids = ["7", "8", "Ada"].iter().collect();
        let warning = names_alike_between("tasks of Z", &known, ["7.0", "8", "9"].into_iter());
        let warning = warning.unwrap();
        assert_eq!((warning.code, warning.count), ("names_alike", 1));
        assert!(warning.message.contains("`7.0` and `7`"), "{warning:?}");
        assert!(names_alike_between("tasks", &known, ["8", "9"].into_iter()).is_none());
    }

    #[test]
    fn three_names_are_shown_and_the_rest_counted() {
        assert_eq!(first_names(&["a"]), "a");
        assert_eq!(first_names(&["a", "b", "c"]), "a, b, c");
        assert_eq!(first_names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }

    #[test]
    fn a_hundred_thousand_names_are_counted_by_reason_and_few_are_shown() {
        let names: Vec<String> = (0..100_000).map(|number| format!("r{number}")).collect();
        let reason = |number: usize| if number % 5 == 4 { "late" } else { "too short" };
        let people = names.iter().enumerate().map(|(n, name)| (name.as_str(), reason(n).into()));
        assert_eq!(
            by_reason(people),
            "80000 too short (r0, r1, r2, r3, r5 and 79995 more); \
             20000 late (r4, r9, r14, r19, r24 and 19995 more)"
        );
        let equal = [("b", "y".into()), ("a", "x".into())];
        assert_eq!(by_reason(equal.into_iter()), "1 x (a); 1 y (b)");
        let phrases = |count: usize| names.iter().take(count).cloned();
        assert_eq!(first_of(phrases(12), 2), "r0; r1; and 10 more");
        assert_eq!(first_of(phrases(2), 2), "r0; r1");
    }
}
