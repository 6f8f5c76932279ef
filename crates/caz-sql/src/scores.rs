//! From the answers of an engine to scores, with the code of the local mechanisms.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Agreement, Engine, EngineError, MOST_PAIRS_PER_LABEL, PLANNED, PairCount, SizeCount, Strata,
};
use caz::for_caz_sql::{
    EmSettings, Fit, Joint, MechanismOptions, Moments, Scores, StratifiedMean, WorkerScore,
    convergence_warning, has_converged, keep_lowest, point,
};
use caz::{MechanismName, Result, Warning};

/// Who labelled how much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Tasks of every worker by name.
    pub workers: BTreeMap<String, u64>,
    /// Tasks with a label.
    pub tasks: u64,
    /// Different labels.
    pub labels: Vec<String>,
    /// The LLMs that labelled one of the tasks or more, in the order in which they were given.
    pub sources: Vec<String>,
}

impl Crowd {
    /// Number of labels by people.
    pub fn reports(&self) -> u64 {
        self.workers.values().sum()
    }
}

/// Scores of one mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineScores {
    /// By worker, in the order of [`Crowd::workers`].
    pub scores: Scores,
    /// Whether a score of 0 means "nothing beyond chance".
    pub zero_is_chance: bool,
}

/// Scores the crowd of an engine.
///
/// Values are those of the local mechanism but for the last digits, which depend on the order in
/// which an engine adds up, with T learned from all reports. Of `options` counts when a fit ends.
///
/// # Errors
///
/// [`EngineError`] if the mechanism has no plan or costs too much, and what the engine reports.
pub fn score(
    engine: &mut dyn Engine,
    crowd: &Crowd,
    name: MechanismName,
    options: &MechanismOptions,
) -> Result<EngineScores> {
    check_planned(engine, name)?;
    let strata = Strata::of(name);
    let sources: Vec<String> = match strata {
        Strata::Z => crowd.sources.clone(),
        Strata::Whole => vec![String::new()],
    };
    let numbers: BTreeMap<&str, usize> =
        crowd.workers.keys().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
    let blank: Vec<WorkerScore> = crowd
        .workers
        .values()
        .map(|&tasks| WorkerScore {
            n_tasks: count(tasks),
            n_z_tasks: (strata == Strata::Z).then_some(0),
            ..WorkerScore::default()
        })
        .collect();
    let mut each: BTreeMap<&str, Vec<WorkerScore>> =
        sources.iter().map(|source| (source.as_str(), blank.clone())).collect();
    let covered = engine.covered(strata)?;
    for row in &covered {
        if let Some(score) = place(&mut each, &numbers, &row.source, &row.worker) {
            score.n_z_tasks = (strata == Strata::Z).then_some(count(row.tasks));
        }
    }
    let mut fit = None;
    let mut warnings: BTreeMap<&str, Vec<Warning>> = BTreeMap::new();
    match name {
        MechanismName::Ds => {
            let fitted = fitted(engine, options.em)?;
            warnings.insert("", convergence_warning(name.as_str(), &fitted).into_iter().collect());
            fit = Some(fitted);
            for row in engine.right()? {
                if let Some(score) = place(&mut each, &numbers, "", &row.worker) {
                    score.estimate = Some(point(row.share));
                    score.n_used = score.n_tasks;
                }
            }
        }
        MechanismName::NegZ => {
            for row in &covered {
                if let Some(score) = place(&mut each, &numbers, &row.source, &row.worker) {
                    let (tasks, same) = (row.tasks as f64, row.same as f64);
                    // Terms are -1 where both say the same, else 0.
                    let squares = same * (tasks - same) / tasks;
                    score.estimate = Moments::of(row.tasks, -same / tasks, squares).estimate();
                    score.n_used = count(row.tasks);
                }
            }
        }
        MechanismName::Oa | MechanismName::OaZ => {
            check_pairs(name, &engine.sizes(strata)?)?;
            let workers = crowd.workers.len() as f64;
            for row in engine.output_agreement(strata)? {
                if let Some(score) = place(&mut each, &numbers, &row.source, &row.worker) {
                    score.estimate = Some(point(row.total / workers));
                }
            }
            for row in &covered {
                if let Some(score) = place(&mut each, &numbers, &row.source, &row.worker) {
                    score.n_used = count(row.shared);
                }
            }
        }
        _ => {
            for (source, worker, sum) in stratified(engine, strata)? {
                if let Some(score) = place(&mut each, &numbers, &source, &worker) {
                    score.estimate = sum.estimate().map(|estimate| point(estimate.value));
                    score.n_used = sum.tasks();
                }
            }
        }
    }
    let mut scores = sources.iter().filter_map(|source| {
        let warnings = warnings.remove(source.as_str()).unwrap_or_default();
        Some(Scores { workers: each.remove(source.as_str())?, warnings, ..Scores::default() })
    });
    let mut least = scores.next().unwrap_or_default();
    scores.for_each(|other| keep_lowest(&mut least, other));
    least.fit = fit;
    let zero_is_chance = matches!(name, MechanismName::Ca | MechanismName::CaZ);
    Ok(EngineScores { scores: least, zero_is_chance })
}

