//! `caz annotate labels`: labels of items by a language model.

use std::path::PathBuf;

use crate::error::Result;
use clap::Args;

use super::args::RunArgs;
use super::run::Output;
use crate::annotate::RowFormat;
use crate::annotate::labels::{self, Labels, LabelsSettings};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::exports::ExportArgs;
use crate::data::import::Wanted;

/// Label items: a Z for `caz labels`
///
/// The output has task, label, source and sample. A prompt with several questions gives one row
/// for each, with the task named TASK/QUESTION; --question picks one and keeps the name.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate labels comments.csv --prompt label-toxicity --question toxic \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output z.csv")]
pub(super) struct LabelsArgs {
    /// Items: a column `task` and the texts of the prompt, by the names that `caz prompts show` gives
    items: PathBuf,
    /// A prompt for labels, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P", help_heading = "Input")]
    prompt: String,
    /// Question and labels for the prompt label-generic: a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    task: Option<PathBuf>,
    /// Write the answers to this question only
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Independent answers per item
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: u32,
    /// Answers that may be asked for until one can be read
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Advanced")]
    turns: u32,
    /// Name of the source in the output [default: the model's name]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    source: Option<String>,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &LabelsArgs, common: &Common) -> Result<ExitStatus> {
    let out = Output::new(labels::COMMAND, RowFormat::Csv, &args.run.out, common)?;
    let settings = LabelsSettings {
        prompt: args.prompt.clone(),
        task: args.task.clone(),
        question: args.question.clone(),
        turns: args.turns,
        source: args.source.clone(),
        sampling: args.run.sampling(args.samples, common),
        import: args.exports.settings()?,
    };
    let labels = Labels::prepare(&settings, || {
        Ok(args.exports.open(&args.items, Wanted::Items, common)?.0)
    })?;
    let about = (labels.inputs(), labels.provenance());
    out.ask_or_count(labels.requests(), about, |asked, observer| labels.run(asked, observer))
}
