//! Why there is no row for an item.

use std::borrow::Cow;

use super::row::Row;
use crate::error::{Kinded, Remedy};
use crate::judge::{AnswerProblem, JudgeError};
use crate::llm::ChatError;

/// Why there is no row for an item.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No answer.
    Asked(JudgeError),
    /// An answer that cannot be used.
    Unusable {
        /// A stable word for scripts.
        kind: &'static str,
        /// What is wrong with it.
        message: String,
        /// What would help, if it is a setting.
        remedy: Option<Remedy>,
    },
}

impl Failure {
    pub(super) fn unreadable(problems: &[AnswerProblem], turns: u32) -> Self {
        let list: Vec<String> = problems.iter().map(AnswerProblem::to_string).collect();
        let message = format!("no usable answer in {turns} turns; the last: {}", list.join("; "));
        let kind = problems.first().map_or("unreadable", AnswerProblem::kind);
        let is_cut = problems.contains(&AnswerProblem::CutOff);
        Self::Unusable { kind, message, remedy: is_cut.then_some(Remedy::MoreTokens) }
    }

    /// A stable word for scripts.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Asked(error) => error.word(),
            Self::Unusable { kind, .. } => kind,
        }
    }

    /// The failure with the name of its item.
    pub(super) fn of(&self, name: &Row) -> Failed {
        let remedy = match self {
            Self::Asked(error) => error.remedy(),
            Self::Unusable { remedy, .. } => *remedy,
        };
        Failed { name: name.clone(), kind: self.kind().into(), message: self.message(), remedy }
    }

    fn message(&self) -> String {
        match self {
            Self::Unusable { message, .. } => message.clone(),
            Self::Asked(error) => error.in_full(),
        }
    }
}

/// An item that failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failed {
    /// What identifies it.
    pub name: Row,
    /// A stable word for scripts.
    pub kind: Cow<'static, str>,
    /// What is wrong.
    pub message: String,
    /// What would help, if it is a setting.
    pub remedy: Option<Remedy>,
}

impl Failed {
    /// An item that could not even be asked about.
    pub(crate) fn new(name: Row, kind: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self { name, kind: kind.into(), message, remedy: None }
    }

    /// A line of the list of errors; `phrase` puts a remedy into words.
    pub(crate) fn row(&self, phrase: impl Fn(Remedy) -> &'static str) -> Row {
        let mut message = self.message.clone();
        if let Some(remedy) = self.remedy {
            message.push_str("; ");
            message.push_str(phrase(remedy));
        }
        let mut row = self.name.clone();
        row.insert("kind".into(), self.kind.as_ref().into());
        row.insert("message".into(), message.into());
        row
    }
}

impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        Self::Asked(error.into())
    }
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        Self::Asked(error)
    }
}
