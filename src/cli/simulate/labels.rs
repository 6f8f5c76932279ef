//! `caz simulate labels`: a real crowd in which some workers stop working.

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::keyed::{Keyed, Keys, OF_A_CROWD};
use super::super::label_input::{LabelInput, RoleArgs};
use super::files;
use crate::report::Report;
use crate::simulate::labels::Shares;
use crate::simulate::run::LabelsSettings;

/// Replace the labels of some workers of a real crowd by those of an LLM or by guesses
///
/// Writes three files into the folder: labels.csv (task, worker, label), z.csv (the answers of the
/// LLM that the principal holds) and truth.csv (worker, kind: good, llm, random or biased). Workers
/// of the kind llm hand in a sample of the LLM that is not in z.csv.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate labels labels.csv --z llm-labels.csv --crowd llm=.1,random=.05,copy-z --output simulated
         caz labels simulated/labels.csv --z simulated/z.csv")]
pub(super) struct SimulateLabelsArgs {
    #[command(flatten)]
    input: LabelInput,
    #[command(flatten)]
    crowd: Keyed<Contaminated>,
}

/// What becomes of a real crowd.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Contaminated {
    /// Share of the workers, rounded down, who hand in an LLM
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    llm: f64,
    /// Share who draw every label from the label distribution of the crowd
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    random: f64,
    /// Share who give the most common label nine times out of ten, else any
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    biased: f64,
    #[command(flatten)]
    roles: RoleArgs,
}

impl Keys for Contaminated {
    const FLAG: &'static str = "crowd";
    const ABOUT: &'static str = OF_A_CROWD;
}

/// Runs the command.
pub(super) fn run(args: &SimulateLabelsArgs, common: &Common) -> Result<Report> {
    let settings = LabelsSettings {
        shares: Shares {
            llm: args.crowd.llm,
            random: args.crowd.random,
            biased: args.crowd.biased,
        },
        roles: args.crowd.roles.roles(),
        reading: args.input.reading(),
        import: args.input.import()?,
        seed: common.seed,
    };
    settings.check()?;
    let (loaded, inputs) = args.input.load(&super::silent(common))?;
    let run = settings.run(loaded, inputs)?;
    files::write(&run.files(), run.report(), common)
}
