//! Flags and environment variables that name a language model, and the way from them to one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::files::OutputFile;
use crate::error::Result;
use clap::Args;

use super::cache::cache_folder;
use super::common::Common;
use super::exit::{MissingError, UsageError};
use super::keyed::{Keyed, Keys};
use crate::annotate::Prices;
use crate::llm::cached_model::OfflineModel;
use crate::llm::longer::LongerModel;
use crate::llm::{
    AnswerCache, ApiKey, Budget, CachedModel, ChatModel, OpenAiEmbeddings, OpenAiModel,
    OpenAiSettings, ProxySettings, RecordingModel, ReplayModel, RetryPolicy, Spent, TokenPooling,
    check_address,
};

/// Where requests go when a model is named and no server is.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Where the key is looked for unless the user says otherwise.
const DEFAULT_KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Flags that name a language model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub(super) struct LlmArgs {
    /// Server that speaks the protocol of `OpenAI`, up to and including the version, e.g.
    /// <http://localhost:8000/v1>; several of the same model share the work, and one that fails is
    /// left out [env: `OPENAI_BASE_URL`] [default: <https://api.openai.com/v1>]
    #[arg(long, value_name = "URL,...", value_delimiter = ',', hide_short_help = true)]
    pub base_url: Vec<String>,
    /// The model's name at the server; local:FILE.gguf, local:FOLDER or local:OWNER/REPO[/FILE] (see
    /// `caz models pull`) runs in this program and sends nothing; nothing is sent unless a model is
    /// named
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub model: Option<String>,
    /// Refuse models that are not in a file or on a server of this machine
    #[arg(long, hide_short_help = true)]
    pub confidential: bool,
    /// Sampling temperature [default: 0; 0.7 where several samples are asked for; of answers that of the prompt]
    #[arg(long, value_name = "T", hide_short_help = true)]
    pub temperature: Option<f64>,
    /// Most tokens of an answer; one that is cut off is asked for once more with twice as many
    /// [default: as the prompt says]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_tokens: Option<u32>,
    /// Append every request and answer to FILE, for --replay; it holds the texts
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub record: Option<OutputFile>,
    /// Answer from a recorded FILE; needs no network and no key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "base_url"], hide_short_help = true)]
    pub replay: Option<PathBuf>,
    #[command(flatten)]
    pub server: Keyed<Server>,
}

/// What few people change of how a server is asked.
#[derive(Debug, Clone, Args)]
pub(super) struct Server {
    /// Environment variable that holds the key; never give the key itself
    /// [default: `OPENAI_API_KEY`, which may be unset for servers other than `OpenAI`'s]
    #[arg(long, value_name = "VARIABLE")]
    pub api_key_env: Option<String>,
    /// Requests under way at the same time, one with a model in a file; never changes a result
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub concurrency: usize,
    /// Seconds that a server may be silent; an answer that keeps coming may take longer
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Ask for whole answers instead of streams; then a server is silent until an answer is done
    #[arg(long)]
    pub no_stream: bool,
    /// Tries per request; statuses 408, 409, 429 and 5xx and broken connections are tried again
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub tries: u32,
    /// Stop when so many requests were sent; a second run goes on
    #[arg(long, value_name = "N")]
    pub max_requests: Option<u64>,
    /// Stop before more tokens than this are used, read and written together
    #[arg(long, value_name = "N")]
    pub max_tokens_total: Option<u64>,
    /// Price of a million tokens read, so that what was spent is said as a price, too
    #[arg(long, value_name = "PRICE", requires = "price_out")]
    pub price_in: Option<f64>,
    /// Price of a million tokens written, in the same currency
    #[arg(long, value_name = "PRICE", requires = "price_in")]
    pub price_out: Option<f64>,
    /// Neither look for answers in the cache nor store them
    #[arg(long)]
    pub no_cache: bool,
}

impl Keys for Server {
    const FLAG: &'static str = "server";
    const ABOUT: &'static str = "How the model is asked, and what it may cost";
    const RARE: bool = true;
}

/// Where a model in a file works.
const THIS_MACHINE: &str = "this machine";

/// How the name of a model in a file begins.
const LOCAL: &str = "local:";

/// A model without what is put around it.
struct Opened {
    model: Arc<dyn ChatModel>,
    server: Option<Arc<OpenAiModel>>,
    /// Where it works, for the cache and for people.
    places: Vec<String>,
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
    for_show: bool,
}

