#![doc = include_str!("../README.md")]

mod blocks;
mod config;
mod elements;
mod error;
mod folder;
mod forward;
mod gguf;
mod gguf_file;
mod gguf_tokenizer;
mod halves;
#[doc(hidden)]
pub mod kernels;
mod matrix;
mod sample;
mod source;
mod template;
#[doc(hidden)]
pub mod tensors;
mod tokenizer;
mod weights;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

pub use self::config::FAMILIES;
pub use self::error::{ModelError, ModelFault};
pub use self::forward::{CHUNK, States};
pub use self::sample::Sampler;

use self::forward::Network;
use self::gguf_file::GgufFile;
use self::source::Parts;
use self::template::ChatTemplate;
use self::tokenizer::Tokenizer;

/// Bytes of a file that are read at once.
const READ_BYTES: usize = 1 << 20;

/// A language model on this machine.
#[derive(Debug)]
pub struct Model {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    network: Network,
    pool: ThreadPool,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn<'a> {
    /// Who speaks, as chat templates say it: `system`, `user`, `assistant`.
    pub role: &'a str,
    /// What is said.
    pub content: &'a str,
}

/// What was read so far; empty at first.
#[derive(Debug, Clone, Default)]
pub struct Memory(forward::Memory);

impl Memory {
    /// Tokens read so far.
    pub fn tokens(&self) -> usize {
        self.0.tokens()
    }

    /// Forgets all but the first tokens.
    pub fn forget_behind(&mut self, tokens: usize) {
        self.0.forget_behind(tokens);
    }
}

/// What a model says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Family, e.g. `llama`.
    pub architecture: String,
    /// Bytes of the file, or of the files with weights.
    pub bytes: u64,
    /// Tokens that the model reads at most.
    pub context: usize,
    /// Bytes of memory that each token takes while it is remembered.
    pub bytes_per_token: usize,
    /// The licence, if a file names one; those of folders do not.
    pub license: Option<String>,
}

/// Tokens a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Of a text that is read.
    pub read: f64,
    /// Of an answer that is written.
    pub written: f64,
}

impl Model {
    /// Loads the model in a GGUF file or in a folder; `threads` compute, `None` for all cores. They never
    /// change a number.
    ///
    /// # Errors
    ///
    /// [`ModelError::File`] if a file cannot be read, [`ModelError::Model`] if it cannot be run,
    /// [`ModelError::Threads`].
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Self, ModelError> {
        let Parts { config, tokenizer, template, weights } = Parts::read(path)?;
        let network = Network { config, weights };
        // Weights that are no numbers are found out before any text is read.
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .thread_name(|index| format!("model-{index}"))
            .build()?;
        let checked = pool.install(|| {
            let states = network.read(&[0], &mut forward::Memory::<halves::Half>::default());
            network.logits(&states, 0)
        });
        match checked {
            Err(ModelError::NotFinite) => {
                Err(ModelError::Model { path: path.to_owned(), fault: ModelFault::NotFinite })
            }
            checked => checked.map(|_| Self { tokenizer, template, network, pool }),
        }
    }

