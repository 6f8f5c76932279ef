//! A model in a folder, as transformers writes it and the Hugging Face hub has it.
//!
//! | file | what is read from it |
//! |---|---|
//! | `config.json` | family and sizes |
//! | `generation_config.json`, if there | tokens that end an answer |
//! | `tokenizer.json` | how text becomes tokens |
//! | `tokenizer_config.json`, if there | names of the first and the last token, the chat template |
//! | `chat_template.jinja`, if there | the chat template, in place of that one |
//! | `model.safetensors`, or `model.safetensors.index.json` and the files that it names | weights |
//!
//! Nothing else of the folder is opened. The files are from strangers, as GGUF files are.

mod config;
mod json;
mod tensors;
mod tokenizer;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use self::config::FolderConfig;
use self::json::Json;
use self::tensors::{Safetensors, WeightFiles};
use super::error::ModelError;
use super::gguf::bad;
use super::source::Parts;
use super::template::ChatTemplate;
use super::tokenizer::Tokenizer;
use super::weights::Weights;
use super::{Description, file_name, hexadecimal, sha256_of};

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";
const TOKENIZER: &str = "tokenizer.json";
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
const TEMPLATE: &str = "chat_template.jinja";

/// Reads all of a model.
pub(super) fn read(folder: &Path) -> Result<Parts, ModelError> {
    let FolderConfig { config, vocabulary, is_tied, frequency_factors, ends } =
        FolderConfig::read(folder)?;
    let mut tensors = Safetensors::open(folder, is_tied, (vocabulary, config.hidden))?;
    let settings = Json::read_if_there(&folder.join(TOKENIZER_CONFIG))?;
    let tokenizer = tokenizer::read(folder, settings.as_ref(), vocabulary, ends)?;
    let template = template(folder, settings.as_ref(), &tokenizer)?;
    let mut weights = Weights::load(&mut tensors, &config, vocabulary)?;
    weights.frequency_factors = frequency_factors;
    Ok(Parts { config, tokenizer, template, weights })
}

/// What a model says about itself.
pub(super) fn describe(folder: &Path) -> Result<Description, ModelError> {
    let FolderConfig { config, .. } = FolderConfig::read(folder)?;
    let mut bytes = 0;
    for path in WeightFiles::find(folder)?.shards {
        bytes += opened(&path)?.1;
    }
    Ok(Description {
        architecture: config.family.name().to_owned(),
        bytes,
        context: config.context,
        bytes_per_token: config.bytes_per_token(),
        license: None,
    })
}

/// The name of a folder, and the SHA-256 of what `sha256sum` writes of the files that are read, in
/// the order of their names.
pub(super) fn identity(folder: &Path) -> Result<(String, String), ModelError> {
    let settings = [CONFIG, GENERATION, TOKENIZER, TOKENIZER_CONFIG, TEMPLATE];
    let mut files: Vec<PathBuf> =
        settings.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    let weights = WeightFiles::find(folder)?;
    files.extend(weights.index);
    files.extend(weights.shards);
    files.sort();
    let mut hash = Sha256::new();
    for path in files {
        opened(&path)?;
        hash.update(format!("{}  {}\n", sha256_of(&path)?, file_name(&path)));
    }
    Ok((name_of(folder), hexadecimal(&hash.finalize())))
}

/// The name of a folder; in the cache of the hub, where folders are named by commits, that of the
/// repository without its owner.
fn name_of(folder: &Path) -> String {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let above = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let (snapshots, repository) = (above(&full), above(&above(&full)));
    if file_name(&snapshots) == "snapshots"
        && let Some((_, name)) =
            file_name(&repository).strip_prefix("models--").and_then(|name| name.rsplit_once("--"))
    {
        return name.to_owned();
    }
    let name = file_name(folder);
    // Of `.` and `..` the path has no name.
    if name.is_empty() { file_name(&full) } else { name }
}

/// The template for conversations: a file of its own goes before the settings of the tokenizer.
fn template(
    folder: &Path,
    settings: Option<&Json>,
    tokenizer: &Tokenizer,
) -> Result<ChatTemplate, ModelError> {
    let path = folder.join(TEMPLATE);
    let key = "chat_template";
    let (path, source) = if let Some(source) = json::text_if_there(&path)? {
        (path, source)
    } else {
        let settings = settings.ok_or_else(|| not_there(folder.join(TOKENIZER_CONFIG)))?;
        (settings.path.clone(), default_template(settings, key)?)
    };
    ChatTemplate::new(&source, &tokenizer.first_text, &tokenizer.end_text).map_err(|error| {
        ModelError::Model { path, fault: bad(key, format!("cannot be read: {error}")) }
    })
}

/// The only template, or of several the one that is named `default`, as transformers takes it.
fn default_template(settings: &Json, key: &str) -> Result<String, ModelError> {
    let Some(several) = settings.get(key).and_then(|value| value.as_array()) else {
        return Ok(settings.text(key)?.to_owned());
    };
    let default = several.iter().find(|one| one["name"] == "default");
    let source = default.and_then(|one| one["template"].as_str());
    source.map(str::to_owned).ok_or_else(|| settings.wrong(key, "holds none named `default`"))
}

/// A file that lacks.
fn not_there(path: PathBuf) -> ModelError {
    ModelError::File { path, source: io::ErrorKind::NotFound.into() }
}

/// A file and its size. Anything but a file, which may be waited for without end, is refused.
fn opened(path: &Path) -> Result<(File, u64), ModelError> {
    let io = |source| ModelError::File { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        return Err(io(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    Ok((File::open(path).map_err(io)?, metadata.len()))
}
