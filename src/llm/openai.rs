//! Any server that speaks the chat completions protocol of `OpenAI`: vLLM, llama.cpp, Ollama, TGI,
//! `OpenAI` itself.
//!
//! Servers differ in what they take. A request starts with everything we would like; when the
//! server refuses it, it is asked for less: a JSON Schema, then any JSON object, then plain text;
//! `max_tokens` under its newer name; no temperature or seed where the model allows none. What
//! worked once is used from then on, and [`OpenAiModel::concessions`] says what was given up.

mod wire;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use self::wire::{Dialect, Reply};
use super::budget::Budget;
use super::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason, Usage};
use super::error::ChatError;
use super::proxy::ProxySettings;
use super::retry::{Attempt, RetryPolicy, is_transient, parse_retry_after};
use super::secret::ApiKey;

/// Largest answer read; a completion of 100,000 tokens is under 1 MiB.
pub const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// How much of a server's error text is kept for messages.
const EXCERPT_CHARS: usize = 300;

/// How to reach a server.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// Address up to and including the version, e.g. `http://localhost:8000/v1`.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Sent as a bearer token; many local servers need none.
    pub key: Option<ApiKey>,
    /// Limit for one try, from connecting to the last byte.
    pub timeout: Duration,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Which proxy to use.
    pub proxy: ProxySettings,
    /// What may be spent, shared by all models of a run.
    pub budget: Arc<Budget>,
}

/// A chat model behind HTTP.
#[derive(Debug)]
pub struct OpenAiModel {
    settings: OpenAiSettings,
    agent: ureq::Agent,
    endpoint: String,
    host: String,
    dialect: Mutex<Dialect>,
    /// Until when the server asked everyone to wait.
    not_before: Mutex<Option<Instant>>,
    requests: AtomicU64,
}

