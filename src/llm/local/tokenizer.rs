//! Text to tokens and back, from the tokenizer that a model file holds.
//!
//! Byte-level pairs ("gpt2") with the ways to split text that a test compares with llama.cpp; other
//! tokenizers are refused, since tokens that are nearly right give answers that are nearly right.
//! As in llama.cpp, text is not normalised.
//!
//! **What strangers write never becomes a control token.** [`Tokenizer::guarded`] breaks every place
//! where one could begin, before a chat template sees the text; [`Tokenizer::encode`] finds control
//! tokens in what the template adds and takes the breaks out again.

use std::collections::{BTreeMap, BTreeSet};

use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use super::error::{LocalError, ModelFault};
use super::gguf::{Header, Value, bad};

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

const QWEN2: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What a token is for, as GGUF numbers it.
const UNKNOWN: i64 = 2;
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

/// The tokenizer of a model.
#[derive(Debug)]
pub(super) struct Tokenizer {
    pairs: tokenizers::Tokenizer,
    /// Bytes of every token; empty for control tokens, which are no text.
    bytes: Vec<Vec<u8>>,
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
    /// The tokenizer in the metadata.
    pub(super) fn read(header: &Header) -> Result<Self, ModelFault> {
        let model = header.text("tokenizer.ggml.model")?;
        if model != "gpt2" {
            let reason = format!("is `{model}`, which is not supported; gpt2 is");
            return Err(bad("tokenizer.ggml.model", reason));
        }
        let tokens = header.texts("tokenizer.ggml.tokens")?;
        let kinds = match header.get("tokenizer.ggml.token_type") {
            Some(Value::Integers(kinds)) if kinds.len() == tokens.len() => kinds.clone(),
            None => vec![1; tokens.len()],
            Some(_) => return Err(bad("tokenizer.ggml.token_type", "does not fit the tokens")),
        };
        let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
        for (id, token) in (0..).zip(tokens) {
            if ids.insert(token, id).is_some() {
                return Err(ModelFault::Duplicate { name: token.clone() });
            }
        }
        let splitter = header.text("tokenizer.ggml.pre")?;
        let is_llama3 = splitter == "llama-bpe";
        let pairs = pairs(header, &ids, splitter)?;
        let mut special = Vec::new();
        for ((token, kind), id) in tokens.iter().zip(&kinds).zip(0..) {
            if !matches!(*kind, UNKNOWN | CONTROL | USER_DEFINED) {
                continue;
            }
            match token.chars().count() {
                // A break inside it would not be possible.
                1 if *kind == CONTROL => {
                    let reason = format!("holds the control token `{token}` of one character");
                    return Err(bad("tokenizer.ggml.tokens", reason));
                }
                0 | 1 => {}
                _ => special.push((token.clone(), id)),
            }
        }
        special.sort_by(|(a, i), (b, j)| b.len().cmp(&a.len()).then(i.cmp(j)));
        let id = |key: &str| -> Result<Option<u32>, ModelFault> {
            match header.count(key)? {
                Some(id) if id >= tokens.len() => Err(bad(key, "is no token")),
                id => Ok(id.and_then(|id| u32::try_from(id).ok())),
            }
        };
        let begin = id("tokenizer.ggml.bos_token_id")?;
        let end = id("tokenizer.ggml.eos_token_id")?
            .ok_or_else(|| ModelFault::MissingKey { key: "tokenizer.ggml.eos_token_id".into() })?;
        let mut ends: BTreeSet<u32> =
            [Some(end), id("tokenizer.ggml.eot_token_id")?].into_iter().flatten().collect();
        for name in ENDS {
            if let Some(&id) = ids.get(name)
                && kinds[id as usize] == CONTROL
            {
                ends.insert(id);
            }
        }
        let adds = header.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(is_llama3);
        let text = |id: Option<u32>| id.map_or("", |id| &tokens[id as usize]).to_owned();
        let letters = byte_letters();
        let bytes = tokens
            .iter()
            .zip(&kinds)
            .map(|(token, kind)| match *kind {
                UNKNOWN | CONTROL => Vec::new(),
                USER_DEFINED => token.clone().into_bytes(),
                _ => bytes_of(token, &letters),
            })
            .collect();
        Ok(Self {
            pairs,
            bytes,
            beginnings: special.iter().filter_map(|(token, _)| token.chars().next()).collect(),
            special,
            ends,
            first: begin.filter(|_| adds),
            first_text: text(begin),
            end_text: text(Some(end)),
        })
    }

    /// Tokens that there are.
    pub(super) fn vocabulary(&self) -> usize {
        self.bytes.len()
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
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, LocalError> {
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
    pub(super) fn encode_plain(&self, text: &str) -> Result<Vec<u32>, LocalError> {
        let encoding = self.pairs.encode_fast(text, false);
        let encoding =
            encoding.map_err(|error| LocalError::Tokens { reason: error.to_string() })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of tokens; what is no UTF-8 is replaced.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        let bytes: Vec<u8> =
            ids.iter().filter_map(|id| self.bytes.get(*id as usize)).flatten().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
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

/// The merging of byte pairs, with the file's way to split texts.
fn pairs(
    header: &Header,
    ids: &BTreeMap<&str, u32>,
    splitter: &str,
) -> Result<tokenizers::Tokenizer, ModelFault> {
    let failed = |reason: String| bad("tokenizer.ggml.merges", reason);
    let merges = header
        .texts("tokenizer.ggml.merges")?
        .iter()
        .map(|merge| merge.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| failed("holds a line without two parts".into()))?;
    let words = |use_regex| ByteLevel::new(false, false, use_regex).into();
    let split = |pattern: &str| {
        Split::new(SplitPattern::Regex(pattern.into()), SplitDelimiterBehavior::Isolated, false)
            .map_err(|error| failed(error.to_string()))
    };
    let steps = match splitter {
        "gpt-2" => vec![words(true)],
        "smollm" => vec![Digits::new(true).into(), words(true)],
        "qwen2" => vec![split(QWEN2)?.into(), words(false)],
        "llama-bpe" => vec![split(LLAMA3)?.into(), words(false)],
        _ => return Err(ModelFault::Splitter { name: splitter.to_owned() }),
    };
    let vocabulary: Vec<(String, u32)> =
        ids.iter().map(|(token, id)| ((*token).to_owned(), *id)).collect();
    let model = BPE::builder()
        .vocab_and_merges(
            vocabulary.into_iter().collect::<tokenizers::models::bpe::Vocab>(),
            merges,
        )
        .ignore_merges(splitter == "llama-bpe")
        .build()
        .map_err(|error| failed(format!("cannot be used: {error}")))?;
    let mut pairs = tokenizers::Tokenizer::new(model);
    pairs.with_pre_tokenizer(Some(Sequence::new(steps)));
    Ok(pairs)
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
