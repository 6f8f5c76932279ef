//! Models that run on this machine, from GGUF files and from folders with safetensors files as the
//! Hugging Face hub has them. Nothing is sent anywhere.
//!
//! The families llama, qwen2 and qwen3 with byte-level tokenizers; whatever would be computed
//! differently is refused by name. One request at a time: each uses all threads. Answers depend on
//! the files, the request and the processor's kind, not on the number of threads, and no answer
//! depends on another.
//!
//! A form ([`ResponseFormat::JsonSchema`](crate::llm::ResponseFormat)) is not enforced; prompts say
//! it in words.

mod blocks;
mod choice;
mod config;
mod elements;
mod error;
mod folder;
mod forward;
mod gguf;
mod gguf_file;
mod gguf_tokenizer;
mod halves;
mod matrix;
mod sample;
mod source;
mod template;
mod tokenizer;
mod weights;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

pub use self::error::{LocalError, ModelFault};

use self::choice::Kept;
use self::forward::{CHUNK, Memory, Network, States};
use self::gguf_file::GgufFile;
use self::halves::Half;
use self::sample::Sampler;
use self::source::Parts;
use self::template::ChatTemplate;
use self::tokenizer::Tokenizer;
use crate::data::hexadecimal::hexadecimal;
use crate::data::interruption::Interruption;
use crate::llm::budget::{Budget, Reservation};
use crate::llm::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, Usage};
use crate::llm::error::ChatError;

/// How the name of a model on this machine begins: `local:FILE.gguf`, `local:FOLDER`.
pub const PREFIX: &str = "local:";

/// Digits of a file's hash in a model's name: 64 bits.
const NAME_DIGITS: usize = 16;

/// Bytes of a file that are read at once.
const READ_BYTES: usize = 1 << 20;

/// What a model needs besides itself.
#[derive(Debug, Clone, Default)]
pub struct LocalSettings {
    /// The GGUF file, or the folder with safetensors files, configuration and tokenizer.
    pub path: PathBuf,
    /// Threads that compute; `None` for all cores. They never change an answer.
    pub threads: Option<usize>,
    /// What is spent.
    pub budget: Arc<Budget>,
    /// When to stop.
    pub interruption: Interruption,
}

/// A language model on this machine.
#[derive(Debug)]
pub struct LocalModel {
    name: String,
    settings: LocalSettings,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    network: Network,
    pool: ThreadPool,
    /// Held while a request is worked on.
    turn: Mutex<Kept>,
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

impl LocalModel {
    /// Loads a model.
    ///
    /// # Errors
    ///
    /// [`LocalError::File`] if the file cannot be read, [`LocalError::Model`] if it cannot be run.
    pub fn open(settings: LocalSettings) -> Result<Self, LocalError> {
        let path = settings.path.clone();
        let name = name_of(&path)?;
        let Parts { config, tokenizer, template, weights } = Parts::read(&path)?;
        let network = Network { config, weights };
        // Weights that are no numbers are found out before any text is read.
        let pool = ThreadPoolBuilder::new()
            .num_threads(settings.threads.unwrap_or(0))
            .thread_name(|index| format!("model-{index}"))
            .build()?;
        let checked = pool.install(|| {
            let states = network.read(&[0], &mut Memory::<Half>::default());
            network.logits(&states, 0)
        });
        match checked {
            Err(LocalError::NotFinite) => {
                return Err(LocalError::Model { path, fault: ModelFault::NotFinite });
            }
            checked => checked.map(drop)?,
        }
        Ok(Self { name, settings, tokenizer, template, network, pool, turn: Mutex::default() })
    }

    /// What the model says about itself.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn describe(path: &Path) -> Result<Description, LocalError> {
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

    /// Tokens of a conversation as the model reads it, the opening of its answer included.
    ///
    /// # Errors
    ///
    /// [`LocalError::Template`], [`LocalError::Tokens`].
    pub fn tokens(&self, messages: &[Message]) -> Result<Vec<u32>, LocalError> {
        self.tokens_of_answer(messages, "")
    }

    /// Tokens of a conversation up to the beginning of an answer.
    fn tokens_of_answer(
        &self,
        messages: &[Message],
        beginning: &str,
    ) -> Result<Vec<u32>, LocalError> {
        let guarded: Vec<Message> = messages
            .iter()
            .map(|message| Message::new(message.role, self.tokenizer.guarded(&message.content)))
            .collect();
        let rendered = self.template.render(&guarded)?;
        self.tokenizer.encode(&(rendered + &self.tokenizer.guarded(beginning)))
    }

