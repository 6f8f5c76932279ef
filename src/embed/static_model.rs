//! The `static` embedder: one stored vector per vocabulary piece, a text is the mean of its own.
//!
//! `v(text) = unit( Σ_t scale[t] · row[t] )` over the WordPiece tokens `t` of the text, without
//! `[CLS]` and `[SEP]`. The weight of a token is already in its row. Unknown words (`[UNK]`) are
//! skipped: the row that an encoder gives them points somewhere, but the word says nothing known.
//! A text without a known token has the zero vector.
//!
//! A model is a folder of three files, see [`StaticModel::from_folder`]; one is bundled, see
//! [`StaticModel::bundled`] and `models/README.md` for how it was made. The idea: Minish Lab
//! (2024), "Model2Vec: fast state-of-the-art static embeddings".

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::data::progress::Progress;
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::embed::wordpiece::WordPiece;
use crate::embed::{EmbedError, Embedder, Embeddings};
use crate::error::{ErrorKind, Kinded, Remedy};

/// File of a model folder with a [`StaticConfig`].
pub const CONFIG_FILE: &str = "config.json";
/// File of a model folder with the `WordPiece` vocabulary, one piece a line.
pub const VOCABULARY_FILE: &str = "vocab.txt";
/// File of a model folder with the tensors `rows` (I8, pieces x dims) and `scales` (F32, pieces).
pub const TABLE_FILE: &str = "model.safetensors";

/// What [`StaticConfig::format`] says in every folder this version reads.
pub const FORMAT: &str = "caz-static-1";

/// Tokens whose rows are summed in single precision, which is twice as fast, before the sum is
/// moved to double precision: keeps the error below 1e-5 for texts of any length.
const TOKENS_PER_SUM: usize = 256;

/// A safetensors file starts with the length of its header in this many bytes.
const HEADER_LENGTH_BYTES: usize = 8;

/// Texts handed to a thread at a time: enough to hide the cost of the hand-over.
const TEXTS_PER_JOB: usize = 64;

/// What a model folder says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticConfig {
    /// Layout of the folder; [`FORMAT`].
    pub format: String,
    /// Entries per vector.
    pub dims: usize,
    /// Number of vocabulary pieces.
    pub pieces: usize,
    /// Whether texts are lower-cased and stripped of accents; only `true` is supported.
    pub lower_case: bool,
    /// How the rows were weighted, in words.
    pub weights: String,
    /// How the rows were brought to `dims` dimensions, in words.
    pub reduction: String,
    /// SHA-256 of the weights the table was distilled from, in hexadecimal.
    pub source_sha256: String,
}

/// Why a static model cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StaticModelError {
    /// A file of the folder is missing or cannot be read.
    #[error("cannot read `{}`; a static model is a folder with {CONFIG_FILE}, {VOCABULARY_FILE} and {TABLE_FILE}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The configuration is not what this version writes.
    #[error("{CONFIG_FILE} of the static model is not understood")]
    Config {
        /// Where it fails.
        #[source]
        source: serde_json::Error,
    },
    /// The folder has another layout, e.g., that of a later version.
    #[error("the static model has format `{found}`, this version reads `{FORMAT}`")]
    Format {
        /// What the configuration says.
        found: String,
    },
    /// The model wants cased text.
    #[error("the static model keeps upper case, which is not supported; take an uncased model")]
    Cased,
    /// The vocabulary is not UTF-8.
    #[error("{VOCABULARY_FILE} of the static model is not UTF-8")]
    Vocabulary {
        /// Where it fails.
        #[source]
        source: std::str::Utf8Error,
    },
    /// The table is not a safetensors file with the two tensors.
    #[error("{TABLE_FILE} of the static model is not understood")]
    Table {
        /// Where it fails.
        #[source]
        source: safetensors::SafeTensorError,
    },
    /// A tensor has another type or shape than the configuration says.
    #[error(
        "tensor `{tensor}` of the static model is {found_dtype} {found:?}, not {dtype} \
         {expected:?}"
    )]
    Shape {
        /// Name of the tensor.
        tensor: &'static str,
        /// Type in the file.
        found_dtype: Dtype,
        /// Shape in the file.
        found: Vec<usize>,
        /// Type it must have.
        dtype: Dtype,
        /// Shape it must have.
        expected: Vec<usize>,
    },
    /// The vocabulary and the table have different lengths.
    #[error("the static model has {pieces} vocabulary pieces and {rows} rows")]
    Length {
        /// Lines of the vocabulary.
        pieces: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// The configuration asks for vectors without entries.
    #[error("the static model has 0 dimensions")]
    NoDimensions,
    /// A scale is not a finite number.
    #[error("row {row} of the static model has scale {scale}")]
    Scale {
        /// Row of the table, from 0.
        row: usize,
        /// The value.
        scale: f32,
    },
}

