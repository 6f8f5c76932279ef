//! Reads an answer: tolerant of how it is written, strict about what it says.
//!
//! Whatever surrounds the answer may differ: reasoning up to `</think>`, code fences, prose,
//! single quotes, `yes` for `true`. What it says may not: every field must be there once, by its
//! name, with a value of its domain, and nothing else. A missing field is reported, never filled
//! in, and of two answers that differ neither is chosen.

use std::fmt;

use super::relaxed::{Relaxed, objects, parse_number};
use crate::data::excerpt::excerpt;
use crate::llm::form::{Domain, Field, folded};
use crate::llm::{ChatAnswer, FinishReason, without_reasoning};

/// Longest text that is searched for an answer, in bytes.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// How much of an unreadable answer is kept for messages, in characters.
const EXCERPT_CHARS: usize = 120;

/// Decimal fractions written by a model may differ from ours in the last binary digit.
const ROUNDING: f64 = 1e-9;

/// The value of one field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A label, written as in the domain, or a text.
    Label(String),
    /// A number of the domain.
    Number(f64),
}

/// A complete answer: one value per field, in the order of the fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The values.
    pub values: Vec<Value>,
}

impl Verdict {
    /// The numbers, if every field is a number.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &Value| match value {
            Value::Number(number) => Some(*number),
            Value::Label(_) => None,
        };
        self.values.iter().map(number).collect()
    }
}

/// What is wrong with an answer; `Display` is written for the model that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerProblem {
    /// It ran into the limit of tokens.
    CutOff,
    /// The server withheld it.
    Withheld,
    /// There is nothing, or reasoning without an answer.
    Empty,
    /// There is no object with the fields.
    NoObject {
        /// How it starts.
        excerpt: String,
    },
    /// There are several objects that say different things.
    Several {
        /// How many.
        count: usize,
    },
    /// A field is missing.
    Missing {
        /// Its name.
        name: String,
    },
    /// There is a field that nobody asked for.
    Unknown {
        /// Its name as written.
        name: String,
    },
    /// A field stands twice.
    Twice {
        /// Its name.
        name: String,
    },
    /// A value is not of the domain.
    Value {
        /// The field.
        name: String,
        /// The value as written.
        found: String,
        /// What it may be, in words.
        allowed: String,
    },
}

impl AnswerProblem {
    /// A stable word for scripts.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::CutOff => "cut_off",
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::NoObject { .. } => "no_object",
            Self::Several { .. } => "several_answers",
            Self::Missing { .. } => "missing",
            Self::Unknown { .. } => "unknown",
            Self::Twice { .. } => "twice",
            Self::Value { .. } => "value",
        }
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff => write!(f, "the answer is too long and was cut off"),
            Self::Withheld => write!(f, "the server withheld the answer"),
            Self::Empty => write!(f, "there is no answer"),
            Self::NoObject { excerpt } => {
                write!(f, "there is no JSON object with the fields; the answer starts: {excerpt}")
            }
            Self::Several { count } => {
                write!(f, "there are {count} answers that differ; write exactly one")
            }
            Self::Missing { name } => write!(f, "`{name}` is missing"),
            Self::Unknown { name } => write!(f, "`{name}` was not asked for"),
            Self::Twice { name } => write!(f, "`{name}` stands twice"),
            Self::Value { name, found, allowed } => {
                write!(f, "`{name}` is {found}, but it must be {allowed}")
            }
        }
    }
}

/// The verdict in an answer of a model.
///
/// # Errors
///
/// Every [`AnswerProblem`] of the answer.
pub(crate) fn parse_answer(
    answer: &ChatAnswer,
    fields: &[Field],
) -> Result<Verdict, Vec<AnswerProblem>> {
    match answer.finish {
        // A cut answer may look complete while its end would have changed it.
        FinishReason::Length => Err(vec![AnswerProblem::CutOff]),
        FinishReason::ContentFilter => Err(vec![AnswerProblem::Withheld]),
        FinishReason::Stop | FinishReason::Other => parse_verdict(&answer.text, fields),
    }
}

