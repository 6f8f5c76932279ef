//! Every family's tiny random model (`tests/golden/make_tiny.py`) against sentence-transformers,
//! and models that must be refused.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::data::progress::NoProgress;
use crate::error::{Kinded, Remedy};

const FAMILIES: [&str; 9] = [
    "bert",
    "xlm-roberta",
    "distilbert",
    "modernbert",
    "mpnet",
    "nomic_bert",
    "qwen3",
    "bert-dense",
    "bert-last",
];

/// Largest difference of a component to torch.
const TOLERANCE: f64 = 5e-6;

fn folder(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny").join(family)
}

fn expected(family: &str) -> Value {
    let bytes = std::fs::read(folder("expected.json")).unwrap();
    serde_json::from_slice::<Value>(&bytes).unwrap()[family].take()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn truncating() -> BertOptions {
    BertOptions { long_text: LongText::Truncate, ..BertOptions::default() }
}

fn load(family: &str, options: BertOptions) -> BertEmbedder {
    BertEmbedder::load(&folder(family), &format!("bert:{family}"), options).unwrap()
}

fn embed(embedder: &BertEmbedder, texts: &[&str]) -> DenseVectors {
    match embedder.embed(texts, &NoProgress).unwrap().vectors {
        Vectors::Dense(vectors) => vectors,
        Vectors::Sparse(_) => panic!("dense expected"),
    }
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < TOLERANCE, "{what}: {found} instead of {expected}");
    }
}

/// A copy of a family's folder, one of its JSON files changed.
fn changed(family: &str, file: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&folder(family), copy.path());
    let path = copy.path().join(file);
    let mut value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn refused(folder: &Path) -> BertError {
    BertEmbedder::load(folder, "bert:x", BertOptions::default()).unwrap_err()
}

#[test]
fn every_family_equals_sentence_transformers_on_texts() {
    for family in FAMILIES {
        let embedder = load(family, truncating());
        let expected = expected(family);
        let entries = expected["texts"].as_array().unwrap();
        let texts: Vec<&str> =
            entries.iter().map(|entry| entry["text"].as_str().unwrap()).collect();
        let vectors = embed(&embedder, &texts);
        for (entry, row) in entries.iter().zip(vectors.rows()) {
            assert_close(row, &numbers(&entry["vector"]), &format!("{family} {}", entry["text"]));
        }
    }
}

#[test]
fn every_family_equals_transformers_on_raw_ids() {
    // The last two differ from the first in what comes after the encoder.
    for family in &FAMILIES[..7] {
        let embedder = load(family, BertOptions::default());
        let expected = expected(family);
        let entries = expected["sequences"].as_array().unwrap();
        let sequences: Vec<Vec<u32>> = entries
            .iter()
            .map(|entry| serde_json::from_value(entry["ids"].clone()).unwrap())
            .collect();
        let means = embedder.mean_hidden_states(&sequences, &NoProgress).unwrap();
        for (entry, row) in entries.iter().zip(means.rows()) {
            assert_close(row, &numbers(&entry["mean"]), &format!("{family} {}", entry["ids"]));
        }
    }
}

#[test]
fn pooling_and_limits_come_from_the_models_files() {
    for (family, pooling, limit) in [
        ("bert", Pooling::Mean, 40),
        ("xlm-roberta", Pooling::Cls, 39),
        ("distilbert", Pooling::Mean, 40),
        ("modernbert", Pooling::Mean, 40),
        ("mpnet", Pooling::Mean, 39),
        ("nomic_bert", Pooling::Mean, 40),
        ("qwen3", Pooling::Last, 40),
        ("bert-dense", Pooling::Max, 40),
        ("bert-last", Pooling::Last, 40),
    ] {
        let embedder = load(family, BertOptions::default());
        assert_eq!((embedder.pooling(), embedder.max_tokens()), (pooling, limit));
        assert_eq!(embedder.dims(), if family.starts_with("bert-") { 10 } else { 16 });
    }
}

