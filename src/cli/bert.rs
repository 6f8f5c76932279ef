//! Transformer encoders on the command line: finding, fetching and running them.

use std::path::PathBuf;

use anyhow::Result;

use super::common::Common;
use super::embedding::{EmbeddingArgs, LongTextChoice, PoolingChoice};
use super::progress::Bar;
use crate::data::progress::Progress;
use crate::text::embed::Embedder;
use crate::text::embed::bert::{BertEmbedder, BertOptions, LongText, Pooling};
use crate::text::embed::hub::{HubError, HubSettings, resolve};

impl EmbeddingArgs {
    /// The encoder that `bert:MODEL` names, downloaded if it is nowhere on this machine.
    pub(super) fn build_bert(&self, model: &str, common: &Common) -> Result<Box<dyn Embedder>> {
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
        let folder = fetched(model, common)?;
        Ok(Box::new(BertEmbedder::load(&folder, &format!("bert:{model}"), options)?))
    }
}

/// The settings of the environment and of `--offline`.
pub(super) fn hub_settings(common: &Common) -> Result<HubSettings, HubError> {
    let mut settings = HubSettings::from_lookup(|name| std::env::var(name).ok())?;
    settings.offline |= common.offline;
    Ok(settings)
}

/// The folder of a model, downloaded with a progress bar if it is nowhere on this machine.
pub(super) fn fetched(model: &str, common: &Common) -> Result<PathBuf> {
    let folder = PathBuf::from(model);
    if folder.is_dir() {
        // A folder needs no cache, so a machine without a home can still use it.
        return Ok(folder);
    }
    let begin = |bytes: u64| -> Box<dyn Progress> {
        super::output::say(common, &format!("downloading {model}: {} MB", bytes.div_ceil(1 << 20)));
        Box::new(Bar::new(common, "downloading", bytes))
    };
    Ok(resolve(model, &hub_settings(common)?, &begin)?.folder)
}
