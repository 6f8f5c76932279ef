//! Vectors from a server that speaks the embeddings protocol of `OpenAI`.
//!
//! Texts go out in small batches, several at a time, and come back in their order. Whether the
//! vector of a text is the same in every batch is up to the server. A text without a vector is an
//! error, never a vector of zeros.

use std::sync::Arc;

use super::{EmbedError, Embedder, Embeddings};
use crate::data::interruption::Interrupted;
use crate::data::progress::Progress;
use crate::data::work::{Next, Outcome, run_all};
use crate::embed::vectors::{DenseVectors, Vectors};
use crate::error::{ErrorKind, Kinded, Remedy};
use crate::llm::{ChatError, EmbeddingModel};

/// Most texts in a request: what servers take by default.
const BATCH_TEXTS: usize = 32;

/// Most bytes of text in a request, unless one text alone has more.
const BATCH_BYTES: usize = 1 << 17;

/// An embedder that asks a server.
pub(crate) struct OpenAiEmbedder {
    model: Arc<dyn EmbeddingModel>,
    concurrency: usize,
    name: String,
}

/// Why texts have no vector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenAiFailure {
    /// The server did not answer, or refused.
    #[error("a request for the vectors of {texts} texts failed")]
    NotAnswered {
        /// How many texts the request had.
        texts: usize,
        /// Whether the server refused it as it stands, e.g., because a text is too long.
        refused: bool,
        /// Why.
        #[source]
        source: Box<ChatError>,
    },
}

impl Kinded for OpenAiFailure {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAnswered { source, .. } => source.kind(),
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NotAnswered { refused: true, .. } => Some(Remedy::EmbedSentences),
            Self::NotAnswered { source, .. } => source.remedy(),
        }
    }
}

impl From<OpenAiFailure> for EmbedError {
    fn from(error: OpenAiFailure) -> Self {
        Self::of(error)
    }
}

impl OpenAiEmbedder {
    /// An embedder that sends `concurrency` requests at a time.
    pub(crate) fn new(model: Arc<dyn EmbeddingModel>, concurrency: usize) -> Self {
        let name = format!("openai:{}", model.model());
        Self { model, concurrency, name }
    }
}

impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let batches = batches(texts);
        let ask = |batch: usize| {
            let vectors = self.model.vectors(batches[batch])?;
            progress.advance(vectors.len() as u64);
            Ok(vectors)
        };
        // Vectors are of no use unless all are there, and are not kept for another run.
        let stop = || progress.interrupted();
        let outcomes = run_all(batches.len(), self.concurrency, &stop, ask, |_| Next::Stop);
        if stop() && outcomes.iter().any(|outcome| !matches!(outcome, Outcome::Done(_))) {
            return Err(EmbedError::of(Interrupted));
        }
        let vectors = collected(outcomes, &batches)?;
        Ok(Embeddings { vectors: Vectors::Dense(vectors), long_texts: 0 })
    }
}

/// Consecutive texts, as many as a request may hold.
fn batches<'a, 'b>(texts: &'a [&'b str]) -> Vec<&'a [&'b str]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        if index > start && (index - start == BATCH_TEXTS || bytes + text.len() > BATCH_BYTES) {
            batches.push(&texts[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    batches
}

fn collected(
    outcomes: Vec<Outcome<Vec<Vec<f64>>, ChatError>>,
    batches: &[&[&str]],
) -> Result<DenseVectors, EmbedError> {
    let mut rows: Option<DenseVectors> = None;
    let mut index = 0;
    for (outcome, batch) in outcomes.into_iter().zip(batches) {
        match outcome {
            Outcome::Done(vectors) => {
                for (offset, vector) in vectors.into_iter().enumerate() {
                    let rows = rows.get_or_insert_with(|| DenseVectors::new(vector.len()));
                    if vector.len() != rows.dims() {
                        let (found, expected) = (vector.len(), rows.dims());
                        return Err(EmbedError::Lengths { index: index + offset, found, expected });
                    }
                    rows.push(&vector);
                }
            }
            Outcome::Failed(source) => {
                let refused = matches!(source, ChatError::Status { status: 400 | 413 | 422, .. });
                let (texts, source) = (batch.len(), Box::new(source));
                return Err(OpenAiFailure::NotAnswered { texts, refused, source }.into());
            }
            // Only where another request failed. Requests are begun in order, so that one comes
            // first.
            Outcome::NotBegun => {}
        }
        index += batch.len();
    }
    Ok(rows.unwrap_or_else(|| DenseVectors::new(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::NoProgress;
    use proptest::prelude::*;

    /// A vector of the length of the text and its place in the batch; refuses the text `bad`.
    struct Lengths;

    impl EmbeddingModel for Lengths {
        fn model(&self) -> &'static str {
            "lengths"
        }
        fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError> {
            if texts.contains(&"bad") {
                return Err(ChatError::NotEmbeddings { host: "h".into(), excerpt: "x".into() });
            }
            let longer = |text: &&str| if *text == "longer" { vec![1.0; 3] } else { vec![1.0; 2] };
            let mut vectors: Vec<Vec<f64>> = texts.iter().map(longer).collect();
            for (vector, text) in vectors.iter_mut().zip(texts) {
                vector[0] = text.len() as f64;
            }
            Ok(vectors)
        }
    }

    fn embed(texts: &[&str]) -> Result<Embeddings, EmbedError> {
        OpenAiEmbedder::new(Arc::new(Lengths), 3).embed(texts, &NoProgress)
    }

    #[test]
    fn rows_stand_in_the_order_of_the_texts() {
        let texts: Vec<String> = (1..=100).map(|length| "x".repeat(length)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Vectors::Dense(rows) = embed(&texts).unwrap().vectors else { panic!("dense") };
        let lengths: Vec<f64> = rows.rows().map(|row| row[0]).collect();
        assert_eq!(lengths, (1..=100).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_text_without_a_vector_is_an_error() {
        let mut texts = vec!["a"; 70];
        texts[40] = "bad";
        let error = embed(&texts).unwrap_err().to_string();
        assert_eq!(error, "a request for the vectors of 32 texts failed");
    }

    #[test]
    fn vectors_of_different_lengths_are_an_error() {
        let mut texts = vec!["a"; 40];
        texts[35] = "longer";
        let error = embed(&texts).unwrap_err().to_string();
        assert_eq!(error, "text 36 has a vector of 3 entries, those before have 2");
    }

    #[test]
    fn no_text_is_no_row() {
        let Vectors::Dense(rows) = embed(&[]).unwrap().vectors else { panic!("dense") };
        assert_eq!(rows.rows().count(), 0);
    }

    proptest! {
        #[test]
        fn batches_hold_every_text_once_in_order_and_respect_the_limits(
            lengths in proptest::collection::vec(0_usize..BATCH_BYTES / 2 * 3, 0..80),
        ) {
            let longest = "x".repeat(BATCH_BYTES * 2);
            let texts: Vec<&str> = lengths.iter().map(|&length| &longest[..length]).collect();
            let batches = batches(&texts);
            prop_assert_eq!(&batches.concat(), &texts);
            for batch in batches {
                let bytes: usize = batch.iter().map(|text| text.len()).sum();
                prop_assert!(!batch.is_empty() && batch.len() <= BATCH_TEXTS);
                prop_assert!(batch.len() == 1 || bytes <= BATCH_BYTES);
            }
        }
    }
}
