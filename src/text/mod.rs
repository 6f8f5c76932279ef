//! Free text: sentences, embeddings, projection on what the LLM did not say, similarity.

pub mod embed;
pub mod vectors;
