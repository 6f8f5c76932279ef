//! How close the texts of LLMs of which nobody has a text come to Z.

/// z of another LLM's text of a paper, as a share of that of the whole Z in its own place: mean and
/// standard deviation where the venue has two Z and shows it.
const MEASURED: [f64; 2] = [1.0, 0.14];

/// What is assumed of such texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Closeness {
    /// Mean and standard deviation of that share where the venue has one Z.
    pub(super) assumed: [f64; 2],
    /// So many times as close as another text of the same LLM comes a text of another company's.
    pub(super) of_other: f64,
}

/// With GPT-4o's held and Claude's handed in .61, .53 and .64 (reviews), .57 (answers).
const BY_WORDS: Closeness = Closeness { assumed: [0.45, 0.12], of_other: 0.6 };

/// The same on the first half of the papers of reviews-iclr24.
const BY_WORDS_AND_PAIRS: Closeness = Closeness { assumed: [0.32, 0.09], of_other: 0.5 };

impl Closeness {
    pub(super) fn of(pairs: bool) -> Self {
        if pairs { BY_WORDS_AND_PAIRS } else { BY_WORDS }
    }

    /// Mean and deviation.
    pub(super) fn of_llm(self, assumed: bool) -> [f64; 2] {
        if assumed { self.assumed } else { MEASURED }
    }
}
