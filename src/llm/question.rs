//! A question that is answered by one of some given answers.

use serde::{Deserialize, Serialize};

/// One question behind a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is appended to the last message where the model alone writes its answer, as on a server.
    pub text: String,
    /// How the answer begins where its beginning can be given, as to a model on this machine; `text`
    /// is left out then. So much of a conversation is the same for all questions, and a model that
    /// has begun an answer in the form asked for goes on in it. Empty if it begins with the option.
    pub opening: String,
    /// The answers to choose from: words of which none begins with another one, whatever their case.
    pub options: Vec<String>,
}

impl Question {
    /// Whether the options can be told apart.
    pub(crate) fn is_clear(&self) -> bool {
        let folded: Vec<String> = self.options.iter().map(|option| option.to_lowercase()).collect();
        folded.len() > 1
            && folded.iter().enumerate().all(|(at, option)| {
                let others = folded.iter().enumerate().filter(|(other, _)| *other != at);
                !option.trim().is_empty() && others.into_iter().all(|(_, o)| !o.starts_with(option))
            })
    }
}
