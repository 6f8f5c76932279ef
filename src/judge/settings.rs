//! What decides how a judge is asked, apart from the model and the rubric.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Rubric;
use super::choice::{ChoiceJudge, Debiasing};
use super::feedback::{CommentKind, Comments, Feedback, FeedbackKind, FeedbackLoop, FeedbackTime};
use super::single::{Sampling, Single};
use super::{Item, JudgeError, JudgeStrategy, Transcript};
use crate::error::{Error, Remedy, Result};
use crate::llm::{ChatModel, ChatRequest, Prompt, PromptKind};

/// The form in which a judge answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum JudgeKind {
    /// It writes the values of all categories at once.
    #[default]
    Json,
    /// The probabilities of negative, none and positive are read for every category: values between
    /// -1 and 1, and how sure the model is; for a model in a file, or a server that says how likely
    /// tokens are.
    Choice,
}

/// A judge as the settings describe it.
pub(crate) enum Strategy {
    /// It writes.
    Json(FeedbackLoop),
    /// Its probabilities are read.
    Choice(ChoiceJudge),
}

impl Strategy {
    /// The first requests about an item by `model`.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Prompt`] if the item has no text or the template does not work.
    pub(crate) fn requests(
        &self,
        item: &Item,
        model: &str,
    ) -> Result<Vec<ChatRequest>, JudgeError> {
        match self {
            Self::Json(judge) => Ok(vec![judge.request(item)?]),
            Self::Choice(judge) => judge.requests(item, model),
        }
    }

    /// Requests that are needed once for all items.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Prompt`] if the template does not work.
    pub(crate) fn requests_for_all(&self, model: &str) -> Result<Vec<ChatRequest>, JudgeError> {
        match self {
            Self::Json(_) => Ok(Vec::new()),
            Self::Choice(judge) => judge.requests_for_calibration(model),
        }
    }
}

impl JudgeStrategy for Strategy {
    fn judge(&self, item: &Item, model: &dyn ChatModel) -> Result<Transcript, JudgeError> {
        match self {
            Self::Json(judge) => judge.judge(item, model),
            Self::Choice(judge) => judge.judge(item, model),
        }
    }
}

/// How a judge is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct JudgeSettings {
    /// The form of its answers.
    pub judge: JudgeKind,
    /// How probabilities are calibrated; only where they are read.
    pub calibrate: Debiasing,
    /// Another prompt, by name or path; `None` for the rubric's.
    pub prompt: Option<String>,
    /// Answers that the judge may give, from 1 to 20.
    pub turns: u32,
    /// Complete answers among them, from 1 to 20; more than one only with feedback.
    pub proposals: u32,
    /// What the judge is told about an answer; `None` if only what cannot be read.
    pub feedback: Option<FeedbackKind>,
    /// When the second model is asked.
    pub feedback_when: FeedbackTime,
    /// The second model, where the judge's is; `None` for the judge's own.
    pub feedback_model: Option<String>,
    /// Sampling temperature of both.
    pub temperature: f64,
    /// Most tokens of an answer; `None` for what the prompt says.
    pub max_tokens: Option<u32>,
    /// Seed for servers that sample reproducibly.
    pub seed: u64,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            judge: JudgeKind::default(),
            calibrate: Debiasing::default(),
            prompt: None,
            turns: 5,
            proposals: 2,
            feedback: None,
            feedback_when: FeedbackTime::default(),
            feedback_model: None,
            temperature: 0.0,
            max_tokens: None,
            seed: 0,
        }
    }
}

impl JudgeSettings {
    /// Refuses settings that do nothing.
    ///
    /// # Errors
    ///
    /// A usage error.
    pub fn check(&self) -> Result<()> {
        if !self.asks_a_second_model() && self.feedback_model.is_some() {
            let error = Error::usage("a model for feedback is named, but no second model is asked");
            return Err(error.with_remedy(Remedy::ChooseFeedback));
        }
        match self.judge {
            JudgeKind::Choice if self.feedback.is_some() => {
                let message = "there is no feedback on a judge whose probabilities are read";
                Err(Error::usage(message))
            }
            JudgeKind::Json if self.calibrate != Debiasing::None => {
                let message = "only probabilities are calibrated, and the judge is asked to write";
                Err(Error::usage(message).with_remedy(Remedy::ChooseChoice))
            }
            _ => Ok(()),
        }
    }

    /// Whether a second model comments on answers.
    pub(crate) fn asks_a_second_model(&self) -> bool {
        self.feedback.and_then(FeedbackKind::comment).is_some()
    }

    fn judge_prompt(&self, rubric: &Rubric) -> Result<Prompt> {
        let of_rubric = match self.judge {
            JudgeKind::Json => &rubric.prompt,
            JudgeKind::Choice => "judge-choice",
        };
        let name = self.prompt.as_deref().unwrap_or(of_rubric);
        Ok(Prompt::load(name)?.expect(PromptKind::Judge)?)
    }

