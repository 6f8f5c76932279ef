//! Papers with their reviews inside: `PeerRead` (`id`, `reviews[].comments`) and `NLPeer` (`rid`, `reviewer`,
//! `report{}`). Reviewers have no names there, or none that repeat.

use crate::data::nouns::counted;
use serde_json::Value;

use super::elements::{Broken, Object, Place, each_object, only_object};
use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::text_fields::{TextFields, joined, name_of};
use crate::data::warning::Warning;

pub(super) struct PeerRead;

impl Importer for PeerRead {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        let nested = |paper: &Object| {
            paper.get("reviews").and_then(Value::as_array).is_some_and(|reviews| {
                reviews.iter().any(|review| review.get("comments").is_some())
            })
        };
        is_one_paper(peek)
            || peek.objects().iter().any(nested)
            || peek.first_has(&["rid", "report"])
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let mut lengths = TextFields::default();
        let see = each_paper(request.peek, &mut |_, object| {
            for (name, text) in report(&object) {
                lengths.see(name, text);
            }
            true
        });
        see.map_err(|broken| request.broken(broken))?;
        let fields = lengths.chosen(&request.text_columns());
        let mut unnamed = 0;
        let read = each_paper(request.peek, &mut |place, object| {
            output.at(place.0);
            if object.contains_key("report") {
                output.read += 1;
                let paper =
                    name_of(object.get("paper_id")).or_else(|| name_of(object.get("paper")));
                let text = joined(&fields, |name| {
                    report(&object)
                        .into_iter()
                        .find(|(other, _)| *other == name)
                        .map(|(_, text)| text)
                });
                let reviewer = name_of(object.get("reviewer")).filter(|name| name != "null");
                unnamed += usize::from(reviewer.is_none());
                let rid = name_of(object.get("rid"));
                match (paper, reviewer.or(rid)) {
                    _ if text.is_empty() => output.leave_out("reviews without a text"),
                    (Some(paper), Some(reviewer)) => output.review(&paper, &reviewer, &text),
                    _ => output.leave_out("reviews without a paper"),
                }
                return true;
            }
            let paper = name_of(object.get("id")).unwrap_or_else(|| place.0.to_string());
            for (index, review) in
                object.get("reviews").and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                output.read += 1;
                match review.get("comments").and_then(Value::as_str).map(str::trim) {
                    Some(text) if !text.is_empty() => {
                        unnamed += 1;
                        output.review(&paper, &format!("{paper} review {}", index + 1), text);
                    }
                    _ => output.leave_out("reviews without a text"),
                }
            }
            true
        });
        output.text_fields = if fields.is_empty() { vec!["comments".into()] } else { fields };
        if unnamed > 0 {
            let message = format!(
                "{} without a name of who wrote it; each counts as a person of its own",
                counted(unnamed, "review")
            );
            output.warnings.push(Warning::new("unnamed_reviewers", unnamed, message));
        }
        request.whole(read, output)
    }
}

/// A file of one paper: its list of reviews looks like what others wrap their list in.
fn is_one_paper(peek: &Peek<'_>) -> bool {
    peek.has_around("reviews") && peek.has_around("abstract") && peek.has_around("id")
}

fn each_paper(
    peek: &Peek<'_>,
    visit: &mut dyn FnMut(Place, Object) -> bool,
) -> Result<u64, Broken> {
    if !is_one_paper(peek) || peek.objects().iter().any(|paper| paper.contains_key("abstract")) {
        return each_object(peek.bytes, visit);
    }
    visit(Place(1), only_object(peek.bytes)?);
    Ok(0)
}

/// The named texts of an `NLPeer` review.
fn report(object: &Object) -> Vec<(&str, &str)> {
    match object.get("report") {
        Some(Value::Object(report)) => report
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect(),
        _ => Vec::new(),
    }
}
