//! `caz-sql print`: the plan of the scores as text.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use caz::cli::{Common, ExitStatus};
use caz::for_caz_sql::{PARQUET_MAGIC, check_output, header, write_public_output, write_stdout};
use caz::{Result, Source};
use caz_sql::sql::{Dialect, Files, Script, TableFile, script};
use clap::{Args, ValueEnum};
use flate2::read::MultiGzDecoder;

use super::PlanArgs;

/// Where the names of columns are looked for: the first line has to end before.
const BEGINNING: u64 = 64 << 10;

/// Print the plan of the scores as SQL, for an engine of your own, and read no label
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  caz-sql print labels.csv --z llm-labels.csv --mechanism ca_z,neg_z --dialect duckdb | duckdb")]
pub(super) struct PrintArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Who is to read it
    #[arg(long, value_enum, default_value_t)]
    dialect: DialectChoice,
}

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum DialectChoice {
    /// DuckDB
    #[default]
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
pub(super) fn run(args: &PrintArgs, common: &Common) -> Result<ExitStatus> {
    check_output(common.output.as_deref())?;
    let plan = &args.plan;
    let files = Files {
        labels: table_file(&plan.labels),
        z: plan.z.iter().map(|path| table_file(path)).collect(),
    };
    let asked = Script {
        mechanisms: plan.mechanisms(true)?,
        iterations: plan.max_iterations,
        dialect: args.dialect.into(),
    };
    let text = script(&files, &asked)?;
    let write = |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
    match &common.output {
        Some(path) => write_public_output(path, write)?,
        None => write_stdout(write)?,
    }
    Ok(ExitStatus::Done)
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
    if bytes.starts_with(PARQUET_MAGIC) {
        return None;
    }
    Some(header(&Source::from_reader(path, Cursor::new(bytes)).ok()?))
}
