//! A crowd out of nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{SimulatedFile, write_labels, write_rows};
use crate::data::warning::Warning;
use crate::error::{ErrorKind, Kinded};
use crate::report::{Report, Table, settings_map};
use crate::simulate::crowd::{CrowdPlan, SignalMatrix, SyntheticCrowd};
use crate::simulate::labels::count_of;
use crate::simulate::{SimulateError, check_share};
use crate::stats::seed::stream;

/// What a crowd is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CrowdSettings {
    /// Number of workers.
    pub workers: usize,
    /// Number of tasks.
    pub tasks: u32,
    /// Number of different labels, all equally likely to be true.
    pub labels: usize,
    /// Workers who answer each task.
    pub workers_per_task: usize,
    /// Probability that a worker's own signal is the true label; with [`Self::human`] it is not
    /// used.
    pub human_accuracy: Option<f64>,
    /// Probability that the opinion of the LLM is the true label; with [`Self::llm_signal`] it is not used.
    pub llm_accuracy: Option<f64>,
    /// Probabilities of every signal of a worker, one row per true label.
    pub human: Option<Vec<Vec<f64>>>,
    /// Probabilities of every opinion of the LLM, one row per true label.
    pub llm_signal: Option<Vec<Vec<f64>>>,
    /// Probability that the LLM says its opinion rather than any label, each time that it is asked, for
    /// Z, too.
    pub llm_consistency: f64,
    /// Share of the workers, rounded down, who are lazy.
    pub llm: f64,
    /// Probability that a lazy worker hands in the LLM instead of the own signal.
    pub lazy: f64,
    /// Whether lazy workers give what is likeliest by the LLM and their own signal together, rather than
    /// what the LLM says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blend: bool,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for CrowdSettings {
    fn default() -> Self {
        Self {
            workers: 50,
            tasks: 500,
            labels: 2,
            workers_per_task: 5,
            human_accuracy: Some(0.8),
            llm_accuracy: Some(0.7),
            human: None,
            llm_signal: None,
            llm_consistency: 0.9,
            llm: 0.1,
            lazy: 1.0,
            blend: false,
            seed: 0,
        }
    }
}

/// A file of confusion matrices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatricesFile {
    human: Vec<Vec<f64>>,
    llm: Vec<Vec<f64>>,
}

/// Why confusion matrices could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum MatricesError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error(
        "`{}` is not an object with `human` and `llm`, each a list of rows of numbers", path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Where it broke.
        #[source]
        source: serde_json::Error,
    },
    /// A matrix is none.
    #[error("`{}`", path.display())]
    Matrix {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: SimulateError,
    },
}

impl Kinded for MatricesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } => ErrorKind::Missing,
            _ => ErrorKind::Input,
        }
    }
}

/// The matrices of people and of the LLM, from JSON with `human` and `llm`.
///
/// # Errors
///
/// [`MatricesError`].
pub(crate) fn read_matrices(path: &Path) -> Result<[SignalMatrix; 2], MatricesError> {
    let owned = || path.to_owned();
    let bytes =
        std::fs::read(path).map_err(|source| MatricesError::Read { path: owned(), source })?;
    let file: MatricesFile = serde_json::from_slice(&bytes)
        .map_err(|source| MatricesError::Format { path: owned(), source })?;
    matrices(file.human, file.llm).map_err(|source| MatricesError::Matrix { path: owned(), source })
}

fn matrices(human: Vec<Vec<f64>>, llm: Vec<Vec<f64>>) -> Result<[SignalMatrix; 2], SimulateError> {
    let human = SignalMatrix::new("human", human)?;
    let llm = SignalMatrix::new("llm", llm)?;
    if human.labels() != llm.labels() {
        let (human, llm) = (human.labels(), llm.labels());
        return Err(SimulateError::DifferentLabels { human, llm });
    }
    Ok([human, llm])
}

impl CrowdSettings {
    /// The same with confusion matrices in place of a number of labels and accuracies.
    #[must_use]
    pub(crate) fn with_matrices(self, [human, llm]: &[SignalMatrix; 2]) -> Self {
        Self {
            labels: human.labels(),
            human_accuracy: None,
            llm_accuracy: None,
            human: Some(human.rows().to_vec()),
            llm_signal: Some(llm.rows().to_vec()),
            ..self
        }
    }

