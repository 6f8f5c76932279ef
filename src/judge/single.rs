//! The simplest judge: one request, one answer.

use std::collections::BTreeMap;

use super::rubric::Rubric;
use super::verdict::parse_answer;
use super::{Item, JudgeError, JudgeStrategy, Transcript, Turn};
use crate::llm::form::json_schema;
use crate::llm::{ChatModel, ChatRequest, Prompt, ResponseFormat};

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampling {
    /// Sampling temperature.
    pub temperature: f64,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
    /// Most tokens of an answer.
    pub max_tokens: u32,
}

/// Asks once; an answer that cannot be read is the end.
#[derive(Debug, Clone)]
pub(crate) struct Single {
    /// The questions.
    pub(crate) rubric: Rubric,
    /// How they are asked.
    pub prompt: Prompt,
    /// How requests are made.
    pub(crate) sampling: Sampling,
}

impl Single {
    /// The first request about an item.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Prompt`] if the item has no text or the template does not work.
    pub(crate) fn request(&self, item: &Item) -> Result<ChatRequest, JudgeError> {
        let texts = BTreeMap::from([("text".to_owned(), item.text.clone())]);
        Ok(ChatRequest {
            messages: self.prompt.render(&texts, &self.rubric.form())?,
            temperature: self.sampling.temperature,
            seed: self.sampling.seed,
            max_tokens: self.sampling.max_tokens,
            format: ResponseFormat::JsonSchema {
                name: "judgments".into(),
                schema: json_schema(&self.rubric.form().fields),
            },
            repeat: 0,
        })
    }
}

impl JudgeStrategy for Single {
    fn judge(&self, item: &Item, model: &dyn ChatModel) -> Result<Transcript, JudgeError> {
        let request = self.request(item)?;
        let answer = model.complete(&request)?;
        let read = parse_answer(&answer, &self.rubric.form().fields);
        let (proposal, problems) = match read {
            Ok(verdict) => (self.rubric.numbers(&verdict), Vec::new()),
            Err(problems) => {
                model.reject(&request)?;
                (None, problems)
            }
        };
        Ok(Transcript {
            values: proposal.clone(),
            turns: vec![Turn { problems, proposal, agreed: None }],
            usage: answer.usage,
            withheld: 0,
            unusable_comments: 0,
            choices: None,
        })
    }
}
