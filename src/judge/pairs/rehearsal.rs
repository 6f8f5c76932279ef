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
    /// The label that is chosen where it can be, and the first word of texts.
    says: &'static str,
    counted: Mutex<Rehearsed>,
}

impl Rehearsal {
    /// `known` answers what is answered already, and fails for the rest without sending anything.
    pub(crate) fn new(known: Arc<dyn ChatModel>) -> Self {
        Self { known, says: WORD, counted: Mutex::default() }
    }

    /// The same for comments: whoever disagrees makes a judge go on.
    pub(crate) fn disagreeing(known: Arc<dyn ChatModel>) -> Self {
        Self { says: "disagree", ..Self::new(known) }
    }

    /// What was asked for so far.
    pub(crate) fn counted(&self) -> Rehearsed {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is made up where a text is asked for, and how many of it.
const WORD: &str = "word";
const WORDS: usize = 150;

fn made_up(format: &ResponseFormat, says: &str) -> String {
    let text = format!("{says}{}", format!(" {WORD}").repeat(WORDS - 1));
    let ResponseFormat::JsonSchema { schema, .. } = format else { return text };
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let value = |property: &Value| match property["enum"].as_array() {
        Some(labels) if labels.contains(&json!(says)) => json!(says),
        Some(labels) => labels.first().cloned().unwrap_or_default(),
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
        let text = made_up(&request.format, self.says);
        let usage =
            Usage { prompt_tokens, completion_tokens: estimated_tokens(&text), estimated: true };
        Ok(ChatAnswer { text, finish: FinishReason::Stop, usage })
    }
}
