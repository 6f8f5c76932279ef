//! What was answered, as one label: a text, or a set of choices in one order for all.
//!
//! Programs write a set of choices in the order of the clicks, as a list or as JSON inside a cell,
//! with or without escapes; all of these are one label. What programs write where there is nothing
//! is no label.

use serde_json::{Map, Value};

use super::ids::alike;

/// What programs write where there is nothing, in small letters. `NA` and `none` are not here: they
/// are common names of a category.
const NOTHING: [&str; 13] = [
    "nan", "null", "n/a", "#n/a", "<na>", "#na", "#value!", "#ref!", "#div/0!", "#name?", "#null!",
    "#num!", "\\n",
];

/// Begins what a spreadsheet writes where it could not compute a cell.
const ERROR: char = '#';

/// Lists, objects and quotes around nothing.
const EMPTY: [&str; 6] = ["{}", "[]", "[{}]", "[null]", "[\"\"]", "\"\""];

/// Between the names of a set.
const AND: &str = "; ";

/// Between the steps of a path through a taxonomy.
const UNDER: &str = " > ";

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Nothing.
    Nothing,
    /// A word that programs write for nothing.
    Word(String),
    /// A label.
    Label(String),
    /// Places that were marked, each with a label of its own.
    Spans,
    /// A list or an object that is no label.
    Structure,
}

impl Answered {
    /// The answer in a cell, a text or JSON.
    pub(crate) fn in_cell(cell: &str) -> Self {
        let cell = cell.trim();
        if is_empty(cell) {
            return Self::Nothing;
        }
        if says_nothing(cell) {
            return Self::Word(cell.to_owned());
        }
        match structure(cell) {
            // What is in brackets and no set is a text as good as any.
            Some(value) => match Self::of(&value) {
                Self::Structure => Self::Label(cell.to_owned()),
                found => found,
            },
            // A text as JSON has it.
            None if cell.starts_with('"') => match serde_json::from_str::<String>(cell) {
                Ok(text) => Self::in_cell(&text),
                Err(_) => Self::Label(cell.to_owned()),
            },
            None => Self::Label(cell.to_owned()),
        }
    }

    /// The answer that a value is.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Nothing,
            Value::String(text) => Self::in_cell(text),
            Value::Bool(_) | Value::Number(_) => Self::Label(value.to_string()),
            Value::Array(list) => Self::of_list(list),
            Value::Object(object) => Self::of_object(object),
        }
    }

    fn of_list(list: &[Value]) -> Self {
        let mut names = Vec::with_capacity(list.len());
        for value in list {
            let name = match value {
                Value::Array(path) if is_span(path) => return Self::Spans,
                Value::Array(path) => match steps(path) {
                    Some(steps) => Self::Label(steps),
                    None => return Self::Structure,
                },
                Value::Object(object) => Self::of_object(object),
                // A name with brackets in it is a name.
                Value::String(text) => match text.trim() {
                    text if says_nothing(text) => Self::Nothing,
                    text => Self::Label(text.to_owned()),
                },
                other => Self::of(other),
            };
            match name {
                Self::Nothing | Self::Word(_) => {}
                Self::Label(name) => names.push(name),
                other => return other,
            }
        }
        set(names)
    }

    fn of_object(object: &Map<String, Value>) -> Self {
        /// Under these Label Studio has the answer of a control, Amazon's classifiers the one chosen (`label`), and
        /// others that of a question.
        const INNER: [&str; 10] = [
            "choices", "taxonomy", "label", "labels", "text", "rating", "number", "datetime",
            "selected", "value",
        ];
        if object.is_empty() {
            return Self::Nothing;
        }
        if has_place(object) {
            return Self::Spans;
        }
        if let (1, Some((key, inner))) = (object.len(), object.iter().next())
            && INNER.contains(&key.as_str())
        {
            return Self::of(inner);
        }
        if object.values().all(Value::is_boolean) {
            let ticked = object.iter().filter(|(_, ticked)| **ticked == Value::Bool(true));
            return set(ticked.map(|(name, _)| name.clone()).collect());
        }
        Self::Structure
    }
}

