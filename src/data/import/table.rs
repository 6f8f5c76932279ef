//! Tables and JSON of any system, by the names of their columns.

use std::collections::HashMap;

use serde_json::Value;

use super::error::ImportError;
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::{Peek, Root};
use super::records::{Records, hint};
use super::schema::{JUDGMENTS, Known, Schema, TEXT, TextRule, VECTOR};
use super::text_fields::joined;
use super::wide::answer_columns;
use super::wrapping::{KEY, Wrapping};
use crate::data::answers::is_spreadsheet_error;
use crate::data::near::{did_you_mean, folded, listed, same_name};
use crate::data::rows::HEADLESS;
use crate::data::source::{Format, Source};
use crate::data::warning::Warning;

/// Why rows are left out that a spreadsheet writes below a table.
pub(super) const EMPTY: &str = "empty rows";

/// Whether the file has the shape that the ordinary readers take: their separator, or JSON lines.
///
/// Another separator, a `sep=` line and a list are foreign.
pub(super) fn has_own_shape(peek: &Peek<'_>, source: &Source) -> bool {
    peek.bytes.len() == source.bytes.len()
        && match (&peek.root, source.format) {
            (Root::Table { delimiter, .. }, Format::Csv) => *delimiter == b',',
            (Root::Table { delimiter, .. }, Format::Tsv) => *delimiter == b'\t',
            (Root::Json { around, wrapping, .. }, Format::JsonLines) => {
                // Of an object around rows, the rows are not on lines of their own.
                let has_rows = matches!(wrapping, Some(Wrapping::Texts | Wrapping::Row));
                has_rows && is_lines(peek.bytes, around)
            }
            _ => false,
        }
}

/// Whether JSON is one object a line: then the first line is whole.
fn is_lines(bytes: &[u8], around: &[String]) -> bool {
    let first =
        bytes.split(|&byte| byte == b'\n').find(|line| !line.iter().all(u8::is_ascii_whitespace));
    let whole = first.is_some_and(|line| {
        serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object())
    });
    whole && !around.is_empty()
}

/// Finds the column for each of caz's.
struct Columns<'a> {
    records: &'a Records<'a>,
    request: &'a Request<'a>,
}

impl Columns<'_> {
    /// The file's name of a column, if it has one.
    fn find(&self, known: &Known) -> Result<Option<String>, ImportError> {
        if let Some(asked) = self.request.settings.columns.get(known.key()) {
            return self.records.named(asked).map(Some);
        }
        let mut all: Vec<String> = Vec::new();
        for candidate in known.names() {
            let found = self.records.called(|name| folded(name) == candidate);
            match found.as_slice() {
                [] => {}
                [one] if !is_label(known) || candidate == known.key() => {
                    return Ok(Some(one.clone()));
                }
                [_] => all.extend(found),
                several => {
                    return Err(self.request.columns(format!(
                        "{} all mean `{}`; keep one, or name it",
                        listed(several),
                        known.key()
                    )));
                }
            }
        }
        // What is scored is not guessed.
        match all.as_slice() {
            [] | [_] => Ok(all.pop()),
            several => Err(self.request.columns(format!(
                "several columns may be the `{}`; name one of {}",
                known.key(),
                listed(several)
            ))),
        }
    }

    /// The columns that every row needs; an error that names all that are missing.
    fn required(&self, schema: &Schema) -> Result<Vec<(String, String)>, ImportError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        let names = self.records.names();
        for known in schema.required {
            match self.find(known)? {
                Some(name) => found.push((known.key().to_owned(), name)),
                None => missing.push(format!(
                    "no column is `{}`{}",
                    known.key(),
                    hint(&did_you_mean(names, &known.names()))
                )),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        if names.is_empty() {
            return Err(ImportError::empty(self.request.file.clone(), self.request.wanted));
        }
        let is_headless = self.records.is_headless();
        if missing.len() > 1 && self.request.wanted.is_labels() && !is_headless {
            let portraits = self.records.portraits(None);
            let answers = answer_columns(&portraits);
            let is_named = names.first().is_some_and(|name| name == KEY);
            if answers.len() > 1 || is_named {
                let answers: Vec<&str> = if is_named {
                    names[1..].iter().map(String::as_str).collect()
                } else {
                    answers
                };
                let message = format!(
                    "it has no row for each label, but looks like a wide table: one row a worker and \
                     one column a task, or the other way round, in the columns {}",
                    listed(&answers)
                );
                return Err(ImportError::Wide { file: self.request.file.clone(), message });
            }
        }
        if is_headless {
            missing = vec![HEADLESS.to_owned()];
        }
        let missing = missing.join("; ");
        Err(self.request.columns(format!("{missing}; there are {}", listed(names))))
    }
}

/// Whether a column of caz is the label.
fn is_label(known: &Known) -> bool {
    known.key() == "label"
}

/// Any table with a header, or any JSON whose objects are rows.
pub(super) enum Any {
    Table,
    Json,
}

