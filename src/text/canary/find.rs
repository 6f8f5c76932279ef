//! Which phrases of a dictionary stand in a text, letter for letter or all but one word.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use unicode_normalization::UnicodeNormalization;

use super::dictionary::Dictionary;
use crate::data::markup::shown;

/// Shows only at the end of a line.
const SOFT_HYPHEN: char = '\u{ad}';

/// Most parts into which the ends of lines split a word.
const MOST_PARTS: usize = 3;

/// The words of a text as they are compared: without markup, case, quotes, hyphens, punctuation and
/// what no reader sees; ligatures and full-width letters as the letters they stand for.
pub(super) fn words(text: &str) -> Vec<String> {
    parts(&shown(text)).into_iter().map(|part| part.word).collect()
}

/// A word, or a part of one.
#[derive(Debug, Default)]
struct Part {
    word: String,
    /// Whether a hyphen and no more than white space part it from what stands before.
    follows_hyphen: bool,
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // What stands since the last letter.
    let mut between = String::new();
    for letter in text.nfkc() {
        match letter {
            // Quotes inside words, joiners and marks of direction belong to nothing.
            '\'' | '\u{2018}' | '\u{2019}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            letter if letter.is_alphanumeric() => {
                let is_within = between.chars().all(|mark| mark == SOFT_HYPHEN);
                if parts.is_empty() || !is_within {
                    let after = between.strip_prefix(['-', '\u{2010}', SOFT_HYPHEN]);
                    let follows_hyphen = after.is_some_and(|rest| rest.trim_start().is_empty());
                    parts.push(Part { word: String::new(), follows_hyphen });
                }
                between.clear();
                if let Some(part) = parts.last_mut() {
                    part.word.extend(letter.to_lowercase());
                }
            }
            _ if parts.is_empty() => {}
            mark => between.push(mark),
        }
    }
    parts
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
        let words: Vec<u32> = words(phrase).iter().map(|word| self.number_of(word)).collect();
        let found = self.whole.get(&hash(&words, ANY as usize))?;
        found.iter().copied().find(|&number| self.phrases[number as usize] == words)
    }

    /// All phrases in a text. Linear in its words, but where it has phrases or nearly so.
    pub(crate) fn find(&self, text: &str) -> Found {
        let mut found = Found::default();
        // Tags within words part none, and those around a phrase part it from its neighbours.
        let shown = shown(text);
        let as_written = (shown != text).then_some(text);
        for reading in [Some(shown.as_ref()), as_written].into_iter().flatten() {
            let parts = parts(reading);
            let apart: Vec<u32> = parts.iter().map(|part| self.number_of(&part.word)).collect();
            self.find_in(&apart, &mut found);
            let joined = self.joined(&parts);
            if joined.len() < apart.len() {
                self.find_in(&joined, &mut found);
            }
        }
        found.near = found.near.difference(&found.exact).copied().collect();
        found
    }

    /// The numbers of words, those that hyphens split as one where a phrase has it.
    fn joined(&self, parts: &[Part]) -> Vec<u32> {
        let mut joined = Vec::with_capacity(parts.len());
        let mut rest = parts;
        while let [first, after @ ..] = rest {
            let mut word = first.word.clone();
            let (mut number, mut length) = (self.number_of(&word), 1);
            let split = after.iter().take(MOST_PARTS - 1).take_while(|part| part.follows_hyphen);
            for (part, end) in split.zip(2..) {
                word.push_str(&part.word);
                if let Some(&whole) = self.vocabulary.get(&word) {
                    (number, length) = (whole, end);
                }
            }
            joined.push(number);
            rest = &rest[length..];
        }
        joined
    }

    fn find_in(&self, text: &[u32], found: &mut Found) {
        // How many of the words before each place no phrase has: most windows have two of these.
        let mut unknown = vec![0_u32];
        for word in text {
            unknown.push(unknown[unknown.len() - 1] + u32::from(*word == ANY));
        }
        for &length in &self.lengths {
            for start in 0..(text.len() + 1).saturating_sub(length) {
                if unknown[start + length] - unknown[start] <= 1 {
                    self.look_at(&text[start..start + length], found);
                }
            }
        }
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

    fn number_of(&self, word: &str) -> u32 {
        self.vocabulary.get(word).copied().unwrap_or(ANY)
    }
}
