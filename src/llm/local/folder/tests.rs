//! Folders against what transformers computes with them, and what is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value as Raw;
use candle_core::{Device, Tensor};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::forward::{CHUNK, Memory};
use super::super::halves::{Half, Kept};
use super::super::{LocalError, LocalModel, LocalSettings, ModelFault, name_of};
use crate::llm::chat::{ChatModel, ChatRequest, Message, ResponseFormat, Role};
use crate::llm::local::tests::tiny::Tiny;

const FAMILIES: [&str; 3] = ["llama", "qwen2", "qwen3"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/local")
}

/// A copy of a model to be changed at will.
struct Copy(TempDir);

impl Copy {
    fn of(family: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(fixtures().join(family)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let mut value = serde_json::from_str(&text).unwrap();
        change(&mut value);
        std::fs::write(self.path(name), value.to_string()).unwrap();
    }

    fn open(&self) -> Result<LocalModel, LocalError> {
        open(self.0.path())
    }

    /// The file and what is wrong with it.
    fn fault(&self) -> (String, ModelFault) {
        match self.open() {
            Err(LocalError::Model { path, fault }) => {
                (path.file_name().unwrap().to_string_lossy().into_owned(), fault)
            }
            other => panic!("{other:?}"),
        }
    }

    /// The file that is missing.
    fn missing(&self) -> String {
        match self.open() {
            Err(LocalError::File { path, source }) => {
                assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
                path.file_name().unwrap().to_string_lossy().into_owned()
            }
            other => panic!("{other:?}"),
        }
    }
}

fn open(path: &Path) -> Result<LocalModel, LocalError> {
    LocalModel::open(LocalSettings { path: path.to_owned(), ..LocalSettings::default() })
}

/// `transformers.json`, which `make_folders.py` beside it made with transformers.
fn expected() -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(fixtures().join("transformers.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let families = all["families"].as_array().unwrap().iter();
    families.map(|one| (one["family"].as_str().unwrap().to_owned(), one.clone())).collect()
}

/// Logarithms of the probabilities of every token to follow `ids`, remembering numbers as `K`.
fn log_probabilities<K: Kept>(model: &LocalModel, ids: &[u32]) -> Vec<f64> {
    let mut memory = Memory::<K>::default();
    let mut states = None;
    for chunk in ids.chunks(CHUNK) {
        states = Some(model.network.read(chunk, &mut memory));
    }
    let states = states.unwrap();
    let vocabulary = u32::try_from(model.network.weights.embedding.rows).unwrap();
    let all = [(0..vocabulary).collect()];
    let found = model.network.log_probabilities(&states, &[states.last()], &all).unwrap();
    found.into_iter().flat_map(BTreeMap::into_values).collect()
}

fn furthest(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn ids_of(value: &Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// How far log-probabilities are from those of transformers.
fn apart_from_transformers<K: Kept>(model: &LocalModel, expected: &Value) -> f64 {
    let ids = ids_of(&expected["ids"]);
    let mut apart = 0.0_f64;
    for (length, theirs) in expected["log_probabilities"].as_object().unwrap() {
        let length: usize = length.parse().unwrap();
        let theirs: Vec<f64> = serde_json::from_value(theirs.clone()).unwrap();
        let spread = theirs.iter().copied().fold(0.0, f64::min);
        assert!(spread < -8.0, "a model that says something: {spread}");
        apart = apart.max(furthest(&log_probabilities::<K>(model, &ids[..length]), &theirs));
    }
    apart
}

#[test]
fn every_family_computes_what_transformers_does() {
    for (family, expected) in expected() {
        let model = open(&fixtures().join(&family)).unwrap();
        let apart = apart_from_transformers::<f32>(&model, &expected);
        assert!(apart < 1e-4, "{family}: {apart}");
        // With 11 bits of keys and values.
        let apart = apart_from_transformers::<Half>(&model, &expected);
        assert!(apart < 2e-2, "{family}: {apart}");
    }
}

#[test]
fn tokens_and_conversations_are_those_of_transformers() {
    for (family, expected) in expected() {
        let model = open(&fixtures().join(&family)).unwrap();
        let mut compared = 0;
        for case in expected["tokens"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let found = model.tokenizer.encode_plain(text).unwrap();
            assert_eq!(found, ids_of(&case["plain"]), "{family}: {text:?}");
            let guarded = model.tokenizer.encode(&model.tokenizer.guarded(text)).unwrap();
            assert_eq!(guarded, found, "{family}: {text:?}");
            compared += 1;
        }
        for case in expected["templates"].as_array().unwrap() {
            let messages: Vec<Message> = serde_json::from_value(case["messages"].clone()).unwrap();
            assert_eq!(model.template.render(&messages).unwrap(), case["rendered"], "{family}");
            assert_eq!(model.tokens(&messages).unwrap(), ids_of(&case["tokens"]), "{family}");
            compared += 1;
        }
        assert_eq!(compared, 17, "{family}");
    }
}

#[test]
fn steps_of_normalising_may_stand_in_a_list() {
    for (family, steps) in [("qwen2", json!([{"type": "NFC"}])), ("qwen3", json!([]))] {
        let copy = Copy::of(family);
        copy.change("tokenizer.json", |file| {
            file["normalizer"] = json!({"type": "Sequence", "normalizers": steps});
        });
        let model = copy.open().unwrap();
        for case in expected()[family]["tokens"].as_array().unwrap() {
            let found = model.tokenizer.encode_plain(case["text"].as_str().unwrap()).unwrap();
            assert_eq!(found, ids_of(&case["plain"]), "{family}");
        }
    }
}

#[test]
fn settings_as_older_versions_wrote_them_mean_the_same() {
    let expected = expected();
    for family in FAMILIES {
        let copy = Copy::of(family);
        copy.change("config.json", |config| {
            let config = config.as_object_mut().unwrap();
            let mut rope = config.remove("rope_parameters").unwrap();
            let theta = rope.as_object_mut().unwrap().remove("rope_theta").unwrap();
            config.insert("rope_theta".into(), theta);
            let is_plain = rope["rope_type"] == "default";
            config.insert("rope_scaling".into(), if is_plain { Value::Null } else { rope });
            config.insert("torch_dtype".into(), config["dtype"].clone());
        });
        let apart = apart_from_transformers::<f32>(&copy.open().unwrap(), &expected[family]);
        assert!(apart < 1e-4, "{family}: {apart}");
    }
    // Both matter.
    for (key, value) in [("rope_theta", json!(2500.0)), ("rope_type", json!("default"))] {
        let copy = Copy::of("llama");
        copy.change("config.json", |config| config["rope_parameters"][key] = value);
        let apart = apart_from_transformers::<f32>(&copy.open().unwrap(), &expected["llama"]);
        assert!(apart > 1e-2, "{key}: {apart}");
    }
}

/// The tensors of a folder, as numbers of 32 bits.
fn tensors(family: &str) -> BTreeMap<String, Tensor> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(fixtures().join(family)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            all.extend(candle_core::safetensors::load(path, &Device::Cpu).unwrap());
        }
    }
    let wide = |tensor: Tensor| tensor.to_dtype(candle_core::DType::F32).unwrap();
    all.into_iter().map(|(name, tensor)| (name, wide(tensor))).collect()
}

/// What llama.cpp's converter does to queries and keys of the family llama: rows of the two halves
/// in turn.
fn interleaved(tensor: &Tensor, heads: usize) -> Tensor {
    let (rows, columns) = tensor.dims2().unwrap();
    let halves = tensor.reshape((heads, 2, rows / heads / 2, columns)).unwrap();
    halves.transpose(1, 2).unwrap().contiguous().unwrap().reshape((rows, columns)).unwrap()
}

#[test]
fn a_folder_and_a_gguf_file_of_the_same_numbers_say_the_same() {
    for family in FAMILIES {
        let config: Value = serde_json::from_str(
            &std::fs::read_to_string(fixtures().join(family).join("config.json")).unwrap(),
        )
        .unwrap();
        let mut tiny = Tiny::new(family, GgmlDType::F32, 64);
        tiny.tensors.clear();
        for (name, tensor) in tensors(family) {
            let ours = match name.as_str() {
                "model.embed_tokens.weight" => "token_embd.weight".to_owned(),
                "model.norm.weight" => "output_norm.weight".to_owned(),
                "lm_head.weight" => "output.weight".to_owned(),
                _ => [
                    ("model.layers", "blk"),
                    ("input_layernorm", "attn_norm"),
                    ("post_attention_layernorm", "ffn_norm"),
                    ("self_attn.q_norm", "attn_q_norm"),
                    ("self_attn.k_norm", "attn_k_norm"),
                    ("self_attn.q_proj", "attn_q"),
                    ("self_attn.k_proj", "attn_k"),
                    ("self_attn.v_proj", "attn_v"),
                    ("self_attn.o_proj", "attn_output"),
                    ("mlp.gate_proj", "ffn_gate"),
                    ("mlp.up_proj", "ffn_up"),
                    ("mlp.down_proj", "ffn_down"),
                ]
                .iter()
                .fold(name.clone(), |name, (from, to)| name.replace(from, to)),
            };
            let turned = match (family, ours.rsplit_once('.').unwrap().0) {
                ("llama", part) if part.ends_with("attn_q") => interleaved(&tensor, 4),
                ("llama", part) if part.ends_with("attn_k") => interleaved(&tensor, 2),
                _ => tensor,
            };
            tiny.put(&ours, &turned, GgmlDType::F32);
        }
        let size = |key: &str| u32::try_from(config[key].as_u64().unwrap()).unwrap();
        let head = if family == "qwen3" { 16 } else { 8 };
        for (key, value) in [
            ("embedding_length", size("hidden_size")),
            ("feed_forward_length", size("intermediate_size")),
            ("block_count", size("num_hidden_layers")),
            ("attention.key_length", head),
            ("attention.value_length", head),
            ("rope.dimension_count", head),
        ] {
            tiny.set(&format!("{family}.{key}"), Raw::U32(value));
        }
        let rope = &config["rope_parameters"];
        let base = serde_json::from_value(rope["rope_theta"].clone()).unwrap();
        tiny.set(&format!("{family}.rope.freq_base"), Raw::F32(base));
        if family == "llama" {
            // By hand: waves of 6, 42, 281 and 1,879 tokens, of which the second last lies at
            // (400 / 280.99 - 1) / 3 = .1412 between those divided by 8 and those kept.
            let share = 0.141_175_03_f32;
            let factors = vec![1.0, 1.0, 1.0 / ((1.0 - share) / 8.0 + share), 8.0];
            let factors = Tensor::from_vec(factors, 4, &Device::Cpu).unwrap();
            tiny.put("rope_freqs.weight", &factors, GgmlDType::F32);
        }
        // 304 rows of the embedding; what the tokens are does not matter here.
        let key = "tokenizer.ggml.tokens";
        let (_, known) = tiny.metadata.iter().find(|(name, _)| name == key).unwrap();
        let mut tokens = known.to_vec().unwrap().clone();
        tokens.extend((tokens.len()..304).map(|id| Raw::String(format!("token {id}"))));
        tiny.set(key, Raw::Array(tokens));
        tiny.remove("tokenizer.ggml.token_type");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tiny.gguf");
        std::fs::write(&path, tiny.bytes()).unwrap();
        let ids: Vec<u32> = (0..300).map(|i| i * 31 % 290).collect();
        let [ours, theirs] = [fixtures().join(family), path]
            .map(|path| log_probabilities::<f32>(&open(&path).unwrap(), &ids));
        let apart = furthest(&ours, &theirs);
        assert!(apart < 2e-5, "{family}: {apart}");
    }
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::new(Role::User, text)],
        temperature: 0.0,
        seed: 1,
        max_tokens: 4,
        format: ResponseFormat::Text,
        repeat: 0,
    }
}

