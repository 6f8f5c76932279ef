//! The folders of the Hugging Face cache: `models--org--name/{refs,snapshots,blobs}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::HubError;
use super::settings::HubSettings;
use crate::embed::bert;

/// Files without which a folder is no model for `bert:`.
const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];

/// A model in the cache that is a folder: one that `bert:` or `static:` can load, or a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelSnapshot {
    /// Its name on the hub.
    pub model: String,
    /// The commit.
    pub commit: String,
    /// The branches and tags that pointed at the commit when it was fetched, sorted.
    pub revisions: Vec<String>,
    /// The family, `model_type` in config.json.
    pub family: String,
    /// Size of its files in bytes.
    pub bytes: u64,
    /// The folder to load.
    pub folder: PathBuf,
}

/// Where the cache keeps one model.
pub(super) struct ModelCache {
    root: PathBuf,
}

impl ModelSnapshot {
    /// How an embedder's name begins that takes it.
    pub(crate) fn prefix(&self) -> &'static str {
        if self.family == STATIC { "static:" } else { "bert:" }
    }
}

impl ModelCache {
    pub(super) fn new(settings: &HubSettings, model: &str) -> Self {
        Self { root: settings.cache.join(format!("models--{}", model.replace('/', "--"))) }
    }

    pub(super) fn reference(&self, revision: &str) -> PathBuf {
        self.root.join("refs").join(revision)
    }

    pub(super) fn snapshot(&self, commit: &str) -> PathBuf {
        self.root.join("snapshots").join(commit)
    }

    /// Where the content of a file is kept.
    pub(super) fn blob(&self, name: &str) -> PathBuf {
        self.root.join("blobs").join(name)
    }

    /// The snapshot of a branch, tag or commit, if its files are complete.
    pub(super) fn find(&self, revision: &str) -> Option<PathBuf> {
        self.folder(revision).filter(|folder| is_complete(folder))
    }

    /// Where the files of a branch, tag or commit are, as far as they are there.
    pub(super) fn folder(&self, revision: &str) -> Option<PathBuf> {
        let commit = std::fs::read_to_string(self.reference(revision));
        let commit = commit.map_or_else(|_| revision.to_owned(), |commit| commit.trim().to_owned());
        // A damaged reference must not lead outside the cache.
        is_commit(&commit).then(|| self.snapshot(&commit))
    }

    /// The paths that [`Self::find`] looks at.
    pub(super) fn looked_at(&self, revision: &str) -> Vec<PathBuf> {
        vec![self.reference(revision), self.snapshot(revision)]
    }
}

/// Whether this is the name of a commit: letters and digits only.
pub(super) fn is_commit(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The family of models without a transformer, as model2vec calls it.
const STATIC: &str = "model2vec";

/// Whether all files that `bert:` or `static:` reads are there.
pub(super) fn is_complete(folder: &Path) -> bool {
    // What has no transformer is whole, or not, where it is.
    let folder = bert::transformer_folder(folder).unwrap_or_else(|_| folder.to_owned());
    NEEDED.iter().all(|name| folder.join(name).is_file())
        && bert::weight_paths(&folder)
            .is_ok_and(|files| !files.is_empty() && files.iter().all(|file| file.is_file()))
}

/// The models in the cache that `bert:` or `static:` can load, sorted by name and commit.
///
/// A cache that does not exist is empty.
///
/// # Errors
///
/// [`HubError::Cache`] if the cache cannot be read.
pub(crate) fn cached_models(settings: &HubSettings) -> Result<Vec<ModelSnapshot>, HubError> {
    let mut models = Vec::new();
    for Snapshot { model, commit, revisions, folder } in snapshots(settings)? {
        if !is_complete(&folder) {
            continue;
        }
        let family = match bert::transformer_folder(&folder) {
            Ok(folder) => bert::supported_family(&folder),
            Err(_) => bert::model_type(&folder).filter(|family| family == STATIC),
        };
        let Some(family) = family else { continue };
        let bytes = size(&folder)?;
        models.push(ModelSnapshot { model, commit, revisions, family, bytes, folder });
    }
    Ok(models)
}

/// The files of one commit, as far as they are there.
pub(super) struct Snapshot {
    pub(super) model: String,
    pub(super) commit: String,
    /// The branches and tags that point at it, sorted.
    pub(super) revisions: Vec<String>,
    pub(super) folder: PathBuf,
}

/// All commits in the cache, sorted by model and commit.
pub(super) fn snapshots(settings: &HubSettings) -> Result<Vec<Snapshot>, HubError> {
    let mut found = Vec::new();
    for (name, root) in entries(&settings.cache)? {
        let Some(name) = name.strip_prefix("models--") else { continue };
        let revisions = revisions(&root.join("refs"))?;
        for (commit, folder) in entries(&root.join("snapshots"))? {
            let of_commit = revisions.iter().filter(|(_, target)| **target == commit);
            let revisions = of_commit.map(|(revision, _)| revision.clone()).collect();
            found.push(Snapshot { model: name.replace("--", "/"), commit, revisions, folder });
        }
    }
    Ok(found)
}

/// Branches and tags with the commits they point at; names may contain slashes.
fn revisions(folder: &Path) -> Result<BTreeMap<String, String>, HubError> {
    let mut found = BTreeMap::new();
    for (name, path) in entries(folder)? {
        if path.is_dir() {
            for (inner, commit) in revisions(&path)? {
                found.insert(format!("{name}/{inner}"), commit);
            }
        } else if let Ok(commit) = std::fs::read_to_string(&path) {
            // Some programs also write one file per commit, which is no name of its own.
            if commit.trim() != name {
                found.insert(name, commit.trim().to_owned());
            }
        }
    }
    Ok(found)
}

/// The bytes of all files below `folder`, through symbolic links.
pub(super) fn size(folder: &Path) -> Result<u64, HubError> {
    let mut bytes = 0;
    for (_, path) in entries(folder)? {
        if path.is_dir() {
            bytes += size(&path)?;
        } else {
            bytes += std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        }
    }
    Ok(bytes)
}

/// Names and paths in a folder, sorted; a folder that is not there is empty.
pub(super) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, HubError> {
    let unreadable = |source| HubError::Cache { path: folder.into(), source };
    let list = match std::fs::read_dir(folder) {
        Ok(list) => list,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(source) => return Err(unreadable(source)),
    };
    let mut found = Vec::new();
    for entry in list {
        let entry = entry.map_err(unreadable)?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
