//! Makes a static model out of a BERT encoder: what each vocabulary piece means on its own.
//!
//! 1. Run `[CLS] piece [SEP]` through the encoder for every piece of the vocabulary; its vector is
//!    the mean of the last layer over the three positions.
//! 2. Principal components: subtract the mean of these vectors, keep the first `dims` axes.
//! 3. Multiply the row of the piece of rank `r` by `ln(1 + r)`: vocabularies are sorted by
//!    frequency, so this stands for an inverse document frequency.
//! 4. Store each row as 8-bit integers with one scale, the largest entry in size over 127.
//!
//! Reference: Minish Lab (2024), "Model2Vec: fast state-of-the-art static embeddings", whose
//! Zipf weighting (SIF without counts) is step 3.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::data::progress::Progress;
use crate::text::embed::principal_components::PrincipalComponents;
use crate::text::embed::static_model::{
    CONFIG_FILE, FORMAT, StaticConfig, StaticModel, TABLE_FILE, VOCABULARY_FILE,
};

/// Pieces that go through the encoder together.
const PIECES_PER_BATCH: usize = 256;

/// Largest size of a stored entry; 8 bits with a sign, symmetric.
const LARGEST_ENTRY: f64 = 127.0;

/// How to distil.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistillOptions {
    /// Entries per vector, at most the encoder's own.
    pub dims: usize,
}

/// Why a model cannot be distilled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// A file of the encoder is missing or cannot be read.
    #[error("cannot read `{}`; an encoder is a folder with config.json, tokenizer.json and model.safetensors", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A JSON file of the encoder is not understood.
    #[error("cannot understand `{}`; only BERT encoders with a WordPiece tokenizer can be distilled", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where it fails.
        #[source]
        source: serde_json::Error,
    },
    /// The tokenizer cuts texts in another way than static models do.
    #[error(
        "the tokenizer has {what}; only uncased BERT tokenizers (WordPiece, `##`) can be distilled"
    )]
    Tokenizer {
        /// What is different.
        what: String,
    },
    /// More entries asked for than there are, or none.
    #[error(
        "{dims} dimensions asked for, the encoder has {hidden}; use --dims between 1 and {hidden}"
    )]
    Dims {
        /// Asked for.
        dims: usize,
        /// The encoder's.
        hidden: usize,
    },
    /// The encoder cannot be loaded or run.
    #[error(
        "the encoder cannot be run; check that config.json and model.safetensors belong together"
    )]
    Encoder(
        /// What candle says.
        #[from]
        candle_core::Error,
    ),
    /// The table cannot be written as safetensors.
    #[error("the table cannot be stored")]
    Table(
        /// What safetensors says.
        #[from]
        safetensors::SafeTensorError,
    ),
    /// A file of the new model cannot be written.
    #[error("cannot write `{}`; choose another --output", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// A static model that is not written yet.
#[derive(Debug, Clone)]
pub struct Distilled {
    config: StaticConfig,
    vocabulary: String,
    table: Vec<u8>,
    /// Weighted rows before they were stored in 8 bits.
    rows: Vec<f64>,
    explained: f64,
}

/// Distils the BERT encoder in `folder` (`config.json`, `tokenizer.json`, `model.safetensors`).
///
/// The same bytes for any number of threads; another processor may round differently in the last
/// digits. `progress` hears of every piece of the vocabulary.
///
/// # Errors
///
/// [`DistillError`] if the folder is not an uncased BERT encoder or `dims` does not fit it.
pub fn distill(
    folder: &Path,
    options: DistillOptions,
    progress: &dyn Progress,
) -> Result<Distilled, DistillError> {
    let pieces = read_pieces(&folder.join("tokenizer.json"))?;
    let config_path = folder.join("config.json");
    let config: Config = serde_json::from_slice(&read(&config_path)?)
        .map_err(|source| DistillError::Json { path: config_path, source })?;
    if options.dims == 0 || options.dims > config.hidden_size {
        return Err(DistillError::Dims { dims: options.dims, hidden: config.hidden_size });
    }
    let weights = read(&folder.join("model.safetensors"))?;
    let source_sha256 = hexadecimal(&Sha256::digest(&weights));
    let vectors = encode_pieces(&pieces, weights, &config, progress)?;
    let components = PrincipalComponents::fit(&vectors, config.hidden_size, options.dims);
    let mut rows = components.project(&vectors);
    for (rank, row) in rows.chunks_exact_mut(options.dims).enumerate() {
        let weight = (rank as f64).ln_1p();
        row.iter_mut().for_each(|entry| *entry *= weight);
    }
    let config = StaticConfig {
        format: FORMAT.to_owned(),
        dims: options.dims,
        pieces: pieces.len(),
        lower_case: true,
        weights: "ln(1 + rank)".to_owned(),
        reduction: "principal components, centered".to_owned(),
        source_sha256,
    };
    let table = store(&rows, &config)?;
    let mut vocabulary = pieces.join("\n");
    vocabulary.push('\n');
    Ok(Distilled { config, vocabulary, table, rows, explained: components.explained })
}

