//! Language models over HTTP: requests, retries, budgets, the cache of answers, prompts.
//!
//! Knows nothing of judges. The seam is [`ChatModel`]: one blocking call per request, so that a
//! server, a cache around it, a recorded log and a model made for a test are the same to whoever
//! asks. Work for many items runs on the threads of [`runner`]; a request spends its time waiting
//! for the server, so plain threads do what an asynchronous runtime would.
//!
//! Nothing here reads the environment or sends anything by itself: whoever builds an
//! [`OpenAiModel`] or [`OpenAiEmbeddings`] names the server and the model.

pub mod budget;
pub mod cache;
pub mod chat;
pub mod embeddings;
pub mod error;
pub mod fence;
pub mod form;
pub mod openai;
pub mod prompt;
mod proxy;
pub mod replay;
pub mod retry;
pub mod runner;
pub mod secret;
mod server;

pub use self::budget::{Budget, Spent};
pub use self::cache::{AnswerCache, CacheError, CachedModel};
pub use self::chat::{
    ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, ResponseFormat, Role, Usage,
    estimated_tokens, without_reasoning,
};
pub use self::embeddings::{EmbeddingModel, OpenAiEmbeddings};
pub use self::error::ChatError;
pub use self::openai::OpenAiModel;
pub use self::prompt::{Prompt, PromptError, PromptKind};
pub use self::proxy::ProxySettings;
pub use self::replay::{RecordingModel, ReplayError, ReplayModel};
pub use self::retry::RetryPolicy;
pub use self::secret::ApiKey;
pub use self::server::OpenAiSettings;
