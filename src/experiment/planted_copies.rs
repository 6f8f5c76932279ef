//! What would happen to copiers of an LLM here: some workers hand in its labels, and are scored.
//!
//! The hypotheses of [`super::assumptions`] are about what pairs share, on average; whether a copier
//! ends below people depends on how much scores of people differ, too. So it is tried: in the crowd as
//! it is, every twentieth worker at a time (one in a small crowd) hands in the other LLM's labels on their
//! own tasks, everybody is scored by `ca_z`, and a copier counts the share of the other workers above
//! them, ties half. The mean over copiers is the AUC that a few copiers would have. The same is tried with every
//! fifth at a time, who meet each other on many tasks and agree there beyond Z; the lower of both counts.

use rayon::prelude::*;

use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::mechanism::{
    Conditioning, CorrelatedAgreement, CorrelatedAgreementOptions, Mechanism, MechanismError,
};
use crate::stats::interval::Estimate;
use crate::stats::rank::whole;

/// One in so many workers copies at a time: few, and many.
const ONE_IN: [usize; 2] = [20, 5];

/// Most crowds that are scored.
const MOST_CROWDS: usize = 20;

/// Fewest tasks of a copier with labels of both LLMs.
const LEAST_TASKS: usize = 5;

/// The AUC of `ca_z` given `z` for workers who hand in `copied`, be they few or many, with its interval over
/// copiers; `None` where nobody has enough tasks or no score can be computed.
///
/// # Errors
///
/// What the mechanism reports.
pub(crate) fn planted_auc(
    table: &LabelTable,
    labels: &crate::data::ids::Ids,
    (z, copied): (&[Option<Label>], &[Option<Label>]),
) -> Result<Option<Estimate>, MechanismError> {
    let could = |worker: &u32| {
        let both = |&&task: &&u32| z[task as usize].and(copied[task as usize]).is_some();
        table.of_worker(*worker).others.iter().filter(both).count() >= LEAST_TASKS
    };
    let workers: Vec<u32> = (0..).take(table.worker_count()).filter(could).collect();
    let mut at_once = ONE_IN.map(|one_in| (table.worker_count() / one_in).max(1)).to_vec();
    at_once.dedup();
    let mut lowest: Option<Estimate> = None;
    for at_once in at_once {
        let found = auc_of((table, labels), (z, copied), &workers, at_once)?;
        lowest = match (lowest, found) {
            (Some(one), Some(other)) if other.value >= one.value => Some(one),
            (one, other) => other.or(one),
        };
    }
    Ok(lowest)
}

/// The same where so many of `workers` copy at a time, each of them once.
fn auc_of(
    (table, labels): (&LabelTable, &crate::data::ids::Ids),
    (z, copied): (&[Option<Label>], &[Option<Label>]),
    workers: &[u32],
    at_once: usize,
) -> Result<Option<Estimate>, MechanismError> {
    let crowds = workers.len().div_ceil(at_once).min(MOST_CROWDS);
    let step = workers.len() as f64 / crowds.max(1) as f64;
    // Copiers of one crowd are as far apart as may be, so that they seldom meet.
    let copiers = |crowd: usize| -> Vec<u32> {
        let first = whole(crowd as f64 * step);
        let all = (0..at_once).map(|k| first + k * workers.len() / at_once);
        let mut chosen: Vec<u32> = all.map(|k| workers[k % workers.len()]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    };
    let shares: Vec<Vec<f64>> = (0..crowds)
        .into_par_iter()
        .map(|crowd| shares_above(table, labels, (z, copied), &copiers(crowd)))
        .collect::<Result<_, _>>()?;
    Ok(Estimate::of_mean(&shares.concat()))
}

/// Share of the other workers above each of `copiers`.
fn shares_above(
    table: &LabelTable,
    labels: &crate::data::ids::Ids,
    (z, copied): (&[Option<Label>], &[Option<Label>]),
    copiers: &[u32],
) -> Result<Vec<f64>, MechanismError> {
    let reports: Vec<LabelReport> = table
        .reports()
        .map(|report| match copied[report.task as usize] {
            Some(label) if copiers.binary_search(&report.worker).is_ok() => {
                LabelReport { label, ..report }
            }
            _ => report,
        })
        .collect();
    let names = LabelNames {
        tasks: table.tasks().clone(),
        workers: table.workers().clone(),
        labels: labels.clone(),
    };
    let options = CorrelatedAgreementOptions::default();
    let mechanism = CorrelatedAgreement::new(Conditioning::on(z.to_vec()), options);
    let scores = mechanism.score(&LabelTable::new(names, &reports))?.workers;
    let value = |worker: u32| scores[worker as usize].estimate.map(|estimate| estimate.value);
    let people: Vec<f64> = (0..)
        .take(table.worker_count())
        .filter(|worker| copiers.binary_search(worker).is_err())
        .filter_map(value)
        .collect();
    let above = |copier: f64| -> Option<f64> {
        let each = people.iter().map(|&person| match person.total_cmp(&copier) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        });
        (!people.is_empty()).then(|| each.sum::<f64>() / people.len() as f64)
    };
    Ok(copiers.iter().filter_map(|&copier| above(value(copier)?)).collect())
}