#[test]
fn a_prompt_that_is_named_goes_before_every_text_as_in_sentence_transformers() {
    for (family, name) in [
        ("qwen3", "query"),
        ("qwen3", "document"),
        ("bert-last", "query"),
        ("bert-last", "passage"),
    ] {
        let embedder = load(family, BertOptions { prompt_name: Some(name.into()), ..truncating() });
        let expected = expected(family);
        let texts = expected["texts"].as_array().unwrap().iter();
        let texts: Vec<&str> = texts.map(|entry| entry["text"].as_str().unwrap()).collect();
        let vectors = expected["prompted"][name].as_array().unwrap();
        for (row, vector) in embed(&embedder, &texts).rows().zip(vectors) {
            assert_close(row, &numbers(vector), &format!("{family} {name}"));
        }
    }
    let plain = embed(&load("bert-last", truncating()), &["a"]);
    let options = BertOptions { prompt_name: Some("passage".into()), ..truncating() };
    assert_ne!(plain, embed(&load("bert-last", options.clone()), &["a"]), "query is the default");

    let named = |family: &str| {
        let folder = folder(family);
        BertEmbedder::load(&folder, "bert:x", options.clone()).unwrap_err().to_string()
    };
    assert!(named("qwen3").ends_with("has no prompt `passage`; it has document, query"));
    assert!(named("bert").contains("has no prompt `passage`; it has "), "{}", named("bert"));
    // Some models leave the tokens of the prompt out when they pool.
    let folder = changed("bert-last", "1_Pooling/config.json", |pooling| {
        pooling["include_prompt"] = json!(false);
    });
    let error = refused(folder.path());
    assert!(matches!(error, BertError::Unsupported { key: "include_prompt", .. }), "{error}");
    assert!(
        BertEmbedder::load(folder.path(), "bert:x", options).is_ok(),
        "an empty prompt is none"
    );
}

#[test]
fn nomic_embed_is_read_as_its_own_files_and_as_transformers_write_it() {
    let own = changed("nomic_bert", "config.json", |config| {
        let all = config.as_object_mut().unwrap();
        for (new, old) in [
            ("hidden_size", "n_embd"),
            ("num_attention_heads", "n_head"),
            ("num_hidden_layers", "n_layer"),
            ("intermediate_size", "n_inner"),
            ("max_position_embeddings", "n_positions"),
            ("layer_norm_eps", "layer_norm_epsilon"),
        ] {
            let value = all.remove(new).unwrap();
            all.insert(old.into(), value);
        }
        for key in ["rope_parameters", "hidden_act", "head_dim"] {
            all.remove(key);
        }
        all.extend([
            ("rotary_emb_base".into(), json!(1000)),
            ("rotary_emb_fraction".into(), json!(1.0)),
            ("rotary_emb_interleaved".into(), json!(false)),
            ("rotary_scaling_factor".into(), json!(null)),
            ("activation_function".into(), json!("swiglu")),
            ("prenorm".into(), json!(false)),
        ]);
    });
    let own = BertEmbedder::load(own.path(), "bert:own", BertOptions::default()).unwrap();
    let text = ["the quick brown fox jumps over it"];
    assert_eq!(embed(&own, &text), embed(&load("nomic_bert", BertOptions::default()), &text));
}

#[test]
fn variants_that_candle_does_not_compute_are_refused() {
    for (family, key, value) in [
        ("nomic_bert", "rotary_scaling_factor", json!(2)),
        ("nomic_bert", "moe_every_n_layers", json!(2)),
        ("nomic_bert", "activation_function", json!("gelu")),
        ("nomic_bert", "prenorm", json!(true)),
        ("nomic_bert", "head_dim", json!(4)),
        ("qwen3", "rope_scaling", json!({"type": "yarn"})),
        ("qwen3", "use_sliding_window", json!(true)),
        ("qwen3", "is_causal", json!(false)),
        ("qwen3", "attention_bias", json!(true)),
        ("qwen3", "num_key_value_heads", json!(0)),
    ] {
        let folder = changed(family, "config.json", |config| config[key] = value);
        let error = refused(folder.path());
        assert!(matches!(error, BertError::Unsupported { .. }), "{family} {key}: {error}");
    }
    for family in ["nomic_bert", "qwen3"] {
        let folder =
            changed(family, "config.json", |config| config["num_hidden_layers"] = json!(1));
        let error = refused(folder.path());
        assert!(matches!(error, BertError::MissingWeight { .. }), "{family}: {error}");
    }
}

