//! Flags and environment variables that name a language model, and the way from them to one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::cache::cache_folder;
use super::common::Common;
use super::exit::{ExitStatus, MissingError, UsageError};
use super::interruption::explain_interruption;
use crate::judge::{JudgeError, RubricError};
use crate::llm::cache::OfflineModel;
use crate::llm::{
    AnswerCache, ApiKey, Budget, CacheError, CachedModel, ChatError, ChatModel, OpenAiEmbeddings,
    OpenAiModel, OpenAiSettings, PromptError, ProxySettings, RecordingModel, ReplayError,
    ReplayModel, RetryPolicy,
};
use crate::text::embed::EmbedError;
use crate::text::embed::judge::JudgeFailure;
use crate::text::embed::openai::OpenAiFailure;

/// Where requests go when a model is named and no server is.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Where the key is looked for unless the user says otherwise.
const DEFAULT_KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Flags that name a language model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub(super) struct LlmArgs {
    /// Server that speaks the protocol of `OpenAI`, up to and including the version, e.g.
    /// <http://localhost:8000/v1> [env: `OPENAI_BASE_URL`] [default: <https://api.openai.com/v1>]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The model's name as the server knows it; nothing is sent unless it is named
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Environment variable that holds the key; never give the key itself
    /// [default: `OPENAI_API_KEY`, which may be unset for servers other than `OpenAI`'s]
    #[arg(long, value_name = "VARIABLE")]
    pub api_key_env: Option<String>,
    /// Requests under way at the same time; never changes a result
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub concurrency: usize,
    /// Seconds that one try may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Tries per request; statuses 408, 409, 429 and 5xx and broken connections are tried again
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub tries: u32,
    /// Sampling temperature [default: 0; 0.7 where several samples are asked for]
    #[arg(long, value_name = "T")]
    pub temperature: Option<f64>,
    /// Most tokens of an answer; one that is cut off is asked for once more with twice as many
    /// [default: as the prompt says]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// Stop when so many requests were sent; a second run goes on
    #[arg(long, value_name = "N")]
    pub max_requests: Option<u64>,
    /// Stop before more tokens than this are used, read and written together
    #[arg(long, value_name = "N")]
    pub max_tokens_total: Option<u64>,
    /// Neither look for answers in the cache nor store them
    #[arg(long)]
    pub no_cache: bool,
    /// Append every request and answer to FILE, for --replay; it holds the texts
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Answer from a recorded FILE; needs no network and no key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "base_url"])]
    pub replay: Option<PathBuf>,
}

/// A model ready to be asked, and what stands behind it.
pub(super) struct Connection {
    /// Whom to ask.
    pub model: Arc<dyn ChatModel>,
    /// What was spent.
    pub budget: Arc<Budget>,
    server: Option<Arc<OpenAiModel>>,
    cached: Option<Arc<CachedModel>>,
    /// Where requests go, for people.
    pub place: String,
}

