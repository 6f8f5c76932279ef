//! The tokenizer that a GGUF file holds.
//!
//! Byte-level pairs ("gpt2") with the ways to split text that a test compares with llama.cpp; other
//! tokenizers are refused, since tokens that are nearly right give answers that are nearly right.
//! As in llama.cpp, text is not normalised.

use std::collections::BTreeMap;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use super::error::ModelFault;
use super::gguf::{Header, Value, bad};
use super::tokenizer::{Kind, Tokenizer, Tokens};

const QWEN2: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What a token is for, as GGUF numbers it.
fn kind_of(number: i64) -> Kind {
    match number {
        2 => Kind::Unknown,
        3 => Kind::Control,
        4 => Kind::UserDefined,
        _ => Kind::Text,
    }
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
        let id = |key: &str| -> Result<Option<u32>, ModelFault> {
            match header.count(key)? {
                Some(id) if id >= tokens.len() => Err(bad(key, "is no token")),
                id => Ok(id.and_then(|id| u32::try_from(id).ok())),
            }
        };
        let begin = id("tokenizer.ggml.bos_token_id")?;
        let end = id("tokenizer.ggml.eos_token_id")?
            .ok_or_else(|| ModelFault::MissingKey { key: "tokenizer.ggml.eos_token_id".into() })?;
        let adds = header.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(is_llama3);
        let text = |id: Option<u32>| id.map_or("", |id| &tokens[id as usize]).to_owned();
        Self::new(Tokens {
            pairs,
            ends: [Some(end), id("tokenizer.ggml.eot_token_id")?].into_iter().flatten().collect(),
            first: begin.filter(|_| adds),
            begin: text(begin),
            end: text(Some(end)),
            by_id: tokens.iter().cloned().zip(kinds.into_iter().map(kind_of)).collect(),
        })
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
    let vocabulary: Vocab = ids.iter().map(|(token, id)| ((*token).to_owned(), *id)).collect();
    let model = BPE::builder()
        .vocab_and_merges(vocabulary, merges)
        .ignore_merges(splitter == "llama-bpe")
        .build()
        .map_err(|error| failed(format!("cannot be used: {error}")))?;
    let mut pairs = tokenizers::Tokenizer::new(model);
    pairs.with_pre_tokenizer(Some(Sequence::new(steps)));
    Ok(pairs)
}
