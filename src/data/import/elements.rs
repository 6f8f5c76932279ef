//! The objects of a JSON file, one after the other, whatever they are wrapped in.
//!
//! An export of two gigabytes is one JSON array; only one of its elements is in memory as a value at
//! a time.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use super::bounded::{Bounded, Budget};
use crate::data::rows::MAX_RECORD_BYTES;

/// Keys under which systems wrap the list that matters.
const WRAPPERS: [&str; 8] =
    ["notes", "reviews", "papers", "data", "results", "records", "items", "rows"];

/// An object of a JSON file.
pub(super) type Object = Map<String, Value>;

/// Where an element stands: its line in JSON lines, else its number in the list, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(pub(super) u64);

/// Why the elements end before the file does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// Elements that were read whole before it.
    pub(super) after: u64,
    /// What the reader said, without a quotation of the file.
    pub(super) message: String,
}

/// Hands every object of a JSON array, of a wrapped array, of one object or of JSON lines to
/// `visit`, which says whether to go on.
///
/// Elements that are no objects are skipped and counted in the result.
///
/// # Errors
///
/// [`Broken`] where the JSON breaks off; what came before was handed over.
pub(super) fn each_object(
    bytes: &[u8],
    visit: &mut dyn FnMut(Place, Object) -> bool,
) -> Result<u64, Broken> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let rest = &bytes[start..];
    if is_lines(rest) {
        return each_line(bytes, visit);
    }
    if !matches!(rest.first(), Some(b'{' | b'[')) {
        return Err(Broken { after: 0, message: "it is no JSON".into() });
    }
    let budget = Budget::of(rest.len());
    let mut state = State { visit, budget: &budget, count: 0, skipped: 0, stopped: false };
    let mut deserializer = serde_json::Deserializer::from_slice(rest);
    let read = deserializer.deserialize_any(Root { state: &mut state });
    let ended = if state.stopped { Ok(()) } else { read.and_then(|()| deserializer.end()) };
    match ended {
        Ok(()) => Ok(state.skipped),
        Err(error) => Err(Broken { after: state.count, message: without_place(&error) }),
    }
}

/// The only object of a file, whatever lists it holds.
pub(super) fn only_object(bytes: &[u8]) -> Result<Object, Broken> {
    let budget = Budget::of(bytes.len());
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Bounded(&budget).deserialize(&mut reader);
    let message = match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => "it is no object".to_owned(),
        Err(error) => without_place(&error),
    };
    Err(Broken { after: 0, message })
}

/// A first line that is a whole object, with another one after it, is JSON lines.
pub(super) fn is_lines(bytes: &[u8]) -> bool {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return false;
    }
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !blank(line));
    let first = lines.next().unwrap_or_default();
    let whole = serde_json::from_slice::<IgnoredAny>(first).is_ok();
    whole && lines.next().is_some()
}

fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn each_line(bytes: &[u8], visit: &mut dyn FnMut(Place, Object) -> bool) -> Result<u64, Broken> {
    let mut skipped = 0;
    let budget = Budget::of(bytes.len());
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if blank(line) {
            continue;
        }
        let number = index as u64 + 1;
        if line.len() > MAX_RECORD_BYTES {
            let message = format!("line {number} has {} bytes", line.len());
            return Err(Broken { after: index as u64, message });
        }
        budget.renew();
        let mut reader = serde_json::Deserializer::from_slice(line);
        let value = Bounded(&budget).deserialize(&mut reader);
        match value.and_then(|value| reader.end().map(|()| value)) {
            Ok(Value::Object(object)) => {
                if !visit(Place(number), object) {
                    break;
                }
            }
            Ok(_) => skipped += 1,
            Err(error) => {
                let message = format!("line {number}: {}", without_place(&error));
                return Err(Broken { after: index as u64, message });
            }
        }
    }
    Ok(skipped)
}

/// serde's message ends in "at line N column M", which is of use, and never quotes the file.
fn without_place(error: &serde_json::Error) -> String {
    error.to_string()
}

struct State<'a> {
    visit: &'a mut dyn FnMut(Place, Object) -> bool,
    budget: &'a Budget,
    count: u64,
    skipped: u64,
    stopped: bool,
}

/// The root: a list, or an object that may wrap one.
struct Root<'a, 'b> {
    state: &'a mut State<'b>,
}

