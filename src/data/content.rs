//! What a review consists of: a text, a vector, or judgments by category.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answers::says_nothing;
use super::markup::shown;
use super::rows::{Column, Field, FileProblems, Row};
use super::strict_json::parse_strictly;
use super::warning::{Warning, first_names};
use crate::data::nouns::{COUNT, SAY, counted, verb};

/// Columns that carry the content, in the order [`ContentReader::read`] expects them.
pub(crate) const CONTENT_COLUMNS: [Column; 3] = [
    Column { name: "text", synonyms: &["review", "comment"], required: false },
    Column { name: "vector", synonyms: &["embedding"], required: false },
    Column { name: "judgments", synonyms: &["judgements"], required: false },
];

/// The content of one review; at least one part is present.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Content {
    /// The text, not blank.
    pub text: Option<String>,
    /// A vector of finite numbers.
    pub vector: Option<Vec<f64>>,
    /// A value in `[-1, 1]` per category, in the order of `ContentShape::categories`.
    pub judgments: Option<Vec<f64>>,
}

impl Content {
    /// Adds the text of another one after a blank line; `false`, and nothing is done, unless both are
    /// texts and nothing else.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let only_text = |content: &Self| content.vector.is_none() && content.judgments.is_none();
        if !only_text(self) || !only_text(other) {
            return false;
        }
        let (Some(text), Some(more)) = (&mut self.text, &other.text) else { return false };
        text.push_str("\n\n");
        text.push_str(more);
        true
    }
}

/// What all contents of a run have in common, fixed by the first one that has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentShape {
    /// Length of every vector.
    pub(crate) vector_length: Option<usize>,
    /// Category names, sorted; empty if there are no judgments.
    pub categories: Vec<String>,
}

/// Reads contents and holds them to one shape, across reviews and Z.
#[derive(Debug, Default)]
pub(crate) struct ContentReader {
    shape: ContentShape,
    /// Texts that say that there is none, by what they say.
    nothing: BTreeMap<String, usize>,
}

impl ContentReader {
    /// The shape common to all contents read.
    pub(crate) fn into_shape(self) -> ContentShape {
        self.shape
    }

