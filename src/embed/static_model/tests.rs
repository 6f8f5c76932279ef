use super::*;
use crate::data::progress::NoProgress;
use proptest::prelude::*;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

/// A tokenizer.json as that of uncased BERT, with another vocabulary.
fn tokenizer(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut file = json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1, "b": 2, "##c": 3}},
    });
    change(&mut file);
    serde_json::to_vec(&file).unwrap()
}

fn bytes<const N: usize, T, const M: usize>(values: [T; N], bytes: fn(T) -> [u8; M]) -> Vec<u8> {
    values.into_iter().flat_map(bytes).collect()
}

/// Tensors by name, type, shape and bytes, as a file.
fn file(tensors: &[(&str, Dtype, &[usize], Vec<u8>)]) -> Vec<u8> {
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        (*name, TensorView::new(*dtype, shape.to_vec(), bytes).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

/// `[UNK]` = (99, 99), a = (3, 0), b = (0, -4), ##c = (1, 1), of which three share rows.
fn small_tensors() -> [(&'static str, Dtype, &'static [usize], Vec<u8>); 2] {
    let rows = [99_i8, 99, 6, 0, 0, -4, 2, 2].map(i8::cast_unsigned).to_vec();
    let weights = bytes([1.0, 0.5, 1.0, 0.5], f32::to_le_bytes);
    [("embeddings", Dtype::I8, &[4, 2], rows), ("weights", Dtype::F32, &[4], weights)]
}

const UNIT: &[u8] = br#"{"normalize": true}"#;
const MEAN: &[u8] = b"{}";

fn read(config: &[u8], tokenizer: &[u8], table: Vec<u8>) -> Result<StaticModel, StaticModelError> {
    StaticModel::from_bytes("static:test", config, tokenizer, Cow::Owned(table))
}

fn small() -> StaticModel {
    read(UNIT, &tokenizer(|_| {}), file(&small_tensors())).unwrap()
}

fn rows(model: &StaticModel, texts: &[&str]) -> Vec<Vec<f64>> {
    match model.embed(texts, &NoProgress).unwrap().vectors {
        Vectors::Dense(dense) => dense.rows().map(<[f64]>::to_vec).collect(),
        Vectors::Sparse(_) => panic!("a table gives dense vectors"),
    }
}

#[test]
fn a_text_is_the_unit_sum_or_the_mean_of_its_weighted_rows_by_hand() {
    // "a b": (3, -4) / 5. "ac": (3, 0) + (1, 1) = (4, 1) / sqrt 17.
    let unit = rows(&small(), &["A b", "ac"]);
    assert_eq!(unit[0], [0.6, -0.8]);
    assert_eq!(unit[1], [4.0 / 17.0_f64.sqrt(), 1.0 / 17.0_f64.sqrt()]);
    let model = read(MEAN, &tokenizer(|_| {}), file(&small_tensors())).unwrap();
    assert_eq!(rows(&model, &["A b", "ac zz"]), [vec![1.5, -2.0], vec![2.0, 0.5]]);
}

#[test]
fn a_mapping_says_the_row_of_every_token_and_weights_stay_those_of_tokens() {
    // Two rows, (1, 0) and (0, 1); a and ##c share the first with weights 3 and 1.
    for (kind, mapping) in [
        (Dtype::I64, bytes([1_i64, 0, 1, 0], i64::to_le_bytes)),
        (Dtype::I32, bytes([1_i32, 0, 1, 0], i32::to_le_bytes)),
    ] {
        let table = file(&[
            ("embeddings", Dtype::F32, &[2, 2], bytes([1.0, 0.0, 0.0, 1.0], f32::to_le_bytes)),
            ("weights", Dtype::F64, &[4], bytes([9.0, 3.0, 2.0, 1.0], f64::to_le_bytes)),
            ("mapping", kind, &[4], mapping),
        ]);
        let model = read(MEAN, &tokenizer(|_| {}), table).unwrap();
        assert_eq!(rows(&model, &["a b", "ac"]), [vec![1.5, 1.0], vec![2.0, 0.0]]);
    }
}

#[test]
fn rows_are_read_in_every_precision_and_under_the_name_of_sentence_transformers() {
    let half = bytes([0x3c00_u16, 0, 0x4000, 0xc200, 1, 0, 0, 0], u16::to_le_bytes);
    let double = bytes([1.0, 0.0, 2.0, -3.0, 2.0_f64.powi(-24), 0.0, 0.0, 0.0], f64::to_le_bytes);
    for (name, kind, values) in
        [("embeddings", Dtype::F16, half), ("embedding.weight", Dtype::F64, double)]
    {
        let table = file(&[(name, kind, &[4, 2], values)]);
        let model = read(MEAN, &tokenizer(|_| {}), table).unwrap();
        assert_eq!(rows(&model, &["a", "b"]), [vec![2.0, -3.0], vec![2.0_f64.powi(-24), 0.0]]);
    }
}

#[test]
fn half_precision_is_read_as_ieee_says() {
    let values = [
        (0x0001, 2.0_f32.powi(-24)),
        (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
        (0x0400, 2.0_f32.powi(-14)),
        (0x3555, 0.333_251_95),
        (0x7bff, 65504.0),
        (0xfbff, 65504.0),
        (0x8000, 0.0),
        (0x7c00, f32::INFINITY),
        (0xfc00, f32::INFINITY),
    ];
    for (bits, expected) in values {
        assert_eq!(half(bits).to_bits() << 1, expected.to_bits() << 1, "{bits:x}");
        assert_eq!(half(bits) < 0.0, bits > 0x8000, "{bits:x}");
    }
    assert!(half(0x7c01).is_nan());
}

#[test]
fn a_piece_of_twenty_thousand_bytes_is_a_piece_like_any_other() {
    let long = "x".repeat(20_000);
    let tokenizer = tokenizer(|file| {
        file["model"]["vocab"] = json!({"[UNK]": 0, long.as_str(): 1, "b": 2, "##c": 3});
    });
    let model = read(UNIT, &tokenizer, file(&small_tensors())).unwrap();
    // No word is as long as the piece, so nothing is made of it; the others are as they were.
    let counts = model.embed_into(&format!("{long} b"), &mut [0.0; 2]).unwrap();
    assert_eq!(counts, TokenCounts { known: 1, unknown: 1 });
    assert_eq!(rows(&model, &["b", "bc"])[0], [0.0, -1.0]);
}

#[test]
fn unknown_words_are_skipped_and_a_text_of_them_is_zero() {
    let model = small();
    assert_eq!(
        rows(&model, &["zz a \u{1f600}", "zz", "", "[UNK]"]),
        [vec![1.0, 0.0], vec![0.0, 0.0], vec![0.0, 0.0], vec![0.0, 0.0]]
    );
    let counts = model.embed_into("zz a \u{1f600}", &mut [0.0; 2]).unwrap();
    assert_eq!(counts, TokenCounts { known: 1, unknown: 2 });
}

#[test]
#[cfg(feature = "bert")]
fn another_tokenizer_gives_the_same_vectors_where_it_cuts_alike() {
    // Added tokens that are not special belong to the crate; so does any other model.
    let crates = tokenizer(|file| {
        file["added_tokens"] = json!([{"id": 0, "content": "[UNK]", "special": false,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}]);
    });
    let words = tokenizer(|file| {
        file["model"] = json!({"type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "a": 1, "b": 2, "##c": 3}});
    });
    let texts = ["A b", "b zz b a", "", "zz"];
    for tokenizer in [crates, words] {
        let model = read(UNIT, &tokenizer, file(&small_tensors())).unwrap();
        assert!(model.wordpiece().is_none());
        assert_eq!(rows(&model, &texts), rows(&small(), &texts));
    }
}

#[test]
#[cfg(not(feature = "bert"))]
fn another_tokenizer_is_refused_where_the_crate_is_not_built_in() {
    let words = tokenizer(|file| file["model"]["type"] = "WordLevel".into());
    let error = read(UNIT, &words, file(&small_tensors())).unwrap_err();
    assert!(matches!(error, StaticModelError::TokenizerKind));
}

#[test]
fn files_that_do_not_fit_together_are_errors() {
    let fails = |config: &[u8], table| read(config, &tokenizer(|_| {}), table).unwrap_err();
    let small = || file(&small_tensors());
    assert!(matches!(fails(b"{", small()), StaticModelError::Config { .. }));
    let error = read(UNIT, b"{}", small()).unwrap_err();
    assert!(matches!(error, StaticModelError::TokenizerJson { .. }));
    for gap in [json!({"a": 0, "b": 1, "c": 2}), json!({"a": 0, "b": 1, "c": 2, "d": 9})] {
        let tokenizer = tokenizer(|file| file["model"]["vocab"] = gap);
        let error = read(UNIT, &tokenizer, small()).unwrap_err();
        assert!(
            matches!(error, StaticModelError::Length { what: "rows", found: 4, .. }),
            "{error}"
        );
    }
    let [rows, weights] = small_tensors();
    let error = fails(UNIT, file(std::slice::from_ref(&weights)));
    assert!(matches!(error, StaticModelError::NoRows));
    let flat = ("embeddings", Dtype::I8, &[8_usize][..], rows.3.clone());
    assert!(matches!(fails(UNIT, file(&[flat])), StaticModelError::Shape { .. }));
    let short = ("weights", Dtype::F32, &[2_usize][..], weights.3[..8].to_vec());
    let error = fails(UNIT, file(&[rows.clone(), short]));
    assert!(matches!(error, StaticModelError::Length { what: "weights", found: 2, .. }));
    let mapping = ("mapping", Dtype::I64, &[4_usize][..], bytes([0, 1, 4, 3], i64::to_le_bytes));
    let error = fails(UNIT, file(&[rows.clone(), mapping]));
    assert!(matches!(error, StaticModelError::Mapping { token: 2, row: 4, rows: 4 }));
    let infinite = bytes([1.0, f32::INFINITY, 1.0, 1.0], f32::to_le_bytes);
    let error = fails(UNIT, file(&[rows, ("weights", Dtype::F32, &[4], infinite)]));
    assert!(matches!(error, StaticModelError::NotFinite { tensor: "weights", at: 1 }));
    let mut cut = small();
    cut.pop();
    assert!(matches!(fails(UNIT, cut), StaticModelError::Table { .. }));
}

#[test]
fn a_missing_folder_is_named_in_the_error() {
    let error = StaticModel::from_folder(Path::new("no-such-folder"), "x").unwrap_err();
    assert!(error.to_string().contains("no-such-folder"), "{error}");
}

#[test]
fn the_folder_of_the_bundled_model_reads_as_the_bundled_model() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/static-minilm-128"));
    let from_folder = StaticModel::from_folder(folder, "static:x").unwrap();
    let bundled = StaticModel::bundled();
    assert_eq!((bundled.name(), from_folder.name()), ("static", "static:x"));
    assert_eq!(bundled.dims(), 128);
    assert!(bundled.wordpiece().is_some());
    let text = ["The experiments are convincing, but the writing needs work."];
    assert_eq!(rows(&bundled, &text), rows(&from_folder, &text));
}

#[test]
fn related_words_are_closer_than_unrelated_ones_in_the_bundled_model() {
    let words = ["experiment", "trial", "banana"];
    let rows = rows(&StaticModel::bundled(), &words);
    let cosine =
        |a: usize, b: usize| -> f64 { rows[a].iter().zip(&rows[b]).map(|(x, y)| x * y).sum() };
    assert!(cosine(0, 1) > cosine(0, 2) + 0.1, "{} {}", cosine(0, 1), cosine(0, 2));
}

/// The definition, with the reference tokens and no fast path.
fn by_definition(model: &StaticModel, text: &str) -> Vec<f64> {
    let mut sum = vec![0.0; model.dims()];
    for piece in model.wordpiece().unwrap().pieces(text).into_iter().flatten() {
        let mut vector = vec![0.0; model.dims()];
        model.table.add(piece as usize, &mut vector);
        sum.iter_mut().zip(vector).for_each(|(sum, entry)| *sum += f64::from(entry));
    }
    let norm = sum.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    sum.iter().map(|entry| if norm > 0.0 { entry / norm } else { 0.0 }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn vectors_depend_on_neither_batch_nor_threads_and_equal_the_definition(
        texts in prop::collection::vec("([a-zA-Z ,.]|\\PC){0,60}", 0..200),
    ) {
        static MODEL: std::sync::LazyLock<StaticModel> =
            std::sync::LazyLock::new(StaticModel::bundled);
        let model: &StaticModel = &MODEL;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = rows(model, &texts);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        prop_assert_eq!(&one.install(|| rows(model, &texts)), &together);
        for (text, row) in texts.iter().zip(&together) {
            prop_assert_eq!(&rows(model, &[text])[0], row);
            for (entry, expected) in row.iter().zip(by_definition(model, text)) {
                prop_assert!((entry - expected).abs() < 1e-5);
            }
        }
    }
}
