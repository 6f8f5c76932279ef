//! The model's JSON files, read strictly: a key that is needed and absent is an error.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::BertError;

/// Most of anything that a configuration counts: tokens of a vocabulary, numbers of a vector, layers.
/// The largest encoders have a quarter of a million tokens.
const MOST: usize = 1 << 24;

/// A JSON object and the file it came from, for error messages.
pub(super) struct JsonFile {
    path: PathBuf,
    value: Value,
}

impl JsonFile {
    /// Reads `path`, `None` if there is no such file.
    pub(super) fn read_if_there(path: &Path) -> Result<Option<Self>, BertError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(BertError::Read { path: path.into(), source }),
        };
        let value = serde_json::from_slice(&bytes)
            .map_err(|source| BertError::Json { path: path.into(), source })?;
        Ok(Some(Self { path: path.into(), value }))
    }

    /// Reads `folder/name`, which must be there.
    pub(super) fn read(folder: &Path, name: &'static str) -> Result<Self, BertError> {
        Self::read_if_there(&folder.join(name))?
            .ok_or_else(|| BertError::MissingFile { folder: folder.into(), wanted: name })
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// The value of `key`; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn size(&self, key: &'static str) -> Result<usize, BertError> {
        self.optional_size(key)?.ok_or_else(|| self.missing(key))
    }

    /// A count; absent is `None`, anything but a whole number is an error.
    pub(super) fn optional_size(&self, key: &'static str) -> Result<Option<usize>, BertError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.as_u64() {
            Some(size) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                // Memory is taken by these numbers.
                if size > MOST { Err(self.absurd(key, size)) } else { Ok(Some(size)) }
            }
            None => Err(self.missing(key)),
        }
    }

    pub(super) fn number(&self, key: &'static str) -> Result<f64, BertError> {
        self.get(key).and_then(Value::as_f64).ok_or_else(|| self.missing(key))
    }

    pub(super) fn text(&self, key: &'static str) -> Result<&str, BertError> {
        self.get(key).and_then(Value::as_str).ok_or_else(|| self.missing(key))
    }

    /// A number that no model has.
    pub(super) fn absurd(&self, key: &'static str, value: usize) -> BertError {
        self.unsupported(key, &value.to_string(), "no encoder is that large; the file is damaged")
    }

    pub(super) fn missing(&self, key: &'static str) -> BertError {
        BertError::MissingKey { path: self.path.clone(), key }
    }

    pub(super) fn unsupported(
        &self,
        key: &'static str,
        value: &(impl ToString + ?Sized),
        remedy: impl Into<Cow<'static, str>>,
    ) -> BertError {
        let (path, value, remedy) = (self.path.clone(), value.to_string(), remedy.into());
        BertError::Unsupported { path, key, value, remedy }
    }

    /// Refuses any value of `key` but `expected`; absent is accepted.
    pub(super) fn must_be(
        &self,
        key: &'static str,
        expected: &Value,
        remedy: &'static str,
    ) -> Result<(), BertError> {
        match self.get(key) {
            Some(value) if value != expected => Err(self.unsupported(key, value, remedy)),
            _ => Ok(()),
        }
    }
}
