//! Models of the hub on the command line: finding and fetching them.

use std::path::PathBuf;

use crate::error::Result;

use super::common::Common;
use super::progress::{Bar, DOWNLOADING};
use crate::data::progress::Progress;
use crate::embed::hub::{HubSettings, ModelKind, Planned, megabytes, pull, resolve};

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
        Box::new(Bar::new(common, DOWNLOADING, bytes))
    };
    Ok(resolve(model, &hub_settings(common)?, &begin)?.folder)
}

/// Where a model of any kind is, downloaded if it is nowhere on this machine; size and licence are
/// said before.
pub(super) fn pulled(model: &str, kind: Option<ModelKind>, common: &Common) -> Result<PathBuf> {
    let path = PathBuf::from(model);
    if path.is_dir() && kind != Some(ModelKind::Language) {
        // As above.
        return Ok(path);
    }
    let settings = hub_settings(common)?;
    let begin = |planned: &Planned<'_>| -> Box<dyn Progress> {
        let size = match planned.bytes {
            0 => "unknown size".to_owned(),
            bytes => megabytes(bytes),
        };
        let licence = planned.licence.unwrap_or("not said by the repository");
        let line = format!(
            "downloading {} from {}: {size}, licence: {licence}",
            planned.name,
            settings.shown_endpoint()
        );
        super::output::say(common, &line);
        Box::new(Bar::new(common, DOWNLOADING, planned.bytes))
    };
    Ok(pull(model, kind, &settings, &begin)?)
}
