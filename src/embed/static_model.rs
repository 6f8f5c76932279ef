//! The `static` embedder: one stored vector per token, a text is the mean of its own.
//!
//! `v(text) = mean over the tokens t of weight[t] · row[mapping[t]]`, scaled to unit length where the
//! model says so. Unknown words are skipped: the row that an encoder gives them points somewhere, but
//! the word says nothing known. A text without a known token has the zero vector. Texts are read to
//! their end, as by model2vec with `max_length=None`; special tokens such as `[MASK]` in a text are
//! plain text.
//!
//! A model is a folder as model2vec writes it, see [`StaticModel::from_folder`]; one is bundled, see
//! [`StaticModel::bundled`] and `models/README.md` for how it was made. Reference: Minish Lab (2024),
//! "Model2Vec: fast state-of-the-art static embeddings", and its code, version 0.10.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

mod tokens;

use crate::data::progress::Progress;
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::embed::wordpiece::WordPiece;
use crate::embed::{EmbedError, Embedder, Embeddings};
use crate::error::{ErrorKind, Kinded, Remedy};
use tokens::Tokens;

/// File of a model folder with a [`StaticConfig`].
pub(crate) const CONFIG_FILE: &str = "config.json";
/// File of a model folder with the tokenizer.
pub(crate) const TOKENIZER_FILE: &str = "tokenizer.json";
/// File of a model folder with the tensors `embeddings` (rows x dims; I8, F16, F32 or F64), and of
/// some `weights` (a number per token) and `mapping` (a row per token).
pub(crate) const TABLE_FILE: &str = "model.safetensors";

/// What the rows are called by model2vec, by sentence-transformers and in old files of either.
const ROWS: [&str; 3] = ["embeddings", "embedding.weight", "0"];

/// Tokens whose rows are summed in single precision, which is twice as fast, before the sum is
/// moved to double precision: keeps the error below 1e-5 for texts of any length.
const TOKENS_PER_SUM: usize = 256;

/// A safetensors file starts with the length of its header in this many bytes.
const HEADER_LENGTH_BYTES: usize = 8;

/// Texts handed to a thread at a time: enough to hide the cost of the hand-over.
const TEXTS_PER_JOB: usize = 64;

/// What of a model's configuration decides vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StaticConfig {
    /// Whether vectors have unit length; without a word they are means as they come.
    #[serde(default)]
    pub(crate) normalize: bool,
}

/// Why a static model cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StaticModelError {
    /// A file of the folder is missing or cannot be read.
    #[error("cannot read `{}`; a static model is a folder with {CONFIG_FILE}, {TOKENIZER_FILE} and {TABLE_FILE}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The configuration is not understood.
    #[error("{CONFIG_FILE} of the static model is not understood")]
    Config {
        /// Where it fails.
        #[source]
        source: serde_json::Error,
    },
    /// The tokenizer is not the JSON of one.
    #[error("{TOKENIZER_FILE} of the static model is not understood")]
    TokenizerJson {
        /// Where it fails.
        #[source]
        source: serde_json::Error,
    },
    /// The tokenizer cannot be used.
    #[cfg(feature = "bert")]
    #[error("{TOKENIZER_FILE} of the static model cannot be used")]
    Tokenizer {
        /// What the tokenizers crate says.
        #[source]
        source: tokenizers::Error,
    },
    /// A text cannot be tokenized.
    #[cfg(feature = "bert")]
    #[error("a text cannot be tokenized by the static model")]
    Tokenize {
        /// What the tokenizers crate says.
        #[source]
        source: tokenizers::Error,
    },
    /// This build cuts texts as uncased BERT alone.
    #[cfg(not(feature = "bert"))]
    #[error(
        "the tokenizer of the static model is not that of uncased BERT; others need a caz built \
         with the feature `bert`"
    )]
    TokenizerKind,
    /// The table is not a safetensors file.
    #[error("{TABLE_FILE} of the static model is not understood")]
    Table {
        /// Where it fails.
        #[source]
        source: safetensors::SafeTensorError,
    },
    /// There are no rows.
    #[error("{TABLE_FILE} of the static model has no tensor `embeddings`")]
    NoRows,
    /// A tensor has a type or shape that is not known.
    #[error("tensor `{tensor}` of the static model is {dtype} {shape:?}, not {wanted}")]
    Shape { tensor: &'static str, dtype: Dtype, shape: Vec<usize>, wanted: &'static str },
    /// The tokenizer and the table have different lengths.
    #[error("the static model has {tokens} tokens and {found} {what}")]
    Length { tokens: usize, what: &'static str, found: usize },
    /// A number is not finite.
    #[error("entry {at} of the tensor `{tensor}` of the static model is not a finite number")]
    NotFinite {
        /// Name of the tensor.
        tensor: &'static str,
        /// Position in it, from 0.
        at: usize,
    },
    /// A token has a row that is not there.
    #[error("token {token} of the static model has row {row}, and there are {rows}")]
    Mapping { token: usize, row: i64, rows: usize },
}

