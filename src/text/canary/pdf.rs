//! Hides instructions in PDF files as text that is not painted.

use lopdf::{Dictionary as Entries, Document, Object, ObjectId, Stream};
use unicode_normalization::UnicodeNormalization;

use super::plan::{Instruction, instruction};
use crate::data::import::charset::windows_1252_of;
use crate::error::{ErrorKind, Kinded};

/// Why nothing was hidden in a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PdfError {
    /// It cannot be read as a PDF.
    #[error("it is no PDF that can be read: {0}")]
    Unreadable(#[source] lopdf::Error),
    /// It is encrypted, so that what is added would not be found.
    #[error("it is encrypted; save it without a password first")]
    Encrypted,
    /// It has no page.
    #[error("it has no page")]
    NoPage,
    /// It says of its pages what no PDF says.
    #[error("its page {page} is damaged: {source}")]
    Damaged {
        /// The page, from 1.
        page: u32,
        /// What is wrong.
        #[source]
        source: lopdf::Error,
    },
    /// A letter that the encoding of the hidden text has not.
    #[error(
        "`{letter}` in `{text}` cannot be hidden in a PDF; choose phrases in letters of Western European \
         languages (Windows-1252)"
    )]
    NoSuchLetter {
        /// The letter.
        letter: char,
        /// What it stands in.
        text: String,
    },
    /// It cannot be written.
    #[error("it cannot be written again: {0}")]
    Unwritable(#[from] std::io::Error),
}

impl Kinded for PdfError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// The file with an instruction on its first, its middle and its last page, each in other words, as text
/// that no viewer paints and that stands first on the page for whatever reads it.
///
/// The pages look as before: what is added comes before everything else on a page, in a graphics state
/// of its own, in the text rendering mode that paints nothing (ISO 32000-1, 9.3.6).
///
/// # Errors
///
/// [`PdfError`], with the page where it is one.
pub(crate) fn hidden_in_pdf(pdf: &[u8], phrases: &[String]) -> Result<Vec<u8>, PdfError> {
    let mut document = Document::load_mem(pdf).map_err(PdfError::Unreadable)?;
    if document.is_encrypted() || document.was_encrypted() {
        return Err(PdfError::Encrypted);
    }
    let pages: Vec<(u32, ObjectId)> = document.get_pages().into_iter().collect();
    if pages.is_empty() {
        return Err(PdfError::NoPage);
    }
    let mut font = Entries::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Subtype", Object::Name(b"Type1".to_vec()));
    font.set("BaseFont", Object::Name(b"Helvetica".to_vec()));
    font.set("Encoding", Object::Name(b"WinAnsiEncoding".to_vec()));
    let font = document.add_object(font);
    let mut places = vec![0, pages.len() / 2, pages.len() - 1];
    places.dedup();
    for (place, wording) in places.into_iter().zip(Instruction::EACH) {
        let (number, page) = pages[place];
        let text = in_pdf(&instruction(wording, phrases))?;
        write_on(&mut document, page, font, &text)
            .map_err(|source| PdfError::Damaged { page: number, source })?;
    }
    let mut written = Vec::new();
    document.save_to(&mut written)?;
    Ok(written)
}

/// A text in the encoding of the font that is used here.
///
/// # Errors
///
/// [`PdfError::NoSuchLetter`] for one that it lacks: hidden as another one, a phrase would be found in no review.
pub(crate) fn in_pdf(text: &str) -> Result<Vec<u8>, PdfError> {
    let byte = |letter: char| {
        let byte = windows_1252_of(letter).filter(|_| !letter.is_control());
        byte.ok_or_else(|| PdfError::NoSuchLetter { letter, text: text.to_owned() })
    };
    text.nfc().map(byte).collect()
}

/// The name of the font among the resources of a page, which no other program uses.
const FONT: &str = "CazCanary";

