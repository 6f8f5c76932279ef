//! Cutting a text at a sentence's end, so that a ghost is about as long as the review it replaces.

use crate::data::words::words;
use crate::embed::sentences::sentences;

/// Words of a text as Unicode Standard Annex 29 counts them.
pub(super) fn count_words(text: &str) -> usize {
    words(text).count()
}

/// Whether a text has fewer words: the rest of a long one is not looked at.
pub(crate) fn has_fewer_words(text: &str, count: usize) -> bool {
    words(text).take(count).count() < count
}

/// Where the sentences of a text end, and the words up to there.
pub(super) struct Sentences {
    /// Byte at which the sentence ends, and words up to there.
    ends: Vec<(usize, usize)>,
}

impl Sentences {
    pub(super) fn new(text: &str) -> Self {
        let mut words = 0;
        let start = text.as_ptr() as usize;
        let ends = sentences(text)
            .map(|sentence| {
                words += count_words(sentence);
                (sentence.as_ptr() as usize - start + sentence.len(), words)
            })
            .collect();
        Self { ends }
    }

    /// Words of the text.
    pub(super) fn words(&self) -> usize {
        self.ends.last().map_or(0, |end| end.1)
    }

    /// Bytes up to the sentence end at which the words are closest to `words`, the earlier of two;
    /// `None` if that is the last one, so that the text stays whole.
    pub(super) fn cut_at(&self, words: usize) -> Option<usize> {
        let (last, _) = self.ends.split_last()?;
        let best = self.ends.iter().min_by_key(|end| end.1.abs_diff(words))?;
        (best != last).then_some(best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_the_words_are_closest() {
        let text = "One two three. Four five six. Seven eight nine ten.";
        let cut = |words| Sentences::new(text).cut_at(words).map(|bytes| &text[..bytes]);
        // Ends at 3, 6 and 10 words; 8 is two away from 6 and from 10: the earlier one.
        assert_eq!(cut(0), Some("One two three."));
        assert_eq!(cut(4), Some("One two three."));
        assert_eq!(cut(8), Some("One two three. Four five six."));
        assert_eq!(cut(9), None);
        assert_eq!(cut(500), None);
        assert_eq!(Sentences::new("").cut_at(5), None);
    }
}
