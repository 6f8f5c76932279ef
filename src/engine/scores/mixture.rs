//! The copy mixture from the iterations of an engine.

use std::collections::BTreeMap;

use super::fitted;
use crate::data::warning::Warning;
use crate::engine::{Attempt, Engine, Mixed};
use crate::error::Result;
use crate::mechanism::copy_mixture::{is_better, llm_is_truth_warning};
use crate::mechanism::{EmSettings, Fit, has_converged};

/// What the copy mixture says given one LLM.
#[derive(Default)]
pub(super) struct Mixture {
    pub(super) fit: Fit,
    pub(super) workers: Vec<Mixed>,
    /// Where the most probable labels repeat the LLM.
    pub(super) llm_is_truth: Option<Warning>,
}

/// The best start of the copy mixture for every LLM: iterations of all starts at once, until each
/// stands still.
pub(super) fn mixtures(
    engine: &mut dyn Engine,
    settings: EmSettings,
) -> Result<BTreeMap<String, Mixture>> {
    // One of the starts is what Dawid-Skene says.
    fitted(engine, settings)?;
    let mut going: BTreeMap<Attempt, Fit> = BTreeMap::new();
    let mut done: BTreeMap<Attempt, Mixture> = BTreeMap::new();
    for number in 1..=settings.max_iterations {
        let ended: Vec<Attempt> = done.keys().cloned().collect();
        for row in engine.copy_mixture(number, &ended)? {
            let fit = going.entry(row.attempt).or_default();
            fit.objective.push(row.objective);
            fit.converged = has_converged(&fit.objective, settings.tolerance);
        }
        let ends = |fit: &Fit| fit.converged || number == settings.max_iterations;
        let (end, on): (BTreeMap<_, _>, _) = going.into_iter().partition(|(_, fit)| ends(fit));
        going = on;
        if !end.is_empty() {
            done.extend(results(engine, end)?);
        }
        if going.is_empty() {
            break;
        }
    }
    let mut best: BTreeMap<String, Mixture> = BTreeMap::new();
    // Starts come in their order: of equal ones the first counts.
    for (attempt, mixture) in done {
        if best.get(&attempt.source).is_none_or(|best| is_better(&mixture.fit, &best.fit)) {
            best.insert(attempt.source, mixture);
        }
    }
    Ok(best)
}

/// What attempts say that end with the iteration that was the last.
fn results(
    engine: &mut dyn Engine,
    fits: BTreeMap<Attempt, Fit>,
) -> Result<BTreeMap<Attempt, Mixture>> {
    let attempts: Vec<Attempt> = fits.keys().cloned().collect();
    let mut found: BTreeMap<Attempt, Mixture> = fits
        .into_iter()
        .map(|(attempt, fit)| (attempt, Mixture { fit, ..Mixture::default() }))
        .collect();
    for row in engine.mixed(&attempts)? {
        if let Some(mixture) = found.get_mut(&row.attempt) {
            mixture.workers.push(row);
        }
    }
    for row in engine.like_llm(&attempts)? {
        if let Some(mixture) = found.get_mut(&row.attempt) {
            mixture.llm_is_truth = llm_is_truth_warning(row.same as f64 / row.tasks as f64);
        }
    }
    Ok(found)
}
