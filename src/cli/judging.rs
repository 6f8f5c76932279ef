//! Flags of the judge: turns and feedback.

use std::sync::Arc;

use crate::error::Result;
use clap::{Args, ValueEnum};

use super::common::Common;
use super::llm::{Connection, LlmArgs};
use crate::judge::{Debiasing, FeedbackKind, FeedbackTime, JudgeKind, JudgeSettings};
use crate::llm::ChatModel;

/// What the judge is told about an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum FeedbackChoice {
    /// No second model; only answers that cannot be read are asked for again
    #[default]
    None,
    /// Agree or disagree
    Binary,
    /// Agree or disagree, and why
    Textual,
    /// Only "please check again", by no model: the control that shows what a second look gains
    CheckAgain,
}

/// Flags of the judge.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct JudgeArgs {
    /// The form of the judge's answers
    #[arg(long, visible_alias = "strategy", value_enum, default_value_t)]
    pub judge: JudgeKind,
    /// Calibrate the probabilities of --judge choice
    #[arg(long, value_enum, default_value_t)]
    pub calibrate: Debiasing,
    /// Another prompt for the judge, by name or path [default: the rubric's]
    #[arg(long, value_name = "P")]
    pub judge_prompt: Option<String>,
    /// Answers that the judge may give
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub turns: u32,
    /// Complete answers among them; more than one only with feedback
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub proposals: u32,
    /// Let a second model comment on answers, or ask again without a comment
    #[arg(long, value_enum, default_value_t)]
    pub feedback: FeedbackChoice,
    /// When there is feedback
    #[arg(long, value_enum, default_value_t)]
    pub feedback_when: FeedbackTime,
    /// The second model, on the same server [default: the judge's model]
    #[arg(long, value_name = "NAME")]
    pub feedback_model: Option<String>,
}

impl JudgeArgs {
    /// What the flags say.
    pub(super) fn settings(&self, llm: &LlmArgs, common: &Common) -> JudgeSettings {
        JudgeSettings {
            judge: self.judge,
            calibrate: self.calibrate,
            prompt: self.judge_prompt.clone(),
            turns: self.turns,
            proposals: self.proposals,
            feedback: match self.feedback {
                FeedbackChoice::None => None,
                FeedbackChoice::Binary => Some(FeedbackKind::Binary),
                FeedbackChoice::Textual => Some(FeedbackKind::Textual),
                FeedbackChoice::CheckAgain => Some(FeedbackKind::CheckAgain),
            },
            feedback_when: self.feedback_when,
            feedback_model: self.feedback_model.clone(),
            temperature: llm.temperature.unwrap_or(0.0),
            max_tokens: llm.max_tokens,
            seed: common.seed,
        }
    }

    /// The feedback model: the judge's own, or another one on the same server under the same
    /// budget; `None` where none is asked.
    pub(super) fn commenter(
        &self,
        llm: &LlmArgs,
        common: &Common,
        connection: &Connection,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        match (self.feedback, &self.feedback_model) {
            (FeedbackChoice::None | FeedbackChoice::CheckAgain, _) => Ok(None),
            (_, None) => Ok(Some(Arc::clone(&connection.model))),
            (_, Some(name)) => connection.sibling(llm, name, common).map(Some),
        }
    }
}
