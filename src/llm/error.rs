//! Why there is no answer from a model.

use std::path::PathBuf;

use crate::error::{ErrorKind, Kinded, Remedy};

/// Why a request has no answer.
///
/// No variant holds a key: text that came from a server has the key replaced by `***` before it
/// gets here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The server's address cannot be used.
    #[error("`{url}` cannot be used as a base URL: {reason}")]
    BadUrl {
        /// The address without credentials.
        url: String,
        /// What is wrong, and what to do.
        reason: &'static str,
    },
    /// The proxy's address cannot be used. Its text is left out: it may hold a password.
    #[error("the proxy named for {scheme} cannot be used; write it as http://HOST:PORT")]
    BadProxy {
        /// `http` or `https`.
        scheme: &'static str,
    },
    /// No connection, or it broke.
    #[error("no answer from {host} in {tries} tries; is the server running there?")]
    Connection {
        /// Host and port.
        host: String,
        /// How often it was asked.
        tries: u32,
        /// The last failure.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer is not complete.
    #[error("{host} broke off its answer in each of {tries} tries")]
    BrokenAnswer {
        /// Host and port.
        host: String,
        /// How often it was asked.
        tries: u32,
    },
    /// Nobody knows whether it is the server that was named.
    #[cfg(any(feature = "http", feature = "hub"))]
    #[error("{host} cannot be trusted: {problem}")]
    NotTrusted {
        /// Host and port.
        host: String,
        /// What is wrong.
        problem: super::trust::Distrust,
    },
    /// The server was silent for too long.
    #[error("{host} was silent for {seconds} s in each of {tries} tries")]
    Timeout {
        /// Host and port.
        host: String,
        /// The longest silence.
        seconds: u64,
        /// How often it was asked.
        tries: u32,
    },
    /// The server refused or failed.
    #[error("{host} answered with status {status} ({meaning}) after {tries} tries: {excerpt}")]
    Status {
        /// Host and port.
        host: String,
        /// HTTP status.
        status: u16,
        /// What the status means for the user.
        meaning: &'static str,
        /// How often it was asked.
        tries: u32,
        /// Start of what the server wrote.
        excerpt: String,
    },
    /// The server asks for a longer wait than we are willing to make.
    #[error(
        "{host} asks to wait {seconds} s, more than {limit} s; run the same command again later"
    )]
    LongWait {
        /// Host and port.
        host: String,
        /// What it asked for.
        seconds: u64,
        /// Our patience.
        limit: u64,
    },
    /// The answer is larger than any sensible one.
    #[error("{host} sent more than {limit} bytes; is this a server of language models?")]
    TooLarge {
        /// Host and port.
        host: String,
        /// The limit.
        limit: u64,
    },
    /// The answer is not a chat completion.
    #[error("{host} sent {} it starts: {excerpt}", no_chat(excerpt))]
    NotChat {
        /// Host and port.
        host: String,
        /// Start of what the server wrote.
        excerpt: String,
    },
    /// The answer is not one vector per text.
    #[error(
        "{host} sent something else than one vector per text; is the model an embedding model, and \
         does the base URL end in /v1? it starts: {excerpt}"
    )]
    NotEmbeddings {
        /// Host and port.
        host: String,
        /// Start of what the server wrote.
        excerpt: String,
    },
    /// The answer has one vector per token.
    #[error(
        "{host} sent one vector per token instead of one per text; start the server with mean \
         pooling, use a model made for embeddings, or have the vectors of tokens pooled here"
    )]
    TokenVectors {
        /// Host and port.
        host: String,
    },
    /// It was asked to stop before there was an answer.
    #[error("interrupted")]
    Interrupted,
    /// A budget is used up.
    #[error("the budget of {limit} {what} is used up; raise it and run the same command again")]
    Budget {
        /// `requests` or `tokens`.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// No connection may be made and the answer is not in the cache.
    #[error("the answer is not in the cache, and no connection may be made to ask for it")]
    Offline,
    /// The recorded log does not hold the answer.
    #[error(
        "`{path}` does not hold an answer to this request; use the settings it was recorded with"
    )]
    NotRecorded {
        /// The log.
        path: PathBuf,
    },
    /// The model answers, but does not say how likely the answers are.
    #[error(
        "`{model}` gives no probabilities of answers (`top_logprobs` of a server), gives some that \
         sum to more than 1, or wants to say something else than every option"
    )]
    NoChoices {
        /// Its name.
        model: String,
    },
    /// A request for choices that cannot be told apart.
    #[error("the options {options} cannot be told apart: one begins like another one")]
    UnclearOptions {
        /// The options.
        options: String,
    },
    /// A model on this machine has no answer.
    #[cfg(feature = "local")]
    #[error(transparent)]
    Local(#[from] super::local::ModelError),
    /// What stands around the model, a cache or a log, cannot be used.
    #[error(transparent)]
    Store(#[from] crate::Error),
}

/// What a status means where nobody pays for answers any more.
pub(super) const NO_CREDIT: &str = "the account has no credit";

/// What a reply is instead of an answer.
fn no_chat(excerpt: &str) -> &'static str {
    if excerpt.contains("\"choices\"") {
        "a chat completion that cannot be read;"
    } else {
        "something that is no chat completion; does the base URL end in /v1?"
    }
}