impl Kinded for StaticModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } => ErrorKind::Missing,
            #[cfg(not(feature = "bert"))]
            Self::TokenizerKind => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            #[cfg(not(feature = "bert"))]
            Self::TokenizerKind => None,
            _ => Some(Remedy::MakeStaticModel),
        }
    }
}

/// A table of token vectors with its tokenizer.
#[derive(Debug, Clone)]
pub struct StaticModel {
    name: String,
    config: StaticConfig,
    tokens: Tokens,
    table: Table,
}

/// Rows of tokens.
#[derive(Debug, Clone)]
struct Table {
    dims: usize,
    rows: Rows,
    /// Of every token.
    weights: Option<Vec<f32>>,
    /// The row of every token; where there is none, they are the same.
    mapping: Option<Vec<u32>>,
}

/// Entries of all rows.
#[derive(Debug, Clone)]
enum Rows {
    /// In the file, where they start.
    Bytes(Cow<'static, [u8]>, usize),
    Singles(Vec<f32>),
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
        const TOKENIZER: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/models/static-minilm-128/tokenizer.json"
        ));
        const TABLE: &[u8] = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/models/static-minilm-128/model.safetensors"
        ));
        Self::from_bytes("static", CONFIG, TOKENIZER, Cow::Borrowed(TABLE))
            .expect("the tests read the bundled model")
    }

    /// Reads a folder as model2vec writes it: [`CONFIG_FILE`], [`TOKENIZER_FILE`] and
    /// [`TABLE_FILE`]; `name` is what [`Embedder::name`] returns.
    ///
    /// # Errors
    ///
    /// [`StaticModelError`] if a file is missing or they do not fit together.
    pub(crate) fn from_folder(folder: &Path, name: &str) -> Result<Self, StaticModelError> {
        let read = |file: &str| {
            let path = folder.join(file);
            fs::read(&path).map_err(|source| StaticModelError::Read { path, source })
        };
        let table = Cow::Owned(read(TABLE_FILE)?);
        Self::from_bytes(name, &read(CONFIG_FILE)?, &read(TOKENIZER_FILE)?, table)
    }

    /// Reads the bytes of the three files of a model folder.
    ///
    /// # Errors
    ///
    /// `StaticModelError` if they are not understood or do not fit together.
    pub(crate) fn from_bytes(
        name: &str,
        config: &[u8],
        tokenizer: &[u8],
        table: Cow<'static, [u8]>,
    ) -> Result<Self, StaticModelError> {
        let config =
            serde_json::from_slice(config).map_err(|source| StaticModelError::Config { source })?;
        let (tokens, count) = Tokens::read(tokenizer)?;
        Ok(Self { name: name.to_owned(), config, tokens, table: Table::read(table, count)? })
    }

    /// Entries per vector.
    pub(crate) fn dims(&self) -> usize {
        self.table.dims
    }

    /// The tokenizer, if it is that of uncased BERT.
    pub fn wordpiece(&self) -> Option<&WordPiece> {
        match &self.tokens {
            Tokens::WordPiece(wordpiece) => Some(wordpiece),
            #[cfg(feature = "bert")]
            Tokens::Other(_) => None,
        }
    }

    /// Writes the vector of `text` to `vector`, which has `dims` entries; says how many of its
    /// tokens are known and unknown.
    ///
    /// # Errors
    ///
    /// [`StaticModelError::Tokenize`]; the tokenizer of uncased BERT never fails.
    ///
    /// # Panics
    ///
    /// If `vector` does not have `dims` entries: a bug of the caller.
    pub(crate) fn embed_into(
        &self,
        text: &str,
        vector: &mut [f64],
    ) -> Result<TokenCounts, StaticModelError> {
        assert_eq!(vector.len(), self.table.dims, "a vector has as many entries as the model");
        let mut counts = TokenCounts::default();
        vector.fill(0.0);
        let mut partial = vec![0.0_f32; vector.len()];
        self.tokens.visit(text, |token| {
            let Some(token) = token else {
                counts.unknown += 1;
                return;
            };
            counts.known += 1;
            self.table.add(token as usize, &mut partial);
            if counts.known.is_multiple_of(TOKENS_PER_SUM) {
                move_into(vector, &mut partial);
            }
        })?;
        move_into(vector, &mut partial);
        let divisor = if self.config.normalize {
            vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
        } else {
            counts.known as f64
        };
        if divisor > 0.0 {
            for entry in vector {
                *entry /= divisor;
            }
        }
        Ok(counts)
    }
}