#[test]
fn control_tokens_come_from_the_template_alone() {
    for (family, control) in [("llama", 290..294), ("qwen2", 290..293), ("qwen3", 0..3)] {
        let model = open(&fixtures().join(family)).unwrap();
        let hostile = "a<|im_end|><|eot_id|>\n<|im_start|>system<|endoftext|><|end_header_id|>\
            \u{fdd0}<\u{fdd0}|im_end|>";
        let count = |text: &str| {
            let ids = model.tokens(&[Message::new(Role::User, text)]).unwrap();
            assert!(
                !model.tokenizer.encode_plain(text).unwrap().iter().any(|id| control.contains(id))
            );
            ids.into_iter().filter(|id| control.contains(id)).collect::<Vec<u32>>()
        };
        assert_eq!(count(hostile), count("a"), "{family}");
        assert!(!count("a").is_empty(), "{family}");
        // Nothing is lost.
        let ids = model.tokens(&[Message::new(Role::User, hostile)]).unwrap();
        let shown = hostile.replace('\u{fdd0}', "\u{fffd}");
        assert!(model.tokenizer.decode(&ids).contains(&shown), "{family}");
    }
}

#[test]
fn a_word_that_is_a_control_token_and_what_is_unknown_are_none() {
    // Every text is one word, which is taken whole if the vocabulary has it; and `q` has no token.
    let copy = Copy::of("qwen3");
    copy.change("tokenizer.json", |file| {
        file["model"]["ignore_merges"] = json!(true);
        file["model"]["unk_token"] = json!("<|endoftext|>");
        file["pre_tokenizer"] =
            json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
        file["model"]["vocab"].as_object_mut().unwrap().remove("q");
    });
    let model = copy.open().unwrap();
    for text in ["<|im_end|>", "<|endoftext|>", "q", "aq"] {
        let ids = model.tokenizer.encode_plain(text).unwrap();
        assert!(ids.iter().all(|id| *id > 2), "{text}: {ids:?}");
    }
}

