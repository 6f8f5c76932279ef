//! Removes from a vector what a set of other vectors already says.
//!
//! `x̂ = x - U Uᵀ x`, where the columns of `U` are an orthonormal basis of the span of the vectors
//! `z_1 … z_r` of the LLM's reviews. With one `z` this is the paper's formula,
//! `x - ⟨x, z⟩ z / ‖z‖²` (Zhang, Pang, Zhu, Liu, NeurIPS 2025, appendix F); with several it removes
//! all of them at once.

use nalgebra::{DMatrix, DVector};

use crate::stats::similarity::{ZERO_RESIDUAL, norm, unit};

/// A direction counts as new if more than this share of it is outside the span of the others.
const RANK_TOLERANCE: f64 = 1e-9;

/// Everything orthogonal to a set of vectors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Complement {
    /// Orthonormal columns, shape `(dims, rank)`.
    basis: DMatrix<f64>,
}

impl Complement {
    /// The complement of the span of `z`, each with `dims` entries.
    ///
    /// Zero vectors carry no direction and are skipped; duplicates and combinations of others
    /// change nothing. The basis comes from a QR decomposition with column pivoting of the unit
    /// vectors, cut where a pivot falls below 1e-9 of the first.
    ///
    /// # Panics
    ///
    /// If a vector does not have `dims` entries: a bug of the caller.
    pub(crate) fn new(dims: usize, z: &[&[f64]]) -> Self {
        let columns: Vec<DVector<f64>> = z
            .iter()
            .filter_map(|z| {
                assert_eq!(z.len(), dims, "a Z vector has {} entries, not {dims}", z.len());
                unit(z).map(DVector::from_vec)
            })
            .collect();
        if columns.is_empty() {
            return Self { basis: DMatrix::zeros(dims, 0) };
        }
        let decomposition = DMatrix::from_columns(&columns).col_piv_qr();
        let r = decomposition.r();
        let pivot = |index: usize| r[(index, index)].abs();
        let pivots = r.nrows().min(r.ncols());
        let rank = (0..pivots).filter(|&index| pivot(index) > RANK_TOLERANCE * pivot(0)).count();
        Self { basis: decomposition.q().columns(0, rank).into_owned() }
    }

    /// Number of independent directions that are removed.
    pub(crate) fn rank(&self) -> usize {
        self.basis.ncols()
    }

    /// What is left of `vector`, scaled to length 1.
    ///
    /// `None` if nothing is left: the vector is zero, or the residual is shorter than
    /// [`ZERO_RESIDUAL`] of it.
    ///
    /// # Panics
    ///
    /// If `vector` has another number of entries than the vectors removed: a bug of the caller.
    pub(crate) fn unit_residual(&self, vector: &[f64]) -> Option<Vec<f64>> {
        // Unit length first, so that the scale of a review changes nothing, not even rounding
        // near the threshold.
        let vector = unit(vector)?;
        if self.rank() == 0 {
            return Some(vector);
        }
        let mut residual = DVector::from_vec(vector);
        // The second pass removes what rounding left of the first when most of the vector is in
        // the span ("twice is enough", Giraud et al. 2005).
        for _ in 0..2 {
            let parts = self.basis.tr_mul(&residual);
            residual.gemv(-1.0, &self.basis, &parts, 1.0);
        }
        let residual = residual.as_slice();
        if norm(residual) < ZERO_RESIDUAL { None } else { unit(residual) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::similarity::dot;
    use proptest::prelude::*;

    /// The definition: Gram-Schmidt on the list of z's, one at a time, then subtract.
    fn naive_residual(z: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let subtract = |basis: &[Vec<f64>], x: &mut Vec<f64>| {
            for _ in 0..3 {
                for u in basis {
                    let share = dot(u, x);
                    x.iter_mut().zip(u).for_each(|(x, u)| *x -= share * u);
                }
            }
        };
        for z in z {
            let mut rest = unit(z).unwrap_or_else(|| vec![0.0; x.len()]);
            subtract(&basis, &mut rest);
            if norm(&rest) > 1e-9 {
                basis.push(unit(&rest).unwrap());
            }
        }
        let mut x = x.to_vec();
        subtract(&basis, &mut x);
        x
    }

    fn views(vectors: &[Vec<f64>]) -> Vec<&[f64]> {
        vectors.iter().map(Vec::as_slice).collect()
    }

    fn vector(dims: usize) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-5.0..5.0_f64, dims)
    }

