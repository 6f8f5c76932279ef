//! What prompts are for.

use serde::{Deserialize, Serialize};

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptKind {
    /// One label per field.
    Labels,
    /// A review in free text.
    Review,
    /// An answer to a task in free text.
    Answer,
    /// A number per question of a rubric.
    Judge,
    /// A comment on a judge's answer.
    Feedback,
    /// A role in the judging of a pair: judge, advocate, juror.
    Debate,
}