impl Importer for Any {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        match (self, &peek.root) {
            (Self::Table, Root::Table { .. }) => true,
            (Self::Json, Root::Json { first, wrapping, .. }) => {
                !first.is_empty() || wrapping.is_none()
            }
            _ => false,
        }
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        read_flat(request, output)
    }
}

/// Which columns of a file go where.
struct Layout {
    schema: Schema,
    /// The key in caz's own form, and the column.
    cells: Vec<(String, String)>,
    /// Columns that are joined to the text.
    text: Vec<String>,
}

fn read_flat(request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
    let records = Records::of(request)?;
    let layout = Layout::of(&records, request)?;
    output.text_fields.clone_from(&layout.text);
    output.text_fields.extend(layout.answer(request).filter(|name| name != "label"));
    layout.check_answer(&records, request)?;
    records.each(output, |record, output| {
        let mut row: Vec<(&str, Value)> = Vec::with_capacity(layout.cells.len() + 1);
        for (key, name) in &layout.cells {
            let cell = if matches!(key.as_str(), "label" | "truth") {
                output.label_of(record.get(name))
            } else {
                record.name(name).map_or(Value::Null, Value::from)
            };
            row.push((key, cell));
        }
        if !layout.text.is_empty() {
            let joined = joined(&layout.text, |name| record.text(name));
            row.push(("text", if joined.is_empty() { Value::Null } else { joined.into() }));
        }
        match layout.lack(&row) {
            Some(reason) => {
                let mut cells = layout.cells.iter().map(|(_, name)| name).chain(&layout.text);
                let is_error = |name: &String| record.get(name).is_some_and(is_spreadsheet_error);
                output.spreadsheet_errors += u64::from(cells.any(is_error));
                output.leave_out(reason);
            }
            None => output.row(&row),
        }
    })
}

impl Layout {
    fn of(records: &Records<'_>, request: &Request<'_>) -> Result<Self, ImportError> {
        let names = records.names();
        let columns = Columns { records, request };
        let schema = request.wanted.schema();
        let mut cells = columns.required(&schema)?;
        for known in schema.optional {
            let found = columns.find(known)?;
            // One column is one thing.
            let found = found.filter(|name| !cells.iter().any(|(_, other)| other == name));
            cells.extend(found.map(|name| (known.key().to_owned(), name)));
        }
        for column in request.keep {
            let found = names.iter().find(|name| name.eq_ignore_ascii_case(column.trim()));
            cells.extend(found.map(|name| (column.clone(), name.clone())));
        }
        if schema.text == TextRule::Content {
            for known in [VECTOR, JUDGMENTS] {
                let found = columns.find(&known)?;
                cells.extend(found.map(|name| (known.key().to_owned(), name)));
            }
        }
        let text = text_columns(records, &columns, (&schema, &cells))?;
        if schema.keeps_others {
            for (key, name) in &request.settings.columns {
                if !cells.iter().any(|(known, _)| known == key) {
                    cells.push((key.clone(), records.named(name)?));
                }
            }
            for name in names {
                let key = folded(name);
                let used = cells.iter().any(|(other, column)| *other == key || column == name);
                if !used && !text.contains(name) && (text.is_empty() || key != "text") {
                    cells.push((key, name.clone()));
                }
            }
        }
        Ok(Self { schema, cells, text })
    }

    /// The column that was taken for the label, where no user named it.
    fn answer(&self, request: &Request<'_>) -> Option<String> {
        let named = request.settings.columns.contains_key("label");
        let found = self.cells.iter().find(|(key, _)| key == "label" && !named);
        found.map(|(_, name)| name.clone())
    }

    /// Refuses a label or a text that is the same for everybody on every task where another column is
    /// not.
    fn check_answer(
        &self,
        records: &Records<'_>,
        request: &Request<'_>,
    ) -> Result<(), ImportError> {
        let cell =
            |key: &str| self.cells.iter().find(|(other, _)| other == key).map(|(_, name)| name);
        if let (Some(paper), Some(reviewer), [text]) =
            (cell("paper"), cell("reviewer"), self.text.as_slice())
            && request.settings.text_columns.is_empty()
            && !request.settings.columns.contains_key("text")
        {
            return check_varies(records, request, text, &[paper.as_str(), reviewer.as_str()]);
        }
        let Some(answer) = self.answer(request).filter(|name| folded(name) != "label") else {
            return Ok(());
        };
        match (cell("task"), cell("worker")) {
            (Some(task), Some(worker)) => {
                check_varies(records, request, &answer, &[task.as_str(), worker.as_str()])
            }
            _ => Ok(()),
        }
    }

