//! The tokenizer.json of a static model: our own word pieces where they cut as it does, else the
//! tokenizers crate.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::StaticModelError;
use crate::embed::wordpiece::{MAX_WORD_CHARS, WordPiece};

/// What cuts texts.
#[derive(Debug, Clone)]
pub(super) enum Tokens {
    /// Uncased BERT; several times as fast as the crate.
    WordPiece(WordPiece),
    /// Any other tokenizer.
    #[cfg(feature = "bert")]
    Other(Box<Other>),
}

/// A tokenizer of the tokenizers crate.
#[cfg(feature = "bert")]
#[derive(Debug, Clone)]
pub(super) struct Other {
    tokenizer: tokenizers::Tokenizer,
    unknown: Option<u32>,
}

impl Tokens {
    /// Reads tokenizer.json; says how many tokens there are.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), StaticModelError> {
        let not_json = |source| StaticModelError::TokenizerJson { source };
        let file: TokenizerFile = serde_json::from_slice(bytes).map_err(not_json)?;
        if let Some(vocabulary) = file.uncased_bert() {
            let added = file
                .added_tokens
                .iter()
                .filter(|added| !vocabulary.iter().any(|(piece, _)| *piece == added.content));
            let highest = vocabulary.iter().map(|(_, rank)| *rank as usize + 1).max();
            let tokens = (vocabulary.len() + added.count()).max(highest.unwrap_or(0));
            let pieces = vocabulary.iter().map(|(piece, rank)| (piece.as_ref(), *rank));
            return Ok((Self::WordPiece(WordPiece::from_pieces(pieces)), tokens));
        }
        Self::other(bytes)
    }

    #[cfg(feature = "bert")]
    fn other(bytes: &[u8]) -> Result<(Self, usize), StaticModelError> {
        use tokenizers::{ModelWrapper, Tokenizer};
        let unusable = |source| StaticModelError::Tokenizer { source };
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(unusable)?;
        tokenizer.with_truncation(None).map_err(unusable)?;
        tokenizer.with_padding(None);
        // What stands in a text is text: nobody can smuggle a special token in.
        tokenizer.set_encode_special_tokens(true);
        let unknown = match tokenizer.get_model() {
            ModelWrapper::WordPiece(model) => tokenizer.token_to_id(&model.unk_token),
            ModelWrapper::WordLevel(model) => tokenizer.token_to_id(&model.unk_token),
            ModelWrapper::BPE(model) => {
                model.unk_token.as_ref().and_then(|token| tokenizer.token_to_id(token))
            }
            // It keeps the id private; its JSON form has it.
            ModelWrapper::Unigram(_) => {
                let file: Value = serde_json::from_slice(bytes)
                    .map_err(|source| StaticModelError::TokenizerJson { source })?;
                let id = file.pointer("/model/unk_id").and_then(Value::as_u64);
                id.and_then(|id| u32::try_from(id).ok())
            }
        };
        let highest = tokenizer.get_vocab(true).into_values().max();
        let highest = highest.map_or(0, |rank| rank as usize + 1);
        let tokens = tokenizer.get_vocab_size(true).max(highest);
        Ok((Self::Other(Box::new(Other { tokenizer, unknown })), tokens))
    }

    #[cfg(not(feature = "bert"))]
    fn other(_bytes: &[u8]) -> Result<(Self, usize), StaticModelError> {
        Err(StaticModelError::TokenizerKind)
    }

    /// Visits the tokens of a text in their order, `None` for what is unknown.
    #[cfg_attr(
        not(feature = "bert"),
        expect(clippy::unnecessary_wraps, reason = "other tokenizers may fail")
    )]
    pub(super) fn visit(
        &self,
        text: &str,
        visit: impl FnMut(Option<u32>),
    ) -> Result<(), StaticModelError> {
        match self {
            Self::WordPiece(wordpiece) => wordpiece.visit(text, visit),
            #[cfg(feature = "bert")]
            Self::Other(other) => {
                let encoding = other.tokenizer.encode_fast(text, false);
                let encoding = encoding.map_err(|source| StaticModelError::Tokenize { source })?;
                let mut visit = visit;
                for &id in encoding.get_ids() {
                    visit((Some(id) != other.unknown).then_some(id));
                }
            }
        }
        Ok(())
    }
}

/// What of a tokenizer.json says whether it is that of uncased BERT.
#[derive(Deserialize)]
struct TokenizerFile<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    #[serde(borrow)]
    model: Model<'a>,
}

#[derive(Deserialize)]
struct AddedToken {
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct Model<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    #[serde(borrow)]
    vocab: Vocabulary<'a>,
}

impl<'a> TokenizerFile<'a> {
    /// The vocabulary if [`WordPiece`] cuts as this tokenizer does.
    fn uncased_bert(&self) -> Option<&[(Cow<'a, str>, u32)]> {
        let says = |value: &Option<Value>, key: &str, wanted: &Value| {
            value.as_ref().and_then(|value| value.get(key)) == Some(wanted)
        };
        let on = |key| says(&self.normalizer, key, &Value::Bool(true));
        // Without a word of its own, accents go where upper case goes.
        let accents = on("strip_accents") || says(&self.normalizer, "strip_accents", &Value::Null);
        let alike = says(&self.normalizer, "type", &"BertNormalizer".into())
            && (on("lowercase") && on("clean_text") && on("handle_chinese_chars") && accents)
            && says(&self.pre_tokenizer, "type", &"BertPreTokenizer".into())
            && self.model.kind.as_deref() == Some("WordPiece")
            && self.model.continuing_subword_prefix.as_deref() == Some("##")
            && self.model.max_input_chars_per_word == Some(MAX_WORD_CHARS)
            && self.added_tokens.iter().all(|token| token.special);
        self.model.vocab.0.as_deref().filter(|_| alike)
    }
}

/// Pieces with their ranks; nothing where the model keeps them in another form.
struct Vocabulary<'a>(Option<Vec<(Cow<'a, str>, u32)>>);

#[derive(Deserialize)]
struct Piece<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Vocabulary<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pieces;
        impl<'de> Visitor<'de> for Pieces {
            type Value = Vocabulary<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pieces = Vec::new();
                while let Some((Piece(piece), rank)) = map.next_entry::<Piece<'de>, u32>()? {
                    pieces.push((piece, rank));
                }
                Ok(Vocabulary(Some(pieces)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Vocabulary(None))
            }
        }
        deserializer.deserialize_any(Pieces)
    }
}
