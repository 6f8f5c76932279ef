//! A judge that reads probabilities: for each category, how likely the model finds each answer.
//!
//! For the options `k` of a question with log-probabilities `l_k`: mass `M = sum e^(l_k)`,
//! `p_k = e^(l_k) / M`, value `sum p_k value_k`, uncertainty `-sum p_k ln p_k / ln K` (methods.md,
//! forced choice). Weighing the values by their probabilities instead of taking the likeliest one is what
//! G-Eval does (Liu et al. 2023, arXiv 2303.16634).
//!
//! # Calibration
//!
//! [`Debiasing::ContentFree`] takes from every `ln p_k` the logarithm of the mean of `p_k` over
//! texts that say nothing (Zhao et al. 2021, arXiv 2102.09690) and makes the shares sum to 1 again. No
//! text's calibration depends on another text.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::rubric::Rubric;
use super::{Item, JudgeError, JudgeStrategy, Transcript, Turn};
use crate::llm::choice::{ChoiceModel, Choices, requests};
use crate::llm::form::Domain;
use crate::llm::{ChatModel, ChatRequest, Message, Prompt, Question};

/// Texts that say nothing.
const EMPTY: [&str; 3] = ["N/A", "[MASK]", "..."];

/// Below this mass, a model wanted to say something else than every option.
pub(crate) const LOW_MASS: f64 = 0.5;

/// How the model's liking for some words is taken out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Debiasing {
    /// As they are.
    #[default]
    None,
    /// Against what the model says of texts that say nothing.
    ContentFree,
}

/// What was read from the probabilities of one question's options.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// The probability of each option, in the order of the values, lowest first; they sum to 1.
    pub probabilities: Vec<f64>,
    /// Their entropy, from 0 for certain to 1 for all alike.
    pub uncertainty: f64,
    /// The probability of all options before calibration.
    pub mass: f64,
}

impl Choice {
    /// From the log-probabilities of the options, and the mean probabilities for texts that say
    /// nothing.
    fn of(options: &[f64], empty: Option<&[f64]>) -> Self {
        let mass: f64 = options.iter().map(|log| log.exp()).sum();
        let mut logs: Vec<f64> = options.iter().map(|log| log - mass.ln()).collect();
        if let Some(empty) = empty {
            for (log, share) in logs.iter_mut().zip(empty) {
                // Of an option that is never seen, be there text or none, nothing is divided by 0.
                *log -= share.max(f64::MIN_POSITIVE).ln();
            }
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
        let probabilities: Vec<f64> = logs.iter().map(|log| (log - most).exp() / total).collect();
        let terms = probabilities.iter().filter(|p| **p > 0.0).map(|p| p * p.ln());
        // 0 less something is never -0.
        let entropy = 0.0 - terms.sum::<f64>();
        Self { probabilities, uncertainty: entropy / (options.len() as f64).ln(), mass }
    }

    /// The mean of `values` under the probabilities.
    fn mean(&self, values: &[f64]) -> f64 {
        self.probabilities.iter().zip(values).map(|(p, value)| p * value).sum()
    }
}

/// Asks for the probabilities of the values of every category.
#[derive(Debug)]
pub(crate) struct ChoiceJudge {
    rubric: Rubric,
    prompt: Prompt,
    calibration: Debiasing,
    /// Lowest first.
    values: Vec<f64>,
    /// By category: mean probabilities for texts that say nothing, once they are known.
    empty: Mutex<Option<Vec<Vec<f64>>>>,
}

impl ChoiceJudge {
    /// A judge, if the rubric's values have words: -1, 0 and 1.
    pub(crate) fn new(rubric: &Rubric, prompt: Prompt, calibration: Debiasing) -> Option<Self> {
        let values = match rubric.fields().first().map(|field| &field.domain)? {
            Domain::Numbers { values } => values.clone(),
            Domain::Labels { .. } | Domain::Interval { .. } | Domain::Text { .. } => return None,
        };
        if !values.iter().all(|value| word(*value).is_some()) {
            return None;
        }
        let empty = Mutex::default();
        Some(Self { rubric: rubric.clone(), prompt, calibration, values, empty })
    }