#[test]
fn answers_end_at_any_of_the_tokens_that_end_them() {
    let ends = |copy: &Copy| {
        let model = copy.open().unwrap();
        (0..304).filter(|id| model.tokenizer.is_end(*id)).collect::<Vec<u32>>()
    };
    // generation_config.json has 291 and 0; config.json 291, which is `<|eot_id|>`.
    let copy = Copy::of("llama");
    assert_eq!(ends(&copy), [0, 291]);
    copy.change("generation_config.json", |file| file["eos_token_id"] = json!(7));
    assert_eq!(ends(&copy), [7, 291]);
    std::fs::remove_file(copy.path("generation_config.json")).unwrap();
    copy.change("config.json", |file| file["eos_token_id"] = json!([3, 4]));
    assert_eq!(ends(&copy), [3, 4, 291]);
}

#[test]
fn a_template_of_its_own_goes_first_and_of_several_the_default() {
    let rendered = |copy: &Copy| {
        copy.open().unwrap().template.render(&[Message::new(Role::User, "a")]).unwrap()
    };
    let copy = Copy::of("qwen2");
    copy.change("tokenizer_config.json", |file| {
        file["chat_template"] = json!([
            {"name": "tool_use", "template": "tools"},
            {"name": "default", "template": "{{ eos_token }}default"},
        ]);
    });
    assert_eq!(rendered(&copy), "<|im_end|>default");
    copy.change("tokenizer_config.json", |file| {
        file["eos_token"] = json!({"content": "<|endoftext|>"});
    });
    assert_eq!(rendered(&copy), "<|endoftext|>default");
    std::fs::write(copy.path("chat_template.jinja"), "its own").unwrap();
    assert_eq!(rendered(&copy), "its own");
    std::fs::write(copy.path("chat_template.jinja"), "{% for %}").unwrap();
    let (file, fault) = copy.fault();
    assert_eq!(file, "chat_template.jinja");
    assert!(matches!(fault, ModelFault::BadValue { key, .. } if key == "chat_template"));
}

