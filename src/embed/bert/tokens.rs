//! From a text to token ids, with the model's special tokens kept apart.

use std::path::Path;

use tokenizers::{ModelWrapper, Tokenizer};

use super::error::BertError;

/// The model's tokenizer without the truncation and padding its file may carry.
pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    lowercase: bool,
    unknown: Option<u32>,
    /// Special tokens before and after every text.
    pub(super) prefix: Vec<u32>,
    pub(super) suffix: Vec<u32>,
}

impl TextTokenizer {
    pub(super) fn load(folder: &Path, lowercase: bool) -> Result<Self, BertError> {
        let path = folder.join("tokenizer.json");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(BertError::MissingFile {
                    folder: folder.into(),
                    wanted: "tokenizer.json",
                });
            }
            Err(source) => return Err(BertError::Read { path, source }),
        };
        let unusable = |source| BertError::Tokenizer { path: path.clone(), source };
        let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(unusable)?;
        // all-MiniLM-L6-v2 ships truncation and padding to 128, though the model takes 256.
        tokenizer.with_truncation(None).map_err(unusable)?;
        tokenizer.with_padding(None);
        let unknown = unknown_token(&tokenizer, &path)?;
        let (prefix, suffix) = special_tokens(&tokenizer, &path)?;
        Ok(Self { tokenizer, lowercase, unknown, prefix, suffix })
    }

    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Number of special tokens around every text.
    pub(super) fn special(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }

    /// The token ids of a text without special tokens; empty if no token is known.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        // SentencePiece tokenizers would make a word boundary of it, which is a known token.
        if text.trim().is_empty() {
            return Ok(vec![]);
        }
        let encoding = if self.lowercase {
            self.tokenizer.encode_fast(text.to_lowercase(), false)?
        } else {
            self.tokenizer.encode_fast(text, false)?
        };
        let ids = encoding.get_ids();
        if ids.iter().all(|&id| Some(id) == self.unknown) { Ok(vec![]) } else { Ok(ids.to_vec()) }
    }
}

/// The id of the unknown token, if the tokenizer has one.
fn unknown_token(tokenizer: &Tokenizer, path: &Path) -> Result<Option<u32>, BertError> {
    let name = match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => Some(model.unk_token.clone()),
        ModelWrapper::WordLevel(model) => Some(model.unk_token.clone()),
        ModelWrapper::BPE(model) => model.unk_token.clone(),
        // Unigram keeps the id private; its JSON form has it.
        ModelWrapper::Unigram(_) => {
            let id = unigram_unknown(path)?;
            return Ok(id);
        }
    };
    Ok(name.and_then(|name| tokenizer.token_to_id(&name)))
}

fn unigram_unknown(path: &Path) -> Result<Option<u32>, BertError> {
    let file = super::json::JsonFile::read_if_there(path)?;
    let id = file.as_ref().and_then(|file| file.value().pointer("/model/unk_id")?.as_u64());
    Ok(id.and_then(|id| u32::try_from(id).ok()))
}

/// What the post-processor puts around a single text.
fn special_tokens(tokenizer: &Tokenizer, path: &Path) -> Result<(Vec<u32>, Vec<u32>), BertError> {
    let unusable = |source| BertError::Tokenizer { path: path.into(), source };
    let refused = |what| BertError::TokenizerTemplate { path: path.into(), what };
    let whole = tokenizer.encode("a", true).map_err(unusable)?;
    let bare = tokenizer.encode("a", false).map_err(unusable)?;
    if whole.get_type_ids().iter().any(|&kind| kind != 0) {
        return Err(refused("gives a single text a token type other than 0"));
    }
    let special = whole.get_special_tokens_mask();
    let before = special.iter().take_while(|&&is| is == 1).count();
    let content = bare.len();
    let (ids, bare) = (whole.get_ids(), bare.get_ids());
    if content == 0 || ids.get(before..before + content) != Some(bare) {
        return Err(refused("changes a text when it adds special tokens"));
    }
    Ok((ids[..before].to_vec(), ids[before + content..].to_vec()))
}
