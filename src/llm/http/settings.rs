//! How to reach a model behind servers.

use std::sync::Arc;
use std::time::Duration;

use super::retry::RetryPolicy;
use super::secret::ApiKey;
use crate::data::interruption::Interruption;
use crate::llm::budget::Budget;
use crate::llm::proxy::ProxySettings;
use crate::llm::trust::Trust;

/// How to reach a model behind one server or several.
#[derive(Debug, Clone)]
pub struct OpenAiSettings {
    /// Addresses up to and including the version, e.g. `http://localhost:8000/v1`, at least one. All
    /// serve the same model: which of them answers must not matter.
    pub base_urls: Vec<String>,
    /// The model's name as the servers know it.
    pub model: String,
    /// Sent as a bearer token to every address; many local servers need none.
    pub key: Option<ApiKey>,
    /// Longest silence of a server within one try. An answer that keeps coming may take longer.
    pub silence: Duration,
    /// Whether to ask for answers bit by bit. Without it a server is silent until it is done.
    pub stream: bool,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Which proxy to use.
    pub proxy: ProxySettings,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// What may be spent, shared by all models of a run.
    pub budget: Arc<Budget>,
    /// Asks to stop: nothing more is sent, and no wait goes on. A request under way has a second to
    /// be finished. What is made of these settings is of no use any more then.
    pub interruption: Interruption,
}

impl OpenAiSettings {
    /// The defaults for `model` at one address: 60 s of silence, streams, five tries, no key, no
    /// proxy, no limit.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_urls: vec![base_url.into()],
            model: model.into(),
            key: None,
            silence: Duration::from_mins(1),
            stream: true,
            retry: RetryPolicy::default(),
            proxy: ProxySettings::default(),
            trust: Trust::default(),
            budget: Arc::default(),
            interruption: Interruption::default(),
        }
    }
}
