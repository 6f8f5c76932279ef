//! The experiments on crowds, from settings and labels to tables, figures and a page.

mod figures;
mod tables;

pub(super) use self::tables::{SUMMARY_COLUMNS, cells};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::auc_summary::answer;
use super::contenders::{ExperimentData, ExperimentError, Roles};
use super::detection::{CrowdTrial, DetectionSettings, REPETITIONS, detection};
use super::figures::Figure;
use super::multi_llm::multi_llm;
use super::sample_size::{COVERAGES, LLM_SHARE, sample_size};
use super::trials::{TrialFile, TrialLog};
use crate::data::import::ImportSettings;
use crate::data::label_reader::LabelReading;
use crate::data::label_reader::LoadedLabels;
use crate::data::observer::Observer;
use crate::data::warning::{Warning, first_names};
use crate::error::Result;
#[cfg(feature = "html")]
use crate::report::html::Page;
use crate::report::{Cell, Input, Report, Table, settings_map};
use crate::simulate::labels::count_of;

/// Which experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CrowdExperiment {
    /// AUC by the share of LLM cheaters, see [`super::detection`].
    #[default]
    Detection,
    /// AUC by the share of the tasks that the LLM labels, see [`super::sample_size`].
    SampleSize,
    /// Cheaters who use different LLMs, see [`super::multi_llm`].
    MultiLlm,
}

impl CrowdExperiment {
    /// The name in results.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Detection => "experiment detection",
            Self::SampleSize => "experiment sample-size",
            Self::MultiLlm => "experiment multi-llm",
        }
    }

    /// Title of the page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Detection => "How well cheaters would be found",
            Self::SampleSize => "How well cheaters would be found with Z on part of the tasks",
            Self::MultiLlm => "How well cheaters with different LLMs would be found",
        }
    }
}

/// Settings of an experiment on a crowd: its provenance, and all but [`Self::trials`] the key by
/// which a run goes on with trials that are there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CrowdSettings {
    /// Which experiment.
    pub experiment: CrowdExperiment,
    /// What a trial is like.
    #[serde(flatten)]
    pub trial: DetectionSettings,
    /// Sample size only: shares of the tasks with Z that keep it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<f64>,
    /// Which LLM plays which part; a run has what was left open filled in.
    #[serde(flatten)]
    pub roles: Roles,
    /// How the labels were read.
    #[serde(flatten)]
    pub reading: LabelReading,
    /// What was said about files of other systems.
    #[serde(flatten)]
    pub import: ImportSettings,
    /// Trials per point of the grid. More trials are the same experiment.
    pub trials: u32,
}

impl Default for CrowdSettings {
    fn default() -> Self {
        Self::of(CrowdExperiment::Detection)
    }
}

impl CrowdSettings {
    /// The settings of the paper.
    pub(crate) fn of(experiment: CrowdExperiment) -> Self {
        let mut trial = DetectionSettings::default();
        let mut coverage = Vec::new();
        if experiment == CrowdExperiment::SampleSize {
            trial.llm_shares = vec![LLM_SHARE];
            coverage = COVERAGES.to_vec();
        }
        Self {
            experiment,
            trial,
            coverage,
            roles: Roles::default(),
            reading: LabelReading::default(),
            import: ImportSettings::default(),
            trials: REPETITIONS,
        }
    }

    /// Looks at the numbers, before any data are read.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] for a share that is none.
    pub(crate) fn check(&self) -> Result<(), ExperimentError> {
        self.trial.check()?;
        match self.coverage.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            Some(&value) => Err(ExperimentError::BadCoverage { value }),
            None => Ok(()),
        }
    }

    /// What must be the same in two runs for one to go on with the trials of the other.
    pub(crate) fn key(&self) -> Map<String, Value> {
        let mut key = settings_map(self);
        key.remove("trials");
        key
    }

    /// Runs the experiment on these labels; finished trials are kept in `file`.
    ///
    /// # Errors
    ///
    /// For settings that make no sense or do not fit the data, for a file of other trials, for a
    /// mechanism that fails, and if `observer` asked to stop.
    pub(crate) fn run(
        &self,
        loaded: LoadedLabels,
        inputs: Vec<Input>,
        file: Option<&TrialFile>,
        observer: &dyn Observer,
    ) -> Result<CrowdRun> {
        self.check()?;
        let roles = match self.experiment {
            CrowdExperiment::MultiLlm => self.roles.of_several(&loaded.z)?,
            _ => self.roles.of_one(&loaded.z)?,
        };
        let settings = Self { roles, ..self.clone() };
        let data = ExperimentData::new(&loaded.table, &loaded.z, &settings.roles)?;
        let command = self.experiment.command();
        let log = file.map(|file| file.open(command, &inputs, &settings.key())).transpose()?;
        if let Some(damaged) = log.as_ref().and_then(TrialLog::damaged) {
            observer.say(&format!("warning: {}", damaged.message));
        }
        let (trial, count) = (&settings.trial, settings.trials);
        let progress = observer.stage("trials", trial.grid(count).trials());
        let progress = progress.as_ref();
        let trials = match self.experiment {
            CrowdExperiment::Detection => detection(&data, trial, count, log, progress),
            CrowdExperiment::SampleSize => {
                sample_size(&data, trial, (&settings.coverage, count), log, progress)
            }
            CrowdExperiment::MultiLlm => multi_llm(&data, trial, count, log, progress),
        }?;
        Ok(CrowdRun { settings, trials, loaded, inputs })
    }
}