impl Distilled {
    /// Share of the variance of the encoder's piece vectors that the kept dimensions hold.
    pub fn explained_variance(&self) -> f64 {
        self.explained
    }

    /// Bytes of the three files together.
    pub fn size(&self) -> usize {
        self.config_json().len() + self.vocabulary.len() + self.table.len()
    }

    /// The model, ready to embed.
    ///
    /// # Panics
    ///
    /// Never: what was stored can be read.
    pub fn model(&self, name: &str) -> StaticModel {
        let table = Cow::Owned(self.table.clone());
        StaticModel::from_bytes(name, &self.config_json(), self.vocabulary.as_bytes(), table)
            .expect("what was stored can be read")
    }

    /// The vector of `text` from the rows before they were stored in 8 bits, unit length; zero
    /// without a known token. For measuring what storing costs.
    pub fn exact_vector(&self, model: &StaticModel, text: &str) -> Vec<f64> {
        let dims = self.config.dims;
        let mut vector = vec![0.0; dims];
        model.wordpiece().visit(text, |piece| {
            let Some(piece) = piece else { return };
            let row = &self.rows[piece as usize * dims..][..dims];
            vector.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry);
        });
        let norm = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|entry| *entry /= norm);
        }
        vector
    }

    /// Writes the three files into `folder`, which is made if it is missing. Each file appears
    /// whole or not at all.
    ///
    /// # Errors
    ///
    /// [`DistillError::Write`] names the file.
    pub fn write(&self, folder: &Path) -> Result<(), DistillError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| DistillError::Write { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let config = self.config_json();
        let files: [(&str, &[u8]); 3] = [
            (VOCABULARY_FILE, self.vocabulary.as_bytes()),
            (TABLE_FILE, &self.table),
            (CONFIG_FILE, &config),
        ];
        for (name, bytes) in files {
            let path = folder.join(name);
            write_whole(folder, &path, bytes).map_err(failed(&path))?;
        }
        Ok(())
    }

    fn config_json(&self) -> Vec<u8> {
        let mut json =
            serde_json::to_vec_pretty(&self.config).expect("a struct of words and numbers is JSON");
        json.push(b'\n');
        json
    }
}

fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    // A model is no secret: the permissions of a usual new file, not of a temporary one.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, DistillError> {
    fs::read(path).map_err(|source| DistillError::Read { path: path.to_owned(), source })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
    normalizer: Option<Normalizer>,
}

#[derive(Deserialize)]
struct TokenizerModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    vocab: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
    clean_text: Option<bool>,
    handle_chinese_chars: Option<bool>,
}