    /// The plan of the crowd.
    ///
    /// # Errors
    ///
    /// [`SimulateError`] for shares and matrices that are none.
    pub(crate) fn plan(&self) -> Result<CrowdPlan, SimulateError> {
        check_share("llm", self.llm)?;
        check_share("lazy", self.lazy)?;
        let [human, llm] = if let (Some(human), Some(llm)) = (&self.human, &self.llm_signal) {
            matrices(human.clone(), llm.clone())?
        } else {
            let default = Self::default();
            let of = |name, accuracy: Option<f64>, default: Option<f64>| {
                let accuracy = accuracy.or(default).unwrap_or_default();
                SignalMatrix::symmetric(name, self.labels, accuracy)
            };
            [
                of("human_accuracy", self.human_accuracy, default.human_accuracy)?,
                of("llm_accuracy", self.llm_accuracy, default.llm_accuracy)?,
            ]
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
            blend: self.blend,
        })
    }

    /// Draws the crowd.
    ///
    /// # Errors
    ///
    /// [`SimulateError`] for settings that make no sense.
    pub(crate) fn run(&self) -> Result<SimulatedCrowd, SimulateError> {
        let plan = self.plan()?;
        let crowd = plan.draw(&mut stream(self.seed, "simulate crowd", 0))?;
        Ok(SimulatedCrowd { settings: self.clone(), plan, crowd })
    }
}

/// A crowd out of nothing.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedCrowd {
    /// The settings.
    pub settings: CrowdSettings,
    /// What they come to.
    pub plan: CrowdPlan,
    /// Labels, Z and truth.
    pub crowd: SyntheticCrowd,
}

impl SimulatedCrowd {
    /// Labels, Z, the truth about tasks and the truth about workers.
    pub(crate) fn files(&self) -> Vec<SimulatedFile<'_>> {
        let table = &self.crowd.table;
        let by_task = move |labels: &'_ [u16]| {
            let tasks = table.tasks().names().iter().zip(labels.to_vec());
            tasks.map(move |(task, label)| {
                [task.clone(), table.labels().name(u32::from(label)).to_owned()]
            })
        };
        vec![
            SimulatedFile::new("labels.csv", |out| write_labels(out, table)),
            SimulatedFile::new("z.csv", move |out| {
                write_rows(out, &["task", "label"], by_task(&self.crowd.z))
            }),
            SimulatedFile::new("tasks.csv", move |out| {
                write_rows(out, &["task", "truth"], by_task(&self.crowd.truth))
            }),
            SimulatedFile::new("truth.csv", |out| {
                let workers = table.workers().names().iter().zip(&self.plan.lazy);
                let workers = workers.map(|(worker, lazy)| {
                    let kind = match (*lazy > 0.0, self.plan.blend) {
                        (true, true) => "blend",
                        (true, false) => "llm",
                        (false, _) => "good",
                    };
                    [worker.clone(), kind.to_owned(), lazy.to_string()]
                });
                write_rows(out, &["worker", "kind", "lazy"], workers)
            }),
        ]
    }

    /// How many there are of everything.
    pub(crate) fn report(&self) -> Report {
        let mut table = Table::new(&["n_workers", "n_lazy", "n_tasks", "n_labels"]);
        let n_lazy = self.plan.lazy.iter().filter(|lazy| **lazy > 0.0).count();
        table.push(vec![
            self.plan.lazy.len().into(),
            n_lazy.into(),
            self.crowd.table.task_count().into(),
            self.crowd.table.report_count().into(),
        ]);
        Report {
            command: "simulate crowd",
            inputs: Vec::new(),
            settings: settings_map(&self.settings),
            table,
            warnings: self.too_few_workers().into_iter().collect(),
            footer: Vec::new(),
            prose: None,
        }
    }

    fn too_few_workers(&self) -> Option<Warning> {
        let (asked, workers) = (self.plan.workers_per_task, self.plan.lazy.len());
        let missing = asked.checked_sub(workers).filter(|missing| *missing > 0)?;
        let message = format!(
            "every task is answered by all workers, who are {workers} and not the {asked} asked for"
        );
        Some(Warning::new("workers_per_task", missing, message))
    }
}