    /// The words for the values, lowest first.
    pub(crate) fn options(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().filter_map(|value| word(*value))
    }

    /// The conversation about a text; the category is still to be named.
    fn messages(&self, text: &str) -> Result<Vec<Message>, JudgeError> {
        let texts = BTreeMap::from([("text".to_owned(), text.to_owned())]);
        let mut messages = self.prompt.render(&texts, &self.rubric.task())?;
        let words: Vec<&str> = self.options().collect();
        if let (Some(last), Some((end, rest))) = (messages.last_mut(), words.split_last()) {
            let options = format!("{} or {end}", rest.join(", "));
            last.content += &format!("\n\nAnswer with one word: {options}.");
        }
        Ok(messages)
    }

    fn questions(&self) -> Vec<Question> {
        let options: Vec<String> = self.options().map(str::to_owned).collect();
        let question = |name: &str| Question {
            text: format!("\nCategory: {name}"),
            opening: format!("{name}:"),
            options: options.clone(),
        };
        self.rubric.categories().map(question).collect()
    }

    /// All requests about an item, calibration by other texts not among them.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Prompt`] if the item has no text or the template does not work.
    pub(crate) fn requests(
        &self,
        item: &Item,
        model: &str,
    ) -> Result<Vec<ChatRequest>, JudgeError> {
        Ok(requests(model, &self.messages(&item.text)?, &self.questions()))
    }

    /// Requests about texts that say nothing, once for all items.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Prompt`] if the template does not work.
    pub(crate) fn requests_for_calibration(
        &self,
        model: &str,
    ) -> Result<Vec<ChatRequest>, JudgeError> {
        let mut all = Vec::new();
        for text in self.contents() {
            let item = Item { text: (*text).to_owned(), gold: None };
            all.extend(self.requests(&item, model)?);
        }
        Ok(all)
    }

    fn contents(&self) -> &'static [&'static str] {
        if self.calibration == Debiasing::ContentFree { &EMPTY } else { &[] }
    }

    /// The choices about a text.
    fn ask(&self, text: &str, model: &dyn ChatModel) -> Result<Choices, JudgeError> {
        Ok(model.choose(&self.messages(text)?, &self.questions())?)
    }

    /// Mean probabilities for texts that say nothing, which are asked for once.
    fn empty(&self, model: &dyn ChatModel) -> Result<Option<Vec<Vec<f64>>>, JudgeError> {
        let contents = self.contents();
        if contents.is_empty() {
            return Ok(None);
        }
        let mut known = self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            let mut means = vec![vec![0.0; self.values.len()]; self.rubric.len()];
            for text in contents {
                let choices = self.ask(text, model)?;
                for (means, options) in means.iter_mut().zip(&choices.log_probabilities) {
                    let found = Choice::of(options, None);
                    for (mean, p) in means.iter_mut().zip(found.probabilities) {
                        *mean += p / contents.len() as f64;
                    }
                }
            }
            *known = Some(means);
        }
        Ok(known.clone())
    }
}

/// The word for a value.
fn word(value: f64) -> Option<&'static str> {
    [(-1.0_f64, "negative"), (0.0, "none"), (1.0, "positive")]
        .into_iter()
        .find(|(known, _)| known.total_cmp(&(value + 0.0)).is_eq())
        .map(|(_, word)| word)
}

impl JudgeStrategy for ChoiceJudge {
    fn judge(&self, item: &Item, model: &dyn ChatModel) -> Result<Transcript, JudgeError> {
        let empty = self.empty(model)?;
        let asked = self.ask(&item.text, model)?;
        let mut choices = Vec::new();
        for (category, options) in asked.log_probabilities.iter().enumerate() {
            let empty = empty.as_ref().map(|empty| empty[category].as_slice());
            choices.push(Choice::of(options, empty));
        }
        let values: Vec<f64> = choices.iter().map(|choice| choice.mean(&self.values)).collect();
        Ok(Transcript {
            turns: vec![Turn {
                problems: Vec::new(),
                proposal: Some(values.clone()),
                agreed: None,
            }],
            values: Some(values),
            usage: asked.usage,
            withheld: 0,
            unusable_comments: 0,
            choices: Some(choices),
        })
    }
}

#[cfg(test)]
mod tests;