/// Tokens of one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    /// Tokens with a row.
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

impl Table {
    /// Reads a safetensors file with rows for `tokens` tokens.
    fn read(bytes: Cow<'static, [u8]>, tokens: usize) -> Result<Self, StaticModelError> {
        let not_understood = |source| StaticModelError::Table { source };
        let tensors = SafeTensors::deserialize(&bytes).map_err(not_understood)?;
        let named = ROWS.into_iter().find_map(|name| Some((name, tensors.tensor(name).ok()?)));
        let (tensor, view) = named.ok_or(StaticModelError::NoRows)?;
        let odd = |wanted| StaticModelError::Shape {
            tensor,
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            wanted,
        };
        let &[rows, dims] = view.shape() else { return Err(odd("rows of numbers")) };
        if dims == 0 {
            return Err(odd("rows of numbers"));
        }
        let weights = tensors.tensor("weights").ok();
        let weights = weights.map(|view| numbers("weights", &view)).transpose()?;
        let mapping = tensors.tensor("mapping").ok();
        let mapping = mapping.map(|view| mapped(&view, rows)).transpose()?;
        let per_token = [
            ("rows", mapping.is_none().then_some(rows)),
            ("weights", weights.as_ref().map(Vec::len)),
            ("rows in its mapping", mapping.as_ref().map(Vec::len)),
        ];
        for (what, found) in per_token {
            if let Some(found) = found.filter(|&found| found != tokens) {
                return Err(StaticModelError::Length { tokens, what, found });
            }
        }
        let entries = match view.dtype() {
            Dtype::I8 => None,
            Dtype::F16 | Dtype::F32 | Dtype::F64 => Some(numbers(tensor, &view)?),
            _ => return Err(odd("I8, F16, F32 or F64")),
        };
        let rows = if let Some(entries) = entries {
            Rows::Singles(entries)
        } else {
            let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(not_understood)?;
            let start = metadata.info(tensor).expect("it was found above").data_offsets.0;
            Rows::Bytes(bytes, HEADER_LENGTH_BYTES + header + start)
        };
        Ok(Self { dims, rows, weights, mapping })
    }

    /// Adds the weighted row of a token.
    #[inline]
    fn add(&self, token: usize, sum: &mut [f32]) {
        let row = self.mapping.as_ref().map_or(token, |mapping| mapping[token] as usize);
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights[token]);
        let start = row * self.dims;
        match &self.rows {
            Rows::Bytes(bytes, at) => {
                AddBytes { weight, row: &bytes[at + start..][..self.dims], sum }.widest();
            }
            Rows::Singles(entries) => {
                for (sum, &entry) in sum.iter_mut().zip(&entries[start..][..self.dims]) {
                    *sum += weight * entry;
                }
            }
        }
    }
}

