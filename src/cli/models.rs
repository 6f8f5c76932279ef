//! `caz models`: the models at hand.

use super::common::Common;
use super::exit::ExitStatus;
use anyhow::Result;
use clap::Args;
/// x
#[derive(Debug, Args)]
pub(super) struct ModelsArgs {}
pub(super) fn run(_args: &ModelsArgs, _common: &Common) -> Result<ExitStatus> {
    Ok(ExitStatus::Done)
}
pub(super) fn places() -> Vec<(String, String)> {
    Vec::new()
}