    /// How many rows had nothing but a word for no text, if some had.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let count = self.nothing.values().sum();
        let words: Vec<String> = self.nothing.keys().map(|word| format!("`{word}`")).collect();
        let message = format!(
            "{} {} that there is none and {} as missing: {}",
            counted(count, "text"),
            verb(count, SAY),
            verb(count, COUNT),
            first_names(&words)
        );
        (count > 0).then(|| Warning::new("texts_missing", count, message))
    }

    /// The content of a row whose fields from `first` on are [`CONTENT_COLUMNS`].
    ///
    /// `None` if it was reported as a problem, or if its text says that there is none, which is
    /// counted.
    pub(crate) fn read(
        &mut self,
        row: &Row<'_>,
        first: usize,
        problems: &mut FileProblems<'_>,
    ) -> Option<Content> {
        let mut report = |column: &str, message: String| {
            problems.report(Some(row.line), Some(column), message);
        };
        let [text, vector, judgments] = &row.fields[first..first + 3] else { return None };
        if text.is_missing() && vector.is_missing() && judgments.is_missing() {
            let message =
                "is empty; write the text, or a `vector` or `judgments` instead, or drop the row";
            report("text", message.into());
            return None;
        }
        let mut content = Content::default();
        match text {
            Field::Missing => {}
            Field::Text(text) if text.trim().is_empty() => {}
            Field::Text(text) if says_nothing(text) => {
                *self.nothing.entry(text.trim().to_owned()).or_default() += 1;
                if vector.is_missing() && judgments.is_missing() {
                    return None;
                }
            }
            Field::Text(text) => content.text = Some(shown(text).into_owned()),
            Field::Json(value) => {
                report("text", format!("is not a string but {}", kind_of(value)));
                return None;
            }
        }
        if !vector.is_missing() {
            match parse_vector(vector).and_then(|vector| self.check_length(vector)) {
                Ok(vector) => content.vector = Some(vector),
                Err(message) => {
                    report("vector", message);
                    return None;
                }
            }
        }
        if !judgments.is_missing() {
            match parse_judgments(judgments).and_then(|pairs| self.check_categories(pairs)) {
                Ok(values) => content.judgments = Some(values),
                Err(message) => {
                    report("judgments", message);
                    return None;
                }
            }
        }
        Some(content)
    }

    fn check_length(&mut self, vector: Vec<f64>) -> Result<Vec<f64>, String> {
        let expected = *self.shape.vector_length.get_or_insert(vector.len());
        if vector.len() == expected {
            return Ok(vector);
        }
        let found = vector.len();
        Err(format!("has {found} numbers, earlier vectors have {expected}; use one embedding"))
    }

    fn check_categories(&mut self, mut pairs: Vec<(String, f64)>) -> Result<Vec<f64>, String> {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(pair) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("has the category `{}` twice", pair[0].0));
        }
        if self.shape.categories.is_empty() {
            self.shape.categories = pairs.iter().map(|(name, _)| name.clone()).collect();
        }
        let expected = &self.shape.categories;
        if let Some(name) = expected.iter().find(|name| !pairs.iter().any(|pair| &pair.0 == *name))
        {
            return Err(format!("lacks the category `{name}`; write 0 for \"no judgment\""));
        }
        if let Some((name, _)) = pairs.iter().find(|pair| !expected.contains(&pair.0)) {
            return Err(format!("has the category `{name}`, which the first judgments lack"));
        }
        Ok(pairs.into_iter().map(|(_, value)| value).collect())
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn finite(number: f64, index: usize) -> Result<f64, String> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(format!("entry {} is {number}; every entry must be a finite number", index + 1))
    }
}

/// A JSON list of numbers, or numbers separated by white space, commas or semicolons.
fn parse_vector(field: &Field<'_>) -> Result<Vec<f64>, String> {
    let vector: Vec<f64> = match field {
        Field::Text(text) => text
            .trim()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
            .filter(|entry| !entry.is_empty())
            .enumerate()
            .map(|(index, entry)| match entry.parse() {
                Ok(number) => finite(number, index),
                Err(_) => Err(format!("entry {} is `{entry}`, not a number", index + 1)),
            })
            .collect::<Result<_, _>>()?,
        Field::Json(Value::Array(entries)) => entries
            .iter()
            .enumerate()
            .map(|(index, entry)| match entry.as_f64() {
                Some(number) => finite(number, index),
                None => Err(format!("entry {} is {}, not a number", index + 1, kind_of(entry))),
            })
            .collect::<Result<_, _>>()?,
        Field::Json(other) => return Err(format!("is not a list but {}", kind_of(other))),
        Field::Missing => Vec::new(),
    };
    if vector.is_empty() { Err("has no entries".into()) } else { Ok(vector) }
}

fn parse_judgments(field: &Field<'_>) -> Result<Vec<(String, f64)>, String> {
    let parsed;
    let value = match field {
        Field::Text(text) => {
            parsed = parse_strictly(text).map_err(|error| {
                if error.is_data() {
                    return format!("is not clear: {error}");
                }
                "is not a JSON object such as {\"Novelty of Method\": 1}".to_owned()
            })?;
            &parsed
        }
        Field::Json(value) => value,
        Field::Missing => return Err("is missing".into()),
    };
    let Value::Object(object) = value else {
        return Err(format!("is not an object but {}", kind_of(value)));
    };
    if object.is_empty() {
        return Err("has no categories".into());
    }
    object
        .iter()
        .map(|(name, value)| match value.as_f64() {
            Some(number) if (-1.0..=1.0).contains(&number) => Ok((name.trim().to_owned(), number)),
            _ => Err(format!("`{name}` is {value}; it must be a number from -1 to 1")),
        })
        .collect()
}
