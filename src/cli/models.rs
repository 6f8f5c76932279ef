//! `caz models`: the models at hand, and getting more.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Result;
use clap::{Args, Subcommand};
use serde_json::Map;

use super::bert::{hub_settings, pulled};
use super::common::Common;
use super::exit::{ExitStatus, UsageError};
use super::output::emit;
use crate::embed::hub::{
    HubSettings, ModelKind, cached_gguf, cached_language_models, cached_models, locate, locate_gguf,
};
use crate::embed::static_model::StaticModel;
use crate::report::{Cell, Report, Table};

/// List, download and locate models
#[derive(Debug, Args)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// List the bundled model and those in the Hugging Face cache that `bert:`, `static:` and `local:` can run
    List,
    /// Download a model into the Hugging Face cache
    ///
    /// Size and licence are said before. What a break or Ctrl-C left over is fetched by the same
    /// command. A language model is one file of the format GGUF, or the safetensors files of a
    /// repository without one; where a repository has several GGUF files, the message lists them with
    /// their sizes.
    Pull {
        /// Name on the hub: OWNER/MODEL, or OWNER/MODEL/FILE.gguf for one file; either with
        /// @REVISION. `bert:`, `static:` or `local:` before it says which kind is meant
        model: String,
    },
    /// Print where a model is on this machine, a folder or a file; downloads nothing
    Path {
        /// A folder or file, or the name on the hub; `local:` before that of a language model
        model: String,
    },
}

/// Runs the command.
pub(super) fn run(args: &ModelsArgs, common: &Common) -> Result<ExitStatus> {
    match &args.command {
        ModelsCommand::List => list(common),
        ModelsCommand::Pull { model } => {
            refuse_bundled(model)?;
            let (kind, name) = kind_and_name(model);
            print_path(&pulled(name, kind, common)?)
        }
        ModelsCommand::Path { model } => {
            refuse_bundled(model)?;
            let settings = hub_settings(common)?;
            print_path(&match kind_and_name(model) {
                (Some(ModelKind::Language), name) => locate_gguf(name, &settings)?,
                (_, name) => locate(name, &settings)?.folder,
            })
        }
    }
}

/// Refuses the name of the bundled model, unless a folder has it.
fn refuse_bundled(model: &str) -> Result<()> {
    if model == "static" && !Path::new(model).is_dir() {
        let message = "`static` is part of this program: it has no folder, and nothing to download";
        return Err(UsageError(message.into()).into());
    }
    Ok(())
}

/// What kind of model is meant, if that is said, and its name.
fn kind_and_name(model: &str) -> (Option<ModelKind>, &str) {
    let kinds = [
        ("bert:", ModelKind::Encoder),
        ("static:", ModelKind::Encoder),
        ("local:", ModelKind::Language),
    ];
    for (prefix, kind) in kinds {
        if let Some(name) = model.strip_prefix(prefix) {
            return (Some(kind), name);
        }
    }
    (None, model)
}

/// The language models of the cache, files before folders: how `--model` takes one, its bytes and
/// where it is.
fn language_models(settings: &HubSettings) -> Result<Vec<(String, u64, PathBuf)>> {
    let name = |name: String, revisions: &[String], commit: &String| {
        if revisions.iter().any(|revision| revision == "main") {
            return format!("local:{name}");
        }
        format!("local:{name}@{}", revisions.first().unwrap_or(commit))
    };
    let files = cached_gguf(settings)?.into_iter().map(|one| {
        let path = format!("{}/{}", one.model, one.file);
        (name(path, &one.revisions, &one.commit), one.bytes, one.path)
    });
    let folders = cached_language_models(settings)?
        .into_iter()
        .map(|one| (name(one.model, &one.revisions, &one.commit), one.bytes, one.folder));
    Ok(files.chain(folders).collect())
}

fn list(common: &Common) -> Result<ExitStatus> {
    let mut table = Table::new(&["embedder", "dims", "bytes", "folder", "flag"]);
    let bundled = StaticModel::bundled();
    let (embedder, model) = ("--embedder", "--model");
    table.push(vec![
        "static".into(),
        bundled.dims().into(),
        Cell::Missing,
        "bundled".into(),
        embedder.into(),
    ]);
    let settings = hub_settings(common)?;
    for model in cached_models(&settings)? {
        table.push(vec![
            format!("{}{}", model.prefix(), model.model).into(),
            Cell::Missing,
            model.bytes.into(),
            model.folder.display().to_string().into(),
            embedder.into(),
        ]);
    }
    for (name, bytes, path) in language_models(&settings)? {
        table.push(vec![
            name.into(),
            Cell::Missing,
            bytes.into(),
            path.display().to_string().into(),
            model.into(),
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

/// Where models are, for `caz doctor`: what it is, and the place or what is wrong with it.
pub(super) fn places(common: &Common) -> Vec<(String, String)> {
    let settings = match hub_settings(common) {
        Ok(settings) => settings,
        Err(error) => return vec![("model cache".into(), error.to_string())],
    };
    let mut places = vec![
        ("model cache".into(), path_and_state(&settings.cache)),
        ("model hub".into(), settings.shown_endpoint()),
        ("hub token".into(), if settings.token.is_some() { "set" } else { "not set" }.into()),
        ("offline".into(), if settings.offline { "yes" } else { "no" }.into()),
    ];
    match cached(&settings) {
        Ok(models) => places.extend(models),
        Err(error) => places.push(("models".into(), error.to_string())),
    }
    places
}

/// The models in the cache and where they are.
fn cached(settings: &HubSettings) -> Result<Vec<(String, String)>> {
    let encoders = cached_models(settings)?
        .into_iter()
        .map(|model| (format!("model bert:{}", model.model), model.folder.display().to_string()));
    let language = language_models(settings)?
        .into_iter()
        .map(|(name, _, path)| (format!("model {name}"), path.display().to_string()));
    Ok(encoders.chain(language).collect())
}

fn path_and_state(path: &Path) -> String {
    let state = if path.is_dir() { "" } else { " (not there yet)" };
    format!("{}{state}", path.display())
}