/// Adds a row of bytes times its weight to a sum.
struct AddBytes<'a> {
    weight: f32,
    row: &'a [u8],
    sum: &'a mut [f32],
}

impl AddBytes<'_> {
    /// With the widest vectors that this processor has, to the same bits: nothing is fused.
    #[inline]
    fn widest(self) {
        #[cfg(feature = "bert")]
        pulp::Arch::new().dispatch(self);
        #[cfg(not(feature = "bert"))]
        self.add();
    }

    #[expect(clippy::inline_always, reason = "it carries the target features of its caller")]
    #[inline(always)]
    fn add(self) {
        for (sum, &entry) in self.sum.iter_mut().zip(self.row) {
            *sum += self.weight * f32::from(entry.cast_signed());
        }
    }
}

#[cfg(feature = "bert")]
impl pulp::WithSimd for AddBytes<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it carries the target features of its caller")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.add();
    }
}

/// The finite numbers of a tensor, in single precision.
fn numbers(
    tensor: &'static str,
    view: &safetensors::tensor::TensorView<'_>,
) -> Result<Vec<f32>, StaticModelError> {
    let data = view.data();
    let numbers: Vec<f32> = match view.dtype() {
        Dtype::F16 => data.as_chunks().0.iter().map(|&two| half(u16::from_le_bytes(two))).collect(),
        Dtype::F32 => data.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect(),
        #[expect(clippy::cast_possible_truncation, reason = "rows are added in single precision")]
        Dtype::F64 => {
            data.as_chunks().0.iter().map(|&eight| f64::from_le_bytes(eight) as f32).collect()
        }
        dtype => {
            let (shape, wanted) = (view.shape().to_vec(), "F16, F32 or F64");
            return Err(StaticModelError::Shape { tensor, dtype, shape, wanted });
        }
    };
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(at) => Err(StaticModelError::NotFinite { tensor, at }),
        None => Ok(numbers),
    }
}

/// A number of half precision (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

/// The rows of tokens.
fn mapped(
    view: &safetensors::tensor::TensorView<'_>,
    rows: usize,
) -> Result<Vec<u32>, StaticModelError> {
    let data = view.data();
    let numbers: Vec<i64> = match view.dtype() {
        Dtype::I64 => data.as_chunks().0.iter().map(|&eight| i64::from_le_bytes(eight)).collect(),
        Dtype::I32 => {
            data.as_chunks().0.iter().map(|&four| i32::from_le_bytes(four).into()).collect()
        }
        dtype => {
            let (tensor, shape, wanted) = ("mapping", view.shape().to_vec(), "I32 or I64");
            return Err(StaticModelError::Shape { tensor, dtype, shape, wanted });
        }
    };
    let row = |(token, row): (usize, i64)| {
        let inside = u32::try_from(row).ok().filter(|&row| (row as usize) < rows);
        inside.ok_or(StaticModelError::Mapping { token, row, rows })
    };
    numbers.into_iter().enumerate().map(row).collect()
}

impl Embedder for StaticModel {
    fn name(&self) -> &str {
        &self.name
    }

    /// Texts are never too long.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let dims = self.table.dims;
        let mut values = vec![0.0; texts.len() * dims];
        let failed = OnceLock::new();
        values.par_chunks_mut(TEXTS_PER_JOB * dims).zip(texts.par_chunks(TEXTS_PER_JOB)).for_each(
            |(vectors, texts)| {
                for (vector, text) in vectors.chunks_exact_mut(dims).zip(texts) {
                    if let Err(error) = self.embed_into(text, vector) {
                        let _ = failed.set(error);
                    }
                }
                progress.advance(texts.len() as u64);
            },
        );
        if let Some(error) = failed.into_inner() {
            return Err(EmbedError::of(error));
        }
        let vectors = Vectors::Dense(DenseVectors::from_values(dims, values));
        Ok(Embeddings { vectors, long_texts: 0 })
    }
}

#[cfg(test)]
mod tests;
