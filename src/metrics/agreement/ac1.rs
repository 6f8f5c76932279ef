//! Gwet's AC1.
//!
//! `AC1 = (p_a - p_e) / (1 - p_e)` with `p_e = Σ_k π_k (1 - π_k) / (K - 1)`, `π_k` the mean share
//! of label k over both labellers and K the number of labels of the scale. Gwet (2008), *British
//! Journal of Mathematical and Statistical Psychology* 61(1). It stays high where nearly all items
//! have one label, where kappa drops.

use super::Confusion;
use super::kappa::values_used;

/// Gwet's AC1 of two labellers, at most 1.
///
/// K is the size of the matrix. `None` without items, and if both together use one label only.
pub(crate) fn ac1(matrix: &Confusion) -> Option<f64> {
    let pooled = pooled(matrix);
    if values_used(&pooled) < 2 {
        return None;
    }
    let ratings = 2.0 * matrix.total() as f64;
    let by_chance: f64 = pooled
        .iter()
        .map(|&count| {
            let share = count as f64 / ratings;
            share * (1.0 - share)
        })
        .sum::<f64>()
        / (matrix.size() as f64 - 1.0);
    Some((matrix.accuracy()? - by_chance) / (1.0 - by_chance))
}

/// How often both labellers together give each label.
pub(super) fn pooled(matrix: &Confusion) -> Vec<u64> {
    let labels = matrix.label_counts();
    matrix.gold_counts().iter().zip(&labels).map(|(gold, label)| gold + label).collect()
}
