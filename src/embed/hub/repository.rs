//! What the hub says of a repository, and the files of it that are worth fetching.

use serde_json::Value;

use super::HubModel;
use super::cache::is_commit;
use super::error::HubError;
use super::gguf_names::is_whole;
use super::language::family_of;
use super::requests::{Client, Failure};
use super::settings::HubSettings;

/// Files of the repository's top folder that `bert:` and `local:` may read, weights apart.
const SETTINGS_FILES: [&str; 8] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "generation_config.json",
    "chat_template.jinja",
];

/// Where old encoders of sentence-transformers have the transformer.
const OLD_FOLDER: &str = "0_Transformer/";

/// Kinds of files with weights, by what their names begin and end with, the best first.
const WEIGHTS: [(&str, &str); 2] = [("model", "safetensors"), ("pytorch_model", "bin")];

/// Bytes of a config.json at most; that of the largest model has some thousands.
const MOST_CONFIG_BYTES: u64 = 1 << 20;

/// One file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteFile {
    pub(super) name: String,
    /// 0 if the hub does not say.
    pub(super) bytes: u64,
    pub(super) sha256: Option<String>,
    /// What the hub calls the content.
    pub(super) content: Option<String>,
}

/// A repository as the hub describes it.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) model: HubModel,
    pub(super) commit: String,
    files: Vec<RemoteFile>,
    licence: Option<String>,
    pub(super) client: Client,
    pub(super) settings: HubSettings,
}

impl Repository {
    /// Asks the hub.
    ///
    /// # Errors
    ///
    /// [`HubError`] if settings forbid it, the hub cannot be reached or does not have the model.
    pub(super) fn ask(model: &HubModel, settings: &HubSettings) -> Result<Self, HubError> {
        if settings.offline {
            return Err(model.not_cached(settings));
        }
        let client = Client::new(settings);
        let info = info(&client, model, settings)?;
        let commit = info.get("sha").and_then(Value::as_str).filter(|commit| is_commit(commit));
        let commit = commit.ok_or_else(|| answer(settings, "it names no commit"))?.to_owned();
        let files = remote_files(&info, settings)?;
        let (licence, settings) = (licence(&info), settings.clone());
        Ok(Self { model: model.clone(), commit, files, licence, client, settings })
    }

    /// Its name on the hub.
    pub(super) fn name(&self) -> &str {
        &self.model.name
    }

    /// The files that an encoder needs.
    pub(super) fn encoder_files(&self) -> Result<Vec<RemoteFile>, HubError> {
        needed_files(&self.files, &self.model.name, &WEIGHTS)
    }

    /// The files that a language model in safetensors files needs.
    ///
    /// # Errors
    ///
    /// [`HubError::NotUsable`] if the repository has no such model, or one of another family; errors
    /// of the request for its configuration.
    pub(super) fn language_files(&self) -> Result<Vec<RemoteFile>, HubError> {
        let not_usable = || HubError::NotUsable {
            model: self.model.name.clone(),
            wanted: "language model, neither in one file of the format GGUF nor in safetensors \
                     files with config.json and tokenizer.json of the families llama, qwen2 and qwen3",
        };
        if !self.files.iter().any(|file| file.name == "config.json") {
            return Err(not_usable());
        }
        let files = needed_files(&self.files, &self.model.name, &WEIGHTS[..1]);
        let files = files.map_err(|_| not_usable())?;
        let failed = |failure| network(&self.model, &self.settings, failure);
        let address = format!("{}/resolve/{}/config.json", self.model.name, self.commit);
        let mut response = self.client.get(&address, 0).map_err(failed)?;
        let config = response.body_mut().with_config().limit(MOST_CONFIG_BYTES).read_to_string();
        let config = config.map_err(|error| failed(Failure::Connection(Box::new(error))))?;
        family_of(&config).ok_or_else(not_usable)?;
        Ok(files)
    }

    /// Whether there is a language model in one file.
    pub(super) fn has_gguf(&self) -> bool {
        self.files.iter().any(|file| is_whole(&file.name))
    }

    /// The file of that name, or the only one there is.
    ///
    /// # Errors
    ///
    /// [`HubError::Part`], [`HubError::NoSuchFile`], [`HubError::SeveralFiles`],
    /// [`HubError::NotUsable`].
    pub(super) fn gguf_file(&self, wanted: Option<&str>) -> Result<RemoteFile, HubError> {
        let files: Vec<&RemoteFile> =
            self.files.iter().filter(|file| is_whole(&file.name)).collect();
        let sizes = || files.iter().map(|file| (file.name.clone(), file.bytes)).collect();
        let found = match (wanted, files.as_slice()) {
            (Some(name), _) => files.iter().find(|file| file.name == name),
            (None, [only]) => Some(only),
            (None, [_, _, ..]) => {
                return Err(HubError::SeveralFiles {
                    model: self.model.name.clone(),
                    files: sizes(),
                });
            }
            (None, []) => None,
        };
        match (found, wanted) {
            (Some(file), _) => Ok((*file).clone()),
            (None, Some(file)) if !files.is_empty() => Err(HubError::NoSuchFile {
                model: self.model.name.clone(),
                file: file.to_owned(),
                files: sizes(),
            }),
            (None, _) => Err(HubError::NotUsable {
                model: self.model.name.clone(),
                wanted: "language model in one file of the format GGUF",
            }),
        }
    }

