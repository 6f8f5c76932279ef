//! Embedders: from a text to a vector. One file per embedder, all behind [`Embedder`].

pub(crate) mod aspects;
pub(crate) mod catalogue;
pub(crate) mod given;
pub(crate) mod judge;
pub(crate) mod openai;
pub(crate) mod pooling;
pub(crate) mod sentences;
pub(crate) mod settings;
pub(crate) mod static_model;
pub(crate) mod tfidf;
mod trie;
pub(crate) mod vectors;
pub(crate) mod word_pairs;
pub(crate) mod word_vectors;
pub(crate) mod wordpiece;

use crate::data::progress::Progress;
use crate::embed::vectors::Vectors;
use crate::error::{ErrorKind, Kinded, Remedy};

#[cfg(feature = "bert")]
pub(crate) mod bert;
#[cfg(feature = "hub")]
pub(crate) mod hub;

/// Turns texts into vectors. Object-safe; implementations are shared between threads.
pub trait Embedder: Send + Sync {
    /// The name as the command line takes it, e.g. `static` or `bert:DIR`.
    fn name(&self) -> &str;

    /// One row per text, in the order of `texts`.
    ///
    /// The vector of a text depends neither on the other texts of the call nor on the number of
    /// threads. A text without any known token gets the zero vector, which carries no direction.
    /// `progress` hears of every finished text once.
    ///
    /// # Errors
    ///
    /// [`EmbedError`] if the model cannot embed one of the texts.
    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError>;

    /// What kind of vector this is; decides whether vectors are centered by default.
    fn kind(&self) -> VectorKind {
        VectorKind::Dense
    }

    /// What the dimensions are called, in order; `None` if they have no names.
    fn dimensions(&self) -> Option<&[String]> {
        None
    }
}

/// What the dimensions of an embedder mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorKind {
    /// Directions without a meaning of their own, with a large mean shared by all texts.
    Dense,
    /// One dimension per word of the corpus.
    WordWeights,
    /// One dimension per question of a rubric, 0 for "no judgment".
    Judgments,
}

/// The vectors of one call of [`Embedder::embed`].
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// One row per text.
    pub vectors: Vectors,
    /// How many of the texts were longer than the model takes in at once.
    pub long_texts: usize,
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text is longer than the model takes and the user asked for an error.
    #[error("text {} has {tokens} tokens, the model takes {limit}", index + 1)]
    TooLong {
        /// Position of the text in the call, from 0.
        index: usize,
        /// Its number of tokens.
        tokens: usize,
        /// The model's largest number of tokens.
        limit: usize,
    },
    /// A server changed the length of its vectors.
    #[error("text {} has a vector of {found} entries, those before have {expected}", index + 1)]
    Lengths {
        /// Position in the call of the first text with another length, from 0.
        index: usize,
        /// Its entries.
        found: usize,
        /// Entries of the texts before.
        expected: usize,
    },
    /// The embedder failed in a way of its own; what it reported is the cause.
    #[error(transparent)]
    Failed(#[from] crate::Error),
}

impl Kinded for EmbedError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLong { .. } => ErrorKind::Input,
            Self::Lengths { .. } => ErrorKind::Network,
            Self::Failed(error) => error.kind(),
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::TooLong { .. } => Some(Remedy::ChooseLongText),
            Self::Lengths { .. } => Some(Remedy::CheckServer),
            Self::Failed(error) => error.remedy(),
        }
    }
}

impl EmbedError {
    /// Position of the text that it is about.
    pub(crate) fn text(&self) -> Option<usize> {
        match self {
            Self::TooLong { index, .. } | Self::Lengths { index, .. } => Some(*index),
            Self::Failed(_) => None,
        }
    }

    /// The same, to say what it is among other texts.
    pub(crate) fn text_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::TooLong { index, .. } | Self::Lengths { index, .. } => Some(index),
            Self::Failed(_) => None,
        }
    }

    /// What an embedder reports.
    pub(crate) fn of(error: impl Kinded) -> Self {
        Self::Failed(error.into())
    }
}
