//! Why a transformer encoder could not be loaded or run.

use std::borrow::Cow;
use std::path::PathBuf;

use caz_gguf::kernels::bf16::NoBf16;

use crate::data::interruption::Interrupted;
use crate::error::{ErrorKind, Kinded, Remedy};

/// The encoder families that caz computes, by their `model_type`.
pub(crate) const FAMILIES: [&str; 9] = [
    "bert",
    "roberta",
    "xlm-roberta",
    "camembert",
    "distilbert",
    "mpnet",
    "modernbert",
    "nomic_bert",
    "qwen3",
];

/// The families as messages name them, with this word before the last one.
pub(super) fn families(conjunction: &str) -> String {
    let [others @ .., last] = FAMILIES;
    format!("{} {conjunction} {last}", others.join(", "))
}

/// Why a transformer encoder could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BertError {
    /// The folder lacks a file that every model must have.
    #[error(
        "`{}` has no {wanted}; point bert: at the folder of a sentence-transformers or \
         transformers model", folder.display()
    )]
    MissingFile {
        /// The model's folder.
        folder: PathBuf,
        /// The file, or the files one of which is needed.
        wanted: &'static str,
    },
    /// A file of the model could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A configuration file is not the JSON it should be.
    #[error("`{}` is not valid JSON; download the model again", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where it broke.
        #[source]
        source: serde_json::Error,
    },
    /// A configuration file lacks a key without which the model would have to be guessed.
    #[error("`{}` has no usable `{key}`; use the model's original file", path.display())]
    MissingKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
    },
    /// The model asks for something caz does not compute, so its vectors would be wrong.
    #[error("`{}`: {key} = {value} is not supported; {remedy}", path.display())]
    Unsupported {
        /// The file that asks for it.
        path: PathBuf,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would work.
        remedy: Cow<'static, str>,
    },
    /// A weight file is damaged.
    #[error("`{}` is damaged: {reason}; download the model again", path.display())]
    DamagedWeights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A weight file cannot be decoded.
    #[error("cannot decode the weights in `{}`", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What candle said.
        #[source]
        source: candle_core::Error,
    },
    /// A weight that the architecture needs is not in the files.
    #[error("`{}` has no weight `{name}`; the files do not belong together", folder.display())]
    MissingWeight {
        /// The model's folder.
        folder: PathBuf,
        /// The weight, without the model's prefix.
        name: String,
    },
    /// A weight inside the encoder that no known computation uses: an adapter, another variant.
    #[error(
        "`{}` has a weight `{name}` that caz does not know; \
         use a model of the families {known}", folder.display(), known = families("and")
    )]
    UnknownWeight {
        /// The model's folder.
        folder: PathBuf,
        /// The weight, without the model's prefix.
        name: String,
    },
    /// A weight has another shape than config.json says.
    #[error("weight `{name}` has shape {found:?}, config.json asks for {expected:?}")]
    WeightShape {
        /// The weight, without the model's prefix.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape after config.json.
        expected: Vec<usize>,
    },
    /// tokenizer.json cannot be used.
    #[error("cannot use the tokenizer `{}`; download the model again", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What the tokenizers crate said.
        #[source]
        source: tokenizers::Error,
    },
    /// The tokenizer wraps a text in a way caz does not reproduce.
    #[error("the tokenizer `{}` {what}; use a model of the families {known}",
        path.display(), known = families("and"))]
    TokenizerTemplate {
        /// The file.
        path: PathBuf,
        /// What it does.
        what: &'static str,
    },
    /// A text cannot be tokenized.
    #[error("text {} cannot be tokenized", index + 1)]
    Tokenize {
        /// Position of the text in the call, from 0.
        index: usize,
        /// What the tokenizers crate said.
        #[source]
        source: tokenizers::Error,
    },
    /// The folder does not say how token vectors become a text vector.
    #[error(
        "`{}` does not say how to pool tokens (no modules.json)",
        folder.display()
    )]
    NoPooling {
        /// The model's folder.
        folder: PathBuf,
    },
    /// The model has no prompt of this name.
    #[error("`{}` has no prompt `{name}`; it has {}", folder.display(), prompts(known))]
    NoPrompt {
        /// The model's folder.
        folder: PathBuf,
        /// The name.
        name: String,
        /// Names of the prompts that there are.
        known: Vec<String>,
    },
    /// A token id that the embedding table does not have.
    #[error(
        "token id {id} is outside the model's vocabulary of {vocabulary}; \
         tokenizer.json and the weights do not belong together"
    )]
    TokenOutOfRange {
        /// The id.
        id: u32,
        /// Rows of the embedding table.
        vocabulary: usize,
    },
    /// A sequence is empty or longer than the model has positions for.
    #[error("a sequence of {tokens} tokens, the model takes 1 to {limit}")]
    SequenceLength {
        /// Its tokens, special tokens included.
        tokens: usize,
        /// The largest number.
        limit: usize,
    },
    /// This machine cannot compute in 16 bits.
    #[error("precision bf16 is not possible here")]
    NoBf16 {
        /// Why.
        #[source]
        source: NoBf16,
    },
    /// A model of a family that is computed in 32 bits alone.
    #[error("`{}` is of a family that is computed in f32 alone, not in bf16", folder.display())]
    OnlyF32 {
        /// The model's folder.
        folder: PathBuf,
    },
    /// The network returned something that is not a number.
    #[error("the model returned a number that is not finite; its weights are damaged")]
    NotFinite,
    /// The run was asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// candle could not run the model.
    #[error("candle could not run the model")]
    Forward {
        /// What candle said.
        #[source]
        source: candle_core::Error,
    },
    /// A thread could not be started.
    #[error("cannot start worker threads")]
    Threads {
        /// What the system said.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },
}

/// The prompts that a model has, in words.
fn prompts(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

impl Kinded for BertError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::MissingFile { .. } | Self::Read { .. } => ErrorKind::Missing,
            Self::Interrupted(error) => error.kind(),
            Self::NoPrompt { .. } | Self::NoBf16 { .. } | Self::OnlyF32 { .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoPooling { .. } => Some(Remedy::ChoosePooling),
            Self::NoBf16 { .. } | Self::OnlyF32 { .. } => Some(Remedy::ComputeInF32),
            _ => None,
        }
    }
}

impl From<BertError> for crate::embed::EmbedError {
    fn from(error: BertError) -> Self {
        Self::of(error)
    }
}
