//! `bert:FOLDER`: transformer encoders with the weights of the Hugging Face hub.
//!
//! # From a text to a vector
//!
//! 1. tokenizer.json cuts the text into tokens; its own truncation and padding are ignored.
//! 2. A text with more tokens than the model takes is cut into windows of equal rights, or
//!    truncated, or refused: [`LongText`].
//! 3. The encoder gives every token a vector; the model's own pooling ([`Pooling`]) makes one.
//! 4. The maps that the model has after pooling (`Dense`) are applied, and of a model that says so
//!    (`truncate_dim`) the first entries are kept.
//! 5. The vector is divided by its L2 norm. Windows: the mean of their unit vectors, weighted by
//!    their numbers of tokens, is normalized again.
//!
//! # Which computation
//!
//! BERT, RoBERTa, XLM-R, CamemBERT, DistilBERT and `MPNet` run in our own forward pass (`post_norm`),
//! ModernBERT, nomic-embed and Qwen3-Embedding in candle's. A model that asks for anything else is refused with the reason, never
//! run approximately.
//!
//! # Deviations from sentence-transformers
//!
//! - A text without any token that the tokenizer knows gets the zero vector, which carries no
//!   direction; sentence-transformers embeds the special tokens alone.
//! - Long texts are windowed by default; sentence-transformers truncates (`LongText::Truncate`).
//! - Vectors are normalized even if the model has no Normalize module; cosines are the same.
//! - Components differ by rounding, 1e-6 for `all-MiniLM-L6-v2` (`tests/library/real_model.rs` allows 1e-4).
//! - With [`Precision::Bf16`] what the linear maps of layers multiply is rounded to 16 bits; cosines of
//!   `all-MiniLM-L6-v2` to its vectors in 32 bits are above .9999 (tested there, too).
//!
//! A vector has the same bits whatever the batch size and the number of threads.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use caz_gguf::kernels::bf16::{Bf16, NoBf16};

use crate::data::interruption::Interrupted;
use crate::data::progress::Progress;
use crate::data::work::all_or_first_error;
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::embed::{EmbedError, Embedder, Embeddings};

mod candle;
mod config;
mod dense;
mod error;
mod json;
mod kernels;
mod post_norm;
mod schedule;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

pub(crate) use super::settings::{LongText, Pooling, Precision};
pub(crate) use error::BertError;

pub(in crate::embed) use config::transformer_folder;
#[cfg(feature = "hub")]
pub(in crate::embed) use config::{model_type, supported_family};
#[cfg(feature = "hub")]
pub(in crate::embed) use weights::weight_paths;

use candle::CandleEncoder;
use config::{Architecture, SentenceConfig};
use dense::Dense;
use post_norm::{PostNormEncoder, Workspace};
use tokens::TextTokenizer;
use weights::Weights;

/// How a [`BertEmbedder`] runs; neither `batch_tokens` nor `threads` changes a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BertOptions {
    /// Texts longer than the model takes.
    pub long_text: LongText,
    /// Replaces the pooling that the model's own files ask for.
    pub pooling: Option<Pooling>,
    /// Which of the model's prompts goes before every text, in place of its default.
    pub prompt_name: Option<String>,
    /// How exactly linear maps are computed.
    pub precision: Precision,
    /// Tokens computed together by one thread; more needs more memory, fewer is slower.
    pub batch_tokens: NonZeroUsize,
    /// Worker threads; `None` for as many as rayon's current pool has.
    pub threads: Option<NonZeroUsize>,
}

impl BertOptions {
    /// The default of `batch_tokens`: for all-MiniLM-L6-v2, 512 was 3 % slower and 2048 not faster.
    pub(crate) const BATCH_TOKENS: NonZeroUsize =
        NonZeroUsize::new(1024).expect("1024 is not zero");
}

impl Default for BertOptions {
    fn default() -> Self {
        Self {
            long_text: LongText::default(),
            pooling: None,
            prompt_name: None,
            precision: Precision::default(),
            batch_tokens: Self::BATCH_TOKENS,
            threads: None,
        }
    }
}

enum Encoder {
    PostNorm(PostNormEncoder),
    Candle(CandleEncoder),
}

impl Encoder {
    /// Entries of the vector of a token.
    fn hidden_size(&self) -> usize {
        match self {
            Self::PostNorm(encoder) => encoder.hidden_size(),
            Self::Candle(encoder) => encoder.hidden_size(),
        }
    }
}

/// What one worker thread keeps from batch to batch.
#[derive(Default)]
struct Worker {
    workspace: Workspace,
    /// Of one thread: candle hands its matrix products to all threads of the pool it runs in.
    pool: Option<rayon::ThreadPool>,
}

