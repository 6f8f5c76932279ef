//! The phrases that canaries are drawn from.

use std::collections::HashSet;

use super::find::words;
use super::plan::CanaryError;

/// Parts of a phrase. Two entries of one list differ in two words at least, so that no phrase becomes
/// another by changing one word (a test holds them to it).
const OPENINGS: [&str; 18] = [
    "On a second reading",
    "Taken entirely by itself",
    "Seen from further away",
    "Setting the proofs aside",
    "With some distance gained",
    "After several careful passes",
    "Once the notation settles",
    "Judged by its ambitions",
    "To an outside reader",
    "Leaving taste out entirely",
    "Read against its title",
    "Where space allows it",
    "Past the first surprise",
    "Stripped of all ornament",
    "In its present shape",
    "Weighed without much charity",
    "Held up to daylight",
    "Between these two extremes",
];
const ADJECTIVES: [&str; 18] = [
    "quietly ambitious",
    "carefully bounded",
    "somewhat roundabout",
    "pleasantly stubborn",
    "unusually patient",
    "faintly circular",
    "openly provisional",
    "rather angular",
    "mildly theatrical",
    "plainly generous",
    "oddly symmetrical",
    "almost finished",
    "tightly wound",
    "loosely braided",
    "evenly paced",
    "sparsely furnished",
    "gently contrarian",
    "densely layered",
];
const NOUNS: [&str; 18] = [
    "middle argument",
    "opening construction",
    "chain of lemmas",
    "web of comparisons",
    "closing discussion",
    "central picture",
    "table of failures",
    "pair of ablations",
    "running example",
    "cost narrative",
    "ladder of baselines",
    "sketch of limits",
    "motivating anecdote",
    "evaluation protocol",
    "family of variants",
    "stated hypothesis",
    "appendix material",
    "thread of intuition",
];
const ENDINGS: [&str; 18] = [
    "repays the effort",
    "asks much patience",
    "holds its ground",
    "leaves me curious",
    "deserves more daylight",
    "stays with you",
    "wears its age well",
    "earns a wider audience",
    "resists quick summary",
    "carries the paper home",
    "needs fewer promises",
    "sits slightly apart",
    "tells half a story",
    "invites slower readers",
    "stops one step early",
    "survives close questioning",
    "speaks for itself plainly",
    "could travel further alone",
];

/// Different phrases, each a thing that a reviewer could write and hardly anybody does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dictionary {
    phrases: Vec<String>,
}

impl Dictionary {
    /// The phrases that come with caz: openings by adjectives by nouns by endings, 104,976 in all.
    pub(crate) fn bundled() -> Self {
        let mut phrases = Vec::with_capacity(18_usize.pow(4));
        for opening in OPENINGS {
            for adjective in ADJECTIVES {
                for noun in NOUNS {
                    for ending in ENDINGS {
                        phrases.push(format!("{opening}, the {adjective} {noun} {ending}"));
                    }
                }
            }
        }
        Self { phrases }
    }

    /// One phrase a line; blank lines do not count.
    ///
    /// # Errors
    ///
    /// [`CanaryError::ShortPhrase`] for a phrase of fewer than four words, which people write by
    /// chance, and [`CanaryError::RepeatedPhrase`] for one that differs from an earlier one in case,
    /// spaces or punctuation only: a draw would not be uniform.
    pub(crate) fn from_lines(text: &str) -> Result<Self, CanaryError> {
        let mut seen = HashSet::new();
        let mut phrases = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let folded = words(line);
            if folded.len() < Self::FEWEST_WORDS {
                return Err(CanaryError::ShortPhrase {
                    line: index + 1,
                    fewest: Self::FEWEST_WORDS,
                });
            }
            if !seen.insert(folded) {
                return Err(CanaryError::RepeatedPhrase { line: index + 1 });
            }
            phrases.push(line.to_owned());
        }
        Ok(Self { phrases })
    }

    /// Fewest words of a phrase.
    const FEWEST_WORDS: usize = 4;

    /// All phrases, as they are hidden.
    pub(crate) fn phrases(&self) -> &[String] {
        &self.phrases
    }
}
