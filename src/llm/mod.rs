//! Language models: requests and answers, prompts, recorded logs; servers and the cache of answers.
//!
//! Knows nothing of judges. The seams are [`ChatModel`] and, for probabilities, `ChoiceModel`: one blocking call per request, so that a
//! server, a cache around it, a recorded log and a model made for a test are the same to whoever
//! asks. Work for many items runs on the threads of [`crate::data::work`]; a request spends its time waiting
//! for the server, so plain threads do what an asynchronous runtime would.
//!
//! Servers are the feature `http`, models on this machine are `local` and the cache is `cache`; the rest
//! has neither network nor database.
//! Nothing here reads the environment or sends anything by itself: whoever builds a model behind a
//! server names the server and the model.

#[cfg(any(feature = "http", feature = "local"))]
pub(crate) mod budget;
pub(crate) mod chat;
pub(crate) mod choice;
pub(crate) mod embedding_model;
pub(crate) mod error;
pub(crate) mod fence;
pub(crate) mod form;
pub(crate) mod paste;
pub(crate) mod prompt;
pub(crate) mod proxy;
pub(crate) mod question;
mod reasoning;
pub(crate) mod replay;
mod template;

#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "local")]
pub(crate) mod local;
#[cfg(any(feature = "http", feature = "hub"))]
pub(crate) mod trust;
pub(crate) mod usable;

#[cfg(feature = "cache")]
pub(crate) mod cache;
#[cfg(feature = "cache")]
pub(crate) mod cached_model;
#[cfg(feature = "cache")]
mod claims;
#[cfg(any(feature = "http", feature = "cache"))]
pub(crate) mod longer;

#[cfg(any(feature = "http", feature = "local"))]
pub(crate) use self::budget::{Budget, Spent};
pub(crate) use self::chat::{
    ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, ResponseFormat, Role, Usage,
    estimated_tokens,
};
pub(crate) use self::embedding_model::EmbeddingModel;
pub(crate) use self::error::ChatError;
pub(crate) use self::prompt::{Prompt, PromptError, PromptKind};
pub(crate) use self::proxy::ProxySettings;
pub(crate) use self::question::Question;
pub(crate) use self::reasoning::without_reasoning;
pub(crate) use self::replay::{RecordingModel, ReplayModel};

#[cfg(feature = "cache")]
pub(crate) use self::cache::AnswerCache;
#[cfg(feature = "cache")]
pub(crate) use self::cached_model::CachedModel;
#[cfg(feature = "http")]
pub(crate) use self::http::{
    ApiKey, OpenAiEmbeddings, OpenAiModel, OpenAiSettings, RetryPolicy, TokenPooling, check_address,
};
#[cfg(feature = "local")]
pub(crate) use self::local::{LocalModel, LocalSettings};
#[cfg(any(feature = "http", feature = "hub"))]
pub(crate) use self::trust::Trust;
