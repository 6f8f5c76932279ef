//! Reviews of `HotCRP` as tables: the CSV of the list of reviews, and that of `batch/reviewcsv.php`.
//!
//! After hotcrp: `src/listactions/la_getreviewcsv.php`, `batch/reviewcsv.php`.

use std::collections::BTreeMap;

use super::error::ImportError;
use super::forms::{Form, read_forms};
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::records::Records;
use super::text_fields::joined;

/// Columns before the fields of the form.
const ABOUT: [&str; 12] = [
    "paper",
    "title",
    "review",
    "reviewername",
    "email",
    "pid",
    "round",
    "submitted_at",
    "vtag",
    "sitename",
    "siteclass",
    "format",
];

/// The CSV of the list of reviews: `paper,title[,review,reviewername,email]`, then the form's fields.
pub(super) struct HotCrpCsv;

impl Importer for HotCrpCsv {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        let header = peek.header();
        header.len() > 2
            && header[0] == "paper"
            && header[1] == "title"
            && peek.has_columns(&["review"])
            && (peek.has_columns(&["email"])
                || peek.has_columns(&["reviewername"])
                || header[2] == "review")
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        read_table(request, output, "paper")
    }
}

/// The CSV of `batch/reviewcsv.php`: a row a review, or (narrow) a row a field.
pub(super) struct HotCrpBatch;

impl Importer for HotCrpBatch {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_columns(&["pid", "review", "email", "submitted_at", "vtag"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if request.peek.has_columns(&["field", "data"]) {
            return read_narrow(request, output);
        }
        read_table(request, output, "pid")
    }
}

/// Rows with one column a field of the form.
fn read_table(request: &Request<'_>, output: &mut Output, paper: &str) -> Result<(), ImportError> {
    let records = Records::of(request)?;
    let fields = records.text_fields(&ABOUT)?;
    output.text_fields.clone_from(&fields);
    records.each(output, |record, output| {
        let Some(paper) = record.name(paper) else {
            return output.leave_out("reviews without a paper");
        };
        let Some(reviewer) = record.name("email").or_else(|| record.name("review")) else {
            return output.leave_out("reviews without a reviewer");
        };
        let text = joined(&fields, |name| record.text(name));
        if text.is_empty() {
            return output.leave_out("reviews without a text");
        }
        output.review(paper, reviewer, &text);
    })
}

/// Rows with one field of one review each: brought together first.
fn read_narrow(request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
    struct Review {
        place: u64,
        paper: String,
        reviewer: String,
        fields: Vec<(String, String)>,
    }
    let records = Records::of(request)?;
    let mut reviews: Vec<Review> = Vec::new();
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    records.each(output, |record, output| {
        let (Some(paper), Some(review)) = (record.name("pid"), record.name("review")) else {
            return output.leave_out("fields without a review");
        };
        let position = *positions.entry(review.to_owned()).or_insert_with(|| {
            let reviewer = record.name("email").unwrap_or(review).to_owned();
            let (place, paper) = (output.place(), paper.to_owned());
            reviews.push(Review { place, paper, reviewer, fields: Vec::new() });
            reviews.len() - 1
        });
        if let (Some(field), Some(data)) = (record.get("field"), record.get("data")) {
            reviews[position].fields.push((field.to_owned(), data.to_owned()));
        }
    })?;
    // Rows of the file are what was read, not reviews.
    let read = output.read;
    let each = |visit: &mut dyn FnMut(Form<'_>)| {
        for review in &reviews {
            let fields = review.fields.iter();
            visit(Form {
                place: review.place,
                paper: Some(review.paper.clone()),
                reviewer: Some(review.reviewer.clone()),
                fields: fields.map(|(name, text)| (name.as_str(), text.as_str())).collect(),
                ..Form::default()
            });
        }
        Ok(0)
    };
    read_forms(&each, request, output)?;
    output.read = read;
    Ok(())
}