/// A set of choices as one label: each once, in the order of their names.
pub(crate) fn set(mut names: Vec<String>) -> Answered {
    names.sort_by_cached_key(|name| (alike(name), name.clone()));
    names.dedup();
    if names.is_empty() { Answered::Nothing } else { Answered::Label(names.join(AND)) }
}

/// A text, or several in the order in which they were written.
pub(crate) fn text_of(value: &Value) -> Answered {
    let texts: Vec<&str> = match value {
        Value::Array(list) if list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).collect()
        }
        Value::String(text) => vec![text],
        other => return Answered::of(other),
    };
    let texts: Vec<&str> =
        texts.into_iter().map(str::trim).filter(|text| !says_nothing(text)).collect();
    if texts.is_empty() { Answered::Nothing } else { Answered::Label(texts.join(AND)) }
}

/// A path through a taxonomy: names and nothing else.
fn steps(path: &[Value]) -> Option<String> {
    let names: Option<Vec<&str>> = path.iter().map(Value::as_str).collect();
    names.map(|names| names.join(UNDER))
}

/// `[0, 3, "PER"]`, as doccano writes what was marked.
fn is_span(list: &[Value]) -> bool {
    matches!(list, [Value::Number(_), Value::Number(_), _, ..])
}

/// Whether an object says where in a text, a picture or a recording it is.
pub(crate) fn has_place(object: &Map<String, Value>) -> bool {
    const PAIRS: [[&str; 2]; 9] = [
        ["left", "top"],
        ["start", "end"],
        ["startOffset", "endOffset"],
        ["start_offset", "end_offset"],
        ["begin", "end"],
        ["x", "y"],
        ["points", "closed"],
        ["format", "rle"],
        ["ranges", "sequence"],
    ];
    PAIRS.iter().any(|pair| pair.iter().all(|key| object.contains_key(*key)))
}

/// The list or object that a cell is.
pub(crate) fn structure(cell: &str) -> Option<Value> {
    let brackets = [('[', ']'), ('{', '}'), ('(', ')')];
    let in_brackets = brackets.iter().any(|(a, b)| cell.starts_with(*a) && cell.ends_with(*b));
    if !in_brackets {
        return None;
    }
    serde_json::from_str(cell).ok().or_else(|| python(cell))
}

/// The list, set or dictionary that a cell is as Python writes it: `['b', "a'b", None]`, `{'b', 'a'}`.
fn python(cell: &str) -> Option<Value> {
    let quote = cell.trim_start_matches(['[', '{', '(']).trim_start().chars().next()?;
    if !matches!(quote, '\'' | '"') && !["None", "True", "False"].iter().any(|w| cell.contains(w)) {
        return None;
    }
    let mut json = String::with_capacity(cell.len() + 8);
    let mut rest = cell;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '\'' | '"') {
            let mut text = String::new();
            let mut letters = rest[1..].char_indices();
            let end = loop {
                match letters.next()? {
                    (at, letter) if letter == c => break at + 2,
                    (_, '\\') => match letters.next()?.1 {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        escaped @ ('\'' | '"' | '\\') => text.push(escaped),
                        _ => return None,
                    },
                    (_, letter) => text.push(letter),
                }
            };
            json.push_str(&Value::from(text).to_string());
            rest = &rest[end..];
        } else if let Some((word, plain)) = [("None", "null"), ("True", "true"), ("False", "false")]
            .into_iter()
            .find(|(word, _)| rest.starts_with(word))
        {
            json.push_str(plain);
            rest = &rest[word.len()..];
        } else {
            json.push(match c {
                '(' => '[',
                ')' => ']',
                c => c,
            });
            rest = &rest[c.len_utf8()..];
        }
    }
    let as_set = |json: &str| Some(format!("[{}]", json.strip_prefix('{')?.strip_suffix('}')?));
    let value = serde_json::from_str(&json).ok();
    value.or_else(|| serde_json::from_str(&as_set(&json)?).ok())
}

/// Whether a label or a text says that there is none.
pub(crate) fn says_nothing(text: &str) -> bool {
    // Long texts are no words of programs; the test is made for every row of a slow file, and few texts
    // begin like one.
    let may_be_word = || {
        let first = text.trim_start().bytes().next().map(|first| first.to_ascii_lowercase());
        first.is_some_and(|first| matches!(first, b'n' | b'#' | b'<' | b'\\') || !first.is_ascii())
    };
    text.len() <= 16 && (is_empty(text) || may_be_word() && NOTHING.contains(&alike(text).as_str()))
}