#[test]
fn pooling_can_be_overridden() {
    let options = BertOptions { pooling: Some(Pooling::Cls), ..BertOptions::default() };
    let cls = embed(&load("bert", options), &["the cat"]);
    let mean = embed(&load("bert", BertOptions::default()), &["the cat"]);
    assert_ne!(cls, mean);
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z]{1,9}", 0..20).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_vector_has_the_same_bits_alone_and_in_any_batch_on_any_threads(
        texts in prop::collection::vec(any_text(), 1..12),
        batch_tokens in 1_usize..200,
        threads in 1_usize..4,
        family in 0_usize..7,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alone = load(FAMILIES[family], BertOptions {
            threads: NonZeroUsize::new(1), ..BertOptions::default()
        });
        let together = load(FAMILIES[family], BertOptions {
            batch_tokens: NonZeroUsize::new(batch_tokens).unwrap(),
            threads: NonZeroUsize::new(threads),
            ..BertOptions::default()
        });
        let together = embed(&together, &texts);
        for (index, text) in texts.iter().enumerate() {
            let alone = embed(&alone, &[text]);
            prop_assert_eq!(alone.row(0), together.row(index), "{}", text);
        }
    }
}

fn in_bf16() -> BertOptions {
    BertOptions { precision: Precision::Bf16, ..BertOptions::default() }
}

#[test]
fn in_16_bits_every_family_of_the_lean_pass_gives_nearly_the_same_vectors_whatever_the_batch() {
    if Bf16::detect().is_err() {
        // What is done then has a test of its own, below.
        return;
    }
    let texts = ["the cat sat on the mat", "a", "Review of a paper: no proof.", "abcdefghij"];
    // Not those with a map behind the encoder: random maps, as these tiny models have, leave .9998.
    for family in ["bert", "xlm-roberta", "distilbert", "mpnet"] {
        let full = embed(&load(family, BertOptions::default()), &texts);
        let rounded = embed(&load(family, in_bf16()), &texts);
        assert_ne!(full, rounded, "{family}: nothing was rounded");
        for (row, text) in texts.iter().enumerate() {
            let pairs = full.row(row).iter().zip(rounded.row(row));
            let cosine: f64 = pairs.map(|(full, rounded)| full * rounded).sum();
            assert!(cosine > 0.9999, "{family} {text}: {cosine}");
        }
        for (batch_tokens, threads) in [(1, 1), (20, 2), (1000, 3)] {
            let options = BertOptions {
                batch_tokens: NonZeroUsize::new(batch_tokens).unwrap(),
                threads: NonZeroUsize::new(threads),
                ..in_bf16()
            };
            assert_eq!(embed(&load(family, options), &texts), rounded, "{family} {threads}");
        }
    }
}

#[test]
fn where_16_bits_cannot_be_multiplied_a_model_is_refused_with_the_reason() {
    for reason in [NoBf16::Build, NoBf16::Processor] {
        let load = |options| {
            // The folder is not looked at.
            BertEmbedder::load_with(Path::new("nowhere"), "bert:x", options, || Err(reason))
        };
        let error = load(in_bf16()).unwrap_err();
        assert!(matches!(error, BertError::NoBf16 { source } if source == reason), "{error}");
        assert_eq!(
            (error.kind(), error.remedy()),
            (crate::error::ErrorKind::Usage, Some(Remedy::ComputeInF32))
        );
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, reason.to_string());
        // Who does not ask for it does not need it.
        let error = load(BertOptions::default()).unwrap_err();
        assert!(matches!(error, BertError::MissingFile { .. }), "{error}");
    }
    if Bf16::detect().is_ok() {
        for family in ["modernbert", "nomic_bert", "qwen3"] {
            let error = BertEmbedder::load(&folder(family), "bert:x", in_bf16()).unwrap_err();
            assert!(matches!(error, BertError::OnlyF32 { .. }), "{error}");
        }
    }
}

