//! What people, their texts and what these are about are called: in one place, for all sentences.

use std::fmt::Display;

use super::near::folded;

/// The words of a venue, or those of a crowd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nouns {
    /// Reviewers write reviews of papers.
    #[default]
    Reviews,
    /// Workers write answers of tasks.
    Answers,
}

/// How columns begin that only a crowd has: who, about what, and what was written.
const OF_CROWDS: [&str; 12] = [
    "worker",
    "annotator",
    "performer",
    "participant",
    "rater",
    "coder",
    "task",
    "question",
    "hitid",
    "answer",
    "response",
    "assignment",
];

/// The same of a venue.
const OF_VENUES: [&str; 7] =
    ["review", "referee", "signature", "paper", "submission", "manuscript", "forum"];

/// Formats of systems for venues.
const VENUES: [&str; 9] = [
    "openreview",
    "hotcrp-rqc",
    "hotcrp-json",
    "hotcrp-form",
    "hotcrp-batch",
    "hotcrp-csv",
    "easychair",
    "cmt",
    "peerread",
];

impl Nouns {
    /// As the columns of the file say it, or what was asked for as its columns: where they say nothing or
    /// both, a venue's.
    pub(crate) fn of_columns<'a>(columns: impl Iterator<Item = &'a str>) -> Self {
        let (mut crowd, mut venue) = (false, false);
        for name in columns.map(folded) {
            crowd |= OF_CROWDS.iter().any(|start| name.starts_with(start));
            venue |= OF_VENUES.iter().any(|start| name.starts_with(start));
        }
        if crowd && !venue { Self::Answers } else { Self::Reviews }
    }

    /// Of a file of this format, of which there is no other than tables and systems of crowds and venues.
    pub(super) fn of_format(format: &str) -> Option<Self> {
        match format {
            "table" | "json" | "wide" => None,
            venue if VENUES.contains(&venue) => Some(Self::Reviews),
            _ => Some(Self::Answers),
        }
    }

    /// Who writes.
    pub(crate) fn person(self) -> &'static str {
        match self {
            Self::Reviews => "reviewer",
            Self::Answers => "worker",
        }
    }

    /// What is written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Reviews => "review",
            Self::Answers => "answer",
        }
    }

    /// What it is about.
    pub(crate) fn thing(self) -> &'static str {
        match self {
            Self::Reviews => "paper",
            Self::Answers => "task",
        }
    }

    /// A sentence in a venue's words, without names of people or files, in the words of this file.
    pub(crate) fn said(self, sentence: &str) -> String {
        if self == Self::Reviews {
            return sentence.to_owned();
        }
        let mut said = String::with_capacity(sentence.len());
        for part in sentence.split_inclusive(|c: char| !c.is_alphabetic()) {
            let end = part.find(|c: char| !c.is_alphabetic()).unwrap_or(part.len());
            let (word, rest) = part.split_at(end);
            let is_text = matches!(word, "review" | "reviewed");
            if is_text && (said == "a " || said.ends_with(" a ")) {
                said.insert(said.len() - 1, 'n');
            }
            said.push_str(match word {
                "reviewer" => "worker",
                "reviewers" => "workers",
                "review" => "answer",
                "reviews" => "answers",
                "reviewed" => "answered",
                "paper" => "task",
                "papers" => "tasks",
                other => other,
            });
            said.push_str(rest);
        }
        said
    }

    /// So many people: `1 reviewer`, `60 workers`.
    pub(crate) fn people(self, count: usize) -> String {
        counted(count, self.person())
    }

    /// So many texts.
    pub(crate) fn texts(self, count: usize) -> String {
        counted(count, self.text())
    }

    /// So many things.
    pub(crate) fn things(self, count: usize) -> String {
        counted(count, self.thing())
    }
}

/// So many of what is called `noun`, which has an `s` in the plural.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A verb in the form for so many: of one and of several.
pub(crate) fn verb(count: usize, [one, several]: [&'static str; 2]) -> &'static str {
    if count == 1 { one } else { several }
}

pub(crate) const HAVE: [&str; 2] = ["has", "have"];
pub(crate) const ARE: [&str; 2] = ["is", "are"];
pub(crate) const WERE: [&str; 2] = ["was", "were"];
pub(crate) const SAY: [&str; 2] = ["says", "say"];
pub(crate) const COUNT: [&str; 2] = ["counts", "count"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_crowds_where_its_columns_say_so_and_no_venues() {
        let of = |names: &[&str]| Nouns::of_columns(names.iter().copied());
        assert_eq!(of(&["task", "worker", "answer"]), Nouns::Answers);
        assert_eq!(of(&["Item", "WorkerId", "Text"]), Nouns::Answers);
        assert_eq!(of(&["paper", "reviewer", "text"]), Nouns::Reviews);
        assert_eq!(of(&["paper", "worker", "text"]), Nouns::Reviews);
        assert_eq!(of(&["item", "text"]), Nouns::Reviews);
        assert_eq!(Nouns::of_format("mturk"), Some(Nouns::Answers));
        assert_eq!(Nouns::of_format("openreview"), Some(Nouns::Reviews));
        assert_eq!(Nouns::of_format("table"), None);
        let said = "a review of papers, which a reviewer's reviews need; as a reviewed one";
        let expected = "an answer of tasks, which a worker's answers need; as an answered one";
        assert_eq!(Nouns::Answers.said(said), expected);
        assert_eq!(Nouns::Reviews.said(said), said);
        assert_eq!(Nouns::Answers.people(1), "1 worker");
        assert_eq!(Nouns::Reviews.things(16), "16 papers");
        assert_eq!([verb(0, HAVE), verb(1, HAVE), verb(2, ARE)], ["have", "has", "are"]);
    }
}