fn write_on(
    document: &mut Document,
    page: ObjectId,
    font: ObjectId,
    text: &[u8],
) -> Result<(), lopdf::Error> {
    // Another page may share the resources, so this one gets its own.
    let mut resources = document.get_or_create_resources(page)?.as_dict()?.clone();
    let mut fonts = match resources.get(b"Font") {
        Ok(Object::Reference(id)) => document.get_dictionary(*id)?.clone(),
        Ok(Object::Dictionary(fonts)) => fonts.clone(),
        _ => Entries::new(),
    };
    fonts.set(FONT, Object::Reference(font));
    resources.set("Font", fonts);
    let contents = document.get_dictionary(page)?.get(b"Contents").cloned();
    let mut streams = match contents {
        Ok(Object::Reference(id)) => match document.get_object(id)? {
            Object::Array(streams) => streams.clone(),
            _ => vec![Object::Reference(id)],
        },
        Ok(Object::Array(streams)) => streams,
        _ => Vec::new(),
    };
    let (left, bottom) = corner(document, page);
    let added = document.add_object(Stream::new(Entries::new(), painted(text, left, bottom)));
    streams.insert(0, Object::Reference(added));
    let page = document.get_dictionary_mut(page)?;
    page.set("Resources", resources);
    page.set("Contents", streams);
    Ok(())
}

/// The lower left corner of what is seen of a page; 0 where the page does not say.
fn corner(document: &Document, page: ObjectId) -> (f32, f32) {
    let mut at = Some(page);
    for _ in 0..64 {
        let Some(entries) = at.and_then(|id| document.get_dictionary(id).ok()) else { break };
        for name in [&b"CropBox"[..], b"MediaBox"] {
            let sides = entries.get_deref(name, document).and_then(Object::as_array);
            let side = |sides: &Vec<Object>, at: usize| sides.get(at)?.as_float().ok();
            // Any two corners that are across from each other name a rectangle (ISO 32000-1, 7.9.5).
            let lower = |sides: &Vec<Object>, at| Some(side(sides, at)?.min(side(sides, at + 2)?));
            if let Some(corner) = sides.ok().and_then(|s| Some((lower(s, 0)?, lower(s, 1)?))) {
                return corner;
            }
        }
        at = entries.get(b"Parent").and_then(Object::as_reference).ok();
    }
    (0.0, 0.0)
}