#[test]
fn a_long_text_is_windowed_truncated_or_refused() {
    let long = "abcdefghij ".repeat(10); // 100 letters, the model takes 38
    let short = &long[..41]; // its first 38 letters
    let windowed = load("bert", BertOptions::default());
    let result = windowed.embed(&["ab", &long], &NoProgress).unwrap();
    assert_eq!(result.long_texts, 1);

    let truncated = load("bert", truncating());
    let result = truncated.embed(&["ab", &long], &NoProgress).unwrap();
    assert_eq!(result.long_texts, 1);
    let Vectors::Dense(rows) = result.vectors else { panic!("dense expected") };
    assert_eq!(rows.row(1), embed(&truncated, &[short]).row(0));
    assert_ne!(rows.row(1), embed(&windowed, &[&long]).row(0));

    let options = BertOptions { long_text: LongText::Error, ..BertOptions::default() };
    let error = load("bert", options).embed(&["ab", &long], &NoProgress).unwrap_err();
    assert!(matches!(error, EmbedError::TooLong { index: 1, tokens: 102, limit: 40 }), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::ChooseLongText));
}

#[test]
fn windows_are_pooled_by_their_tokens() {
    let embedder = load("bert", BertOptions::default());
    let long = "abcdefghij ".repeat(5); // 50 letters: windows of 38 and 12
    let (first, second) = (embed(&embedder, &[&long[..41]]), embed(&embedder, &["ijabcdefghij"]));
    // "ij" begins a word in the second text but continues one in the window, so build it from ids.
    let ids = embedder.tokenizer().encode(long.as_str(), false).unwrap().get_ids().to_vec();
    assert_eq!(ids.len(), 50);
    let sequence = [&[2], &ids[38..], &[3]].concat();
    let mean = embedder.mean_hidden_states(&[sequence], &NoProgress).unwrap();
    let norm = mean.row(0).iter().map(|value| value * value).sum::<f64>().sqrt();
    let sum: Vec<f64> = first
        .row(0)
        .iter()
        .zip(mean.row(0))
        .map(|(first, mean)| 38.0 * first + 12.0 * mean / norm)
        .collect();
    let norm = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
    let expected: Vec<f64> = sum.iter().map(|value| value / norm).collect();
    assert_close(embed(&embedder, &[&long]).row(0), &expected, "windows");
    assert_ne!(second.row(0), mean.row(0));
}

#[test]
fn a_text_without_a_known_token_gets_the_zero_vector() {
    for family in FAMILIES {
        let embedder = load(family, BertOptions::default());
        let vectors = embed(&embedder, &["", "  \n", "漢字 漢", "word"]);
        for row in 0..2 {
            assert!(vectors.row(row).iter().all(|&value| value == 0.0), "{family} {row}");
        }
        // Unigram sees a known word boundary before the unknown sign, and bytes are known.
        if !["xlm-roberta", "qwen3"].contains(&family) {
            assert!(vectors.row(2).iter().all(|&value| value == 0.0), "{family}");
        }
        let norm: f64 = vectors.row(3).iter().map(|value| value * value).sum();
        assert!((norm - 1.0).abs() < 1e-12, "{family}");
    }
}

#[test]
fn progress_hears_of_every_text_once() {
    struct Count(AtomicU64);
    impl Progress for Count {
        fn advance(&self, items: u64) {
            self.0.fetch_add(items, Ordering::Relaxed);
        }
    }
    let count = Count(AtomicU64::new(0));
    let long = "abcdefghij ".repeat(10);
    load("bert", BertOptions::default()).embed(&["a", "", &long, "b"], &count).unwrap();
    assert_eq!(count.0.into_inner(), 4);
}

#[test]
fn modernbert_configs_of_transformers_4_and_5_mean_the_same() {
    let old = changed("modernbert", "config.json", |config| {
        let config = config.as_object_mut().unwrap();
        config.remove("rope_parameters");
        config.remove("layer_types");
        config.insert("global_rope_theta".into(), json!(160_000.0));
        config.insert("local_rope_theta".into(), json!(10_000.0));
        config.insert("global_attn_every_n_layers".into(), json!(3));
        config.insert("layer_norm_eps".into(), json!(1e-5));
    });
    let old = BertEmbedder::load(old.path(), "bert:old", BertOptions::default()).unwrap();
    let new = load("modernbert", BertOptions::default());
    let text = ["the quick brown fox jumps over it"];
    assert_eq!(embed(&old, &text), embed(&new, &text));
}

