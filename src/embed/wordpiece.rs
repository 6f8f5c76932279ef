//! `WordPiece` tokens of a text, exactly as the tokenizer of uncased BERT models cuts it.
//!
//! 1. Clean: control, format, private and unassigned characters go, every white space is a space.
//! 2. A space around every CJK ideograph.
//! 3. Canonical decomposition (NFD), nonspacing marks go, the rest is lower-cased.
//! 4. Words are what stands between white space and punctuation; every punctuation mark is a word.
//! 5. A word is cut greedily into the longest vocabulary entries, continuations marked `##`; a
//!    word that cannot be cut to its end, or is longer than [`MAX_WORD_CHARS`], is unknown.
//!
//! Special tokens such as `[MASK]` written in a text are plain text here: nobody can smuggle one in.
//!
//! Reference: Devlin, Chang, Lee, Toutanova (2019), "BERT", NAACL, section 4.3 of its released
//! code (`BasicTokenizer`, `WordpieceTokenizer`); the same steps as `BertNormalizer`,
//! `BertPreTokenizer` and `WordPiece` of the `tokenizers` crate, which the tests compare with.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use crate::embed::trie::Trie;

/// Longest word, in characters after step 3, that is cut into pieces; from BERT's released code.
pub(crate) const MAX_WORD_CHARS: usize = 100;

/// Marks a piece that continues a word.
const CONTINUATION: &str = "##";

/// A vocabulary and the way to cut texts with it.
#[derive(Debug, Clone)]
pub struct WordPiece {
    /// Pieces that start a word.
    first: Trie,
    /// Pieces that continue a word, without their mark.
    next: Trie,
}

impl WordPiece {
    /// Takes pieces with their ranks; a piece named twice keeps the rank that comes first.
    pub(crate) fn from_pieces<'a>(pieces: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut first = Vec::new();
        let mut next = Vec::new();
        for (piece, rank) in pieces {
            match piece.strip_prefix(CONTINUATION) {
                Some(rest) if !rest.is_empty() => next.push((rest.as_bytes(), rank)),
                _ if piece.is_empty() => {}
                _ => first.push((piece.as_bytes(), rank)),
            }
        }
        Self { first: Trie::new(first), next: Trie::new(next) }
    }

    /// Calls `visit` with the rank of every piece of `text`, in order; `None` stands for a word
    /// that is unknown.
    ///
    /// # Panics
    ///
    /// Never: a part of a text cut at ASCII white space is a text.
    pub fn visit(&self, text: &str, mut visit: impl FnMut(Option<u32>)) {
        let mut cutter = Cutter { wordpiece: self, word: Vec::new(), chars: 0, pieces: Vec::new() };
        // White space is never part of a word and no decomposition reaches across it, so the
        // chunks between it are independent: each takes the fast path if it is ASCII.
        for chunk in text.as_bytes().split(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')) {
            if chunk.is_ascii() {
                cutter.ascii_chunk(chunk, &mut visit);
            } else {
                // The text was cut at ASCII bytes, so the chunk is whole characters.
                let chunk = str::from_utf8(chunk).expect("a chunk is cut at ASCII white space");
                cutter.unicode_chunk(chunk, &mut visit);
            }
        }
    }

    /// The ranks of the pieces of `text`; `None` stands for a word that is unknown.
    pub fn pieces(&self, text: &str) -> Vec<Option<u32>> {
        let mut pieces = Vec::new();
        self.visit(text, |piece| pieces.push(piece));
        pieces
    }
}

/// The word being read, with buffers that live as long as the text.
struct Cutter<'a> {
    wordpiece: &'a WordPiece,
    word: Vec<u8>,
    chars: usize,
    pieces: Vec<u32>,
}

