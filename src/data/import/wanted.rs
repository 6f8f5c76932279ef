//! What the rows of a file are for.

/// What the rows of a file are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Reviews by people: paper, reviewer, text.
    Reviews,
    /// Reviews by LLMs: paper, source, text.
    LlmReviews,
    /// Labels by people: task, worker, label.
    Labels,
    /// Labels by LLMs: task, source, label.
    LlmLabels,
    /// Labels to be judged against gold: those of LLMs where an export marks them, else all.
    JudgedLabels,
    /// Labels of everybody, people and LLMs: task, who, label.
    Labellers,
    /// Labels by people that others are held against: task, label, and who if it is said.
    Gold,
    /// Known answers: task, truth.
    Truth,
    /// Who is behind which id: id, person.
    People,
    /// Texts with whatever identifies them.
    Texts,
    /// Items to ask a model about: a task and texts.
    Items,
    /// Papers to be reviewed: a name and texts.
    Papers,
}

impl Wanted {
    /// Whether rows are texts by somebody about a paper.
    pub(super) fn is_reviews(self) -> bool {
        matches!(self, Self::Reviews | Self::LlmReviews | Self::Texts)
    }

    /// Whether rows are labels of tasks.
    pub(super) fn is_labels(self) -> bool {
        matches!(
            self,
            Self::Labels
                | Self::LlmLabels
                | Self::JudgedLabels
                | Self::Labellers
                | Self::Gold
                | Self::Truth
        )
    }

    /// Whether who wrote a row is a source: a file of Z.
    pub(super) fn is_llm(self) -> bool {
        matches!(self, Self::LlmReviews | Self::LlmLabels | Self::JudgedLabels)
    }

    /// What the rows are, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Papers => "papers",
            Self::People => "people",
            _ if self.is_labels() => "labels",
            _ => "reviews",
        }
    }
}