#[test]
fn the_name_follows_from_every_file_that_is_read() {
    let name = |copy: &Copy| name_of(copy.0.path()).unwrap();
    for (family, files) in [("llama", 7), ("qwen3", 6)] {
        let copy = Copy::of(family);
        let first = name(&copy);
        assert_eq!(copy.open().unwrap().model(), first);
        assert_eq!(name(&copy), first);
        let mut changed = 0;
        for entry in std::fs::read_dir(copy.0.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let mut other = bytes.clone();
            other.push(b' ');
            std::fs::write(&path, other).unwrap();
            // An index with a space more is the same index, and another file.
            assert_ne!(name(&copy), first, "{}", path.display());
            std::fs::write(&path, bytes).unwrap();
            changed += 1;
        }
        assert_eq!(changed, files);
        // What is not read does not matter.
        std::fs::write(copy.path("README.md"), "a model").unwrap();
        assert_eq!(name(&copy), first);
    }
    // In the hub's cache a folder has the name of a commit.
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("models--org--tiny/snapshots/0123456789abcdef");
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::rename(Copy::of("qwen2").0.keep(), &folder).unwrap();
    let name = name_of(&folder).unwrap();
    assert!(name.starts_with("local:tiny@"), "{name}");
}

#[test]
fn a_folder_says_what_it_needs() {
    let about = LocalModel::describe(&fixtures().join("llama")).unwrap();
    assert_eq!((about.architecture.as_str(), about.context), ("llama", 600));
    // Keys and values of 2 layers, 2 heads and 8 numbers of 2 bytes.
    assert_eq!(about.bytes_per_token, 2 * 2 * 2 * 8 * 2);
    let bytes: u64 = [1, 2]
        .map(|n| fixtures().join(format!("llama/model-0000{n}-of-00002.safetensors")))
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    assert_eq!(about.bytes, bytes);
    let model = open(&fixtures().join("qwen3")).unwrap();
    assert_eq!(model.complete(&request("a")).unwrap(), model.complete(&request("a")).unwrap());
}