impl Cutter<'_> {
    fn ascii_chunk(&mut self, chunk: &[u8], visit: &mut impl FnMut(Option<u32>)) {
        for &byte in chunk {
            if byte.is_ascii_alphanumeric() {
                self.word.push(byte.to_ascii_lowercase());
                self.chars += 1;
            } else if byte.is_ascii_punctuation() {
                self.end_word(visit);
                self.word.push(byte);
                self.chars = 1;
                self.end_word(visit);
            }
            // What is left are control characters, which go.
        }
        self.end_word(visit);
    }

    fn unicode_chunk(&mut self, chunk: &str, visit: &mut impl FnMut(Option<u32>)) {
        let spaced = chunk.chars().filter(|&c| !is_removed(c)).flat_map(|c| {
            let space = is_cjk(c).then_some(' ');
            [space, Some(if c.is_whitespace() { ' ' } else { c }), space].into_iter().flatten()
        });
        for c in spaced.nfd().filter(|&c| !is_accent(c)).flat_map(char::to_lowercase) {
            if c.is_whitespace() {
                self.end_word(visit);
            } else if is_punctuation(c) {
                self.end_word(visit);
                self.push(c);
                self.end_word(visit);
            } else {
                self.push(c);
            }
        }
        self.end_word(visit);
    }

    fn push(&mut self, c: char) {
        self.chars += 1;
        // A word this long is unknown whatever follows; its bytes need not be kept.
        if self.chars <= MAX_WORD_CHARS {
            self.word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn end_word(&mut self, visit: &mut impl FnMut(Option<u32>)) {
        if self.chars == 0 {
            return;
        }
        if self.chars <= MAX_WORD_CHARS && self.cut_word() {
            self.pieces.iter().for_each(|&piece| visit(Some(piece)));
        } else {
            visit(None);
        }
        self.word.clear();
        self.chars = 0;
    }

    /// Cuts the word into `pieces`; says whether that worked to its end.
    fn cut_word(&mut self) -> bool {
        self.pieces.clear();
        let mut rest = self.word.as_slice();
        let mut trie = &self.wordpiece.first;
        while !rest.is_empty() {
            let Some((length, piece)) = trie.longest_prefix(rest) else { return false };
            self.pieces.push(piece);
            rest = &rest[length..];
            trie = &self.wordpiece.next;
        }
        true
    }
}

/// Characters that step 1 removes. ASCII white space does not come here.
fn is_removed(c: char) -> bool {
    // The category tables are slow to search; here and below the standard library's answer comes
    // first where it decides. The tests compare every character.
    if c.is_ascii() || c.is_alphanumeric() {
        return c.is_ascii_control();
    }
    c == '\u{fffd}' || c.is_other()
}

/// Nonspacing marks, the first of which is U+0300.
fn is_accent(c: char) -> bool {
    c >= '\u{300}' && c.is_mark_nonspacing()
}

/// Characters that are words of their own in step 4.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && c.is_punctuation() }
}

/// Characters that step 2 sets apart: the CJK ideographs, in the blocks BERT's code lists. The
/// gap in the fifth block is theirs, kept because the vocabulary was made with it.
fn is_cjk(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "the\nun\n##aff\n##able\n.\n,\nna\n##ive\n\u{597d}\n##\na";

    fn of(vocabulary: &str) -> WordPiece {
        WordPiece::from_pieces(vocabulary.lines().zip(0..))
    }

    fn pieces(text: &str) -> Vec<Option<u32>> {
        of(SMALL).pieces(text)
    }

    #[test]
    fn the_longest_pieces_win_and_a_word_that_cannot_be_spelt_is_unknown_as_a_whole() {
        assert_eq!(pieces("The unaffable."), [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(pieces("unaffably, the"), [None, Some(5), Some(0)]);
    }

    #[test]
    fn case_accents_and_control_characters_go_and_ideographs_stand_alone() {
        assert_eq!(pieces("NA\u{cf}VE"), [Some(6), Some(7)]);
        assert_eq!(pieces("nai\u{308}\u{ad}v\u{1}e"), [Some(6), Some(7)]);
        assert_eq!(pieces("the\u{597d}\u{597d}the"), [Some(0), Some(8), Some(8), Some(0)]);
    }

    #[test]
    fn a_word_over_the_limit_is_unknown_in_both_paths() {
        let vocabulary = of("a\n##a");
        assert_eq!(vocabulary.pieces(&"a".repeat(100)).len(), 100);
        assert_eq!(vocabulary.pieces(&"a".repeat(101)), [None]);
        assert_eq!(vocabulary.pieces(&"\u{e4}".repeat(100)).len(), 100);
        assert_eq!(vocabulary.pieces(&"\u{e4}".repeat(101)), [None]);
    }

    #[test]
    fn the_mark_alone_is_a_word_and_special_tokens_are_plain_text() {
        // "##" in a text is two punctuation marks, neither of which is in the vocabulary.
        assert_eq!(pieces("##"), [None, None]);
        assert_eq!(pieces("[MASK]"), [None, None, None]);
        assert_eq!(pieces(" \n\u{3000}"), []);
    }
}
