//! `caz doctor`: what is installed and where things are.

use crate::error::Result;
use clap::Args;
use serde_json::Map;

use super::common::Common;
use super::exit::ExitStatus;
use super::output::emit;
use crate::embed::static_model::StaticModel;
use crate::report::{Cell, Report, Table};

/// Say what is installed, which models are there and where the caches are
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Load this model and say what it needs and how fast it is
    #[arg(long, value_name = "local:FILE.gguf|FOLDER")]
    model: Option<String>,
}

/// Runs the command. Nothing is downloaded and no connection is made.
pub(super) fn run(args: &DoctorArgs, common: &Common) -> Result<ExitStatus> {
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
    if let Some(name) = &args.model {
        for (what, value) in examined(name, common)? {
            row(what, value);
        }
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

/// What a model in a file needs, and how fast it is here.
#[cfg(feature = "local")]
fn examined(name: &str, common: &Common) -> Result<Vec<(&'static str, String)>> {
    use super::exit::UsageError;
    use crate::llm::local::{LocalModel, LocalSettings, PREFIX};
    use crate::llm::{Budget, ChatModel};
    let path = name.strip_prefix(PREFIX).ok_or_else(|| {
        UsageError(
            "doctor --model takes a model in a file or folder, local:FILE.gguf or local:FOLDER"
                .into(),
        )
    })?;
    let path = super::local_file::local_path(path, common)?;
    let about = LocalModel::describe(&path)?;
    let model = LocalModel::open(LocalSettings {
        path,
        threads: common.threads,
        budget: std::sync::Arc::new(Budget::default()),
        interruption: common.interruption.clone(),
    })?;
    let speed = model.speed()?;
    let licence = about.license.unwrap_or_else(|| "not said by the model".into());
    let megabytes = |bytes: f64| bytes / 1e6;
    Ok(vec![
        ("model", model.model().to_owned()),
        ("architecture", about.architecture),
        ("licence", licence),
        ("context", format!("{} tokens", about.context)),
        (
            "memory",
            format!(
                "{:.0} MB for the weights, {:.0} MB for 1,000 tokens, and what computing takes",
                megabytes(about.bytes as f64),
                megabytes(about.bytes_per_token as f64 * 1e3)
            ),
        ),
        (
            "speed",
            format!("reads {:.0} and writes {:.1} tokens a second", speed.read, speed.written),
        ),
    ])
}

/// There are no models in files.
#[cfg(not(feature = "local"))]
fn examined(_: &str, _: &Common) -> Result<Vec<(&'static str, String)>> {
    Err(super::exit::UsageError(super::exit::NO_LOCAL_MODELS.into()).into())
}

/// The features this program was built with.
fn features() -> Vec<&'static str> {
    [
        ("cli", cfg!(feature = "cli")),
        ("html", cfg!(feature = "html")),
        ("bert", cfg!(feature = "bert")),
        ("hub", cfg!(feature = "hub")),
        ("http", cfg!(feature = "http")),
        ("local", cfg!(feature = "local")),
        ("cache", cfg!(feature = "cache")),
        ("llm", cfg!(feature = "llm")),
    ]
    .into_iter()
    .filter_map(|(name, is_on)| is_on.then_some(name))
    .collect()
}