impl LlmArgs {
    /// Checks the numbers; nothing is opened.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |text: &str| Err(UsageError(text.to_owned()).into());
        let is_local = |model: &String| model.starts_with(LOCAL);
        if self.replay.is_none() && !self.model.as_ref().is_some_and(is_local) {
            self.check_servers()?;
        }
        if self.server.concurrency == 0 || self.server.concurrency > 1024 {
            return wrong("--server: concurrency must be from 1 to 1024");
        }
        if self.server.timeout == 0 || self.server.timeout > 86_400 {
            return wrong("--server: timeout must be from 1 to 86400 seconds");
        }
        if self.server.tries == 0 || self.server.tries > 100 {
            return wrong("--server: tries must be from 1 to 100");
        }
        if self.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            return wrong("--temperature must be from 0 to 2");
        }
        if self.max_tokens == Some(0) {
            return wrong("--max-tokens must be at least 1");
        }
        let is_price = |price: &f64| price.is_finite() && *price >= 0.0;
        if ![self.server.price_in, self.server.price_out].iter().flatten().all(is_price) {
            return wrong("--server: price-in and price-out must be at least 0");
        }
        Ok(())
    }

    /// Refuses addresses that cannot be used, whether anything is sent to them or not, and servers on
    /// other machines where they are not allowed.
    fn check_servers(&self) -> Result<()> {
        let urls = self.base_urls();
        for url in &urls {
            check_address(url)?;
        }
        if !self.confidential {
            return Ok(());
        }
        let Some(url) = urls.iter().find(|url| !is_on_this_machine(url)) else { return Ok(()) };
        let message = format!(
            "with --confidential nothing is sent to `{url}`: it is not on this machine; name a model in a \
             file with --model local:FILE.gguf, or a server here with --base-url http://127.0.0.1:PORT/v1"
        );
        Err(UsageError(message).into())
    }

    /// Opens what the flags name; sends nothing. `for_show` is a run that only counts: it needs
    /// no key.
    pub(super) fn connect(&self, common: &Common, for_show: bool) -> Result<Connection> {
        self.check()?;
        let budget = self.budget(common);
        if let Some(path) = &self.replay {
            let name = |name: &str| recorded_name(name, common);
            let recorded = self.model.as_deref().map(name).transpose()?;
            let model = Arc::new(ReplayModel::open(path, recorded.as_deref())?);
            let place = format!("the log `{}`", path.display());
            return Ok(Connection { model, budget, server: None, cached: None, place, for_show });
        }
        let Some(model) = self.model.clone() else {
            return Err(
                UsageError("name a model with --model, or a log with --replay".into()).into()
            );
        };
        let opened = self.open(model, &budget, common, for_show)?;
        self.layered(opened, budget, common, for_show)
    }

    /// The model of this name: in a file, or on the server that the flags name; sends nothing.
    fn open(
        &self,
        name: String,
        budget: &Arc<Budget>,
        common: &Common,
        for_show: bool,
    ) -> Result<Opened> {
        if name.starts_with(LOCAL) {
            return open_local(&name, budget, common, for_show);
        }
        // For a second model, too.
        self.check_servers()?;
        let places = self.base_urls();
        if common.offline || for_show {
            return Ok(Opened {
                model: Arc::new(OfflineModel { model: name }),
                server: None,
                places,
            });
        }
        let settings = self.settings(places.clone(), name, Arc::clone(budget), common)?;
        let server = Arc::new(OpenAiModel::new(settings)?);
        Ok(Opened {
            model: Arc::clone(&server) as Arc<dyn ChatModel>,
            server: Some(server),
            places,
        })
    }

    /// Requests that are under way at the same time. A model on this machine works on one with all
    /// threads: others would wait for it, with what they need in memory.
    pub(super) fn at_once(&self) -> usize {
        let is_local = self.model.as_deref().is_some_and(|model| model.starts_with(LOCAL));
        if is_local && self.replay.is_none() { 1 } else { self.server.concurrency }
    }

    /// Where answers are made, for people.
    pub(super) fn places(&self) -> String {
        match &self.model {
            Some(model) if model.starts_with(LOCAL) => THIS_MACHINE.into(),
            _ => self.base_urls().join(", "),
        }
    }

    /// An embedding model on the server that the flags name, its vectors of tokens pooled as
    /// `pooling` says; sends nothing. Returns the server's address, too.
    pub(super) fn embedding_model(
        &self,
        model: &str,
        pooling: Option<TokenPooling>,
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
        let base_urls = self.base_urls();
        let budget = self.budget(common);
        let settings = self.settings(base_urls.clone(), model.to_owned(), budget, common)?;
        Ok((OpenAiEmbeddings::new(settings)?.pooled(pooling), base_urls.join(", ")))
    }

    /// The budget of a run, which bars show from now on.
    fn budget(&self, common: &Common) -> Arc<Budget> {
        let budget = Arc::new(Budget::new(self.server.max_requests, self.server.max_tokens_total));
        common.spending.watch(&budget, self.prices());
        budget
    }

    /// What was spent, in words: requests, tokens, and the price if one was given.
    pub(super) fn spent_words(&self, spent: Spent) -> String {
        let tokens = format!(
            "{} requests sent, {} tokens ({} read, {} written)",
            spent.requests,
            spent.tokens(),
            spent.prompt_tokens,
            spent.completion_tokens
        );
        match self.prices() {
            Some(prices) => {
                let price = prices.of(spent.prompt_tokens, spent.completion_tokens);
                format!("{tokens}, price {price:.4}")
            }
            None => tokens,
        }
    }

    /// What tokens cost, if the flags say so.
    pub(super) fn prices(&self) -> Option<Prices> {
        let (read, written) = self.server.price_in.zip(self.server.price_out)?;
        Some(Prices { read, written })
    }

    /// Where requests go.
    pub(super) fn base_urls(&self) -> Vec<String> {
        let named = match variable("OPENAI_BASE_URL") {
            Some(urls) if self.base_url.is_empty() => urls.split(',').map(str::to_owned).collect(),
            _ => self.base_url.clone(),
        };
        let mut urls: Vec<String> = Vec::new();
        for url in named {
            let url = url.trim();
            // Named twice it is still one server.
            if !url.is_empty() && urls.iter().all(|known| known != url) {
                urls.push(url.to_owned());
            }
        }
        if urls.is_empty() {
            urls.push(DEFAULT_BASE_URL.into());
        }
        urls
    }

    /// Puts the cache and the log around a model; a run for show writes neither.
    fn layered(
        &self,
        opened: Opened,
        budget: Arc<Budget>,
        common: &Common,
        for_show: bool,
    ) -> Result<Connection> {
        let Opened { mut model, server, places } = opened;
        let place = places.join(", ");
        let mut cached = None;
        let cache = match (self.server.no_cache, for_show) {
            (true, _) => None,
            (false, true) => AnswerCache::open_to_read(&cache_folder()?)?,
            (false, false) => Some(AnswerCache::open(&cache_folder()?)?),
        };
        if let Some(cache) = cache.map(Arc::new) {
            let servers: Vec<&str> = places.iter().map(String::as_str).collect();
            let around = CachedModel::new(model, cache, &servers);
            let around = Arc::new(around.heeding(common.interruption.clone()));
            cached = Some(Arc::clone(&around));
            model = around;
        }
        // A model in a file goes on by itself.
        if place != THIS_MACHINE {
            model = Arc::new(LongerModel::new(model));
        }
        if let Some(path) = self.record.as_ref().filter(|_| !for_show) {
            model = Arc::new(RecordingModel::new(model, path)?);
        }
        Ok(Connection { model, budget, server, cached, place, for_show })
    }

    fn settings(
        &self,
        base_urls: Vec<String>,
        model: String,
        budget: Arc<Budget>,
        common: &Common,
    ) -> Result<OpenAiSettings> {
        let retry =
            RetryPolicy { tries: self.server.tries, seed: common.seed, ..RetryPolicy::default() };
        Ok(OpenAiSettings {
            key: self.key(&base_urls)?,
            base_urls,
            model,
            silence: Duration::from_secs(self.server.timeout),
            stream: !self.server.no_stream,
            retry,
            proxy: ProxySettings::from_lookup(variable),
            trust: common.trust()?,
            budget,
            interruption: common.interruption.clone(),
        })
    }

    fn key(&self, base_urls: &[String]) -> Result<Option<ApiKey>> {
        let name = self.server.api_key_env.as_deref().unwrap_or(DEFAULT_KEY_VARIABLE);
        // A flag value that looks like a key is not repeated: it may be one.
        let plausible = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plausible || name.is_empty() {
            let message =
                "--server api-key-env takes the name of an environment variable, not a key";
            return Err(UsageError(message.into()).into());
        }
        let is_openai = |url: &String| url.starts_with("https://api.openai.com");
        let needed = self.server.api_key_env.is_some() || base_urls.iter().any(is_openai);
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
            None if self.server.api_key_env.is_some() => Err(MissingError(
                "the environment variable named by --server api-key-env is not set".into(),
            )
            .into()),
            None if needed => {
                Err(MissingError(format!("the environment variable {name} is not set")).into())
            }
            None => Ok(None),
        }
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
            return Ok(Arc::new(ReplayModel::open(path, Some(&recorded_name(name, common)?))?));
        }
        if name.starts_with(LOCAL) && args.model.as_deref() == Some(name) {
            // It need not be in memory twice.
            return Ok(Arc::clone(&self.model));
        }
        let budget = Arc::clone(&self.budget);
        let opened = args.open(name.to_owned(), &budget, common, self.for_show)?;
        Ok(args.layered(opened, budget, common, self.for_show)?.model)
    }

    /// Whether answers that arrive are there for another run.
    pub(super) fn stores_answers(&self) -> bool {
        self.cached.is_some()
    }

    /// What the server could not do, in words.
    pub(super) fn concessions(&self) -> Vec<&'static str> {
        self.server.as_ref().map(|server| server.concessions()).unwrap_or_default()
    }

    /// How many answers the cache had no room for.
    pub(super) fn not_stored(&self) -> usize {
        self.cached.as_ref().map_or(0, |cached| cached.not_stored())
    }

    /// Whether requests go over the network.
    pub(super) fn is_server(&self) -> bool {
        self.server.is_some()
    }

    /// Says who is about to be asked.
    pub(super) fn announce(&self, common: &Common, answers: usize) {
        if self.is_server() || (self.place == THIS_MACHINE && !self.for_show) {
            let (model, place) = (self.model.model(), &self.place);
            let at = if self.is_server() { "at" } else { "on" };
            let line = format!("asking {model} {at} {place} for {answers} answers");
            super::output::say(common, &line);
        }
    }
}

