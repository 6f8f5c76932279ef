//! Rows that are JSON objects, one a line.

use std::borrow::Cow;

use rayon::prelude::*;
use serde_json::Value;

use super::{Field, FileProblems, MAX_RECORD_BYTES, NamedColumn, Row, bad_utf8, too_long};
use crate::data::reading::Reader;
use crate::data::source::Source;
use crate::data::strict_json::parse_strictly;

/// Bytes of lines that are parsed before their rows are visited: enough for all threads, few to hold.
const BATCH_BYTES: usize = 4 << 20;

/// Rows of a file with one JSON object a line, which all threads parse; they are visited in their order.
pub(super) fn read_json_lines(
    source: &Source,
    schema: &[NamedColumn<'_>],
    problems: &mut FileProblems<'_>,
    visit: &mut dyn FnMut(&Row<'_>, &mut FileProblems<'_>),
) -> u64 {
    let mut rows = 0;
    let progress = source.listener.reading(source.bytes.len());
    let (mut reading, mut offset) = (Reader::new(&*progress), 0);
    let mut lines = source.bytes.split(|&byte| byte == b'\n').zip(1..).peekable();
    while lines.peek().is_some() {
        let mut room = BATCH_BYTES;
        let mut batch = Vec::new();
        while let Some(line) = lines.next_if(|_| room > 0) {
            room = room.saturating_sub(line.0.len() + 1);
            batch.push(line);
        }
        let parsed: Vec<Option<Result<_, String>>> =
            batch.par_iter().map(|(bytes, _)| parse_line(bytes)).collect();
        for ((bytes, number), parsed) in batch.into_iter().zip(parsed) {
            let line = source.place(number);
            reading.at(offset);
            offset += bytes.len() + 1;
            let object = match parsed {
                None => continue,
                Some(Ok(object)) => object,
                Some(Err(message)) => {
                    problems.report(Some(line), None, message);
                    if bytes.starts_with(b"[") {
                        // One JSON list over many lines would only repeat the same problem.
                        return rows;
                    }
                    continue;
                }
            };
            if let Some(fields) = pick_fields(object, schema, line, problems) {
                rows += 1;
                visit(&Row { line, fields: &fields }, problems);
            }
        }
    }
    rows
}

/// What one line has; `None` if it is blank.
fn parse_line(bytes: &[u8]) -> Option<Result<serde_json::Map<String, Value>, String>> {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let is_long = bytes.len() > MAX_RECORD_BYTES;
    Some(if is_long { Err(too_long(bytes.len())) } else { parse_object(bytes) })
}

/// The object of one line.
pub(super) fn parse_object(bytes: &[u8]) -> Result<serde_json::Map<String, Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| bad_utf8(error.valid_up_to()))?;
    match parse_strictly(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Array(_)) => {
            Err("is a JSON list; write one object a line (`jq -c '.[]'` does it)".into())
        }
        Ok(_) => Err("is not a JSON object; write one object a line".into()),
        Err(error) => {
            let hint = if error.is_data() {
                "; keep one of them"
            } else if text.starts_with('[') {
                "; write one object a line, not a list (`jq -c '.[]'` does it)"
            } else {
                "; write one complete object a line"
            };
            // serde's message ends in "at line 1 column N"; the line is ours, the column is its.
            let cause = error.to_string();
            let cause = cause.split(" at line ").next().unwrap_or_default();
            Err(format!("is not valid JSON at character {}: {cause}{hint}", error.column()))
        }
    }
}

fn pick_fields(
    mut object: serde_json::Map<String, Value>,
    schema: &[NamedColumn<'_>],
    line: u64,
    problems: &mut FileProblems<'_>,
) -> Option<Vec<Field<'static>>> {
    let mut fields = Vec::with_capacity(schema.len());
    let mut usable = true;
    for column in schema {
        let found: Vec<String> = object.keys().filter(|key| column.matches(key)).cloned().collect();
        if found.len() > 1 {
            let candidates: Vec<String> = found.iter().map(|key| format!("`{key}`")).collect();
            problems.report_ambiguous(line, column, &candidates);
            usable = false;
        }
        let value = found.first().and_then(|key| object.remove(key));
        if value.is_none() && column.required {
            let message = format!("the object lacks the key {}", column.names());
            problems.report(Some(line), Some(column.name), message);
            usable = false;
        }
        fields.push(match value {
            None | Some(Value::Null) => Field::Missing,
            Some(Value::String(text)) => Field::Text(Cow::Owned(text)),
            Some(value) => Field::Json(value),
        });
    }
    usable.then_some(fields)
}
