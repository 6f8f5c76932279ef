//! Free text: sentences, embeddings, projection on what the LLM did not say, similarity.

pub(crate) mod canary;
pub(crate) mod combined;
pub(crate) mod explain;
pub(crate) mod forms;
pub(crate) mod own;
pub(crate) mod pairs;
pub(crate) mod projection;
pub(crate) mod score;
pub(crate) mod scorer;
pub(crate) mod sentence_evidence;
mod sentence_vectors;
pub(crate) mod space;
mod whitening;
