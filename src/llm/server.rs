//! A server that is asked over HTTP: one request, its tries, its cost.
//!
//! What is asked and how an answer reads is up to the caller; connections, retries, `Retry-After`,
//! the budget and the hiding of keys are the same for all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::budget::Budget;
use super::chat::{Usage, excerpt};
use super::error::ChatError;
use super::proxy::ProxySettings;
use super::retry::{Attempt, RetryPolicy, is_transient, parse_retry_after};
use super::secret::ApiKey;

/// Largest answer read; a completion of 100,000 tokens is under 1 MiB, 32 vectors of 4,096
/// dimensions under 3.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

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

/// A server and the connections to it.
#[derive(Debug)]
pub(super) struct Server {
    settings: OpenAiSettings,
    agent: ureq::Agent,
    host: String,
    /// Until when the server asked everyone to wait.
    not_before: Mutex<Option<Instant>>,
    requests: AtomicU64,
}

/// One request.
pub(super) struct Call<'a> {
    /// What comes behind the base URL, e.g. `chat/completions`.
    pub(super) path: &'a str,
    /// JSON.
    pub(super) body: String,
    /// The most tokens that it can cost.
    pub(super) reserve: u64,
    /// The error for an answer of another kind, from the host and the start of the answer.
    pub(super) unknown: fn(String, String) -> ChatError,
}

/// Why a reply with a good status holds no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It ends in the middle, so the connection broke although nobody said so.
    CutOff,
    /// It is something else.
    Unknown,
}

impl Unreadable {
    /// What an error of the JSON reader means for the whole reply.
    pub(super) fn from_json(error: &serde_json::Error, reply: &[u8]) -> Self {
        let started = reply.iter().any(|byte| !byte.is_ascii_whitespace());
        if error.is_eof() && started { Self::CutOff } else { Self::Unknown }
    }
}

impl Server {
    /// Prepares to talk to a server; sends nothing.
    pub(super) fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
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
            host: address.host.to_owned(),
            agent: config.new_agent(),
            not_before: Mutex::new(None),
            requests: AtomicU64::new(0),
            settings,
        })
    }

    /// The model's name as the server knows it.
    pub(super) fn model(&self) -> &str {
        &self.settings.model
    }

    /// `text` without the key.
    pub(super) fn redacted(&self, text: String) -> String {
        match &self.settings.key {
            Some(key) => key.redact(&text),
            None => text,
        }
    }

    /// Asks until there is an answer that `read` understands, or no hope.
    pub(super) fn ask<T>(
        &self,
        call: &Call,
        read: impl Fn(&[u8]) -> Result<(T, Usage), Unreadable>,
    ) -> Result<T, ChatError> {
        let index = self.requests.fetch_add(1, Ordering::Relaxed);
        let endpoint = self.endpoint(call.path);
        self.settings.retry.run(index, &std::thread::sleep, |tries| {
            self.wait_as_asked();
            let reservation = match self.settings.budget.reserve(call.reserve) {
                Ok(reservation) => reservation,
                Err(error) => return Attempt::Failed(error),
            };
            let reply = match self.send(&endpoint, &call.body, tries) {
                Sent::Answered(reply) => reply,
                Sent::Refused(error) => return Attempt::Failed(error),
                Sent::Lost(error, after) => return Attempt::Again { error, after },
            };
            match read(&reply) {
                Ok((answer, usage)) => {
                    reservation.cost(usage);
                    Attempt::Done(answer)
                }
                Err(Unreadable::CutOff) => Attempt::Again {
                    error: ChatError::BrokenAnswer { host: self.host.clone(), tries },
                    after: None,
                },
                Err(Unreadable::Unknown) => {
                    Attempt::Failed((call.unknown)(self.host.clone(), self.excerpt(&reply)))
                }
            }
        })
    }

    fn endpoint(&self, path: &str) -> String {
        format!("{}/{path}", self.settings.base_url.trim_end_matches('/'))
    }

    /// Sends one request and reads the whole reply.
    fn send(&self, endpoint: &str, body: &str, tries: u32) -> Sent {
        let mut call = self.agent.post(endpoint).header("content-type", "application/json");
        if let Some(key) = &self.settings.key {
            call = call.header("authorization", key.bearer());
        }
        let mut response = match call.send(body) {
            Ok(response) => response,
            Err(error) => return self.failure(error, tries),
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
                return Sent::Refused(ChatError::TooLarge { host, limit });
            }
            Err(error) => return self.failure(error, tries),
        };
        if (200..300).contains(&status) {
            return Sent::Answered(body);
        }
        self.refusal(status, &body, after, tries)
    }

    fn refusal(&self, status: u16, body: &[u8], after: Option<Duration>, tries: u32) -> Sent {
        let error = ChatError::Status {
            host: self.host.clone(),
            status,
            meaning: meaning_of(status),
            tries,
            excerpt: self.excerpt(body),
        };
        if !is_transient(status) {
            return Sent::Refused(error);
        }
        if let Some(after) = after {
            if after > self.settings.retry.patience {
                return Sent::Refused(ChatError::LongWait {
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
        Sent::Lost(error, after)
    }

    fn failure(&self, error: ureq::Error, tries: u32) -> Sent {
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
        if transient { Sent::Lost(error, None) } else { Sent::Refused(error) }
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
        let text = self.redacted(text.into_owned());
        match excerpt(&text, EXCERPT_CHARS) {
            nothing if nothing.is_empty() => "(nothing)".into(),
            excerpt => excerpt,
        }
    }
}

enum Sent {
    /// A reply with a good status, whole.
    Answered(Vec<u8>),
    /// It will not work.
    Refused(ChatError),
    /// It may work later, not before this long if the server said so.
    Lost(ChatError, Option<Duration>),
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
            let error = Server::new(settings(url)).unwrap_err().to_string();
            assert!(!error.contains("pass"), "{error}");
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused_before_anything_is_sent() {
        for url in ["localhost:8000/v1", "http:///v1", "http://a b/v1", "http://h/v1?key=x", ""] {
            assert!(matches!(Server::new(settings(url)), Err(ChatError::BadUrl { .. })), "{url}");
        }
    }

    #[test]
    fn the_endpoint_is_built_from_the_base_url() {
        for url in ["http://h:8000/v1", "http://h:8000/v1/"] {
            let server = Server::new(settings(url)).unwrap();
            assert_eq!(server.endpoint("chat/completions"), "http://h:8000/v1/chat/completions");
            assert_eq!(server.host, "h:8000");
        }
    }

    #[test]
    fn the_key_is_in_no_debug_output_and_in_no_excerpt() {
        let server = Server::new(settings("http://h/v1")).unwrap();
        assert!(!format!("{server:?}").contains("sk-secret"));
        assert_eq!(server.excerpt(b"bad key\n sk-secret"), "bad key ***");
        assert_eq!(server.excerpt(b" "), "(nothing)");
        assert!(server.excerpt("é".repeat(400).as_bytes()).ends_with("é…"));
    }
}
