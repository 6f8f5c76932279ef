//! Bootstrap over tasks: uncertainty for mechanisms that have no formula for it.
//!
//! Tasks are drawn with replacement and scored again; the standard error is the standard
//! deviation of a worker's scores over the replicates (Efron 1979, *Annals of Statistics* 7(1)).
//! The score itself stays that of the real data.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use rand::RngExt;
use rayon::prelude::*;

use super::{Mechanism, MechanismError, Scores};
use crate::data::interruption::Interrupted;
use crate::data::labels::LabelTable;
use crate::data::progress::Progress;
use crate::stats::moments::Moments;
use crate::stats::seed::stream;

/// How often to draw, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bootstrap {
    /// Number of replicates, at least 2.
    pub replicates: u32,
    /// Seed; replicate r uses its own stream.
    pub seed: u64,
}

impl Bootstrap {
    /// The scores of `mechanism`, with standard errors where it has none of its own.
    ///
    /// Degrees of freedom: tasks behind the score minus one. A worker with a score in fewer than
    /// two replicates keeps no standard error.
    ///
    /// # Errors
    ///
    /// What the mechanism reports, [`MechanismError::Interrupted`] if `progress` asks to stop.
    pub(crate) fn score(
        &self,
        mechanism: &dyn Mechanism,
        table: &LabelTable,
        progress: &dyn Progress,
    ) -> Result<Scores, MechanismError> {
        let mut scores = mechanism.score(table)?;
        if table.task_count() == 0 || scores.workers.iter().all(|score| score.estimate.is_none()) {
            return Ok(scores);
        }
        let mut moments = vec![Moments::default(); table.worker_count()];
        // Each replicate holds a copy of the table, so no more at once than there are threads.
        let at_once = rayon::current_num_threads();
        for start in (0..self.replicates).step_by(at_once) {
            if progress.interrupted() {
                return Err(Interrupted.into());
            }
            let end = self.replicates.min(start.saturating_add(at_once as u32));
            let replicates = (start..end)
                .into_par_iter()
                .map(|replicate| {
                    let tasks = self.draw(replicate, table.task_count());
                    let scores = mechanism.on_tasks(&tasks).score(&table.on_tasks(&tasks))?;
                    progress.advance(1);
                    Ok(scores.workers.iter().map(|w| w.estimate.map(|e| e.value)).collect())
                })
                .collect::<Result<Vec<Vec<Option<f64>>>, MechanismError>>()?;
            // In the order of the replicates, so that threads do not matter.
            for values in &replicates {
                for (moments, value) in moments.iter_mut().zip(values) {
                    if let Some(value) = *value {
                        moments.push(value);
                    }
                }
            }
        }
        for (score, moments) in scores.workers.iter_mut().zip(&moments) {
            if let Some(estimate) = score.estimate.as_mut().filter(|e| e.standard_error.is_none())
                && moments.count() > 1
            {
                let variance = moments.squares() / (moments.count() - 1) as f64;
                estimate.standard_error = Some(variance.sqrt());
                estimate.degrees_of_freedom = (score.n_used as f64 - 1.0).max(0.0);
            }
        }
        Ok(scores)
    }

    fn draw(&self, replicate: u32, tasks: usize) -> Vec<u32> {
        let mut random = stream(self.seed, "bootstrap", u64::from(replicate));
        (0..tasks).map(|_| random.random_range(0..tasks as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkerScore;
    use super::super::negative_agreement::NegativeAgreement;
    use super::super::tests::{seeded_crowd, values};
    use super::*;
    use crate::data::progress::NoProgress;

    /// A mechanism with a known standard error that keeps it to itself.
    struct Silent(Box<dyn Mechanism>);

    impl Mechanism for Silent {
        fn name(&self) -> &'static str {
            "silent"
        }

        fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
            let mut scores = self.0.score(table)?;
            for WorkerScore { estimate, .. } in &mut scores.workers {
                estimate.iter_mut().for_each(|estimate| estimate.standard_error = None);
            }
            Ok(scores)
        }

        fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
            Box::new(Self(self.0.on_tasks(tasks)))
        }
    }

    #[test]
    fn bootstrap_finds_the_known_standard_error_of_a_mean() {
        let crowd = seeded_crowd(4, 200, 3, 11);
        let known = NegativeAgreement::new(crowd.z.clone());
        let expected = known.score(&crowd.table).unwrap();
        let silent = Silent(Box::new(known));
        let bootstrap = Bootstrap { replicates: 400, seed: 5 };
        let scores = bootstrap.score(&silent, &crowd.table, &NoProgress).unwrap();
        assert_eq!(values(&scores), values(&expected));
        for (got, want) in scores.workers.iter().zip(&expected.workers) {
            let error = |w: &WorkerScore| w.estimate.unwrap().standard_error.unwrap();
            // The standard deviation of 400 replicates is itself uncertain by 1 / sqrt(800) = 3.5
            // %; the formula has n - 1 where the bootstrap has n.
            assert!(
                (error(got) / error(want) - 1.0).abs() < 0.12,
                "{} {}",
                error(got),
                error(want)
            );
        }
        let again = bootstrap.score(&silent, &crowd.table, &NoProgress).unwrap();
        assert_eq!(scores, again);
    }
}