impl<'de> Visitor<'de> for Root<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array or object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<(), A::Error> {
        List { state: self.state }.visit_seq(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut object = Object::new();
        let mut wrapped = false;
        while let Some(key) = entries.next_key::<String>()? {
            if !wrapped && WRAPPERS.contains(&key.as_str()) {
                match entries.next_value_seed(Wrapped { state: self.state })? {
                    None => wrapped = true,
                    Some(value) => {
                        object.insert(key, value);
                    }
                }
            } else {
                // What stands around the list is not of use.
                if wrapped {
                    entries.next_value::<IgnoredAny>()?;
                } else {
                    object.insert(key, entries.next_value_seed(Bounded(self.state.budget))?);
                }
            }
            if self.state.stopped {
                return Ok(());
            }
        }
        if !wrapped {
            self.state.count += 1;
            (self.state.visit)(Place(1), object);
        }
        Ok(())
    }
}

/// The elements of a list.
struct List<'a, 'b> {
    state: &'a mut State<'b>,
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        loop {
            self.state.budget.renew();
            let element = elements.next_element_seed(Bounded(self.state.budget))?;
            let Some(element) = element else { break };
            self.state.count += 1;
            let Value::Object(object) = element else {
                self.state.skipped += 1;
                continue;
            };
            if !(self.state.visit)(Place(self.state.count), object) {
                self.state.stopped = true;
                // Two gigabytes that nobody looks at are not read.
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// The value under a key that may wrap the list: `None` if it was a list of objects and handed over,
/// else the value.
struct Wrapped<'a, 'b> {
    state: &'a mut State<'b>,
}

impl<'de> DeserializeSeed<'de> for Wrapped<'_, '_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Wrapped<'_, '_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Self::Value, A::Error> {
        List { state: self.state }.visit_seq(elements)?;
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut object = Object::new();
        while let Some(key) = entries.next_key::<String>()? {
            object.insert(key, entries.next_value_seed(Bounded(self.state.budget))?);
        }
        Ok(Some(Value::Object(object)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Value::from(text)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Result<Vec<(u64, String)>, Broken> {
        let mut found = Vec::new();
        each_object(text.as_bytes(), &mut |place, object| {
            found.push((place.0, object["id"].to_string()));
            true
        })?;
        Ok(found)
    }

    #[test]
    fn arrays_lines_wrapped_arrays_and_single_objects_give_the_same_objects() {
        let expected = vec![(1, "1".to_owned()), (2, "2".to_owned())];
        assert_eq!(ids("[{\"id\":1},{\"id\":2}]").unwrap(), expected);
        assert_eq!(ids(" {\"id\":1}\n{\"id\":2}\n").unwrap(), expected);
        assert_eq!(
            ids("{\"count\":2,\"notes\":[{\"id\":1},{\"id\":2}],\"more\":[3]}").unwrap(),
            expected
        );
        assert_eq!(ids("{\n \"id\": 1\n}").unwrap(), expected[..1]);
        // A line of its own in the file, blank lines counted.
        assert_eq!(ids("{\"id\":1}\n\n{\"id\":2}").unwrap()[1].0, 3);
    }

    #[test]
    fn what_is_no_object_is_counted_and_a_wrapper_may_hold_no_list() {
        let skipped = each_object(b"[1, {\"id\": 1}, \"x\"]", &mut |_, _| true);
        assert_eq!(skipped, Ok(2));
        assert_eq!(ids("{\"id\":7,\"data\":{\"a\":1}}").unwrap(), [(1, "7".to_owned())]);
    }

    #[test]
    fn a_file_that_breaks_off_says_after_how_many() {
        let error = ids("[{\"id\":1},{\"id\":2},{\"id\":").unwrap_err();
        assert_eq!(error.after, 2);
        assert!(!error.message.contains("id"), "{error:?}");
        assert!(each_object(b"[{}] rubbish", &mut |_, _| true).is_err());
    }

    #[test]
    fn stopping_early_reads_no_further_value() {
        let mut seen = 0;
        let read = each_object(b"[{\"id\":1},{\"id\":2}]", &mut |_, _| {
            seen += 1;
            false
        });
        assert_eq!((read.is_ok(), seen), (true, 1));
    }
}
