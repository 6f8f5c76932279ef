//! Texts per second of a transformer encoder, one thread and all, by number of texts; in 16 bits where
//! the processor multiplies them; and of the model of the same name that candle brings, on padded batches.
//!
//! `CAZ_BENCH_BERT=FOLDER cargo bench --bench embed_bert`; without a folder the small random model
//! of the tests is measured, which shows the cost around the matrix products. For a comparison
//! with sentence-transformers see `bert_vs_torch.py`.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use caz::for_tests::{BertEmbedder, BertOptions, Embedder, NoProgress, Precision};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Texts of one batch of candle's model.
const BATCH: usize = 8;

/// candle's own BERT from the same folder, with the tokenizer of ours.
struct CandleBert {
    model: BertModel,
    tokenizer: tokenizers::Tokenizer,
}

impl CandleBert {
    fn load(folder: &Path, tokenizer: &tokenizers::Tokenizer) -> Self {
        let config = std::fs::read_to_string(folder.join("config.json")).expect("a configuration");
        let config = serde_json::from_str(&config).expect("candle reads the configuration");
        let mut tensors = std::collections::HashMap::new();
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|ending| ending == "safetensors") {
                tensors
                    .extend(candle_core::safetensors::load(&path, &Device::Cpu).expect("weights"));
            }
        }
        let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let model = BertModel::load(weights, &config).expect("candle loads the model");
        Self { model, tokenizer: tokenizer.clone() }
    }

    /// Token vectors of all texts, padded inside a batch; nothing is pooled.
    fn run(&self, texts: &[&str], most_tokens: usize) -> candle_core::Result<Vec<Tensor>> {
        let encoded: Vec<Vec<u32>> = texts
            .iter()
            .map(|text| {
                let encoding = self.tokenizer.encode(*text, true).expect("the text is cut");
                encoding.get_ids()[..encoding.len().min(most_tokens)].to_vec()
            })
            .collect();
        let mut vectors = Vec::new();
        for batch in encoded.chunks(BATCH) {
            let width = batch.iter().map(Vec::len).max().unwrap_or(0);
            let mut ids = Vec::new();
            let mut mask = Vec::new();
            for tokens in batch {
                ids.extend_from_slice(tokens);
                mask.extend(std::iter::repeat_n(1_u32, tokens.len()));
                ids.resize(ids.len() + width - tokens.len(), 0);
                mask.resize(ids.len(), 0);
            }
            let shape = (batch.len(), width);
            let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
            let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
            let types = ids.zeros_like()?;
            vectors.push(self.model.forward(&ids, &types, Some(&mask))?);
        }
        Ok(vectors)
    }
}

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
    for (name, threads, precision) in [
        ("one_thread", NonZeroUsize::new(1), Precision::F32),
        ("all_threads", None, Precision::F32),
        ("one_thread_bf16", NonZeroUsize::new(1), Precision::Bf16),
        ("all_threads_bf16", None, Precision::Bf16),
    ] {
        let options = BertOptions { threads, precision, ..BertOptions::default() };
        let model = match BertEmbedder::load(&folder, "bert", options) {
            Err(_) if precision == Precision::Bf16 => continue,
            model => model.expect("the folder has a model"),
        };
        for count in [4, 16, 64] {
            let texts = texts(count);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(name, format!("texts={count}")), |bencher| {
                bencher.iter(|| black_box(model.embed(&texts, &NoProgress)).expect("they embed"));
            });
        }
    }
    let ours = BertEmbedder::load(&folder, "bert", BertOptions::default()).expect("a model");
    let candle = CandleBert::load(&folder, ours.tokenizer());
    for count in [4, 16, 64] {
        let texts = texts(count);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("candle", format!("texts={count}")), |bencher| {
            bencher.iter(|| black_box(candle.run(&texts, ours.max_tokens())).expect("they run"));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
