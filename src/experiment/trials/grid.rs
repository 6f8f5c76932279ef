//! Repetitions at the points of a grid.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::stats::seed::stream;

/// One trial of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TrialId {
    /// Repetition, from 0.
    pub(crate) repetition: u32,
    /// Point of the grid, from 0.
    pub point: u32,
}

impl TrialId {
    /// The random numbers of this trial for one purpose.
    pub(crate) fn stream(self, seed: u64, purpose: &str) -> ChaCha8Rng {
        stream(seed, purpose, u64::from(self.point) << 32 | u64::from(self.repetition))
    }
}

/// How many trials to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrialGrid {
    /// Points of the grid.
    pub points: u32,
    /// Trials per point.
    pub repetitions: u32,
}

impl TrialGrid {
    /// All trials.
    pub(crate) fn trials(self) -> u64 {
        u64::from(self.points) * u64::from(self.repetitions)
    }

    /// Every trial, in the order of the results.
    pub(crate) fn ids(self) -> impl Iterator<Item = TrialId> {
        (0..self.trials()).map(move |index| self.id(index))
    }

    /// Results with the trials that they are of, however many repetitions there were.
    pub(crate) fn with_ids<T>(self, results: &[T]) -> impl Iterator<Item = (TrialId, &T)> {
        (0..).zip(results).map(move |(index, result)| (self.id(index), result))
    }

    pub(super) fn id(self, index: u64) -> TrialId {
        let points = u64::from(self.points);
        let part = |number: u64| u32::try_from(number).expect("both factors are 32 bits");
        TrialId { repetition: part(index / points), point: part(index % points) }
    }
}
