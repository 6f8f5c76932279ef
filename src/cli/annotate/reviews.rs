//! `caz annotate reviews`: reviews of papers by a language model.

use std::path::PathBuf;

use crate::error::Result;
use clap::Args;

use super::args::RunArgs;
use super::run::Output;
use crate::annotate::RowFormat;
use crate::annotate::reviews::{self, Reviews, ReviewsSettings};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::exports::ExportArgs;
use crate::data::import::Wanted;

/// Review papers: a Z for `caz reviews`
///
/// The output has paper, source, sample and text. Unless --prompt names a wording, sample 1 uses
/// the prompt review-1, sample 2 review-2, sample 3 review-3, sample 4 review-1 again, and so on.
/// A text that repeats the prompt, copies the paper, declines, is cut off or has fewer than 40
/// words is no review: it is asked for again, up to three times, and then listed as an error.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate reviews papers.jsonl --samples 3 \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output z.jsonl")]
pub(super) struct ReviewsArgs {
    /// Papers: a column `paper` and one or more of title, abstract, text
    papers: PathBuf,
    /// A prompt for reviews, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P")]
    prompt: Option<String>,
    /// Independent reviews per paper
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: u32,
    /// Name of the source in the output [default: the model's name]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &ReviewsArgs, common: &Common) -> Result<ExitStatus> {
    let out = Output::new(reviews::COMMAND, RowFormat::JsonLines, &args.run.out, common)?;
    let settings = ReviewsSettings {
        prompt: args.prompt.clone(),
        source: args.source.clone(),
        sampling: args.run.sampling(args.samples, common),
        import: args.exports.settings()?,
    };
    let reviews = Reviews::prepare(&settings, || {
        Ok(args.exports.open(&args.papers, Wanted::Papers, common)?.0)
    })?;
    let connection = args.run.out.llm.connect(common, args.run.out.dry_run)?;
    if args.run.out.dry_run {
        let about = (reviews.inputs(), reviews.provenance());
        return out.dry_run(reviews.requests(), about, &connection);
    }
    out.ask(reviews.requests().len(), &connection, |asked, observer| reviews.run(asked, observer))
}