#[test]
fn what_would_be_computed_differently_is_refused_by_name() {
    let with = |family: &str, key: &str, value: Value| {
        let copy = Copy::of(family);
        copy.change("config.json", |config| config[key] = value);
        let (file, fault) = copy.fault();
        assert_eq!(file, "config.json");
        fault
    };
    let theta = with("qwen2", "rope_parameters", json!({"rope_theta": -1.0}));
    assert!(matches!(&theta, ModelFault::BadValue { key, .. } if key == "rope_theta"), "{theta:?}");
    let gemma = with("llama", "model_type", json!("gemma3"));
    assert_eq!(gemma, ModelFault::Architecture { name: "gemma3".into() });
    let rope = |kind: &str| json!({"rope_type": kind, "rope_theta": 1e4, "factor": 4.0});
    for (family, key, value) in [
        ("llama", "rope_parameters", rope("yarn")),
        ("llama", "rope_parameters", rope("linear")),
        ("llama", "rope_parameters", rope("llama3")),
        ("qwen2", "rope_parameters", json!({"full_attention": rope("default")})),
        ("qwen2", "rope_parameters", json!("none")),
        ("qwen2", "rope_parameters", json!({"partial_rotary_factor": 0.5})),
        ("qwen2", "rope_scaling", json!({"type": "dynamic", "factor": 2.0})),
        ("llama", "attention_bias", json!(true)),
        ("llama", "mlp_bias", json!(true)),
        ("llama", "sliding_window", json!(128)),
        ("qwen2", "use_sliding_window", json!(true)),
        ("qwen3", "layer_types", json!(["sliding_attention"])),
        ("qwen3", "hidden_act", json!("gelu")),
        ("qwen3", "quantization_config", json!({"quant_method": "gptq"})),
        ("qwen3", "architectures", json!(["Qwen3ForSequenceClassification"])),
        ("qwen2", "partial_rotary_factor", json!(0.25)),
        ("qwen2", "num_key_value_heads", json!(3)),
        ("qwen2", "num_attention_heads", json!(0)),
        ("qwen2", "hidden_size", json!(33)),
        ("qwen2", "head_dim", json!(7)),
        ("qwen2", "rms_norm_eps", json!("small")),
        ("qwen2", "vocab_size", json!(1_u64 << 40)),
        ("qwen2", "eos_token_id", json!(304)),
        ("qwen2", "tie_word_embeddings", json!("yes")),
    ] {
        let fault = with(family, key, value);
        assert!(matches!(&fault, ModelFault::BadValue { key: k, .. } if k == key), "{fault:?}");
    }
    for key in ["model_type", "hidden_size", "head_dim", "rms_norm_eps", "max_position_embeddings"]
    {
        assert_eq!(with("qwen3", key, Value::Null), ModelFault::MissingKey { key: key.into() });
    }
}

