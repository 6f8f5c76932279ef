//! Which source agrees best, and whether it does more than by chance.

use super::error::AgreementError;
use super::reference::Reference;
use super::run::Measured;
use super::work::Work;
use crate::data::progress::NoProgress;
use crate::metrics::agreement::Metric;
use crate::metrics::agreement::paired::exchangeable;

/// A p-value above this could be chance.
const LEVEL: f64 = 0.05;

/// The source that agrees best.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The source.
    pub source: String,
    /// With what it agrees; `None` if several people are gold in turn, and it is a mean over them.
    pub(crate) against: Option<String>,
    /// By which metric: quadratic kappa of labels with an order, else kappa.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// 95 % interval; `None` for a mean over people.
    pub interval: Option<(f64, f64)>,
    /// The source after it, if there is one.
    pub next: Option<Next>,
}

/// The source that agrees second best, held against the best on the tasks of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// The source.
    pub source: String,
    /// The metric of all its tasks.
    pub value: f64,
    /// Best minus this one on the tasks of both.
    pub(crate) difference: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How often a difference at least as large comes from exchanging the labels of the two.
    pub(crate) p_value: Option<f64>,
    /// Tasks of both; 0 if the two were not held against each other.
    pub items: u64,
}

impl Next {
    /// Whether the best is better than this one by more than chance: the interval of the difference
    /// is above 0, and the exchange of labels seldom gives as much.
    pub(crate) fn is_clearly_behind(&self) -> bool {
        self.interval.is_some_and(|(low, _)| low > 0.0)
            && self.p_value.is_some_and(|p_value| p_value <= LEVEL)
    }
}

/// The best source by kappa; `None` without gold labels, and where it is undefined for all.
///
/// # Errors
///
/// If the run was interrupted.
pub(super) fn best(
    work: &Work<'_>,
    references: &[Reference],
    measured: &[Measured],
) -> Result<Option<Best>, AgreementError> {
    let chosen = [Metric::KappaQuadratic, Metric::Kappa]
        .into_iter()
        .find_map(|metric| Some((metric, work.panel.position(metric)?)));
    let (Some((metric, place)), false) = (chosen, work.data.gold.is_empty()) else {
        return Ok(None);
    };
    let mut found: Vec<(&str, f64)> = Vec::new();
    for source in &work.data.labellers {
        let own = measured.iter().filter(|measured| measured.source == source.name);
        let values: Vec<f64> = own.filter_map(|measured| measured.values[place]).collect();
        if !values.is_empty() {
            found.push((&source.name, values.iter().sum::<f64>() / values.len() as f64));
        }
    }
    // Stable: of equals the first by name.
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(source, value)) = found.first() else { return Ok(None) };
    let one = match references {
        [one] => Some(one),
        _ => None,
    };
    let mut next = found.get(1).map(|&(source, value)| Next {
        source: source.to_owned(),
        value,
        difference: None,
        interval: None,
        p_value: None,
        items: 0,
    });
    if let (Some(reference), Some(next), Some(panel)) = (one, &mut next, work.panel.only(metric)) {
        let alone = Work { panel: &panel, ..*work };
        let labels = |name: &str| reference.against_it.iter().find(|(known, _)| known == name);
        if let (Some((_, first)), Some((_, second))) = (labels(source), labels(&next.source)) {
            let paired = alone.paired(reference, first, second)?;
            let both = (&paired.first, &paired.second);
            let p_values =
                exchangeable(both, work.permutations(), &NoProgress, |matrix| panel.of(matrix));
            work.go_on()?;
            next.items = paired.gold.len() as u64;
            next.difference = paired.differences[0];
            next.interval = paired.intervals[0];
            next.p_value = p_values[0];
        }
    }
    let of_best = measured.iter().find(|measured| measured.source == source);
    Ok(Some(Best {
        source: source.to_owned(),
        against: one.map(|reference| reference.name.clone()),
        metric: work.panel.names()[place].clone(),
        value,
        interval: one.and_then(|_| of_best?.intervals[place]),
        next,
    }))
}