impl Kinded for StaticModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Cased => None,
            _ => Some(Remedy::MakeStaticModel),
        }
    }
}

/// A table of token vectors with its tokenizer.
#[derive(Debug, Clone)]
pub struct StaticModel {
    name: String,
    config: StaticConfig,
    wordpiece: WordPiece,
    /// The safetensors file; `rows_at` says where in it the rows start.
    table: Cow<'static, [u8]>,
    rows_at: usize,
    scales: Vec<f32>,
}

impl StaticModel {
    /// The model that is part of the program: 128 dimensions, distilled from all-MiniLM-L6-v2.
    ///
    /// # Panics
    ///
    /// Never: the tests read the bundled files.
    pub fn bundled() -> Self {
        const CONFIG: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/models/static-minilm-128/config.json"
        ));
        const VOCABULARY: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/models/static-minilm-128/vocab.txt"
        ));
        const TABLE: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/models/static-minilm-128/model.safetensors"
        ));
        Self::from_bytes("static", CONFIG, VOCABULARY, Cow::Borrowed(TABLE))
            .expect("the tests read the bundled model")
    }

    /// Reads a folder written by `models/distil_static.py`: [`CONFIG_FILE`], [`VOCABULARY_FILE`] and
    /// [`TABLE_FILE`]. The embedder's name is `static:` and the folder as given.
    ///
    /// # Errors
    ///
    /// [`StaticModelError`] if a file is missing or they do not fit together.
    pub fn from_folder(folder: &Path) -> Result<Self, StaticModelError> {
        let read = |file: &str| {
            let path = folder.join(file);
            fs::read(&path).map_err(|source| StaticModelError::Read { path, source })
        };
        let name = format!("static:{}", folder.display());
        Self::from_bytes(
            &name,
            &read(CONFIG_FILE)?,
            &read(VOCABULARY_FILE)?,
            Cow::Owned(read(TABLE_FILE)?),
        )
    }

    /// Reads the bytes of the three files of a model folder.
    ///
    /// # Errors
    ///
    /// [`StaticModelError`] if they are not understood or do not fit together.
    pub fn from_bytes(
        name: &str,
        config: &[u8],
        vocabulary: &[u8],
        table: Cow<'static, [u8]>,
    ) -> Result<Self, StaticModelError> {
        let config: StaticConfig =
            serde_json::from_slice(config).map_err(|source| StaticModelError::Config { source })?;
        if config.format != FORMAT {
            return Err(StaticModelError::Format { found: config.format });
        }
        if !config.lower_case {
            return Err(StaticModelError::Cased);
        }
        if config.dims == 0 {
            return Err(StaticModelError::NoDimensions);
        }
        let vocabulary =
            str::from_utf8(vocabulary).map_err(|source| StaticModelError::Vocabulary { source })?;
        let wordpiece = WordPiece::from_vocabulary(vocabulary);
        if wordpiece.len() != config.pieces {
            return Err(StaticModelError::Length { pieces: wordpiece.len(), rows: config.pieces });
        }
        let (rows_at, scales) = read_table(&table, &config)?;
        Ok(Self { name: name.to_owned(), config, wordpiece, table, rows_at, scales })
    }

    /// Entries per vector.
    pub fn dims(&self) -> usize {
        self.config.dims
    }

    /// What the model's folder says about it.
    pub fn config(&self) -> &StaticConfig {
        &self.config
    }

    /// The tokenizer.
    pub fn wordpiece(&self) -> &WordPiece {
        &self.wordpiece
    }

    /// The stored vector of the piece of rank `piece`, weight included, without its scale.
    fn row(&self, piece: u32) -> &[u8] {
        let start = self.rows_at + piece as usize * self.config.dims;
        &self.table[start..start + self.config.dims]
    }

    /// The weighted vector of one vocabulary piece, `dims` entries; `None` beyond the vocabulary.
    #[cfg(test)]
    fn piece_vector(&self, piece: u32) -> Option<Vec<f64>> {
        let scale = f64::from(*self.scales.get(piece as usize)?);
        Some(self.row(piece).iter().map(|&entry| scale * f64::from(entry.cast_signed())).collect())
    }

    /// Writes the vector of `text` to `vector`, which has `dims` entries; says how many of its
    /// tokens are known and unknown.
    ///
    /// # Panics
    ///
    /// If `vector` does not have `dims` entries: a bug of the caller.
    pub fn embed_into(&self, text: &str, vector: &mut [f64]) -> TokenCounts {
        assert_eq!(vector.len(), self.config.dims, "a vector has as many entries as the model");
        let mut counts = TokenCounts::default();
        vector.fill(0.0);
        let mut partial = vec![0.0_f32; vector.len()];
        self.wordpiece.visit(text, |piece| {
            let Some(piece) = piece else {
                counts.unknown += 1;
                return;
            };
            counts.known += 1;
            let scale = self.scales[piece as usize];
            for (sum, &entry) in partial.iter_mut().zip(self.row(piece)) {
                *sum += scale * f32::from(entry.cast_signed());
            }
            if counts.known.is_multiple_of(TOKENS_PER_SUM) {
                move_into(vector, &mut partial);
            }
        });
        move_into(vector, &mut partial);
        let norm = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if norm > 0.0 {
            for entry in vector {
                *entry /= norm;
            }
        }
        counts
    }
}

