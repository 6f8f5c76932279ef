//! From `DIR_OR_HUB_ID[@REVISION]` to a model folder on this machine.
//!
//! Looked for in this order: a folder of that name; the Hugging Face cache; the hub itself, unless
//! [`HubSettings::offline`]. What the cache has is used without asking the hub whether there is a
//! newer commit; name a revision, or delete the cached model, to get another.

use std::path::{Path, PathBuf};

use crate::data::progress::Progress;

mod cache;
mod download;
mod error;
mod gguf;
mod gguf_names;
mod language;
mod pull;
mod repository;
mod requests;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use cache::cached_models;
pub(crate) use download::Download;
pub(crate) use error::{HubError, megabytes};
pub(crate) use gguf::{GgufReference, cached_gguf, locate_gguf};
pub(crate) use language::cached_language_models;
pub(crate) use pull::{ModelKind, Planned, pull};
pub(crate) use settings::HubSettings;

use cache::ModelCache;

/// The branch that a name without `@REVISION` means.
const DEFAULT_REVISION: &str = "main";

/// A model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HubModel {
    /// `org/name`, or a single name for a few old models.
    pub name: String,
    /// Branch, tag or commit.
    pub revision: String,
}

/// What a user may write after `bert:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelReference {
    /// A folder that exists.
    Folder(PathBuf),
    /// A model on the hub.
    Hub(HubModel),
}

/// A model folder on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelFolder {
    /// The folder to load.
    pub folder: PathBuf,
    /// The commit, if the model came from the hub.
    pub commit: Option<String>,
}

impl ModelReference {
    /// Tells folders from names; what exists as a folder is a folder.
    ///
    /// # Errors
    ///
    /// [`HubError::MissingFolder`] for what can only be a path and does not exist,
    /// [`HubError::InvalidReference`] for what the hub would not accept as a name.
    pub(crate) fn parse(reference: &str) -> Result<Self, HubError> {
        let path = Path::new(reference);
        if path.is_dir() {
            return Ok(Self::Folder(path.into()));
        }
        let only_a_path = path.has_root()
            || reference.starts_with(['.', '~'])
            || reference.contains('\\')
            || reference.ends_with('/');
        if only_a_path {
            return Err(HubError::MissingFolder { path: path.into() });
        }
        let (name, revision) = reference.split_once('@').unwrap_or((reference, DEFAULT_REVISION));
        if is_name(name) && is_revision(revision) {
            Ok(Self::Hub(HubModel { name: name.to_owned(), revision: revision.to_owned() }))
        } else {
            Err(HubError::InvalidReference { reference: reference.to_owned() })
        }
    }
}

/// The hub's rule for names: one or two parts of letters, digits, `-`, `_` and `.`.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            && !part.starts_with(['-', '.'])
            && !part.ends_with(['-', '.'])
            && !part.contains("--")
            && !part.contains("..")
    };
    name.split('/').count() <= 2 && name.split('/').all(is_part)
}

/// A revision becomes a path in the cache, so it must not lead elsewhere.
fn is_revision(revision: &str) -> bool {
    !revision.is_empty()
        && !revision.contains(['\\', '@', '?', '#', '%'])
        && revision.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

impl HubModel {
    fn not_cached(&self, settings: &HubSettings) -> HubError {
        HubError::NotCached {
            model: self.name.clone(),
            revision: self.revision.clone(),
            looked_at: ModelCache::new(settings, &self.name).looked_at(&self.revision),
        }
    }

    fn not_pulled(&self, settings: &HubSettings) -> HubError {
        HubError::NotPulled {
            model: self.name.clone(),
            revision: self.revision.clone(),
            looked_at: ModelCache::new(settings, &self.name).looked_at(&self.revision),
        }
    }

    /// The model's folder in the cache, if it is complete.
    fn find(&self, settings: &HubSettings) -> Option<ModelFolder> {
        let folder = ModelCache::new(settings, &self.name).find(&self.revision)?;
        let commit = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Some(ModelFolder { folder, commit })
    }
}

/// Finds a model on this machine, without any request.
///
/// # Errors
///
/// [`HubError::NotPulled`] with the paths looked at, or the errors of [`ModelReference::parse`].
pub(crate) fn locate(reference: &str, settings: &HubSettings) -> Result<ModelFolder, HubError> {
    match ModelReference::parse(reference)? {
        ModelReference::Folder(folder) => Ok(ModelFolder { folder, commit: None }),
        ModelReference::Hub(model) => {
            model.find(settings).ok_or_else(|| model.not_pulled(settings))
        }
    }
}

/// Finds a model on this machine or fetches it.
///
/// `begin` is called once, with the number of bytes, before a download starts, and returns who
/// hears of the bytes; it is not called if nothing needs to be fetched.
///
/// # Errors
///
/// [`HubError`]; [`HubError::is_network`] tells the network's faults from a model that is not
/// there.
pub(crate) fn resolve(
    reference: &str,
    settings: &HubSettings,
    begin: &dyn Fn(u64) -> Box<dyn Progress>,
) -> Result<ModelFolder, HubError> {
    match ModelReference::parse(reference)? {
        ModelReference::Folder(folder) => Ok(ModelFolder { folder, commit: None }),
        ModelReference::Hub(model) => {
            if let Some(found) = model.find(settings) {
                return Ok(found);
            }
            let download = Download::plan(&model, settings)?;
            download.run(&*begin(download.bytes()))
        }
    }
}
