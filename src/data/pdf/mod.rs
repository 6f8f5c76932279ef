//! The text of papers in PDF files.
//!
//! `lopdf` reads the file: objects, streams, fonts. What is done here is to put letters into words and words
//! into lines, by where they stand on the page, and lines into a [`Paper`]. Files are from strangers: what a
//! stream unpacks to is bounded, and whoever reads many runs [`read_paper`] in a process of its own, with
//! bounds on memory and time.

mod font;
mod page;
mod paper;

use lopdf::{Document, LoadOptions};

use self::page::Reader;
pub(crate) use self::paper::Paper;
use crate::error::{ErrorKind, Kinded};

/// Largest content of a page, or other stream.
const MOST_BYTES: usize = 64 << 20;

/// Largest file.
pub(crate) const MOST_FILE_BYTES: u64 = 512 << 20;

/// Fewer words than this are the stamp on a scan.
const FEWEST_WORDS: usize = 50;

/// Above this share of letters without a meaning the file does not say what its letters are.
const MOST_UNKNOWN: f64 = 0.2;

/// Why there is no text of a PDF file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PdfError {
    /// It is larger than is read.
    #[error("it has {bytes} bytes, more than {MOST_FILE_BYTES}")]
    TooLarge { bytes: u64 },
    /// It is no PDF, or too damaged.
    #[error("it is no PDF that can be read: {0}")]
    Unreadable(#[from] lopdf::Error),
    /// It is encrypted.
    #[error("it is encrypted; save it without a password first")]
    Encrypted,
    /// It has no page.
    #[error("it has no page")]
    NoPage,
    /// Pictures of pages, or letters that nothing says the meaning of.
    #[error("it has no text ({words} words on {pages} pages); needs OCR")]
    NoText { words: usize, pages: usize },
}

impl PdfError {
    /// A stable word for scripts.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Unreadable(_) => "unreadable",
            Self::Encrypted => "encrypted",
            Self::NoPage => "no_page",
            Self::NoText { .. } => "no_text",
        }
    }
}

impl Kinded for PdfError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// Reads a paper.
///
/// # Errors
///
/// [`PdfError`].
pub(crate) fn read_paper(pdf: &[u8]) -> Result<Paper, PdfError> {
    let mut lines = lines_of(pdf)?;
    let damaged = lines.iter().filter(|lines| lines.is_err()).count();
    if damaged == lines.len()
        && let Some(Err(error)) = lines.pop()
    {
        return Err(error);
    }
    // A page that is damaged has no lines; the others stay.
    let lines: Vec<_> = lines.into_iter().map(Result::unwrap_or_default).collect();
    let letters = || lines.iter().flatten().flat_map(|line| line.text.chars());
    let unknown = letters().filter(|&letter| letter == char::REPLACEMENT_CHARACTER).count();
    let words: usize =
        lines.iter().flatten().map(|line| line.text.split_whitespace().count()).sum();
    if words < FEWEST_WORDS || unknown as f64 > MOST_UNKNOWN * letters().count() as f64 {
        return Err(PdfError::NoText { words, pages: lines.len() });
    }
    Ok(paper::of_lines(lines, damaged))
}

/// The lines of each page.
fn lines_of(pdf: &[u8]) -> Result<Vec<Result<Vec<page::Line>, PdfError>>, PdfError> {
    let options = LoadOptions::with_max_decompressed_size(MOST_BYTES);
    let document = Document::load_mem_with_options(pdf, options)?;
    if document.is_encrypted() {
        return Err(PdfError::Encrypted);
    }
    let pages = document.get_pages();
    if pages.is_empty() {
        return Err(PdfError::NoPage);
    }
    let mut reader = Reader::new(&document);
    Ok(pages.values().map(|&page| reader.lines(page)).collect())
}

#[cfg(test)]
pub(crate) mod tests;
