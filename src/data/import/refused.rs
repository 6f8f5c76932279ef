//! What is refused by name, with what to do instead.

use serde_json::Value;

use super::charset::seems_utf16;
use super::elements::Object;
use super::error::ImportError;
use super::peek::{Peek, Root};
use super::wrapping::Wrapping;
use crate::data::near::listed;

/// Columns that Prolific's list has.
pub(super) const PROLIFIC_COLUMNS: [&str; 3] = ["Submission id", "Participant id", "Status"];

/// # Errors
///
/// [`ImportError::Refused`] for a text whose characters are not known for sure.
pub(super) fn check_charset(file: &str, bytes: &[u8]) -> Result<(), ImportError> {
    if !seems_utf16(bytes) {
        return Ok(());
    }
    let what = "UTF-16 without a byte order mark, it seems".to_owned();
    Err(ImportError::Refused {
        file: file.to_owned(),
        what,
        instead: "save it as UTF-8".to_owned(),
    })
}

/// # Errors
///
/// [`ImportError::Refused`] for files that hold no rows, or rows without what caz needs.
pub(super) fn check(file: &str, peek: &Peek<'_>) -> Result<(), ImportError> {
    let refused = |what: &str, instead: &str| {
        let (file, what, instead) = (file.to_owned(), what.to_owned(), instead.to_owned());
        Err(ImportError::Refused { file, what, instead })
    };
    match &peek.root {
        Root::Binary("PDF") => {
            refused("a PDF", "it has pages and no rows; export the reviews as CSV or JSON")
        }
        Root::Binary(what) => {
            refused(what, "save it as CSV (in a spreadsheet: File, Save as, CSV UTF-8)")
        }
        Root::Zip => zip(file, peek.bytes),
        _ if peek.bytes.starts_with(b"#FORMAT=WebAnno TSV") => refused(
            "a file of INCEpTION or WebAnno, whose annotations are places in a text",
            "caz compares one answer a task; make a table with a row for each place (task, worker, label)",
        ),
        Root::Json { first, .. } if first.first().is_some_and(is_manifest) => refused(
            "an output manifest of SageMaker Ground Truth, which does not say who answered",
            "make a table (task, worker, label) of the files under annotations/worker-response",
        ),
        Root::Table { .. } if peek.has_columns(&PROLIFIC_COLUMNS) => refused(
            "the list of participants of Prolific, which has no answers",
            "export the answers from the survey or labelling tool that it points to; the command that \
                 reads exports takes both files and leaves out who was rejected",
        ),
        _ => Ok(()),
    }
}

/// After the documentation of `SageMaker`, "Labeling job output data": `source` or `source-ref`, and for
/// every attribute its metadata.
fn is_manifest(row: &Object) -> bool {
    let is_metadata = |(key, value): (&String, &Value)| {
        key.ends_with("-metadata") && value.get("human-annotated").is_some()
    };
    (row.contains_key("source") || row.contains_key("source-ref")) && row.iter().any(is_metadata)
}

/// Shapes of JSON that hold no rows, or several kinds of them.
///
/// # Errors
///
/// [`ImportError::Refused`] with what to write instead.
pub(super) fn check_rows(file: &str, peek: &Peek<'_>) -> Result<(), ImportError> {
    let Root::Json { first, wrapping, .. } = &peek.root else { return Ok(()) };
    let (what, instead) = match wrapping {
        Some(Wrapping::Columns) => (
            "JSON with a list or an object for every column",
            "write a list of objects, one a row (pandas: orient=\"records\")".to_owned(),
        ),
        Some(Wrapping::Several(lists)) => (
            "JSON with several lists of rows",
            format!(
                "write the one that is meant into a file of its own; there are {}",
                listed(lists)
            ),
        ),
        None if first.is_empty() => (
            "a JSON list without objects",
            "write its rows as objects with the names of the columns".to_owned(),
        ),
        _ => return Ok(()),
    };
    Err(ImportError::Refused { file: file.to_owned(), what: what.to_owned(), instead })
}

/// The names of the entries stand in plain text in the first kilobytes and in the directory at the
/// end.
fn zip(file: &str, bytes: &[u8]) -> Result<(), ImportError> {
    let has = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
    let (what, instead) = if has(b"word/document.xml") {
        ("a Word file", "it has pages and no rows; export the reviews as CSV or JSON")
    } else if has(b"xl/workbook.xml") {
        ("an Excel file", "save the sheet as CSV (File, Save as, CSV UTF-8)")
    } else if has(b"opendocument.spreadsheet") || has(b".iwa") {
        ("a spreadsheet", "save the sheet as CSV (File, Save as, CSV UTF-8)")
    } else if has(b"all.jsonl") {
        ("an archive of doccano without annotators", "export it once more with one file per user")
    } else {
        ("a ZIP archive", "unpack it and name the files in it")
    };
    let (file, what, instead) = (file.to_owned(), what.to_owned(), instead.to_owned());
    Err(ImportError::Refused { file, what, instead })
}
