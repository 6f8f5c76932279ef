//! Fetching what a user names, whatever kind of model it is.

use std::path::{Path, PathBuf};

use super::download::Download;
use super::error::HubError;
use super::gguf::{GgufReference, is_language_model};
use super::repository::{RemoteFile, Repository};
use super::settings::HubSettings;
use super::{ModelFolder, ModelReference};
use crate::data::progress::Progress;

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// It makes vectors.
    Encoder,
    /// It is a language model: one file of the format GGUF, or a folder with safetensors files.
    Language,
}

/// What is about to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned<'a> {
    /// The repository, and the file if there is but one.
    pub name: String,
    /// Bytes of all files, 0 if the hub does not say.
    pub bytes: u64,
    /// The licence in the words of the repository, if it names one.
    pub licence: Option<&'a str>,
}

/// Fetches a model if it is not on this machine, and says where it is: a folder, or the file of a
/// language model that is one.
///
/// Without a `kind`, a name with a file is a language model; any other is an encoder if the
/// repository has what an encoder needs, else a language model if it has one. `begin` is called as
/// that of [`super::resolve`].
///
/// # Errors
///
/// As [`super::resolve`]; [`HubError::SeveralFiles`] if it is not said which of several files is meant.
pub(crate) fn pull(
    reference: &str,
    kind: Option<ModelKind>,
    settings: &HubSettings,
    begin: &dyn Fn(&Planned<'_>) -> Box<dyn Progress>,
) -> Result<PathBuf, HubError> {
    let language = || GgufReference::parse(reference);
    let language = match kind {
        Some(ModelKind::Encoder) => None,
        Some(ModelKind::Language) if is_language_model(Path::new(reference)) => {
            return Ok(reference.into());
        }
        Some(ModelKind::Language) => Some(language()?),
        None if Path::new(reference).is_dir() => None,
        // What is no such name is said of it as of an encoder's, unless a file is named.
        None => match language() {
            Err(HubError::InvalidGguf { .. }) => None,
            other => Some(other?),
        },
    };
    let only_language =
        |language: &&GgufReference| kind == Some(ModelKind::Language) || language.file.is_some();
    if let Some(language) = language.as_ref().filter(only_language) {
        if let Ok(path) = language.find(settings) {
            return Ok(path);
        }
        let repository = language.ask(settings)?;
        if language.file.is_none() && !repository.has_gguf() {
            let (files, name) = (repository.language_files()?, language.name());
            return Ok(fetched(repository, files, name, begin)?.folder);
        }
        let file = repository.gguf_file(language.file.as_deref())?;
        return fetched_file(repository, file, begin);
    }
    let model = match ModelReference::parse(reference)? {
        ModelReference::Folder(folder) => return Ok(folder),
        ModelReference::Hub(model) => model,
    };
    if let Some(found) = model.find(settings) {
        return Ok(found.folder);
    }
    if let Some(Ok(path)) = language.as_ref().map(|language| language.find(settings)) {
        return Ok(path);
    }
    let repository = Repository::ask(&model, settings)?;
    match repository.encoder_files() {
        Err(_) if language.is_some() && repository.has_gguf() => {
            let file = repository.gguf_file(None)?;
            fetched_file(repository, file, begin)
        }
        files => Ok(fetched(repository, files?, model.name, begin)?.folder),
    }
}

/// Fetches one file and says where it is.
fn fetched_file(
    repository: Repository,
    file: RemoteFile,
    begin: &dyn Fn(&Planned<'_>) -> Box<dyn Progress>,
) -> Result<PathBuf, HubError> {
    let (name, full) = (file.name.clone(), format!("{}/{}", repository.name(), file.name));
    Ok(fetched(repository, vec![file], full, begin)?.folder.join(name))
}

/// Fetches files.
fn fetched(
    repository: Repository,
    files: Vec<RemoteFile>,
    name: String,
    begin: &dyn Fn(&Planned<'_>) -> Box<dyn Progress>,
) -> Result<ModelFolder, HubError> {
    let licence = repository.licence().map(str::to_owned);
    let download = Download::of(repository, files);
    let planned = Planned { name, bytes: download.bytes(), licence: licence.as_deref() };
    download.run(&*begin(&planned))
}
