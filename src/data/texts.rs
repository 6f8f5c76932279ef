//! Texts to embed, with whatever identifies them.

use super::answers::says_nothing;
use super::markup::shown;
use super::problem::{DataError, Problems};
use super::rows::{Column, FileProblems, read_rows};
use super::source::Source;

/// Columns that identify a text; those that a file has are handed through to the output.
pub(crate) const ID_COLUMNS: [&str; 6] = ["id", "paper", "reviewer", "source", "sample", "task"];

/// The text itself.
pub(super) const TEXT: Column =
    Column { name: "text", synonyms: &["review", "comment"], required: true };

/// A text and its identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// One entry per name in [`ID_COLUMNS`].
    pub ids: Vec<Option<String>>,
    /// The text, possibly empty.
    pub text: String,
}

/// Reads a table with a column `text`.
///
/// # Errors
///
/// [`DataError::Invalid`] with every row that has no text.
pub(crate) fn read_texts(source: &Source) -> Result<Vec<Text>, DataError> {
    let mut schema: Vec<Column> =
        ID_COLUMNS.iter().map(|&name| Column { name, synonyms: &[], required: false }).collect();
    schema.push(TEXT);
    let mut problems = Problems::new();
    let mut texts = Vec::new();
    read_rows(
        source,
        &schema,
        &mut FileProblems::new(source, &mut problems),
        &mut |row, problems| {
            let (text, ids) = row.fields.split_last().expect("the schema has columns");
            let Some(text) = text.as_text().filter(|text| !says_nothing(text)) else {
                let message = "is empty, says that there is none, or is not a string";
                problems.report(Some(row.line), Some("text"), message);
                return;
            };
            let ids = ids.iter().map(|id| id.as_name().map(Into::into)).collect();
            texts.push(Text { ids, text: shown(text).into_owned() });
        },
    );
    problems.into_result()?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn identifiers_are_kept_and_rows_without_text_reported() {
        let read = |text: &str| {
            read_texts(&Source::from_reader(Path::new("t.csv"), text.as_bytes()).unwrap())
        };
        let texts = read("reviewer,paper,text\na,1,\"x, y\"\n").unwrap();
        assert_eq!(texts[0].text, "x, y");
        let ids: Vec<_> = texts[0].ids.iter().map(Option::as_deref).collect();
        assert_eq!(ids, [None, Some("1"), Some("a"), None, None, None]);
        let error = read("id,text\n1,\n2,x\n").unwrap_err().to_string();
        assert!(error.contains("t.csv:2: column `text`"), "{error}");
    }
}
