//! JSON lines whose objects hold nothing but texts without escapes, numbers and truth values.

use memchr::memchr;

use super::{Take, complete, positions};
use crate::data::progress::Progress;
use crate::data::reading::Reader;
use crate::data::rows::{Column, MAX_RECORD_BYTES};

/// Digits up to which a whole number is written as it is read.
const EXACT_DIGITS: usize = 15;

/// Reads whole lines of UTF-8. `None` where a line is anything else.
pub(super) fn read<'a, const N: usize, T: Take<'a, N>>(
    bytes: &'a [u8],
    schema: &[Column; N],
    mut part: T,
    progress: &dyn Progress,
) -> Option<T> {
    let mut reading = Reader::new(progress);
    let mut pairs: Vec<(&[u8], Value)> = Vec::new();
    // The keys of the row before, and where among them the columns are.
    let mut keys: Vec<&[u8]> = Vec::new();
    let mut places = [None; N];
    let (mut start, mut lines) = (0, 0);
    while start < bytes.len() {
        let rest = &bytes[start..];
        let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        start += line.len() + 1;
        lines += 1;
        if line.len() > MAX_RECORD_BYTES {
            return None;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        object(line, &mut pairs)?;
        if !pairs.iter().map(|pair| pair.0).eq(keys.iter().copied()) {
            keys.clear();
            keys.extend(pairs.iter().map(|pair| pair.0));
            // A key that stands twice is for the slow way to explain.
            if (1..keys.len()).any(|place| keys[..place].contains(&keys[place])) {
                return None;
            }
            places = positions(&keys, schema)?;
        }
        let is_other = |place: &usize| matches!(pairs[*place].1, Value::Other);
        if places.iter().flatten().any(is_other) {
            return None;
        }
        let fields = places.map(|place| pairs[place?].1.name());
        part.take(complete(fields, schema)?, lines - 1)?;
        reading.at(start);
    }
    part.finish(lines)
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Text(&'a [u8]),
    /// A truth value or a whole number, as it is written.
    Word(&'a [u8]),
    Null,
    /// A number that can be written in several ways.
    Other,
}

impl<'a> Value<'a> {
    /// The value as a name, without white space around it; `None` if it is none.
    fn name(self) -> Option<&'a [u8]> {
        match self {
            Self::Text([first, .., last] | [first @ last])
                if !(first.is_ascii_graphic() && last.is_ascii_graphic()) =>
            {
                let Self::Text(text) = self else { return None };
                let text = std::str::from_utf8(text).ok()?.trim();
                (!text.is_empty()).then_some(text.as_bytes())
            }
            Self::Text(text) | Self::Word(text) => (!text.is_empty()).then_some(text),
            Self::Null | Self::Other => None,
        }
    }
}

/// Keys and values of the object that a line is.
fn object<'a>(line: &'a [u8], pairs: &mut Vec<(&'a [u8], Value<'a>)>) -> Option<()> {
    pairs.clear();
    let mut rest = expected(line, b'{')?;
    loop {
        let (key, after) = text(expected(rest, b'"')?)?;
        let (value, after) = value(spaceless(expected(after, b':')?))?;
        pairs.push((key, value));
        let after = spaceless(after);
        match after.split_first()? {
            (b',', after) => rest = after,
            (b'}', after) => return spaceless(after).is_empty().then_some(()),
            _ => return None,
        }
    }
}

fn value(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    for word in ["true", "false"] {
        if let Some(rest) = bytes.strip_prefix(word.as_bytes()) {
            return Some((Value::Word(&bytes[..word.len()]), rest));
        }
    }
    if let Some(rest) = bytes.strip_prefix(b"null") {
        return Some((Value::Null, rest));
    }
    if let Some(rest) = bytes.strip_prefix(b"\"") {
        let (text, rest) = text(rest)?;
        return Some((Value::Text(text), rest));
    }
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = digits(unsigned);
    let after = &unsigned[whole..];
    if whole == 0 || whole > EXACT_DIGITS || (unsigned[0] == b'0' && whole > 1) {
        return None;
    }
    if let Some(decimals) = after.strip_prefix(b".") {
        let count = digits(decimals);
        return (count > 0).then(|| (Value::Other, &decimals[count..]));
    }
    let written = &bytes[..bytes.len() - after.len()];
    // Minus zero is written otherwise.
    Some((if written == b"-0" { Value::Other } else { Value::Word(written) }, after))
}

/// A text up to its quote, and what follows; `None` with an escape or what would need one.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
    (bytes[end] == b'"').then(|| (&bytes[..end], &bytes[end + 1..]))
}

fn expected(bytes: &[u8], byte: u8) -> Option<&[u8]> {
    spaceless(bytes).strip_prefix(&[byte])
}

/// Without the white space of JSON at its start.
fn spaceless(bytes: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let count = bytes.iter().take_while(|byte| is_space(byte)).count();
    &bytes[count..]
}
