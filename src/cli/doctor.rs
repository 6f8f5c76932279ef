//! `caz doctor`: what is installed and where things are.

use crate::error::Result;
use serde_json::Map;

use super::common::Common;
use super::exit::ExitStatus;
use super::output::emit;
use crate::embed::static_model::StaticModel;
use crate::report::{Cell, Report, Table};

/// Runs the command. Nothing is downloaded and no connection is made.
pub(super) fn run(common: &Common) -> Result<ExitStatus> {
    let mut table = Table::new(&["what", "value"]);
    let mut row = |what: &str, value: String| table.push(vec![what.into(), Cell::from(value)]);
    row("version", env!("CARGO_PKG_VERSION").into());
    row("features", features().join(", "));
    row("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    row("threads", rayon::current_num_threads().to_string());
    let model = StaticModel::bundled();
    row("model static", format!("bundled, {} dimensions", model.dims()));
    #[cfg(feature = "hub")]
    for (what, value) in super::models::places(common) {
        row(&what, value);
    }
    #[cfg(any(feature = "llm", feature = "hub"))]
    row("certificates", common.trust()?.to_string());
    let report = Report {
        command: "doctor",
        inputs: Vec::new(),
        settings: Map::new(),
        table,
        warnings: Vec::new(),
        footer: vec!["No connection was made. caz sends nothing anywhere unless you name a server or a model to download.".into()],
        prose: None,
    };
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}

/// The features this program was built with.
fn features() -> Vec<&'static str> {
    [
        ("cli", cfg!(feature = "cli")),
        ("html", cfg!(feature = "html")),
        ("bert", cfg!(feature = "bert")),
        ("hub", cfg!(feature = "hub")),
        ("http", cfg!(feature = "http")),
        ("cache", cfg!(feature = "cache")),
        ("llm", cfg!(feature = "llm")),
    ]
    .into_iter()
    .filter_map(|(name, is_on)| is_on.then_some(name))
    .collect()
}
