//! What a reviewer's texts can be.

use serde::{Deserialize, Serialize};

/// What a reviewer's texts can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Their own work.
    Own,
    /// Word for word a Z that is held.
    Copy,
    /// An LLM's review that is not held.
    Llm,
    /// A person's review of another paper.
    OffTopic,
    /// An LLM's review of another paper.
    OffTopicLlm,
}

impl Class {
    /// All but own work.
    pub(crate) const GHOSTS: [Self; 4] = [Self::Copy, Self::Llm, Self::OffTopic, Self::OffTopicLlm];

    /// The word in files and tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Copy => "copy",
            Self::Llm => "llm",
            Self::OffTopic => "off_topic",
            Self::OffTopicLlm => "off_topic_llm",
        }
    }
}
