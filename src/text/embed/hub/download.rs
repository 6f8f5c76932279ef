//! Fetching a model into the cache through hf-hub.
//!
//! The commit is asked for first and every file is fetched by commit, so a branch that moves
//! meanwhile cannot mix two versions. The branch's name is written into the cache last: an
//! interrupted download is never taken for a model. Files with a known checksum are verified.
//!
//! Limits of hf-hub 0.5: no time-outs of its own, and the token also goes to the storage host that
//! the hub redirects to.

use std::io::Read;
use std::path::Path;

use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Cache, Repo, RepoType};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::cache::{ModelCache, is_commit};
use super::error::HubError;
use super::settings::{HubSettings, Token};
use super::{HubModel, ModelFolder};
use crate::data::progress::Progress;

/// Files of the repository's top folder that `bert:` may read, weights apart.
const SETTINGS_FILES: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

/// One file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RemoteFile {
    name: String,
    bytes: u64,
    sha256: Option<String>,
}

/// What is to be fetched for a model: known before the first byte is.
pub struct Download {
    model: HubModel,
    commit: String,
    files: Vec<RemoteFile>,
    api: Api,
    settings: HubSettings,
}

impl Download {
    /// Asks the hub which files of the model are needed.
    ///
    /// # Errors
    ///
    /// [`HubError`] if settings forbid it, the hub cannot be reached, does not have the model or
    /// the model lacks needed files.
    pub fn plan(model: &HubModel, settings: &HubSettings) -> Result<Self, HubError> {
        if settings.offline {
            return Err(model.not_cached(settings));
        }
        let api = ApiBuilder::from_cache(Cache::new(settings.cache.clone()))
            .with_endpoint(settings.endpoint.clone())
            .with_token(settings.token.as_ref().map(|token| Token::expose(token).to_owned()))
            .with_progress(false)
            .build()
            .map_err(|source| network(model, settings, source))?;
        let info = info(&api, model, settings)?;
        let commit = info.get("sha").and_then(Value::as_str).filter(|commit| is_commit(commit));
        let commit = commit.ok_or_else(|| answer(settings, "it names no commit"))?.to_owned();
        let files = needed_files(&remote_files(&info, settings)?, &model.name)?;
        Ok(Self { model: model.clone(), commit, files, api, settings: settings.clone() })
    }

    /// Size of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Fetches what is not in the cache yet; `progress` hears of every byte once.
    ///
    /// # Errors
    ///
    /// [`HubError`] if the network breaks off, a file is damaged or the cache cannot be written.
    pub fn run(&self, progress: &dyn Progress) -> Result<ModelFolder, HubError> {
        let cache = ModelCache::new(&self.settings, &self.model.name);
        let snapshot = cache.snapshot(&self.commit);
        let repository =
            Repo::with_revision(self.model.name.clone(), RepoType::Model, self.commit.clone());
        let repository = self.api.repo(repository);
        for file in &self.files {
            let path = snapshot.join(&file.name);
            if path.is_file() {
                progress.advance(file.bytes);
                continue;
            }
            repository
                .download_with_progress(&file.name, Bytes { progress })
                .map_err(|source| network(&self.model, &self.settings, source))?;
            verify(&path, file)?;
        }
        // Written last: only a complete model has a name. hf-hub wrote one for the commit.
        let reference = cache.reference(&self.model.revision);
        let unwritable = |source| HubError::Cache { path: reference.clone(), source };
        if let Some(folder) = reference.parent() {
            std::fs::create_dir_all(folder).map_err(unwritable)?;
        }
        std::fs::write(&reference, &self.commit).map_err(unwritable)?;
        Ok(ModelFolder { folder: snapshot, commit: Some(self.commit.clone()) })
    }
}

/// hf-hub's progress in terms of ours.
struct Bytes<'a> {
    progress: &'a dyn Progress,
}

impl hf_hub::api::Progress for Bytes<'_> {
    fn init(&mut self, _size: usize, _filename: &str) {}

    fn update(&mut self, size: usize) {
        self.progress.advance(size as u64);
    }

    fn finish(&mut self) {}
}

fn network(model: &HubModel, settings: &HubSettings, source: ApiError) -> HubError {
    match status(&source) {
        Some(status @ (401 | 403 | 404)) => HubError::NotFound {
            endpoint: settings.endpoint.clone(),
            model: model.name.clone(),
            revision: model.revision.clone(),
            status,
        },
        _ => HubError::Network {
            endpoint: settings.endpoint.clone(),
            model: model.name.clone(),
            source: Box::new(source),
        },
    }
}