    #[test]
    fn one_z_is_the_formula_of_the_paper_by_hand() {
        // x = (1, 2, 2), z = (0, 0, 3): ⟨x, z⟩ z / ‖z‖² = 6 · (0, 0, 3) / 9 = (0, 0, 2), so the
        // residual is (1, 2, 0), of length √5.
        let complement = Complement::new(3, &[&[0.0, 0.0, 3.0]]);
        let residual = complement.unit_residual(&[1.0, 2.0, 2.0]).unwrap();
        let expected = [1.0 / 5.0_f64.sqrt(), 2.0 / 5.0_f64.sqrt(), 0.0];
        residual.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-15));
    }

    #[test]
    fn a_copy_leaves_nothing_and_more_z_than_dimensions_leave_nothing() {
        let z = [1.0, 2.0];
        assert_eq!(Complement::new(2, &[&z]).unit_residual(&[0.5, 1.0]), None);
        let all = Complement::new(2, &[&z, &[1.0, 0.0], &[0.0, 1.0]]);
        assert_eq!(all.rank(), 2);
        assert_eq!(all.unit_residual(&[0.3, -0.8]), None);
    }

    #[test]
    fn without_z_the_vector_is_only_scaled() {
        let complement = Complement::new(2, &[&[0.0, 0.0]]);
        assert_eq!(complement.rank(), 0);
        assert_eq!(complement.unit_residual(&[3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(complement.unit_residual(&[0.0, 0.0]), None);
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            z in proptest::collection::vec(vector(7), 1..5),
            x in vector(7),
        ) {
            let naive = naive_residual(&z, &x);
            prop_assume!(norm(&naive) > 1e-3 * norm(&x));
            let residual = Complement::new(7, &views(&z)).unit_residual(&x).unwrap();
            for (a, b) in residual.iter().zip(unit(&naive).unwrap()) {
                prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }

        #[test]
        fn the_residual_is_orthogonal_to_every_z(
            z in proptest::collection::vec(vector(20), 1..6),
            x in vector(20),
        ) {
            let complement = Complement::new(20, &views(&z));
            if let Some(residual) = complement.unit_residual(&x) {
                for z in &z {
                    let share = dot(&residual, z).abs() / norm(z).max(f64::MIN_POSITIVE);
                    prop_assert!(share < 1e-10, "{share}");
                }
            }
        }

        #[test]
        fn scaling_duplicating_and_combining_z_changes_nothing(
            z in proptest::collection::vec(vector(9), 1..4),
            x in vector(9),
            scale in prop_oneof![-1e6_f64..-1e-6, 1e-6..1e6_f64],
        ) {
            let plain = Complement::new(9, &views(&z));
            let mut more: Vec<Vec<f64>> = z
                .iter()
                .map(|z| z.iter().map(|value| value * scale).collect())
                .collect();
            more.push(z[0].clone());
            let last = z.last().unwrap();
            more.push(z[0].iter().zip(last).map(|(a, b)| a - 2.0 * b).collect());
            more.push(vec![0.0; 9]);
            let other = Complement::new(9, &views(&more));
            prop_assert_eq!(plain.rank(), other.rank());
            let scaled: Vec<f64> = x.iter().map(|value| value * f64::abs(scale)).collect();
            match (plain.unit_residual(&x), other.unit_residual(&scaled)) {
                (Some(a), Some(b)) => {
                    for (a, b) in a.iter().zip(&b) {
                        prop_assert!((a - b).abs() < 1e-7, "{a} {b}");
                    }
                }
                (a, b) => prop_assert_eq!(a.is_none(), b.is_none()),
            }
        }
    }
}
