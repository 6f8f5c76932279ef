//! The phrases that canaries are drawn from.

use std::collections::HashSet;

use super::find::words;
use super::plan::CanaryError;

/// Parts of a phrase: 18 openings, adjectives, nouns and endings each. Two entries of one list differ in two
/// words at least, so that no phrase becomes another by changing one word (a test holds them to it).
const PARTS: &str = include_str!("phrases.txt");

/// Different phrases, each a thing that a reviewer could write and hardly anybody does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dictionary {
    phrases: Vec<String>,
}

impl Dictionary {
    /// The phrases that come with caz: openings by adjectives by nouns by endings, 104,976 in all.
    pub(crate) fn bundled() -> Self {
        let parts: Vec<&str> = PARTS.lines().filter(|line| !line.is_empty()).collect();
        let [openings, adjectives, nouns, endings] =
            std::array::from_fn(|list| &parts[18 * list..18 * (list + 1)]);
        let mut phrases = Vec::with_capacity(18_usize.pow(4));
        for opening in openings {
            for adjective in adjectives {
                for noun in nouns {
                    for ending in endings {
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
