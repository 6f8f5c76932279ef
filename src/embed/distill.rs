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

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::data::hexadecimal::hexadecimal;
use crate::data::progress::Progress;
use crate::embed::bert::{BertEmbedder, BertError, BertOptions, weight_paths};
use crate::embed::principal_components::PrincipalComponents;
use crate::embed::static_model::{
    CONFIG_FILE, FORMAT, StaticConfig, StaticModel, TABLE_FILE, VOCABULARY_FILE,
};
use crate::error::{ErrorKind, Kinded, Remedy};

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
    #[error("cannot read `{}`; an encoder is a folder with config.json, tokenizer.json and weights", path.display())]
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
        "{dims} dimensions asked for, the encoder has {hidden}; choose a number between 1 and {hidden}"
    )]
    Dims {
        /// Asked for.
        dims: usize,
        /// The encoder's.
        hidden: usize,
    },
    /// The encoder cannot be loaded or run.
    #[error(transparent)]
    Encoder(#[from] BertError),
    /// The table cannot be written as safetensors.
    #[error("the table cannot be stored")]
    Table(
        /// What safetensors says.
        #[from]
        safetensors::SafeTensorError,
    ),
    /// A file of the new model cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl Kinded for DistillError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } | Self::Write { .. } => ErrorKind::Missing,
            Self::Dims { .. } => ErrorKind::Usage,
            Self::Encoder(error) => error.kind(),
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Dims { .. } => Some(Remedy::ChooseDimensions),
            Self::Write { .. } => Some(Remedy::ChooseOutput),
            Self::Encoder(error) => error.remedy(),
            _ => None,
        }
    }
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

/// Distils the BERT encoder in `folder`: `config.json`, `tokenizer.json` and weights, as
/// [`BertEmbedder::load`] reads them.
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
    let encoder = BertEmbedder::load(folder, "bert", BertOptions::default())?;
    if options.dims == 0 || options.dims > encoder.dims() {
        return Err(DistillError::Dims { dims: options.dims, hidden: encoder.dims() });
    }
    let source_sha256 = weights_sha256(folder)?;
    let (start, end) = encoder.special_tokens();
    let ranks = (0_u32..).take(pieces.len());
    let alone: Vec<Vec<u32>> = ranks.map(|piece| [start, &[piece], end].concat()).collect();
    let vectors = encoder.mean_hidden_states(&alone, progress)?;
    let vectors: Vec<f64> = vectors.rows().flatten().copied().collect();
    let components = PrincipalComponents::fit(&vectors, encoder.dims(), options.dims);
    let mut rows = components.project(&vectors);
    for (rank, row) in rows.chunks_exact_mut(options.dims).enumerate() {
        let weight = (rank as f64).ln_1p();
        for entry in row {
            *entry *= weight;
        }
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
            for entry in &mut vector {
                *entry /= norm;
            }
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
    // A model is no secret: the permissions of a usual new file, not of a temporary one.
    #[cfg(unix)]
    let mut file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)?;
    #[cfg(not(unix))]
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, DistillError> {
    fs::read(path).map_err(|source| DistillError::Read { path: path.to_owned(), source })
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

/// Pieces in the vocabulary of the encoder in `folder`: the work that [`distill`] has to do.
///
/// # Errors
///
/// [`DistillError`] if its tokenizer cannot be read.
pub fn vocabulary_size(folder: &Path) -> Result<u64, DistillError> {
    Ok(read_pieces(&folder.join("tokenizer.json"))?.len() as u64)
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
        if let Some(slot @ None) = pieces.get_mut(rank) {
            *slot = Some(piece);
        } else {
            let what = format!("rank {rank} for `{piece}`, which is taken or too large");
            return Err(DistillError::Tokenizer { what });
        }
    }
    // As many ranks as pieces, none taken twice: every rank is there.
    Ok(pieces.into_iter().flatten().collect())
}