    /// How fast it is on this machine now: some hundred tokens read, then some written.
    ///
    /// # Errors
    ///
    /// As [`ChatModel::complete`].
    pub fn speed(&self) -> Result<Speed, ChatError> {
        const READ: usize = 512;
        const WRITTEN: usize = 32;
        let room = (self.network.config.context - 1).saturating_sub(WRITTEN).clamp(1, READ);
        let known = u32::try_from(self.tokenizer.vocabulary()).unwrap_or(u32::MAX);
        let ids: Vec<u32> = (0..known).cycle().take(room).collect();
        let mut memory: Memory = Memory::default();
        let start = Instant::now();
        self.read(&ids, &mut memory)?;
        let read = room as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut written = 0;
        while written < WRITTEN && memory.tokens() < self.network.config.context {
            self.look()?;
            self.pool.install(|| {
                let states = self.network.read(&ids[..1], &mut memory);
                self.network.logits(&states, 0)
            })?;
            written += 1;
        }
        Ok(Speed { read, written: written as f64 / start.elapsed().as_secs_f64() })
    }

    /// Reads a prompt in pieces and returns the states of the last piece.
    fn read(&self, ids: &[u32], memory: &mut Memory) -> Result<States, ChatError> {
        let context = self.network.config.context;
        let tokens = memory.tokens() + ids.len();
        if tokens >= context || ids.is_empty() {
            return Err(LocalError::TooLong { tokens, context }.into());
        }
        let mut last = None;
        for chunk in ids.chunks(CHUNK) {
            self.look()?;
            // Before there are others.
            drop(last.take());
            last = Some(self.pool.install(|| self.network.read(chunk, memory)));
        }
        Ok(last.expect("there is at least one token"))
    }

    /// Whether to go on.
    fn look(&self) -> Result<(), ChatError> {
        if self.settings.interruption.requested() { Err(ChatError::Interrupted) } else { Ok(()) }
    }

    /// Continues a prompt by at most `most` tokens. Returns them and whether the model was done.
    fn generate(
        &self,
        prompt: &[u32],
        most: usize,
        sampler: &mut Sampler,
        reservation: &mut Reservation<'_>,
    ) -> Result<(Vec<u32>, bool), ChatError> {
        let mut memory: Memory = Memory::default();
        let mut states = self.read(prompt, &mut memory)?;
        let mut written = Vec::new();
        loop {
            reservation.so_far((prompt.len() + written.len()) as u64);
            let logits = self.pool.install(|| self.network.logits(&states, states.last()))?;
            let next = sampler.choose(&logits);
            if self.tokenizer.is_end(next) {
                return Ok((written, true));
            }
            written.push(next);
            if written.len() >= most || memory.tokens() + 1 >= self.network.config.context {
                return Ok((written, false));
            }
            self.look()?;
            states = self.pool.install(|| self.network.read(&[next], &mut memory));
        }
    }
}

impl ChatModel for LocalModel {
    /// As [`name_of`] says, so that answers of other files are never taken for those of these.
    fn model(&self) -> &str {
        &self.name
    }

    /// Answers; as with servers, an answer that is cut off may take twice the tokens.
    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        if !request.questions().is_empty() {
            return self.choices(request);
        }
        let prompt = self.tokens(&request.messages)?;
        let most = u64::from(request.max_tokens).saturating_mul(2);
        let reserve = (prompt.len() as u64).saturating_add(most);
        let mut reservation = self.settings.budget.reserve(reserve, &self.settings.interruption)?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.look()?;
        let mut sampler = Sampler::new(request.temperature, request.seed, request.repeat);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let (written, done) = self.generate(&prompt, most, &mut sampler, &mut reservation)?;
        let usage = Usage {
            prompt_tokens: prompt.len() as u64,
            completion_tokens: written.len() as u64,
            estimated: false,
        };
        reservation.cost(usage);
        let finish = if done { FinishReason::Stop } else { FinishReason::Length };
        Ok(ChatAnswer { text: self.tokenizer.decode(&written), finish, usage })
    }
}

/// The name of the model in a file: `local:`, the file's name, `@` and the start of its SHA-256. That
/// of a folder has the SHA-256 of what `sha256sum` writes of the files that are read, in the order of
/// their names.
///
/// # Errors
///
/// [`LocalError::File`] if a file cannot be read, [`LocalError::Model`] if a folder does not say which
/// files are read.
pub fn name_of(path: &Path) -> Result<String, LocalError> {
    let (name, digits) =
        if path.is_dir() { folder::identity(path)? } else { (file_name(path), sha256_of(path)?) };
    Ok(format!("{PREFIX}{name}@{}", &digits[..NAME_DIGITS]))
}

/// The SHA-256 of a file.
fn sha256_of(path: &Path) -> Result<String, LocalError> {
    let failed = |source| LocalError::File { path: path.to_owned(), source };
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

/// The last part of a path.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
