//! `caz labels --print-sql`: the plan of the scores as text.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use clap::ValueEnum;
use flate2::read::MultiGzDecoder;

use super::by_engine::EngineChoice;
use super::{LearnFromChoice, ScoreLabelsArgs};
use crate::cli::common::Common;
use crate::cli::exit::{ExitStatus, UsageError};
use crate::cli::mechanism_choice::chosen;
use crate::cli::output::{check_output, write_public_output, write_stdout};
use crate::data::parquet;
use crate::data::rows::header;
use crate::data::source::Source;
use crate::engine::PLANNED;
use crate::engine::sql::{Dialect, Files, Script, TableFile, script};
use crate::error::Result;
use crate::mechanism::MechanismName;

/// Where the names of columns are looked for: the first line has to end before.
const BEGINNING: u64 = 64 << 10;

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DialectChoice {
    /// DuckDB
    #[value(name = "duckdb")]
    DuckDb,
    /// Spark SQL, 3.2 or later
    Spark,
    /// The standard; say yourself what the files are
    Ansi,
}

impl From<DialectChoice> for Dialect {
    fn from(choice: DialectChoice) -> Self {
        match choice {
            DialectChoice::DuckDb => Self::DuckDb,
            DialectChoice::Spark => Self::Spark,
            DialectChoice::Ansi => Self::Ansi,
        }
    }
}

/// Prints the plan of the mechanisms asked for.
pub(super) fn run(args: &ScoreLabelsArgs, dialect: Dialect, common: &Common) -> Result<ExitStatus> {
    check_output(common.output.as_deref())?;
    args.check_plan()?;
    let (with_z, mut mechanisms) = (!args.z.is_empty(), args.planned());
    if mechanisms.is_empty() {
        mechanisms = vec![if with_z { MechanismName::CaZ } else { MechanismName::Ca }];
    }
    if let Some(name) = mechanisms.iter().find(|name| name.needs_z() && !with_z) {
        return Err(UsageError(format!("{name} needs --z")).into());
    }
    let files = Files {
        labels: table_file(&args.labels),
        z: args.z.iter().map(|path| table_file(path)).collect(),
    };
    let asked = Script { mechanisms, iterations: args.max_iterations, dialect };
    let text = script(&files, &asked)?;
    let write = |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
    match &common.output {
        Some(path) => write_public_output(path, write)?,
        None => write_stdout(write)?,
    }
    Ok(ExitStatus::Done)
}

impl ScoreLabelsArgs {
    /// The mechanisms asked for; `all` is those that have a plan where they are to be counted.
    pub(super) fn planned(&self) -> Vec<MechanismName> {
        let on_a_cluster = matches!(self.engine, EngineChoice::Ballista(_));
        let keeps = !on_a_cluster || self.shared_folder.is_some();
        let with_z = !self.z.is_empty();
        let usable =
            |name: &MechanismName| (keeps || !name.is_fitted()) && (with_z || !name.needs_z());
        chosen(&self.mechanism, &PLANNED.into_iter().filter(usable).collect::<Vec<_>>())
    }

    /// Refuses what a plan has no queries for.
    pub(super) fn check_plan(&self) -> Result<()> {
        let refused = [
            ("truth", self.truth.is_some()),
            ("sampled", self.sampled.is_some()),
            ("scoring-function", self.scoring_function.is_some()),
            ("bootstrap", self.bootstrap.is_some()),
            ("learn-from others", self.learn_from == Some(LearnFromChoice::Others)),
            ("consensus", self.consensus.is_some()),
            ("workers", self.workers.wanted()),
            ("scale", self.scale.is_some()),
            ("multi", self.multi),
        ];
        match refused.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                let message =
                    format!("--{flag} is not part of the plan of an engine; leave it out");
                Err(UsageError(message).into())
            }
            None => Ok(()),
        }
    }
}

/// A file with its columns, where these can be seen without reading all of it.
fn table_file(path: &Path) -> TableFile {
    TableFile { path: path.display().to_string(), columns: columns(path).unwrap_or_default() }
}

fn columns(path: &Path) -> Option<Vec<String>> {
    let mut file = File::open(path).ok().filter(|_| path.is_file())?;
    let mut bytes = Vec::new();
    file.by_ref().take(BEGINNING).read_to_end(&mut bytes).ok()?;
    if bytes.starts_with(b"\x1f\x8b") {
        let mut text = Vec::new();
        // The end of what was read is in the middle of something.
        let _ = MultiGzDecoder::new(Cursor::new(bytes)).take(BEGINNING).read_to_end(&mut text);
        bytes = text;
    }
    if bytes.starts_with(parquet::MAGIC) {
        return None;
    }
    Some(header(&Source::from_reader(path, Cursor::new(bytes)).ok()?))
}