    /// What the model says about itself.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn describe(path: &Path) -> Result<Description, ModelError> {
        if path.is_dir() {
            return folder::describe(path);
        }
        let file = GgufFile::open(path)?;
        let config = file.config()?;
        Ok(Description {
            architecture: config.family.name().to_owned(),
            bytes: file.bytes,
            context: config.context,
            bytes_per_token: config.bytes_per_token(),
            license: file.header.text("general.license").ok().map(str::to_owned),
        })
    }

    /// Tokens that the model was made to read, its answer included.
    pub fn context(&self) -> usize {
        self.network.config.context
    }

    /// Tokens of a conversation as the model reads it, up to the `beginning` of its answer. No text in it
    /// becomes a control token; the model's template alone writes these.
    ///
    /// # Errors
    ///
    /// [`ModelError::Template`], [`ModelError::Tokens`].
    pub fn tokens(
        &self,
        conversation: &[Turn<'_>],
        beginning: &str,
    ) -> Result<Vec<u32>, ModelError> {
        let guarded: Vec<String> =
            conversation.iter().map(|turn| self.tokenizer.guarded(turn.content)).collect();
        let guarded: Vec<Turn<'_>> = conversation
            .iter()
            .zip(&guarded)
            .map(|(turn, content)| Turn { content, ..*turn })
            .collect();
        let rendered = self.template.render(&guarded)?;
        self.tokenizer.encode(&(rendered + &self.tokenizer.guarded(beginning)))
    }

    /// Tokens of a text that holds no control token, whatever it says.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tokens`].
    pub fn encode_plain(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.tokenizer.encode_plain(text)
    }

    /// The text of tokens, without control tokens.
    pub fn decode(&self, ids: &[u32]) -> String {
        self.tokenizer.decode(ids)
    }

    /// Whether a token ends an answer.
    pub fn is_end(&self, id: u32) -> bool {
        self.tokenizer.is_end(id)
    }

    /// Reads `ids` behind what `memory` holds, in pieces of [`CHUNK`], and remembers them; the states are
    /// those of the last piece. Before each piece `go_on` may stop it.
    ///
    /// # Errors
    ///
    /// [`ModelError::TooLong`] if there are no tokens or no room for an answer, and what `go_on` says.
    pub fn read<E: From<ModelError>>(
        &self,
        ids: &[u32],
        memory: &mut Memory,
        go_on: impl Fn() -> Result<(), E>,
    ) -> Result<States, E> {
        let context = self.context();
        let tokens = memory.tokens() + ids.len();
        if tokens >= context || ids.is_empty() {
            return Err(ModelError::TooLong { tokens, context }.into());
        }
        let mut last = None;
        for chunk in ids.chunks(CHUNK) {
            go_on()?;
            // Before there are others.
            drop(last.take());
            last = Some(self.pool.install(|| self.network.read(chunk, &mut memory.0)));
        }
        Ok(last.expect("there is at least one token"))
    }

    /// Reads each of `parts` as if it alone followed what `memory` holds, at most [`CHUNK`] tokens
    /// together, and remembers none. The states are those of one part after the other.
    ///
    /// # Panics
    ///
    /// If there are no tokens, or too many.
    pub fn peek(&self, parts: &[&[u32]], memory: &mut Memory) -> States {
        self.pool.install(|| self.network.peek(parts, &mut memory.0))
    }

    /// Log-odds of every token to come next, after the token at this place.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotFinite`].
    pub fn logits(&self, states: &States, place: usize) -> Result<Vec<f32>, ModelError> {
        self.pool.install(|| self.network.logits(states, place))
    }

    /// Log-probabilities of the `wanted` tokens to come next, after each of the tokens at these places, in
    /// 64 bits.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotFinite`].
    pub fn log_probabilities(
        &self,
        states: &States,
        places: &[usize],
        wanted: &[BTreeSet<u32>],
    ) -> Result<Vec<BTreeMap<u32, f64>>, ModelError> {
        self.pool.install(|| self.network.log_probabilities(states, places, wanted))
    }

    /// How fast it is on this machine now: some hundred tokens read, then some written.
    ///
    /// # Errors
    ///
    /// As [`Self::read`] and [`Self::logits`].
    pub fn speed<E: From<ModelError>>(
        &self,
        go_on: impl Fn() -> Result<(), E>,
    ) -> Result<Speed, E> {
        const READ: usize = 512;
        const WRITTEN: usize = 32;
        let room = (self.context() - 1).saturating_sub(WRITTEN).clamp(1, READ);
        let known = u32::try_from(self.tokenizer.vocabulary()).unwrap_or(u32::MAX);
        let ids: Vec<u32> = (0..known).cycle().take(room).collect();
        let mut memory = Memory::default();
        let start = Instant::now();
        self.read(&ids, &mut memory, &go_on)?;
        let read = room as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut written = 0;
        while written < WRITTEN && memory.tokens() < self.context() {
            go_on()?;
            self.pool.install(|| {
                let states = self.network.read(&ids[..1], &mut memory.0);
                self.network.logits(&states, 0)
            })?;
            written += 1;
        }
        Ok(Speed { read, written: written as f64 / start.elapsed().as_secs_f64() })
    }
}

/// The name of a model and the SHA-256 of its file in hexadecimal digits; of a folder that of what
/// `sha256sum` writes of the files that are read, in the order of their names.
///
/// # Errors
///
/// [`ModelError::File`] if a file cannot be read, [`ModelError::Model`] if a folder does not say which
/// files are read.
pub fn identity(path: &Path) -> Result<(String, String), ModelError> {
    if path.is_dir() { folder::identity(path) } else { Ok((file_name(path), sha256_of(path)?)) }
}

/// The SHA-256 of a file.
fn sha256_of(path: &Path) -> Result<String, ModelError> {
    let failed = |source| ModelError::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The last part of a path.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
