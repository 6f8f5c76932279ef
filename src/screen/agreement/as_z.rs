//! Which prompt's labels make the better Z for a crowd: what people share beyond them, and what
//! conditioning on them gains.
//!
//! The labels of every prompt are Z in turn. The cheaters of the crowd hand in those of any prompt,
//! the one of Z among them: a prompt is a good Z if it catches workers who ask in another way. In
//! every trial the same workers cheat in the same way whichever prompt is Z, so that gains are
//! paired.

use std::path::Path;

use serde::Serialize;

use super::error::AgreementError;
use crate::data::duplicates::Duplicates;
use crate::data::import::ImportSettings;
use crate::data::observer::Observer;
use crate::data::source::Source;
use crate::data::{Labels, ZLabelRow};
use crate::error::Result;
use crate::experiment::assumptions::{AssumptionSettings, check_assumptions, progress_total};
use crate::experiment::contenders::{ExperimentData, Roles};
use crate::experiment::detection::{DetectionSettings, detection};
use crate::mechanism::MechanismName;
use crate::stats::interval::Estimate;

/// Mechanisms that use Z, each with the one that does the same without.
const PAIRS: [(MechanismName, MechanismName); 2] =
    [(MechanismName::CaZ, MechanismName::Ca), (MechanismName::DsZ, MechanismName::Ds)];

/// How much is drawn for every prompt as Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct AsZSettings {
    /// Contaminated crowds per share of LLM cheaters.
    pub trials: u32,
    /// Permutations behind each null of what is shared.
    pub permutations: u32,
    /// Bootstrap replicates behind each interval of what is shared.
    pub replicates: u32,
}

impl Default for AsZSettings {
    /// Fewer than for one Z: there are many prompts.
    fn default() -> Self {
        Self { trials: 10, permutations: 50, replicates: 200 }
    }
}

/// A measure of a prompt as Z.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AsZ {
    pub(super) prompt: String,
    pub(super) metric: String,
    pub(super) value: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
    /// Tasks, or trials.
    pub(super) items: u64,
}

/// The labels of prompts: name, then task and label.
pub(super) type Prompts<'a> = [(&'a str, Vec<(&'a str, &'a str)>)];

/// Measures every prompt as Z of `crowd`: `task, worker, label`.
pub(super) fn as_z(
    crowd: &Source,
    prompts: &Prompts<'_>,
    (settings, seed, duplicates): (&AsZSettings, u64, Duplicates),
    observer: &dyn Observer,
) -> Result<(Vec<AsZ>, Labels)> {
    let mut lines = String::new();
    for (name, labels) in prompts {
        for (task, label) in labels {
            let source = Some((*name).to_owned());
            let row = serde_json::json!(ZLabelRow { source, ..ZLabelRow::new(*task, *label) });
            lines.push_str(&row.to_string());
            lines.push('\n');
        }
    }
    let z = Source::from_reader(Path::new("labels.jsonl"), lines.as_bytes())?;
    let set = Labels::from_exports(
        (crowd.clone(), vec![z], None),
        ImportSettings::default(),
        duplicates,
    )?;
    let AsZSettings { trials, permutations, replicates } = *settings;
    let drawing = AssumptionSettings { permutations, replicates, seed };
    let progress =
        observer.stage("comparing", progress_total(&set.table, set.z.sources.len(), &drawing));
    let checks = check_assumptions(&set.table, &set.z, &drawing, progress.as_ref());
    drop(progress);
    if observer.interrupted() {
        return Err(AgreementError::Interrupted.into());
    }
    let mut found = Vec::new();
    for check in &checks {
        let row = |metric: &str, value, interval, items| AsZ {
            prompt: check.z.clone(),
            metric: metric.into(),
            value,
            interval,
            items,
        };
        let humans = &check.humans;
        let tasks = humans.n_tasks as u64;
        found.push(row("people_beyond_z", humans.excess(), humans.interval, tasks));
        let worst = check.worst_case().map(|(_, comparison)| comparison);
        let value = worst.and_then(|worst| worst.excess_difference);
        let interval = worst.and_then(|worst| worst.interval);
        found.push(row("people_over_worst_copy", value, interval, tasks));
    }
    found.extend(gains(&set, (trials, seed), observer)?);
    Ok((found, set))
}

/// Area under the curve of every mechanism that uses Z, and by how much it is above that without.
fn gains(set: &Labels, (trials, seed): (u32, u64), observer: &dyn Observer) -> Result<Vec<AsZ>> {
    let contenders: Vec<MechanismName> =
        PAIRS.iter().flat_map(|&(with, without)| [with, without]).collect();
    let settings = DetectionSettings { contenders, seed, ..DetectionSettings::default() };
    let all: Vec<String> = set.z.sources.iter().map(|source| source.name.clone()).collect();
    let total = settings.grid(trials).trials() * all.len() as u64;
    let progress = observer.stage("contaminating", total);
    let mut found = Vec::new();
    for prompt in &all {
        let roles = Roles { z: vec![prompt.clone()], cheaters: all.clone(), copy_z: true };
        let data = ExperimentData::new(&set.table, &set.z, &roles)?;
        let done = detection(&data, &settings, trials, None, progress.as_ref())?;
        for (index, (with, _)) in PAIRS.iter().enumerate() {
            let aucs = done.iter().map(|trial| &trial.aucs[0]);
            let pairs: Vec<(f64, f64)> =
                aucs.filter_map(|aucs| aucs[2 * index].auc.zip(aucs[2 * index + 1].auc)).collect();
            let row = |metric: &str, values: Vec<f64>| {
                let estimate = Estimate::of_mean(&values);
                AsZ {
                    prompt: prompt.clone(),
                    metric: format!("{metric}:{with}"),
                    value: estimate.map(|estimate| estimate.value),
                    interval: estimate.and_then(|estimate| estimate.interval()),
                    items: values.len() as u64,
                }
            };
            found.push(row("auc", pairs.iter().map(|(with, _)| *with).collect()));
            found.push(row("gain", pairs.iter().map(|(with, without)| with - without).collect()));
        }
    }
    Ok(found)
}
