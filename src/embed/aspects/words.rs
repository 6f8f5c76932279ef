//! Words and pairs of neighbouring words that have a weight of their own.
//!
//! A word is a run of the letters a to z, upper case folded, with at most one part after an
//! apostrophe (`isn't`); everything else separates. `models/train_aspects.py` reads texts alike.

use std::collections::{BTreeSet, HashMap};

/// Letters by which words are compared with those of a prototype: `reproduce` is `reproducible`.
const STEM: usize = 6;

/// The terms with a weight, by their position.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    positions: HashMap<String, usize>,
}

impl Terms {
    pub(super) fn new(terms: Vec<String>) -> Self {
        Self { positions: terms.into_iter().zip(0..).collect() }
    }

    /// The positions of the terms that `text` has, ascending, each once.
    pub(super) fn of(&self, text: &str) -> BTreeSet<usize> {
        let words = words(text);
        let pairs = words.windows(2).map(|pair| format!("{} {}", pair[0], pair[1]));
        let known = |term: &str| self.positions.get(term).copied();
        words.iter().filter_map(|word| known(word)).chain(pairs.filter_map(|p| known(&p))).collect()
    }
}

/// The first letters of the words of `text`.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let stem = |word: String| word.chars().take(STEM).collect();
    words(text).into_iter().map(stem).collect()
}

fn words(text: &str) -> Vec<String> {
    let text = text.replace('\u{2019}', "'").to_ascii_lowercase();
    let bytes = text.as_bytes();
    let run = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_lowercase()).count();
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + run(at);
        if end == at {
            at += 1;
            continue;
        }
        if bytes.get(end) == Some(&b'\'') {
            let more = run(end + 1);
            end += if more > 0 { more + 1 } else { 0 };
        }
        words.push(text[at..end].to_owned());
        at = end;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_by_hand() {
        assert_eq!(words("It isn\u{2019}t NOVEL: 'why' 3x?"), ["it", "isn't", "novel", "why", "x"]);
        assert_eq!(words("a'b'c d' naïve"), ["a'b", "c", "d", "na", "ve"]);
        assert_eq!(words("§ 42"), Vec::<String>::new());
    }

    #[test]
    fn words_of_one_stem_are_alike() {
        let found: Vec<String> = stems("Reproduce the reproducible code").into_iter().collect();
        assert_eq!(found, ["code", "reprod", "the"]);
    }

    #[test]
    fn a_term_counts_once_and_pairs_cross_what_is_no_word() {
        let terms = Terms::new(["not", "novel", "not novel"].map(str::to_owned).to_vec());
        let found: Vec<usize> = terms.of("Not, novel; not NOVEL").into_iter().collect();
        assert_eq!(found, [0, 1, 2]);
        assert!(terms.of("novelty").is_empty());
    }

    proptest! {
        /// The expression that the training script uses, as its own twin.
        #[test]
        fn words_are_those_of_the_script(text in "[a-zA-Z'’ .0é]{0,24}") {
            let expression = regex::Regex::new("[a-z]+(?:'[a-z]+)?").unwrap();
            let folded = text.replace('\u{2019}', "'").to_ascii_lowercase();
            let expected: Vec<&str> = expression.find_iter(&folded).map(|m| m.as_str()).collect();
            prop_assert_eq!(words(&text), expected);
        }
    }
}