    /// The licence in the words of the repository, if it names one.
    pub(super) fn licence(&self) -> Option<&str> {
        self.licence.as_deref()
    }
}

/// A failed request as an error about the model.
pub(super) fn network(model: &HubModel, settings: &HubSettings, failure: Failure) -> HubError {
    let source = match failure {
        Failure::Status(status @ (401 | 403 | 404)) => {
            return HubError::NotFound {
                endpoint: settings.shown_endpoint(),
                model: model.name.clone(),
                revision: model.revision.clone(),
                status,
            };
        }
        Failure::Answer(reason) => return answer(settings, &reason),
        Failure::Distrust(host, problem) => return HubError::NotTrusted { host, problem },
        Failure::Status(status) => Box::new(ureq::Error::StatusCode(status)),
        Failure::Connection(source) => source,
    };
    let (endpoint, model) = (settings.shown_endpoint(), model.name.clone());
    HubError::Network { endpoint, model, source }
}

/// What the hub says is not what its interface promises.
pub(super) fn answer(settings: &HubSettings, reason: &str) -> HubError {
    HubError::Answer { endpoint: settings.shown_endpoint(), reason: reason.to_owned() }
}

/// The hub's description of the model, with sizes and checksums.
fn info(client: &Client, model: &HubModel, settings: &HubSettings) -> Result<Value, HubError> {
    let revision = model.revision.replace('/', "%2F");
    let address = format!("api/models/{}/revision/{revision}?blobs=true", model.name);
    let failed = |failure| network(model, settings, failure);
    let mut response = client.get(&address, 0).map_err(failed)?;
    let body = response.body_mut().read_to_string();
    let body = body.map_err(|error| failed(Failure::Connection(Box::new(error))))?;
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
            let text = |pointer| file.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            let sha256 = text("/lfs/sha256");
            // It becomes the name of a file.
            let content = sha256.clone().or_else(|| text("/blobId")).filter(|id| is_commit(id));
            Ok(RemoteFile {
                name: name.to_owned(),
                bytes: file.get("size").and_then(Value::as_u64).unwrap_or(0),
                sha256,
                content,
            })
        })
        .collect()
}

/// Chooses the files to fetch: settings, then the weights of the first of `kinds` that is there.
fn needed_files(
    all: &[RemoteFile],
    model: &str,
    kinds: &[(&str, &str)],
) -> Result<Vec<RemoteFile>, HubError> {
    let has = |name: &str| all.iter().any(|file| file.name == name);
    // Old encoders of sentence-transformers have the transformer in a folder of its own.
    let top = if has("config.json") || !has(&format!("{OLD_FOLDER}config.json")) {
        ""
    } else {
        OLD_FOLDER
    };
    for wanted in ["config.json", "tokenizer.json"] {
        if !has(&format!("{top}{wanted}")) {
            return Err(HubError::NotUsable { model: model.to_owned(), wanted });
        }
    }
    let inside = |file: &RemoteFile| file.name.strip_prefix(top).unwrap_or_default().to_owned();
    let weights: Vec<&RemoteFile> = kinds
        .iter()
        .map(|(stem, extension)| {
            all.iter().filter(|f| is_weight(&inside(f), stem, extension)).collect()
        })
        .find(|files: &Vec<&RemoteFile>| !files.is_empty())
        .ok_or_else(|| HubError::NotUsable {
            model: model.to_owned(),
            wanted: "model.safetensors or pytorch_model.bin",
        })?;
    let is_setting =
        |file: &&RemoteFile| is_settings_file(&file.name) || is_settings_file(&inside(file));
    let settings = all.iter().filter(is_setting);
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
            file == "config.json"
                && folder.starts_with(|first: char| first.is_ascii_digit())
                && folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        }
    }
}

/// The licence that the repository's card names: an identifier, and for one of their own its name
/// and address.
pub(super) fn licence(info: &Value) -> Option<String> {
    let card = |key: &str| match info.get("cardData")?.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(several) => {
            let texts: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", "))
        }
        _ => None,
    };
    let tagged = || {
        let tags = info.get("tags")?.as_array()?;
        tags.iter().find_map(|tag| tag.as_str()?.strip_prefix("license:").map(str::to_owned))
    };
    let named = card("license").or_else(tagged);
    let own = [card("license_name"), card("license_link")];
    let words: Vec<String> = [named].into_iter().chain(own).flatten().collect();
    let words = words.join(", ");
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}
