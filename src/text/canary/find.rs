//! Which phrases of a dictionary stand in a text, letter for letter or all but one word.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use unicode_normalization::UnicodeNormalization;

use super::dictionary::Dictionary;

/// The words of a text as they are compared: without case, quotes, hyphens, punctuation and what no
/// reader sees; ligatures and full-width letters as the letters they stand for.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.nfkc() {
        match letter {
            // Quotes inside words, soft hyphens, joiners and marks of direction belong to nothing.
            '\''
            | '\u{2018}'
            | '\u{2019}'
            | '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'
            | '\u{feff}' => {}
            letter if letter.is_alphanumeric() => word.extend(letter.to_lowercase()),
            _ if word.is_empty() => {}
            _ => words.push(std::mem::take(&mut word)),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Phrases of a dictionary that stand in a text, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Letter for letter but for case, spaces, quotes, hyphens and punctuation.
    pub exact: BTreeSet<u32>,
    /// With one word changed, and not also letter for letter.
    pub near: BTreeSet<u32>,
}

/// Looks for the phrases of one dictionary.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Numbers of the words of the dictionary.
    vocabulary: HashMap<String, u32>,
    phrases: Vec<Vec<u32>>,
    /// Phrases by a hash of their words.
    whole: HashMap<u64, Vec<u32>>,
    /// Phrases by a hash of their words but one and of its place.
    but_one: Vec<(u64, u32)>,
    /// The numbers of words that phrases have.
    lengths: BTreeSet<usize>,
}

type Hasher = BuildHasherDefault<DefaultHasher>;

/// What stands for the word that may differ, and for a word that no phrase has.
const ANY: u32 = u32::MAX;

fn hash(words: &[u32], changed: usize) -> u64 {
    let mut words = words.to_vec();
    if let Some(word) = words.get_mut(changed) {
        *word = ANY;
    }
    Hasher::default().hash_one((words, changed))
}

impl Finder {
    /// Indexes a dictionary; takes some 30 MB for a hundred thousand phrases.
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let mut vocabulary = HashMap::new();
        let phrases: Vec<Vec<u32>> = dictionary
            .phrases()
            .iter()
            .map(|phrase| {
                let number = |word: String| {
                    let next = u32::try_from(vocabulary.len()).expect("fewer than 2^32 words");
                    *vocabulary.entry(word).or_insert(next)
                };
                words(phrase).into_iter().map(number).collect()
            })
            .collect();
        let mut whole: HashMap<u64, Vec<u32>> = HashMap::with_capacity(phrases.len());
        let mut but_one = Vec::new();
        for (number, phrase) in (0..).zip(&phrases) {
            whole.entry(hash(phrase, ANY as usize)).or_default().push(number);
            but_one.extend((0..phrase.len()).map(|place| (hash(phrase, place), number)));
        }
        but_one.sort_unstable();
        let lengths = phrases.iter().map(Vec::len).collect();
        Self { vocabulary, phrases, whole, but_one, lengths }
    }

    /// The number of a phrase, written in whatever case and spacing.
    pub(crate) fn number(&self, phrase: &str) -> Option<u32> {
        let words = self.numbered(phrase);
        let found = self.whole.get(&hash(&words, ANY as usize))?;
        found.iter().copied().find(|&number| self.phrases[number as usize] == words)
    }

    /// All phrases in a text. Linear in its words, but where it has phrases or nearly so.
    pub(crate) fn find(&self, text: &str) -> Found {
        let text = self.numbered(text);
        // How many of the words before each place no phrase has: most windows have two of these.
        let mut unknown = vec![0_u32];
        for word in &text {
            unknown.push(unknown[unknown.len() - 1] + u32::from(*word == ANY));
        }
        let mut found = Found::default();
        for &length in &self.lengths {
            for start in 0..(text.len() + 1).saturating_sub(length) {
                if unknown[start + length] - unknown[start] <= 1 {
                    self.look_at(&text[start..start + length], &mut found);
                }
            }
        }
        found.near = found.near.difference(&found.exact).copied().collect();
        found
    }

    fn look_at(&self, window: &[u32], found: &mut Found) {
        let whole = self.whole.get(&hash(window, ANY as usize)).into_iter().flatten();
        found.exact.extend(whole.filter(|&&number| self.phrases[number as usize] == window));
        let unknown = window.iter().position(|&word| word == ANY);
        // A word that no phrase has can only be the changed one.
        let places = unknown.map_or(0..window.len(), |place| place..place + 1);
        for place in places {
            let key = hash(window, place);
            let first = self.but_one.partition_point(|(other, _)| *other < key);
            let candidates = self.but_one[first..].iter().take_while(|(other, _)| *other == key);
            found.near.extend(candidates.map(|(_, number)| *number).filter(|&number| {
                let phrase = &self.phrases[number as usize];
                let differ = phrase.iter().zip(window).filter(|(a, b)| a != b).count();
                phrase.len() == window.len() && differ == 1
            }));
        }
    }

    fn numbered(&self, text: &str) -> Vec<u32> {
        let number = |word: String| self.vocabulary.get(&word).copied().unwrap_or(ANY);
        words(text).into_iter().map(number).collect()
    }
}