/// Whether a server is this machine by its address alone; what a name leads to is up to others.
fn is_on_this_machine(url: &str) -> bool {
    let Ok(address) = url.parse::<ureq::http::Uri>() else { return false };
    if address.scheme().is_none() {
        return false;
    }
    let host = address.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The model in the file or folder that `name` names; a run for show does not load it.
#[cfg(feature = "local")]
fn open_local(name: &str, budget: &Arc<Budget>, common: &Common, for_show: bool) -> Result<Opened> {
    use crate::llm::{LocalModel, LocalSettings};
    let path = super::local_file::local_path(name.strip_prefix(LOCAL).unwrap_or(name), common)?;
    let model: Arc<dyn ChatModel> = if for_show {
        Arc::new(OfflineModel { model: crate::llm::local::name_of(&path)? })
    } else {
        let (budget, interruption) = (Arc::clone(budget), common.interruption.clone());
        let threads = common.threads;
        Arc::new(LocalModel::open(LocalSettings { path, threads, budget, interruption })?)
    };
    Ok(Opened { model, server: None, places: vec![THIS_MACHINE.into()] })
}

/// There are no models in files.
#[cfg(not(feature = "local"))]
fn open_local(_: &str, _: &Arc<Budget>, _: &Common, _: bool) -> Result<Opened> {
    Err(UsageError(super::exit::NO_LOCAL_MODELS.into()).into())
}

/// The name of a model in a log: that of a file on this machine is completed by its hash.
fn recorded_name(name: &str, common: &Common) -> Result<String> {
    #[cfg(feature = "local")]
    if let Some(name) = name.strip_prefix(LOCAL)
        && let Ok(path) = super::local_file::local_path(name, common)
        && path.exists()
    {
        return Ok(crate::llm::local::name_of(&path)?);
    }
    let _ = common;
    Ok(name.to_owned())
}

/// An environment variable that is set and not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod places {
    use super::is_on_this_machine;

    #[test]
    fn this_machine_is_known_by_its_address() {
        for url in [
            "http://localhost:8000/v1",
            "http://LOCALHOST/v1",
            "http://127.0.0.1:11434/v1",
            "https://127.8.8.8/v1",
            "http://[::1]:8000/v1",
            "http://[::ffff:127.0.0.1]/v1",
        ] {
            assert!(is_on_this_machine(url), "{url}");
        }
        for url in [
            "https://api.openai.com/v1",
            "http://localhost.example.com/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost@example.com/v1",
            "http://127.0.0.1:80@example.com/v1",
            "http://0.0.0.0:8000/v1",
            "http://10.0.0.1/v1",
            "localhost",
            "not a url",
            "",
        ] {
            assert!(!is_on_this_machine(url), "{url}");
        }
    }
}

#[cfg(all(test, not(feature = "local")))]
mod tests {
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        llm: super::LlmArgs,
        #[command(flatten)]
        common: super::Common,
    }

    #[test]
    fn a_build_without_models_in_files_says_so_and_asks_for_no_key() {
        let line = Line::parse_from(["caz", "--model", "local:org/name/model.gguf"]);
        for for_show in [false, true] {
            let error = line.llm.connect(&line.common, for_show).map(|_| ()).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains("this build runs no models in files"), "{text}");
            assert!(!text.contains("OPENAI_API_KEY"), "{text}");
        }
    }
}