impl Worker {
    fn pool(&mut self) -> Result<&rayon::ThreadPool, BertError> {
        if self.pool.is_none() {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            self.pool = Some(pool.map_err(|source| BertError::Threads { source })?);
        }
        Ok(self.pool.as_ref().expect("it has just been made"))
    }
}

/// A loaded encoder with its tokenizer and pooling.
pub struct BertEmbedder {
    name: String,
    encoder: Encoder,
    tokenizer: TextTokenizer,
    pooling: Pooling,
    /// After pooling.
    dense: Vec<Dense>,
    /// Before every text.
    prompt: String,
    /// Entries of a vector.
    dims: usize,
    /// Most tokens of one sequence, special tokens included.
    max_tokens: usize,
    options: BertOptions,
}

/// One piece of a text, computed as one sequence.
struct Window {
    text: usize,
    ids: Vec<u32>,
    /// Tokens that are not special; the window's weight.
    content: usize,
}

impl BertEmbedder {
    /// Loads the model in `folder`; `name` is what [`Embedder::name`] returns.
    ///
    /// # Errors
    ///
    /// `BertError` if a file is missing or damaged, the model asks for something that caz does not
    /// compute, or this machine cannot compute as precisely or imprecisely as asked.
    pub fn load(folder: &Path, name: &str, options: BertOptions) -> Result<Self, BertError> {
        Self::load_with(folder, name, options, Bf16::detect)
    }

    /// [`Self::load`] with what finds out whether this machine multiplies in 16 bits.
    fn load_with(
        folder: &Path,
        name: &str,
        options: BertOptions,
        detect: impl FnOnce() -> Result<Bf16, NoBf16>,
    ) -> Result<Self, BertError> {
        let bf16 = match options.precision {
            Precision::F32 => None,
            Precision::Bf16 => Some(detect().map_err(|source| BertError::NoBf16 { source })?),
        };
        let sentence_folder = folder;
        let folder = &transformer_folder(sentence_folder)?;
        let architecture = Architecture::read(folder)?;
        let sentence = SentenceConfig::read(sentence_folder, &options)?;
        let tokenizer = TextTokenizer::load(folder, sentence.lowercase)?;
        let mut weights = Weights::open(folder)?;
        let (encoder, positions) = match architecture {
            Architecture::PostNorm(config) => {
                let positions = config.max_tokens();
                let encoder = PostNormEncoder::load(&mut weights, config, bf16)?;
                (Encoder::PostNorm(encoder), positions)
            }
            Architecture::Candle(_) if bf16.is_some() => {
                return Err(BertError::OnlyF32 { folder: folder.clone() });
            }
            Architecture::Candle(config) => {
                let encoder = CandleEncoder::load(&mut weights, config)?;
                let positions = encoder.max_tokens();
                (Encoder::Candle(encoder), positions)
            }
        };
        let max_tokens = sentence.max_tokens.map_or(positions, |limit| limit.min(positions));
        if max_tokens <= tokenizer.special() {
            return Err(BertError::SequenceLength {
                tokens: tokenizer.special() + 1,
                limit: max_tokens,
            });
        }
        let mut hidden = encoder.hidden_size();
        let mut dense = Vec::with_capacity(sentence.dense.len());
        for folder in &sentence.dense {
            let map = Dense::load(folder, hidden)?;
            hidden = map.outputs();
            dense.push(map);
        }
        Ok(Self {
            name: name.to_owned(),
            encoder,
            tokenizer,
            pooling: sentence.pooling,
            dense,
            prompt: sentence.prompt,
            dims: sentence.dims.map_or(hidden, |dims| dims.min(hidden)),
            max_tokens,
            options,
        })
    }

    /// Entries of a vector.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// Most tokens the model takes at once, special tokens included.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The pooling in use.
    #[cfg(test)]
    pub(crate) fn pooling(&self) -> Pooling {
        self.pooling
    }

    /// The model's tokenizer, without truncation and padding.
    pub fn tokenizer(&self) -> &tokenizers::Tokenizer {
        self.tokenizer.tokenizer()
    }

