//! Why a model file cannot be used, or gives no answer.

use std::io;
use std::path::PathBuf;

/// Why a model on this machine cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be opened or read.
    #[error("cannot read the model `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The file is no model that this program can run.
    #[error("cannot use the model `{path}`")]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: ModelFault,
    },
    /// A conversation does not fit into the model's context.
    #[error(
        "the text has {tokens} tokens with its prompt, and the model reads {context} at most; use a \
         model with a longer context, or shorten the text"
    )]
    TooLong {
        /// Tokens of the conversation.
        tokens: usize,
        /// Tokens that the model was made for.
        context: usize,
    },
    /// The model's chat template cannot write the conversation.
    #[error("the model's chat template cannot write this conversation")]
    Template(#[source] minijinja::Error),
    /// The tokenizer failed on a text.
    #[error("the model's tokenizer failed: {reason}")]
    Tokens {
        /// What it said.
        reason: String,
    },
    /// The model computes something that is no number.
    #[error("the model computes values that are no numbers; the file is damaged")]
    NotFinite,
    /// The threads that compute cannot be started.
    #[error("cannot start the threads of the model")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What is wrong with a file of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFault {
    /// It does not start as a GGUF file does.
    #[error("it is no GGUF file")]
    NotGguf,
    /// It is no safetensors file, or a damaged one.
    #[error("it is no safetensors file, or a damaged one: {reason}")]
    NotSafetensors {
        /// What is wrong with it.
        reason: String,
    },
    /// It is no JSON, or holds no object.
    #[error("it is no JSON that a model has: {reason}")]
    Json {
        /// What is wrong with it.
        reason: String,
    },
    /// It is of a version that is not read, or of a machine with the other byte order.
    #[error("GGUF version {version} is not supported, only 2 and 3 in little-endian order are")]
    Version {
        /// The number in the file.
        version: u32,
    },
    /// It ends before it is complete.
    #[error("it is cut off: {what} ends behind the end of the file; download it again")]
    CutOff {
        /// What does not fit.
        what: String,
    },
    /// A count is larger than in any model.
    #[error("it says that it has {count} {what}, more than {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The count in the file.
        count: u64,
        /// The largest that is read.
        limit: u64,
    },
    /// Something is there twice.
    #[error("`{name}` is there twice")]
    Duplicate {
        /// Key, tensor or token.
        name: String,
    },
    /// A key is missing.
    #[error("`{key}` is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A value makes no sense.
    #[error("`{key}` {reason}")]
    BadValue {
        /// The key.
        key: String,
        /// What is wrong with the value.
        reason: String,
    },
    /// A tensor is missing.
    #[error("the tensor `{name}` is missing")]
    MissingTensor {
        /// Its name.
        name: String,
    },
    /// A tensor is stored in a way that is not known.
    #[error("the tensor `{name}` is of type {number}, which is not supported")]
    TensorType {
        /// Its name.
        name: String,
        /// The number of the type in the file.
        number: u32,
    },
    /// A tensor has another shape than the model needs.
    #[error("the tensor `{name}` has the shape {found:?}, not {expected:?}")]
    TensorShape {
        /// Its name.
        name: String,
        /// Shape in the file, rows first.
        found: Vec<usize>,
        /// Shape that the model needs.
        expected: Vec<usize>,
    },
    /// The numbers of a tensor are of a type that is not known.
    #[error(
        "the tensor `{name}` holds numbers of type {kind}, which is not supported; F32, F16 and \
         BF16 are"
    )]
    NumberType {
        /// Its name.
        name: String,
        /// The name of the type in the file.
        kind: String,
    },
    /// An index says that a file holds a tensor, and it does not.
    #[error("the tensor `{name}` is not in it, where the index of the weights puts it")]
    NotInShard {
        /// Its name.
        name: String,
    },
    /// config.json says that the embedding is the head, too, and there is another head.
    #[error("`tie_word_embeddings` in config.json says that there is no `{name}` of its own")]
    HeadNotTied {
        /// Its name.
        name: String,
    },
    /// A tensor that the architecture does not know, so that leaving it out would change answers.
    #[error("the tensor `{name}` is not known in this architecture")]
    UnexpectedTensor {
        /// Its name.
        name: String,
    },
    /// An architecture that is not implemented.
    #[error("the architecture `{name}` is not supported; llama, qwen2 and qwen3 are")]
    Architecture {
        /// Its name.
        name: String,
    },
    /// A way to split text that is not implemented.
    #[error(
        "texts are split in the way `{name}`, which is not supported; smollm, gpt-2, qwen2 and \
         llama-bpe are"
    )]
    Splitter {
        /// Its name in the file.
        name: String,
    },
    /// Its weights hold what is no number.
    #[error("its weights hold values that are no numbers")]
    NotFinite,
    /// candle refuses a tensor.
    #[error("the tensor `{name}` cannot be loaded: {reason}")]
    Load {
        /// Its name.
        name: String,
        /// What candle said.
        reason: String,
    },
}

impl ModelError {
    /// Whether every other conversation would fail alike.
    pub fn stops_the_run(&self) -> bool {
        !matches!(self, Self::TooLong { .. } | Self::Template(_) | Self::Tokens { .. })
    }
}
