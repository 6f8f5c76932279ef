//! What the codes in a string of a PDF say and how wide they are.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

use super::MOST_BYTES;

/// Width of a glyph of which the file says nothing, in thousandths of the font's size.
const USUAL_WIDTH: f32 = 500.0;

/// A font of a page.
pub(super) struct Font<'a> {
    /// By what the file says its codes mean, then by their places in a known table.
    encodings: Vec<Encoding<'a>>,
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
        let encodings = by_map(font, document)
            .into_iter()
            .chain(font.get_font_encoding_with_limit(document, MOST_BYTES).ok())
            .collect();
        let name = |entry: &[u8]| font.get_deref(entry, document).and_then(Object::as_name).ok();
        let composite = name(b"Subtype") == Some(b"Type0");
        let mut made = Self {
            encodings,
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
                let encodings = &self.encodings;
                let text = self.known.entry(code).or_insert_with(|| said(encodings, bytes));
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

/// What a code says by the first table that has it.
fn said(encodings: &[Encoding<'_>], code: &[u8]) -> String {
    let texts = encodings.iter().filter_map(|encoding| encoding.bytes_to_string(code).ok());
    let known = |text: &String| !text.is_empty() && !text.contains(char::REPLACEMENT_CHARACTER);
    let mut texts: Vec<String> = texts.collect();
    match texts.iter().position(known) {
        Some(at) => texts.swap_remove(at),
        None => char::REPLACEMENT_CHARACTER.to_string(),
    }
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
