//! Free text: sentences, embeddings, projection on what the LLM did not say, similarity.

pub mod combined;
pub mod embed;
pub mod explain;
pub mod pairs;
pub mod pooling;
pub mod projection;
pub mod score;
mod sentence_vectors;
pub mod sentences;
pub mod similarity;
pub mod space;
pub mod vectors;
mod whitening;