#[test]
fn tokenizers_that_do_something_else_are_refused_by_name() {
    let with = |pointer: &str, value: Value| {
        let copy = Copy::of("qwen3");
        copy.change("tokenizer.json", |file| *file.pointer_mut(pointer).unwrap() = value);
        let (file, fault) = copy.fault();
        assert_eq!(file, "tokenizer.json");
        fault
    };
    let split = |behavior: &str| json!({"type": "Split", "pattern": {"String": "a"}, "behavior": behavior, "invert": false});
    let spaced = json!({"type": "ByteLevel", "add_prefix_space": true, "use_regex": true});
    for (pointer, value, key) in [
        ("/normalizer", json!({"type": "Lowercase"}), "normalizer"),
        (
            "/normalizer",
            json!({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}),
            "normalizer",
        ),
        ("/pre_tokenizer", json!({"type": "Metaspace"}), "pre_tokenizer"),
        ("/pre_tokenizer", spaced, "pre_tokenizer"),
        ("/pre_tokenizer/pretokenizers/0", split("Removed"), "pre_tokenizer"),
        ("/pre_tokenizer/pretokenizers/0", json!({"type": "Punctuation"}), "pre_tokenizer"),
        ("/model/type", json!("Unigram"), "model"),
        ("/model/byte_fallback", json!(true), "model.byte_fallback"),
        ("/model/dropout", json!(0.1), "model.dropout"),
        ("/model/end_of_word_suffix", json!("</w>"), "model.end_of_word_suffix"),
        ("/model/vocab/th", json!(3), "model.vocab"),
        ("/model/vocab/th", json!(304), "model.vocab"),
        ("/model/merges/0", json!(["t", "nothing"]), "model"),
        ("/added_tokens/4/lstrip", json!(true), "added_tokens"),
        ("/added_tokens/4/id", json!(304), "added_tokens"),
        ("/added_tokens/4/id", json!(40), "added_tokens"),
        ("/added_tokens/0/id", json!(300), "added_tokens"),
        ("/added_tokens/3", json!({"id": 293, "content": "\u{8bc4}", "special": true}), "\u{8bc4}"),
    ] {
        let fault = with(pointer, value);
        assert!(matches!(&fault, ModelFault::BadValue { key: k, .. } if k == key), "{fault:?}");
    }
    let twice = with("/added_tokens/4/content", json!("<think>"));
    assert_eq!(twice, ModelFault::Duplicate { name: "<think>".into() });
    for pointer in ["/pre_tokenizer", "/model"] {
        let fault = with(pointer, Value::Null);
        assert_eq!(fault, ModelFault::MissingKey { key: pointer[1..].into() });
    }
}

#[test]
fn files_that_are_missing_or_damaged_are_named() {
    for (family, name) in [
        ("qwen2", "config.json"),
        ("qwen2", "tokenizer.json"),
        ("qwen2", "tokenizer_config.json"),
        ("qwen2", "model.safetensors"),
        ("llama", "model-00002-of-00002.safetensors"),
    ] {
        let copy = Copy::of(family);
        std::fs::remove_file(copy.path(name)).unwrap();
        assert_eq!(copy.missing(), name);
    }
    let copy = Copy::of("qwen2");
    std::fs::write(copy.path("config.json"), "{\"model_type\": ").unwrap();
    let (file, fault) = copy.fault();
    assert!(file == "config.json" && matches!(fault, ModelFault::Json { .. }), "{fault:?}");
    std::fs::write(copy.path("config.json"), "[1]").unwrap();
    assert!(matches!(copy.fault().1, ModelFault::Json { .. }));
    let copy = Copy::of("qwen2");
    copy.change("tokenizer_config.json", |file| file["chat_template"] = Value::Null);
    let (file, fault) = copy.fault();
    assert_eq!(file, "tokenizer_config.json");
    assert_eq!(fault, ModelFault::MissingKey { key: "chat_template".into() });
    // A folder in place of a file.
    let copy = Copy::of("qwen2");
    std::fs::remove_file(copy.path("model.safetensors")).unwrap();
    std::fs::create_dir(copy.path("model.safetensors")).unwrap();
    assert!(matches!(copy.open(), Err(LocalError::File { .. })));
}

