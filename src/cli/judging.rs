//! Flags of the judge: rubric, turns, feedback; and the way from them to a strategy.

use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::common::Common;
use super::embedding::EmbeddingArgs;
use super::exit::UsageError;
use super::llm::{Connection, LlmArgs};
use crate::data::warning::{Warning, first_names};
use crate::judge::rubric::DEFAULT_RUBRIC;
use crate::judge::single::{Sampling, Single};
use crate::judge::{Feedback, FeedbackKind, FeedbackLoop, FeedbackTime, InjectionDetector, Rubric};
use crate::llm::{ChatModel, Prompt, PromptKind};
use crate::text::embed::Embedder;
use crate::text::embed::judge::JudgeEmbedder;

/// What a second model says about an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum FeedbackChoice {
    /// No second model; only answers that cannot be read are asked for again
    #[default]
    None,
    /// Agree or disagree
    Binary,
    /// Agree or disagree, and why
    Textual,
}

/// When a second model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum FeedbackWhen {
    /// After every answer, also one that cannot be read
    EveryTurn,
    /// After a complete answer
    #[default]
    OnProposal,
}

/// Flags of the judge.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct JudgeArgs {
    /// Another prompt for the judge, by name or path [default: the rubric's]
    #[arg(long, value_name = "P")]
    pub judge_prompt: Option<String>,
    /// Answers that the judge may give
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub turns: u32,
    /// Complete answers among them; more than one only with feedback
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub proposals: u32,
    /// Let a second model comment on answers
    #[arg(long, value_enum, default_value_t)]
    pub feedback: FeedbackChoice,
    /// When the second model is asked
    #[arg(long, value_enum, default_value_t)]
    pub feedback_when: FeedbackWhen,
    /// The second model, on the same server [default: the judge's model]
    #[arg(long, value_name = "NAME")]
    pub feedback_model: Option<String>,
}

impl JudgeArgs {
    /// The strategy that the flags describe. `commenter` is asked for feedback.
    pub(super) fn strategy(
        &self,
        rubric: &Rubric,
        llm: &LlmArgs,
        common: &Common,
        commenter: Option<(Arc<dyn ChatModel>, bool)>,
    ) -> Result<FeedbackLoop> {
        let name = self.judge_prompt.as_deref().unwrap_or(&rubric.prompt);
        let prompt = Prompt::load(name)?.expect(PromptKind::Judge)?;
        let sampling = |prompt: &Prompt| Sampling {
            temperature: llm.temperature.unwrap_or(0.0),
            seed: common.seed,
            max_tokens: llm.max_tokens.unwrap_or(prompt.max_tokens()),
        };
        let single = Single { rubric: rubric.clone(), sampling: sampling(&prompt), prompt };
        let feedback = match (self.kind(), commenter) {
            (Some((kind, prompt)), Some((model, with_gold))) => {
                let prompt = Prompt::load(prompt)?.expect(PromptKind::Feedback)?;
                let time = match self.feedback_when {
                    FeedbackWhen::EveryTurn => FeedbackTime::EveryTurn,
                    FeedbackWhen::OnProposal => FeedbackTime::OnProposal,
                };
                let sampling = sampling(&prompt);
                Some(Feedback { model, kind, time, with_gold, prompt, sampling })
            }
            _ => None,
        };
        Ok(FeedbackLoop::new(single, self.turns, self.proposals, feedback)?)
    }

    fn kind(&self) -> Option<(FeedbackKind, &'static str)> {
        match self.feedback {
            FeedbackChoice::None => None,
            FeedbackChoice::Binary => Some((FeedbackKind::Binary, "feedback-binary")),
            FeedbackChoice::Textual => Some((FeedbackKind::Textual, "feedback-textual")),
        }
    }

    /// The feedback model: the judge's own, or another one on the same server under the same
    /// budget; `None` without feedback.
    pub(super) fn commenter(
        &self,
        llm: &LlmArgs,
        common: &Common,
        connection: &Connection,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        match (self.feedback, &self.feedback_model) {
            (FeedbackChoice::None, _) => Ok(None),
            (_, None) => Ok(Some(Arc::clone(&connection.model))),
            (_, Some(name)) => connection.sibling(llm, name, common).map(Some),
        }
    }

    /// Refuses flags that do nothing.
    pub(super) fn check(&self) -> Result<()> {
        if self.feedback == FeedbackChoice::None && self.feedback_model.is_some() {
            let message = "--feedback-model needs --feedback binary or textual";
            return Err(UsageError(message.into()).into());
        }
        Ok(())
    }

    /// The flags that decide judgments, for reports.
    pub(super) fn settings(&self, rubric: &Rubric) -> Map<String, Value> {
        let name = |choice: Option<clap::builder::PossibleValue>| {
            choice.map(|value| value.get_name().to_owned())
        };
        let settings = json!({
            "rubric": rubric.name,
            "rubric_sha256": rubric.sha256(),
            "judge_prompt": self.judge_prompt.as_deref().unwrap_or(&rubric.prompt),
            "turns": self.turns,
            "proposals": self.proposals,
            "feedback": name(self.feedback.to_possible_value()),
            "feedback_when": name(self.feedback_when.to_possible_value()),
            "feedback_model": self.feedback_model,
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}

impl EmbeddingArgs {
    /// The judge as an embedder, with a warning about texts that try to steer it.
    pub(super) fn build_judge(
        &self,
        rubric: Option<&str>,
        texts: &[&str],
        common: &Common,
    ) -> Result<(Box<dyn Embedder>, Vec<Warning>)> {
        self.judge.check()?;
        let rubric = Rubric::load(rubric.unwrap_or(DEFAULT_RUBRIC))?;
        let connection = self.llm.connect(common, false)?;
        let commenter = self.judge.commenter(&self.llm, common, &connection)?;
        let strategy = self.judge.strategy(
            &rubric,
            &self.llm,
            common,
            commenter.map(|model| (model, false)),
        )?;
        connection.announce(common, texts.len());
        let warnings = suspicious_texts(texts, &rubric).into_iter().collect();
        let model = Arc::clone(&connection.model);
        let concurrency = self.llm.concurrency;
        let embedder = JudgeEmbedder::new(Box::new(strategy), model, &rubric, concurrency);
        Ok((Box::new(embedder), warnings))
    }
}

/// A warning with the words that look like an attempt to steer the judge.
fn suspicious_texts(texts: &[&str], rubric: &Rubric) -> Option<Warning> {
    let detector = InjectionDetector::new(rubric.categories());
    let found: Vec<String> = texts
        .iter()
        .filter_map(|text| {
            let suspicion = detector.inspect(text).into_iter().next()?;
            Some(format!("{} `{}`", suspicion.rule, suspicion.text))
        })
        .collect();
    let count = found.len();
    (count > 0).then(|| {
        let names = first_names(&found);
        let message = format!("{count} texts look as if they speak to the model: {names}");
        Warning::new("suspicious_texts", count, message)
    })
}