/// Whether a name is what a spreadsheet writes where it could not compute one. Words for nothing may be
/// names: some people are called Null.
pub(crate) fn is_spreadsheet_error(name: &str) -> bool {
    name.trim_start().starts_with(ERROR) && says_nothing(name)
}

/// Whether there is nothing but brackets, quotes and white space.
fn is_empty(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || EMPTY.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn label(text: &str) -> Answered {
        Answered::Label(text.into())
    }

    #[test]
    fn a_set_is_one_label_whatever_its_order_and_form() {
        let expected = label("café; über");
        for cell in [
            r#"["über", "café"]"#,
            r#"["caf\u00e9", "\u00fcber"]"#,
            r#"{"choices": ["\u00fcber", "caf\u00e9"]}"#,
            r#"{"über": true, "café": true, "no": false}"#,
            r#"["über", "café", "über", null]"#,
            "['über', 'café']",
            "{'über', 'café'}",
            "{'choices': ['café', None, 'über']}",
            "('über', 'café')",
        ] {
            assert_eq!(Answered::in_cell(cell), expected, "{cell}");
        }
        assert_eq!(Answered::of(&json!(["B", "A"])), label("A; B"));
        assert_eq!(Answered::of(&json!([["z", "y"], ["a"]])), label("a; z > y"));
        assert_eq!(Answered::of(&json!({"selected": "left"})), label("left"));
        assert_eq!(Answered::of(&json!([{"rating": 4}])), label("4"));
    }

    #[test]
    fn texts_in_brackets_are_texts() {
        for text in ["[draft] a text", "{a} and {b}", "[1] and [2]", "[one two]", "['a' b]", "['a"]
        {
            assert_eq!(Answered::in_cell(text), label(text));
        }
        assert_eq!(Answered::of(&json!(["[a]", "b"])), label("[a]; b"));
        assert_eq!(Answered::in_cell(r#"{"deep": {"a": 1}}"#), label(r#"{"deep": {"a": 1}}"#));
        assert_eq!(Answered::in_cell(r#""caf\u00e9""#), label("café"));
        assert_eq!(Answered::in_cell(r#""good" and "bad""#), label(r#""good" and "bad""#));
        assert_eq!(Answered::of(&json!({"deep": {"a": 1}})), Answered::Structure);
    }

    #[test]
    fn nothing_is_nothing_in_every_form() {
        for cell in ["", " ", "{}", "[]", "[null]", "\"\""] {
            assert_eq!(Answered::in_cell(cell), Answered::Nothing, "{cell}");
        }
        for word in ["NaN", "nan", "NULL", "n/a", "N/A", "#N/A", "<NA>", "\u{ff2e}\u{ff41}\u{ff2e}"]
        {
            assert_eq!(Answered::in_cell(word), Answered::Word(word.into()));
            assert!(says_nothing(word), "{word}");
        }
        for value in [json!(null), json!([]), json!({}), json!([null, ""]), json!({"choices": []})]
        {
            assert_eq!(Answered::of(&value), Answered::Nothing, "{value}");
        }
        for word in ["none", "NA", "no", "0", "-", "unknown", "null hypothesis", "false"] {
            assert_eq!(Answered::in_cell(word), label(word));
        }
    }

    #[test]
    fn errors_of_spreadsheets_are_no_names_and_words_for_nothing_may_be() {
        for error in ["#REF!", " #ref! ", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!"] {
            assert!(is_spreadsheet_error(error), "{error}");
        }
        for name in ["Null", "nan", "n/a", "#1", "#42", "#REF", "", "p#REF!"] {
            assert!(!is_spreadsheet_error(name), "{name}");
        }
    }

    #[test]
    fn marked_places_are_spans() {
        for value in [
            json!([[0, 3, "PER"]]),
            json!([{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}]),
            json!({"x": 1, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["cat"]}),
            json!([{"start_offset": 0, "end_offset": 3, "label": "PER"}]),
        ] {
            assert_eq!(Answered::of(&value), Answered::Spans, "{value}");
            assert_eq!(Answered::in_cell(&value.to_string()), Answered::Spans, "{value}");
        }
    }
}
