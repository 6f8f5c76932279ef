//! Several LLMs: the score is the smallest over them, each conditioned on alone.
//!
//! A worker must add information beyond every one of the LLMs (appendix G.4.3 of the paper).

use super::{Mechanism, MechanismError, Scores};
use crate::data::labels::LabelTable;

/// The minimum of one mechanism over several sources of Z.
pub(crate) struct MinimumOverSources {
    mechanisms: Vec<Box<dyn Mechanism>>,
}

impl MinimumOverSources {
    /// One mechanism per source, all of the same kind.
    ///
    /// # Panics
    ///
    /// Without a mechanism.
    pub(crate) fn new(mechanisms: Vec<Box<dyn Mechanism>>) -> Self {
        assert!(!mechanisms.is_empty(), "there is at least one source");
        Self { mechanisms }
    }
}

impl Mechanism for MinimumOverSources {
    fn name(&self) -> &'static str {
        self.mechanisms[0].name()
    }

    /// Each worker has the whole entry (uncertainty and counts too) of the source with its
    /// smallest score; of equal ones the first. Sources for which the score is missing do not
    /// count; if it is missing for all, the entry is that of the first.
    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let mut all = self.mechanisms.iter().map(|mechanism| mechanism.score(table));
        let mut least = all.next().transpose()?.unwrap_or_default();
        for scores in all {
            keep_lowest(&mut least, scores?);
        }
        Ok(least)
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let mechanisms = self.mechanisms.iter().map(|mechanism| mechanism.on_tasks(tasks));
        Box::new(Self { mechanisms: mechanisms.collect() })
    }

    fn zero_is_chance(&self) -> bool {
        self.mechanisms[0].zero_is_chance()
    }
}

/// Gives every worker the entry of `other` where its score is smaller, or the only one.
pub fn keep_lowest(least: &mut Scores, other: Scores) {
    for (least, other) in least.workers.iter_mut().zip(other.workers) {
        let smaller = match (least.estimate, other.estimate) {
            (Some(least), Some(other)) => other.value < least.value,
            (None, other) => other.is_some(),
            (Some(_), None) => false,
        };
        if smaller {
            *least = other;
        }
    }
    for warning in other.warnings {
        if !least.warnings.contains(&warning) {
            least.warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::negative_agreement::NegativeAgreement;
    use super::super::tests::{assert_close, values};
    use super::*;
    use crate::data::labels::tests::table;

    #[test]
    fn the_smallest_score_counts_and_missing_ones_do_not() {
        let table = table(&[("q", "a", "x"), ("r", "a", "x"), ("r", "b", "x"), ("s", "c", "x")]);
        // First source: q differs, r equals. Second: q equals.
        let sources = [vec![Some(1), Some(0), None], vec![Some(0), None, None]];
        let mechanisms = sources
            .into_iter()
            .map(|z| Box::new(NegativeAgreement::new(z)) as Box<dyn Mechanism>)
            .collect();
        let scores = MinimumOverSources::new(mechanisms).score(&table).unwrap();
        assert_close(&values(&scores), &[Some(-1.0), Some(-1.0), None], 0.0);
        assert_eq!(scores.workers[0].n_z_tasks, Some(1));
        assert_eq!(scores.workers[1].n_z_tasks, Some(1));
    }
}
