//! `caz annotate reviews`: reviews of papers by a language model.

use crate::error::Result;
use crate::llm::ChatRequest;
use clap::Args;

use super::args::RunArgs;
use super::papers::{PaperArgs, Papers};
use super::run::Output;
use crate::annotate::RowFormat;
use crate::annotate::reviews::{self, Reviews, ReviewsSettings};
use crate::cli::common::Common;
use crate::cli::exit::ExitStatus;
use crate::cli::exports::ExportArgs;
use crate::cli::output::say;

/// Review papers: a Z for `caz reviews`
///
/// The output has paper, source, sample and text. Unless --prompt names a wording, sample 1 uses
/// the prompt review-1, sample 2 review-2, sample 3 review-3, sample 4 review-1 again, and so on.
/// A text that repeats the prompt, copies the paper, declines or has fewer than 40 words is no review:
/// it is asked for again, up to three times, and then listed as an error. One that runs into the limit of
/// tokens ends at its last full sentence. PDF files without text (scans) are listed as errors, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate reviews papers/ --samples 3 --tasks-out abstracts.csv \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output z.jsonl")]
pub(super) struct ReviewsArgs {
    #[command(flatten)]
    papers: PaperArgs,
    /// A prompt for reviews, by name or path; see `caz prompts list`
    #[arg(long, value_name = "P", help_heading = "Input")]
    prompt: Option<String>,
    /// Independent reviews per paper
    #[arg(long, value_name = "N", default_value_t = 1)]
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
pub(super) fn run(args: &ReviewsArgs, common: &Common) -> Result<ExitStatus> {
    let out = Output::new(reviews::COMMAND, RowFormat::JsonLines, &args.run.out, common)?;
    let settings = ReviewsSettings {
        prompt: args.prompt.clone(),
        source: args.source.clone(),
        pdf: args.papers.settings(),
        sampling: args.run.sampling(args.samples, common),
        import: args.exports.settings()?,
    };
    let papers = args.papers.read(&args.exports, common)?;
    args.papers.tell(&papers, common)?;
    let Papers { source, unread, .. } = papers;
    let reviews = Reviews::prepare(&settings, || Ok(source))?;
    say(common, &lengths(reviews.requests(), args.samples));
    let about = (reviews.inputs(), reviews.provenance());
    out.ask_or_count(reviews.requests(), about, |asked, observer| {
        let mut annotation = reviews.run(asked, observer);
        annotation.failures.splice(..0, unread);
        annotation
    })
}

/// How long papers are for a model, so that one with a short memory is not chosen in vain.
fn lengths(requests: &[ChatRequest], samples: u32) -> String {
    let of_papers = requests.iter().step_by(samples as usize);
    let mut tokens: Vec<u64> = of_papers.map(ChatRequest::estimated_prompt_tokens).collect();
    tokens.sort_unstable();
    let at = |place: usize| tokens.get(place).copied().unwrap_or(0);
    let count = tokens.len();
    format!(
        "{count} papers of {} tokens in the median, {} at most, with the prompt (a guess)",
        at(count / 2),
        at(count.saturating_sub(1))
    )
}