/// Tokens of one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Pieces of the vocabulary.
    pub known: usize,
    /// Words that the vocabulary cannot spell; they are skipped.
    pub unknown: usize,
}

/// Adds `partial` to `sum` and sets it to zero.
fn move_into(sum: &mut [f64], partial: &mut [f32]) {
    for (sum, partial) in sum.iter_mut().zip(partial) {
        *sum += f64::from(*partial);
        *partial = 0.0;
    }
}

/// Where the rows start in the file, and the scales.
fn read_table(table: &[u8], config: &StaticConfig) -> Result<(usize, Vec<f32>), StaticModelError> {
    let not_understood = |source| StaticModelError::Table { source };
    let tensors = SafeTensors::deserialize(table).map_err(not_understood)?;
    check_tensor(&tensors, "rows", Dtype::I8, &[config.pieces, config.dims])?;
    let scales = check_tensor(&tensors, "scales", Dtype::F32, &[config.pieces])?;
    let (scales, _) = scales.as_chunks::<4>();
    let scales: Vec<f32> = scales.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    if let Some(row) = scales.iter().position(|scale| !scale.is_finite()) {
        return Err(StaticModelError::Scale { row, scale: scales[row] });
    }
    let (header, metadata) = SafeTensors::read_metadata(table).map_err(not_understood)?;
    let rows = metadata.info("rows").expect("checked above").data_offsets.0;
    Ok((HEADER_LENGTH_BYTES + header + rows, scales))
}

/// The bytes of a tensor that must have this type and shape.
fn check_tensor<'a>(
    tensors: &SafeTensors<'a>,
    tensor: &'static str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<&'a [u8], StaticModelError> {
    let view = tensors.tensor(tensor).map_err(|source| StaticModelError::Table { source })?;
    if view.dtype() != dtype || view.shape() != shape {
        return Err(StaticModelError::Shape {
            tensor,
            found_dtype: view.dtype(),
            found: view.shape().to_vec(),
            dtype,
            expected: shape.to_vec(),
        });
    }
    Ok(view.data())
}

impl Embedder for StaticModel {
    fn name(&self) -> &str {
        &self.name
    }

