//! The scores of a crowd whose labels are in an engine.

use serde::Serialize;

use super::{Crowd, Engine, score};
use caz::for_caz_sql::{
    Interrupted, LabelReading, MechanismError, left_out, scope_of, settings_map, table_of,
};
use caz::{
    Input, LabelsSettings, MechanismName, MechanismScores, Observer, Report, Result, Warning,
};

/// Scores of a crowd whose labels are in an engine.
#[derive(Debug)]
pub struct EngineRun {
    crowd: Crowd,
    settings: LabelsSettings,
    scored: Vec<MechanismScores>,
}

/// What a result of an engine is made of beside its inputs.
#[derive(Serialize)]
struct Provenance<'a> {
    #[serde(flatten)]
    settings: &'a LabelsSettings,
    #[serde(flatten)]
    reading: LabelReading,
    engine: &'a str,
    z: &'a [String],
}

/// Scores the workers of an engine with every mechanism of `settings`; if it names none, with `ca_z`
/// given an LLM and with `ca` without.
///
/// # Errors
///
/// One of the kind [`Usage`](caz::ErrorKind::Usage) for settings out of range,
/// [`EngineError`](crate::EngineError) for a mechanism without a plan,
/// [`MechanismError`] if there is no LLM that it needs or `observer` asks to stop, and what the engine
/// reports.
pub fn labels_by_engine(
    engine: &mut dyn Engine,
    settings: &LabelsSettings,
    observer: &dyn Observer,
) -> Result<EngineRun> {
    settings.check()?;
    let crowd = engine.crowd()?;
    let with_z = !crowd.sources.is_empty();
    let mut settings = settings.clone();
    if settings.mechanism.is_empty() {
        settings.mechanism = vec![if with_z { MechanismName::CaZ } else { MechanismName::Ca }];
    }
    let names: Vec<String> = crowd.workers.keys().cloned().collect();
    let progress = observer.stage("scoring", settings.mechanism.len() as u64);
    let mut scored = Vec::new();
    for &name in &settings.mechanism {
        if observer.interrupted() {
            return Err(MechanismError::from(Interrupted).into());
        }
        if name.needs_z() && !with_z {
            return Err(MechanismError::NeedsZ { name }.into());
        }
        let found = score(engine, &crowd, name, &settings.options(None))?;
        let about = (name, found.zero_is_chance);
        scored.push(MechanismScores::of(&names, about, found.scores, &settings.flags()));
        progress.advance(1);
    }
    Ok(EngineRun { crowd, settings, scored })
}

impl EngineRun {
    /// What a mechanism says about every worker; `None` if it was not asked for.
    pub fn scores(&self, name: MechanismName) -> Option<&MechanismScores> {
        self.scored.iter().find(|scored| scored.mechanism == name)
    }

    /// The result for people and programs. `inputs` are what was read; `engine` and `reading` go into
    /// the settings of the result.
    pub fn report(&self, inputs: Vec<Input>, engine: &str, reading: LabelReading) -> Report {
        let names: Vec<String> = self.crowd.workers.keys().cloned().collect();
        let sources: Vec<&str> = self.crowd.sources.iter().map(String::as_str).collect();
        let sizes = [
            names.len() as u64,
            self.crowd.reports(),
            self.crowd.tasks,
            self.crowd.labels.len() as u64,
        ];
        let mut footer = vec![scope_of(sizes, &sources)];
        for scored in &self.scored {
            footer.push(scored.mechanism.meaning());
            footer.extend(left_out(&names, scored));
        }
        footer.push("Worst first; rank 1 is the best.".into());
        let provenance =
            Provenance { settings: &self.settings, reading, engine, z: &self.crowd.sources };
        Report {
            command: "labels",
            inputs,
            settings: settings_map(&provenance),
            table: table_of(&self.scored, false),
            warnings: self.warnings(),
            footer,
            prose: None,
        }
    }

    /// What an engine leaves out, and what the mechanisms say of their fits.
    pub fn warnings(&self) -> Vec<Warning> {
        let without = |name: &MechanismName| matches!(name, MechanismName::CaZ | MechanismName::Ca);
        let count = self.settings.mechanism.iter().filter(|name| without(name)).count();
        let message = "ca and ca_z have no standard errors where an engine counts: no flag but \
                       too_few says anything";
        let left_out = (count > 0).then(|| Warning::new("no_standard_errors", count, message));
        let of_fits = self.scored.iter().flat_map(|scored| scored.warnings.clone());
        left_out.into_iter().chain(of_fits).collect()
    }
}
