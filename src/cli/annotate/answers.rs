//! `caz annotate answers`: answers to tasks by a language model.

use std::path::PathBuf;

use clap::Args;

use super::args::RunArgs;
use super::run::Output;
use crate::annotate::RowFormat;
use crate::annotate::reviews::{ANSWERS_COMMAND, Reviews, ReviewsSettings};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::exports::ExportArgs;
use crate::data::import::Wanted;
use crate::error::Result;

/// Answer tasks as a lazy worker's language model would: a Z for answers of a crowd
///
/// The output has task, source, sample and text, of any length. Unless --prompt names a wording, samples
/// take the prompts answer-1 (answer this), answer-2 (in two sentences) and answer-3 (like a person, with
/// a typo) in turn, each with its own temperature. With one or two samples little can be said of short answers.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate answers tasks.csv --model local:model.gguf --output z.jsonl
         caz reviews answers.csv --z z.jsonl --tasks tasks.csv")]
pub(super) struct AnswersArgs {
    /// Tasks: columns `task` and `text`, and `system`, what the model is told first, if it is told anything
    tasks: PathBuf,
    /// A prompt for answers, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P", help_heading = "Input")]
    prompt: Option<String>,
    /// Independent answers per task
    #[arg(long, value_name = "N", default_value_t = 5)]
    samples: u32,
    /// Name of the source in the output [default: the model's name]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    source: Option<String>,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &AnswersArgs, common: &Common) -> Result<ExitStatus> {
    let out = Output::new(ANSWERS_COMMAND, RowFormat::JsonLines, &args.run.out, common)?;
    let settings = ReviewsSettings {
        prompt: args.prompt.clone(),
        source: args.source.clone(),
        sampling: args.run.sampling(args.samples, common),
        import: args.exports.settings()?,
        ..ReviewsSettings::default()
    };
    let answers = Reviews::answers(&settings, || {
        Ok(args.exports.open(&args.tasks, Wanted::Items, common)?.0)
    })?;
    let about = (answers.inputs(), answers.provenance());
    out.ask_or_count(answers.requests(), about, |asked, observer| answers.run(asked, observer))
}
