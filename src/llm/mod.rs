//! Language models: requests and answers, prompts, recorded logs; servers and the cache of answers.
//!
//! Knows nothing of judges. The seams are [`ChatModel`] and, for probabilities, [`ChoiceModel`]: one blocking call per request, so that a
//! server, a cache around it, a recorded log and a model made for a test are the same to whoever
//! asks. Work for many items runs on the threads of [`crate::data::work`]; a request spends its time waiting
//! for the server, so plain threads do what an asynchronous runtime would.
//!
//! Servers are the feature `http`, models on this machine are `local` and the cache is `cache`; the rest
//! has neither network nor database.
//! Nothing here reads the environment or sends anything by itself: whoever builds a model behind a
//! server names the server and the model.

#[cfg(any(feature = "http", feature = "local"))]
pub mod budget;
pub mod chat;
pub mod choice;
pub mod embedding_model;
pub mod error;
pub mod fence;
pub mod form;
pub mod paste;
pub mod prompt;
mod proxy;
pub mod question;
pub mod replay;
mod template;

#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "local")]
pub mod local;
#[cfg(any(feature = "http", feature = "hub"))]
pub mod trust;
pub mod usable;

#[cfg(feature = "cache")]
pub mod cache;
#[cfg(feature = "cache")]
pub mod cached_model;
#[cfg(feature = "cache")]
mod claims;

#[cfg(any(feature = "http", feature = "local"))]
pub use self::budget::{Budget, Spent};
pub use self::chat::{
    ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, ResponseFormat, Role, Usage,
    estimated_tokens, without_reasoning,
};
pub use self::choice::{ChoiceModel, Choices};
pub use self::embedding_model::EmbeddingModel;
pub use self::error::ChatError;
pub use self::prompt::{Prompt, PromptError, PromptKind};
pub use self::proxy::ProxySettings;
pub use self::question::Question;
pub use self::replay::{RecordingModel, ReplayError, ReplayModel};

#[cfg(feature = "cache")]
pub use self::cache::{AnswerCache, CacheError};
#[cfg(feature = "cache")]
pub use self::cached_model::{CachedModel, OfflineModel};
#[cfg(feature = "http")]
pub use self::http::{
    ApiKey, OpenAiEmbeddings, OpenAiModel, OpenAiSettings, RetryPolicy, TokenPooling,
};
#[cfg(feature = "local")]
pub use self::local::{LocalModel, LocalSettings, ModelError};
#[cfg(any(feature = "http", feature = "hub"))]
pub use self::trust::{Trust, TrustError};
