//! `caz simulate crowd`: a crowd out of nothing.

use std::path::PathBuf;

use crate::error::Result;
use clap::Args;

use super::super::common::Common;
use super::super::exit::UsageError;
use super::super::keyed::{Keyed, Keys};
use super::files;
use crate::report::Report;
use crate::simulate::run::{CrowdSettings, read_matrices};

/// Make up a crowd with known truth, some of whose workers hand in an LLM
///
/// Every worker sees a signal of the true label; lazy ones hand in the LLM instead, asked
/// anew. Writes labels.csv (task, worker, label), z.csv (task, label), tasks.csv (task,
/// truth) and truth.csv (worker, kind, lazy).
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate crowd --crowd workers=50,tasks=500,labels=3,llm=.2 --output simulated
         caz labels simulated/labels.csv --z simulated/z.csv --truth simulated/tasks.csv")]
pub(super) struct SimulateCrowdArgs {
    #[command(flatten)]
    crowd: Keyed<Crowd>,
}

/// A crowd that is made up.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Crowd {
    /// Number of workers
    #[arg(long, value_name = "N", default_value_t = 50)]
    workers: usize,
    /// Number of tasks
    #[arg(long, value_name = "N", default_value_t = 500)]
    tasks: u32,
    /// Number of different labels, all equally likely to be true
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(1..=1000),
        conflicts_with = "confusion"
    )]
    labels: u16,
    /// Workers who answer each task
    #[arg(long, value_name = "N", default_value_t = 5)]
    workers_per_task: usize,
    /// Probability that a worker's own signal is the true label
    #[arg(long, value_name = "P", default_value_t = 0.8, conflicts_with = "confusion")]
    human_accuracy: f64,
    /// Probability that the opinion of the LLM is the true label
    #[arg(long, value_name = "P", default_value_t = 0.7, conflicts_with = "confusion")]
    llm_accuracy: f64,
    /// Confusion matrices in place of labels and accuracies: JSON with `human` and `llm`, each a
    /// list of rows, one per true label, of the probabilities of every signal
    #[arg(long, value_name = "FILE.json")]
    confusion: Option<PathBuf>,
    /// Probability that the LLM says its opinion rather than any label, each time that it is asked, for Z, too
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    llm_consistency: f64,
    /// Share of the workers, rounded down, who are lazy
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    llm: f64,
    /// Probability that a lazy worker hands in the LLM instead of the own signal; or `blend`: they always
    /// weigh both, and give what is likeliest by both
    #[arg(long, value_name = "P|blend", default_value = "1", value_parser = lazy)]
    lazy: Lazy,
}

impl Keys for Crowd {
    const FLAG: &'static str = "crowd";
    const ABOUT: &'static str = "What the made-up crowd is like";
}

/// What a lazy worker does.
#[derive(Debug, Clone, Copy)]
struct Lazy {
    share: f64,
    blend: bool,
}

fn lazy(text: &str) -> Result<Lazy, String> {
    match text {
        "blend" => Ok(Lazy { share: 1.0, blend: true }),
        _ => match text.parse() {
            Ok(share) => Ok(Lazy { share, blend: false }),
            Err(_) => Err("must be a probability or `blend`".into()),
        },
    }
}

/// Runs the command.
pub(super) fn run(args: &SimulateCrowdArgs, common: &Common) -> Result<Report> {
    // About what a worker and a label take; a crowd beyond memory would be killed without a word.
    const BYTES_OF_WORKER: f64 = 32.0;
    const BYTES_OF_LABEL: f64 = 48.0;
    const MOST_BYTES: f64 = 16e9;
    let args = &*args.crowd;
    let labels = f64::from(args.tasks) * args.workers_per_task as f64;
    let bytes = BYTES_OF_WORKER * args.workers as f64 + BYTES_OF_LABEL * labels;
    if bytes > MOST_BYTES {
        let message = format!(
            "{} workers and {labels:.0} labels would need about {:.0} GB of memory, of which {:.0} \
             are the most; make up fewer",
            args.workers,
            bytes / 1e9,
            MOST_BYTES / 1e9
        );
        return Err(UsageError(message).into());
    }
    let settings = CrowdSettings {
        workers: args.workers,
        tasks: args.tasks,
        labels: usize::from(args.labels),
        workers_per_task: args.workers_per_task,
        human_accuracy: Some(args.human_accuracy),
        llm_accuracy: Some(args.llm_accuracy),
        human: None,
        llm_signal: None,
        llm_consistency: args.llm_consistency,
        llm: args.llm,
        lazy: args.lazy.share,
        blend: args.lazy.blend,
        seed: common.seed,
    };
    let settings = match &args.confusion {
        Some(path) => settings.with_matrices(&read_matrices(path)?),
        None => settings,
    };
    let run = settings.run()?;
    files::write(&run.files(), run.report(), common)
}
