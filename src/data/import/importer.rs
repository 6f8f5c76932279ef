//! What an importer is, and what is asked of one.

use serde_json::Value;

use super::elements::{Broken, Object};
use super::error::ImportError;
use super::output::Output;
use super::peek::Peek;
use super::settings::{ImportSettings, Wanted};
use super::text_fields::name_of;
use crate::data::answers::{Answered, text_of};

/// A foreign format.
pub(super) trait Importer: Sync {
    /// Whether the file is certainly of this format.
    fn detect(&self, peek: &Peek<'_>) -> bool;

    /// Reads the file into rows.
    ///
    /// # Errors
    ///
    /// [`ImportError`] if the file is damaged or not what it should be.
    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError>;
}

/// A request to an importer.
pub(super) struct Request<'a> {
    pub(super) file: String,
    pub(super) peek: &'a Peek<'a>,
    /// The name of the file without folders and endings.
    pub(super) stem: String,
    pub(super) wanted: Wanted,
    pub(super) settings: &'a ImportSettings,
    /// Columns of a table that are kept under their own names.
    pub(super) keep: &'a [String],
}

impl Request<'_> {
    fn named(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.settings.columns.get(*key)).map(String::as_str)
    }

    /// What the user named for the task, or for the paper of a review.
    pub(super) fn task(&self) -> Option<&str> {
        let keys: &[&str] = if self.wanted.is_reviews() { &["paper", "task"] } else { &["task"] };
        self.named(keys)
    }

    /// What the user named for the worker, or for the reviewer.
    pub(super) fn worker(&self) -> Option<&str> {
        let reviews = self.wanted.is_reviews();
        self.named(if reviews { &["reviewer", "worker"] } else { &["worker"] })
    }

    /// What the user named for the answer: the label, or the text of a review.
    pub(super) fn answer(&self) -> Option<&str> {
        let reviews = self.wanted.is_reviews();
        let text = self.settings.text_columns.first().filter(|_| reviews).map(String::as_str);
        self.named(if reviews { &["text", "label"] } else { &["label"] }).or(text)
    }

    /// The fields that the user named for the text of a review.
    pub(super) fn text_columns(&self) -> Vec<String> {
        match self.settings.columns.get("text") {
            Some(name) if self.settings.text_columns.is_empty() => vec![name.clone()],
            _ => self.settings.text_columns.clone(),
        }
    }

    /// The task of an object under what the user named, itself or inside what it is about.
    pub(super) fn task_of(&self, object: &Object) -> Option<String> {
        const INSIDE: [&str; 4] = ["data", "fields", "metadata", "meta"];
        let name = self.task()?;
        let inside = INSIDE.iter().filter_map(|key| object.get(*key)?.get(name));
        object.get(name).into_iter().chain(inside).find_map(|value| name_of(Some(value)))
    }

    /// What somebody answered: a text where texts are wanted, else a label or a set of them.
    pub(super) fn answered(&self, value: Option<&Value>) -> Answered {
        match value {
            Some(value) if self.wanted.is_reviews() => text_of(value),
            value => value.map_or(Answered::Nothing, Answered::of),
        }
    }

    /// What came of reading the elements of a file: how many were no objects, or where it breaks off.
    pub(super) fn whole(
        &self,
        read: Result<u64, Broken>,
        output: &mut Output,
    ) -> Result<(), ImportError> {
        let skipped = read.map_err(|broken| self.broken(broken))?;
        if skipped > 0 {
            output.read += skipped;
            *output.left_out.entry("elements that are no objects".into()).or_default() += skipped;
        }
        Ok(())
    }

    pub(super) fn broken(&self, broken: Broken) -> ImportError {
        ImportError::Broken {
            file: self.file.clone(),
            after: broken.after,
            message: broken.message,
        }
    }

    pub(super) fn columns(&self, message: String) -> ImportError {
        ImportError::Columns { file: self.file.clone(), message }
    }

    /// Several questions were asked, and the user has not said which one is meant, or one that was
    /// not asked.
    pub(super) fn which(&self, asked: Option<&str>, questions: &[String]) -> ImportError {
        let (key, all) = (self.answer_key(), crate::data::near::listed(questions));
        self.columns(match asked {
            Some(asked) => format!("there is no answer `{asked}`; there are {all}"),
            None if questions.is_empty() => "nothing in it holds an answer".into(),
            None => format!("there are several answers; name one as the column `{key}`: {all}"),
        })
    }

    /// What the answer is called among caz's columns.
    pub(super) fn answer_key(&self) -> &'static str {
        if self.wanted.is_reviews() { "text" } else { "label" }
    }

    /// The question whose answers are read: the one asked for, or the only one.
    pub(super) fn question(&self, questions: &[String]) -> Result<String, ImportError> {
        match (self.answer(), questions) {
            (Some(asked), all) => match all.iter().find(|name| *name == asked) {
                Some(found) => Ok(found.clone()),
                None => Err(self.which(Some(asked), all)),
            },
            (None, [one]) => Ok(one.clone()),
            (None, several) => Err(self.which(None, several)),
        }
    }
}