    fn feedback_prompt(kind: CommentKind) -> Result<Prompt> {
        let name = match kind {
            CommentKind::Binary => "feedback-binary",
            CommentKind::Textual => "feedback-textual",
        };
        Ok(Prompt::load(name)?.expect(PromptKind::Feedback)?)
    }

    fn sampling(&self, prompt: &Prompt) -> Sampling {
        Sampling {
            temperature: self.temperature,
            seed: self.seed,
            max_tokens: self.max_tokens.unwrap_or(prompt.max_tokens()),
        }
    }

    /// The judge; `commenter` is asked for feedback, if there is to be any, and shown the right
    /// values if its second part says so.
    ///
    /// # Errors
    ///
    /// If a prompt cannot be used or a number is out of range.
    pub(crate) fn strategy(
        &self,
        rubric: &Rubric,
        commenter: Option<(Arc<dyn ChatModel>, bool)>,
    ) -> Result<Strategy> {
        let prompt = self.judge_prompt(rubric)?;
        if self.judge == JudgeKind::Choice {
            let judge = ChoiceJudge::new(rubric, prompt, self.calibrate);
            let name = &rubric.name;
            return judge.map(Strategy::Choice).ok_or_else(|| {
                Error::usage(format!(
                    "probabilities are read for the values -1, 0 and 1, and the rubric `{name}` has others"
                ))
            });
        }
        let single = Single { rubric: rubric.clone(), sampling: self.sampling(&prompt), prompt };
        let time = self.feedback_when;
        let comments = match (self.feedback.map(FeedbackKind::comment), commenter) {
            (Some(Some(kind)), Some((model, with_gold))) => {
                let prompt = Self::feedback_prompt(kind)?;
                let sampling = self.sampling(&prompt);
                let feedback = Feedback { model, kind, time, with_gold, prompt, sampling };
                Some(Comments::By(Box::new(feedback)))
            }
            (Some(None), _) => Some(Comments::CheckAgain(time)),
            _ => None,
        };
        Ok(Strategy::Json(FeedbackLoop::new(single, self.turns, self.proposals, comments)?))
    }

    /// These settings with what they stand for: the rubric and the prompts by hash.
    ///
    /// # Errors
    ///
    /// If a prompt cannot be used.
    pub(crate) fn described(&self, rubric: &Rubric) -> Result<Map<String, Value>> {
        let prompt = self.judge_prompt(rubric)?;
        let mut described = Map::new();
        let mut put = |key: &str, value: Value| described.insert(key.into(), value);
        put("rubric", rubric.name.as_str().into());
        put("rubric_sha256", rubric.sha256().into());
        put("prompt", prompt.name().into());
        put("prompt_sha256", prompt.sha256().into());
        if let Some(kind) = self.feedback.and_then(FeedbackKind::comment) {
            put("feedback_prompt_sha256", Self::feedback_prompt(kind)?.sha256().into());
        }
        if let Ok(Value::Object(all)) = serde_json::to_value(self) {
            for (key, value) in all {
                described.entry(key).or_insert(value);
            }
        }
        Ok(described)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rubric::DEFAULT_RUBRIC;

    #[test]
    fn settings_say_which_prompts_and_which_rubric_by_hash() {
        let rubric = Rubric::load(DEFAULT_RUBRIC).unwrap();
        let settings =
            JudgeSettings { feedback: Some(FeedbackKind::Binary), ..JudgeSettings::default() };
        let described = settings.described(&rubric).unwrap();
        let prompt = Prompt::load(&rubric.prompt).unwrap();
        assert_eq!(described["prompt"], prompt.name());
        assert_eq!(described["prompt_sha256"], prompt.sha256());
        assert_eq!(described["rubric_sha256"], rubric.sha256());
        let feedback = Prompt::load("feedback-binary").unwrap().sha256();
        assert_eq!(described["feedback_prompt_sha256"], feedback);
        for key in ["turns", "proposals", "temperature", "seed", "feedback_when", "max_tokens"] {
            assert!(described.contains_key(key), "{key}");
        }
    }

    #[test]
    fn a_feedback_model_without_feedback_is_refused() {
        let settings =
            JudgeSettings { feedback_model: Some("m".into()), ..JudgeSettings::default() };
        assert_eq!(settings.check().unwrap_err().remedy(), Some(Remedy::ChooseFeedback));
        let again = JudgeSettings { feedback: Some(FeedbackKind::CheckAgain), ..settings.clone() };
        assert_eq!(again.check().unwrap_err().remedy(), Some(Remedy::ChooseFeedback));
        let textual = JudgeSettings { feedback: Some(FeedbackKind::Textual), ..settings };
        assert!(textual.check().is_ok());
    }
}
