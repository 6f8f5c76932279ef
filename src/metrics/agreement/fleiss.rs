//! Fleiss' kappa: agreement of any number of raters, who need not be the same for every item.
//!
//! `kappa = (P - P_e) / (1 - P_e)` with P the mean over items of the share of pairs of raters who
//! agree, and `P_e = Σ_k p_k²`, `p_k` the mean over items of the share of label k. Fleiss (1971),
//! *Psychological Bulletin* 76(5), who has as many raters for every item; then `p_k` is the share
//! of all ratings. Items with fewer than two ratings are left out.

use super::Confusion;
use super::ac1::pooled;
use super::kappa::values_used;

/// Sums over items, of which Fleiss' kappa is a function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FleissSums {
    /// Items with two ratings or more.
    rated: f64,
    /// Shares of pairs of raters who agree.
    agreement: f64,
    /// Shares of each label.
    shares: Vec<f64>,
}

impl FleissSums {
    /// No item yet, `labels` labels.
    pub(crate) fn new(labels: usize) -> Self {
        Self { rated: 0.0, agreement: 0.0, shares: vec![0.0; labels] }
    }

    /// Adds an item, as the number of ratings per label, `times` times.
    ///
    /// # Panics
    ///
    /// If the item has more labels.
    pub(crate) fn add(&mut self, item: &[u64], times: f64) {
        let ratings: u64 = item.iter().sum();
        if ratings < 2 {
            return;
        }
        let ratings = ratings as f64;
        let pairs: f64 = item.iter().map(|&c| c as f64 * (c as f64 - 1.0)).sum();
        self.agreement += times * pairs / (ratings * (ratings - 1.0));
        for (label, &count) in item.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.shares[label] += times * count as f64 / ratings;
        }
        self.rated += times;
    }

    /// Fleiss' kappa, at most 1; `None` without items, or if all ratings are one label.
    pub(crate) fn kappa(&self) -> Option<f64> {
        if self.shares.iter().filter(|&&share| share > 0.0).count() < 2 {
            return None;
        }
        let by_chance: f64 = self.shares.iter().map(|share| (share / self.rated).powi(2)).sum();
        Some((self.agreement / self.rated - by_chance) / (1.0 - by_chance))
    }
}

/// Fleiss' kappa of items, each as the number of ratings per label; at most 1.
///
/// `None` if no item has two ratings, or all ratings of those items are one label.
#[cfg(test)]
pub(crate) fn fleiss<I: AsRef<[u64]>>(items: &[I]) -> Option<f64> {
    let labels = items.iter().map(|item| item.as_ref().len()).max().unwrap_or(0);
    let mut sums = FleissSums::new(labels);
    items.iter().for_each(|item| sums.add(item.as_ref(), 1.0));
    sums.kappa()
}

/// Fleiss' kappa of two raters; the same as `fleiss` on items with two ratings each.
pub(crate) fn fleiss_of_two(matrix: &Confusion) -> Option<f64> {
    let pooled = pooled(matrix);
    if values_used(&pooled) < 2 {
        return None;
    }
    let ratings = 2.0 * matrix.total() as f64;
    let by_chance: f64 = pooled.iter().map(|&count| (count as f64 / ratings).powi(2)).sum();
    Some((matrix.accuracy()? - by_chance) / (1.0 - by_chance))
}
