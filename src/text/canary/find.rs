//! Which phrases of a dictionary stand in a text, letter for letter or all but one word.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

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
    whole: Index,
    /// By all words but one, an entry for each place; made once a text has most words of a phrase.
    but_one: OnceLock<Index>,
    /// The numbers of words that phrases have.
    lengths: BTreeSet<usize>,
}

/// Phrases by a hash of their words, in ascending order.
#[derive(Debug)]
struct Index(Vec<(u64, u32)>);

impl Index {
    fn new(mut entries: Vec<(u64, u32)>) -> Self {
        // On this thread alone: a task of the pool that waits for others while it fills a `OnceLock` may be given
        // one that waits for it.
        entries.sort_unstable();
        Self(entries)
    }

    fn with(&self, key: u64) -> impl Iterator<Item = u32> {
        let first = self.0.partition_point(|(other, _)| *other < key);
        self.0[first..]
            .iter()
            .take_while(move |(other, _)| *other == key)
            .map(|(_, phrase)| *phrase)
    }
}

/// What stands for the word that may differ, and for a word that no phrase has.
const ANY: u32 = u32::MAX;

/// A word at its place, mixed (the last steps of `SplitMix64`): a window is the sum of its words.
fn mixed(word: u32, place: usize) -> u64 {
    let mut bits = ((place as u64) << 32 | u64::from(word)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn hash(words: &[u32]) -> u64 {
    let each = words.iter().enumerate().map(|(place, &word)| mixed(word, place));
    each.fold(0, u64::wrapping_add)
}

/// The hash of words of which one may be any.
fn but_one(whole: u64, words: &[u32], place: usize) -> u64 {
    whole.wrapping_sub(mixed(words[place], place)).wrapping_add(mixed(ANY, place))
}

/// The words of all phrases by number, and the numbers.
fn numbered(phrases: &[String]) -> (Vec<Vec<u32>>, HashMap<String, u32>) {
    let mut vocabulary = HashMap::new();
    let mut numbers = |text: &str| -> Vec<u32> {
        let number = |word: String| {
            let next = u32::try_from(vocabulary.len()).expect("fewer than 2^32 words");
            *vocabulary.entry(word).or_insert(next)
        };
        words(text).into_iter().map(number).collect()
    };
    // Phrases are put together of few pieces. In plain letters and without markup no piece changes its neighbour.
    let mut pieces: HashMap<&str, Vec<u32>> = HashMap::new();
    let phrases = phrases
        .iter()
        .map(|phrase| {
            if !phrase.is_ascii() || phrase.contains(['<', '&']) {
                return numbers(phrase);
            }
            let mut all = Vec::new();
            for piece in phrase.split(' ') {
                all.extend_from_slice(pieces.entry(piece).or_insert_with(|| numbers(piece)));
            }
            all
        })
        .collect();
    (phrases, vocabulary)
}

impl Finder {
    /// Indexes a dictionary; takes some 30 MB for a hundred thousand phrases.
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let (phrases, vocabulary) = numbered(dictionary.phrases());
        let whole = (0..).zip(&phrases).map(|(number, phrase)| (hash(phrase), number));
        let whole = Index::new(whole.collect());
        let lengths = phrases.iter().map(Vec::len).collect();
        Self { vocabulary, phrases, whole, but_one: OnceLock::new(), lengths }
    }

    fn by_all_but_one(&self) -> &Index {
        self.but_one.get_or_init(|| {
            let mut entries = Vec::with_capacity(self.phrases.iter().map(Vec::len).sum());
            for (number, phrase) in (0..).zip(&self.phrases) {
                let whole = hash(phrase);
                let keys = (0..phrase.len()).map(|place| but_one(whole, phrase, place));
                entries.extend(keys.map(|key| (key, number)));
            }
            Index::new(entries)
        })
    }

    /// The number of a phrase, written in whatever case and spacing.
    pub(crate) fn number(&self, phrase: &str) -> Option<u32> {
        let words: Vec<u32> = words(phrase).iter().map(|word| self.number_of(word)).collect();
        self.whole.with(hash(&words)).find(|&number| self.phrases[number as usize] == words)
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
        let key = hash(window);
        let whole = self.whole.with(key);
        found.exact.extend(whole.filter(|&number| self.phrases[number as usize] == window));
        let unknown = window.iter().position(|&word| word == ANY);
        // A word that no phrase has can only be the changed one.
        let places = unknown.map_or(0..window.len(), |place| place..place + 1);
        for place in places {
            let candidates = self.by_all_but_one().with(but_one(key, window, place));
            found.near.extend(candidates.filter(|&number| {
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
