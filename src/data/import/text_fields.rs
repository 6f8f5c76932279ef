//! Which fields of a form make the text of a review.
//!
//! Fields that hold more than a hundred characters on most of the rows where they are filled in, in
//! the order of the form, without those that were written after the discussion, that authors do not
//! see, or that are not about the paper.

use std::collections::HashMap;

use serde_json::Value;

use super::confidential::is_confidential;
use crate::data::near::folded;

/// Characters above which a field is prose.
const PROSE: usize = 100;

/// Parts of names of fields that are no part of a review as handed in, but for what is asked before the
/// authors answer.
const NOT_TEXT: [&str; 9] = [
    "scratchpad",
    "title",
    "acknowledg",
    "code_of_conduct",
    "ethic",
    "final_justification",
    "author_response",
    "rebuttal",
    "post_discussion",
];

/// How names of fields begin in which reviewers ask for something.
const ASKS: [&str; 4] = ["question", "point", "issue", "concern"];

/// Where the authors are to answer.
const ANSWERS: [&str; 6] = [
    "in_the_rebuttal",
    "in_rebuttal",
    "for_the_rebuttal",
    "for_rebuttal",
    "for_the_author_response",
    "for_author_response",
];

/// Names of fields that are prose in the forms of the large venues, however short they are filled in.
const TEXT: [&str; 28] = [
    "review",
    "summary",
    "strengths",
    "weaknesses",
    "questions",
    "limitations",
    "comments",
    "main_review",
    "summary_of_the_paper",
    "summary_of_the_review",
    "strengths_and_weaknesses",
    "paper_summary",
    "summary_of_strengths",
    "summary_of_weaknesses",
    "comments_suggestions_and_typos",
    "summary_of_contributions",
    "requested_changes",
    "broader_impact_concerns",
    "claims_and_evidence",
    "methods_and_evaluation_criteria",
    "theoretical_claims",
    "experimental_designs_or_analyses",
    "relation_to_broader_scientific_literature",
    "essential_references_not_discussed",
    "other_strengths_and_weaknesses",
    "other_comments_or_suggestions",
    "questions_for_authors",
    "questions_to_address_in_the_rebuttal",
];

/// Lengths of fields, gathered over a file.
#[derive(Debug, Default)]
pub(super) struct TextFields {
    /// Names in the order in which they were first met.
    order: Vec<String>,
    /// Rows where the field is filled in, and those where it is prose.
    counts: HashMap<String, (u64, u64)>,
}

impl TextFields {
    /// Looks at a field of a row.
    pub(super) fn see(&mut self, name: &str, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.counts.contains_key(name) {
            self.order.push(name.to_owned());
        }
        let (filled, prose) = self.counts.entry(name.to_owned()).or_default();
        *filled += 1;
        *prose += u64::from(text.chars().nth(PROSE).is_some());
    }

    /// The fields that make the text: those asked for, else those that are prose.
    pub(super) fn chosen(&self, asked: &[String]) -> Vec<String> {
        if !asked.is_empty() {
            return asked.to_vec();
        }
        let is_text = |name: &String| {
            let plain = folded(name);
            let is_no_part = NOT_TEXT.iter().any(|part| plain.contains(part));
            if is_no_part && !asks_authors(&plain) || is_confidential(name) {
                return false;
            }
            let (filled, prose) = self.counts[name];
            TEXT.contains(&plain.as_str()) || 2 * prose > filled
        };
        self.order.iter().filter(|name| is_text(name)).cloned().collect()
    }
}

/// Whether a field of this folded name holds what the authors are to answer, and no word of their answer.
fn asks_authors(plain: &str) -> bool {
    ASKS.iter().any(|start| plain.starts_with(start))
        && ANSWERS.iter().any(|end| plain.ends_with(end))
}

/// The fields of a row that make its text, joined by blank lines; empty where none is filled in.
pub(super) fn joined<'a>(fields: &[String], field: impl Fn(&str) -> Option<&'a str>) -> String {
    let parts = fields.iter().filter_map(|name| field(name)).map(str::trim);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// A JSON value as the name of something: a string, a number or a boolean.
pub(super) fn name_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_told_by_length_and_name() {
        let mut fields = TextFields::default();
        let long = "word ".repeat(30);
        for (name, text) in [
            ("title", long.as_str()),
            ("summary", "short"),
            ("Detailed remarks", &long),
            ("rating", "5: accept"),
            ("final_justification", &long),
            ("Confidential remarks to chairs", &long),
            ("Comments to PC", &long),
            ("comments", "short"),
            ("Questions To Address In The Rebuttal", "Why?"),
            ("Points for the rebuttal", &long),
            ("Comments after the rebuttal", &long),
            ("Questions in the author response that stay open", &long),
        ] {
            fields.see(name, text);
        }
        let chosen = [
            "summary",
            "Detailed remarks",
            "comments",
            "Questions To Address In The Rebuttal",
            "Points for the rebuttal",
        ];
        assert_eq!(fields.chosen(&[]), chosen);
        assert_eq!(fields.chosen(&["rating".into()]), ["rating"]);
    }

    #[test]
    fn fields_are_joined_by_blank_lines_in_the_order_of_the_form() {
        let fields = ["a".to_owned(), "b".into(), "c".into()];
        let text = joined(&fields, |name| match name {
            "a" => Some(" x "),
            "b" => Some("  "),
            _ => Some("y"),
        });
        assert_eq!(text, "x\n\ny");
    }
}
