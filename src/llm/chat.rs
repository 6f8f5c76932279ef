//! Requests to a chat model and its answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::error::ChatError;
use super::question::Question;
use crate::data::hexadecimal::hexadecimal;

/// A model that continues a conversation. Object-safe; shared between threads.
pub trait ChatModel: Send + Sync {
    /// The model's name as the server knows it; part of every cache key.
    fn model(&self) -> &str;

    /// Answers one request; blocks until the answer is there.
    ///
    /// # Errors
    ///
    /// [`ChatError`] if there is no answer after all tries.
    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError>;

    /// The answer to `request` was of no use: nothing may keep it, so that a later run asks again.
    ///
    /// Whoever reads answers calls this for those it cannot use; what stores them forgets them.
    ///
    /// # Errors
    ///
    /// [`ChatError::Store`] if what stores answers cannot be written.
    fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
        let _ = request;
        Ok(())
    }

    /// Whether the answer to `request` is kept from an earlier time: how soon it comes says nothing of the
    /// model.
    ///
    /// # Errors
    ///
    /// [`ChatError::Store`] if what stores answers cannot be read.
    fn keeps(&self, request: &ChatRequest) -> Result<bool, ChatError> {
        let _ = request;
        Ok(false)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// What the model is asked.
    User,
    /// What the model said.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// The form the answer is asked to have; a server that cannot promise it is asked for less.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseFormat {
    /// Any text.
    Text,
    /// A JSON object that satisfies a JSON Schema.
    JsonSchema {
        /// A name for the schema, letters, digits, `_` and `-`.
        name: String,
        /// The schema.
        schema: Value,
    },
    /// No text, but how likely the options of each question are; see `super::choice`.
    Choices {
        /// The questions, each behind the same messages.
        questions: Vec<Question>,
    },
}

/// Everything that decides an answer, apart from the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Sampling temperature, 0 or more.
    pub temperature: f64,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
    /// Most tokens of the answer, reasoning included.
    pub max_tokens: u32,
    /// Form of the answer.
    pub format: ResponseFormat,
    /// Which of several independent answers to the same request this is, from 0.
    pub repeat: u32,
}

impl ChatRequest {
    /// The request as JSON, every field that decides the answer included.
    pub(crate) fn to_json(&self, model: &str) -> Value {
        let format = match &self.format {
            ResponseFormat::Text => Value::Null,
            ResponseFormat::JsonSchema { name, schema } => json!({"name": name, "schema": schema}),
            ResponseFormat::Choices { questions } => json!({"choices": questions}),
        };
        json!({
            "model": model,
            "messages": self.messages,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "format": format,
            "repeat": self.repeat,
        })
    }

    /// SHA-256 of the whole request with the model's name and the repeat, in hexadecimal.
    ///
    /// Hashing the rendered request, not the settings it came from, means that no setting can be
    /// forgotten: what changes the request changes the key.
    pub fn key(&self, model: &str) -> String {
        hexadecimal(&Sha256::digest(self.to_json(model).to_string()))
    }

    /// The questions of a request for choices; none of any other.
    pub(crate) fn questions(&self) -> &[Question] {
        match &self.format {
            ResponseFormat::Choices { questions } => questions,
            ResponseFormat::Text | ResponseFormat::JsonSchema { .. } => &[],
        }
    }

    /// A guess at the tokens of the messages, see `estimated_tokens`; of several questions, what
    /// they share counts once.
    pub(crate) fn estimated_prompt_tokens(&self) -> u64 {
        // Every message costs a few tokens for its role and its borders.
        const PER_MESSAGE: u64 = 4;
        let messages = self.messages.iter().map(|message| &message.content);
        let questions = self.questions().iter().map(|question| &question.text);
        messages.chain(questions).map(|text| estimated_tokens(text) + PER_MESSAGE).sum()
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran into the limit of tokens, so the answer is cut off.
    Length,
    /// The server withheld the answer.
    ContentFilter,
    /// Anything else, or nothing was said.
    Other,
}

/// Tokens that an answer cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written, reasoning included.
    pub completion_tokens: u64,
    /// Whether the numbers are a guess because the server gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// Tokens read and written.
    pub fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// The sum of two answers' costs.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            estimated: self.estimated || other.estimated,
        }
    }
}

/// What the model said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAnswer {
    /// The text as received, reasoning included.
    pub text: String,
    /// Why it ends.
    pub finish: FinishReason,
    /// What it cost when it was asked for; nothing is spent when it comes from a cache.
    pub usage: Usage,
}

/// A guess at the number of tokens of a text: a quarter of its ASCII characters plus every other
/// character.
///
/// English text has about four characters a token; scripts without spaces have about one. It is
/// for planning and for budgets, never for results.
pub(crate) fn estimated_tokens(text: &str) -> u64 {
    let (ascii, other) = text.chars().fold((0_u64, 0_u64), |(ascii, other), c| {
        if c.is_ascii() { (ascii + 1, other) } else { (ascii, other + 1) }
    });
    ascii.div_ceil(4) + other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ChatRequest {
        ChatRequest {
            messages: vec![Message::new(Role::User, "hello")],
            temperature: 0.0,
            seed: 1,
            max_tokens: 10,
            format: ResponseFormat::Text,
            repeat: 0,
        }
    }

    fn choices(text: &str, option: &str) -> ChatRequest {
        let options = vec!["a".into(), option.into()];
        let questions = vec![Question { text: text.into(), opening: String::new(), options }];
        ChatRequest { format: ResponseFormat::Choices { questions }, ..request() }
    }

    #[test]
    fn whatever_changes_the_request_changes_the_key() {
        let base = request();
        let schema = ResponseFormat::JsonSchema { name: "a".into(), schema: json!({}) };
        let others = [
            ChatRequest { messages: vec![Message::new(Role::User, "hello!")], ..base.clone() },
            ChatRequest { messages: vec![Message::new(Role::System, "hello")], ..base.clone() },
            ChatRequest { temperature: 0.1, ..base.clone() },
            ChatRequest { seed: 2, ..base.clone() },
            ChatRequest { max_tokens: 11, ..base.clone() },
            ChatRequest { format: schema, ..base.clone() },
            ChatRequest { repeat: 1, ..base.clone() },
            choices("a", "b"),
            choices("b", "b"),
            choices("a", "c"),
        ];
        let mut keys: Vec<String> = others.iter().map(|other| other.key("m")).collect();
        keys.push(base.key("m"));
        keys.push(base.key("n"));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), others.len() + 2);
        assert_eq!(base.key("m"), request().key("m"));
    }

    #[test]
    fn tokens_are_guessed_from_characters() {
        // 5 ASCII characters: 2 tokens; 2 others: 2 tokens.
        assert_eq!(estimated_tokens("hello"), 2);
        assert_eq!(estimated_tokens("hello评审"), 4);
        assert_eq!(estimated_tokens(""), 0);
    }
}