    /// One vector per sequence of raw token ids, the mean over all positions of the last layer,
    /// whatever the model's pooling, not normalized: what another implementation can be compared with.
    ///
    /// Special tokens are not added. The rows of the answer are in the order of `sequences`;
    /// `progress` hears of every finished sequence once.
    ///
    /// # Errors
    ///
    /// `BertError` if a sequence is empty or too long or has an id outside the vocabulary.
    pub fn mean_hidden_states(
        &self,
        sequences: &[Vec<u32>],
        progress: &dyn Progress,
    ) -> Result<DenseVectors, BertError> {
        for sequence in sequences {
            if sequence.is_empty() || sequence.len() > self.max_tokens {
                return Err(BertError::SequenceLength {
                    tokens: sequence.len(),
                    limit: self.max_tokens,
                });
            }
        }
        let ids: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
        let values = self.encode(&ids, Pooling::Mean, progress, &|_| progress.advance(1))?;
        let values = values.into_iter().map(f64::from).collect();
        Ok(DenseVectors::from_values(self.encoder.hidden_size(), values))
    }

    fn threads(&self) -> usize {
        self.options.threads.map_or_else(rayon::current_num_threads, NonZeroUsize::get)
    }

    /// The pooled vector of every sequence, row-major; `finished` hears of every sequence,
    /// `progress` says whether to stop.
    fn encode(
        &self,
        sequences: &[&[u32]],
        pooling: Pooling,
        progress: &dyn Progress,
        finished: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<f32>, BertError> {
        let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
        let batches = schedule::batches(&lengths, self.options.batch_tokens.get());
        let dims = self.encoder.hidden_size();
        let rows =
            all_or_first_error(batches.len(), self.threads(), Worker::default, |batch, worker| {
                if progress.interrupted() {
                    return Err(BertError::Interrupted(Interrupted));
                }
                let members = &batches[batch];
                let ids: Vec<&[u32]> = members.iter().map(|&member| sequences[member]).collect();
                let pooled = self.pooled(&ids, pooling, worker)?;
                for &member in members {
                    finished(member);
                }
                Ok(pooled)
            })?;
        let mut values = vec![0.0; sequences.len() * dims];
        for (members, pooled) in batches.iter().zip(rows) {
            for (&member, row) in members.iter().zip(pooled.chunks_exact(dims)) {
                values[member * dims..(member + 1) * dims].copy_from_slice(row);
            }
        }
        Ok(values)
    }

    fn pooled(
        &self,
        sequences: &[&[u32]],
        pooling: Pooling,
        worker: &mut Worker,
    ) -> Result<Vec<f32>, BertError> {
        let dims = self.encoder.hidden_size();
        let mut pooled = Vec::with_capacity(sequences.len() * dims);
        match &self.encoder {
            Encoder::PostNorm(encoder) => {
                let mut states = encoder.forward(sequences, &mut worker.workspace)?;
                for sequence in sequences {
                    let (of_this, rest) = states.split_at(sequence.len() * dims);
                    pool(of_this, dims, pooling, &mut pooled);
                    states = rest;
                }
            }
            Encoder::Candle(encoder) => {
                let pool_of_one = worker.pool()?;
                for sequence in sequences {
                    let states = pool_of_one.install(|| encoder.forward(sequence))?;
                    pool(&states, dims, pooling, &mut pooled);
                }
            }
        }
        if pooled.iter().all(|value| value.is_finite()) {
            Ok(pooled)
        } else {
            Err(BertError::NotFinite)
        }
    }

    /// Tokenizes texts, in parallel; the ids are without special tokens.
    fn tokenize(&self, texts: &[&str], first: usize) -> Result<Vec<Vec<u32>>, BertError> {
        /// Texts per job: enough to make the hand-out of jobs cheap.
        const CHUNK: usize = 16;
        let chunks = all_or_first_error(
            texts.len().div_ceil(CHUNK),
            self.threads(),
            || (),
            |job, ()| {
                let start = job * CHUNK;
                let chunk = &texts[start..texts.len().min(start + CHUNK)];
                let encode = |(i, text): (usize, &&str)| {
                    let index = first + start + i;
                    let encoded = match self.tokenizer.encode(text) {
                        // A text without a known token has no direction, with a prompt or without.
                        Ok(ids) if !ids.is_empty() && !self.prompt.is_empty() => {
                            self.tokenizer.encode(&format!("{}{text}", self.prompt))
                        }
                        other => other,
                    };
                    encoded.map_err(|source| BertError::Tokenize { index, source })
                };
                chunk.iter().enumerate().map(encode).collect::<Result<Vec<_>, BertError>>()
            },
        )?;
        Ok(chunks.into_iter().flatten().collect())
    }

    /// Cuts the content of one text into windows, all but the last of full length.
    fn windows(&self, text: usize, content: &[u32]) -> Result<Vec<Window>, EmbedError> {
        let room = self.max_tokens - self.tokenizer.special();
        let content = match self.options.long_text {
            LongText::Truncate => &content[..content.len().min(room)],
            LongText::Error if content.len() > room => {
                let tokens = content.len() + self.tokenizer.special();
                return Err(EmbedError::TooLong { index: text, tokens, limit: self.max_tokens });
            }
            LongText::Error | LongText::Window => content,
        };
        let window = |part: &[u32]| Window {
            text,
            ids: [&self.tokenizer.prefix, part, &self.tokenizer.suffix].concat(),
            content: part.len(),
        };
        Ok(content.chunks(room).map(window).collect())
    }

    /// Embeds texts `first..` of the call, appending their rows to `vectors`.
    fn embed_group(
        &self,
        texts: &[&str],
        first: usize,
        progress: &dyn Progress,
        result: &mut Embeddings64,
    ) -> Result<(), EmbedError> {
        let room = self.max_tokens - self.tokenizer.special();
        let contents = self.tokenize(texts, first)?;
        result.long_texts += contents.iter().filter(|content| content.len() > room).count();
        let mut windows = Vec::new();
        let mut unfinished = Vec::with_capacity(texts.len());
        for (i, content) in contents.iter().enumerate() {
            let of_this = self.windows(first + i, content)?;
            unfinished.push(AtomicUsize::new(of_this.len()));
            if of_this.is_empty() {
                progress.advance(1);
            }
            windows.extend(of_this);
        }
        let sequences: Vec<&[u32]> = windows.iter().map(|window| window.ids.as_slice()).collect();
        let vectors = self.encode(&sequences, self.pooling, progress, &|window| {
            let text = windows[window].text - first;
            if unfinished[text].fetch_sub(1, Ordering::Relaxed) == 1 {
                progress.advance(1);
            }
        })?;
        let dims = self.dims();
        let start = result.values.len();
        result.values.resize(start + texts.len() * dims, 0.0);
        for (window, pooled) in windows.iter().zip(vectors.chunks_exact(self.encoder.hidden_size()))
        {
            let mapped = self
                .dense
                .iter()
                .fold(Cow::Borrowed(pooled), |vector, map| Cow::Owned(map.apply(&vector)));
            let vector = &mapped[..dims];
            let norm = length(vector.iter().map(|&value| f64::from(value)));
            if norm == 0.0 {
                continue;
            }
            let at = start + (window.text - first) * dims;
            for (sum, &value) in result.values[at..at + dims].iter_mut().zip(vector) {
                *sum += f64::from(value) / norm * window.content as f64;
            }
        }
        for row in result.values[start..].chunks_exact_mut(dims) {
            let norm = length(row.iter().copied());
            if norm > 0.0 {
                for value in row {
                    *value /= norm;
                }
            }
        }
        Ok(())
    }
}

/// The rows and counts of [`Embeddings`] while they grow.
#[derive(Default)]
struct Embeddings64 {
    values: Vec<f64>,
    long_texts: usize,
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Appends the pooled row of one sequence's token vectors.
fn pool(states: &[f32], dims: usize, pooling: Pooling, pooled: &mut Vec<f32>) {
    match pooling {
        Pooling::Last => pooled.extend_from_slice(&states[states.len() - dims..]),
        Pooling::Max => {
            let start = pooled.len();
            pooled.extend_from_slice(&states[..dims]);
            for state in states.chunks_exact(dims) {
                for (most, &value) in pooled[start..].iter_mut().zip(state) {
                    *most = most.max(value);
                }
            }
        }
        Pooling::Cls => pooled.extend_from_slice(&states[..dims]),
        Pooling::Mean => {
            let start = pooled.len();
            pooled.resize(start + dims, 0.0);
            let row = &mut pooled[start..];
            for state in states.chunks_exact(dims) {
                for (sum, value) in row.iter_mut().zip(state) {
                    *sum += value;
                }
            }
            let count = (states.len() / dims) as f32;
            for sum in row {
                *sum /= count;
            }
        }
    }
}

impl Embedder for BertEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        /// Texts tokenized before the first is computed; bounds the memory for token ids.
        const GROUP: usize = 4096;
        let mut result = Embeddings64::default();
        for (group, texts) in texts.chunks(GROUP).enumerate() {
            self.embed_group(texts, group * GROUP, progress, &mut result)?;
        }
        let vectors = Vectors::Dense(DenseVectors::from_values(self.dims(), result.values));
        Ok(Embeddings { vectors, long_texts: result.long_texts })
    }
}

impl std::fmt::Debug for BertEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("BertEmbedder")
            .field("name", &self.name)
            .field("dims", &self.dims())
            .field("max_tokens", &self.max_tokens)
            .field("pooling", &self.pooling)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
