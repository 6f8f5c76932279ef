//! Language models in folders: safetensors files with configuration and tokenizer.

use std::path::Path;

use caz_gguf::FAMILIES;
use serde_json::Value;

use super::cache::{self, ModelSnapshot, Snapshot, is_complete};
use super::error::HubError;
use super::gguf::files_below;
use super::settings::HubSettings;
use crate::embed::bert;

/// The family that a config.json names, if it is one of language models that run on this machine.
pub(super) fn family_of(config: &str) -> Option<&'static str> {
    let config: Value = serde_json::from_str(config).ok()?;
    let family = config.get("model_type")?.as_str()?;
    FAMILIES.into_iter().find(|known| *known == family)
}

/// The family of a folder with all that a language model needs.
pub(super) fn language_family(folder: &Path) -> Option<&'static str> {
    let is_whole = is_complete(folder)
        && bert::weight_paths(folder).is_ok_and(|files| {
            files.iter().all(|file| file.extension().is_some_and(|ending| ending == "safetensors"))
        });
    let config = std::fs::read_to_string(folder.join("config.json")).ok()?;
    // Of the same family, but an embedding model.
    let is_embedder = folder.join("modules.json").is_file();
    family_of(&config).filter(|_| is_whole && !is_embedder)
}

/// The language models in the cache that are folders, sorted by name and commit.
///
/// A cache that does not exist is empty. A repository that has GGUF files is not listed: its name
/// means one of them.
///
/// # Errors
///
/// [`HubError::Cache`] if the cache cannot be read.
pub(crate) fn cached_language_models(
    settings: &HubSettings,
) -> Result<Vec<ModelSnapshot>, HubError> {
    let mut models = Vec::new();
    for Snapshot { model, commit, revisions, folder } in cache::snapshots(settings)? {
        if let Some(family) = language_family(&folder)
            && files_below(&folder, "")?.is_empty()
        {
            let (family, bytes) = (family.to_owned(), cache::size(&folder)?);
            models.push(ModelSnapshot { model, commit, revisions, family, bytes, folder });
        }
    }
    Ok(models)
}
