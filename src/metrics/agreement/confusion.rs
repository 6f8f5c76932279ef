//! The confusion matrix of a labeller against gold labels, and what is read off it directly.

/// Counts of items by gold label (row) and label of the labeller (column).
///
/// Labels are numbers from 0 to `size - 1`. Counts are whole numbers, so that the matrix of a
/// bootstrap sample is the sum of those of its clusters, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Confusion {
    size: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// No item yet, `size` labels.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, counts: vec![0; size * size] }
    }

    /// The matrix of pairs `(gold, label)`.
    ///
    /// # Panics
    ///
    /// If a label is not below `size`: a bug of the caller.
    pub(crate) fn of_pairs(size: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut matrix = Self::new(size);
        pairs.into_iter().for_each(|(gold, label)| matrix.add(gold, label, 1));
        matrix
    }

    /// The matrix with these counts, row by row.
    ///
    /// # Panics
    ///
    /// If there are not `size * size` of them.
    pub(crate) fn of_counts(size: usize, counts: Vec<u64>) -> Self {
        assert_eq!(counts.len(), size * size, "one count per pair of labels");
        Self { size, counts }
    }

    /// Adds `items` items.
    ///
    /// # Panics
    ///
    /// If a label is not below the size.
    pub(crate) fn add(&mut self, gold: usize, label: usize, items: u64) {
        assert!(gold < self.size && label < self.size, "a label of the scale");
        self.counts[gold * self.size + label] += items;
    }

    /// Number of labels.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Items with this gold label and this label.
    pub(crate) fn count(&self, gold: usize, label: usize) -> u64 {
        self.counts[gold * self.size + label]
    }

    /// The counts by gold label, one slice per gold label.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u64]> + Clone {
        // A matrix without labels has no rows, and chunks must not be empty.
        self.counts.chunks_exact(self.size.max(1))
    }

    /// The counts, row by row.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The counts, row by row, to be added to.
    pub(super) fn counts_mut(&mut self) -> &mut [u64] {
        &mut self.counts
    }

    /// Number of items.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Items per gold label.
    pub(crate) fn gold_counts(&self) -> Vec<u64> {
        self.rows().map(|row| row.iter().sum()).collect()
    }

    /// Items per label of the labeller.
    pub(crate) fn label_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.size];
        for row in self.rows() {
            counts.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        counts
    }

    /// Items where both agree.
    pub(crate) fn agreed(&self) -> u64 {
        (0..self.size).map(|label| self.count(label, label)).sum()
    }

    /// The matrix with gold and labeller exchanged.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn transposed(&self) -> Self {
        let mut matrix = Self::new(self.size);
        for (gold, row) in self.rows().enumerate() {
            for (label, &count) in row.iter().enumerate() {
                matrix.add(label, gold, count);
            }
        }
        matrix
    }

    /// Share of items where both agree, in `[0, 1]`; `None` without items.
    pub(crate) fn accuracy(&self) -> Option<f64> {
        share(self.agreed(), self.total())
    }

    /// Of the items that the labeller gives `label`, the share whose gold label it is, in
    /// `[0, 1]`; `None` if the labeller never gives it.
    pub(crate) fn precision(&self, label: usize) -> Option<f64> {
        let given = (0..self.size).map(|gold| self.count(gold, label)).sum();
        share(self.count(label, label), given)
    }

    /// Of the items whose gold label is `label`, the share that the labeller gives it, in
    /// `[0, 1]`; `None` if no item has it.
    pub(crate) fn recall(&self, label: usize) -> Option<f64> {
        let there = (0..self.size).map(|other| self.count(label, other)).sum();
        share(self.count(label, label), there)
    }
}

/// `part / whole`; `None` if there is no whole.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
