//! Reviews of `HotCRP` as JSON: objects of the API, and the JSON for RQC.
//!
//! After hotcrp: `src/paperexport.php`, `devel/apidoc/reviews.md`, `src/listactions/la_getjsonrqc.php`.

use serde_json::Value;

use super::elements::{Object, each_object};
use super::error::ImportError;
use super::forms::{Fields, Form, read_forms};
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::Peek;
use super::settings::Wanted;
use super::text_fields::name_of;

/// JSON with `"object": "review"`.
pub(super) struct HotCrpJson;

impl Importer for HotCrpJson {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.first_has(&["object", "pid", "rid"])
            && peek
                .objects()
                .iter()
                .any(|object| object.get("object").is_some_and(|kind| kind == "review"))
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if request.wanted == Wanted::Papers {
            return read_papers(request, output);
        }
        let each = |visit: &mut dyn FnMut(Form<'_>)| {
            each_object(request.peek.bytes, &mut |place, object| {
                // Fields of the form are keys that begin with a capital letter.
                let fields = texts(&object, |name| name.starts_with(char::is_uppercase));
                let mut form = form(&object, fields, name_of(object.get("pid")));
                form.place = place.0;
                if object.get("object").is_some_and(|object| object != "review") {
                    form.left_out = Some("objects that are no reviews");
                }
                visit(form);
                true
            })
        };
        read_forms(&each, request, output)
    }
}

/// The fields that are texts, of those that `is_field` names.
fn texts(object: &Object, is_field: impl Fn(&str) -> bool) -> Fields<'_> {
    let texts = object.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    texts.filter(|(name, _)| is_field(name)).collect()
}

fn form<'a>(object: &'a Object, fields: Fields<'a>, paper: Option<String>) -> Form<'a> {
    let is_true = |key: &str| object.get(key).is_some_and(|value| value == &Value::Bool(true));
    let draft = is_true("draft") || object.get("status").is_some_and(|status| status == "draft");
    // `reviewer` is HTML.
    let reviewer = name_of(object.get("reviewer_email")).or_else(|| name_of(object.get("rid")));
    let source = || reviewer.clone().unwrap_or_else(|| "reviewer_bot".into());
    Form {
        place: 0,
        left_out: draft.then_some("drafts"),
        paper,
        llm: is_true("reviewer_bot").then(source),
        reviewer,
        fields,
    }
}

/// Papers with their abstracts, where the export has them.
fn read_papers(request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
    let read = each_object(request.peek.bytes, &mut |place, paper| {
        output.begin(place.0);
        let name = name_of(paper.get("pid")).or_else(|| name_of(paper.get("external_uid")));
        let text = |key: &str| paper.get(key).filter(|value| value.is_string()).cloned();
        match (name, text("abstract")) {
            (Some(name), Some(about)) => output.row(&[
                ("paper", name.into()),
                ("title", text("title").unwrap_or_default()),
                ("abstract", about),
            ]),
            _ => output.leave_out("rows without a paper and its abstract"),
        }
        true
    });
    read.map(|_| ()).map_err(|broken| request.broken(broken))
}

/// The JSON for RQC: `papers[].reviews[]`, with `reviewform` and `hotcrp_version` around.
pub(super) struct HotCrpRqc;

/// Keys of a review that are no fields of the form.
const RQC_ABOUT: [&str; 12] = [
    "pid",
    "rid",
    "review_id",
    "reviewer",
    "reviewer_email",
    "reviewer_name",
    "submitted_at",
    "modified_at",
    "status",
    "visible_id",
    "reviewer_external",
    "external_uid",
];

impl Importer for HotCrpRqc {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        peek.has_around("hotcrp_version") && peek.has_around("papers")
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        if request.wanted == Wanted::Papers {
            return read_papers(request, output);
        }
        let each = |visit: &mut dyn FnMut(Form<'_>)| {
            each_object(request.peek.bytes, &mut |place, paper| {
                let number =
                    name_of(paper.get("pid")).or_else(|| name_of(paper.get("external_uid")));
                let reviews = paper.get("reviews").and_then(Value::as_array).into_iter().flatten();
                for review in reviews.filter_map(Value::as_object) {
                    let fields = texts(review, |name| !RQC_ABOUT.contains(&name));
                    visit(Form { place: place.0, ..form(review, fields, number.clone()) });
                }
                true
            })
        };
        read_forms(&each, request, output)
    }
}
