//! Texts per second of the bundled static model on one thread: tokens only, whole texts, and the
//! default of `caz reviews`, sentence by sentence.
//!
//! `cargo bench --bench embed_static`

use std::hint::black_box;

use caz::for_tests::{Embedder, NoProgress, StaticModel, embed_by_sentence, sentences};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TOKENIZER: &str = include_str!("../models/static-minilm-128/tokenizer.json");
const TEXTS: usize = 500;
const WORDS: usize = 300;
const WORDS_PER_SENTENCE: usize = 18;

/// English-like texts: words drawn by Zipf's law, one in ten a compound the vocabulary must spell
/// in pieces, a full stop and an upper-case letter every 18 words.
fn texts(word_like: fn(&str) -> bool) -> Vec<String> {
    let tokenizer: serde_json::Value = serde_json::from_str(TOKENIZER).expect("JSON");
    let pieces = tokenizer["model"]["vocab"].as_object().expect("pieces by rank").keys();
    let words: Vec<&str> = pieces.map(String::as_str).filter(|word| word_like(word)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut word = || {
        let share: f64 = rng.random();
        // Zipf: the logarithm of the rank is uniform.
        let rank = (words.len() as f64).powf(share);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let index = (rank as usize).min(words.len() - 1);
        words[index]
    };
    let mut text = |_| {
        let mut text = String::new();
        for position in 0..WORDS {
            let mut next = word().to_owned();
            if position % 10 == 9 {
                next.push_str(word());
            }
            if position % WORDS_PER_SENTENCE == 0 {
                next[..1].make_ascii_uppercase();
            }
            text.push_str(&next);
            let ends = position % WORDS_PER_SENTENCE == WORDS_PER_SENTENCE - 1;
            text.push_str(if ends { ". " } else { " " });
        }
        text
    };
    (0..TEXTS).map(&mut text).collect()
}

fn is_english(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn bench(criterion: &mut Criterion) {
    let model = StaticModel::bundled();
    let wordpiece = model.wordpiece().expect("its tokenizer is that of BERT");
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut group = criterion.benchmark_group("static");
    group.sample_size(20).throughput(Throughput::Elements(TEXTS as u64));
    let english = texts(is_english);
    // No fast path: every word has a letter beyond ASCII.
    let accented: Vec<String> = english.iter().map(|text| text.replace(' ', "\u{e9} ")).collect();
    for (name, texts) in [("english", &english), ("accented", &accented)] {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let id = |what| BenchmarkId::new(what, format!("{name}/words={WORDS}"));
        group.bench_function(id("split"), |bencher| {
            bencher.iter(|| texts.iter().map(|text| sentences(text).count()).sum::<usize>());
        });
        group.bench_function(id("tokens"), |bencher| {
            bencher.iter(|| {
                let mut count = 0_usize;
                texts.iter().for_each(|text| wordpiece.visit(text, |_| count += 1));
                count
            });
        });
        group.bench_function(id("whole"), |bencher| {
            bencher.iter(|| one_thread.install(|| black_box(model.embed(&texts, &NoProgress))));
        });
        group.bench_function(id("sentences"), |bencher| {
            bencher.iter(|| {
                one_thread.install(|| black_box(embed_by_sentence(&model, &texts, &NoProgress)))
            });
        });
    }
    group.finish();
    criterion.bench_function("static/load", |bencher| bencher.iter(StaticModel::bundled));
}

criterion_group!(benches, bench);
criterion_main!(benches);