/// SHA-256 of the weight files, one after the other as they are read.
fn weights_sha256(folder: &Path) -> Result<String, DistillError> {
    let mut hash = Sha256::new();
    for path in weight_paths(folder)? {
        hash.update(read(&path)?);
    }
    Ok(hexadecimal(&hash.finalize()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use crate::embed::{Embedder, static_model};

    fn tiny(family: &str) -> PathBuf {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tiny")).join(family)
    }

    fn distil(dims: usize) -> Distilled {
        distill(&tiny("bert"), DistillOptions { dims }, &NoProgress).unwrap()
    }

    fn cosine(a: &[f64], b: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn with_all_dimensions_rows_have_the_angles_of_the_centered_encoder_vectors() {
        // A rotation keeps angles, so only centering and 8 bits stand between the two.
        let distilled = distil(16);
        let model = distilled.model("tiny");
        let encoder = BertEmbedder::load(&tiny("bert"), "tiny", BertOptions::default()).unwrap();
        let sequences: Vec<Vec<u32>> = (0..57).map(|piece| vec![2, piece, 3]).collect();
        let vectors = encoder.mean_hidden_states(&sequences, &NoProgress).unwrap();
        let mean: Vec<f64> = (0..16)
            .map(|dim| vectors.rows().map(|row| row[dim]).sum::<f64>() / vectors.len() as f64)
            .collect();
        let centered = |piece: usize| -> Vec<f64> {
            vectors.row(piece).iter().zip(&mean).map(|(x, mean)| x - mean).collect()
        };
        assert_eq!(vectors.len(), model.wordpiece().len());
        for a in 1..57_u16 {
            for b in 1..a {
                let stored = |piece: u16| model.piece_vector(u32::from(piece)).unwrap();
                let expected = cosine(&centered(a.into()), &centered(b.into()));
                let found = cosine(&stored(a), &stored(b));
                assert!((found - expected).abs() < 0.02, "{a}, {b}: {found} is not {expected}");
            }
        }
        assert!((distilled.explained_variance() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rows_grow_with_the_logarithm_of_their_rank() {
        let distilled = distil(16);
        // ln(1 + 0) = 0.
        assert_eq!(distilled.rows[..16], [0.0; 16]);
        let encoder = BertEmbedder::load(&tiny("bert"), "tiny", BertOptions::default()).unwrap();
        let sequences: Vec<Vec<u32>> = (0..57).map(|piece| vec![2, piece, 3]).collect();
        let vectors = encoder.mean_hidden_states(&sequences, &NoProgress).unwrap();
        let distance = |a: usize, b: usize, weight_a: f64, weight_b: f64| {
            let (a, b) = (&distilled.rows[16 * a..][..16], &distilled.rows[16 * b..][..16]);
            a.iter().zip(b).map(|(a, b)| (a / weight_a - b / weight_b).powi(2)).sum::<f64>().sqrt()
        };
        // Without the weights, distances are those of the encoder's vectors.
        let expected = vectors.row(9).iter().zip(vectors.row(40)).map(|(a, b)| (a - b).powi(2));
        let found = distance(9, 40, 10.0_f64.ln(), 41.0_f64.ln());
        assert!((found - expected.sum::<f64>().sqrt()).abs() < 1e-6);
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_number_of_threads() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| distil(5))
        };
        let (one, three) = (with(1), with(3));
        assert_eq!(one.table, three.table);
        assert_eq!(one.vocabulary, three.vocabulary);
    }

    #[test]
    fn what_is_written_reads_as_the_same_model_and_is_close_to_the_exact_one() {
        let distilled = distil(8);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new").join("model");
        distilled.write(&folder).unwrap();
        // A second time replaces the first.
        distilled.write(&folder).unwrap();
        let read = StaticModel::from_folder(&folder).unwrap();
        let text = "The cat sat";
        let vectors = read.embed(&[text], &NoProgress).unwrap().vectors;
        assert_eq!(vectors, distilled.model("x").embed(&[text], &NoProgress).unwrap().vectors);
        let mut vector = [0.0; 8];
        read.embed_into(text, &mut vector);
        assert!(cosine(&vector, &distilled.exact_vector(&read, text)) > 0.999);
        let files = [static_model::CONFIG_FILE, VOCABULARY_FILE, TABLE_FILE];
        let bytes: u64 =
            files.iter().map(|file| fs::metadata(folder.join(file)).unwrap().len()).sum();
        assert_eq!(bytes, distilled.size() as u64);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn other_tokenizers_and_dimensions_are_errors_that_say_what_to_do() {
        let fails = |family: &str, dims| {
            distill(&tiny(family), DistillOptions { dims }, &NoProgress).unwrap_err()
        };
        assert!(matches!(fails("bert", 0), DistillError::Dims { dims: 0, hidden: 16 }));
        let error = fails("bert", 17);
        assert!(error.to_string().contains("between 1 and 16"), "{error}");
        let error = fails("xlm-roberta", 4);
        assert!(error.to_string().contains("only BERT encoders with a WordPiece"), "{error}");
        assert!(matches!(fails("missing", 4), DistillError::Read { .. }));
    }
}
