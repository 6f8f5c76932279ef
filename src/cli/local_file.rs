//! Where the file or folder of a model is that runs on this machine.

use std::path::PathBuf;

use super::common::Common;
use crate::error::Result;

/// The file or folder that is meant by what follows `local:`: a path, or the name of a repository, and
/// of a file in it, looked up in the hub's cache. Nothing is downloaded: which model reads confidential
/// texts, and what is fetched for it, is for `caz models pull` to be told.
pub(super) fn local_path(name: &str, common: &Common) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    // A file needs no cache, and what cannot be looked at is for whoever opens it to report.
    if path.try_exists().unwrap_or(true) {
        return Ok(path);
    }
    #[cfg(feature = "hub")]
    {
        use crate::embed::hub::{GgufReference, HubError};
        match GgufReference::parse(name) {
            // A file that is not there, which is said by whoever opens it, too.
            Err(HubError::InvalidGguf { .. }) => {}
            reference => return Ok(reference?.find(&super::bert::hub_settings(common)?)?),
        }
    }
    let _ = common;
    Ok(path)
}
