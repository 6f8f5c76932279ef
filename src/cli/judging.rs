//! Flags of the judge: turns and feedback.

use std::sync::Arc;

use crate::error::Result;
use clap::Args;

use super::common::Common;
use super::keyed::Keys;
use super::llm::{Connection, LlmArgs};
use crate::judge::{Debiasing, FeedbackKind, FeedbackTime, JudgeKind, JudgeSettings};
use crate::llm::ChatModel;

/// What is asked of the judge.
#[derive(Debug, Clone, Args)]
pub(super) struct Judging {
    /// The form of the judge's answers
    #[arg(value_enum, default_value_t)]
    pub judge: JudgeKind,
    /// choice: how probabilities are calibrated
    #[arg(long, value_enum, default_value_t)]
    pub calibrate: Debiasing,
    /// Another prompt for the judge, by name or path, in place of the rubric's
    #[arg(long = "prompt", value_name = "P")]
    pub judge_prompt: Option<String>,
    /// Answers that the judge may give
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub turns: u32,
    /// Complete answers among them; more than one only with feedback
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub proposals: u32,
    /// A second model says yes or no, or why, too; or the judge is only asked to check again
    #[arg(long, value_enum)]
    pub feedback: Option<FeedbackKind>,
    /// When there is feedback
    #[arg(long, value_enum, default_value_t)]
    pub feedback_when: FeedbackTime,
    /// The second model, on the same server, in place of the judge's
    #[arg(long, value_name = "NAME")]
    pub feedback_model: Option<String>,
}

impl Keys for Judging {
    const FLAG: &'static str = "judge";
    const ABOUT: &'static str = "How the judge answers, and who comments on it";
    const RARE: bool = true;
}

impl Judging {
    /// What the flags say.
    pub(super) fn settings(&self, llm: &LlmArgs, common: &Common) -> JudgeSettings {
        JudgeSettings {
            judge: self.judge,
            calibrate: self.calibrate,
            prompt: self.judge_prompt.clone(),
            turns: self.turns,
            proposals: self.proposals,
            feedback: self.feedback,
            feedback_when: self.feedback_when,
            feedback_model: self.feedback_model.clone(),
            temperature: llm.temperature.unwrap_or(0.0),
            max_tokens: llm.max_tokens,
            seed: common.seed,
        }
    }

    /// Whether anything is said of the judge.
    pub(super) fn is_asked(&self) -> bool {
        let JudgeSettings { turns, proposals, .. } = JudgeSettings::default();
        self.judge != JudgeKind::default()
            || self.calibrate != Debiasing::default()
            || self.judge_prompt.is_some()
            || (self.turns, self.proposals) != (turns, proposals)
            || self.feedback.is_some()
            || self.feedback_when != FeedbackTime::default()
            || self.feedback_model.is_some()
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
            (None | Some(FeedbackKind::CheckAgain), _) => Ok(None),
            (_, None) => Ok(Some(Arc::clone(&connection.model))),
            (_, Some(name)) => connection.sibling(llm, name, common).map(Some),
        }
    }
}
