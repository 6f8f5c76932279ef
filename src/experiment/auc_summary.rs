//! From trials to "mean AUC (10 % quantile)".

use serde::{Deserialize, Serialize};

use crate::report::{Board, Cell, Table, three_decimals};
use crate::stats::rank::{mean, quantile};

/// The low quantile that tables show: one trial in ten is worse.
pub(crate) const LOW_QUANTILE: f64 = 0.1;

/// What one trial says about one mechanism.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialAuc {
    /// The AUC; `None` where nobody of one kind has a score.
    pub auc: Option<f64>,
    /// People without a score, who are left out of the AUC.
    pub(crate) n_missing: usize,
}

/// Summary of the AUCs of many trials.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AucSummary {
    /// Mean over the trials that have an AUC.
    pub mean: Option<f64>,
    /// Their 10 % quantile.
    pub low: Option<f64>,
    /// Their 90 % quantile.
    pub(crate) high: Option<f64>,
    /// All trials.
    pub(crate) n_trials: usize,
    /// Of these, the trials without an AUC.
    pub(crate) n_undefined: usize,
    /// People without a score, on average over all trials.
    pub(crate) mean_missing: Option<f64>,
}

impl AucSummary {
    /// Summarises trials; sums run in their order.
    pub fn of(trials: impl Iterator<Item = TrialAuc>) -> Self {
        let (mut aucs, mut n_trials, mut missing) = (Vec::new(), 0, 0);
        for trial in trials {
            n_trials += 1;
            missing += trial.n_missing;
            aucs.extend(trial.auc);
        }
        aucs.sort_by(f64::total_cmp);
        Self {
            mean: mean(&aucs),
            low: quantile(&aucs, LOW_QUANTILE),
            high: quantile(&aucs, 1.0 - LOW_QUANTILE),
            n_trials,
            n_undefined: n_trials - aucs.len(),
            mean_missing: (n_trials > 0).then(|| missing as f64 / n_trials as f64),
        }
    }
}

/// What tells best who answers alone, in a sentence: of the rows of a summary that have the cells `only`,
/// by mean AUC, with the bad day. `place` says which rows these are.
pub(super) fn answer(
    table: &Table,
    name: &'static str,
    only: &[(&'static str, Cell)],
    place: &str,
) -> Option<String> {
    let board =
        Board { names: &[name], metrics: None, value: "mean_auc", beside: &["q10_auc"], only };
    let standings = board.standings(table);
    let best = standings.first()?;
    let mut said = format!("Best{place}: {}, mean AUC {}", best.name, three_decimals(best.value));
    if let Cell::Number(low) = board.table(table, &standings).rows()[0][2] {
        said.push_str(&format!(", one trial in ten below {}", three_decimals(low)));
    }
    if let Some(next) = standings.get(1) {
        said.push_str(&format!("; then {}, {}", next.name, three_decimals(next.value)));
    }
    Some(said + ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_trials_and_missing_scores_are_counted_and_left_out() {
        let trial = |auc, n_missing| TrialAuc { auc, n_missing };
        let trials = [trial(Some(0.5), 0), trial(None, 3), trial(Some(1.0), 1)];
        let summary = AucSummary::of(trials.into_iter());
        assert_eq!(summary.mean, Some(0.75));
        assert!((summary.low.unwrap() - 0.55).abs() < 1e-12);
        assert!((summary.high.unwrap() - 0.95).abs() < 1e-12);
        assert_eq!((summary.n_trials, summary.n_undefined), (3, 1));
        assert!((summary.mean_missing.unwrap() - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(AucSummary::of(std::iter::empty()), AucSummary::default());
    }
}
