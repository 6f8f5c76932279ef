//! `caz simulate crowd`: a crowd out of nothing.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::super::common::Common;
use super::super::exit::{ExitStatus, UsageError};
use super::super::output::emit;
use super::files::{output_folder, to_stdout, write_labels, write_rows};
use crate::report::{Report, Table};
use crate::simulate::SimulateError;
use crate::simulate::crowd::{Confusion, CrowdPlan};
use crate::simulate::labels::count_of;
use crate::stats::seed::stream;

/// Make up a crowd with known truth, some of whose workers hand in an LLM
///
/// Every worker sees a signal of the true label; lazy ones hand in the LLM instead, asked
/// anew. Writes labels.csv (task, worker, label), z.csv (task, label), tasks.csv (task,
/// truth) and truth.csv (worker, kind, lazy).
#[derive(Debug, Args)]
#[command(after_help = "\
Example: caz simulate crowd --workers 50 --tasks 500 --labels 3 --llm .2 --output simulated
         caz labels simulated/labels.csv --z simulated/z.csv --truth simulated/tasks.csv")]
pub(super) struct SimulateCrowdArgs {
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
    /// Probability that the LLM says the true label
    #[arg(long, value_name = "P", default_value_t = 0.7, conflicts_with = "confusion")]
    llm_accuracy: f64,
    /// Confusion matrices in place of --labels and accuracies: JSON with `human` and `llm`, each a
    /// list of rows, one per true label, of the probabilities of every signal
    #[arg(long, value_name = "FILE.json")]
    confusion: Option<PathBuf>,
    /// Probability that the LLM says the same when asked again, rather than any label
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    llm_consistency: f64,
    /// Share of the workers, rounded down, who are lazy
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    llm: f64,
    /// Probability that a lazy worker hands in the LLM instead of the own signal
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    lazy: f64,
}

/// The file of `--confusion`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfusionFile {
    human: Vec<Vec<f64>>,
    llm: Vec<Vec<f64>>,
}

/// Why confusion matrices could not be read.
#[derive(Debug, thiserror::Error)]
enum ConfusionError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error(
        "`{}` is not an object with `human` and `llm`, each a list of rows of numbers", path.display()
    )]
    Format {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// A matrix is none.
    #[error("`{}`", path.display())]
    Matrix {
        path: PathBuf,
        #[source]
        source: SimulateError,
    },
}

impl ConfusionFile {
    /// The matrices of people and of the LLM.
    fn read(path: &Path) -> Result<[Confusion; 2], ConfusionError> {
        let owned = || path.to_owned();
        let bytes =
            std::fs::read(path).map_err(|source| ConfusionError::Read { path: owned(), source })?;
        let file: Self = serde_json::from_slice(&bytes)
            .map_err(|source| ConfusionError::Format { path: owned(), source })?;
        let failed = |source| ConfusionError::Matrix { path: owned(), source };
        let human = Confusion::new("human", file.human).map_err(failed)?;
        let llm = Confusion::new("llm", file.llm).map_err(failed)?;
        if human.labels() != llm.labels() {
            let (human, llm) = (human.labels(), llm.labels());
            return Err(failed(SimulateError::DifferentLabels { human, llm }));
        }
        Ok([human, llm])
    }
}

impl SimulateCrowdArgs {
    fn plan(&self, matrices: Option<[Confusion; 2]>) -> Result<CrowdPlan, SimulateError> {
        for (name, value) in [("llm", self.llm), ("lazy", self.lazy)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(SimulateError::BadShare { name, value });
            }
        }
        let labels = usize::from(self.labels);
        let [human, llm] = match matrices {
            Some(matrices) => matrices,
            None => [
                Confusion::symmetric("human", labels, self.human_accuracy)?,
                Confusion::symmetric("llm", labels, self.llm_accuracy)?,
            ],
        };
        let lazy = count_of(self.llm, self.workers);
        // Which workers are lazy does not matter: all others are alike.
        let lazy = (0..self.workers).map(|worker| if worker < lazy { self.lazy } else { 0.0 });
        Ok(CrowdPlan {
            tasks: self.tasks,
            workers_per_task: self.workers_per_task,
            human,
            llm,
            consistency: self.llm_consistency,
            lazy: lazy.collect(),
        })
    }
}

/// Runs the command.
pub(super) fn run(args: &SimulateCrowdArgs, common: &Common) -> Result<ExitStatus> {
    let usage = |error: SimulateError| UsageError(error.to_string());
    let matrices = args.confusion.as_deref().map(ConfusionFile::read).transpose()?;
    let plan = args.plan(matrices).map_err(usage)?;
    let crowd = plan.draw(&mut stream(common.seed, "simulate crowd", 0)).map_err(usage)?;
    let folder = output_folder(common)?;
    let names = crowd.table.labels();
    let by_task = |labels: &[u16]| -> Vec<[String; 2]> {
        let tasks = crowd.table.tasks().names().iter().zip(labels);
        tasks.map(|(task, &l)| [task.clone(), names.name(u32::from(l)).to_owned()]).collect()
    };
    write_labels(&folder.join("labels.csv"), &crowd.table)?;
    write_rows(&folder.join("z.csv"), &["task", "label"], by_task(&crowd.z).iter())?;
    write_rows(&folder.join("tasks.csv"), &["task", "truth"], by_task(&crowd.truth).iter())?;
    let workers = crowd.table.workers().names().iter().zip(&plan.lazy).map(|(worker, lazy)| {
        let kind = if *lazy > 0.0 { "llm" } else { "good" };
        [worker.clone(), kind.to_owned(), lazy.to_string()]
    });
    write_rows(&folder.join("truth.csv"), &["worker", "kind", "lazy"], workers)?;

    let mut table = Table::new(&["n_workers", "n_lazy", "n_tasks", "n_labels"]);
    let n_lazy = plan.lazy.iter().filter(|lazy| **lazy > 0.0).count();
    table.push(vec![
        plan.lazy.len().into(),
        n_lazy.into(),
        crowd.table.task_count().into(),
        crowd.table.report_count().into(),
    ]);
    let symmetric = args.confusion.is_none();
    let settings = json!({
        "workers": args.workers,
        "tasks": args.tasks,
        "labels": plan.human.labels(),
        "workers_per_task": args.workers_per_task,
        "human_accuracy": symmetric.then_some(args.human_accuracy),
        "llm_accuracy": symmetric.then_some(args.llm_accuracy),
        "human": (!symmetric).then(|| plan.human.rows()),
        "llm_signal": (!symmetric).then(|| plan.llm.rows()),
        "llm_consistency": args.llm_consistency,
        "llm": args.llm,
        "lazy": args.lazy,
        "seed": common.seed,
    });
    let report = Report {
        command: "simulate crowd",
        inputs: Vec::new(),
        settings: settings.as_object().cloned().unwrap_or_default(),
        table,
        warnings: Vec::new(),
        footer: vec![format!(
            "Wrote labels.csv, z.csv, tasks.csv and truth.csv to {}.",
            folder.display()
        )],
        prose: None,
    };
    emit(&report, &to_stdout(common))?;
    Ok(ExitStatus::Done)
}
