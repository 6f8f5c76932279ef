//! The density of a class: Student t with the mean and covariance of its members.

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use statrs::function::gamma::ln_gamma;

use super::features::Features;
use super::settings::DEGREES_OF_FREEDOM;
use crate::stats::rank::median;

/// Added to every variance: cosines are not told apart below a standard deviation of .001.
const SMALLEST_VARIANCE: f64 = 1e-6;

/// Fewest members of a class with a feature for a density of it.
const FEWEST_MEMBERS: usize = 5;

/// Share of the texts of a class that are less likely than its bound.
const UNLIKELY: f64 = 0.001;

/// What the center of a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Center {
    Mean,
    Median,
}

/// A density of features; of a part of them where a slot lacks the others.
#[derive(Debug, Clone)]
pub(super) struct Density {
    mean: Vec<f64>,
    /// With both kinds of features, `peers` alone, `z` alone.
    marginals: [Option<Marginal>; 3],
}

#[derive(Debug, Clone)]
struct Marginal {
    at: Vec<usize>,
    inverse: DMatrix<f64>,
    constant: f64,
    /// Log-density that a share [`UNLIKELY`] of the class falls below.
    bound: f64,
}

/// The values of a text by dimension: `peers` of all spaces, then `z`.
fn value(features: &Features, spaces: usize, dim: usize) -> Option<f64> {
    let part = if dim < spaces { &features.peers } else { &features.z };
    part.as_ref().map(|values| values[dim % spaces])
}

impl Density {
    /// Fits the center and covariance of weighted members; every feature uses the members that have
    /// it, correlations those with all. `None` if too few have a feature at all.
    pub(super) fn fit<'a>(
        members: impl Iterator<Item = (&'a Features, f64)> + Clone,
        spaces: usize,
        center: Center,
    ) -> Option<Self> {
        let dims = 2 * spaces;
        let mut known = vec![false; dims];
        let (mut mean, mut deviation) = (vec![0.0; dims], vec![0.0; dims]);
        for dim in 0..dims {
            let values = || {
                let members = members.clone();
                members
                    .filter_map(move |(member, weight)| Some((value(member, spaces, dim)?, weight)))
            };
            let (mut count, mut weights, mut sum) = (0, 0.0, 0.0);
            values().for_each(|(value, weight)| {
                count += 1;
                weights += weight;
                sum += value * weight;
            });
            if count < FEWEST_MEMBERS || weights <= 0.0 {
                continue;
            }
            known[dim] = true;
            let average = sum / weights;
            let squares: f64 =
                values().map(|(value, weight)| weight * (value - average).powi(2)).sum();
            deviation[dim] = (squares / weights + SMALLEST_VARIANCE).sqrt();
            mean[dim] = match center {
                Center::Mean => average,
                Center::Median => median(&values().map(|(value, _)| value).collect::<Vec<_>>())?,
            };
        }
        if !known.iter().any(|&known| known) {
            return None;
        }
        let correlation = correlations(members, spaces);
        let covariance =
            DMatrix::from_fn(dims, dims, |a, b| correlation[(a, b)] * deviation[a] * deviation[b]);
        let all: [Vec<usize>; 3] =
            [(0..dims).collect(), (0..spaces).collect(), (spaces..dims).collect()];
        let marginals = all.map(|at| {
            let usable = at.iter().all(|&dim| known[dim]);
            usable.then(|| Marginal::new(at, &covariance)).flatten()
        });
        Some(Self { mean, marginals })
    }

    /// Log-density of a part of the features of a text, and whether it is one of the [`UNLIKELY`]
    /// share of the class; `None` where the text or the class lacks them.
    pub(super) fn log_density(&self, features: &Features, pattern: Pattern) -> Option<(f64, bool)> {
        let marginal = self.marginals[pattern as usize].as_ref()?;
        let spaces = self.mean.len() / 2;
        let away = |row: usize| {
            let dim = marginal.at[row];
            Some(value(features, spaces, dim)? - self.mean[dim])
        };
        let mut distance = 0.0;
        for row in 0..marginal.at.len() {
            let mut product = 0.0;
            for column in 0..marginal.at.len() {
                product += marginal.inverse[(row, column)] * away(column)?;
            }
            distance += away(row)? * product;
        }
        let density = marginal.constant + student_shape(distance, marginal.at.len());
        Some((density, density < marginal.bound))
    }

    /// Whether the class has a density over these features.
    pub(super) fn knows(&self, pattern: Pattern) -> bool {
        self.marginals[pattern as usize].is_some()
    }
}

/// Which features a density is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    Both = 0,
    Peers = 1,
    Z = 2,
}

impl Pattern {
    /// All of them, the one that says most first.
    pub(super) const EACH: [Self; 3] = [Self::Both, Self::Peers, Self::Z];

    /// The features of a text; `None` without any.
    pub(super) fn of(features: &Features) -> Option<Self> {
        match (&features.peers, &features.z) {
            (Some(_), Some(_)) => Some(Self::Both),
            (Some(_), None) => Some(Self::Peers),
            (None, Some(_)) => Some(Self::Z),
            (None, None) => None,
        }
    }
}

