//! `caz experiment judges`: how good are judges of pairs?

#[cfg(feature = "llm")]
mod ask;

#[cfg(feature = "llm")]
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use super::super::common::{Common, OutputFormat, check_read_once};
use super::super::exit::ExitStatus;
use super::super::output::{check_output, emit};
use super::super::page::PageArgs;
use super::super::progress::{Terminal, open};
use crate::error::Result;
use crate::experiment::judges::{Cluster, Files, JudgesSettings, study};
use crate::metrics::agreement::bootstrap::DRAWS;

/// How good judges of pairs are, from recorded verdicts or by asking a model
///
/// Accuracy, kappa, flips, biases and costs of every judge, each with an interval, and exact tests
/// between judges. Without --model or --replay no model is asked: `caz judge` makes verdicts, or
/// bring your own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: caz experiment judges verdicts.csv --pairs pairs.jsonl --against single
          caz experiment judges votes.csv --method gpt4_pair    (all others are the gold)
          caz experiment judges pairs.jsonl --model llama-3.1-8b --base-url http://localhost:8000/v1 \\
            --ways single,more,samre,repeated --jury --answers verdicts.csv")]
pub(super) struct JudgesArgs {
    /// Verdicts: item, judge, winner (a, b, tie); optional `winner_swapped` or order (ab, ba),
    /// a, b (names of what was compared), `score_a`, `score_b`, tokens, calls, seconds, rounds; or a file
    /// of MT-Bench.
    /// With --model pairs: item, a, b, gold, optional context
    verdicts: PathBuf,
    /// Pairs: item; optional a, b (texts, for the length), gold (a row per person); or the votes of
    /// people in a file of MT-Bench
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pairs: Option<PathBuf>,
    /// Judges to measure; if no pair has a gold verdict, the majority of all others is the gold.
    /// panel:votes, panel:borda, panel:scores and panel:softmax are what the others decide together
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    method: Vec<String>,
    /// Compare every judge with these [default: single, and repeated at the same cost]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    against: Vec<String>,
    /// What is drawn as one: `pair`, `item` (all pairs of an item), or a file with item, cluster
    #[arg(long, value_name = "WHAT", default_value = "pair", help_heading = "Input")]
    cluster: String,
    /// What was said, by `caz judge --transcripts`: gaps between scores and words that the sides
    /// share, by round, and one debate to read in --report
    #[arg(long, value_name = "FILE", help_heading = "Input", hide_short_help = true)]
    debates: Option<PathBuf>,
    /// Bootstrap draws behind every interval
    #[arg(long, value_name = "B", default_value_t = DRAWS, value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Advanced")]
    bootstrap: u32,
    #[command(flatten)]
    page: PageArgs,
    #[cfg(feature = "llm")]
    #[command(flatten)]
    ask: ask::AskArgs,
}

/// Verdicts that a model was asked for.
struct ModelVerdicts {
    /// Where they are.
    path: PathBuf,
    /// Where what was said is, if it was kept.
    transcripts: Option<PathBuf>,
    /// How they were asked for.
    provenance: Map<String, Value>,
    /// How it ended.
    ended: ExitStatus,
}

/// Runs the command.
pub(super) fn run(args: &JudgesArgs, common: &Common) -> Result<ExitStatus> {
    common.resolved_format()?;
    check_output(common.output.as_deref())?;
    args.page.check(common)?;
    let inputs = [&args.pairs, &args.debates].into_iter().flatten();
    check_read_once(std::iter::once(&args.verdicts).chain(inputs))?;
    let (cluster, file) = match args.cluster.as_str() {
        "pair" => (Cluster::Pair, None),
        "item" => (Cluster::Item, None),
        path => (Cluster::File, Some(open(&PathBuf::from(path), common)?)),
    };
    #[cfg(feature = "llm")]
    let asked = if args.ask.is_wanted() {
        match args.ask.ask(&args.verdicts, common)? {
            ControlFlow::Continue(asked) => Some(asked),
            ControlFlow::Break(ended) => return Ok(ended),
        }
    } else {
        None
    };
    #[cfg(not(feature = "llm"))]
    let asked: Option<ModelVerdicts> = None;
    // What a model was asked about is the pairs.
    let (verdicts, pairs, debates) = match &asked {
        Some(asked) => (
            &asked.path,
            args.pairs.as_ref().or(Some(&args.verdicts)),
            args.debates.as_ref().or(asked.transcripts.as_ref()),
        ),
        None => (&args.verdicts, args.pairs.as_ref(), args.debates.as_ref()),
    };
    let verdicts = open(verdicts, common)?;
    let pairs = pairs.map(|path| open(path, common)).transpose()?;
    let debates = debates.map(|path| open(path, common)).transpose()?;
    let files = Files {
        verdicts: &verdicts,
        pairs: pairs.as_ref(),
        clusters: file.as_ref(),
        transcripts: debates.as_ref(),
    };
    let settings = JudgesSettings {
        methods: args.method.clone(),
        against: args.against.clone(),
        cluster,
        draws: args.bootstrap,
        seed: common.seed,
    };
    let run = study(&files, &settings, &Terminal::new(common))?;
    let mut report = run.report();
    let mut status = ExitStatus::Done;
    if let Some(ModelVerdicts { provenance, ended, .. }) = asked {
        report.settings.insert("asked".into(), provenance.into());
        status = ended;
    }
    args.page.write(common, &report, || Ok(run.page()))?;
    let for_people = common.output.is_none() && common.resolved_format()? == OutputFormat::Table;
    emit(&if for_people { run.shown() } else { report }, common)?;
    Ok(status)
}