/// The vocabulary by rank, if the tokenizer is one that static models imitate.
fn read_pieces(path: &Path) -> Result<Vec<String>, DistillError> {
    let file: TokenizerFile = serde_json::from_slice(&read(path)?)
        .map_err(|source| DistillError::Json { path: path.to_owned(), source })?;
    let different = |what: String| Err(DistillError::Tokenizer { what });
    let model = file.model;
    if let Some(kind) = model.kind.filter(|kind| kind != "WordPiece") {
        return different(format!("a model of type `{kind}`"));
    }
    if let Some(prefix) = model.continuing_subword_prefix.filter(|prefix| prefix != "##") {
        return different(format!("continuation mark `{prefix}`"));
    }
    if let Some(limit) = model.max_input_chars_per_word.filter(|&limit| limit != 100) {
        return different(format!("words of at most {limit} characters"));
    }
    let Some(normalizer) = file.normalizer else {
        return different("no normalizer".to_owned());
    };
    if normalizer.kind != "BertNormalizer" {
        return different(format!("normalizer `{}`", normalizer.kind));
    }
    let on = |option: Option<bool>| option.unwrap_or(true);
    let uncased = on(normalizer.lowercase)
        && on(normalizer.strip_accents)
        && on(normalizer.clean_text)
        && on(normalizer.handle_chinese_chars);
    if !uncased {
        return different("a normalizer that keeps case, accents or control characters".to_owned());
    }
    in_rank_order(model.vocab)
}

fn in_rank_order(vocabulary: BTreeMap<String, usize>) -> Result<Vec<String>, DistillError> {
    let mut pieces = vec![None; vocabulary.len()];
    for (piece, rank) in vocabulary {
        if piece.contains(['\n', '\r']) {
            return Err(DistillError::Tokenizer { what: format!("a line break in piece {rank}") });
        }
        match pieces.get_mut(rank) {
            Some(slot @ None) => *slot = Some(piece),
            _ => {
                let what = format!("rank {rank} for `{piece}`, which is taken or too large");
                return Err(DistillError::Tokenizer { what });
            }
        }
    }
    // As many ranks as pieces, none taken twice: every rank is there.
    Ok(pieces.into_iter().flatten().collect())
}

/// One vector per piece, row-major `(pieces, hidden)`.
fn encode_pieces(
    pieces: &[String],
    weights: Vec<u8>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Vec<f32>, DistillError> {
    let rank = |special: &str| {
        let index = pieces.iter().position(|piece| piece == special);
        index
            .and_then(|index| u32::try_from(index).ok())
            .ok_or_else(|| DistillError::Tokenizer { what: format!("no piece `{special}`") })
    };
    let (start, end) = (rank("[CLS]")?, rank("[SEP]")?);
    let device = Device::Cpu;
    let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &device)?;
    let encoder = BertModel::load(weights, config)?;
    let ranks: Vec<u32> = (0..).take(pieces.len()).collect();
    let mut vectors = Vec::with_capacity(pieces.len() * config.hidden_size);
    for batch in ranks.chunks(PIECES_PER_BATCH) {
        let ids: Vec<u32> = batch.iter().flat_map(|&piece| [start, piece, end]).collect();
        let ids = Tensor::from_vec(ids, (batch.len(), 3), &device)?;
        let last_layer = encoder.forward(&ids, &ids.zeros_like()?, None)?;
        vectors.extend(last_layer.mean(1)?.flatten_all()?.to_vec1::<f32>()?);
        progress.advance(batch.len() as u64);
    }
    Ok(vectors)
}

/// The safetensors file of the weighted rows.
fn store(rows: &[f64], config: &StaticConfig) -> Result<Vec<u8>, DistillError> {
    let mut entries = Vec::with_capacity(rows.len());
    let mut scales = Vec::with_capacity(config.pieces * 4);
    for row in rows.chunks_exact(config.dims) {
        let largest = row.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        #[expect(clippy::cast_possible_truncation, reason = "a scale keeps 24 bits")]
        let scale = (largest / LARGEST_ENTRY) as f32;
        scales.extend(scale.to_le_bytes());
        for &entry in row {
            // A row of zeros (rank 0 has weight 0) has scale 0.
            let stored = if scale > 0.0 { (entry / f64::from(scale)).round() } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "clamped to 8 bits")]
            let stored = stored.clamp(-LARGEST_ENTRY, LARGEST_ENTRY) as i8;
            entries.push(stored.cast_unsigned());
        }
    }
    let tensors = [
        ("rows", TensorView::new(Dtype::I8, vec![config.pieces, config.dims], &entries)?),
        ("scales", TensorView::new(Dtype::F32, vec![config.pieces], &scales)?),
    ];
    Ok(safetensors::serialize(tensors, None)?)
}
