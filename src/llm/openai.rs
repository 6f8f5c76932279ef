//! Any server that speaks the chat completions protocol of `OpenAI`: vLLM, llama.cpp, Ollama, TGI,
//! `OpenAI` itself.
//!
//! Servers differ in what they take. A request starts with everything we would like; when the
//! server refuses it, it is asked for less: a JSON Schema, then any JSON object, then plain text;
//! `max_tokens` under its newer name; no temperature or seed where the model allows none. What
//! worked once is used from then on, and [`OpenAiModel::concessions`] says what was given up.

mod wire;

use std::sync::Mutex;

use self::wire::Dialect;
use super::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason, Usage};
use super::error::ChatError;
use super::server::{Call, OpenAiSettings, Server, lock};

/// A chat model behind HTTP.
#[derive(Debug)]
pub struct OpenAiModel {
    server: Server,
    dialect: Mutex<Dialect>,
}

impl OpenAiModel {
    /// Prepares to talk to a server; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ChatError::BadUrl`] and [`ChatError::BadProxy`].
    pub fn new(settings: OpenAiSettings) -> Result<Self, ChatError> {
        Ok(Self { server: Server::new(settings)?, dialect: Mutex::new(Dialect::default()) })
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
            let error = match self.ask(request, max_tokens, dialect) {
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

    fn ask(
        &self,
        request: &ChatRequest,
        max_tokens: u32,
        dialect: Dialect,
    ) -> Result<ChatAnswer, ChatError> {
        let call = Call {
            path: "chat/completions",
            body: dialect.body(self.server.model(), request, max_tokens).to_string(),
            reserve: request.estimated_prompt_tokens() + u64::from(max_tokens),
            unknown: |host, excerpt| ChatError::NotChat { host, excerpt },
        };
        self.server.ask(&call, |reply| {
            let answer = wire::parse(reply, request)?;
            let usage = answer.usage;
            Ok((answer, usage))
        })
    }
}

impl ChatModel for OpenAiModel {
    fn model(&self) -> &str {
        self.server.model()
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
        answer.text = self.server.redacted(answer.text);
        Ok(answer)
    }
}
