//! What the codes in a string of a PDF say and how wide they are.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object, dictionary};

use super::MOST_BYTES;

/// Width of a glyph of which the file says nothing, in thousandths of the font's size.
const USUAL_WIDTH: f32 = 500.0;

/// A font of a page.
pub(super) struct Font<'a> {
    /// What the file says its codes mean.
    map: Option<Encoding<'static>>,
    /// What codes mean by the names of their glyphs, where the map has none.
    named: HashMap<u32, String>,
    /// What codes mean by their places in a known table, where nothing else is known.
    table: Option<Encoding<'a>>,
    /// Bytes of a code.
    code_bytes: usize,
    /// In thousandths of the size of the font.
    widths: HashMap<u32, f32>,
    other_width: f32,
    /// What a width is multiplied by.
    unit: f32,
    /// What codes say, as far as they were asked for.
    known: HashMap<u32, String>,
}

/// One code of a string.
pub(super) struct Glyph {
    pub(super) text: String,
    /// In units of the size of the font.
    pub(super) width: f32,
    /// Whether it is the code that word spacing widens.
    pub(super) is_space: bool,
}

impl<'a> Font<'a> {
    pub(super) fn new(font: &'a Dictionary, document: &'a Document) -> Self {
        let name = |entry: &[u8]| font.get_deref(entry, document).and_then(Object::as_name).ok();
        let composite = name(b"Subtype") == Some(b"Type0");
        let mut made = Self {
            map: by_map(font, document),
            table: font.get_font_encoding_with_limit(document, MOST_BYTES).ok(),
            named: if composite { HashMap::new() } else { by_names(font, document) },
            code_bytes: if composite { 2 } else { 1 },
            widths: HashMap::new(),
            other_width: if composite { 1000.0 } else { USUAL_WIDTH },
            unit: 0.001,
            known: HashMap::new(),
        };
        if composite {
            made.composite_widths(font, document);
        } else {
            made.simple_widths(font, document);
        }
        if name(b"Subtype") == Some(b"Type3")
            && let Some(unit) = numbers(font, b"FontMatrix", document).first()
            && unit.is_finite()
        {
            made.unit = unit.abs();
        }
        made
    }

    fn simple_widths(&mut self, font: &Dictionary, document: &Document) {
        let first = integer(font, b"FirstChar", document).unwrap_or(0);
        let widths = numbers(font, b"Widths", document);
        self.widths.extend((first..).zip(widths));
        let descriptor = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict);
        let missing = descriptor
            .and_then(|d| d.get_deref(b"MissingWidth", document))
            .and_then(Object::as_float);
        if let Ok(width) = missing {
            self.other_width = width;
        }
    }

    /// `first [w w w]` or `first last w`, ISO 32000-1, 9.7.4.3.
    fn composite_widths(&mut self, font: &Dictionary, document: &Document) {
        let descendants = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let descendant = descendants.ok().and_then(|fonts| fonts.first());
        let descendant = descendant.and_then(|font| followed(font, document).as_dict().ok());
        let Some(descendant) = descendant else { return };
        if let Ok(width) = descendant.get_deref(b"DW", document).and_then(Object::as_float) {
            self.other_width = width;
        }
        let widths = descendant.get_deref(b"W", document).and_then(Object::as_array);
        let mut entries = widths.map(Vec::as_slice).unwrap_or_default().iter();
        while let (Some(first), Some(second)) = (entries.next(), entries.next()) {
            let Some(first) = code(followed(first, document)) else { return };
            match followed(second, document) {
                Object::Array(widths) => {
                    let widths =
                        widths.iter().filter_map(|w| followed(w, document).as_float().ok());
                    self.widths.extend((first..).zip(widths));
                }
                last => {
                    let width = entries.next().and_then(|w| followed(w, document).as_float().ok());
                    let (Some(last), Some(width)) = (code(last), width) else { return };
                    // Codes have two bytes.
                    self.widths.extend((first..=last.min(0xffff)).map(|code| (code, width)));
                }
            }
        }
    }

    /// The glyphs of a string.
    pub(super) fn glyphs(&mut self, string: &[u8]) -> Vec<Glyph> {
        string
            .chunks(self.code_bytes)
            .map(|bytes| {
                let code = bytes.iter().fold(0, |code, &byte| code << 8 | u32::from(byte));
                let (map, table) = (self.map.as_ref(), self.table.as_ref());
                let (known, named) = (&mut self.known, self.named.get(&code));
                let text = known.entry(code).or_insert_with(|| said(map, named, table, bytes));
                let width = self.widths.get(&code).copied().unwrap_or(self.other_width) * self.unit;
                Glyph { text: text.clone(), width, is_space: bytes == [b' '] }
            })
            .collect()
    }
}

/// The font's own map to Unicode. It goes before the names of its glyphs, which some programs make up.
fn by_map(font: &Dictionary, document: &Document) -> Option<Encoding<'static>> {
    let mut mapped = Dictionary::new();
    mapped.set("Type", Object::Name(b"Font".to_vec()));
    mapped.set("ToUnicode", font.get(b"ToUnicode").ok()?.clone());
    match mapped.get_font_encoding_with_limit(document, MOST_BYTES) {
        Ok(Encoding::UnicodeMapEncoding(map)) => Some(Encoding::UnicodeMapEncoding(map)),
        _ => None,
    }
}

/// What a code says by the first that has it: the file's own map, the name of its glyph, a known table.
fn said(
    map: Option<&Encoding<'_>>,
    named: Option<&String>,
    table: Option<&Encoding<'_>>,
    code: &[u8],
) -> String {
    let by = |encoding: Option<&Encoding<'_>>| encoding?.bytes_to_string(code).ok();
    let texts = [by(map), named.cloned(), by(table)];
    let is_known = |text: &String| !text.is_empty() && !text.contains(char::REPLACEMENT_CHARACTER);
    let known = texts.into_iter().flatten().find(is_known);
    known.unwrap_or_else(|| char::REPLACEMENT_CHARACTER.to_string())
}