impl LlmArgs {
    /// Checks the numbers; nothing is opened.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |text: &str| Err(UsageError(text.to_owned()).into());
        if self.concurrency == 0 || self.concurrency > 1024 {
            return wrong("--concurrency must be from 1 to 1024");
        }
        if self.timeout == 0 || self.timeout > 86_400 {
            return wrong("--timeout must be from 1 to 86400 seconds");
        }
        if self.tries == 0 || self.tries > 100 {
            return wrong("--tries must be from 1 to 100");
        }
        if self.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            return wrong("--temperature must be from 0 to 2");
        }
        if self.max_tokens == Some(0) {
            return wrong("--max-tokens must be at least 1");
        }
        Ok(())
    }

    /// Opens what the flags name; sends nothing. `for_show` is a run that only counts: it needs
    /// no key.
    pub(super) fn connect(&self, common: &Common, for_show: bool) -> Result<Connection> {
        self.check()?;
        let budget = Arc::new(Budget::new(self.max_requests, self.max_tokens_total));
        if let Some(path) = &self.replay {
            let model = Arc::new(ReplayModel::open(path, self.model.as_deref())?);
            let place = format!("the log `{}`", path.display());
            return Ok(Connection { model, budget, server: None, cached: None, place });
        }
        let Some(model) = self.model.clone() else {
            return Err(
                UsageError("name a model with --model, or a log with --replay".into()).into()
            );
        };
        let base_url = self.base_url();
        let mut server = None;
        let inner: Arc<dyn ChatModel> = if common.offline || for_show {
            Arc::new(OfflineModel { model })
        } else {
            let settings = self.settings(&base_url, model, Arc::clone(&budget), common)?;
            let opened = Arc::new(OpenAiModel::new(settings)?);
            server = Some(Arc::clone(&opened));
            opened
        };
        self.layered(inner, server, budget, &base_url)
    }

    /// An embedding model on the server that the flags name; sends nothing. Returns the server's
    /// address, too.
    pub(super) fn embedding_model(
        &self,
        model: &str,
        common: &Common,
    ) -> Result<(OpenAiEmbeddings, String)> {
        self.check()?;
        if self.model.is_some() || self.record.is_some() || self.replay.is_some() {
            let message = "--model, --record and --replay are for models that answer; with \
                           --embedder openai:MODEL drop them (the output of `caz embed` can be \
                           kept and read with --embedder given)";
            return Err(UsageError(message.into()).into());
        }
        if common.offline {
            let message = "--embedder openai: asks a server, which --offline forbids; use static, \
                           tfidf or bert:";
            return Err(MissingError(message.into()).into());
        }
        let base_url = self.base_url();
        let budget = Arc::new(Budget::new(self.max_requests, self.max_tokens_total));
        let settings = self.settings(&base_url, model.to_owned(), budget, common)?;
        Ok((OpenAiEmbeddings::new(settings)?, base_url))
    }

    fn base_url(&self) -> String {
        let named = self.base_url.clone().or_else(|| variable("OPENAI_BASE_URL"));
        named.unwrap_or_else(|| DEFAULT_BASE_URL.into())
    }

    /// Puts the cache and the log around a model.
    fn layered(
        &self,
        inner: Arc<dyn ChatModel>,
        server: Option<Arc<OpenAiModel>>,
        budget: Arc<Budget>,
        base_url: &str,
    ) -> Result<Connection> {
        let place = base_url.to_owned();
        let mut model = inner;
        let mut cached = None;
        if !self.no_cache {
            let cache = Arc::new(AnswerCache::open(&cache_folder()?)?);
            let around = Arc::new(CachedModel::new(model, cache, base_url));
            cached = Some(Arc::clone(&around));
            model = around;
        }
        if let Some(path) = &self.record {
            model = Arc::new(RecordingModel::new(model, path)?);
        }
        Ok(Connection { model, budget, server, cached, place })
    }

    fn settings(
        &self,
        base_url: &str,
        model: String,
        budget: Arc<Budget>,
        common: &Common,
    ) -> Result<OpenAiSettings> {
        let retry = RetryPolicy { tries: self.tries, seed: common.seed, ..RetryPolicy::default() };
        Ok(OpenAiSettings {
            base_url: base_url.to_owned(),
            model,
            key: self.key(base_url)?,
            timeout: Duration::from_secs(self.timeout),
            retry,
            proxy: proxies(),
            budget,
        })
    }

    fn key(&self, base_url: &str) -> Result<Option<ApiKey>> {
        let name = self.api_key_env.as_deref().unwrap_or(DEFAULT_KEY_VARIABLE);
        // A flag value that looks like a key is not repeated: it may be one.
        let plausible = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plausible || name.is_empty() {
            let message = "--api-key-env takes the name of an environment variable, not a key";
            return Err(UsageError(message.into()).into());
        }
        let needed = self.api_key_env.is_some() || base_url.starts_with("https://api.openai.com");
        match variable(name) {
            Some(value) => match ApiKey::new(&value) {
                Some(key) => Ok(Some(key)),
                None => Err(MissingError(format!(
                    "the environment variable {name} holds no usable key \
                     (empty, or with characters that no key has)"
                ))
                .into()),
            },
            // Named by the user it may itself be a key without odd characters: not repeated.
            None if self.api_key_env.is_some() => Err(MissingError(
                "the environment variable named by --api-key-env is not set".into(),
            )
            .into()),
            None if needed => {
                Err(MissingError(format!("the environment variable {name} is not set")).into())
            }
            None => Ok(None),
        }
    }

    /// The settings that decide answers, for reports.
    pub(super) fn describe(&self, connection: &Connection) -> Map<String, Value> {
        let settings = json!({
            "model": connection.model.model(),
            "place": connection.place,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}

impl Connection {
    /// Whether the answer to a request is in the cache or the log.
    pub(super) fn holds(&self, request: &crate::llm::ChatRequest) -> Result<bool> {
        Ok(match &self.cached {
            Some(cached) => cached.holds(request)?,
            None => self.server.is_none() && self.model.complete(request).is_ok(),
        })
    }

    /// Another model at the same place, under the same budget.
    pub(super) fn sibling(
        &self,
        args: &LlmArgs,
        name: &str,
        common: &Common,
    ) -> Result<Arc<dyn ChatModel>> {
        if let Some(path) = &args.replay {
            return Ok(Arc::new(ReplayModel::open(path, Some(name))?));
        }
        let inner: Arc<dyn ChatModel> = if self.is_server() {
            let budget = Arc::clone(&self.budget);
            let settings = args.settings(&self.place, name.to_owned(), budget, common)?;
            Arc::new(OpenAiModel::new(settings)?)
        } else {
            Arc::new(OfflineModel { model: name.to_owned() })
        };
        let budget = Arc::clone(&self.budget);
        Ok(args.layered(inner, None, budget, &self.place)?.model)
    }

    /// What the server could not do, in words.
    pub(super) fn concessions(&self) -> Vec<&'static str> {
        self.server.as_ref().map(|server| server.concessions()).unwrap_or_default()
    }

    /// Whether requests go over the network.
    pub(super) fn is_server(&self) -> bool {
        self.server.is_some()
    }

    /// Says who is about to be asked, and makes Ctrl-C say how to go on.
    pub(super) fn announce(&self, common: &Common, answers: usize) {
        if self.is_server() {
            let (model, place) = (self.model.model(), &self.place);
            let line = format!("asking {model} at {place} for {answers} answers");
            super::output::say(common, &line);
            // Answers are stored as they arrive.
            let line = if self.cached.is_some() {
                "interrupted; answers that arrived are stored, the same command goes on from here"
            } else {
                "interrupted"
            };
            explain_interruption(common, vec![line.to_owned()]);
        }
    }
}

/// An environment variable that is set and not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn proxies() -> ProxySettings {
    let either = |upper: &str, lower: &str| variable(upper).or_else(|| variable(lower));
    let all = either("ALL_PROXY", "all_proxy");
    ProxySettings {
        // The upper-case form is read by convention only outside of CGI, which caz is not.
        http: either("http_proxy", "HTTP_PROXY").or_else(|| all.clone()),
        https: either("HTTPS_PROXY", "https_proxy").or(all),
        direct: either("NO_PROXY", "no_proxy").unwrap_or_default(),
    }
}

