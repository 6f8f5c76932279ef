//! `caz models`: the models at hand, getting more, and making a static one.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::Map;

use super::bert::{fetched, hub_settings};
use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::output::{emit, say};
use super::progress::Bar;
use crate::embed::distill::{DistillOptions, distill, vocabulary_size};
use crate::embed::hub::{cached_models, locate};
use crate::embed::static_model::StaticModel;
use crate::report::{Cell, Report, Table};

/// List, download, locate and distil models
#[derive(Debug, Args)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// List the bundled model and those in the Hugging Face cache that `bert:` can run
    List,
    /// Download a model into the Hugging Face cache
    Pull {
        /// Name on the hub: ORGANISATION/MODEL or ORGANISATION/MODEL@REVISION
        model: String,
    },
    /// Print the folder of a model on this machine; downloads nothing
    Path {
        /// A folder, or the name on the hub
        model: String,
    },
    /// Make a static model for `--embedder static:FOLDER` from a BERT encoder
    ///
    /// Every piece of the vocabulary goes alone through the encoder; the vectors are reduced by
    /// principal components, weighted by the logarithm of their rank and stored in 8 bits.
    Distill {
        /// `bert:FOLDER_OR_HUB_ID`
        model: String,
        /// Entries per vector
        #[arg(long, value_name = "N", default_value_t = 128)]
        dims: usize,
    },
}

/// Runs the command.
pub(super) fn run(args: &ModelsArgs, common: &Common) -> Result<ExitStatus> {
    match &args.command {
        ModelsCommand::List => list(common),
        ModelsCommand::Pull { model } => {
            let folder = fetched(model.strip_prefix("bert:").unwrap_or(model), common)?;
            print_path(&folder)
        }
        ModelsCommand::Path { model } => {
            let model = model.strip_prefix("bert:").unwrap_or(model);
            print_path(&locate(model, &hub_settings(common)?)?.folder)
        }
        ModelsCommand::Distill { model, dims } => distilled(model, *dims, common),
    }
}

fn list(common: &Common) -> Result<ExitStatus> {
    let mut table = Table::new(&["embedder", "dims", "bytes", "folder"]);
    let bundled = StaticModel::bundled();
    table.push(vec!["static".into(), bundled.dims().into(), Cell::Missing, "bundled".into()]);
    let settings = hub_settings(common)?;
    for model in cached_models(&settings)? {
        table.push(vec![
            format!("bert:{}", model.model).into(),
            Cell::Missing,
            model.bytes.into(),
            model.folder.display().to_string().into(),
        ]);
    }
    let report = Report {
        command: "models",
        inputs: Vec::new(),
        settings: Map::new(),
        table,
        warnings: Vec::new(),
        footer: vec![format!("Hugging Face cache: {}", settings.cache.display())],
        prose: None,
    };
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}

fn print_path(folder: &Path) -> Result<ExitStatus> {
    writeln!(io::stdout(), "{}", folder.display())?;
    Ok(ExitStatus::Done)
}

fn distilled(model: &str, dims: usize, common: &Common) -> Result<ExitStatus> {
    let Some(name) = model.strip_prefix("bert:") else {
        return Err(UsageError(format!("`{model}` is not bert:FOLDER_OR_HUB_ID")).into());
    };
    let Some(output) = &common.output else {
        return Err(UsageError("name the folder to write with --output".into()).into());
    };
    let folder = fetched(name, common)?;
    let bar = Bar::new(common, "distilling", vocabulary_size(&folder)?);
    let distilled = distill(&folder, DistillOptions { dims }, &bar)?;
    drop(bar);
    distilled.write(output).with_context(|| format!("cannot write to `{}`", output.display()))?;
    say(
        common,
        &format!(
            "wrote {} bytes to {}; {:.1} % of the variance is kept",
            distilled.size(),
            output.display(),
            100.0 * distilled.explained_variance()
        ),
    );
    Ok(ExitStatus::Done)
}

/// Where models are, for `caz doctor`: what it is, and the place or what is wrong with it.
pub(super) fn places(common: &Common) -> Vec<(String, String)> {
    let settings = match hub_settings(common) {
        Ok(settings) => settings,
        Err(error) => return vec![("model cache".into(), error.to_string())],
    };
    let mut places = vec![
        ("model cache".into(), path_and_state(&settings.cache)),
        ("model hub".into(), settings.endpoint.clone()),
        ("hub token".into(), if settings.token.is_some() { "set" } else { "not set" }.into()),
        ("offline".into(), if settings.offline { "yes" } else { "no" }.into()),
    ];
    match cached_models(&settings) {
        Ok(models) => places.extend(models.into_iter().map(|model| {
            (format!("model bert:{}", model.model), model.folder.display().to_string())
        })),
        Err(error) => places.push(("models".into(), error.to_string())),
    }
    places
}

fn path_and_state(path: &Path) -> String {
    let state = if path.is_dir() { "" } else { " (not there yet)" };
    format!("{}{state}", path.display())
}
