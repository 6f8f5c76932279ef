//! Models that answer from the cache before they ask, or instead.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::cache::{AnswerCache, CacheError};
use super::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason};
use super::error::ChatError;
use super::longer::longer;
use crate::data::hexadecimal::hexadecimal;
use crate::data::interruption::Interruption;

/// A model that asks another one only for what the cache does not hold.
pub struct CachedModel {
    inner: Arc<dyn ChatModel>,
    cache: Arc<AnswerCache>,
    /// Where answers may have been stored; new ones go under the first.
    scopes: Vec<String>,
    interruption: Interruption,
}

/// How often to look whether the answer is there that another run is asking for.
const LOOK: Duration = Duration::from_millis(20);

impl CachedModel {
    /// Puts `cache` before `inner`; answers of one server do not serve another, but for the
    /// `servers` named here, which have the same model. Which of them answered does not matter, nor
    /// does their order: an answer that was stored for any of them serves.
    pub fn new(inner: Arc<dyn ChatModel>, cache: Arc<AnswerCache>, servers: &[&str]) -> Self {
        let scopes = servers.iter().map(|server| server.trim_end_matches('/').to_owned());
        let mut scopes: Vec<String> = scopes.collect();
        scopes.sort_unstable();
        scopes.dedup();
        Self { inner, cache, scopes, interruption: Interruption::default() }
    }

    /// With a wait for another run's answer that ends when `interruption` is requested.
    #[must_use]
    pub(crate) fn heeding(self, interruption: Interruption) -> Self {
        Self { interruption, ..self }
    }

    /// How many answers could not be stored, and are lost for the next run.
    pub(crate) fn not_stored(&self) -> usize {
        // There may be room by now.
        self.cache.store_kept().map_or_else(|_| self.cache.kept(), |()| 0)
    }

    /// Whether the answer is there, so that nothing would be sent.
    ///
    /// # Errors
    ///
    /// `CacheError::Database`.
    pub(crate) fn holds(&self, request: &ChatRequest) -> Result<bool, CacheError> {
        let finish = |request| -> Result<_, CacheError> {
            Ok(self.stored(&self.keys(request))?.map(|answer| answer.finish))
        };
        Ok(match finish(request)? {
            // Twice the tokens would be asked for, too.
            Some(FinishReason::Length) => finish(&longer(request))?.is_some(),
            finish => finish.is_some(),
        })
    }

    fn keys(&self, request: &ChatRequest) -> Vec<String> {
        let key = request.key(self.inner.model());
        let scoped = |scope: &String| {
            let mut hash = Sha256::new();
            hash.update(scope);
            hash.update("\n");
            hash.update(&key);
            hexadecimal(&hash.finalize())
        };
        self.scopes.iter().map(scoped).collect()
    }

    fn stored(&self, keys: &[String]) -> Result<Option<ChatAnswer>, CacheError> {
        for key in keys {
            if let Some(answer) = self.cache.get(key)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
}

impl ChatModel for CachedModel {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let keys = self.keys(request);
        let Some(key) = keys.first() else { return self.inner.complete(request) };
        let claim = loop {
            if let Some(answer) = self.stored(&keys)? {
                return Ok(answer);
            }
            // Before it is paid for.
            self.cache.check_writable()?;
            self.cache.store_kept()?;
            if let Some(claim) = self.cache.claim(key)? {
                break claim;
            }
            self.interruption.wait(LOOK).map_err(|_| ChatError::Interrupted)?;
        };
        // Whoever had the request may have stored its answer after the look above.
        if let Some(answer) = self.stored(&keys)? {
            return Ok(answer);
        }
        let answer = self.inner.complete(request)?;
        let stored = self.cache.put(key, self.inner.model(), &answer)?;
        drop(claim);
        Ok(stored)
    }

    fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
        for key in self.keys(request) {
            self.cache.remove(&key)?;
        }
        self.inner.reject(request)
    }

    fn keeps(&self, request: &ChatRequest) -> Result<bool, ChatError> {
        Ok(self.stored(&self.keys(request))?.is_some())
    }
}

/// The model of a run that may not connect: it answers nothing.
#[derive(Debug)]
pub(crate) struct OfflineModel {
    /// The name that the cached answers were stored under.
    pub model: String,
}

impl ChatModel for OfflineModel {
    fn model(&self) -> &str {
        &self.model
    }

    fn complete(&self, _request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        Err(ChatError::Offline)
    }
}
