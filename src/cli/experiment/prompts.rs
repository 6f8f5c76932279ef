//! `caz experiment prompts`: which prompt labels best?

#[cfg(feature = "llm")]
mod ask;

#[cfg(feature = "llm")]
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use super::super::common::Common;
use super::super::exit::ExitStatus;
use super::super::exports::ExportArgs;
use super::super::output::{check_output, emit};
use super::super::page::PageArgs;
use super::super::progress::{Terminal, open};
use super::super::reviews::DuplicatesChoice;
use crate::data::import::Wanted;
use crate::data::labellers::{ClusterSource, LabellerFiles};
use crate::data::scale::ScaleChoice;
use crate::error::Result;
use crate::metrics::agreement::bootstrap::DRAWS;
use crate::screen::agreement::prompts::{Beside, PromptStudySettings, page, study};
use crate::screen::agreement::{AgreementSettings, AsZSettings, Cut};

/// Which prompt labels best, from recorded labels of several prompts or by asking a model
///
/// A prompt is named by the letters of its features, and after a slash by its wording: DNA, DNA/2,
/// none. R role, D description, N narrative, A aspects, M several judges imagined. Any other name
/// is a prompt of your own. Without --model or --replay no model is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: caz experiment prompts labels.csv --gold gold.csv --scale 0..2 --binarize 1
          caz experiment prompts pages.jsonl --gold gold.csv --model llama-3.1-8b \\
            --base-url http://localhost:8000/v1 --wordings DNA --answers labels.csv")]
pub(super) struct PromptsArgs {
    /// Labels: task, source, prompt, label; optional `tokens_read`, `tokens_written`, seconds. With
    /// --model items: task and the texts of the prompt (query, description, narrative, document)
    labels: PathBuf,
    /// Labels to hold them against: task, label, optional worker (the majority counts)
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    gold: PathBuf,
    /// Length of the items, for the slope of the error: task, length
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    lengths: Option<PathBuf>,
    /// A crowd for which the labels of every prompt are Z in turn: task, worker, label
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    crowd: Option<PathBuf>,
    /// --crowd: contaminated crowds per share of LLM cheaters
    #[arg(long, value_name = "N", default_value_t = AsZSettings::default().trials, value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,
    /// Which labels there are: LOW..HIGH, A,B,C in order, or nominal [default: numbers if gold is]
    #[arg(long, value_name = "SCALE", allow_hyphen_values = true, help_heading = "Input")]
    scale: Option<ScaleChoice>,
    /// Cut the scale: labels of at least K against the others; K is a number or a label of --scale A,B,C
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    binarize: Option<Cut>,
    /// Tasks that belong together, drawn as one: a file with task, cluster
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    cluster: Option<PathBuf>,
    /// Splits of the tasks in two behind the regret
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Advanced")]
    splits: u32,
    /// Bootstrap draws behind every interval
    #[arg(long, value_name = "B", default_value_t = DRAWS, value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: u32,
    /// What to do with a second label of the same prompt for the same task
    #[arg(long, value_enum, default_value_t, help_heading = "Input", hide_short_help = true)]
    duplicates: DuplicatesChoice,
    #[command(flatten)]
    exports: ExportArgs,
    #[command(flatten)]
    page: PageArgs,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    ask: ask::AskArgs,
}

/// Labels that a model was asked for.
struct ModelLabels {
    /// Where they are.
    path: PathBuf,
    /// How they were asked for.
    provenance: Map<String, Value>,
    /// How it ended.
    ended: ExitStatus,
}

/// Runs the command.
pub(super) fn run(args: &PromptsArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    let mut opener = args.exports.opener()?;
    let gold = open(&args.gold, common)?;
    #[cfg(feature = "llm")]
    let (asked, prices) = {
        let asked = if args.ask.is_wanted() {
            // Flags about files of other systems are about the items.
            match args.ask.ask((&args.labels, &args.exports), common)? {
                ControlFlow::Continue(asked) => Some(asked),
                ControlFlow::Break(ended) => return Ok(ended),
            }
        } else {
            None
        };
        (asked, args.ask.prices())
    };
    #[cfg(not(feature = "llm"))]
    let (asked, prices): (Option<ModelLabels>, _) = (None, None);
    let (labels, gold) = if let Some(asked) = &asked {
        (open(&asked.path, common)?, gold)
    } else {
        let labels = opener.first(open(&args.labels, common)?, Wanted::JudgedLabels)?;
        (labels, opener.beside(gold, Wanted::Gold)?)
    };
    let read = |path: &PathBuf| open(path, common);
    let lengths = args.lengths.as_ref().map(read).transpose()?;
    let clusters = args.cluster.as_ref().map(read).transpose()?;
    let crowd = args.crowd.as_ref().map(read).transpose()?;
    let files = LabellerFiles {
        labels: &labels,
        gold: Some(&gold),
        since: None,
        clusters: clusters.as_ref().map(ClusterSource::File),
    };
    let settings = PromptStudySettings {
        agreement: AgreementSettings {
            scale: args.scale.clone().unwrap_or(ScaleChoice::Auto),
            binarize: args.binarize.clone(),
            duplicates: args.duplicates.into(),
            import: args.exports.settings()?,
            draws: args.bootstrap,
            seed: common.seed,
            ..AgreementSettings::default()
        },
        splits: args.splits,
        prices,
        as_z: AsZSettings { trials: args.trials, ..AsZSettings::default() },
    };
    let beside = Beside { lengths: lengths.as_ref(), crowd: crowd.as_ref() };
    let mut report = study(&files, beside, &settings, &Terminal::new(common))?;
    if asked.is_none() {
        report.warnings.splice(0..0, opener.finish()?.1);
    }
    let mut status = ExitStatus::Done;
    if let Some(ModelLabels { provenance, ended, .. }) = asked {
        report.settings.insert("asked".into(), provenance.into());
        status = ended;
    }
    args.page.write(common, &report, || Ok(page(&report)))?;
    emit(&report, common)?;
    Ok(status)
}
