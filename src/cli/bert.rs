//! Transformer encoders on the command line: finding and fetching them.

use std::path::PathBuf;

use crate::error::Result;

use super::common::Common;
use super::progress::Bar;
use crate::data::progress::Progress;
use crate::embed::hub::{HubSettings, resolve};

/// The settings of the environment, of `--offline` and of `--ca`.
pub(super) fn hub_settings(common: &Common) -> Result<HubSettings> {
    let mut settings = HubSettings::from_lookup(|name| std::env::var(name).ok())?;
    settings.offline |= common.offline;
    settings.trust = common.trust()?;
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
