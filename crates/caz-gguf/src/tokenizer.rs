//! Text to tokens and back, by byte-level pairs.
//!
//! **What strangers write never becomes a control token.** [`Tokenizer::guarded`] breaks every place
//! where one could begin, before a chat template sees the text; [`Tokenizer::encode`] finds control
//! tokens in what the template adds and takes the breaks out again.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{ModelError, ModelFault};
use super::gguf::bad;

/// A character that no text holds (Unicode sets it aside for use inside programs): where a control
/// token must not begin.
const BREAK: char = '\u{fdd0}';

/// Control tokens that end an answer, by their names in common models; the file names one of them.
const ENDS: [&str; 9] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endofturn|>",
    "</s>",
];

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of texts.
    Text,
    /// What stands for what is not known.
    Unknown,
    /// Templates alone may write it.
    Control,
    /// Found whole, and text.
    UserDefined,
}

/// What a tokenizer is made of.
pub(super) struct Tokens {
    /// Merges pairs of bytes, and finds no token whole.
    pub(super) pairs: tokenizers::Tokenizer,
    /// By id; empty where an id has no token.
    pub(super) by_id: Vec<(String, Kind)>,
    /// Tokens that end an answer, besides those with a common name.
    pub(super) ends: Vec<u32>,
    /// What every conversation begins with, if the template did not write it.
    pub(super) first: Option<u32>,
    /// Texts of the tokens that begin and end a text, for templates.
    pub(super) begin: String,
    pub(super) end: String,
}

/// The tokenizer of a model.
#[derive(Debug)]
pub(super) struct Tokenizer {
    pairs: tokenizers::Tokenizer,
    /// Bytes of all tokens, one after the other; control tokens, which are no text, have none.
    bytes: Vec<u8>,
    /// Where those of each token end, by id.
    ends_of_bytes: Vec<usize>,
    /// Tokens found in templates whole, the longest first.
    special: Vec<(String, u32)>,
    /// First characters of the special tokens.
    beginnings: BTreeSet<char>,
    ends: BTreeSet<u32>,
    first: Option<u32>,
    /// Texts of the tokens that begin and end a text, for templates.
    pub(super) first_text: String,
    pub(super) end_text: String,
}

impl Tokenizer {
    /// The tokenizer of tokens that have been read.
    pub(super) fn new(tokens: Tokens) -> Result<Self, ModelFault> {
        let Tokens { pairs, by_id, ends, first, begin, end } = tokens;
        let mut special = Vec::new();
        let letters = byte_letters();
        let mut bytes = Vec::new();
        let mut ends_of_bytes = Vec::with_capacity(by_id.len());
        for ((token, kind), id) in by_id.iter().zip(0..) {
            if *kind != Kind::Text {
                match token.chars().count() {
                    // A break inside it would not be possible.
                    1 if *kind == Kind::Control => {
                        return Err(bad(token, "is a control token of one character"));
                    }
                    0 | 1 => {}
                    _ => special.push((token.clone(), id)),
                }
            }
            match kind {
                Kind::Text => bytes.extend(bytes_of(token, &letters)),
                Kind::Unknown | Kind::Control => {}
                Kind::UserDefined => bytes.extend(token.bytes()),
            }
            ends_of_bytes.push(bytes.len());
        }
        bytes.shrink_to_fit();
        special.sort_by(|(a, i), (b, j)| b.len().cmp(&a.len()).then(i.cmp(j)));
        let named = |(token, kind): &(String, Kind)| {
            *kind == Kind::Control && ENDS.contains(&token.as_str())
        };
        let by_name = (0..).zip(&by_id).filter(|(_, token)| named(token)).map(|(id, _)| id);
        Ok(Self {
            pairs,
            bytes,
            ends_of_bytes,
            beginnings: special.iter().filter_map(|(token, _)| token.chars().next()).collect(),
            special,
            ends: by_name.chain(ends).collect(),
            first,
            first_text: begin,
            end_text: end,
        })
    }

    /// Tokens that there are.
    pub(super) fn vocabulary(&self) -> usize {
        self.ends_of_bytes.len()
    }

    /// Whether a token ends an answer.
    pub(super) fn is_end(&self, id: u32) -> bool {
        self.ends.contains(&id)
    }

    /// `text` with breaks, so that no control token is found in it.
    pub(super) fn guarded(&self, text: &str) -> String {
        let mut guarded = String::with_capacity(text.len());
        for c in text.chars() {
            guarded.push(if c == BREAK { '\u{fffd}' } else { c });
            if self.beginnings.contains(&c) {
                guarded.push(BREAK);
            }
        }
        guarded
    }

    /// Tokens of a conversation as a template wrote it; control tokens are found where no break is.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let mut pieces = vec![Piece::Text(text)];
        for (token, id) in &self.special {
            pieces = pieces.into_iter().flat_map(|piece| piece.split(token, *id)).collect();
        }
        let mut ids = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Token(id) => ids.push(id),
                Piece::Text(text) => ids.extend(self.encode_plain(&text.replace(BREAK, ""))?),
            }
        }
        if let Some(first) = self.first
            && ids.first() != Some(&first)
        {
            ids.insert(0, first);
        }
        Ok(ids)
    }

    /// Tokens of a text without control tokens.
    pub(super) fn encode_plain(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self.pairs.encode_fast(text, false);
        let encoding =
            encoding.map_err(|error| ModelError::Tokens { reason: error.to_string() })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of tokens; what is no UTF-8 is replaced.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| self.bytes_of(*id)).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The bytes of a token.
    fn bytes_of(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(end) = self.ends_of_bytes.get(id) else { return &[] };
        let start = id.checked_sub(1).map_or(0, |before| self.ends_of_bytes[before]);
        &self.bytes[start..*end]
    }
}

/// A part of a text.
enum Piece<'a> {
    Text(&'a str),
    Token(u32),
}

impl<'a> Piece<'a> {
    /// The pieces around every `token` in a text.
    fn split(self, token: &str, id: u32) -> Vec<Piece<'a>> {
        let Self::Text(text) = self else { return vec![self] };
        let mut pieces = Vec::new();
        for (number, part) in text.split(token).enumerate() {
            if number > 0 {
                pieces.push(Self::Token(id));
            }
            if !part.is_empty() {
                pieces.push(Self::Text(part));
            }
        }
        pieces
    }
}

/// The letter that stands for each byte, as GPT-2 wrote them: bytes that can be seen stand for
/// themselves, the others follow from U+0100 on.
fn byte_letters() -> BTreeMap<char, u8> {
    let mut letters = BTreeMap::new();
    let mut next = 0x100;
    for byte in 0..=u8::MAX {
        let seen = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let letter = if seen { u32::from(byte) } else { next };
        next += u32::from(!seen);
        letters.extend(char::from_u32(letter).map(|letter| (letter, byte)));
    }
    letters
}

/// The bytes of a token; one with other letters stands for its own text.
fn bytes_of(token: &str, letters: &BTreeMap<char, u8>) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(|c| letters.get(&c).copied()).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}
