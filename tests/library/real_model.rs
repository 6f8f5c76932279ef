//! The `bert:` embedder on the real all-MiniLM-L6-v2 against sentence-transformers.
//!
//! Run with `CAZ_TEST_MINILM=FOLDER cargo test --test library -- --ignored real_model`; the tests fail,
//! not pass, when the folder is missing. The reference is made by `tests/golden/make_minilm.py`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use caz::for_tests::{
    BertEmbedder, BertOptions, DenseVectors, Embedder, LongText, NoProgress, Precision, Vectors,
};
use serde_json::Value;

/// Largest difference of a component of a unit vector to sentence-transformers.
const TOLERANCE: f64 = 1e-4;

fn folder() -> PathBuf {
    let folder = std::env::var_os("CAZ_TEST_MINILM")
        .expect("set CAZ_TEST_MINILM to the folder of all-MiniLM-L6-v2");
    let folder = PathBuf::from(folder);
    assert!(folder.join("model.safetensors").is_file(), "no model in {}", folder.display());
    folder
}

fn embedder(options: BertOptions) -> BertEmbedder {
    BertEmbedder::load(&folder(), "bert:minilm", options).expect("the model loads")
}

fn embed(embedder: &BertEmbedder, texts: &[&str]) -> DenseVectors {
    match embedder.embed(texts, &NoProgress).expect("the texts embed").vectors {
        Vectors::Dense(vectors) => vectors,
        Vectors::Sparse(_) => panic!("bert vectors are dense"),
    }
}

fn reference() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/minilm_reference.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the reference")).expect("JSON")
}

fn texts(reference: &Value) -> Vec<&str> {
    let texts = reference["texts"].as_array().expect("texts");
    texts.iter().map(|entry| entry["text"].as_str().expect("text")).collect()
}

fn largest_difference(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
#[ignore = "needs the real model"]
fn every_component_equals_sentence_transformers() {
    let reference = reference();
    let options = BertOptions { long_text: LongText::Truncate, ..BertOptions::default() };
    let vectors = embed(&embedder(options), &texts(&reference));
    let mut largest: f64 = 0.0;
    for (entry, row) in reference["texts"].as_array().expect("texts").iter().zip(vectors.rows()) {
        let expected: Vec<f64> =
            entry["vector"].as_array().expect("vector").iter().filter_map(Value::as_f64).collect();
        assert_eq!(expected.len(), 384);
        let difference = largest_difference(row, &expected);
        assert!(difference < TOLERANCE, "{}: {difference}", entry["text"]);
        largest = largest.max(difference);
    }
    eprintln!("largest difference to sentence-transformers: {largest:e}");
}

#[test]
#[ignore = "needs the real model"]
fn the_weights_are_those_the_reference_was_made_with() {
    use sha2::Digest;
    let bytes = std::fs::read(folder().join("model.safetensors")).expect("the weights");
    let digest: String =
        sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(reference()["weights_sha256"], digest);
}

#[test]
#[ignore = "needs the real model"]
fn a_vector_has_the_same_bits_alone_and_in_any_batch_on_any_threads() {
    let reference = reference();
    let texts = texts(&reference);
    let size = |size| NonZeroUsize::new(size).expect("not zero");
    let all = embed(&embedder(BertOptions::default()), &texts);
    for (batch_tokens, threads) in [(1, 1), (100, 3), (100_000, 2)] {
        let options = BertOptions {
            batch_tokens: size(batch_tokens),
            threads: Some(size(threads)),
            ..BertOptions::default()
        };
        let again = embed(&embedder(options), &texts);
        assert_eq!(all, again, "{batch_tokens} tokens, {threads} threads");
    }
    let model = embedder(BertOptions::default());
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(embed(&model, &[text]).row(0), all.row(index), "{text}");
    }
}

