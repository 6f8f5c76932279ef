//! How much each score says about who is right, where the truth is known.

use super::MechanismScores;
use crate::metrics::correlation::correlation;

/// Fewest workers whose correlation is worth a number.
const ENOUGH: usize = 5;

/// The rank correlation of every score with the share of right answers, over workers with at least
/// `min_tasks` tasks of known truth, in a sentence; `None` without a truth or enough workers.
pub(super) fn sentence(all: &[MechanismScores], min_tasks: usize) -> Option<String> {
    let mut workers = 0;
    let said: Vec<String> = all
        .iter()
        .filter_map(|scored| {
            let pairs = scored.rows.iter().filter_map(|row| {
                let own = row.truth?.own;
                (own.n_tasks >= min_tasks.max(1)).then_some(())?;
                Some((row.estimate.map(|estimate| estimate.value), own.share))
            });
            let found = correlation(pairs);
            workers = workers.max(found.n);
            let value = found.spearman.filter(|_| found.n >= ENOUGH)?;
            Some(format!("{} {value:.2}", scored.mechanism))
        })
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "Rank correlation of the scores with the share of right answers, over {workers} \
             workers with {min_tasks} tasks of known truth or more: {}. A score says what is shared \
             with others beyond the LLM, not who is right: near 0 it tells nothing about quality, \
             and even at .5 many careful people stand below careless ones. Pay by none of them.",
            said.join(", ")
        )
    })
}