/// The exit code of an error of this layer.
pub(super) fn status_of(cause: &(dyn std::error::Error + 'static)) -> Option<ExitStatus> {
    if let Some(error) = cause.downcast_ref::<ChatError>() {
        return Some(status_of_chat(error));
    }
    if let Some(error) = cause.downcast_ref::<JudgeError>() {
        return Some(match error {
            JudgeError::Chat(error) => status_of_chat(error),
            JudgeError::Prompt(error) => status_of_prompt(error),
            JudgeError::Setting { .. } => ExitStatus::Usage,
        });
    }
    // Transparent variants hide themselves from the chain, but not from this.
    if let Some(EmbedError::Judge(failure)) = cause.downcast_ref::<EmbedError>() {
        return Some(match failure {
            JudgeFailure::NotAnswered { source, .. } => status_of(source.as_ref())?,
            JudgeFailure::NotReadable { .. } => ExitStatus::Network,
        });
    }
    if let Some(EmbedError::OpenAi(failure)) = cause.downcast_ref::<EmbedError>() {
        return Some(match failure {
            OpenAiFailure::NotAnswered { source, .. } => status_of_chat(source),
            OpenAiFailure::Lengths { .. } => ExitStatus::Network,
        });
    }
    if let Some(error) = cause.downcast_ref::<PromptError>() {
        return Some(status_of_prompt(error));
    }
    if let Some(error) = cause.downcast_ref::<RubricError>() {
        return Some(match error {
            RubricError::Unknown { .. } => ExitStatus::Usage,
            RubricError::Unreadable { .. } => ExitStatus::Missing,
            _ => ExitStatus::BadInput,
        });
    }
    if cause.is::<CacheError>() {
        return Some(ExitStatus::Missing);
    }
    if let Some(error) = cause.downcast_ref::<ReplayError>() {
        return Some(match error {
            ReplayError::File { .. } => ExitStatus::Missing,
            ReplayError::Models { .. } => ExitStatus::Usage,
            _ => ExitStatus::BadInput,
        });
    }
    None
}

fn status_of_chat(error: &ChatError) -> ExitStatus {
    match error {
        ChatError::BadUrl { .. } | ChatError::BadProxy { .. } => ExitStatus::Usage,
        ChatError::Budget { .. } => ExitStatus::GateFailed,
        ChatError::Offline
        | ChatError::NotRecorded { .. }
        | ChatError::Cache(_)
        | ChatError::Replay(_) => ExitStatus::Missing,
        _ => ExitStatus::Network,
    }
}

fn status_of_prompt(error: &PromptError) -> ExitStatus {
    match error {
        PromptError::Unknown { .. } | PromptError::Kind { .. } => ExitStatus::Usage,
        PromptError::Unreadable { .. } => ExitStatus::Missing,
        _ => ExitStatus::BadInput,
    }
}

/// The default place of a file that goes with an output: `scores.csv` -> `scores.errors.jsonl`.
pub(super) fn beside(output: &Path, ending: &str) -> PathBuf {
    output.with_extension(ending)
}
