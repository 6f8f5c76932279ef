//! The seam for models that turn texts into vectors.

use super::error::ChatError;

/// A model that turns texts into vectors. Object-safe; shared between threads.
pub trait EmbeddingModel: Send + Sync {
    /// The model's name as the server knows it.
    fn model(&self) -> &str;

    /// One vector per text, in the order of `texts`, all of one length that is not 0, all entries
    /// finite; blocks until they are there.
    ///
    /// # Errors
    ///
    /// [`ChatError`] if there is no answer after all tries.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, ChatError>;
}
