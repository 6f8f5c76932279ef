//! Notes of `OpenReview`, API version 2 (`invitations`, `content.X.value`) and 1 (`invitation`,
//! `content.X`), as a list, JSON lines or `{"notes": [...]}`, also nested in submissions.
//!
//! After `openreview-py`, `openreview/api/client.py` and `openreview/openreview.py`.

use serde_json::Value;

use super::elements::{Broken, Object, each_object};
use super::error::ImportError;
use super::forms::{Fields, Form, read_forms};
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::settings::Wanted;
use super::text_fields::name_of;

/// Ends of invitations of reviews; TMLR says `Review`.
const REVIEW: [&str; 2] = ["/-/Official_Review", "/-/Review"];

/// Ends of invitations of papers.
const PAPER: [&str; 2] = ["/-/Submission", "/-/Blind_Submission"];

/// End of the invitation of feedback that an LLM wrote.
const LLM_FEEDBACK: &str = "LLM_PDF_Feedback";

/// End of the signature of automated notes.
const AUTOMATED: &str = "/Automated_Administrator";

pub(super) struct OpenReview;

impl Importer for OpenReview {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.objects().iter().any(|note| {
            let invited = note.get("invitations").is_some_and(Value::is_array)
                || note.get("invitation").is_some_and(Value::is_string);
            invited && note.contains_key("forum") && note.contains_key("content")
        })
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if request.wanted == Wanted::Papers {
            let read = walk(request.peek, &mut |place, note| {
                output.begin(place);
                put_paper(note, output);
            });
            return request.whole(read, output);
        }
        let each = |visit: &mut dyn FnMut(Form<'_>)| {
            walk(request.peek, &mut |place, note| visit(form(place, note)))
        };
        read_forms(&each, request, output)
    }
}

/// A note as a review, or why it is none.
fn form(place: u64, note: &Object) -> Form<'_> {
    let invited = |ends: &[&str]| {
        invitations(note).into_iter().any(|name| ends.iter().any(|end| name.ends_with(end)))
    };
    let signature = signature(note).filter(|name| !name.trim().is_empty());
    let (review, feedback) = (invited(&REVIEW), invited(&[LLM_FEEDBACK]));
    let automated = signature.is_some_and(|name| name.ends_with(AUTOMATED));
    let llm = match (feedback, automated && review) {
        (true, _) => Some(LLM_FEEDBACK),
        (_, true) => Some("Automated_Administrator"),
        _ => None,
    };
    let left_out = if !review && !feedback {
        Some("notes that are no reviews")
    } else if note.get("ddate").is_some_and(|date| !date.is_null()) {
        Some("deleted reviews")
    } else if signature.is_none() && llm.is_none() {
        Some("reviews without a signature")
    } else {
        None
    };
    Form {
        place,
        left_out,
        paper: name_of(note.get("forum")),
        reviewer: signature.map(str::to_owned),
        llm: llm.map(str::to_owned),
        fields: content(note),
    }
}

fn invitations(note: &Object) -> Vec<&str> {
    match (note.get("invitations"), note.get("invitation")) {
        (Some(Value::Array(list)), _) => list.iter().filter_map(Value::as_str).collect(),
        (_, Some(Value::String(one))) => vec![one],
        _ => Vec::new(),
    }
}

fn signature(note: &Object) -> Option<&str> {
    note.get("signatures")?.as_array()?.first()?.as_str()
}

/// Every note of the file, and those nested in it.
fn walk(peek: &Peek<'_>, visit: &mut dyn FnMut(u64, &Object)) -> Result<u64, Broken> {
    each_object(peek.bytes, &mut |place, note| {
        visit(place.0, &note);
        for list in ["replies", "directReplies"] {
            let nested = note.get("details").and_then(|details| details.get(list));
            for reply in nested.and_then(Value::as_array).into_iter().flatten() {
                if let Some(reply) = reply.as_object() {
                    visit(place.0, reply);
                }
            }
            if nested.is_some() {
                // Direct replies are among the replies.
                break;
            }
        }
        true
    })
}

/// The fields of a note that are texts.
fn content(note: &Object) -> Fields<'_> {
    let fields = note.get("content").and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name.as_str(), text_of(field)?))).collect()
}

/// A string, bare or under `value`.
fn text_of(field: &Value) -> Option<&str> {
    field.as_str().or_else(|| field.get("value")?.as_str())
}

/// A submission, for models that review it.
fn put_paper(note: &Object, output: &mut Output) {
    let is_paper = |name: &&str| PAPER.iter().any(|end| name.ends_with(end));
    if !invitations(note).iter().any(is_paper) {
        return output.leave_out("notes that are no papers");
    }
    let gone = ["ddate", "withdrawal_date"]
        .iter()
        .any(|key| note.get(*key).is_some_and(|date| !date.is_null()));
    if gone {
        return output.leave_out("deleted papers");
    }
    let fields = content(note);
    let field = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| *name == wanted);
        found.map_or(Value::Null, |(_, text)| Value::from(*text))
    };
    let paper = name_of(note.get("forum")).or_else(|| name_of(note.get("id")));
    match paper {
        Some(paper) => output.row(&[
            ("paper", paper.into()),
            ("title", field("title")),
            ("abstract", field("abstract")),
        ]),
        None => output.leave_out("papers without a forum"),
    }
}
