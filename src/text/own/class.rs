//! What a reviewer's texts can be.

use serde::{Deserialize, Serialize};

words! {
    /// What a reviewer's texts can be.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Class {
        /// Their own work.
        Own = "own",
        /// Word for word a Z that is held.
        Copy = "copy",
        /// An LLM's review that is not held.
        Llm = "llm",
        /// A person's review of another paper.
        OffTopic = "off_topic",
        /// An LLM's review of another paper.
        OffTopicLlm = "off_topic_llm",
    }
}

impl Class {
    /// All but own work.
    pub(crate) const GHOSTS: [Self; 4] = [Self::Copy, Self::Llm, Self::OffTopic, Self::OffTopicLlm];
}