    /// Texts are never too long. Never fails.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let dims = self.config.dims;
        let mut values = vec![0.0; texts.len() * dims];
        values.par_chunks_mut(TEXTS_PER_JOB * dims).zip(texts.par_chunks(TEXTS_PER_JOB)).for_each(
            |(vectors, texts)| {
                for (vector, text) in vectors.chunks_exact_mut(dims).zip(texts) {
                    self.embed_into(text, vector);
                }
                progress.advance(texts.len() as u64);
            },
        );
        let vectors = Vectors::Dense(DenseVectors::from_values(dims, values));
        Ok(Embeddings { vectors, long_texts: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use proptest::prelude::*;
    use safetensors::tensor::TensorView;

    fn config(change: impl FnOnce(&mut StaticConfig)) -> Vec<u8> {
        let mut config = StaticConfig {
            format: FORMAT.to_owned(),
            dims: 2,
            pieces: 4,
            lower_case: true,
            weights: String::new(),
            reduction: String::new(),
            source_sha256: String::new(),
        };
        change(&mut config);
        serde_json::to_vec(&config).unwrap()
    }

    fn table(rows: [i8; 8], scales: [f32; 4]) -> Vec<u8> {
        let rows = rows.map(i8::cast_unsigned);
        let scales: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let rows = TensorView::new(Dtype::I8, vec![4, 2], &rows).unwrap();
        let scales = TensorView::new(Dtype::F32, vec![4], &scales).unwrap();
        safetensors::serialize([("rows", rows), ("scales", scales)], None).unwrap()
    }

    const VOCABULARY: &[u8] = b"[UNK]\na\nb\n##c\n";

    fn small_table() -> Vec<u8> {
        // a = (3, 0), b = (0, -4), ##c = (1, 1).
        table([99, 99, 6, 0, 0, -4, 2, 2], [1.0, 0.5, 1.0, 0.5])
    }

    fn read(config: &[u8], table: Vec<u8>) -> Result<StaticModel, StaticModelError> {
        StaticModel::from_bytes("static:test", config, VOCABULARY, Cow::Owned(table))
    }

    fn small() -> StaticModel {
        read(&config(|_| {}), small_table()).unwrap()
    }

    fn rows(model: &StaticModel, texts: &[&str]) -> Vec<Vec<f64>> {
        match model.embed(texts, &NoProgress).unwrap().vectors {
            Vectors::Dense(dense) => dense.rows().map(<[f64]>::to_vec).collect(),
            Vectors::Sparse(_) => panic!("a table gives dense vectors"),
        }
    }

    #[test]
    fn a_text_is_the_unit_sum_of_its_weighted_rows_by_hand() {
        // "a b": (3, -4) / 5. "ac": (3, 0) + (1, 1) = (4, 1) / sqrt 17.
        let rows = rows(&small(), &["A b", "ac"]);
        assert_eq!(rows[0], [0.6, -0.8]);
        assert_eq!(rows[1], [4.0 / 17.0_f64.sqrt(), 1.0 / 17.0_f64.sqrt()]);
    }

    #[test]
    fn a_line_of_twenty_thousand_bytes_in_the_vocabulary_is_a_piece_like_any_other() {
        let long = "x".repeat(20_000);
        let vocabulary = format!("[UNK]\n{long}\nb\n##c\n");
        let table = Cow::Owned(small_table());
        let model =
            StaticModel::from_bytes("x", &config(|_| {}), vocabulary.as_bytes(), table).unwrap();
        // No word is as long as the piece, so nothing is made of it; the others are as they were.
        let counts = model.embed_into(&format!("{long} b"), &mut [0.0; 2]);
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
        let counts = model.embed_into("zz a \u{1f600}", &mut [0.0; 2]);
        assert_eq!(counts, TokenCounts { known: 1, unknown: 2 });
    }

    #[test]
    fn files_that_do_not_fit_together_are_errors() {
        let fails = |config: &[u8], table| read(config, table).unwrap_err();
        let good = || config(|_| {});
        assert!(matches!(fails(b"{", small_table()), StaticModelError::Config { .. }));
        let other = config(|config| config.format = "caz-static-2".to_owned());
        assert!(matches!(fails(&other, small_table()), StaticModelError::Format { .. }));
        let cased = config(|config| config.lower_case = false);
        assert!(matches!(fails(&cased, small_table()), StaticModelError::Cased));
        let flat = config(|config| config.dims = 0);
        assert!(matches!(fails(&flat, small_table()), StaticModelError::NoDimensions));
        let long = config(|config| config.pieces = 5);
        let error = fails(&long, small_table());
        assert!(matches!(error, StaticModelError::Length { pieces: 4, rows: 5 }));
        let wide = config(|config| config.dims = 3);
        assert!(matches!(
            fails(&wide, small_table()),
            StaticModelError::Shape { tensor: "rows", .. }
        ));
        let mut cut = small_table();
        cut.pop();
        assert!(matches!(fails(&good(), cut), StaticModelError::Table { .. }));
        let infinite = table([0; 8], [1.0, f32::INFINITY, 1.0, 1.0]);
        assert!(matches!(fails(&good(), infinite), StaticModelError::Scale { row: 1, .. }));
        let error = StaticModel::from_bytes("x", &good(), b"\xff", Cow::Owned(small_table()));
        assert!(matches!(error.unwrap_err(), StaticModelError::Vocabulary { .. }));
    }

    #[test]
    fn a_missing_folder_is_named_in_the_error() {
        let error = StaticModel::from_folder(Path::new("no-such-folder")).unwrap_err();
        assert!(error.to_string().contains("no-such-folder"), "{error}");
    }

    #[test]
    fn the_folder_of_the_bundled_model_reads_as_the_bundled_model() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/models/static-minilm-128"));
        let from_folder = StaticModel::from_folder(folder).unwrap();
        let bundled = StaticModel::bundled();
        assert_eq!(bundled.name(), "static");
        assert_eq!((bundled.dims(), bundled.wordpiece().len()), (128, 30_522));
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
        for piece in model.wordpiece().pieces(text).into_iter().flatten() {
            let vector = model.piece_vector(piece).unwrap();
            sum.iter_mut().zip(vector).for_each(|(sum, entry)| *sum += entry);
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
}
