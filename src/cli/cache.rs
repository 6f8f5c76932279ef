//! `caz cache`: where the answers of language models are kept.

use std::env;
use std::path::PathBuf;

use crate::error::Result;
use clap::{Args, Subcommand};

use super::common::Common;
use super::exit::{ExitStatus, MissingError};
use super::output::{say, write_text};
use crate::llm::AnswerCache;
use crate::llm::cache::{CACHE_FILE, cache_size, clear_cache};

/// Show or clear the cache of language models' answers
#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the folder [env: `CAZ_CACHE_DIR`]
    Dir,
    /// Print how many answers there are and the bytes they take
    Size,
    /// Remove all answers
    Clear,
}

/// Runs the command.
pub(super) fn run(args: &CacheArgs, common: &Common) -> Result<ExitStatus> {
    let folder = cache_folder()?;
    let line = match args.action {
        Action::Dir => folder.display().to_string(),
        Action::Size => {
            let answers = if folder.join(CACHE_FILE).exists() {
                AnswerCache::open(&folder)?.len()?
            } else {
                0
            };
            format!("{answers} answers, {} bytes", cache_size(&folder)?)
        }
        Action::Clear => {
            let bytes = cache_size(&folder)?;
            clear_cache(&folder)?;
            say(common, &format!("removed {bytes} bytes from {}", folder.display()));
            return Ok(ExitStatus::Done);
        }
    };
    write_text(&format!("{line}\n"), common)?;
    Ok(ExitStatus::Done)
}

/// `$CAZ_CACHE_DIR`, else `caz` in the platform's folder for caches.
pub(super) fn cache_folder() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let platform = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // A relative value is invalid by the specification and would leave files anywhere.
        set("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".cache")))
    };
    set("CAZ_CACHE_DIR").or_else(|| platform.map(|folder| folder.join("caz"))).ok_or_else(|| {
        MissingError(
            "there is no folder for the cache; set CAZ_CACHE_DIR, or use --server no-cache".into(),
        )
        .into()
    })
}
