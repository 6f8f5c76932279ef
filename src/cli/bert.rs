//! Transformer encoders on the command line; all that needs the feature `bert`.

use anyhow::Result;

use super::common::Common;
use super::embedding::{EmbeddingArgs, LongTextChoice, PoolingChoice};
use crate::text::embed::Embedder;

#[cfg(feature = "bert")]
impl EmbeddingArgs {
    pub(super) fn build_bert(&self, model: &str, _common: &Common) -> Result<Box<dyn Embedder>> {
        use crate::text::embed::bert::{BertEmbedder, BertOptions, LongText, Pooling};

        let options = BertOptions {
            long_text: match self.long_text {
                LongTextChoice::Window => LongText::Window,
                LongTextChoice::Truncate => LongText::Truncate,
                LongTextChoice::Error => LongText::Error,
            },
            pooling: self.pooling.map(|pooling| match pooling {
                PoolingChoice::Mean => Pooling::Mean,
                PoolingChoice::Cls => Pooling::Cls,
            }),
            ..BertOptions::default()
        };
        let folder = std::path::Path::new(model);
        Ok(Box::new(BertEmbedder::load(folder, &format!("bert:{model}"), options)?))
    }
}

#[cfg(not(feature = "bert"))]
impl EmbeddingArgs {
    pub(super) fn build_bert(&self, model: &str, _common: &Common) -> Result<Box<dyn Embedder>> {
        let message = format!(
            "bert:{model} needs a caz built with the feature `bert`; \
             build it with default features, or use --embedder static"
        );
        Err(super::exit::UsageError(message).into())
    }
}
