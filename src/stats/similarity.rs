//! Cosine similarity with an outcome for vectors that have no direction.

/// A residual shorter than this share of the vector it is left of counts as zero.
pub(crate) const ZERO_RESIDUAL: f64 = 1e-9;

/// Euclidean length, safe against overflow and underflow.
pub(crate) fn norm(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * vector.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// Sum of products.
///
/// # Panics
///
/// If the lengths differ: a bug of the caller.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a product needs vectors of one length");
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Dot product of two sparse vectors, each in the ascending order of its dimensions.
pub(crate) fn sparse_dot(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 == y.0 {
            sum += x.1 * y.1;
        }
        // Which of them goes on is as good as random: no branch on it.
        i += usize::from(x.0 <= y.0);
        j += usize::from(y.0 <= x.0);
    }
    sum
}

/// Dot product of a sparse vector with a dense one that has all of its dimensions.
pub(crate) fn sparse_along(a: &[(u32, f64)], b: &[f64]) -> f64 {
    a.iter().map(|&(dim, value)| value * b[dim as usize]).sum()
}

/// The vector scaled to length 1; `None` if it is zero.
pub(crate) fn unit(vector: &[f64]) -> Option<Vec<f64>> {
    let length = norm(vector);
    (length > 0.0).then(|| vector.iter().map(|value| value / length).collect())
}

/// Cosine of two vectors already scaled to length 1, in `[-1, 1]`.
///
/// `None` stands for a zero vector; its cosine with anything is 0, as in the experiment that the
/// authors of the paper released.
pub(crate) fn unit_cosine(a: Option<&[f64]>, b: Option<&[f64]>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => dot(a, b).clamp(-1.0, 1.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_by_hand() {
        // (3, 4) and (4, 3): 24 / 25.
        let (a, b) = (unit(&[3.0, 4.0]), unit(&[4.0, 3.0]));
        assert!((unit_cosine(a.as_deref(), b.as_deref()) - 0.96).abs() < 1e-15);
    }

    #[test]
    fn a_zero_vector_has_no_direction_and_cosine_zero() {
        assert_eq!(unit(&[0.0, 0.0]), None);
        assert!(unit_cosine(None, Some(&[1.0, 0.0])).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn extreme_lengths_do_not_overflow() {
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
    }
}
