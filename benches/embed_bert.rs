//! Texts per second of a transformer encoder, one thread and all, by number of texts.
//!
//! `CAZ_BENCH_BERT=FOLDER cargo bench --bench embed_bert`; without a folder the small random model
//! of the tests is measured, which shows the cost around the matrix products. For a comparison
//! with sentence-transformers see `bert_vs_torch.py`.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use caz::data::progress::NoProgress;
use caz::text::embed::Embedder;
use caz::text::embed::bert::{BertEmbedder, BertOptions};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// About 200 words each, none like the other.
fn texts(count: usize) -> Vec<String> {
    let sentence = |text: usize, at: usize| {
        format!(
            "Point {at} of review {text}: the proof of lemma {} assumes more than the abstract \
             says, and the third table has no variance. ",
            text * 7 + at
        )
    };
    (0..count).map(|text| (0..8).map(|at| sentence(text, at)).collect()).collect()
}

fn bench(criterion: &mut Criterion) {
    let folder = std::env::var_os("CAZ_BENCH_BERT").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/bert"),
        PathBuf::from,
    );
    let mut group = criterion.benchmark_group("bert");
    group.sample_size(10);
    for (name, threads) in [("one_thread", NonZeroUsize::new(1)), ("all_threads", None)] {
        let options = BertOptions { threads, ..BertOptions::default() };
        let model = BertEmbedder::load(&folder, "bert", options).expect("the folder has a model");
        for count in [4, 16, 64] {
            let texts = texts(count);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(name, format!("texts={count}")), |bencher| {
                bencher.iter(|| black_box(model.embed(&texts, &NoProgress)).expect("they embed"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
