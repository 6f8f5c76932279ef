//! Embedding models behind a server on the command line.

use std::sync::Arc;

use anyhow::Result;

use super::common::Common;
use super::embedding::EmbeddingArgs;
use super::output::say;
use crate::text::embed::Embedder;
use crate::text::embed::openai::OpenAiEmbedder;

impl EmbeddingArgs {
    /// The embedder that `openai:MODEL` names; says where the texts are about to go.
    pub(super) fn build_openai(
        &self,
        model: &str,
        texts: usize,
        common: &Common,
    ) -> Result<Box<dyn Embedder>> {
        let (server, place) = self.llm.embedding_model(model, common)?;
        say(common, &format!("sending {texts} texts to {model} at {place}"));
        Ok(Box::new(OpenAiEmbedder::new(Arc::new(server), self.llm.concurrency)))
    }
}
