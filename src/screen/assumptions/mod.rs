//! Can conditioning on an LLM work on these labels, and on which LLM?
//!
//! The hypotheses and how they are tested are in [`crate::experiment::assumptions`].

#[cfg(feature = "html")]
mod page;
mod report;

use serde::{Deserialize, Serialize};

use super::z_of_crowd;
use crate::data::Labels;
use crate::data::observer::Observer;
use crate::data::warning::Warning;
use crate::error::{Error, ErrorKind, Kinded, Result};
use crate::experiment::assumptions::{
    AssumptionSettings, PERMUTATIONS, REPLICATES, SourceCheck, best_source, check_assumptions,
    check_unconditional, progress_total,
};

/// Every setting that can change the result; what is serialised is its provenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AssumptionsSettings {
    /// Permutations behind each null, at least 1.
    pub permutations: u32,
    /// Bootstrap replicates behind each interval, at least 2.
    pub bootstrap: u32,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for AssumptionsSettings {
    fn default() -> Self {
        Self { permutations: PERMUTATIONS, bootstrap: REPLICATES, seed: 0 }
    }
}

/// Why the assumptions cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssumptionsError {
    /// A setting is out of its range.
    #[error("`{setting}` is {value}; it must be at least {least}")]
    TooSmall {
        /// The field of the settings.
        setting: &'static str,
        /// Its value.
        value: u32,
        /// The least value.
        least: u32,
    },
    /// There is no LLM to condition on.
    #[error("there are no labels of an LLM to condition on")]
    NoSource,
}

impl Kinded for AssumptionsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl AssumptionsSettings {
    /// Looks for values out of range.
    ///
    /// # Errors
    ///
    /// `AssumptionsError::TooSmall` for the first one.
    pub fn check(&self) -> Result<(), AssumptionsError> {
        let checks = [("permutations", self.permutations, 1), ("bootstrap", self.bootstrap, 2)];
        match checks.into_iter().find(|&(_, value, least)| value < least) {
            None => Ok(()),
            Some((setting, value, least)) => {
                Err(AssumptionsError::TooSmall { setting, value, least })
            }
        }
    }
}

/// What every LLM of Z could be used for.
#[derive(Debug)]
pub struct AssumptionsRun {
    set: Labels,
    settings: AssumptionsSettings,
    checks: Vec<SourceCheck>,
    without_z: SourceCheck,
}

/// Checks the hypotheses for every LLM of `set` as Z and every LLM as the cheater's.
///
/// # Errors
///
/// `AssumptionsError` for settings out of range or without an LLM; an error of the kind
/// [`ErrorKind::Interrupted`] if `observer` asks to stop before it begins.
pub fn assumptions(
    set: Labels,
    settings: &AssumptionsSettings,
    observer: &dyn Observer,
) -> Result<AssumptionsRun> {
    settings.check()?;
    if set.z.sources.is_empty() {
        return Err(AssumptionsError::NoSource.into());
    }
    z_of_crowd::check(&set)?;
    if observer.interrupted() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
    }
    let AssumptionsSettings { permutations, bootstrap, seed } = *settings;
    let drawing = AssumptionSettings { permutations, replicates: bootstrap, seed };
    let total = progress_total(&set.table, set.z.sources.len(), &drawing);
    let progress = observer.stage("comparing", total);
    let checks = check_assumptions(&set.table, &set.z, &drawing, progress.as_ref());
    drop(progress);
    let values = (1 + 2 * set.z.sources.len()) as u64;
    let progress = observer.stage("comparing without Z", values + u64::from(bootstrap));
    let without_z = check_unconditional(&set.table, &set.z, &drawing, progress.as_ref());
    drop(progress);
    Ok(AssumptionsRun { set, settings: *settings, checks, without_z })
}

impl AssumptionsRun {
    /// What was found for every LLM as Z, in the order of the sources.
    pub fn checks(&self) -> &[SourceCheck] {
        &self.checks
    }

    /// The LLM to condition on; `None` if no comparison could be computed.
    pub(crate) fn best(&self) -> Option<&SourceCheck> {
        best_source(&self.checks)
    }

    /// What was left out or assumed.
    pub fn warnings(&self) -> &[Warning] {
        &self.set.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::observer::Silent;
    use crate::data::{LabelRow, ZLabelRow};

    fn set(z: bool) -> Labels {
        let rows = (0..12).flat_map(|task| {
            ["a", "b", "c"].map(|worker| {
                let label = if task % 3 == 0 && worker == "c" { "y" } else { "x" };
                LabelRow::new(task.to_string(), worker, label)
            })
        });
        let z = (0..12).filter(|_| z).map(|task| ZLabelRow::new(task.to_string(), "x"));
        Labels::from_rows(rows, z).unwrap()
    }

    #[test]
    fn a_run_holds_its_settings_and_how_the_labels_were_read() {
        let settings = AssumptionsSettings { permutations: 3, bootstrap: 4, seed: 5 };
        let run = assumptions(set(true), &settings, &Silent).unwrap();
        let report = run.report();
        assert_eq!(report.settings["permutations"], 3);
        assert_eq!(report.settings["bootstrap"], 4);
        assert_eq!(report.settings["seed"], 5);
        assert_eq!(report.settings["duplicates"], "error");
        assert_eq!(report.settings["sources"][0]["source"], "z");
        assert_eq!(run.checks()[0].z, "z");
    }

    #[test]
    fn settings_out_of_range_and_labels_without_an_llm_are_refused() {
        let check = |settings: &AssumptionsSettings, z| {
            let error = assumptions(set(z), settings, &Silent).unwrap_err();
            (error.kind(), error.to_string())
        };
        let settings = AssumptionsSettings::default();
        let few = AssumptionsSettings { bootstrap: 1, ..settings };
        assert_eq!(
            check(&few, true),
            (ErrorKind::Usage, "`bootstrap` is 1; it must be at least 2".into())
        );
        let none = AssumptionsSettings { permutations: 0, ..settings };
        assert!(check(&none, true).1.contains("`permutations` is 0"));
        assert!(check(&settings, false).1.contains("no labels of an LLM"));
    }
}