fn status(error: &ApiError) -> Option<u16> {
    match error {
        ApiError::RequestError(error) => match error.as_ref() {
            ureq::Error::StatusCode(status) => Some(*status),
            _ => None,
        },
        ApiError::TooManyRetries(error) => status(error),
        _ => None,
    }
}

fn answer(settings: &HubSettings, reason: &str) -> HubError {
    HubError::Answer { endpoint: settings.endpoint.clone(), reason: reason.to_owned() }
}

/// The hub's description of the model, with sizes and checksums.
fn info(api: &Api, model: &HubModel, settings: &HubSettings) -> Result<Value, HubError> {
    let repository =
        Repo::with_revision(model.name.clone(), RepoType::Model, model.revision.clone());
    let failed = |error| network(model, settings, ApiError::RequestError(Box::new(error)));
    let mut response =
        api.repo(repository).info_request().query("blobs", "true").call().map_err(failed)?;
    let body = response.body_mut().read_to_string().map_err(failed)?;
    serde_json::from_str(&body).map_err(|error| answer(settings, &error.to_string()))
}

fn remote_files(info: &Value, settings: &HubSettings) -> Result<Vec<RemoteFile>, HubError> {
    let siblings = info.get("siblings").and_then(Value::as_array);
    let siblings = siblings.ok_or_else(|| answer(settings, "it lists no files"))?;
    siblings
        .iter()
        .map(|file| {
            let name = file.get("rfilename").and_then(Value::as_str);
            let name = name.ok_or_else(|| answer(settings, "a file has no name"))?;
            Ok(RemoteFile {
                name: name.to_owned(),
                bytes: file.get("size").and_then(Value::as_u64).unwrap_or(0),
                sha256: file.pointer("/lfs/sha256").and_then(Value::as_str).map(str::to_owned),
            })
        })
        .collect()
}

/// Chooses the files to fetch: settings, then safetensors or else PyTorch weights.
fn needed_files(all: &[RemoteFile], model: &str) -> Result<Vec<RemoteFile>, HubError> {
    let has = |name: &str| all.iter().any(|file| file.name == name);
    for wanted in ["config.json", "tokenizer.json"] {
        if !has(wanted) {
            return Err(HubError::NotUsable { model: model.to_owned(), wanted });
        }
    }
    let weights: Vec<&RemoteFile> = [("model", "safetensors"), ("pytorch_model", "bin")]
        .iter()
        .map(|(stem, extension)| {
            all.iter().filter(|f| is_weight(&f.name, stem, extension)).collect()
        })
        .find(|files: &Vec<&RemoteFile>| !files.is_empty())
        .ok_or_else(|| HubError::NotUsable {
            model: model.to_owned(),
            wanted: "model.safetensors or pytorch_model.bin",
        })?;
    let settings = all.iter().filter(|file| is_settings_file(&file.name));
    Ok(settings.chain(weights).cloned().collect())
}

/// A weight file of the top folder, whole, or a shard, or the index of shards.
fn is_weight(name: &str, stem: &str, extension: &str) -> bool {
    let Some(rest) = name.strip_prefix(stem) else { return false };
    let shard =
        rest.strip_suffix(extension).and_then(|rest| rest.strip_suffix('.')).is_some_and(|part| {
            part.is_empty()
                || part.strip_prefix('-').is_some_and(|part| {
                    part.contains("-of-")
                        && part.bytes().all(|byte| byte.is_ascii_digit() || b"-of".contains(&byte))
                })
        });
    shard || rest == format!(".{extension}.index.json")
}

/// A settings file of the top folder or of a numbered sentence-transformers module.
fn is_settings_file(name: &str) -> bool {
    match name.split_once('/') {
        None => SETTINGS_FILES.contains(&name),
        Some((folder, file)) => {
            file == "config.json" && folder.starts_with(|first: char| first.is_ascii_digit())
        }
    }
}

/// Compares a file with the hub's checksum and deletes it if it differs.
fn verify(path: &Path, file: &RemoteFile) -> Result<(), HubError> {
    let Some(expected) = &file.sha256 else { return Ok(()) };
    let found = sha256(path).map_err(|source| HubError::Cache { path: path.into(), source })?;
    if found == *expected {
        return Ok(());
    }
    // The link and the blob it points at; if they cannot be removed, the error still says why.
    if let Ok(blob) = path.canonicalize() {
        let _ = std::fs::remove_file(blob);
    }
    let _ = std::fs::remove_file(path);
    Err(HubError::Damaged { file: file.name.clone(), expected: expected.clone(), found })
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

fn hexadecimal(digest: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
pub(super) fn sha256_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