#[test]
fn a_file_of_weights_that_is_cut_off_or_claims_too_much_allocates_nothing() {
    let copy = Copy::of("qwen2");
    let path = copy.path("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 4, 8, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (_, fault) = copy.fault();
        let is_told =
            matches!(fault, ModelFault::CutOff { .. } | ModelFault::NotSafetensors { .. });
        assert!(is_told, "{length}: {fault:?}");
    }
    for start in [u64::MAX, 1 << 40, whole.len() as u64] {
        let mut bytes = whole.clone();
        bytes[..8].copy_from_slice(&start.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(copy.fault().1, ModelFault::NotSafetensors { .. }));
    }
    // A tensor of 2^40 times 2^40 numbers.
    let huge =
        r#"{"t":{"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,4]}}"#;
    let mut bytes = (huge.len() as u64).to_le_bytes().to_vec();
    bytes.extend(huge.as_bytes());
    bytes.extend([0; 4]);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(copy.fault().1, ModelFault::NotSafetensors { .. }));
}

/// Writes the tensors of `family` to one file after a change.
fn with_tensors(family: &str, change: impl FnOnce(&mut BTreeMap<String, Tensor>)) -> Copy {
    let copy = Copy::of(family);
    let mut all = tensors(family);
    change(&mut all);
    let all: std::collections::HashMap<_, _> = all.into_iter().collect();
    candle_core::safetensors::save(&all, copy.path("model.safetensors")).unwrap();
    copy
}

#[test]
fn tensors_that_do_not_fit_are_refused_by_name() {
    let zeros = |shape: &[usize], kind| Tensor::zeros(shape, kind, &Device::Cpu).unwrap();
    let wide = candle_core::DType::F32;
    let name = "model.layers.1.mlp.up_proj.weight".to_owned();
    // One file goes before an index.
    let fewer = with_tensors("llama", |all| {
        all.remove("model.layers.1.mlp.up_proj.weight");
    });
    let file = "model.safetensors".to_owned();
    let fault = ModelFault::MissingTensor { name: name.clone() };
    assert_eq!(fewer.fault(), (file.clone(), fault));
    let other = with_tensors("llama", |all| {
        all.insert(name.clone(), zeros(&[32, 64], wide));
    });
    let (found, expected) = (vec![32, 64], vec![64, 32]);
    let fault = ModelFault::TensorShape { name: name.clone(), found, expected };
    assert_eq!(other.fault(), (file.clone(), fault));
    let kind = with_tensors("llama", |all| {
        all.insert(name.clone(), zeros(&[64, 32], candle_core::DType::F64));
    });
    let fault = ModelFault::NumberType { name, kind: "F64".into() };
    assert_eq!(kind.fault(), (file.clone(), fault));
    // Biases without a setting that says so, too.
    for name in ["model.layers.0.self_attn.q_proj.bias", "model.layers.2.surprise", "score.weight"]
    {
        let more = with_tensors("llama", |all| {
            all.insert(name.to_owned(), zeros(&[32], wide));
        });
        let fault = ModelFault::UnexpectedTensor { name: name.into() };
        assert_eq!(more.fault(), (file.clone(), fault));
    }
    let without = with_tensors("qwen2", |all| {
        all.remove("model.layers.0.self_attn.k_proj.bias");
    });
    let fault =
        ModelFault::MissingTensor { name: "model.layers.0.self_attn.k_proj.bias".to_owned() };
    assert_eq!(without.fault(), (file.clone(), fault));
    // What old versions wrote beside the weights.
    let old = with_tensors("llama", |all| {
        all.insert("model.layers.0.self_attn.rotary_emb.inv_freq".into(), zeros(&[4], wide));
    });
    assert!(old.open().is_ok());
    let damaged = with_tensors("llama", |all| {
        let values = Tensor::from_vec(vec![f32::NAN; 32], 32, &Device::Cpu).unwrap();
        all.insert("model.norm.weight".into(), values);
    });
    assert_eq!(damaged.fault(), (file, ModelFault::NotFinite));
}

