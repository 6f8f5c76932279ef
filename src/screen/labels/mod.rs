//! Crowd workers by what their labels share with their peers' beyond the labels of an LLM.

mod accuracy;
mod choice;
mod consensus;
mod evidence;
mod own;
#[cfg(feature = "html")]
mod page;
mod people;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod settings;

use std::sync::OnceLock;

use self::choice::choose;
pub(crate) use self::evidence::WorkerEvidence;
pub(crate) use self::rows::{MechanismScores, WorkerRow};
pub(crate) use self::settings::{LabelsError, LabelsSettings, MIN_TASKS};
use super::z_of_crowd;
use crate::data::Labels;
use crate::data::interruption::Interrupted;
use crate::data::labels::Label;
use crate::data::observer::Observer;
use crate::data::warning::Warning;
use crate::data::z::ZSource;
use crate::error::Result;
use crate::mechanism::{Bootstrap, MechanismError, MechanismName, build};

/// The scores of a crowd, with all that explains them.
#[derive(Debug)]
pub struct LabelsRun {
    set: Labels,
    settings: LabelsSettings,
    scored: Vec<MechanismScores>,
    /// Which mechanisms were chosen and why, if none was asked for.
    choice: Option<String>,
    /// That a mechanism was asked for in a crowd that is too small for it.
    caution: Option<Warning>,
    /// What every LLM says about each task, by source.
    conditioning: Vec<Vec<Option<Label>>>,
    /// What the crowd says about each task; made when evidence is first asked for.
    consensus: OnceLock<Vec<Option<Label>>>,
}

/// Scores the workers of `set` with every mechanism of `settings`, or, if it names none, with those
/// that fit the crowd: `own` where there are enough workers, and `ca_z`.
///
/// # Errors
///
/// `LabelsError` for settings out of range, [`MechanismError`] if a mechanism needs labels of an
/// LLM and there are none, cannot score the labels, or `observer` asks to stop.
///
/// # Examples
///
/// ```
/// use caz::{LabelRow, Labels, LabelsSettings, MechanismName, Silent, ZLabelRow, labels};
///
/// // a, b and d agree where the LLM says the same of both tasks; c hands in the LLM.
/// let rows = [
///     ("q", "a", "x"), ("q", "b", "x"), ("q", "c", "x"), ("q", "d", "x"),
///     ("r", "a", "y"), ("r", "b", "y"), ("r", "c", "x"), ("r", "d", "y"),
/// ];
/// let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
/// let z = [ZLabelRow::new("q", "x"), ZLabelRow::new("r", "x")];
/// let run = labels(Labels::from_rows(rows, z)?, &LabelsSettings::default(), &Silent)?;
/// let scores = run.scores(MechanismName::CaZ).expect("it was asked for");
/// assert_eq!(scores.rows[0].worker, "c");
/// # Ok::<(), caz::Error>(())
/// ```
pub fn labels(
    set: Labels,
    settings: &LabelsSettings,
    observer: &dyn Observer,
) -> Result<LabelsRun> {
    settings.check()?;
    let tasks = set.table.task_count();
    let set = if settings.multi { set.split_choices()? } else { set };
    // Several questions of one task are one task.
    let questions = set.table.task_count().checked_div(tasks).unwrap_or(1).max(1);
    let asked = settings;
    let settings = &LabelsSettings {
        min_tasks: settings.min_tasks.saturating_mul(questions),
        ..settings.clone()
    };
    let set = match &settings.scale {
        Some(scale) => set.on_scale(scale),
        None => set,
    };
    let choice = choose(&set, settings);
    // Whoever names mechanisms gets what they say of a stratum that no label of the crowd is in.
    if settings.mechanism.is_empty() {
        z_of_crowd::check(&set)?;
    }
    let settings = &LabelsSettings { mechanism: choice.names, ..settings.clone() };
    let mut options = settings.options(set.values.as_ref());
    options.own.questions = questions;
    let mut scored = Vec::new();
    let parts = settings.mechanism.len() as u64;
    let mut scoring = Some(observer.stage("scoring", parts));
    for &name in &settings.mechanism {
        if observer.interrupted() {
            return Err(MechanismError::from(Interrupted).into());
        }
        let mechanism = build(name, &set.z.sources, &options)?;
        if mechanism.goes_by_worker() {
            set.table.index_workers();
        }
        let scores = match settings.bootstrap.filter(|_| name.is_fitted()) {
            None => {
                let progress = scoring.get_or_insert_with(|| observer.stage("scoring", parts));
                let scores = mechanism.score(&set.table)?;
                progress.advance(1);
                scores
            }
            Some(replicates) => {
                // One bar at a time.
                scoring = None;
                let progress = observer.stage("bootstrap", u64::from(replicates));
                let bootstrap = Bootstrap { replicates, seed: settings.seed };
                bootstrap.score(mechanism.as_ref(), &set.table, progress.as_ref())?
            }
        };
        let zero_is_chance = mechanism.zero_is_chance();
        scored.push(MechanismScores::new(&set, (name, zero_is_chance), scores, &settings.flags()));
    }
    scored
        .iter_mut()
        .filter(|scored| scored.mechanism == MechanismName::Own)
        .for_each(|own| people::add_accuracy(own, &set, settings));
    let conditioning = set.z.sources.iter().map(ZSource::conditioning).collect();
    let settings = LabelsSettings { min_tasks: asked.min_tasks, ..settings.clone() };
    Ok(LabelsRun {
        set,
        settings,
        scored,
        choice: choice.sentence,
        caution: choice.warning,
        conditioning,
        consensus: OnceLock::new(),
    })
}

impl LabelsRun {
    /// What a mechanism says about every worker; `None` if it was not asked for.
    pub fn scores(&self, name: MechanismName) -> Option<&MechanismScores> {
        self.scored.iter().find(|scored| scored.mechanism == name)
    }

    /// Whose flags are read: those of `own` wherever it stands among the mechanisms, else of the first.
    fn leading(&self) -> Option<&MechanismScores> {
        self.scores(MechanismName::Own).or(self.scored.first())
    }

    /// The same for all mechanisms, in the order asked for.
    #[cfg(test)]
    pub(crate) fn all_scores(&self) -> &[MechanismScores] {
        &self.scored
    }

    /// What was left out or assumed, by reading and by the mechanisms.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.set.warnings.clone();
        warnings.extend(self.caution.clone());
        for scored in &self.scored {
            // One mechanism may say the same twice; two should not.
            let known = warnings.clone();
            warnings.extend(scored.warnings.iter().filter(|w| !known.contains(w)).cloned());
            warnings.extend(own::near_majority(scored));
        }
        warnings
    }
}

#[cfg(test)]
mod tests;
