//! `review.csv` of `EasyChair`, its columns after easychair-scripts, `review_analysis.py`.
//!
//! What the column `version` counts is in no public source. Only who names the format says so with it:
//! then the highest version of a review is the one handed in. Otherwise two reviews of a paper by one
//! person are what they are in every file, a duplicate to be decided on.

use std::collections::BTreeMap;

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::text_fields::joined;

pub(super) struct EasyChair;

impl Importer for EasyChair {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["submission #", "member #", "text", "scores"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let by_version = request.settings.from.is_some();
        let mut latest: BTreeMap<(String, String), (i64, String, u64)> = BTreeMap::new();
        let mut order: Vec<(String, String)> = Vec::new();
        let records = Records::of(request)?;
        let asked = request.text_columns();
        let fields = if asked.is_empty() { vec!["text".to_owned()] } else { asked };
        output.text_fields.clone_from(&fields);
        records.each(output, |record, output| {
            let Some(paper) = record.name("submission #") else {
                return output.leave_out("reviews without a paper");
            };
            // Members and outside reviewers are numbered apart.
            let person = record.name("reviewer person #").map(|number| format!("person {number}"));
            let member = || record.name("member #").map(|number| format!("member {number}"));
            let Some(reviewer) = person.or_else(member) else {
                return output.leave_out("reviews without a reviewer");
            };
            let text = joined(&fields, |name| record.text(name));
            let text = without_confidential(&text);
            if text.is_empty() {
                return output.leave_out("reviews without a text");
            }
            if !by_version {
                return output.review(paper, &reviewer, text);
            }
            let text = text.to_owned();
            let version = record.get("version").and_then(|number| number.parse().ok()).unwrap_or(0);
            let key = (paper.to_owned(), reviewer);
            if let Some(known) = latest.get_mut(&key) {
                output.leave_out("earlier versions");
                if version >= known.0 {
                    *known = (version, text, output.place());
                }
            } else {
                order.push(key.clone());
                latest.insert(key, (version, text, output.place()));
            }
        })?;
        for key in order {
            let (_, text, place) = &latest[&key];
            output.at(*place);
            output.review(&key.0, &key.1, text);
        }
        Ok(())
    }
}

/// The text without the last part of the form, which goes to the chairs alone. `EasyChair` writes all
/// parts into one text, each under its name in brackets.
fn without_confidential(text: &str) -> &str {
    text.split("(CONFIDENTIAL REMARKS").next().unwrap_or(text).trim()
}
