//! The two tries of the word pieces against a hash map of the same vocabulary.
//!
//! Both cut the same lower-case English words, and give the same pieces. The map is asked for ever
//! shorter starts of what is left of a word, as in BERT's released code; its side has less to do,
//! since it neither cleans nor lower-cases.
//!
//! `cargo bench --bench wordpiece`

use std::hint::black_box;

use caz::for_tests::StaticModel;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hashbrown::HashMap;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TOKENIZER: &str = include_str!("../models/static-minilm-128/tokenizer.json");
const WORDS: usize = 100_000;

/// Pieces that start a word and pieces that go on with one.
struct Maps<'a> {
    first: HashMap<&'a str, u32>,
    next: HashMap<&'a str, u32>,
    longest: usize,
}

/// The vocabulary in the order of the ranks.
fn vocabulary() -> Vec<String> {
    let tokenizer: serde_json::Value = serde_json::from_str(TOKENIZER).expect("JSON");
    let pieces = tokenizer["model"]["vocab"].as_object().expect("pieces by rank");
    pieces.keys().cloned().collect()
}

impl<'a> Maps<'a> {
    fn new(vocabulary: &'a [String]) -> Self {
        let (mut first, mut next) = (HashMap::new(), HashMap::new());
        for (piece, rank) in vocabulary.iter().zip(0_u32..) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => next.entry(rest).or_insert(rank),
                _ => first.entry(piece.as_str()).or_insert(rank),
            };
        }
        let longest = vocabulary.iter().map(String::len).max().unwrap_or(0);
        Self { first, next, longest }
    }

    /// Visits the pieces of every word; words are ASCII, between single spaces.
    fn visit(&self, text: &str, mut visit: impl FnMut(Option<u32>)) {
        let mut ranks = Vec::new();
        for word in text.split(' ') {
            ranks.clear();
            let (mut rest, mut map) = (word, &self.first);
            while !rest.is_empty() {
                let lengths = (1..=rest.len().min(self.longest)).rev();
                let found = lengths.into_iter().find_map(|n| Some((n, *map.get(&rest[..n])?)));
                let Some((length, rank)) = found else { break };
                ranks.push(rank);
                (rest, map) = (&rest[length..], &self.next);
            }
            if rest.is_empty() {
                ranks.iter().for_each(|&rank| visit(Some(rank)));
            } else {
                visit(None);
            }
        }
    }
}

/// Words drawn by Zipf's law, one in ten a compound that must be spelt in pieces.
fn text(vocabulary: &[String]) -> String {
    let is_english =
        |word: &&String| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&String> = vocabulary.iter().filter(is_english).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut word = || {
        let share: f64 = rng.random();
        // Zipf: the logarithm of the rank is uniform.
        let rank = (words.len() as f64).powf(share);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let index = (rank as usize).min(words.len() - 1);
        words[index]
    };
    let texts = (0..WORDS)
        .map(|at| if at % 10 == 9 { format!("{}{}", word(), word()) } else { word().clone() });
    texts.collect::<Vec<_>>().join(" ")
}

fn bench(criterion: &mut Criterion) {
    let (model, vocabulary) = (StaticModel::bundled(), vocabulary());
    let wordpiece = model.wordpiece().expect("its tokenizer is that of BERT");
    let (maps, text) = (Maps::new(&vocabulary), text(&vocabulary));
    let (mut by_trie, mut by_map) = (Vec::new(), Vec::new());
    wordpiece.visit(&text, |piece| by_trie.push(piece));
    maps.visit(&text, |piece| by_map.push(piece));
    assert!(by_trie == by_map, "both cut alike");

    let mut group = criterion.benchmark_group("wordpiece");
    group.sample_size(20).throughput(Throughput::Elements(WORDS as u64));
    group.bench_function("trie", |bencher| {
        bencher.iter(|| {
            let mut sum = 0_u64;
            wordpiece.visit(&text, |piece| sum += u64::from(piece.unwrap_or(0)));
            black_box(sum)
        });
    });
    group.bench_function("hash_map", |bencher| {
        bencher.iter(|| {
            let mut sum = 0_u64;
            maps.visit(&text, |piece| sum += u64::from(piece.unwrap_or(0)));
            black_box(sum)
        });
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
