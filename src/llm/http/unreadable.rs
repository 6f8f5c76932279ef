//! Why a reply with a good status holds no answer.

/// Why a reply with a good status holds no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It ends in the middle, so the connection broke although nobody said so.
    CutOff,
    /// It is something else.
    Unknown,
    /// It has vectors, but one for every token of a text.
    TokenVectors,
    /// It says in the middle that the server failed.
    Failed {
        /// What the status would have been.
        status: u16,
        /// What the server wrote.
        text: String,
    },
}

impl Unreadable {
    /// What an error of the JSON reader means for the whole reply.
    pub(super) fn from_json(error: &serde_json::Error, reply: &[u8]) -> Self {
        let started = reply.iter().any(|byte| !byte.is_ascii_whitespace());
        if error.is_eof() && started { Self::CutOff } else { Self::Unknown }
    }
}