    /// Why a row is of no use, if it is of none.
    fn lack(&self, row: &[(&str, Value)]) -> Option<String> {
        if row.iter().all(|(_, value)| value.is_null()) {
            return Some(EMPTY.into());
        }
        let lacks = |key: &str| row.iter().any(|(other, value)| *other == key && value.is_null());
        let needed = self.schema.required.iter().map(Known::key);
        let needed = needed.filter(|key| *key != "label" || !self.schema.keeps_unanswered);
        if let Some(key) = needed.into_iter().find(|key| lacks(key)) {
            return Some(format!("rows without a {key}"));
        }
        let is_content = |key: &str| matches!(key, "text" | "vector" | "judgments");
        let has_content = || row.iter().any(|(key, value)| is_content(key) && !value.is_null());
        let needs_content = matches!(self.schema.text, TextRule::Content | TextRule::Needed);
        (needs_content && !has_content()).then(|| "rows without a text".into())
    }
}

/// Refuses `answer` as a label if nobody differs in it from others on the same task, but in another
/// column of few values people do: it then belongs to the task.
fn check_varies(
    records: &Records<'_>,
    request: &Request<'_>,
    answer: &str,
    used: &[&str],
) -> Result<(), ImportError> {
    /// Tasks on which nobody differs; on fewer, people may agree.
    const UNANIMOUS: usize = 3;
    let task = used[0];
    let mut first: HashMap<String, (String, bool)> = HashMap::new();
    let mut differs = false;
    records.look(&mut |record| {
        if let (Some(task), Some(label)) = (record.get(task), record.get(answer)) {
            match first.get_mut(task) {
                Some((known, repeated)) => {
                    *repeated = true;
                    differs |= known != label;
                }
                None => drop(first.insert(task.to_owned(), (label.to_owned(), false))),
            }
        }
        !differs
    });
    let repeated = first.values().filter(|(_, repeated)| *repeated).count();
    if differs || repeated < UNANIMOUS {
        return Ok(());
    }
    let portraits = records.portraits(Some(task));
    let reviews = request.wanted.is_reviews();
    let others: Vec<&str> = portraits
        .iter()
        .filter(|column| column.differs > 0 && column.has_few() != reviews && !column.is_time())
        .filter(|column| !reviews || !column.is_number())
        .map(|column| column.name.as_str())
        .filter(|name| !used.contains(name))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!(
        "`{answer}` is the same for everybody on each of {repeated} tasks and belongs to the task, it \
         seems; name the column `{}`: {}",
        request.answer_key(),
        listed(&[&others[..], &[answer]].concat())
    );
    Err(ImportError::OfTask { file: request.file.clone(), message })
}

/// What is said about the label or the text of a file in caz's own form whose column has another name.
///
/// # Errors
///
/// [`ImportError::OfTask`] for a label or a text that belongs to the task.
pub(super) fn own_answer(request: &Request<'_>) -> Result<Option<Warning>, ImportError> {
    let schema = request.wanted.schema();
    let column = |known: &Known| {
        request
            .peek
            .names()
            .find(|name| known.column.matches(name))
            .map(|name| (known.key(), name.trim()))
    };
    let answer = schema.required.iter().find(|known| is_label(known)).and_then(column);
    let text = || column(&TEXT).filter(|_| schema.text == TextRule::Content);
    let of = |key: &str| schema.required.iter().find(|known| known.key() == key).and_then(column);
    // Taking JSON apart once more takes too long for what is hardly ever there.
    if let (Some((_, paper)), Some((_, reviewer)), Some((_, text))) =
        (of("paper"), of("reviewer"), text())
        && matches!(request.peek.root, Root::Table { .. })
    {
        let records = Records::of(request)?;
        check_varies(&records, request, text, &[paper, reviewer])?;
    }
    let Some((key, name)) = answer.or_else(text).filter(|(key, name)| !same_name(key, name)) else {
        return Ok(None);
    };
    if let (Some((_, task)), Some((_, worker))) = (of("task"), of("worker")) {
        let records = Records::of(request)?;
        check_varies(&records, request, name, &[task, worker])?;
    }
    let message = format!("the {key} of `{}` was read from the column `{name}`", request.file);
    Ok(Some(Warning::new("column_taken", 1, message)))
}

/// The columns that make the text of a row.
fn text_columns(
    records: &Records<'_>,
    columns: &Columns<'_>,
    (schema, cells): (&Schema, &[(String, String)]),
) -> Result<Vec<String>, ImportError> {
    let asked = &columns.request.settings.text_columns;
    if !asked.is_empty() && schema.text != TextRule::None {
        return asked.iter().map(|name| records.named(name)).collect();
    }
    if matches!(schema.text, TextRule::None | TextRule::IfAsked) {
        return Ok(Vec::new());
    }
    if let Some(name) = columns.find(&TEXT)? {
        return Ok(vec![name]);
    }
    let used: Vec<&str> = cells.iter().map(|(_, name)| name.as_str()).collect();
    let text = records.text_fields(&used)?;
    let has_other = cells.iter().any(|(key, _)| matches!(key.as_str(), "vector" | "judgments"));
    if text.is_empty() && !has_other {
        return Err(columns.request.columns(format!(
            "no column holds the text of the reviews{}; name it as `text`; there are {}",
            hint(&did_you_mean(records.names(), &TEXT.names())),
            listed(records.names())
        )));
    }
    Ok(text)
}
