//! `caz assumptions`: can conditioning on an LLM work on these data, and on which one?

use std::path::PathBuf;

use crate::error::{Error, Remedy, Result};
use clap::Args;

use super::common::{Common, check_read_once};
use super::exit::ExitStatus;
use super::exports::ExportArgs;
use super::label_input::{ReadingArgs, read_label_files};
use super::output::{check_output, emit};
use super::page::PageArgs;
use super::progress::Terminal;
use crate::experiment::assumptions::{PERMUTATIONS, REPLICATES};
use crate::screen::{AssumptionsSettings, assumptions};

/// Check whether conditioning on an LLM can work on these labels, and on which LLM
///
/// Every LLM is taken as Z in turn, and every LLM as the one that a cheater uses. Conditioning
/// works where people share more with each other beyond Z than with a cheater, and more than two
/// cheaters do. LLMs with several independent samples per task tell most: with two, one can stand
/// for a cheater who uses the LLM of Z; with three, for two such cheaters.
#[derive(Debug, Args)]
#[command(after_help = "\
Files: CSV, TSV or JSON lines, plain or .gz; `-` is standard input.
  LABELS   task, worker, label
  --z      task, label; optional source, sample

Columns: value is the conditional mutual information (total variation) given Z of quantity:
  human_human      two people; human_human:K of kind K, human_human:K+L of two, where workers are named kind/name
  cheater_human    a cheater and a person
  cheater_cheater  a cheater with the LLM of Z and one with the LLM `cheater`
  epsilon          the largest excess of both over cheaters: below that of human_human cheating does not pay
Rows without z are the same without any Z.
null is its mean under permutation, excess = value less its estimated bias; difference_to_humans is the value of two
people minus this one, excess_difference the same of the excesses, with its interval. about_zero
answers hypotheses 1 and 2, below_humans hypotheses 3 and 4. auc: where workers who hand in
`cheater` end by ca_z given z, tried among the people here; works: whether it is surely above .6.

Example: caz assumptions labels.csv --z llm-labels.csv --output assumptions.csv")]
pub(super) struct AssumptionsArgs {
    /// Labels by people: task, worker, label
    labels: PathBuf,
    /// LLM labels of the same tasks; several sources are compared.
    /// Needed unless the export of LABELS holds some
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Input")]
    z: Vec<PathBuf>,
    /// Bootstrap replicates behind each interval; behind each null are a fifth as many permutations
    #[arg(long, value_name = "N", default_value_t = REPLICATES,
        value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: u32,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Runs the command.
pub(super) fn run(args: &AssumptionsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    let settings = AssumptionsSettings {
        permutations: (args.bootstrap / (REPLICATES / PERMUTATIONS)).max(1),
        bootstrap: args.bootstrap,
        seed: common.seed,
    };
    check_read_once(args.z.iter().chain([&args.labels]))?;
    let how = (args.reading.into(), &args.exports);
    let set = read_label_files(&args.labels, &args.z, None, how, common)?;
    if set.z.sources.is_empty() {
        let file = args.labels.display();
        let message = format!("there is no label by an LLM to compare with, also not in `{file}`");
        return Err(Error::usage(message).with_remedy(Remedy::GiveZFile));
    }
    let run = assumptions(set, &settings, &Terminal::new(common))?;
    let report = run.report();
    args.page.write(common, &report, || Ok(run.page()))?;
    emit(&report, common)?;
    Ok(ExitStatus::Done)
}
