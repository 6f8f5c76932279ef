//! Characters of a file as UTF-8: byte order marks, UTF-16, and Windows-1252 where UTF-8 fails.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::data::plain::{LEAST_PART_BYTES, split_at_lines};

/// What the bytes of a file were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 with a byte order mark.
    Utf16,
    /// Not UTF-8, so taken for Windows-1252: every byte is a character there.
    Windows1252,
}

/// The content as UTF-8 without a byte order mark, and what it was.
///
/// Binary files (with zero bytes that UTF-16 does not explain) are handed back as they are.
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, [u8]>, Charset) {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return (Cow::Borrowed(rest), Charset::Utf8);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return (Cow::Owned(utf16(rest, u16::from_le_bytes)), Charset::Utf16);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return (Cow::Owned(utf16(rest, u16::from_be_bytes)), Charset::Utf16);
    }
    if is_utf8(bytes) {
        return (Cow::Borrowed(bytes), Charset::Utf8);
    }
    if bytes.contains(&0) {
        return (Cow::Borrowed(bytes), Charset::Utf8);
    }
    (Cow::Owned(windows_1252(bytes)), Charset::Windows1252)
}

/// Whether a text seems to be UTF-16 without a byte order mark: one of the two bytes of each of its first
/// characters is zero, and the other is not.
pub(super) fn seems_utf16(bytes: &[u8]) -> bool {
    /// Characters that are looked at: there is a header.
    const LOOKED_AT: usize = 16;
    let (pairs, _) = bytes.as_chunks::<2>();
    let pairs = &pairs[..pairs.len().min(LOOKED_AT)];
    let are_ascii = |zero: usize| {
        pairs.iter().all(|pair| pair[zero] == 0 && pair[1 - zero].is_ascii() && pair[1 - zero] > 8)
    };
    pairs.len() == LOOKED_AT && (are_ascii(0) || are_ascii(1))
}

/// On all cores.
fn is_utf8(bytes: &[u8]) -> bool {
    let parts = split_at_lines(bytes, rayon::current_num_threads(), LEAST_PART_BYTES);
    parts.into_par_iter().all(|part| std::str::from_utf8(part).is_ok())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into_bytes()
}

/// The characters of bytes 0x80 to 0x9f; the five that Windows-1252 leaves open are control
/// characters, as browsers read them (WHATWG Encoding Standard).
const UPPER_CONTROLS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The byte of a character in Windows-1252; `None` where it has none.
#[cfg(feature = "pdf")]
pub(crate) fn windows_1252_of(character: char) -> Option<u8> {
    const UPPER: std::ops::RangeInclusive<u8> = 0x80..=0x9f;
    match UPPER.zip(UPPER_CONTROLS).find(|(_, upper)| *upper == character) {
        Some((byte, _)) => Some(byte),
        None => u8::try_from(u32::from(character)).ok().filter(|byte| !UPPER.contains(byte)),
    }
}

fn windows_1252(bytes: &[u8]) -> Vec<u8> {
    let text: String = bytes
        .iter()
        .map(|&byte| match byte {
            0x80..=0x9f => UPPER_CONTROLS[usize::from(byte - 0x80)],
            other => char::from(other),
        })
        .collect();
    text.into_bytes()
}

/// The bytes after a line such as `sep=;`, which spreadsheets write, and the separator it names.
pub(super) fn without_separator_line(bytes: &[u8]) -> (&[u8], Option<u8>) {
    let Some(rest) = bytes.strip_prefix(b"sep=").or_else(|| bytes.strip_prefix(b"SEP=")) else {
        return (bytes, None);
    };
    let Some((&separator, rest)) = rest.split_first() else { return (bytes, None) };
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    match rest.strip_prefix(b"\n") {
        Some(rest) => (rest, Some(separator)),
        None => (bytes, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Charset) {
        let (decoded, charset) = decoded(bytes);
        (String::from_utf8(decoded.into_owned()).unwrap(), charset)
    }

    #[test]
    fn characters_are_the_same_in_every_encoding() {
        // "Müller – 5 €" by the tables of Unicode and Windows-1252.
        let expected = "Müller – 5 €".to_owned();
        assert_eq!(text("Müller – 5 €".as_bytes()), (expected.clone(), Charset::Utf8));
        assert_eq!(text("\u{feff}Müller – 5 €".as_bytes()), (expected.clone(), Charset::Utf8));
        assert_eq!(text(b"M\xfcller \x96 5 \x80"), (expected.clone(), Charset::Windows1252));
        let wide = |order: fn(u16) -> [u8; 2], mark: u16| -> Vec<u8> {
            std::iter::once(mark).chain(expected.encode_utf16()).flat_map(order).collect()
        };
        assert_eq!(text(&wide(u16::to_le_bytes, 0xfeff)), (expected.clone(), Charset::Utf16));
        assert_eq!(text(&wide(u16::to_be_bytes, 0xfeff)), (expected, Charset::Utf16));
    }

    #[test]
    fn utf_16_without_a_mark_is_told_by_its_zero_bytes() {
        let text = "paper,reviewer,text\n1,Müller,gut\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert!(seems_utf16(&little) && seems_utf16(&big));
        assert!(!seems_utf16(text.as_bytes()) && !seems_utf16(&little[..20]));
        assert!(!seems_utf16(&[0; 64]), "that is no text");
        assert!(!seems_utf16(&[1, 0, 0, 0].repeat(16)), "those are numbers");
    }

    #[test]
    fn the_separator_line_of_spreadsheets_is_obeyed() {
        assert_eq!(without_separator_line(b"sep=;\r\na;b"), (&b"a;b"[..], Some(b';')));
        assert_eq!(without_separator_line(b"separate,b"), (&b"separate,b"[..], None));
    }
}