impl Kinded for ChatError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::BadUrl { .. } | Self::BadProxy { .. } | Self::UnclearOptions { .. } => {
                ErrorKind::Usage
            }
            Self::Budget { .. } => ErrorKind::Gate,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Offline | Self::NotRecorded { .. } => ErrorKind::Missing,
            #[cfg(feature = "local")]
            Self::Local(error) => error.kind(),
            Self::Store(error) => error.kind(),
            _ => ErrorKind::Network,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::BadUrl { .. } | Self::Status { status: 404, .. } => Some(Remedy::CheckServer),
            Self::Timeout { .. } => Some(Remedy::WaitLonger),
            Self::Status { status: 401, .. } => Some(Remedy::CheckKey),
            Self::Status { meaning, .. } if *meaning == NO_CREDIT => Some(Remedy::AddCredit),
            Self::Status { status: 429, .. } => Some(Remedy::LowerConcurrency),
            Self::Offline => Some(Remedy::AllowNetwork),
            Self::TokenVectors { .. } => Some(Remedy::ChoosePooling),
            #[cfg(any(feature = "http", feature = "hub"))]
            Self::NotTrusted { problem, .. } => problem.remedy(),
            Self::Store(error) => error.remedy(),
            _ => None,
        }
    }
}

impl ChatError {
    /// Whether every other request would fail alike, so that going on is pointless.
    pub fn stops_the_run(&self) -> bool {
        match self {
            Self::Status { status, meaning, .. } => {
                matches!(status, 401..=405) || *meaning == NO_CREDIT
            }
            Self::BadUrl { .. }
            | Self::BadProxy { .. }
            | Self::Budget { .. }
            | Self::LongWait { .. }
            | Self::UnclearOptions { .. }
            | Self::TokenVectors { .. }
            | Self::Interrupted
            | Self::Store(_) => true,
            #[cfg(any(feature = "http", feature = "hub"))]
            Self::NotTrusted { .. } => true,
            #[cfg(feature = "local")]
            Self::Local(error) => error.stops_the_run(),
            _ => false,
        }
    }

    /// Whether the server was not reached at all.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(self, Self::Connection { .. } | Self::Timeout { .. } | Self::BrokenAnswer { .. })
    }

    /// A stable word for scripts.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::BadUrl { .. } => "bad_url",
            Self::BadProxy { .. } => "bad_proxy",
            Self::Connection { .. } => "connection",
            Self::BrokenAnswer { .. } => "broken_answer",
            Self::Timeout { .. } => "timeout",
            Self::Status { .. } => "status",
            Self::LongWait { .. } => "long_wait",
            Self::TooLarge { .. } => "too_large",
            Self::NotChat { .. } => "not_chat",
            Self::NotEmbeddings { .. } => "not_embeddings",
            Self::TokenVectors { .. } => "token_vectors",
            Self::Interrupted => "interrupted",
            #[cfg(any(feature = "http", feature = "hub"))]
            Self::NotTrusted { .. } => "not_trusted",
            Self::Budget { .. } => "budget",
            Self::Offline => "offline",
            Self::NotRecorded { .. } => "not_recorded",
            Self::NoChoices { .. } => "no_choices",
            Self::UnclearOptions { .. } => "unclear_options",
            #[cfg(feature = "local")]
            Self::Local(_) => "local",
            Self::Store(_) => "store",
        }
    }
}
