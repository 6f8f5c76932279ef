//! A model behind one server or several: one request, its tries, its cost.
//!
//! What is asked and how an answer reads is up to the caller; connections, retries, `Retry-After`,
//! the budget and the hiding of keys are the same for all.

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::address::Address;
use super::exchange::{Outgoing, Reply, exchange};
use super::places::Places;
use super::reply::{Fault, Limits, Received};
use super::retry::{Attempt, is_transient};
use super::secret::ApiKey;
use super::settings::OpenAiSettings;
use super::unreadable::Unreadable;
use crate::data::excerpt::excerpt;
use crate::data::interruption::Interrupted;
use crate::llm::chat::Usage;
use crate::llm::error::{ChatError, NO_CREDIT};
use crate::llm::trust::distrust;

/// How much of a server's error text is kept for messages.
const EXCERPT_CHARS: usize = 300;

/// A model, its servers and the connections to them.
#[derive(Debug)]
pub(super) struct Server {
    settings: OpenAiSettings,
    hosts: Vec<Host>,
    places: Places,
    requests: AtomicU64,
}

/// One of the servers.
#[derive(Debug)]
struct Host {
    address: Address,
    agent: ureq::Agent,
}

/// One request.
pub(super) struct Call<'a> {
    /// What comes behind the base URL, e.g. `chat/completions`.
    pub(super) path: &'a str,
    /// JSON.
    pub(super) body: String,
    /// Whether status 500 and 501 without a word of when to come back mean that the request is not
    /// understood, so that sending it again is no use.
    pub(super) impatient: bool,
    /// The most tokens that it can cost.
    pub(super) reserve: u64,
    /// The error for an answer of another kind, from the host and the start of the answer.
    pub(super) unknown: fn(String, String) -> ChatError,
}