impl Marginal {
    fn new(at: Vec<usize>, covariance: &DMatrix<f64>) -> Option<Self> {
        let dims = at.len();
        let freedom = DEGREES_OF_FREEDOM;
        // The scale matrix of a t density whose covariance is the given one.
        let part = DMatrix::from_fn(dims, dims, |a, b| covariance[(at[a], at[b])]);
        let scale = part * ((freedom - 2.0) / freedom);
        let factor = scale.clone().cholesky()?;
        let log_determinant = 2.0 * factor.l().diagonal().iter().map(|x| x.ln()).sum::<f64>();
        let half = dims as f64 / 2.0;
        let constant = ln_gamma(freedom / 2.0 + half)
            - ln_gamma(freedom / 2.0)
            - half * (freedom * std::f64::consts::PI).ln()
            - log_determinant / 2.0;
        // The squared distance divided by the dimensions has an F distribution.
        let ratio = FisherSnedecor::new(dims as f64, freedom).ok()?.inverse_cdf(1.0 - UNLIKELY);
        let bound = constant + student_shape(ratio * dims as f64, dims);
        Some(Self { at, inverse: factor.inverse(), constant, bound })
    }
}

fn student_shape(distance: f64, dims: usize) -> f64 {
    let freedom = DEGREES_OF_FREEDOM;
    -(freedom + dims as f64) / 2.0 * (distance / freedom).ln_1p()
}

/// Weighted correlations of the members with all features; none between features of which fewer
/// than [`FEWEST_MEMBERS`] are known together.
fn correlations<'a>(
    members: impl Iterator<Item = (&'a Features, f64)> + Clone,
    spaces: usize,
) -> DMatrix<f64> {
    let dims = 2 * spaces;
    let complete = members.filter(|(member, _)| member.peers.is_some() && member.z.is_some());
    let at = |member: &Features, dim: usize| value(member, spaces, dim).unwrap_or(0.0);
    let (mut count, mut weights, mut mean) = (0, 0.0, vec![0.0_f64; dims]);
    for (member, weight) in complete.clone() {
        count += 1;
        weights += weight;
        mean.iter_mut().enumerate().for_each(|(dim, sum)| *sum += at(member, dim) * weight);
    }
    if count < FEWEST_MEMBERS || weights <= 0.0 {
        return DMatrix::identity(dims, dims);
    }
    mean.iter_mut().for_each(|sum| *sum /= weights);
    let mut products = DMatrix::<f64>::zeros(dims, dims);
    for (member, weight) in complete {
        let away = |dim: usize| at(member, dim) - mean[dim];
        for column in 0..dims {
            let part = weight / weights * away(column);
            (0..dims).for_each(|row| products[(row, column)] += part * away(row));
        }
    }
    DMatrix::from_fn(dims, dims, |a, b| {
        if a == b {
            return 1.0;
        }
        let variance = |dim: usize| products[(dim, dim)] + SMALLEST_VARIANCE;
        products[(a, b)] / (variance(a) * variance(b)).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(peers: Option<f64>, z: Option<f64>) -> Features {
        Features { peers: peers.map(|value| vec![value]), z: z.map(|value| vec![value]) }
    }

    #[test]
    fn a_density_by_hand() {
        // Peers ±1 and z ±2, all four combinations, and the center: variances 0.8 and 3.2.
        let members: Vec<Features> =
            [(1.0, 2.0), (1.0, -2.0), (-1.0, 2.0), (-1.0, -2.0), (0.0, 0.0)]
                .map(|(peers, z)| at(Some(peers), Some(z)))
                .to_vec();
        let weighted = members.iter().map(|member| (member, 1.0));
        let density = Density::fit(weighted, 1, Center::Mean).unwrap();
        // Scale matrix diag(0.6, 2.4); at (0.6, 0): distance 0.6.
        // t with 8 degrees of freedom in two dimensions: 1/(2π√det) (1 + d/8)^-5.
        let expected = -(2.0 * std::f64::consts::PI * (0.6_f64 * 2.4).sqrt()).ln()
            - 5.0 * (1.0 + 0.6 / 8.0_f64).ln();
        let (found, unlikely) =
            density.log_density(&at(Some(0.6), Some(0.0)), Pattern::Both).unwrap();
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        assert!(!unlikely);
        let (_, unlikely) = density.log_density(&at(Some(9.0), Some(0.0)), Pattern::Both).unwrap();
        assert!(unlikely);
    }

    #[test]
    fn a_marginal_is_the_integral_of_the_whole() {
        let members: Vec<Features> =
            [(1.0, 2.0), (0.5, 0.0), (-1.0, -2.0), (0.0, 1.0), (0.3, -0.5)]
                .map(|(peers, z)| at(Some(peers), Some(z)))
                .to_vec();
        let weighted = members.iter().map(|member| (member, 1.0));
        let density = Density::fit(weighted, 1, Center::Median).unwrap();
        let (alone, _) = density.log_density(&at(Some(0.4), None), Pattern::Peers).unwrap();
        let step = 0.01;
        let integral: f64 = (-4_000..4_000)
            .map(|i| at(Some(0.4), Some(f64::from(i) * step)))
            .map(|x| density.log_density(&x, Pattern::Both).unwrap().0.exp() * step)
            .sum();
        assert!((integral.ln() - alone).abs() < 1e-4, "{} {alone}", integral.ln());
    }

    #[test]
    fn too_few_members_have_no_density() {
        let members = [at(Some(1.0), None), at(Some(2.0), None)];
        let weighted = members.iter().map(|member| (member, 1.0));
        assert!(Density::fit(weighted, 1, Center::Mean).is_none());
    }
}
