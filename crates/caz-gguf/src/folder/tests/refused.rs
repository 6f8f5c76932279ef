//! What is refused, and by what name.

use super::*;

#[test]
fn a_folder_says_what_it_needs() {
    let about = Model::describe(&fixtures().join("llama")).unwrap();
    assert_eq!((about.architecture.as_str(), about.context), ("llama", 600));
    // Keys and values of 2 layers, 2 heads and 8 numbers of 2 bytes.
    assert_eq!(about.bytes_per_token, 2 * 2 * 2 * 8 * 2);
    let bytes: u64 = [1, 2]
        .map(|n| fixtures().join(format!("llama/model-0000{n}-of-00002.safetensors")))
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    assert_eq!(about.bytes, bytes);
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
    assert!(matches!(copy.open(), Err(ModelError::File { .. })));
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