impl Server {
    /// Prepares to talk to the servers; sends nothing.
    pub(super) fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        let mut hosts: Vec<Host> = Vec::new();
        for url in &settings.base_urls {
            let address = Address::parse(url)?;
            // Named twice it is still one server.
            if hosts.iter().all(|host| host.address != address) {
                hosts.push(Host { agent: agent(&settings, &address)?, address });
            }
        }
        if hosts.is_empty() {
            let reason = "there is no address";
            return Err(ChatError::BadUrl { url: String::new(), reason });
        }
        let places = Places::new(hosts.len());
        Ok(Self { settings, hosts, places, requests: AtomicU64::new(0) })
    }

    /// The model's name as the server knows it.
    pub(super) fn model(&self) -> &str {
        &self.settings.model
    }

    /// An answer without the key, if the key can be nothing else: a key that is a word or a number
    /// would alter answers.
    pub(super) fn without_key(&self, text: String) -> String {
        match &self.settings.key {
            Some(key) if key.is_unmistakable() => key.redact(&text),
            _ => text,
        }
    }

    /// A message with the key taken out.
    fn redacted(&self, text: String) -> String {
        match &self.settings.key {
            Some(key) => key.redact(&text),
            None => text,
        }
    }

    /// Asks until there is an answer that `read` understands, or no hope. Where there are several
    /// servers, what one could not answer goes to another one at once.
    pub(super) fn ask<T>(
        &self,
        call: &Call,
        read: impl Fn(&Received) -> Result<(T, Usage), Unreadable>,
    ) -> Result<T, ChatError> {
        let index = self.requests.fetch_add(1, Ordering::Relaxed);
        let wait = |time| self.wait(time);
        let mut tried = BTreeSet::new();
        self.settings.retry.run(index, &wait, |tries| {
            let taken = self.places.take();
            // What was said to another request holds for this one, too.
            if taken.wait > self.settings.retry.patience {
                return Attempt::Failed(self.long_wait(taken.place, taken.wait));
            }
            if let Err(stopped) = self.wait(taken.wait) {
                return Attempt::Failed(stopped);
            }
            let stop = &self.settings.interruption;
            let reservation = match self.settings.budget.reserve(call.reserve, stop) {
                Ok(reservation) => reservation,
                Err(error) => return Attempt::Failed(error),
            };
            tried.insert(taken.place);
            let asked = Attempts { host: self.names(&tried), tries };
            let host = &self.hosts[taken.place];
            let answer = self.send(host, call, &asked).and_then(|received| {
                read(&received).map_err(|why| self.unread(&received, why, call, &asked))
            });
            match answer {
                Ok((answer, usage)) => {
                    self.places.answered(taken.place);
                    reservation.cost(usage);
                    Attempt::Done(answer)
                }
                // Who was given up for another one that was has not failed.
                Err(_) if stop.requested() => Attempt::Failed(ChatError::Interrupted),
                Err(Unanswered::Refused(error)) => Attempt::Failed(error),
                Err(Unanswered::Lost(error, after)) => self.lost(taken.place, error, after),
            }
        })
    }

    /// What to do after a try that may be worth another one.
    fn lost<T>(&self, place: usize, error: ChatError, after: Option<Duration>) -> Attempt<T> {
        if let Some(after) = after {
            // What the server says to one thread holds for all.
            self.places.asks_to_wait(place, after);
        } else {
            self.places.failed(place);
        }
        if self.places.has_another(place) {
            return Attempt::Again { error, after: Some(Duration::ZERO) };
        }
        let patience = self.settings.retry.patience;
        match after {
            Some(after) if after > patience => Attempt::Failed(self.long_wait(place, after)),
            _ => Attempt::Again { error, after },
        }
    }

    /// A server asks to be waited for longer than anybody is patient.
    fn long_wait(&self, place: usize, wait: Duration) -> ChatError {
        ChatError::LongWait {
            host: self.hosts[place].address.host.clone(),
            seconds: wait.as_secs(),
            limit: self.settings.retry.patience.as_secs(),
        }
    }

    /// A reply that is no answer.
    fn unread(
        &self,
        received: &Received,
        unreadable: Unreadable,
        call: &Call,
        asked: &Attempts,
    ) -> Unanswered {
        let host = asked.host.clone();
        match unreadable {
            Unreadable::CutOff => {
                Unanswered::Lost(ChatError::BrokenAnswer { host, tries: asked.tries }, None)
            }
            Unreadable::TokenVectors => Unanswered::Refused(ChatError::TokenVectors { host }),
            Unreadable::Unknown => {
                let start = match received {
                    Received::Whole(body) => body,
                    Received::Stream(stream) => stream.excerpt(),
                };
                Unanswered::Refused((call.unknown)(host, self.excerpt(start)))
            }
            Unreadable::Failed { status, text } => {
                self.refusal(status, text.as_bytes(), None, call, asked)
            }
        }
    }

    /// The servers that were asked, for messages.
    fn names(&self, tried: &BTreeSet<usize>) -> String {
        let hosts: Vec<&str> =
            tried.iter().map(|&place| self.hosts[place].address.host.as_str()).collect();
        hosts.join(", ")
    }

    /// Sends one request and reads the whole reply.
    fn send(&self, host: &Host, call: &Call, asked: &Attempts) -> Result<Received, Unanswered> {
        let outgoing = Outgoing {
            agent: host.agent.clone(),
            endpoint: host.address.endpoint(call.path),
            bearer: self.settings.key.as_ref().map(ApiKey::bearer),
            body: call.body.clone(),
            limits: Limits::new(self.settings.silence),
        };
        let reply = match exchange(outgoing, &self.settings.interruption) {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => return Err(self.failure(error, asked)),
            Err(Interrupted) => return Err(Unanswered::Refused(ChatError::Interrupted)),
        };
        let Reply { status, after, received } = reply;
        let host = asked.host.clone();
        let fault = match received {
            Ok(received) if (200..300).contains(&status) => return Ok(received),
            // The status of a refusal counts more than its text.
            Ok(Received::Whole(body)) => self.refusal(status, &body, after, call, asked),
            Ok(Received::Stream(stream)) => {
                self.refusal(status, stream.excerpt(), after, call, asked)
            }
            Err(_) if status >= 400 => self.refusal(status, b"", after, call, asked),
            Err(Fault::TooLarge(limit)) => Unanswered::Refused(ChatError::TooLarge { host, limit }),
            Err(Fault::Stalled) => Unanswered::Lost(self.timeout(asked), None),
            Err(Fault::Read(error, begun)) => match ureq::Error::from(error) {
                ureq::Error::Timeout(_) => Unanswered::Lost(self.timeout(asked), None),
                _ if begun => {
                    Unanswered::Lost(ChatError::BrokenAnswer { host, tries: asked.tries }, None)
                }
                error => self.failure(error, asked),
            },
        };
        Err(fault)
    }

    fn refusal(
        &self,
        status: u16,
        body: &[u8],
        after: Option<Duration>,
        call: &Call,
        asked: &Attempts,
    ) -> Unanswered {
        let is_spent = status == 429 && says_no_credit(body);
        let error = ChatError::Status {
            host: asked.host.clone(),
            status,
            meaning: if is_spent { NO_CREDIT } else { meaning_of(status) },
            tries: asked.tries,
            excerpt: self.excerpt(body),
        };
        let misunderstood = call.impatient && matches!(status, 500 | 501) && after.is_none();
        if misunderstood || is_spent || !is_transient(status) {
            return Unanswered::Refused(error);
        }
        Unanswered::Lost(error, after)
    }

    fn timeout(&self, asked: &Attempts) -> ChatError {
        let seconds = self.settings.silence.as_secs();
        ChatError::Timeout { host: asked.host.clone(), seconds, tries: asked.tries }
    }

    fn failure(&self, error: ureq::Error, asked: &Attempts) -> Unanswered {
        use ureq::Error as E;
        let host = asked.host.clone();
        if let Some(problem) = distrust(&error) {
            return Unanswered::Refused(ChatError::NotTrusted { host, problem });
        }
        let transient = matches!(
            error,
            E::Io(_) | E::Timeout(_) | E::ConnectionFailed | E::BodyStalled | E::Protocol(_)
        );
        let error = match error {
            E::Timeout(_) => self.timeout(asked),
            error => {
                let source: Box<dyn StdError + Send + Sync> = Box::new(error);
                ChatError::Connection { host, tries: asked.tries, source }
            }
        };
        if transient { Unanswered::Lost(error, None) } else { Unanswered::Refused(error) }
    }

    /// Waits unless it is asked to stop.
    fn wait(&self, time: Duration) -> Result<(), ChatError> {
        self.settings.interruption.wait(time).map_err(|_| ChatError::Interrupted)
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

/// The connections to one server.
fn agent(settings: &OpenAiSettings, address: &Address) -> Result<ureq::Agent, ChatError> {
    let proxy = match settings.proxy.choose(address.scheme, address.host_name()) {
        None => None,
        Some(url) => {
            let scheme = address.scheme;
            Some(ureq::Proxy::new(url).map_err(|_| ChatError::BadProxy { scheme })?)
        }
    };
    let silence = Some(settings.silence);
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(silence)
        .timeout_connect(silence)
        .timeout_per_read(silence)
        .timeout_per_write(silence)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Never from the environment: that is for the caller to read.
        .proxy(proxy)
        .tls_config(settings.trust.tls_config())
        .user_agent(concat!("caz/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(config.new_agent())
}

/// Who was asked, and how often, for messages.
struct Attempts {
    host: String,
    tries: u32,
}

/// Why a try has no answer.
enum Unanswered {
    /// It will not work.
    Refused(ChatError),
    /// It may work later, not before this long if the server said so.
    Lost(ChatError, Option<Duration>),
}

/// Whether a refusal of too many requests is one of all requests, since the account is used up.
fn says_no_credit(body: &[u8]) -> bool {
    let reply: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &reply["error"];
    ["code", "type"].iter().any(|key| error[key] == "insufficient_quota")
}

fn meaning_of(status: u16) -> &'static str {
    match status {
        300..=399 => "a redirect, which is not followed; use the address it leads to",
        400 | 422 => "the server does not accept the request",
        401 => "the key is missing or wrong",
        402 => NO_CREDIT,
        403 => "the key may not use this model",
        404 => "no such address or model; the base URL should end in /v1",
        408 | 504 => "the server took too long",
        413 => "the request is too large",
        429 => "too many requests",
        500..=599 => "the server failed",
        _ => "unexpected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_in_no_debug_output_and_in_no_excerpt() {
        let mut settings = OpenAiSettings::new("http://h/v1", "m");
        settings.key = ApiKey::new("sk-secret");
        let server = Server::new(settings).unwrap();
        assert!(!format!("{server:?}").contains("sk-secret"));
        assert_eq!(server.excerpt(b"bad key\n sk-secret"), "bad key ***");
        assert_eq!(server.excerpt(b" "), "(nothing)");
        assert!(server.excerpt("é".repeat(400).as_bytes()).ends_with("é…"));
    }

    #[test]
    fn an_address_named_twice_is_one_server_and_none_is_an_error() {
        let mut settings = OpenAiSettings::new("http://a/v1", "m");
        settings.base_urls.extend(["http://b/v1".into(), "http://a/v1/".into()]);
        assert_eq!(Server::new(settings.clone()).unwrap().hosts.len(), 2);
        settings.base_urls.clear();
        assert!(matches!(Server::new(settings), Err(ChatError::BadUrl { .. })));
    }
}
