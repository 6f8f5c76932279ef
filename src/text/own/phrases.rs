//! How close texts are to the LLM's by pairs of neighbouring words.

use rayon::prelude::*;

use crate::embed::word_pairs::{PairWeights, WordPairs};
use crate::stats::similarity::sparse_along;

/// The pairs of all texts, and their sum over the Z of each source.
pub(super) struct Phrases<'a> {
    pairs: &'a WordPairs,
    first_z: usize,
    /// By source; empty of one with a single Z.
    sums_of_z: Vec<Vec<f64>>,
}

impl<'a> Phrases<'a> {
    /// Of the texts of a venue, whose Z come from the row `first_z` on and have these sources, each with so many Z.
    pub(super) fn new(
        pairs: &'a WordPairs,
        first_z: usize,
        source_of_z: &[usize],
        z_counts: &[usize],
    ) -> Self {
        let of_source = |source: usize| {
            if z_counts[source] < 2 {
                return Vec::new();
            }
            let of = source_of_z.iter().enumerate().filter(move |(_, of)| **of == source);
            pairs.sum(of.map(|(z, _)| first_z + z))
        };
        Self {
            pairs,
            first_z,
            sums_of_z: (0..z_counts.len()).into_par_iter().map(of_source).collect(),
        }
    }

    /// The pairs of a text, by its row.
    pub(super) fn of(&self, row: usize) -> PairWeights {
        self.pairs.row(row)
    }

    /// The pairs of a Z, by its position in the venue.
    pub(super) fn of_z(&self, z: usize) -> PairWeights {
        self.pairs.row(self.first_z + z)
    }

    /// Sum of the cosines with all Z of a source.
    pub(super) fn sum_of_cosines(&self, text: &PairWeights, source: usize) -> f64 {
        sparse_along(text, &self.sums_of_z[source])
    }
}