#[test]
fn a_rope_that_is_not_in_the_config_is_refused_not_guessed() {
    let folder = changed("modernbert", "config.json", |config| {
        config.as_object_mut().unwrap().remove("rope_parameters");
    });
    let error = refused(folder.path());
    assert!(matches!(error, BertError::MissingKey { key: "rope_parameters", .. }), "{error}");
}

#[test]
fn the_activation_of_the_config_is_the_one_computed() {
    let text = ["the quick brown fox"];
    let erf = embed(&load("bert", BertOptions::default()), &text);
    for (name, differs) in [("gelu_new", true), ("relu", true), ("gelu", false)] {
        let folder = changed("bert", "config.json", |config| config["hidden_act"] = json!(name));
        let other = BertEmbedder::load(folder.path(), "bert:x", BertOptions::default()).unwrap();
        assert_eq!(embed(&other, &text) != erf, differs, "{name}");
    }
}

#[test]
fn configs_that_would_change_a_vector_and_are_not_understood_are_refused() {
    for (key, value) in [
        ("model_type", json!("t5")),
        ("hidden_act", json!("silu")),
        ("position_embedding_type", json!("relative_key")),
        ("is_decoder", json!(true)),
        ("num_attention_heads", json!(3)),
    ] {
        let folder = changed("bert", "config.json", |config| config[key] = value);
        let error = refused(folder.path());
        assert!(matches!(error, BertError::Unsupported { .. }), "{key}: {error}");
        assert!(error.to_string().contains(';'), "no remedy: {error}");
    }
    for key in ["layer_norm_eps", "hidden_act", "hidden_size", "max_position_embeddings"] {
        let folder = changed("bert", "config.json", |config| {
            config.as_object_mut().unwrap().remove(key);
        });
        let error = refused(folder.path());
        assert!(matches!(error, BertError::MissingKey { .. }), "{key}: {error}");
    }
}

#[test]
fn modules_and_poolings_that_are_not_computed_are_refused() {
    let folder = changed("bert", "modules.json", |modules| {
        modules[2]["type"] = json!("sentence_transformers.models.LSTM");
    });
    assert!(matches!(refused(folder.path()), BertError::Unsupported { key: "type", .. }));
    let folder = changed("bert-dense", "2_Dense/config.json", |dense| {
        dense["activation_function"] = json!("torch.nn.modules.activation.ReLU");
    });
    let error = refused(folder.path());
    assert!(matches!(error, BertError::Unsupported { key: "activation_function", .. }), "{error}");
    for mode in [json!("weightedmean"), json!(["mean", "cls"])] {
        let folder = changed("bert", "1_Pooling/config.json", |pooling| {
            pooling["pooling_mode"] = mode;
        });
        let error = refused(folder.path());
        assert!(matches!(error, BertError::Unsupported { key: "pooling_mode", .. }), "{error}");
        // The override makes the model usable.
        let options = BertOptions { pooling: Some(Pooling::Mean), ..BertOptions::default() };
        assert!(BertEmbedder::load(folder.path(), "bert:x", options).is_ok());
    }
    let folder = changed("bert", "config_sentence_transformers.json", |config| {
        config["default_prompt_name"] = json!("nothing");
    });
    let error = refused(folder.path());
    // There is no prompt of that name.
    assert!(matches!(error, BertError::MissingKey { key: "default_prompt_name", .. }), "{error}");
}

#[test]
fn a_length_beyond_the_vector_cuts_nothing_and_nothing_is_no_length() {
    let folder = changed("bert", "config_sentence_transformers.json", |config| {
        config["truncate_dim"] = json!(64);
    });
    let whole = BertEmbedder::load(folder.path(), "bert:x", BertOptions::default()).unwrap();
    assert_eq!(whole.dims(), 16);
    let folder = changed("bert", "config_sentence_transformers.json", |config| {
        config["truncate_dim"] = json!(null);
    });
    assert!(BertEmbedder::load(folder.path(), "bert:x", BertOptions::default()).is_ok());
}