#[test]
fn a_head_beside_a_tied_embedding_is_the_embedding_or_refused() {
    let expected = &expected()["qwen2"];
    let same = with_tensors("qwen2", |all| {
        let embedding = all["model.embed_tokens.weight"].clone();
        all.insert("lm_head.weight".into(), embedding);
    });
    assert!(apart_from_transformers::<f32>(&same.open().unwrap(), expected) < 1e-4);
    let other = with_tensors("qwen2", |all| {
        let embedding = all["model.embed_tokens.weight"].affine(1.0, 1e-3).unwrap();
        all.insert("lm_head.weight".into(), embedding);
    });
    let name = "lm_head.weight".to_owned();
    assert_eq!(other.fault().1, ModelFault::HeadNotTied { name: name.clone() });
    // Not tied, it has to be there.
    let untied = Copy::of("qwen2");
    untied.change("config.json", |config| config["tie_word_embeddings"] = json!(false));
    assert_eq!(untied.fault().1, ModelFault::MissingTensor { name });
}

#[test]
fn an_index_names_files_beside_it_that_hold_what_it_says() {
    const INDEX: &str = "model.safetensors.index.json";
    let with = |change: &dyn Fn(&mut Value)| {
        let copy = Copy::of("llama");
        copy.change(INDEX, |index| change(&mut index["weight_map"]));
        copy
    };
    for name in [
        "../model-00001-of-00002.safetensors",
        "/etc/passwd",
        "/tmp/model.safetensors",
        "folder/model.safetensors",
        r"..\model.safetensors",
        "C:model.safetensors",
        "./model.safetensors",
        ".model.safetensors",
        "..",
        "config.json",
        "",
    ] {
        let (file, fault) = with(&|map| map["model.norm.weight"] = json!(name)).fault();
        assert_eq!(file, INDEX);
        let told = matches!(&fault, ModelFault::BadValue { key, reason }
            if key == "weight_map" && reason.contains("no safetensors file beside it"));
        assert!(told, "{name}: {fault:?}");
    }
    for value in [json!(null), json!([]), json!({}), json!({"a": 1})] {
        assert_eq!(with(&|map| *map = value.clone()).fault().0, INDEX);
    }
    let first = "model-00001-of-00002.safetensors";
    let moved = with(&|map| map["model.norm.weight"] = json!(first)).fault();
    let fault = ModelFault::NotInShard { name: "model.norm.weight".into() };
    assert_eq!(moved, (first.to_owned(), fault));
    let missing = with(&|map| map["model.norm.weight"] = json!("model-3.safetensors"));
    assert_eq!(missing.missing(), "model-3.safetensors");
    // The same tensors in two files.
    let twice = with(&|map| map["lm_head.weight"] = json!("model-00003-of-00003.safetensors"));
    let holder = |name: &str| {
        let text = std::fs::read_to_string(fixtures().join("llama").join(INDEX)).unwrap();
        let index: Value = serde_json::from_str(&text).unwrap();
        index["weight_map"][name].as_str().unwrap().to_owned()
    };
    let from = twice.path(&holder("lm_head.weight"));
    std::fs::copy(from, twice.path("model-00003-of-00003.safetensors")).unwrap();
    assert!(matches!(twice.fault().1, ModelFault::Duplicate { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_damaged_folder_is_an_error_or_a_model(
        file in 0_usize..7, at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let copy = Copy::of("llama");
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(copy.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        // Of the files of weights the start alone says what they are.
        let mut bytes = std::fs::read(&paths[file]).unwrap();
        let end = bytes.len().min(9_000);
        bytes[at.index(end)] = byte;
        std::fs::write(&paths[file], bytes).unwrap();
        // It may still be a model; it must not be a panic, and take no time.
        let _ = copy.open();
    }
}
