//! Free text: sentences, embeddings, projection on what the LLM did not say, similarity.

pub mod canary;
pub mod combined;
pub mod explain;
pub mod forms;
pub mod own;
pub mod pairs;
pub mod projection;
pub mod score;
pub mod scorer;
pub mod sentence_evidence;
mod sentence_vectors;
pub mod space;
mod whitening;