impl OpenAiModel {
    /// Prepares to talk to a server; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ChatError::BadUrl`] and [`ChatError::BadProxy`].
    pub fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        let address = Address::parse(&settings.base_url)?;
        let proxy = match settings.proxy.choose(address.scheme, address.host_name()) {
            None => None,
            Some(url) => {
                let scheme = address.scheme;
                Some(ureq::Proxy::new(url).map_err(|_| ChatError::BadProxy { scheme })?)
            }
        };
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(settings.timeout))
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Never from the environment: that is for the caller to read.
            .proxy(proxy)
            .user_agent(concat!("caz/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            endpoint: format!("{}/chat/completions", settings.base_url.trim_end_matches('/')),
            host: address.host.to_owned(),
            agent: config.new_agent(),
            dialect: Mutex::new(Dialect::default()),
            not_before: Mutex::new(None),
            requests: AtomicU64::new(0),
            settings,
        })
    }

    /// What the server was not able to do, in words, e.g. `no JSON Schema`; empty if nothing.
    pub fn concessions(&self) -> Vec<&'static str> {
        lock(&self.dialect).concessions()
    }

    /// Asks with the known dialect, and for less as long as the server refuses the form.
    fn negotiate(&self, request: &ChatRequest, max_tokens: u32) -> Result<ChatAnswer, ChatError> {
        let mut dialect = *lock(&self.dialect);
        let mut first_refusal = None;
        loop {
            let error = match self.with_retries(request, max_tokens, dialect) {
                Ok(answer) => {
                    if first_refusal.is_some() {
                        lock(&self.dialect).concede(dialect);
                    }
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let next = match &error {
                ChatError::Status { status: 400 | 415 | 422 | 501, excerpt, .. } => {
                    dialect.after_refusal(excerpt, request)
                }
                _ => None,
            };
            match next {
                // Once asking for less did not help, the first refusal says what is wrong.
                None => return Err(first_refusal.unwrap_or(error)),
                Some(next) => {
                    dialect = next;
                    first_refusal.get_or_insert(error);
                }
            }
        }
    }

    fn with_retries(
        &self,
        request: &ChatRequest,
        max_tokens: u32,
        dialect: Dialect,
    ) -> Result<ChatAnswer, ChatError> {
        let index = self.requests.fetch_add(1, Ordering::Relaxed);
        let body = dialect.body(&self.settings.model, request, max_tokens).to_string();
        let reserve = request.estimated_prompt_tokens() + u64::from(max_tokens);
        self.settings.retry.run(index, &std::thread::sleep, |tries| {
            self.wait_as_asked();
            let reservation = match self.settings.budget.reserve(reserve) {
                Ok(reservation) => reservation,
                Err(error) => return Attempt::Failed(error),
            };
            match self.send(&body, tries) {
                Sent::Answered(reply) => match wire::parse(&reply, request) {
                    Ok(answer) => {
                        reservation.cost(answer.usage);
                        Attempt::Done(answer)
                    }
                    Err(wire::Unreadable::CutOff) => Attempt::Again {
                        error: ChatError::BrokenAnswer { host: self.host.clone(), tries },
                        after: None,
                    },
                    Err(wire::Unreadable::NotChat) => Attempt::Failed(ChatError::NotChat {
                        host: self.host.clone(),
                        excerpt: self.excerpt(&reply.body),
                    }),
                },
                Sent::Attempt(attempt) => attempt,
            }
        })
    }

    /// Sends one request and reads the whole reply.
    fn send(&self, body: &str, tries: u32) -> Sent {
        let mut call = self.agent.post(&self.endpoint).header("content-type", "application/json");
        if let Some(key) = &self.settings.key {
            call = call.header("authorization", key.bearer());
        }
        let mut response = match call.send(body) {
            Ok(response) => response,
            Err(error) => return Sent::Attempt(self.failure(error, tries)),
        };
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|value| parse_retry_after(value, SystemTime::now()));
        let read = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = match read {
            Ok(body) => body,
            // The status of a refusal counts more than its text.
            Err(_) if status >= 400 => Vec::new(),
            Err(ureq::Error::BodyExceedsLimit(limit)) => {
                let host = self.host.clone();
                return Sent::Attempt(Attempt::Failed(ChatError::TooLarge { host, limit }));
            }
            Err(error) => return Sent::Attempt(self.failure(error, tries)),
        };
        if (200..300).contains(&status) {
            return Sent::Answered(Reply { body });
        }
        Sent::Attempt(self.refusal(status, &body, after, tries))
    }

    fn refusal(
        &self,
        status: u16,
        body: &[u8],
        after: Option<Duration>,
        tries: u32,
    ) -> Attempt<ChatAnswer> {
        let error = ChatError::Status {
            host: self.host.clone(),
            status,
            meaning: meaning_of(status),
            tries,
            excerpt: self.excerpt(body),
        };
        if !is_transient(status) {
            return Attempt::Failed(error);
        }
        if let Some(after) = after {
            if after > self.settings.retry.patience {
                return Attempt::Failed(ChatError::LongWait {
                    host: self.host.clone(),
                    seconds: after.as_secs(),
                    limit: self.settings.retry.patience.as_secs(),
                });
            }
            // What the server says to one thread holds for all.
            let mut not_before = lock(&self.not_before);
            let until = Instant::now() + after;
            if not_before.is_none_or(|earlier| earlier < until) {
                *not_before = Some(until);
            }
        }
        Attempt::Again { error, after }
    }

    fn failure(&self, error: ureq::Error, tries: u32) -> Attempt<ChatAnswer> {
        use ureq::Error as E;
        let host = self.host.clone();
        let transient = matches!(
            error,
            E::Io(_) | E::Timeout(_) | E::ConnectionFailed | E::BodyStalled | E::Protocol(_)
        );
        let error = match error {
            E::Timeout(_) => {
                ChatError::Timeout { host, seconds: self.settings.timeout.as_secs(), tries }
            }
            error => ChatError::Connection { host, tries, source: Box::new(error) },
        };
        if transient { Attempt::Again { error, after: None } } else { Attempt::Failed(error) }
    }

    fn wait_as_asked(&self) {
        let not_before = *lock(&self.not_before);
        if let Some(wait) = not_before.and_then(|at| at.checked_duration_since(Instant::now())) {
            std::thread::sleep(wait);
        }
    }

    /// The start of a server's text on one line, without the key.
    fn excerpt(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        let text = match &self.settings.key {
            Some(key) => key.redact(&text),
            None => text.into_owned(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        if line.is_empty() {
            return "(nothing)".into();
        }
        let mut excerpt: String = line.chars().take(EXCERPT_CHARS).collect();
        if excerpt.len() < line.len() {
            excerpt.push('…');
        }
        excerpt
    }
}

impl ChatModel for OpenAiModel {
    fn model(&self) -> &str {
        &self.settings.model
    }

    /// Asks the server; an answer that was cut off is asked for once more with twice the tokens.
    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let mut answer = self.negotiate(request, request.max_tokens)?;
        if answer.finish == FinishReason::Length {
            let first = answer.usage;
            let longer = self.negotiate(request, request.max_tokens.saturating_mul(2))?;
            let usage: Usage = first.plus(longer.usage);
            answer = ChatAnswer { usage, ..longer };
        }
        if let Some(key) = &self.settings.key {
            answer.text = key.redact(&answer.text);
        }
        Ok(answer)
    }
}

enum Sent {
    Answered(Reply),
    Attempt(Attempt<ChatAnswer>),
}

/// The parts of a base URL that matter here.
struct Address<'a> {
    scheme: &'static str,
    /// Host and port, without credentials.
    host: &'a str,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Result<Self, ChatError> {
        let (scheme, rest) = if let Some(rest) = url.strip_prefix("https://") {
            ("https", rest)
        } else if let Some(rest) = url.strip_prefix("http://") {
            ("http", rest)
        } else {
            let reason = "it must start with http:// or https://, e.g. http://localhost:8000/v1";
            return Err(ChatError::BadUrl { url: without_credentials(url), reason });
        };
        let bad = |reason| Err(ChatError::BadUrl { url: format!("{scheme}://…"), reason });
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return bad("it holds credentials; put the key into the environment (--api-key-env)");
        }
        if rest.contains(['?', '#']) {
            return bad("it has a query or fragment; end it with the version, e.g. /v1");
        }
        if host.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return bad("it names no host, or holds white space");
        }
        Ok(Self { scheme, host })
    }

    fn host_name(&self) -> &'a str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => self.host,
        }
    }
}