/// The operators that place a text and paint nothing: lines of a few words, since some readers cut what
/// runs over the edge of the page.
fn painted(text: &[u8], left: f32, bottom: f32) -> Vec<u8> {
    const LETTERS: usize = 80;
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    for word in text.split(|&byte| byte == b' ') {
        let last = lines.last_mut().expect("never empty");
        if last.len() + word.len() > LETTERS {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(b' ');
            }
            last.extend_from_slice(word);
        }
    }
    let top = bottom + 12.0 + 7.0 * lines.len() as f32;
    let mut content = format!("q BT 3 Tr /{FONT} 6 Tf 7 TL {} {top} Td", left + 36.0).into_bytes();
    for line in lines {
        content.extend_from_slice(b" (");
        for letter in line {
            if matches!(letter, b'(' | b')' | b'\\') {
                content.push(b'\\');
            }
            content.push(letter);
        }
        content.extend_from_slice(b" ) Tj T*");
    }
    content.extend_from_slice(b" ET Q\n");
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::pdf::tests::saved;
    use lopdf::dictionary;

    /// Two pages that share their resources through the tree, one with two streams.
    fn document() -> Document {
        let mut document = Document::with_version("1.5");
        let tree = document.new_object_id();
        let font = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        });
        let mut stream = |text: &str| {
            let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
            Object::Reference(document.add_object(Stream::new(Entries::new(), content.into())))
        };
        let contents = [vec![stream("first"), stream("second")], vec![stream("third")]];
        let pages: Vec<Object> = contents
            .into_iter()
            .map(|contents| {
                let page = dictionary! {
                    "Type" => "Page", "Parent" => tree, "Contents" => contents,
                };
                Object::Reference(document.add_object(page))
            })
            .collect();
        let pages = dictionary! {
            "Type" => "Pages", "Count" => 2, "Kids" => pages,
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
            "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
        };
        document.objects.insert(tree, pages.into());
        let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        document.trailer.set("Root", catalog);
        document
    }

    #[test]
    fn what_is_hidden_stands_first_and_what_was_there_stays() {
        let phrases = ["one (phrase) here".to_owned(), "another phrase".to_owned()];
        let hidden = hidden_in_pdf(&saved(document()), &phrases).unwrap();
        let hidden = Document::load_mem(&hidden).unwrap();
        let texts: Vec<String> = (1..=2)
            .map(|page| hidden.extract_text(&[page]).unwrap().split_whitespace().collect())
            .collect();
        for (text, old) in texts.iter().zip(["firstsecond", "third"]) {
            assert!(text.contains("\"one(phrase)here\"and\"anotherphrase\""), "{text}");
            assert!(text.ends_with(old), "{text}");
        }
        assert_ne!(texts[0], texts[1], "each in other words");
        let page = hidden.get_pages()[&1];
        let content = String::from_utf8(hidden.get_page_content(page)).unwrap();
        assert!(content.starts_with("q BT 3 Tr "), "{content}");
        assert_eq!(content.matches(" Tr").count(), 1, "nothing else becomes invisible");
        let fonts = hidden.get_page_fonts(page).unwrap();
        assert!(fonts.contains_key(&b"F1"[..]), "what the page inherits stays known");
    }

    #[test]
    fn letters_of_western_europe_are_hidden_as_they_are_and_others_refused() {
        // German, a curly apostrophe and the euro sign, and u with its dots as a mark of its own.
        let phrase = "\u{dc}ber gro\u{df}e Ideen, it\u{2019}s 5 \u{20ac} fu\u{308}r alle";
        let hidden = hidden_in_pdf(&saved(document()), &[phrase.to_owned()]).unwrap();
        let hidden = Document::load_mem(&hidden).unwrap();
        let text = hidden.extract_text(&[1]).unwrap().replace('\n', "");
        let composed = phrase.replace("u\u{308}", "\u{fc}");
        assert!(text.contains(&composed), "{text}");
        assert_eq!(in_pdf("\u{dc}\u{2019}").unwrap(), [0xdc, 0x92]);
        for letter in ['\u{416}', '\u{597d}', '\u{81}', '\t'] {
            let refused = hidden_in_pdf(&saved(document()), &[format!("it is {letter} or not")]);
            let refused = refused.unwrap_err();
            assert!(matches!(refused, PdfError::NoSuchLetter { letter: l, .. } if l == letter));
        }
    }

    #[test]
    fn a_page_begins_at_its_lower_left_corner_whatever_corners_are_named() {
        // From (10, 20) to (612, 792), by each pair of corners that are across from each other.
        for sides in
            [[10, 20, 612, 792], [612, 792, 10, 20], [10, 792, 612, 20], [612, 20, 10, 792]]
        {
            let mut document = document();
            let page = document.get_pages()[&1];
            let sides: Vec<Object> = sides.map(Object::from).to_vec();
            document.get_dictionary_mut(page).unwrap().set("MediaBox", sides);
            assert_eq!(corner(&document, page), (10.0, 20.0));
        }
    }

    #[test]
    fn what_is_no_usable_pdf_is_refused() {
        let refused = |bytes: &[u8]| hidden_in_pdf(bytes, &["p".to_owned()]).unwrap_err();
        assert!(matches!(refused(b""), PdfError::Unreadable(_)));
        assert!(matches!(refused(b"%PDF-1.5\nnothing"), PdfError::Unreadable(_)));
        let mut empty = document();
        let tree = empty.catalog().unwrap().get(b"Pages").unwrap().as_reference().unwrap();
        empty.get_dictionary_mut(tree).unwrap().set("Kids", Vec::new());
        assert!(matches!(refused(&saved(empty)), PdfError::NoPage));
    }
}
