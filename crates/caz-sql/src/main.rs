//! The program `caz-sql`: scores of labels where they are, or the plan of the scores as SQL.

#![expect(clippy::doc_markdown, reason = "help texts are shown as they are written")]

mod print;
mod score;

use std::path::PathBuf;
use std::process::ExitCode;

use caz::cli::{Common, UsageError};
use caz::for_caz_sql::{MAX_ITERATIONS, program};
use caz::{MechanismName, Result};
use caz_sql::{PLANNED, planned};
use clap::{Args, CommandFactory, Parser, Subcommand};

// As in caz.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Scores of crowd labels past the memory of one machine
///
/// What `caz labels` counts in memory is counted by an engine here, where the labels are.
#[derive(Debug, Parser)]
#[command(name = "caz-sql", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    Score(score::ScoreArgs),
    Print(print::PrintArgs),
}

/// The labels and what is asked of them.
#[derive(Debug, Args)]
struct PlanArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks: task, label; optional source, sample
    #[arg(long, num_args = 1.., value_name = "FILE")]
    z: Vec<PathBuf>,
    /// Mechanisms: ca_z, ca, oa, oa_z, ds, neg_z, or all [default: ca_z; ca without --z]
    #[arg(long, value_delimiter = ',', value_name = "M", value_parser = asked)]
    mechanism: Vec<Asked>,
    /// ds: stop after N iterations
    #[arg(long, value_name = "N", default_value_t = MAX_ITERATIONS)]
    max_iterations: usize,
}

/// A value of `--mechanism`.
#[derive(Debug, Clone, Copy)]
enum Asked {
    One(MechanismName),
    All,
}

fn asked(text: &str) -> Result<Asked, String> {
    if text == "all" {
        return Ok(Asked::All);
    }
    let name = PLANNED.into_iter().find(|name| name.as_str() == text);
    name.map(Asked::One).ok_or_else(|| format!("there are {}, and all", planned()))
}

impl PlanArgs {
    /// The mechanisms asked for, each once; `fits` says whether all of them are also those that go on from what
    /// they counted.
    fn mechanisms(&self, fits: bool) -> Result<Vec<MechanismName>> {
        let with_z = !self.z.is_empty();
        let usable =
            |name: &MechanismName| (fits || !name.is_fitted()) && (with_z || !name.needs_z());
        let mut names = Vec::new();
        for asked in &self.mechanism {
            match asked {
                Asked::One(name) => names.push(*name),
                Asked::All => names.extend(PLANNED.into_iter().filter(usable)),
            }
        }
        if names.is_empty() {
            names.push(if with_z { MechanismName::CaZ } else { MechanismName::Ca });
        }
        if let Some(name) = names.iter().find(|name| name.needs_z() && !with_z) {
            return Err(UsageError(format!("{name} needs --z")).into());
        }
        let mut once = Vec::new();
        for name in names {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        Ok(once)
    }
}

fn main() -> ExitCode {
    let run = |cli: &Cli| match &cli.command {
        Command::Score(args) => score::run(args, &cli.common),
        Command::Print(args) => print::run(args, &cli.common),
    };
    program(Cli::command(), |cli: &Cli| &cli.common, run).into()
}
