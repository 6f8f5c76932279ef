//! Percentile bootstrap over clusters of items, on counts.
//!
//! Items of one cluster (a topic, an author) resemble each other, so whole clusters are drawn with
//! replacement, as many as there are. A draw is a weight per cluster, and the confusion matrix of
//! the draw is the weighted sum of those of the clusters: no data are copied. All labellers see the
//! same draws, so that differences between them are paired. Efron (1979), *Annals of Statistics*
//! 7(1); Field and Welsh (2007), *JRSS B* 69(3), for clusters.

#![expect(
    clippy::cast_possible_truncation,
    reason = "fewer than 2^32 items, clusters and pairs of labels"
)]

use rand::RngExt;
use rayon::prelude::*;

use super::Confusion;
use crate::data::progress::Progress;
use crate::data::warning::Warning;
use crate::stats::interval::CONFIDENCE;
use crate::stats::rank::quantile;
use crate::stats::seed::stream;

/// Draws if nobody asks for another number.
pub(crate) const DRAWS: u32 = 2000;

/// An interval needs a value in at least this share of the draws.
const LEAST_DEFINED: f64 = 0.9;

/// The confusion matrix of every cluster of items, few counts each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClusterCounts {
    size: usize,
    /// Cluster c has the cells `offsets[c]..offsets[c + 1]`.
    offsets: Vec<u32>,
    /// Row times size plus column.
    cells: Vec<u32>,
    counts: Vec<u32>,
}

impl ClusterCounts {
    /// Counts the items, each as `(cluster, gold, label)`, of `clusters` clusters and `size`
    /// labels. A cluster may be empty. The order of the items does not matter.
    ///
    /// # Panics
    ///
    /// If a cluster or label is out of range: a bug of the caller.
    pub(crate) fn new(
        size: usize,
        clusters: usize,
        items: impl IntoIterator<Item = (u32, usize, usize)>,
    ) -> Self {
        let mut found: Vec<(u32, u32)> = items
            .into_iter()
            .map(|(cluster, gold, label)| {
                assert!((cluster as usize) < clusters && gold < size && label < size, "in range");
                (cluster, (gold * size + label) as u32)
            })
            .collect();
        found.sort_unstable();
        let mut offsets = vec![0_u32; clusters + 1];
        let (mut cells, mut counts) = (Vec::new(), Vec::new());
        for same in found.chunk_by(|a, b| a == b) {
            let (cluster, cell) = same[0];
            offsets[cluster as usize + 1] += 1;
            cells.push(cell);
            counts.push(same.len() as u32);
        }
        for cluster in 0..clusters {
            offsets[cluster + 1] += offsets[cluster];
        }
        Self { size, offsets, cells, counts }
    }

    /// Number of clusters, the empty ones included.
    pub(crate) fn clusters(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The matrix of all items.
    pub(crate) fn total(&self) -> Confusion {
        self.weighted(&vec![1; self.clusters()])
    }

    /// The matrix in which the items of cluster c count `weights[c]` times.
    ///
    /// # Panics
    ///
    /// If there is not one weight per cluster.
    pub(crate) fn weighted(&self, weights: &[u32]) -> Confusion {
        let mut matrix = Confusion::new(self.size);
        self.add_weighted(weights, matrix.counts_mut());
        matrix
    }

    /// Adds the counts of all items, those of cluster c `weights[c]` times.
    pub(super) fn add_weighted(&self, weights: &[u32], sums: &mut [u64]) {
        assert_eq!(weights.len(), self.clusters(), "one weight per cluster");
        for (cluster, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            let range = self.offsets[cluster] as usize..self.offsets[cluster + 1] as usize;
            for (&cell, &count) in self.cells[range.clone()].iter().zip(&self.counts[range]) {
                sums[cell as usize] += u64::from(weight) * u64::from(count);
            }
        }
    }
}

/// How often each of `clusters` clusters is drawn in draw `index`: they sum to `clusters`.
pub(crate) fn weights(clusters: usize, seed: u64, index: u32) -> Vec<u32> {
    let mut random = stream(seed, "cluster bootstrap", u64::from(index));
    let mut weights = vec![0; clusters];
    for _ in 0..clusters {
        weights[random.random_range(0..clusters)] += 1;
    }
    weights
}

/// What `of` makes of every draw, by draw; empty if the work was interrupted.
///
/// `of` gets the weight of every cluster; it runs on all threads and its results keep the order of
/// the draws.
pub(crate) fn over_draws<T: Send>(
    clusters: usize,
    (draws, seed): (u32, u64),
    progress: &dyn Progress,
    of: impl Fn(&[u32]) -> T + Sync,
) -> Vec<T> {
    let results: Option<Vec<T>> = (0..draws)
        .into_par_iter()
        .map(|draw| {
            let result = (!progress.interrupted()).then(|| of(&weights(clusters, seed, draw)));
            progress.advance(1);
            result
        })
        .collect();
    results.unwrap_or_default()
}

/// The middle 95 % of the values of the draws, low end first.
///
/// Draws in which the value is undefined are left out; `None` if they are more than a tenth.
pub(crate) fn interval(values: &[Option<f64>]) -> Option<(f64, f64)> {
    let mut defined: Vec<f64> = values.iter().copied().flatten().collect();
    if defined.is_empty() || (defined.len() as f64) < LEAST_DEFINED * values.len() as f64 {
        return None;
    }
    defined.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some((quantile(&defined, tail)?, quantile(&defined, 1.0 - tail)?))
}

/// [`interval`] of an estimate; `None` also where it has no width: that all draws are equal, as where five
/// of five labels are right, makes nothing certain.
pub(crate) fn uncertainty(values: &[Option<f64>]) -> Option<(f64, f64)> {
    interval(values).filter(|(low, high)| low < high)
}

/// Clusters below which percentile intervals are too narrow.
const FEW_CLUSTERS: usize = 20;

/// That there are too few clusters for intervals, if there are.
pub(crate) fn few_clusters(clusters: usize) -> Option<Warning> {
    let message = format!(
        "intervals over {clusters} clusters are too narrow: below {FEW_CLUSTERS} clusters fewer than 95 of \
         100 hold the value"
    );
    (2..FEW_CLUSTERS).contains(&clusters).then(|| Warning::new("few_clusters", clusters, message))
}
