//! Models that run on this machine, from GGUF files and from folders with safetensors files: what
//! [`caz_gguf`] reads, as a [`ChatModel`] and a `ChoiceModel`. Nothing is sent
//! anywhere.
//!
//! One request at a time: each uses all threads. Answers depend on the files, the request and the
//! processor's kind, not on the number of threads, and no answer depends on another.
//!
//! A form ([`ResponseFormat::JsonSchema`](crate::llm::ResponseFormat)) is not enforced; prompts say
//! it in words.

mod choice;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use caz_gguf::{Description, Memory, Model, Sampler, Speed, Turn};

pub(crate) use caz_gguf::ModelError;

use self::choice::Kept;
use crate::data::interruption::Interruption;
use crate::error::{ErrorKind, Kinded};
use crate::llm::budget::{Budget, Reservation};
use crate::llm::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason, Message, Role, Usage};
use crate::llm::error::ChatError;

/// How the name of a model on this machine begins: `local:FILE.gguf`, `local:FOLDER`.
pub(crate) const PREFIX: &str = "local:";

/// Digits of a file's hash in a model's name: 64 bits.
const NAME_DIGITS: usize = 16;

/// What a model needs besides itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalSettings {
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
pub(crate) struct LocalModel {
    name: String,
    settings: LocalSettings,
    model: Model,
    /// Held while a request is worked on.
    turn: Mutex<Kept>,
}

impl LocalModel {
    /// Loads a model.
    ///
    /// # Errors
    ///
    /// [`ModelError::File`] if the file cannot be read, [`ModelError::Model`] if it cannot be run.
    pub(crate) fn open(settings: LocalSettings) -> Result<Self, ModelError> {
        let name = name_of(&settings.path)?;
        let model = Model::open(&settings.path, settings.threads)?;
        Ok(Self { name, settings, model, turn: Mutex::default() })
    }

    /// What the model says about itself.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub(crate) fn describe(path: &Path) -> Result<Description, ModelError> {
        Model::describe(path)
    }

    /// Tokens of a conversation as the model reads it, the opening of its answer included.
    ///
    /// # Errors
    ///
    /// [`ModelError::Template`], [`ModelError::Tokens`].
    pub(crate) fn tokens(&self, messages: &[Message]) -> Result<Vec<u32>, ModelError> {
        self.tokens_of_answer(messages, "")
    }

    /// Tokens of a conversation up to the beginning of an answer.
    fn tokens_of_answer(
        &self,
        messages: &[Message],
        beginning: &str,
    ) -> Result<Vec<u32>, ModelError> {
        let turns = messages.iter().map(|message| Turn {
            role: match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            },
            content: &message.content,
        });
        let conversation: Vec<Turn<'_>> = turns.collect();
        self.model.tokens(&conversation, beginning)
    }

    /// How fast it is on this machine now: some hundred tokens read, then some written.
    ///
    /// # Errors
    ///
    /// As [`ChatModel::complete`].
    pub(crate) fn speed(&self) -> Result<Speed, ChatError> {
        self.model.speed(|| self.look())
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
        let mut memory = Memory::default();
        let mut states = self.model.read(prompt, &mut memory, || self.look())?;
        let mut written = Vec::new();
        loop {
            reservation.so_far((prompt.len() + written.len()) as u64);
            let logits = self.model.logits(&states, states.last())?;
            let next = sampler.choose(&logits);
            if self.model.is_end(next) {
                return Ok((written, true));
            }
            written.push(next);
            if written.len() >= most || memory.tokens() + 1 >= self.model.context() {
                return Ok((written, false));
            }
            states = self.model.read(&[next], &mut memory, || self.look())?;
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
        Ok(ChatAnswer { text: self.model.decode(&written), finish, usage })
    }
}

/// The name of the model in a file: `local:`, the file's name, `@` and the start of its SHA-256. That
/// of a folder has the SHA-256 of what `sha256sum` writes of the files that are read, in the order of
/// their names.
///
/// # Errors
///
/// [`ModelError::File`] if a file cannot be read, [`ModelError::Model`] if a folder does not say which
/// files are read.
pub(crate) fn name_of(path: &Path) -> Result<String, ModelError> {
    let (name, digits) = caz_gguf::identity(path)?;
    Ok(format!("{PREFIX}{name}@{}", &digits[..NAME_DIGITS]))
}

impl Kinded for ModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }
}
