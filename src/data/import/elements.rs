//! The objects of a JSON file, one after the other, whatever they are wrapped in.
//!
//! An export of two gigabytes is one JSON array; only one of its elements is in memory as a value at
//! a time.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::bounded::{Bounded, Budget};
use super::wrapping::{KEY, Wrapping, wrapping};
use crate::data::rows::MAX_RECORD_BYTES;

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

/// Hands every object of a file to `visit`, which says whether to go on: the elements of a list,
/// wherever it is wrapped, the objects of lines or of texts one after the other, the values of an
/// object that names its rows (under [`KEY`]), or the only object.
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
    let rest = bytes.trim_ascii_start();
    if is_lines(rest) {
        return each_line(bytes, visit);
    }
    let wrapping = match rest.first() {
        Some(b'[') => Wrapping::List(Vec::new()),
        Some(b'{') => wrapping(rest).0,
        _ => return Err(Broken { after: 0, message: "it is no JSON".into() }),
    };
    if wrapping == Wrapping::Texts {
        return each_text(rest, visit);
    }
    let budget = Budget::of(rest.len());
    let mut state = State { visit, budget: &budget, count: 0, skipped: 0, stopped: false };
    let mut deserializer = serde_json::Deserializer::from_slice(rest);
    let state_of_walk = &mut state;
    let read = match &wrapping {
        Wrapping::List(path) => Walk { state: state_of_walk, path }.deserialize(&mut deserializer),
        Wrapping::Named => deserializer.deserialize_any(Named { state: state_of_walk }),
        _ => Bounded(&budget).deserialize(&mut deserializer).map(|value| {
            if let Value::Object(object) = value {
                state_of_walk.count += 1;
                (state_of_walk.visit)(Place(1), object);
            }
        }),
    };
    let ended = if state.stopped { Ok(()) } else { read.and_then(|()| deserializer.end()) };
    match ended {
        Ok(()) => Ok(state.skipped),
        Err(error) => Err(Broken { after: state.count, message: without_place(&error) }),
    }
}

/// JSON with `null` in the place of `NaN` and `Infinity`, which Python writes and JSON has not, and how
/// many there were.
pub(super) fn without_nan(bytes: Cow<'_, [u8]>) -> (Cow<'_, [u8]>, usize) {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    if !is_json || WORDS[1..].iter().all(|word| memchr::memmem::find(&bytes, word).is_none()) {
        return (bytes, 0);
    }
    let (mut mended, mut count) = (Vec::with_capacity(bytes.len()), 0);
    let (mut at, mut in_string) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        let word = (!in_string).then(|| WORDS.iter().find(|word| bytes[at..].starts_with(word)));
        if let Some(Some(word)) = word {
            mended.extend_from_slice(b"null");
            count += 1;
            at += word.len();
            continue;
        }
        if in_string && byte == b'\\' {
            mended.extend(bytes.get(at..at + 2).unwrap_or(&bytes[at..]));
            at += 2;
            continue;
        }
        in_string ^= byte == b'"';
        mended.push(byte);
        at += 1;
    }
    if count == 0 { (bytes, 0) } else { (Cow::Owned(mended), count) }
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

/// Texts of JSON that stand one after the other, each over any number of lines.
fn each_text(bytes: &[u8], visit: &mut dyn FnMut(Place, Object) -> bool) -> Result<u64, Broken> {
    let budget = Budget::of(bytes.len());
    let (mut rest, mut count, mut skipped) = (bytes, 0, 0);
    while !rest.is_empty() {
        budget.renew();
        let broken =
            |error: &serde_json::Error| Broken { after: count, message: without_place(error) };
        let mut texts = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        if let Some(Err(error)) = texts.next() {
            return Err(broken(&error));
        }
        let (text, after) = rest.split_at(texts.byte_offset());
        let mut reader = serde_json::Deserializer::from_slice(text);
        let value = Bounded(&budget).deserialize(&mut reader).map_err(|error| broken(&error))?;
        count += 1;
        let Value::Object(object) = value else {
            skipped += 1;
            rest = after.trim_ascii_start();
            continue;
        };
        if !visit(Place(count), object) {
            break;
        }
        rest = after.trim_ascii_start();
    }
    Ok(skipped)
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

impl State<'_> {
    fn take<E: serde::de::Error>(&mut self, element: Value) -> Result<(), E> {
        self.count += 1;
        let Value::Object(object) = element else {
            self.skipped += 1;
            return Ok(());
        };
        if (self.visit)(Place(self.count), object) {
            return Ok(());
        }
        self.stopped = true;
        // Two gigabytes that nobody looks at are not read.
        Err(E::custom("stopped"))
    }
}

/// Goes down a path of keys to the list whose elements are the rows.
struct Walk<'a, 'b> {
    state: &'a mut State<'b>,
    path: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array or object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        loop {
            self.state.budget.renew();
            let element = elements.next_element_seed(Bounded(self.state.budget))?;
            let Some(element) = element else { return Ok(()) };
            self.state.take(element)?;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            match self.path.split_first() {
                Some((first, path)) if *first == key => {
                    entries.next_value_seed(Walk { state: &mut *self.state, path })?;
                }
                // What stands around the list is not of use.
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The values of an object whose keys are the names of its rows.
struct Named<'a, 'b> {
    state: &'a mut State<'b>,
}

impl<'de> Visitor<'de> for Named<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            self.state.budget.renew();
            let mut row = Object::new();
            row.insert(KEY.to_owned(), key.into());
            if let Value::Object(object) = entries.next_value_seed(Bounded(self.state.budget))? {
                object.into_iter().filter(|(name, _)| name != KEY).for_each(|(name, value)| {
                    row.insert(name, value);
                });
            }
            self.state.take(Value::Object(row))?;
        }
        Ok(())
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
    fn what_is_no_number_is_null_but_not_in_texts() {
        let text = br#"{"a":NaN,"b":[-Infinity, Infinity],"c":"NaN \" Infinity"}"#;
        let (mended, count) = without_nan(Cow::Borrowed(text));
        let expected = r#"{"a":null,"b":[null, null],"c":"NaN \" Infinity"}"#;
        assert_eq!((std::str::from_utf8(&mended).unwrap(), count), (expected, 3));
        assert_eq!(without_nan(Cow::Borrowed(b"a,NaN")).1, 0);
    }

    #[test]
    fn rows_are_found_in_every_wrapping() {
        let one_two = vec![(1, "1".to_owned()), (2, "2".to_owned())];
        assert_eq!(ids("{\"details\":{\"replies\":[{\"id\":1},{\"id\":2}]}}").unwrap(), one_two);
        assert_eq!(ids("{\n\"id\":1\n}\n{\n\"id\":2}\n").unwrap(), one_two);
        assert_eq!(ids("{\"id\":1}{\"id\":2}").unwrap(), one_two);
        assert_eq!(ids("{\"a\":{\"task\":1,\"id\":1},\"b\":{\"id\":2}}").unwrap(), one_two);
        assert_eq!(ids("{\n\"id\":1\n}\n{\n\"id\":").unwrap_err().after, 1);
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
