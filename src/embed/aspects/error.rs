//! Why sentences cannot be read by aspect.

use crate::error::{ErrorKind, Kinded, Remedy};

/// What `format` says in every file that this version reads.
pub(super) const FORMAT: &str = "caz-aspects-1";

/// Why sentences cannot be read by aspect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AspectsError {
    /// Not a safetensors file, or a tensor is missing.
    #[error("the heads of the aspects are not understood")]
    NotHeads {
        /// Where it fails.
        #[source]
        source: safetensors::SafeTensorError,
    },
    /// Something the file must say of itself.
    #[error("the heads of the aspects do not say their `{key}`")]
    Metadata { key: &'static str },
    /// A file of another version.
    #[error("the heads of the aspects have format `{found}`, this version reads `{}`", FORMAT)]
    Format { found: String },
    /// A tensor has another type or shape than the file says, or a number that is not finite.
    #[error("tensor `{tensor}` of the heads of the aspects does not fit, or is not finite")]
    Tensor { tensor: &'static str },
    /// The heads were trained on vectors of another model.
    #[error(
        "these heads were trained on vectors of {trained} ({trained_dims} numbers), not of \
         {base} ({dims} numbers){}", likeness(*cosine)
    )]
    OtherBase {
        /// The base of the heads.
        trained: String,
        /// Its numbers per vector.
        trained_dims: usize,
        /// The base at hand.
        base: String,
        /// Its numbers per vector.
        dims: usize,
        /// Cosine of the two vectors of the probe sentence, for vectors of one length.
        cosine: Option<f64>,
    },
    /// No bundled heads were trained on vectors of this model.
    #[error(
        "there are no aspect heads for vectors of {base} ({dims} numbers); there are for {known}"
    )]
    UnknownBase { base: String, dims: usize, known: String },
    /// Aspects are read from vectors of sentences.
    #[error("aspects are read from sentence vectors of static or bert:, not of {base}")]
    NoSentenceVectors { base: String },
    /// A rubric without praise or without criticism.
    #[error(
        "aspects are praise and criticism; the scale of the rubric `{rubric}` has only one of them"
    )]
    OneSided { rubric: String },
    /// Nothing to compare sentences with.
    #[error("category `{category}` of the rubric has no word to know sentences about it by")]
    NoDirection { category: String },
}

fn likeness(cosine: Option<f64>) -> String {
    cosine.map_or_else(String::new, |cosine| {
        format!(": the cosine of their vectors of one sentence is {cosine:.2}")
    })
}

impl Kinded for AspectsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSentenceVectors { .. } | Self::UnknownBase { .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoSentenceVectors { .. } | Self::UnknownBase { .. } => {
                Some(Remedy::ChooseAspectVectors)
            }
            _ => None,
        }
    }
}
