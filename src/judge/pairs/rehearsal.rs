//! A model of made-up answers, as long as they may be: what a run would cost at most.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::llm::{
    ChatAnswer, ChatError, ChatModel, ChatRequest, FinishReason, ResponseFormat, Usage,
    estimated_tokens,
};

/// What was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rehearsed {
    /// Requests.
    pub calls: u64,
    /// How many of them are answered already.
    pub held: u64,
    /// Tokens of the others, by a rule of thumb.
    pub prompt_tokens: u64,
    /// Most tokens of their answers.
    pub answer_tokens: u64,
}

impl Rehearsed {
    /// Both together.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            held: self.held + other.held,
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            answer_tokens: self.answer_tokens + other.answer_tokens,
        }
    }

    /// This without a part of it.
    #[must_use]
    pub(crate) fn minus(self, part: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(part.calls),
            held: self.held.saturating_sub(part.held),
            prompt_tokens: self.prompt_tokens.saturating_sub(part.prompt_tokens),
            answer_tokens: self.answer_tokens.saturating_sub(part.answer_tokens),
        }
    }
}

/// Answers from what is known, and makes up the rest.
pub(crate) struct Rehearsal {
    known: Arc<dyn ChatModel>,
    counted: Mutex<Rehearsed>,
}

impl Rehearsal {
    /// `known` answers what is answered already, and fails for the rest without sending anything.
    pub(crate) fn new(known: Arc<dyn ChatModel>) -> Self {
        Self { known, counted: Mutex::default() }
    }

    /// What was asked for so far.
    pub(crate) fn counted(&self) -> Rehearsed {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Words that are made up where a text is asked for.
const WORDS: usize = 150;

fn made_up(format: &ResponseFormat) -> String {
    let text = vec!["word"; WORDS].join(" ");
    let ResponseFormat::JsonSchema { schema, .. } = format else { return text };
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let value = |property: &Value| match property["enum"].get(0) {
        Some(first) => first.clone(),
        None if property["type"] == "string" => json!(text),
        None => property["minimum"].clone(),
    };
    let answer: Map<String, Value> =
        properties.iter().map(|(name, property)| (name.clone(), value(property))).collect();
    Value::Object(answer).to_string()
}

impl ChatModel for Rehearsal {
    fn model(&self) -> &str {
        self.known.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let known = self.known.complete(request).ok();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.calls += 1;
        if let Some(answer) = known {
            counted.held += 1;
            return Ok(answer);
        }
        let prompt_tokens = request.estimated_prompt_tokens();
        counted.prompt_tokens += prompt_tokens;
        counted.answer_tokens += u64::from(request.max_tokens);
        let text = made_up(&request.format);
        let usage =
            Usage { prompt_tokens, completion_tokens: estimated_tokens(&text), estimated: true };
        Ok(ChatAnswer { text, finish: FinishReason::Stop, usage })
    }
}
