//! `caz annotate judgments`: what reviews say in each category of a rubric.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::files::OutputFile;
use crate::error::Result;
use clap::Args;
use serde_json::Value;

use super::args::RunArgs;
use super::run::Output;
use crate::annotate::judgments::{self, Judgments, JudgmentsSettings, RUN_COLUMNS};
use crate::annotate::{RowFormat, write_csv};
use crate::cli::common::{Common, check_read_once};
use crate::cli::exit::ExitStatus;
use crate::cli::exports::ExportArgs;
use crate::cli::judging::Judging;
use crate::cli::keyed::Keyed;
use crate::cli::output::{check_output, say, write_output};
use crate::cli::progress::open;
use crate::data::import::Wanted;
use crate::judge::choice::LOW_MASS;
use crate::judge::rubric::DEFAULT_RUBRIC;

/// Judge reviews by a rubric: vectors for `caz reviews --embedder given`
///
/// Reviews by people and by models alike. The output has the identifiers of the input, the
/// judgments by category, how many turns the judge needed, and what looks like an attempt to
/// steer the judge. Texts without a complete judgment are left out and listed as errors.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz annotate judgments reviews.jsonl --rubric aspects19 \\
           --base-url http://localhost:8000/v1 --model llama-3.1-8b --output judged.jsonl")]
pub(super) struct JudgmentsArgs {
    /// Texts: a column `text` and any of paper, reviewer, source, sample, task, id
    texts: PathBuf,
    /// A rubric by name or path; see `caz prompts list`
    #[arg(long, value_name = "RUBRIC", default_value = DEFAULT_RUBRIC, help_heading = "Input")]
    rubric: String,
    /// Judgments known to be right, with the same identifiers: success is to equal them
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    gold: Option<PathBuf>,
    /// Write every text with known judgments to FILE as a run for `caz experiment feedback` (csv)
    #[arg(long, value_name = "FILE", requires = "gold", help_heading = "Output")]
    feedback_runs: Option<OutputFile>,
    /// Show them to the feedback model, never to the judge
    #[arg(long, requires = "gold", help_heading = "Input")]
    feedback_gold: bool,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    judge: Keyed<Judging>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub(super) fn run(args: &JudgmentsArgs, common: &Common) -> Result<ExitStatus> {
    let out = Output::new(judgments::COMMAND, RowFormat::JsonLines, &args.run.out, common)?;
    check_output(args.feedback_runs.as_deref())?;
    check_read_once(std::iter::once(&args.texts).chain(&args.gold))?;
    let llm = &args.run.out.llm;
    let settings = JudgmentsSettings {
        rubric: args.rubric.clone(),
        feedback_gold: args.feedback_gold,
        judge: args.judge.settings(llm, common),
        import: args.exports.settings()?,
    };
    let judgments = Judgments::prepare(&settings, || {
        let gold = args.gold.as_ref().map(|path| open(path, common)).transpose()?;
        Ok((args.exports.open(&args.texts, Wanted::Texts, common)?.0, gold))
    })?;
    if let Some([texts, judgments]) = judgments.unmatched().filter(|counts| *counts != [0, 0]) {
        let line = format!(
            "warning: {texts} texts have no known judgments, and {judgments} known judgments are of no text here"
        );
        say(common, &line);
    }
    let connection = llm.connect(common, args.run.out.dry_run)?;
    let commenter = args.judge.commenter(llm, common, &connection)?;
    if args.run.out.dry_run && judgments.may_go_on() {
        let known = Arc::clone(&connection.model);
        return out.plan(&connection, |asked| judgments.rehearse(known, commenter, asked));
    }
    let strategy = judgments.strategy(commenter)?;
    let requests = judgments.requests(&strategy, connection.model.model())?;
    let provenance = judgments.provenance()?;
    if args.run.out.dry_run {
        return out.dry_run(&requests, (judgments.inputs(), provenance), &connection);
    }
    let how = (&strategy, &provenance);
    let mut runs = Vec::new();
    let ended = out.ask(judgments.len(), &connection, |asked, observer| {
        let (annotation, found) = judgments.run(how, asked, observer);
        runs = found;
        let count = |key: &str| annotation.about.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (low, all) = (count("choices_of_low_mass"), count("choices"));
        if low > 0 {
            let line = format!(
                "warning: in {low} of {all} choices the model wanted to say something else (mass \
                 below {LOW_MASS}); their values mean little"
            );
            say(common, &line);
        }
        let useless = annotation.about.get("readable").and_then(|of| of["unusable_comments"].as_u64());
        if let Some(count) = useless.filter(|count| *count > 0) {
            let line = format!(
                "warning: {count} comments said nothing (refused, or not to be read): what they were about stands as \
                 it was first judged, is no run with feedback, and another run asks again"
            );
            say(common, &line);
        }
        annotation
    });
    match &args.feedback_runs {
        Some(path) if runs.is_empty() && path.exists() => {
            say(common, &format!("no run to write: `{}` is left as it was", path.display()));
        }
        Some(path) => write_output(path, |out| write_csv(&RUN_COLUMNS, &runs, out))?,
        None => {}
    }
    Ok(ended?.status)
}