/// The verdict in a text.
///
/// # Errors
///
/// Every `AnswerProblem` of the text.
pub fn parse_verdict(text: &str, fields: &[Field]) -> Result<Verdict, Vec<AnswerProblem>> {
    let Some(text) = without_reasoning(text).filter(|text| !text.is_empty()) else {
        return Err(vec![AnswerProblem::Empty]);
    };
    if text.len() > MAX_TEXT_BYTES {
        return Err(vec![AnswerProblem::NoObject { excerpt: excerpt(text, EXCERPT_CHARS) }]);
    }
    let (objects, around) = objects(text);
    let candidates: Vec<Vec<(String, Relaxed)>> =
        objects.into_iter().filter_map(|object| answer_in(object, fields)).collect();
    let Some((first, rest)) = candidates.split_first() else {
        let said = bare_label(&around, fields).or_else(|| from_lines(&around, fields));
        let nothing = || vec![AnswerProblem::NoObject { excerpt: excerpt(text, EXCERPT_CHARS) }];
        return said.unwrap_or_else(|| Err(nothing()));
    };
    let verdict = read_fields(first, fields)?;
    // Models like to repeat their answer; that is fine as long as it is the same.
    let differ = rest.iter().filter(|other| read_fields(other, fields).as_ref() != Ok(&verdict));
    let others = differ.count() + usize::from(says_otherwise(&around, fields, &verdict));
    if others == 0 { Ok(verdict) } else { Err(vec![AnswerProblem::Several { count: others + 1 }]) }
}

/// Whether the text around an object gives a field another value, as it does where the object is a quotation.
fn says_otherwise(around: &str, fields: &[Field], verdict: &Verdict) -> bool {
    let other = |index: usize, value: &Relaxed| {
        choice(value, &fields[index]).is_some_and(|value| value != verdict.values[index])
    };
    let in_line =
        |(key, value): (&str, Relaxed)| position(fields, key).is_some_and(|at| other(at, &value));
    fields.len() == 1 && other(0, &bare_text(around)) || lines(around).any(in_line)
}

/// What a value says of a field, but for texts: anything could be one.
fn choice(value: &Relaxed, field: &Field) -> Option<Value> {
    read_value(value, &field.domain).filter(|_| !matches!(field.domain, Domain::Text { .. }))
}

/// The object itself if it has a wanted field, or the only object inside it that has one and stands beside
/// nothing that could be the answer.
fn answer_in(object: Vec<(String, Relaxed)>, fields: &[Field]) -> Option<Vec<(String, Relaxed)>> {
    let wanted =
        |pairs: &[(String, Relaxed)]| pairs.iter().any(|(key, _)| position(fields, key).is_some());
    if wanted(&object) {
        return Some(object);
    }
    let could_be =
        |(_, value): &(String, Relaxed)| fields.iter().any(|field| choice(value, field).is_some());
    if object.iter().any(could_be) {
        return None;
    }
    let mut inner = object.into_iter().filter_map(|(_, value)| match value {
        Relaxed::Object(pairs) if wanted(&pairs) => Some(pairs),
        _ => None,
    });
    let first = inner.next()?;
    inner.next().is_none().then_some(first)
}

fn position(fields: &[Field], key: &str) -> Option<usize> {
    let key = folded(key);
    fields.iter().position(|field| folded(&field.name) == key)
}

fn read_fields(
    pairs: &[(String, Relaxed)],
    fields: &[Field],
) -> Result<Verdict, Vec<AnswerProblem>> {
    let mut values: Vec<Option<Value>> = vec![None; fields.len()];
    let mut seen = vec![false; fields.len()];
    let mut problems = Vec::new();
    for (key, value) in pairs {
        let Some(index) = position(fields, key) else {
            problems.push(AnswerProblem::Unknown { name: excerpt(key, EXCERPT_CHARS) });
            continue;
        };
        let field = &fields[index];
        if std::mem::replace(&mut seen[index], true) {
            problems.push(AnswerProblem::Twice { name: field.name.clone() });
            continue;
        }
        values[index] = read_value(value, &field.domain);
        if values[index].is_none() {
            problems.push(AnswerProblem::Value {
                name: field.name.clone(),
                found: describe(value),
                allowed: field.domain.describe(),
            });
        }
    }
    for (field, seen) in fields.iter().zip(seen) {
        if !seen {
            problems.push(AnswerProblem::Missing { name: field.name.clone() });
        }
    }
    match values.into_iter().collect::<Option<Vec<Value>>>() {
        Some(values) if problems.is_empty() => Ok(Verdict { values }),
        _ => Err(problems),
    }
}

