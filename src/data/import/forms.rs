//! Reviews that are filled-in forms.
//!
//! Which fields make the text is known only when all were seen. Such files are therefore read twice,
//! so that no more than one review is in memory at a time.

use super::elements::Broken;
use super::error::ImportError;
use super::importer::Request;
use super::output::Output;
use super::text_fields::{TextFields, joined};
use crate::data::answers::says_nothing;

/// Fields of a form, each a name and what was written there.
pub(super) type Fields<'a> = Vec<(&'a str, &'a str)>;

/// One review.
#[derive(Debug, Default)]
pub(super) struct Form<'a> {
    /// Its line, or its number in a list.
    pub(super) place: u64,
    /// Why it is no review as handed in, if it is none.
    pub(super) left_out: Option<&'static str>,
    pub(super) paper: Option<String>,
    pub(super) reviewer: Option<String>,
    /// The LLM that wrote it, if one did.
    pub(super) llm: Option<String>,
    pub(super) fields: Fields<'a>,
}

/// Hands every review of a file to what looks at it; is called twice. Says how many elements of the file
/// are no objects.
pub(super) type EachForm<'a> = dyn Fn(&mut dyn FnMut(Form<'_>)) -> Result<u64, Broken> + 'a;

/// Puts the reviews of a file out, their texts made of the fields asked for or else of those that hold
/// prose.
pub(super) fn read_forms(
    each: &EachForm<'_>,
    request: &Request<'_>,
    output: &mut Output,
) -> Result<(), ImportError> {
    let mut lengths = TextFields::default();
    let seen = each(&mut |form| {
        if form.left_out.is_none() && form.llm.is_none() {
            form.fields.iter().for_each(|(name, text)| lengths.see(name, text));
        }
    });
    seen.map_err(|broken| request.broken(broken))?;
    let chosen = lengths.chosen(&request.text_columns());
    output.text_fields.clone_from(&chosen);
    let read = each(&mut |form| {
        output.begin(form.place);
        put(&form, &chosen, output);
    });
    request.whole(read, output)
}

fn put(form: &Form<'_>, chosen: &[String], output: &mut Output) {
    if let Some(reason) = form.left_out {
        return output.leave_out(reason);
    }
    let Some(paper) = &form.paper else { return output.leave_out("reviews without a paper") };
    let field =
        |wanted: &str| form.fields.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text);
    let field = |wanted: &str| field(wanted).filter(|text| !says_nothing(text));
    let mut text = joined(chosen, field);
    if text.is_empty() && form.llm.is_some() {
        // LLMs fill in fields of their own.
        let all = form.fields.iter().map(|(_, text)| text.trim());
        text = all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    }
    if text.is_empty() {
        return output.leave_out("reviews without a text");
    }
    match (&form.llm, &form.reviewer) {
        (Some(llm), _) => output.llm_review(paper, llm, &text),
        (None, Some(reviewer)) => output.review(paper, reviewer, &text),
        (None, None) => output.leave_out("reviews without a reviewer"),
    }
}
