//! The JSON files of a folder: read strictly, faults by file and key.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::config::MOST;
use super::super::error::{ModelError, ModelFault};
use super::super::gguf::bad;
use super::opened;

/// Bytes of a file at most; the largest tokenizers have 35 million.
const MOST_BYTES: u64 = 1 << 28;

/// An object and the file that it came from.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) path: PathBuf,
    pub(super) value: Value,
}

/// The text of a file, if there is one.
pub(super) fn text_if_there(path: &Path) -> Result<Option<String>, ModelError> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let (file, bytes) = opened(path)?;
    let wrong = |fault| ModelError::Model { path: path.to_owned(), fault };
    let too_many = ModelFault::TooMany { what: "bytes", count: bytes, limit: MOST_BYTES };
    if bytes > MOST_BYTES {
        return Err(wrong(too_many));
    }
    let mut text = Vec::new();
    let read = file.take(MOST_BYTES).read_to_end(&mut text);
    read.map_err(|source| ModelError::File { path: path.to_owned(), source })?;
    let text = String::from_utf8(text).map_err(|_| wrong(bad("its text", "is no UTF-8")))?;
    Ok(Some(text))
}

impl Json {
    /// Reads a file, if there is one.
    pub(super) fn read_if_there(path: &Path) -> Result<Option<Self>, ModelError> {
        let Some(text) = text_if_there(path)? else { return Ok(None) };
        let wrong = |reason| {
            let path = path.to_owned();
            ModelError::Model { path, fault: ModelFault::Json { reason } }
        };
        match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => Ok(Some(Self { path: path.to_owned(), value })),
            Ok(_) => Err(wrong("it is no object".into())),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Reads a file, which has to be there.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        Self::read_if_there(path)?.ok_or_else(|| super::not_there(path.to_owned()))
    }

    /// The value of a key; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// A fault of the file.
    pub(super) fn fault(&self, fault: ModelFault) -> ModelError {
        ModelError::Model { path: self.path.clone(), fault }
    }

    /// A value that makes no sense, or that is not supported.
    pub(super) fn wrong(&self, key: &str, reason: impl Into<String>) -> ModelError {
        self.fault(bad(key, reason))
    }

    /// A key that is missing.
    pub(super) fn missing(&self, key: &str) -> ModelError {
        self.fault(ModelFault::MissingKey { key: key.to_owned() })
    }

    /// A text, which has to be there.
    pub(super) fn text(&self, key: &str) -> Result<&str, ModelError> {
        let value = self.get(key).ok_or_else(|| self.missing(key))?;
        value.as_str().ok_or_else(|| self.wrong(key, "is no text"))
    }

    /// A size, if the key is there.
    pub(super) fn optional_size(&self, key: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        match size {
            Some(size) if (1..=MOST).contains(&size) => Ok(Some(size)),
            _ => Err(self.wrong(key, format!("is {value}, which no model has"))),
        }
    }

    /// A size, which has to be there.
    pub(super) fn size(&self, key: &str) -> Result<usize, ModelError> {
        self.optional_size(key)?.ok_or_else(|| self.missing(key))
    }

    /// A truth value; `None` if the key is not there.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(key, "is neither true nor false"))
    }
}
