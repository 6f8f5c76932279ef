//! Where models come from, by the conventions of Python's `huggingface_hub`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::HubError;
use crate::llm::{ProxySettings, Trust};

/// The hub unless `HF_ENDPOINT` says otherwise.
const ENDPOINT: &str = "https://huggingface.co";

/// An access token; never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// A token, `None` if there is nothing but white space.
    pub(crate) fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        (!token.is_empty()).then(|| Self(token.to_owned()))
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(***)")
    }
}

/// How long the hub is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waits {
    /// For a connection.
    pub connection: Duration,
    /// For the start of an answer.
    pub answer: Duration,
    /// For the next bytes of a file. There is no limit for a whole file, which may be large.
    pub silence: Duration,
}

impl Default for Waits {
    /// 15 s for a connection, 60 s for an answer, 60 s for the next bytes.
    fn default() -> Self {
        let minute = Duration::from_mins(1);
        Self { connection: Duration::from_secs(15), answer: minute, silence: minute }
    }
}

/// Where models are looked for and fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HubSettings {
    /// The folder that holds `models--org--name`.
    pub cache: PathBuf,
    /// The hub's address, without a slash at the end.
    pub endpoint: String,
    /// Sent to the hub with every request, and to no other host that the hub redirects to.
    pub token: Option<Token>,
    /// No request is made.
    pub offline: bool,
    /// Which proxy to use.
    pub proxy: ProxySettings,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// How long to wait.
    pub waits: Waits,
}

impl HubSettings {
    /// The endpoint without name and password, for messages.
    pub(crate) fn shown_endpoint(&self) -> String {
        without_login(&self.endpoint)
    }

    /// Reads the settings from environment variables, given by a function so that the library
    /// itself does not look at the environment.
    ///
    /// | setting | from |
    /// |---|---|
    /// | cache | `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, else `hub` in the home below |
    /// | home | `HF_HOME`, else `huggingface` in `XDG_CACHE_HOME`, else `~/.cache/huggingface` |
    /// | endpoint | `HF_ENDPOINT` |
    /// | token | `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, else the file `HF_TOKEN_PATH` or `token` in the home |
    /// | offline | `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE` is 1, on, yes or true |
    /// | proxy | see [`ProxySettings::from_lookup`] |
    ///
    /// An empty variable counts as unset.
    ///
    /// # Errors
    ///
    /// [`HubError::NoHome`] if none of the variables says where the cache is.
    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, HubError> {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let user_home = get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from);
        let path = |name: &str| get(name).map(|value| expand(&value, user_home.as_deref()));
        let home = path("HF_HOME")
            .or_else(|| Some(path("XDG_CACHE_HOME")?.join("huggingface")))
            .or_else(|| Some(user_home.as_ref()?.join(".cache").join("huggingface")));
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| Some(home.as_ref()?.join("hub")))
            .ok_or(HubError::NoHome)?;
        let token_file = path("HF_TOKEN_PATH").or_else(|| Some(home?.join("token")));
        let token = get("HF_TOKEN")
            .or_else(|| get("HUGGING_FACE_HUB_TOKEN"))
            .or_else(|| std::fs::read_to_string(token_file?).ok());
        let endpoint = get("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
            .iter()
            .any(|name| get(name).is_some_and(|value| is_true(&value)));
        Ok(Self {
            cache,
            endpoint: endpoint.trim().trim_end_matches('/').to_owned(),
            token: token.as_deref().and_then(Token::new),
            offline,
            proxy: ProxySettings::from_lookup(get),
            trust: Trust::default(),
            waits: Waits::default(),
        })
    }
}

fn expand(value: &str, user_home: Option<&Path>) -> PathBuf {
    match (value.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(value),
    }
}

fn is_true(value: &str) -> bool {
    ["1", "on", "yes", "true"].contains(&value.trim().to_ascii_lowercase().as_str())
}

/// An address without who logs in to it.
pub(super) fn without_login(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    format!("{scheme}://{host}{}", &rest[end..])
}
