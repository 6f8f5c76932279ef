//! Flags about files that other systems wrote, the same for every command that reads some.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;

use super::common::Common;
use super::exit::UsageError;
use super::output::say;
use super::progress::open;
use crate::data::import::{ImportSettings, Imports, Opener, Wanted, Wide, formats};
use crate::data::source::Source;
use crate::data::warning::Warning;
use crate::error::Result;

/// How files of other systems are read; see docs/imports.md.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ExportArgs {
    /// Format of the first file, e.g. openreview or hotcrp-csv [default: found by looking]
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    from: Option<String>,
    /// Which column is paper, reviewer, text, task, worker or label; may be given again
    #[arg(long = "column", value_name = "KEY=NAME", help_heading = "Input")]
    columns: Vec<String>,
    /// The same for files of Z, e.g. task=id
    #[arg(long = "z-column", value_name = "KEY=NAME", help_heading = "Advanced")]
    z_columns: Vec<String>,
    /// Columns of a wide table that hold answers [default: all but times and ids]
    #[arg(
        long = "columns",
        value_name = "A,B",
        value_delimiter = ',',
        help_heading = "Input",
        hide_short_help = true
    )]
    answer_columns: Vec<String>,
    /// Columns or fields that make the text, in this order [default: those that hold prose]
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Advanced")]
    text_columns: Vec<String>,
    /// The first file is a wide table: one row a worker, or one row a task
    #[arg(long, value_enum, help_heading = "Input", hide_short_help = true)]
    wide: Option<Wide>,
}

impl ExportArgs {
    /// What the flags say.
    pub(super) fn settings(&self) -> Result<ImportSettings> {
        if let Some(name) = &self.from
            && !formats().contains(&name.as_str())
        {
            let message =
                format!("there is no format `{name}`; there are {}", formats().join(", "));
            return Err(UsageError(message).into());
        }
        let settings = ImportSettings {
            from: self.from.clone(),
            columns: pairs("--column", &self.columns)?,
            z_columns: pairs("--z-column", &self.z_columns)?,
            answer_columns: self.answer_columns.clone(),
            text_columns: self.text_columns.clone(),
            wide: self.wide,
        };
        settings.check()?;
        Ok(settings)
    }

    /// What opens the files of a command.
    pub(super) fn opener(&self) -> Result<Opener> {
        Ok(Opener::new(self.settings()?))
    }

    /// Opens the only file of a command whose result has no place for warnings.
    pub(super) fn open(
        &self,
        path: &Path,
        wanted: Wanted,
        common: &Common,
    ) -> Result<(Source, Imports)> {
        let mut opener = self.opener()?;
        let source = opener.first(open(path, common)?, wanted)?;
        let (imports, warnings) = opener.finish()?;
        for Warning { message, .. } in warnings {
            say(common, &format!("warning: {message}"));
        }
        Ok((source, imports))
    }
}

/// Keys and names of columns.
fn pairs(flag: &str, pairs: &[String]) -> Result<BTreeMap<String, String>> {
    let mut columns = BTreeMap::new();
    for pair in pairs {
        let Some((key, name)) = pair.split_once('=') else {
            return Err(UsageError(format!("`{pair}` is not KEY=NAME")).into());
        };
        if columns.insert(key.to_owned(), name.to_owned()).is_some_and(|known| known != name) {
            return Err(UsageError(format!("{flag} names `{key}` twice")).into());
        }
    }
    Ok(columns)
}