fn check_planned(engine: &dyn Engine, name: MechanismName) -> Result<(), EngineError> {
    if !PLANNED.contains(&name) {
        return Err(EngineError::NotPlanned { name });
    }
    if name.is_fitted() && !engine.keeps() {
        return Err(EngineError::KeepsRelations { name });
    }
    Ok(())
}

/// Correlated agreement of every worker by source.
fn stratified(
    engine: &mut dyn Engine,
    strata: Strata,
) -> Result<Vec<(String, String, StratifiedMean)>> {
    let sizes = engine.sizes(strata)?;
    let agreements = agreements(&sizes, engine.pairs(strata)?);
    let weights = weights(&sizes);
    // Strata are added in one order, so that the sums do not depend on that of the answer.
    let mut terms = engine.terms(strata, &agreements)?;
    terms.sort_by(|a, b| {
        (&a.source, &a.worker, &a.stratum).cmp(&(&b.source, &b.worker, &b.stratum))
    });
    let mut sums = Vec::new();
    for rows in terms.chunk_by(|a, b| a.source == b.source && a.worker == b.worker) {
        let mut sum = StratifiedMean::default();
        for row in rows {
            let mean = row.total / row.tasks as f64;
            let weight = weights[&(row.source.as_str(), row.stratum.as_str())];
            sum.add(weight, &Moments::of(row.tasks, mean, 0.0));
        }
        sums.push((rows[0].source.clone(), rows[0].worker.clone(), sum));
    }
    Ok(sums)
}

/// Iterations of Dawid-Skene until the log-likelihood stands still.
fn fitted(engine: &mut dyn Engine, settings: EmSettings) -> Result<Fit> {
    let mut fit = Fit::default();
    for number in 1..=settings.max_iterations {
        fit.objective.push(engine.dawid_skene(number)?);
        if has_converged(&fit.objective, settings.tolerance) {
            fit.converged = true;
            break;
        }
    }
    Ok(fit)
}

fn place<'a>(
    each: &'a mut BTreeMap<&str, Vec<WorkerScore>>,
    numbers: &BTreeMap<&str, usize>,
    source: &str,
    worker: &str,
) -> Option<&'a mut WorkerScore> {
    each.get_mut(source)?.get_mut(*numbers.get(worker)?)
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

fn check_pairs(name: MechanismName, sizes: &[SizeCount]) -> Result<(), EngineError> {
    let sum = |of: fn(u64) -> u64| {
        sizes
            .iter()
            .map(|size| size.tasks.saturating_mul(of(size.reports)))
            .fold(0_u64, u64::saturating_add)
    };
    let (pairs, reports) = (sum(|n| n.saturating_mul(n.saturating_sub(1))), sum(|n| n));
    if pairs > reports.saturating_mul(MOST_PAIRS_PER_LABEL) {
        return Err(EngineError::Quadratic { name, pairs, reports });
    }
    Ok(())
}

/// `P(Z = k)` by source and stratum: the share of the tasks of the source.
fn weights(sizes: &[SizeCount]) -> BTreeMap<(&str, &str), f64> {
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    let mut strata: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for size in sizes {
        *totals.entry(&size.source).or_default() += size.tasks;
        *strata.entry((&size.source, &size.stratum)).or_default() += size.tasks;
    }
    strata.into_iter().map(|(key, tasks)| (key, tasks as f64 / totals[key.0] as f64)).collect()
}

/// The scoring function of every stratum, from its pairs.
fn agreements(sizes: &[SizeCount], mut pairs: Vec<PairCount>) -> Vec<Agreement> {
    let mut used: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for size in sizes.iter().filter(|size| size.reports > 1) {
        *used.entry((&size.source, &size.stratum)).or_default() += size.tasks;
    }
    let key = |pair: &PairCount| (pair.source.clone(), pair.stratum.clone(), pair.reports);
    pairs.sort_by_cached_key(key);
    let mut found = Vec::new();
    for rows in pairs.chunk_by(|a, b| a.source == b.source && a.stratum == b.stratum) {
        let (source, stratum) = (&rows[0].source, &rows[0].stratum);
        let labels: BTreeSet<&str> = rows.iter().map(|row| row.label.as_str()).collect();
        let labels: Vec<&str> = labels.into_iter().collect();
        // Every pair stands there in both orders.
        let number = |label: &str| labels.binary_search(&label).unwrap_or_default();
        let counts = rows
            .iter()
            .map(|row| (row.reports, number(&row.label), number(&row.peer_label), row.pairs));
        let tasks = used.get(&(source.as_str(), stratum.as_str())).copied().unwrap_or_default();
        let matrix = Joint::of_counts(labels.len(), tasks, counts).signs();
        for (index, _) in matrix.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            found.push(Agreement {
                source: source.clone(),
                stratum: stratum.clone(),
                label: labels[index / labels.len()].to_owned(),
                peer_label: labels[index % labels.len()].to_owned(),
            });
        }
    }
    found
}