/// What the codes of a simple font mean by the names of their glyphs: those of the font program, which hold
/// where the file names no table, as in formulas set by TeX, and over them those of the file.
fn by_names(font: &Dictionary, document: &Document) -> HashMap<u32, String> {
    let encoding = font.get_deref(b"Encoding", document).ok();
    let listed = encoding.and_then(|encoding| encoding.as_dict().ok());
    let has_table = encoding.is_some_and(|encoding| encoding.as_name().is_ok())
        || listed.is_some_and(|listed| listed.has(b"BaseEncoding"));
    let mut named = HashMap::new();
    if !has_table && let Some(program) = program(font, document) {
        named.extend(of_program(&program));
    }
    let differences =
        listed.and_then(|listed| listed.get_deref(b"Differences", document).ok()?.as_array().ok());
    let mut next = 0;
    for entry in differences.into_iter().flatten() {
        match followed(entry, document) {
            Object::Name(name) => {
                match of_name(name) {
                    Some(text) => named.insert(next, text),
                    None => named.remove(&next),
                };
                next = next.saturating_add(1);
            }
            number => next = code(number).unwrap_or(next),
        }
    }
    named
}

/// The program of a Type 1 font, as far as it can be read without its key.
fn program(font: &Dictionary, document: &Document) -> Option<Vec<u8>> {
    let descriptor = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict).ok()?;
    let stream = descriptor.get_deref(b"FontFile", document).and_then(Object::as_stream).ok()?;
    let mut program = stream.get_plain_content_with_limit(MOST_BYTES).ok()?;
    let end = program.windows(5).position(|five| five == b"eexec").unwrap_or(program.len());
    program.truncate(end);
    Some(program)
}

/// `/Encoding 256 array ... dup 102 /braceleft put ... def`, Adobe Type 1 Font Format, 2.2.
fn of_program(program: &[u8]) -> HashMap<u32, String> {
    let text = String::from_utf8_lossy(program).replace('/', " /");
    let words = text.split_ascii_whitespace().skip_while(|&word| word != "/Encoding");
    let words: Vec<&str> = words.take_while(|&word| word != "def").collect();
    let entries = words.windows(3).filter_map(|three| match three {
        ["dup", code, name] => {
            Some((code.parse().ok()?, of_name(name.strip_prefix('/')?.as_bytes())?))
        }
        _ => None,
    });
    entries.collect()
}

/// The letters that the name of a glyph stands for, by the Adobe Glyph List Specification.
fn of_name(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?.split('.').next()?;
    name.split('_').map(of_part).collect()
}

fn of_part(part: &str) -> Option<String> {
    let letter = |digits: &str| {
        let is_code = digits.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
        u32::from_str_radix(digits, 16).ok().filter(|_| is_code).and_then(char::from_u32)
    };
    if let Some(text) = of_glyph(part) {
        return Some(text);
    }
    match (part.strip_prefix("uni"), part.strip_prefix('u')) {
        (Some(digits), _) if !digits.is_empty() && digits.len() % 4 == 0 => {
            (0..digits.len()).step_by(4).map(|at| letter(digits.get(at..at + 4)?)).collect()
        }
        (_, Some(digits)) if (4..=6).contains(&digits.len()) => letter(digits).map(String::from),
        _ => None,
    }
}

/// By the list of `lopdf`, which it shows only through the encoding of a font.
fn of_glyph(name: &str) -> Option<String> {
    let differences = vec![Object::Integer(0), Object::Name(name.into())];
    let encoding = dictionary! { "Type" => "Encoding", "Differences" => differences };
    let font = dictionary! { "Type" => "Font", "Encoding" => encoding };
    let document = Document::new();
    let encoding = font.get_font_encoding_with_limit(&document, MOST_BYTES).ok()?;
    encoding.bytes_to_string(&[0]).ok().filter(|text| !text.is_empty())
}

/// What a reference leads to.
pub(super) fn followed<'a>(object: &'a Object, document: &'a Document) -> &'a Object {
    document.dereference(object).map_or(&Object::Null, |(_, object)| object)
}

fn code(object: &Object) -> Option<u32> {
    object.as_i64().ok().and_then(|code| u32::try_from(code).ok())
}

fn integer(dictionary: &Dictionary, entry: &[u8], document: &Document) -> Option<u32> {
    code(dictionary.get_deref(entry, document).ok()?)
}

/// The numbers of an array.
pub(super) fn numbers(dictionary: &Dictionary, entry: &[u8], document: &Document) -> Vec<f32> {
    let array = dictionary.get_deref(entry, document).and_then(Object::as_array);
    let array = array.map(Vec::as_slice).unwrap_or_default().iter();
    array.map(|number| followed(number, document).as_float().unwrap_or(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_glyph_says_its_letters() {
        // The examples of the Adobe Glyph List Specification, section 2.
        for (name, letters) in [
            ("braceleft", "{"),
            ("Lcommaaccent_uni20AC0308_u1040C.alternate", "\u{13b}\u{20ac}\u{308}\u{1040c}"),
            ("gamma", "\u{3b3}"),
            ("uni013B", "\u{13b}"),
            ("a.sc", "a"),
        ] {
            assert_eq!(of_name(name.as_bytes()).as_deref(), Some(letters), "{name}");
        }
        for name in ["foo", ".notdef", "union1", "uD800", ""] {
            assert_eq!(of_name(name.as_bytes()), None, "{name}");
        }
    }
}