fn without_credentials(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned()
}

fn meaning_of(status: u16) -> &'static str {
    match status {
        300..=399 => "a redirect, which is not followed; use the address it leads to",
        400 | 422 => "the server does not accept the request",
        401 => "the key is missing or wrong; see --api-key-env",
        402 => "the account has no credit",
        403 => "the key may not use this model",
        404 => "no such address or model; the base URL should end in /v1, see also --model",
        408 | 504 => "the server took too long",
        413 => "the request is too large",
        429 => "too many requests; lower --concurrency",
        500..=599 => "the server failed",
        _ => "unexpected",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is replaced whole, so it stays valid if a thread panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(base_url: &str) -> OpenAiSettings {
        OpenAiSettings {
            base_url: base_url.into(),
            model: "m".into(),
            key: ApiKey::new("sk-secret"),
            timeout: Duration::from_secs(1),
            retry: RetryPolicy::default(),
            proxy: ProxySettings::default(),
            budget: Arc::new(Budget::default()),
        }
    }

    #[test]
    fn a_base_url_with_credentials_is_refused_without_repeating_them() {
        for url in ["http://user:pass@host/v1", "https://pass@host", "ftp://user:pass@host"] {
            let error = OpenAiModel::new(settings(url)).unwrap_err().to_string();
            assert!(!error.contains("pass"), "{error}");
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused_before_anything_is_sent() {
        for url in ["localhost:8000/v1", "http:///v1", "http://a b/v1", "http://h/v1?key=x", ""] {
            assert!(
                matches!(OpenAiModel::new(settings(url)), Err(ChatError::BadUrl { .. })),
                "{url}"
            );
        }
    }

    #[test]
    fn the_endpoint_is_built_from_the_base_url() {
        for url in ["http://h:8000/v1", "http://h:8000/v1/"] {
            let model = OpenAiModel::new(settings(url)).unwrap();
            assert_eq!(model.endpoint, "http://h:8000/v1/chat/completions");
            assert_eq!(model.host, "h:8000");
        }
    }

    #[test]
    fn the_key_is_in_no_debug_output_and_in_no_excerpt() {
        let model = OpenAiModel::new(settings("http://h/v1")).unwrap();
        assert!(!format!("{model:?}").contains("sk-secret"));
        assert_eq!(model.excerpt(b"bad key\n sk-secret"), "bad key ***");
        assert_eq!(model.excerpt(b" "), "(nothing)");
        assert!(model.excerpt("é".repeat(400).as_bytes()).ends_with("é…"));
    }
}
