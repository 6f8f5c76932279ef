//! Reviews of `HotCRP` as the text forms that reviewers upload.
//!
//! After hotcrp: `src/reviewvalues.php`, `test/review18A.txt`.

use super::error::ImportError;
use super::forms::{Form, read_forms};
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::{Peek, Root};

/// Text forms: `==+== Begin Review #18A` and what follows.
pub(super) struct HotCrpForm;

impl Importer for HotCrpForm {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        !matches!(peek.root, Root::Json { .. })
            && (peek.bytes.starts_with(b"==+==") || peek.bytes.starts_with(b"==*=="))
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let text = String::from_utf8_lossy(request.peek.bytes);
        let sheets = Sheet::all(&text);
        let each = |visit: &mut dyn FnMut(Form<'_>)| {
            for sheet in &sheets {
                let fields = sheet.fields.iter();
                visit(Form {
                    place: sheet.line,
                    paper: sheet.paper.clone(),
                    reviewer: sheet.reviewer.clone().or_else(|| sheet.review.clone()),
                    fields: fields.map(|(name, text)| (name.as_str(), text.as_str())).collect(),
                    ..Form::default()
                });
            }
            Ok(0)
        };
        read_forms(&each, request, output)
    }
}

/// One review of a file of forms.
#[derive(Debug, Default)]
struct Sheet {
    line: u64,
    review: Option<String>,
    paper: Option<String>,
    reviewer: Option<String>,
    fields: Vec<(String, String)>,
}

impl Sheet {
    fn all(text: &str) -> Vec<Self> {
        let mut sheets: Vec<Self> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with("==-==") {
                continue;
            }
            let marked = line.strip_prefix("==+==").or_else(|| line.strip_prefix("==*=="));
            match (marked, sheets.last_mut()) {
                (Some(marked), sheet) => {
                    let marked = marked.trim();
                    if let Some(review) = after(marked, "Begin Review") {
                        let review = review.trim_start_matches('#').to_owned();
                        let review = (!review.is_empty()).then_some(review);
                        sheets.push(Self { line: number, review, ..Self::default() });
                    } else if let Some(sheet) = sheet {
                        sheet.mark(marked);
                    }
                }
                (None, Some(sheet)) => {
                    if let Some((_, content)) = sheet.fields.last_mut() {
                        // An escaped mark at the start of a line of the text.
                        content.push_str(line.strip_prefix('\\').unwrap_or(line));
                        content.push('\n');
                    }
                }
                (None, None) => {}
            }
        }
        sheets
    }

    fn mark(&mut self, marked: &str) {
        // `Paper summary` is a field.
        if let Some(paper) = after(marked, "Paper #") {
            self.paper = Some(paper.to_owned());
        } else if let Some(reviewer) = after(marked, "Reviewer:") {
            let address = reviewer.rsplit_once('<').map(|(_, rest)| rest.trim_end_matches('>'));
            self.reviewer = Some(address.unwrap_or(reviewer).trim().to_owned());
        } else if marked.starts_with("Review Readiness") || marked.starts_with("Scratchpad") {
            // Not part of the review; what follows goes to a field of that name, which is short.
            self.fields.push((marked.to_owned(), String::new()));
        } else if !marked.starts_with("End Review") && !marked.starts_with("===") {
            let name = without_letter(marked);
            self.fields.push((name.to_owned(), String::new()));
        }
    }
}

fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start).map(str::trim)
}

/// `A. Overall merit` of old forms is the field `Overall merit`.
fn without_letter(name: &str) -> &str {
    match name.split_once(". ") {
        Some((letter, rest)) if letter.len() == 1 => rest.trim(),
        _ => name,
    }
}