fn read_value(value: &Relaxed, domain: &Domain) -> Option<Value> {
    match domain {
        Domain::Labels { labels } => read_label(value, labels).map(Value::Label),
        Domain::Numbers { values } => {
            let number = read_number(value)?;
            let allowed = values.iter().find(|allowed| (*allowed - number).abs() <= ROUNDING)?;
            Some(Value::Number(*allowed))
        }
        Domain::Interval { min, max } => {
            let number = read_number(value)?;
            (*min..=*max).contains(&number).then_some(Value::Number(number))
        }
        Domain::Text { .. } => match value {
            Relaxed::Text(text) if !text.trim().is_empty() => {
                Some(Value::Label(text.trim().to_owned()))
            }
            _ => None,
        },
    }
}

fn read_number(value: &Relaxed) -> Option<f64> {
    match value {
        Relaxed::Number(number) => Some(*number),
        Relaxed::Text(text) => parse_number(text),
        // Truth is no number: 0 may mean "no" or "says nothing".
        _ => None,
    }
}

fn read_label(value: &Relaxed, labels: &[String]) -> Option<String> {
    let written = match value {
        Relaxed::Text(text) => folded(text),
        Relaxed::Number(number) => number.to_string(),
        Relaxed::Bool(truth) => truth.to_string(),
        Relaxed::Null | Relaxed::List(_) | Relaxed::Object(_) => return None,
    };
    let find = |wanted: &str| labels.iter().find(|label| folded(label) == wanted).cloned();
    if let Some(label) = find(&written) {
        return Some(label);
    }
    // The words for yes and no are one choice in different clothes.
    let truth = match written.as_str() {
        "yes" | "y" | "true" | "1" => true,
        "no" | "n" | "false" | "0" => false,
        _ => return None,
    };
    let both = |yes: &str, no: &str| Some((find(yes)?, find(no)?));
    let (yes, no) =
        both("yes", "no").or_else(|| both("true", "false")).or_else(|| both("1", "0"))?;
    (labels.len() == 2).then_some(if truth { yes } else { no })
}

/// An answer that is a label and nothing else, where one field is asked for.
fn bare_label(text: &str, fields: &[Field]) -> Option<Result<Verdict, Vec<AnswerProblem>>> {
    let [field] = fields else { return None };
    let value = read_value(&bare_text(text), &field.domain)?;
    Some(Ok(Verdict { values: vec![value] }))
}

/// A text without what decorates it.
fn bare_text(text: &str) -> Relaxed {
    let word = text.trim_matches(|c: char| c.is_whitespace() || "`*\"'.“”".contains(c));
    Relaxed::Text(word.to_owned())
}

/// The lines `name: value` of a text.
fn lines(text: &str) -> impl Iterator<Item = (&str, Relaxed)> {
    let decoration = |c: char| c.is_whitespace() || "`*\"'-•,.".contains(c);
    text.lines().filter_map(move |line| {
        let (key, value) = line.split_once(':')?;
        // The sign of a number is no decoration.
        let value = value.trim_matches(|c: char| decoration(c) && c != '-' && c != '.');
        Some((key.trim_matches(decoration), Relaxed::Text(value.trim_end_matches('.').to_owned())))
    })
}

/// An answer in lines `name: value`, if at least one line names a field.
fn from_lines(text: &str, fields: &[Field]) -> Option<Result<Verdict, Vec<AnswerProblem>>> {
    let mut pairs = Vec::new();
    let mut named = false;
    for (key, value) in lines(text) {
        let known = position(fields, key).is_some();
        named |= known;
        // A line of prose may hold a colon; a line that gives a value to something that was not
        // asked for is an extra field.
        let looks_like_a_value =
            fields.first().is_some_and(|field| read_value(&value, &field.domain).is_some());
        if known || looks_like_a_value {
            pairs.push((key.to_owned(), value));
        }
    }
    named.then(|| read_fields(&pairs, fields))
}

fn describe(value: &Relaxed) -> String {
    match value {
        Relaxed::Null => "null".into(),
        Relaxed::Bool(truth) => truth.to_string(),
        Relaxed::Number(number) => number.to_string(),
        Relaxed::Text(text) => format!("\"{}\"", excerpt(text, EXCERPT_CHARS)),
        Relaxed::List(_) => "a list".into(),
        Relaxed::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests;
