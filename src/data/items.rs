//! Rows to ask a model about: named texts, whatever they are for.

use super::answers::says_nothing;
use super::near::quotable;
use super::problem::{DataError, Problems};
use super::rows::{Column, Field, FileProblems, NamedColumn, read_rows};
use super::source::Source;

/// A column, for lists of them.
pub(crate) const fn column(
    name: &'static str,
    synonyms: &'static [&'static str],
    required: bool,
) -> Column {
    Column { name, synonyms, required }
}

/// The name of what a row of items is about.
pub(crate) const TASK: Column = Column {
    name: "task",
    synonyms: &["question_id", "item", "example", "unit", "id"],
    required: true,
};

/// [`TASK`] beside texts of these names: where one is called `example`, that is no task.
pub(crate) fn task_beside<'n>(mut texts: impl Iterator<Item = &'n str>) -> Column {
    let others = &["question_id", "item", "unit", "id"];
    if texts.any(|name| name == "example") { Column { synonyms: others, ..TASK } } else { TASK }
}

/// The name of a paper.
pub(crate) const PAPER: Column = Column {
    name: "paper",
    synonyms: &["item", "task", "submission", "forum", "paper_id", "id"],
    required: true,
};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemRow {
    /// Line in the file, from 1.
    pub line: u64,
    /// One entry per column of the schema; `None` if missing or blank.
    pub fields: Vec<Option<String>>,
}

/// Reads every row under `schema`; required columns must be filled in every row.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of the file.
pub(crate) fn read_items(
    source: &Source,
    schema: &[NamedColumn<'_>],
) -> Result<Vec<ItemRow>, DataError> {
    let mut problems = Problems::new();
    let mut items = Vec::new();
    read_rows(
        source,
        schema,
        &mut FileProblems::new(source, &mut problems),
        &mut |row, problems| {
            let mut fields = Vec::with_capacity(schema.len());
            for (field, column) in row.fields.iter().zip(schema) {
                let text = match field {
                    // Names may be any word.
                    Field::Text(text) if !fields.is_empty() && says_nothing(text) => None,
                    Field::Text(text) if !text.trim().is_empty() => Some(text.to_string()),
                    other => other.as_name().map(Into::into),
                };
                let is_text = matches!(field, Field::Text(_));
                if text.is_none() && (column.required || !is_text && !field.is_missing()) {
                    let message = match field {
                        Field::Json(serde_json::Value::Number(_)) => field.no_name(),
                        _ => "is empty or not a text; give every row one".into(),
                    };
                    problems.report(Some(row.line), Some(column.name), message);
                    return;
                }
                fields.push(text);
            }
            items.push(ItemRow { line: row.line, fields });
        },
    );
    problems.into_result()?;
    Ok(items)
}

/// Reports rows whose first column holds a name that an earlier row has.
///
/// # Errors
///
/// [`DataError::Invalid`] with every second row of a name.
pub(crate) fn check_names_differ(
    source: &Source,
    column: &Column,
    items: &[ItemRow],
) -> Result<(), DataError> {
    let mut problems = Problems::new();
    let mut seen = std::collections::HashMap::new();
    let mut file = FileProblems::new(source, &mut problems);
    for item in items {
        let name = item.fields[0].as_deref().unwrap_or_default().trim();
        if let Some(first) = seen.insert(name, item.line) {
            let message =
                format!("`{}` stands in line {first} already; give each a name", quotable(name));
            file.report(Some(item.line), Some(column.name), message);
        }
    }
    problems.into_result()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TEXT: Column = Column { name: "text", synonyms: &[], required: false };

    fn source(text: &str) -> Source {
        Source::from_reader(Path::new("i.csv"), text.as_bytes()).unwrap()
    }

    #[test]
    fn missing_cells_are_none_and_missing_names_are_problems() {
        let items = read_items(&source("item,text\n1,\n2,x\n"), &[TASK, TEXT]).unwrap();
        assert_eq!(items[0], ItemRow { line: 2, fields: vec![Some("1".into()), None] });
        let error = read_items(&source("item,text\n,x\n"), &[TASK, TEXT]).unwrap_err();
        assert!(error.to_string().contains("i.csv:2: column `task`: is empty"), "{error}");
    }

    #[test]
    fn an_example_that_a_prompt_shows_is_no_name() {
        const EXAMPLE: Column = Column { name: "example", synonyms: &[], required: false };
        let file = source("task,example\n1,x\n");
        assert!(read_items(&file, &[TASK, EXAMPLE]).is_err());
        let schema = [task_beside(["text", "example"].into_iter()), EXAMPLE];
        let items = read_items(&file, &schema).unwrap();
        assert_eq!(items[0].fields, [Some("1".into()), Some("x".into())]);
        let items =
            read_items(&source("example,text\n1,x\n"), &[task_beside(["text"].into_iter()), TEXT]);
        assert_eq!(items.unwrap()[0].fields[0].as_deref(), Some("1"));
    }

    #[test]
    fn a_name_that_stands_twice_is_a_problem() {
        let file = source("task,text\na,x\nb,y\n a ,z\n");
        let items = read_items(&file, &[TASK, TEXT]).unwrap();
        let error = check_names_differ(&file, &TASK, &items).unwrap_err().to_string();
        assert!(error.contains("i.csv:4: column `task`: `a` stands in line 2"), "{error}");
    }
}
