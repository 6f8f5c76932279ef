//! Judges: strategies over a chat model that turn a text into numbers or labels.
//!
//! [`built_in`] lists the prompts and questions that come with caz, [`rubric`] holds the questions, [`verdict`] reads an answer strictly, [`single`] asks once,
//! [`choice`] reads the probabilities of the values,
//! [`feedback`] asks again with what was wrong, [`injection`] finds texts that try to steer the
//! judge, [`pairs`] says which of two answers is better. A judge never guesses: what an answer does not say is an error, not a zero.

pub(crate) mod built_in;
pub(crate) mod choice;
pub(crate) mod feedback;
pub(crate) mod injection;
pub(crate) mod pairs;
mod relaxed;
pub(crate) mod rubric;
pub(crate) mod settings;
pub(crate) mod single;
pub(crate) mod verdict;

use crate::error::{ErrorKind, Kinded, Remedy, causes};
use crate::llm::{ChatError, ChatModel, PromptError, Usage};

pub(crate) use self::choice::{Choice, Debiasing};
pub(crate) use self::feedback::{FeedbackKind, FeedbackTime, Progression};
pub(crate) use self::injection::{InjectionDetector, Suspicion};
pub(crate) use self::rubric::Rubric;
pub(crate) use self::settings::{JudgeKind, JudgeSettings, Strategy};
pub(crate) use self::verdict::{AnswerProblem, Value, Verdict, parse_verdict};

/// What to judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Item {
    /// The text.
    pub text: String,
    /// The values known to be right, for the feedback model and for evaluation; the judge never
    /// sees them. In the order of the rubric.
    pub gold: Option<Vec<f64>>,
}

/// A way to judge with a chat model.
pub(crate) trait JudgeStrategy: Send + Sync {
    /// Judges one item.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] if the model did not answer. An answer that cannot be read is no error but
    /// a transcript without values.
    fn judge(&self, item: &Item, model: &dyn ChatModel) -> Result<Transcript, JudgeError>;
}

/// One answer of the judge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    /// What was wrong with it; empty if it was a proposal.
    pub problems: Vec<AnswerProblem>,
    /// The values it proposes, if it could be read.
    pub proposal: Option<Vec<f64>>,
    /// Whether the feedback model was asked and agreed.
    pub agreed: Option<bool>,
}

/// How an item was judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Transcript {
    /// The answers, in order; at least one.
    pub turns: Vec<Turn>,
    /// The values of the last proposal, in the order of the rubric; `None` if there was none.
    pub values: Option<Vec<f64>>,
    /// What all requests cost, feedback included.
    pub usage: Usage,
    /// Feedback texts that were held back because they gave values away.
    pub withheld: u32,
    /// Comments that said nothing: refused, or not to be read.
    pub unusable_comments: u32,
    /// Where probabilities were read: what they are, in the order of the rubric.
    pub choices: Option<Vec<Choice>>,
}

impl Transcript {
    /// Whether the judge was right or at least readable after `turns` turns.
    ///
    /// With `gold`: whether the last proposal until then equals it. Without: whether there was a
    /// proposal.
    pub(crate) fn success_after(&self, turns: usize, gold: Option<&[f64]>) -> bool {
        let proposal = self.turns.iter().take(turns).rev().find_map(|turn| turn.proposal.as_ref());
        match (proposal, gold) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(proposal), Some(gold)) => same_values(proposal, gold),
        }
    }
}

/// Whether two judgments are equal, up to the rounding of decimal fractions.
pub(crate) fn same_values(a: &[f64], b: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-9;
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= ROUNDING)
}

/// Why an item was not judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// No answer from the model.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The prompt does not work.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// A setting is out of range.
    #[error("{setting} is {value}, but it must be from 1 to {limit}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: u32,
        /// The largest value.
        limit: u32,
    },
}

impl Kinded for JudgeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Chat(error) => error.kind(),
            Self::Prompt(error) => error.kind(),
            Self::Setting { .. } => ErrorKind::Usage,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Chat(error) => error.remedy(),
            Self::Prompt(error) => error.remedy(),
            Self::Setting { setting: "turns", .. } => Some(Remedy::ChooseTurns),
            Self::Setting { .. } => None,
        }
    }
}

impl JudgeError {
    /// Whether every other item would fail alike.
    pub(crate) fn stops_the_run(&self) -> bool {
        match self {
            Self::Chat(error) => error.stops_the_run(),
            // A template that fails for one text may work for the next, but never silently.
            Self::Prompt(_) => false,
            Self::Setting { .. } => true,
        }
    }

    /// The error with what led to it.
    pub(crate) fn in_full(&self) -> String {
        let all: Vec<String> = std::iter::once(self.to_string()).chain(causes(self)).collect();
        all.join(": ")
    }

    /// A stable word for scripts.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Chat(error) => error.word(),
            Self::Prompt(_) => "prompt",
            Self::Setting { .. } => "setting",
        }
    }
}
