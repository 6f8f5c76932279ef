//! Language models, `OWNER/REPOSITORY[/FILE][@REVISION]`: one file of the format GGUF, or the folder of
//! a repository that has none.

use std::path::{Path, PathBuf};

use super::cache::{self, ModelCache};
use super::error::HubError;
use super::gguf_names::{ENDING, is_file_name, is_part, is_whole};
use super::language::language_family;
use super::repository::Repository;
use super::settings::HubSettings;
use super::{DEFAULT_REVISION, HubModel, is_name, is_revision};

/// A language model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GgufReference {
    /// The repository.
    pub model: HubModel,
    /// The file in it, with folders; `None` for the only one there is, or for the folder if there is
    /// none.
    pub file: Option<String>,
}

/// A language model in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GgufFile {
    /// The repository's name on the hub.
    pub model: String,
    /// The file's name in the repository.
    pub file: String,
    /// The commit.
    pub commit: String,
    /// The branches and tags that pointed at the commit when it was fetched, sorted.
    pub revisions: Vec<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// The file to load.
    pub path: PathBuf,
}

impl GgufReference {
    /// Reads `OWNER/REPOSITORY[/FILE][@REVISION]`; nothing is looked up.
    ///
    /// # Errors
    ///
    /// [`HubError::InvalidGguf`] if it is nothing of the kind, [`HubError::Part`] for a part of a
    /// model.
    pub(crate) fn parse(reference: &str) -> Result<Self, HubError> {
        let invalid = || HubError::InvalidGguf { reference: reference.to_owned() };
        let (path, revision) = reference.split_once('@').unwrap_or((reference, DEFAULT_REVISION));
        let mut parts = path.splitn(3, '/');
        let (Some(owner), Some(name), file) = (parts.next(), parts.next(), parts.next()) else {
            return Err(invalid());
        };
        let name = format!("{owner}/{name}");
        // `folder/model.gguf` is a file that is not there, no repository.
        if !is_name(&name) || name.ends_with(ENDING) || !is_revision(revision) {
            return Err(invalid());
        }
        match file {
            Some(file) if !is_file_name(file) => return Err(invalid()),
            Some(file) if is_part(file) => return Err(HubError::Part { file: file.to_owned() }),
            _ => {}
        }
        let model = HubModel { name, revision: revision.to_owned() };
        Ok(Self { model, file: file.map(str::to_owned) })
    }

    /// The repository's name, with the file's if there is one.
    pub(crate) fn name(&self) -> String {
        match &self.file {
            Some(file) => format!("{}/{file}", self.model.name),
            None => self.model.name.clone(),
        }
    }

    /// The file or folder in the cache; no request is made.
    ///
    /// # Errors
    ///
    /// [`HubError::NotPulled`] if it is not there, [`HubError::SeveralFiles`] if it is not said
    /// which of several is meant, [`HubError::Cache`] if the cache cannot be read.
    pub(crate) fn find(&self, settings: &HubSettings) -> Result<PathBuf, HubError> {
        let cache = ModelCache::new(settings, &self.model.name);
        let not_pulled = || HubError::NotPulled {
            model: self.name(),
            revision: self.model.revision.clone(),
            looked_at: self.looked_at(settings),
        };
        let folder = cache.folder(&self.model.revision).ok_or_else(not_pulled)?;
        if let Some(file) = &self.file {
            let path = folder.join(file);
            return if path.is_file() { Ok(path) } else { Err(not_pulled()) };
        }
        let mut files = files_below(&folder, "")?;
        match files.len() {
            0 if language_family(&folder).is_some() => Ok(folder),
            0 => Err(not_pulled()),
            1 => Ok(files.remove(0).2),
            _ => Err(HubError::SeveralFiles {
                model: self.model.name.clone(),
                files: files.into_iter().map(|(name, bytes, _)| (name, bytes)).collect(),
            }),
        }
    }

    /// The paths that [`Self::find`] looks at.
    fn looked_at(&self, settings: &HubSettings) -> Vec<PathBuf> {
        let cache = ModelCache::new(settings, &self.model.name);
        let folder = cache.folder(&self.model.revision);
        let file = folder.zip(self.file.as_ref()).map(|(folder, file)| folder.join(file));
        file.map_or_else(|| cache.looked_at(&self.model.revision), |file| vec![file])
    }

    /// Asks the hub for the repository.
    pub(super) fn ask(&self, settings: &HubSettings) -> Result<Repository, HubError> {
        if settings.offline {
            return Err(HubError::NotCached {
                model: self.name(),
                revision: self.model.revision.clone(),
                looked_at: self.looked_at(settings),
            });
        }
        Repository::ask(&self.model, settings)
    }
}

/// The file or folder that a user names: a path if there is such a model, else one of the cache. No
/// request is made.
///
/// # Errors
///
/// As [`GgufReference::parse`] and [`GgufReference::find`].
pub(crate) fn locate_gguf(reference: &str, settings: &HubSettings) -> Result<PathBuf, HubError> {
    let path = Path::new(reference);
    if is_language_model(path) {
        return Ok(path.to_owned());
    }
    GgufReference::parse(reference)?.find(settings)
}

/// Whether a path is a file, or a folder with the configuration of a model.
pub(super) fn is_language_model(path: &Path) -> bool {
    path.is_file() || path.join("config.json").is_file()
}

/// The language models in the cache that are one file, sorted by repository, commit and name.
///
/// A cache that does not exist is empty.
///
/// # Errors
///
/// [`HubError::Cache`] if the cache cannot be read.
pub(crate) fn cached_gguf(settings: &HubSettings) -> Result<Vec<GgufFile>, HubError> {
    let mut models = Vec::new();
    for snapshot in cache::snapshots(settings)? {
        for (file, bytes, path) in files_below(&snapshot.folder, "")? {
            models.push(GgufFile {
                model: snapshot.model.clone(),
                file,
                commit: snapshot.commit.clone(),
                revisions: snapshot.revisions.clone(),
                bytes,
                path,
            });
        }
    }
    Ok(models)
}

/// Names, sizes and paths of the models below a folder.
pub(super) fn files_below(
    folder: &Path,
    above: &str,
) -> Result<Vec<(String, u64, PathBuf)>, HubError> {
    let mut found = Vec::new();
    for (name, path) in cache::entries(folder)? {
        let name = format!("{above}{name}");
        if path.is_dir() {
            found.extend(files_below(&path, &format!("{name}/"))?);
        } else if is_whole(&name)
            && let Ok(metadata) = path.metadata()
        {
            found.push((name, metadata.len(), path));
        }
    }
    Ok(found)
}