#[test]
#[ignore = "needs the real model and a processor with AMX or AVX512_BF16"]
fn in_16_bits_every_vector_has_a_cosine_above_9999_in_10000_to_that_in_32() {
    let reference = reference();
    let texts = texts(&reference);
    let full = embed(&embedder(BertOptions::default()), &texts);
    let in_bf16 = |threads| BertOptions {
        precision: Precision::Bf16,
        threads: NonZeroUsize::new(threads),
        ..BertOptions::default()
    };
    // What the kernel says of the processor, in place of what we ask it.
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !["amx_bf16", "avx512_bf16"].iter().any(|unit| processor.contains(unit)) {
        let refused = BertEmbedder::load(&folder(), "bert:minilm", in_bf16(1));
        let refused = refused.expect_err("there is no unit for it").to_string();
        assert_eq!(refused, "precision bf16 is not possible here");
        eprintln!("NOT RUN: this processor computes nothing in 16 bits");
        return;
    }
    let rounded = embed(&embedder(in_bf16(1)), &texts);
    assert_eq!(rounded, embed(&embedder(in_bf16(2)), &texts), "one and two threads");
    let mut lowest: f64 = 1.0;
    for (row, text) in texts.iter().enumerate() {
        let pairs = full.row(row).iter().zip(rounded.row(row));
        let cosine: f64 = pairs.map(|(full, rounded)| full * rounded).sum();
        let is_empty = full.row(row).iter().all(|&value| value.abs() < f64::MIN_POSITIVE);
        assert!(is_empty || cosine > 0.9999, "{text}: {cosine}");
        lowest = if is_empty { lowest } else { lowest.min(cosine) };
    }
    eprintln!("lowest cosine of bf16 to f32: {lowest}");
}

#[test]
#[ignore = "needs the real model"]
fn the_lean_forward_pass_equals_candles() {
    use candle_core::{DType, Device, Tensor};
    use candle_nn::VarBuilder;
    use candle_transformers::models::bert::{BertModel, Config};

    let folder = folder();
    let config: Config =
        serde_json::from_slice(&std::fs::read(folder.join("config.json")).expect("config.json"))
            .expect("a BERT config");
    let weights = std::fs::read(folder.join("model.safetensors")).expect("the weights");
    let builder = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
        .expect("safetensors");
    let candle = BertModel::load(builder, &config).expect("candle loads it");

    let ours = embedder(BertOptions::default());
    let sequences: Vec<Vec<u32>> = (0..12_u32)
        .map(|i| (0..=i * 17).map(|j| (i * 7919 + j * 104_729) % 30_522).collect())
        .collect();
    let found = ours.mean_hidden_states(&sequences, &NoProgress).expect("ours runs");
    for (sequence, row) in sequences.iter().zip(found.rows()) {
        let ids = Tensor::new(sequence.as_slice(), &Device::Cpu).expect("ids");
        let ids = ids.unsqueeze(0).expect("a batch of one");
        let types = ids.zeros_like().expect("token types");
        let states = candle.forward(&ids, &types, None).expect("candle runs");
        let mean = states.mean(1).expect("mean").flatten_all().expect("flat");
        let mean: Vec<f32> = mean.to_vec1().expect("values");
        let expected: Vec<f64> = mean.into_iter().map(f64::from).collect();
        let difference = largest_difference(row, &expected);
        assert!(difference < 1e-5, "{} tokens: {difference}", sequence.len());
    }
}

#[test]
#[ignore = "needs the real model"]
fn long_texts_are_counted_and_windowed_as_documented() {
    let model = embedder(BertOptions::default());
    let sentence = "the second experiment mixes two effects that should be told apart ";
    let long = sentence.repeat(60);
    let embeddings = model.embed(&["short", &long], &NoProgress).expect("embeds");
    assert_eq!(embeddings.long_texts, 1);
    let Vectors::Dense(vectors) = embeddings.vectors else { panic!("dense") };

    // The definition, from single windows of raw ids.
    let ids = model.tokenizer().encode(long.as_str(), false).expect("tokens").get_ids().to_vec();
    let windows: Vec<Vec<u32>> =
        ids.chunks(254).map(|part| [&[101], part, &[102]].concat()).collect();
    let means = model.mean_hidden_states(&windows, &NoProgress).expect("means");
    let mut expected = vec![0.0; 384];
    for (window, mean) in windows.iter().zip(means.rows()) {
        let norm = mean.iter().map(|value| value * value).sum::<f64>().sqrt();
        for (sum, value) in expected.iter_mut().zip(mean) {
            *sum += value / norm * (window.len() - 2) as f64;
        }
    }
    let norm = expected.iter().map(|value| value * value).sum::<f64>().sqrt();
    expected.iter_mut().for_each(|value| *value /= norm);
    assert!(largest_difference(vectors.row(1), &expected) < 1e-12);
}