/// A finished experiment on a crowd.
#[derive(Debug, Clone)]
pub(crate) struct CrowdRun {
    /// The settings, with every LLM named.
    pub settings: CrowdSettings,
    /// The results, repetition by repetition; variants are coverages, or ways to use Z.
    pub trials: Vec<CrowdTrial>,
    loaded: LoadedLabels,
    inputs: Vec<Input>,
}

impl CrowdRun {
    /// The summary with what it is of.
    pub(crate) fn report(&self) -> Report {
        let CrowdSettings { experiment, roles, trials, .. } = &self.settings;
        let about = match experiment {
            CrowdExperiment::MultiLlm => {
                format!("Every cheater picks one of {}.", roles.cheaters.join(", "))
            }
            _ => format!("Z: {}; cheaters: {}.", roles.z.join(", "), roles.cheaters.join(", ")),
        };
        let crowd = &self.loaded.table;
        let scope = format!(
            "Contaminated {} workers with {} labels of {} tasks, {trials} trials per point. {about}",
            crowd.worker_count(),
            crowd.report_count(),
            crowd.task_count()
        );
        let meaning = "AUC: probability that a good worker scores above a low-effort one; 0.5 is \
            chance. q10_auc: one trial in ten is worse. n_undefined: trials in which there was nobody \
            to tell apart. mean_missing: workers without a score per trial; they are left out.";
        let mut table = tables::summary(self);
        if let Some(answer) = self.answer(&table) {
            table.set_headline(answer);
        }
        let caveat = "Workers left alone count as good, which in a real crowd not all of them are.";
        Report {
            command: experiment.command(),
            inputs: self.inputs.clone(),
            settings: settings_map(&self.settings),
            table,
            warnings: self.loaded.warnings.iter().cloned().chain(self.nobody()).collect(),
            footer: vec![scope, meaning.into(), caveat.into()],
            prose: None,
        }
    }

    /// Shares of so few workers that nobody hands in an LLM.
    fn nobody(&self) -> Option<Warning> {
        let workers = self.loaded.table.worker_count();
        let shares = self.settings.trial.llm_shares.iter();
        let none = shares.filter(|share| **share > 0.0 && count_of(**share, workers) == 0);
        let names: Vec<String> = none.map(f64::to_string).collect();
        let message = format!(
            "of {workers} workers nobody hands in an LLM at a share of {}: it is too small for one",
            first_names(&names)
        );
        (!names.is_empty()).then(|| Warning::new("nobody_planted", names.len(), message))
    }

    /// Which mechanism finds most, in a sentence.
    fn answer(&self, table: &Table) -> Option<String> {
        let all_shares = ("llm_share", Cell::Missing);
        match self.settings.experiment {
            CrowdExperiment::Detection => {
                answer(table, "mechanism", &[all_shares], " over all shares of cheaters")
            }
            CrowdExperiment::SampleSize => {
                let most = self.settings.coverage.iter().copied().reduce(f64::max)?;
                let place = format!(" where the LLM labels {:.0} % of the tasks", 100.0 * most);
                answer(table, "mechanism", &[("coverage", most.into())], &place)
            }
            CrowdExperiment::MultiLlm => {
                let lowest = self.ways().first().map(|way| Cell::from(way.as_str()))?;
                let place = " by the lowest score over the LLMs";
                answer(table, "mechanism", &[all_shares, ("z", lowest)], place)
            }
        }
    }

    /// Every trial, mechanism and variant.
    pub(crate) fn raw(&self) -> Table {
        tables::raw(self)
    }

    /// The figures of the paper.
    ///
    /// # Errors
    ///
    /// For a mechanism that fails.
    pub(crate) fn figures(&self) -> Result<Vec<Figure>> {
        figures::figures(self)
    }

    /// The page; `caption` says what stands under a figure.
    #[cfg(feature = "html")]
    pub(crate) fn page(&self, figures: &[Figure], caption: &dyn Fn(&Figure) -> String) -> Page {
        super::page::page(self.settings.experiment.title(), &self.report(), figures, caption)
    }

    /// Names of the ways to use Z, in the order of the trials of several LLMs.
    fn ways(&self) -> Vec<String> {
        let each = self.settings.roles.z.iter().cloned();
        std::iter::once("lowest over all".to_owned()).chain(each).collect()
    }
}