#[test]
fn a_transformer_in_a_folder_of_its_own_gives_the_same_vectors() {
    let folder = changed("bert", "modules.json", |modules| {
        modules[0]["path"] = json!("0_Transformer");
    });
    let inner = folder.path().join("0_Transformer");
    std::fs::create_dir(&inner).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_file() && name != "modules.json" && name != "config_sentence_transformers.json" {
            std::fs::rename(&path, inner.join(name)).unwrap();
        }
    }
    let old = BertEmbedder::load(folder.path(), "bert:x", BertOptions::default()).unwrap();
    let text = ["the cat"];
    assert_eq!(embed(&old, &text), embed(&load("bert", BertOptions::default()), &text));
    // A path leads to no other folder.
    let folder = changed("bert", "modules.json", |modules| {
        modules[0]["path"] = json!("../elsewhere");
    });
    assert!(matches!(refused(folder.path()), BertError::Unsupported { key: "path", .. }));
}

#[test]
fn the_old_form_of_the_pooling_config_is_read() {
    let folder = changed("bert", "1_Pooling/config.json", |pooling| {
        *pooling = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    });
    let embedder = BertEmbedder::load(folder.path(), "bert:x", BertOptions::default()).unwrap();
    assert_eq!(embedder.pooling(), Pooling::Cls);
}

#[test]
fn a_model_without_a_word_on_pooling_needs_the_override() {
    let folder = changed("bert", "config.json", |_| {});
    std::fs::remove_file(folder.path().join("modules.json")).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, BertError::NoPooling { .. }), "{error}");
    let options = BertOptions { pooling: Some(Pooling::Mean), ..BertOptions::default() };
    let embedder = BertEmbedder::load(folder.path(), "bert:x", options).unwrap();
    let (text, original) = (["the cat"], load("bert", BertOptions::default()));
    assert_eq!(embed(&embedder, &text), embed(&original, &text));
}

#[test]
fn missing_and_damaged_files_are_named() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(empty.path()).to_string().contains("config.json"));
    for file in ["tokenizer.json", "model-00001-of-00003.safetensors"] {
        let folder = changed("bert", "config.json", |_| {});
        std::fs::remove_file(folder.path().join(file)).unwrap();
        assert!(refused(folder.path()).to_string().contains(file));
    }
    let folder = changed("modernbert", "config.json", |_| {});
    let weights = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &bytes[..bytes.len() - 100]).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, BertError::DamagedWeights { .. }), "{error}");
    std::fs::write(&weights, [255; 20]).unwrap();
    assert!(matches!(refused(folder.path()), BertError::DamagedWeights { .. }));
    std::fs::write(&weights, [255; 3]).unwrap();
    assert!(matches!(refused(folder.path()), BertError::Read { .. }));
}

#[test]
fn weights_that_do_not_fit_the_config_are_refused() {
    let folder = changed("bert", "config.json", |config| config["vocab_size"] = json!(99));
    assert!(matches!(refused(folder.path()), BertError::WeightShape { .. }));
    let folder = changed("bert", "config.json", |config| config["num_hidden_layers"] = json!(3));
    assert!(matches!(refused(folder.path()), BertError::MissingWeight { .. }));
    // One layer of two would silently compute another model.
    let folder = changed("bert", "config.json", |config| config["num_hidden_layers"] = json!(1));
    assert!(matches!(refused(folder.path()), BertError::UnknownWeight { .. }));
    let folder = changed("modernbert", "config.json", |config| {
        config["num_hidden_layers"] = json!(3);
        config["layer_types"].as_array_mut().unwrap().pop();
    });
    assert!(matches!(refused(folder.path()), BertError::MissingWeight { .. }));
}

#[test]
fn a_shard_outside_the_models_folder_is_refused() {
    let folder = changed("bert", "model.safetensors.index.json", |index| {
        let map = index["weight_map"].as_object_mut().unwrap();
        map.insert("x".into(), json!("../../model.safetensors"));
    });
    assert!(matches!(refused(folder.path()), BertError::Unsupported { key: "weight_map", .. }));
}

#[test]
fn raw_sequences_out_of_range_are_refused() {
    let embedder = load("bert", BertOptions::default());
    let run = |ids: Vec<u32>| embedder.mean_hidden_states(&[ids], &NoProgress).unwrap_err();
    assert!(matches!(run(vec![]), BertError::SequenceLength { tokens: 0, limit: 40 }));
    assert!(matches!(run(vec![5; 41]), BertError::SequenceLength { tokens: 41, .. }));
    assert!(matches!(run(vec![57]), BertError::TokenOutOfRange { id: 57, vocabulary: 57 }));
}
