//! Which class each reviewer belongs to: EM over reviewers with fixed ghost densities.

use rayon::prelude::*;

use super::class::Class;
use super::density::{Center, Density, Pattern};
use super::features::Features;
use super::settings::{PSEUDO_COUNTS, START};

/// Steps after which EM stops.
const MOST_STEPS: usize = 200;

/// Change of a posterior below which EM stops.
const TOLERANCE: f64 = 1e-8;

/// Reviews by reviewer that may be judged; a reviewer without any has an empty list.
pub(super) type Reviews = Vec<Vec<usize>>;

/// The densities and shares of all classes, own work first.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) classes: Vec<Class>,
    pub(super) densities: Vec<Density>,
    /// Logarithms of the shares.
    pub(super) log_shares: Vec<f64>,
}

/// The densities of ghost classes, fitted to ghosts that pass a filter. Classes without enough
/// ghosts are left out.
pub(super) fn ghost_densities<'a>(
    ghosts: &(impl Iterator<Item = (Class, &'a Features)> + Clone),
    spaces: usize,
) -> Vec<(Class, Density)> {
    Class::GHOSTS
        .into_iter()
        .filter_map(|class| {
            let members = ghosts.clone().filter(move |(of, _)| *of == class);
            let members = members.map(|(_, features)| (features, 1.0));
            Some((class, Density::fit(members, spaces, Center::Median)?))
        })
        .collect()
}

/// The density of own work given each reviewer's P(own).
pub(super) fn own_density(
    reviews: &Reviews,
    features: &[Features],
    own: &[f64],
    spaces: usize,
) -> Option<Density> {
    let members = reviews
        .iter()
        .zip(own)
        .flat_map(|(reviews, &own)| reviews.iter().map(move |&review| (&features[review], own)));
    Density::fit(members, spaces, Center::Mean)
}

impl Model {
    /// Fits the density of own work and all shares; `None` where there are too few reviews for it,
    /// or no ghost class.
    pub(super) fn fit(
        ghosts: Vec<(Class, Density)>,
        reviews: &Reviews,
        features: &[Features],
        spaces: usize,
    ) -> Option<Self> {
        if ghosts.is_empty() {
            return None;
        }
        let judged: Vec<usize> = (0..reviews.len()).filter(|&i| !reviews[i].is_empty()).collect();
        let kinds = ghosts.len();
        let classes = [Class::Own].into_iter().chain(ghosts.iter().map(|(class, _)| *class));
        let first = own_density(reviews, features, &vec![START; reviews.len()], spaces)?;
        let mut model = Self {
            classes: classes.collect(),
            densities: [first].into_iter().chain(ghosts.into_iter().map(|(_, d)| d)).collect(),
            log_shares: Vec::new(),
        };
        let mut start = vec![(1.0 - START) / kinds as f64; kinds + 1];
        start[0] = START;
        let mut posteriors = vec![start; judged.len()];
        let (mut known, mut fixed) = (None, Vec::new());
        for _ in 0..MOST_STEPS {
            let mut own = vec![0.0; reviews.len()];
            judged.iter().zip(&posteriors).for_each(|(&i, posterior)| own[i] = posterior[0]);
            model.densities[0] = own_density(reviews, features, &own, spaces)?;
            model.log_shares = log_shares(&posteriors, kinds);
            // Ghosts stay where they are, so their densities are needed once.
            let now = Pattern::EACH.map(|pattern| model.densities[0].knows(pattern));
            if known.replace(now) != Some(now) {
                fixed = features.par_iter().map(|text| model.ghost_part(text)).collect();
            }
            let joint = |&reviewer: &usize| {
                let mut joint = model.log_shares.clone();
                for &review in &reviews[reviewer] {
                    if let Some((pattern, ghosts)) = &fixed[review]
                        && let Some(own) =
                            model.densities[0].log_density(&features[review], *pattern)
                    {
                        joint[0] += own.0;
                        joint[1..].iter_mut().zip(ghosts).for_each(|(sum, value)| *sum += value);
                    }
                }
                posterior(&joint)
            };
            let next: Vec<Vec<f64>> = judged.par_iter().map(joint).collect();
            let change = next.iter().flatten().zip(posteriors.iter().flatten());
            let change = change.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            posteriors = next;
            if change < TOLERANCE {
                break;
            }
        }
        Some(model)
    }

    /// The features of a text that are used, and its log-density by ghost class.
    fn ghost_part(&self, features: &Features) -> Option<(Pattern, Vec<f64>)> {
        let pattern = self.pattern(features)?;
        let values = self.densities[1..].iter();
        let values = values.map(|density| Some(density.log_density(features, pattern)?.0));
        Some((pattern, values.collect::<Option<_>>()?))
    }

    /// The features over which every class has a density, of those that a text has.
    fn pattern(&self, features: &Features) -> Option<Pattern> {
        let one;
        let wanted: &[Pattern] = match Pattern::of(features)? {
            Pattern::Both => &Pattern::EACH,
            other => {
                one = [other];
                &one
            }
        };
        let known = |p: &Pattern| self.densities.iter().all(|density| density.knows(*p));
        wanted.iter().copied().find(known)
    }

    /// Log-density of a text by class, and whether no class makes it likely; `None` where it lacks
    /// the features.
    pub(super) fn densities_of(&self, features: &Features) -> Option<(Vec<f64>, bool)> {
        let pattern = self.pattern(features)?;
        let mut unlikely = true;
        let values = self.densities.iter().map(|density| {
            let (value, low) = density.log_density(features, pattern)?;
            unlikely &= low;
            Some(value)
        });
        let values = values.collect::<Option<Vec<f64>>>()?;
        Some((values, unlikely))
    }

    /// Logarithm of share times likelihood of some reviews, by class.
    pub(super) fn log_joint(&self, reviews: &[usize], features: &[Features]) -> Vec<f64> {
        let mut joint = self.log_shares.clone();
        for &review in reviews {
            self.add(&features[review], &mut joint);
        }
        joint
    }

    pub(super) fn add(&self, features: &Features, joint: &mut [f64]) {
        if let Some((values, _)) = self.densities_of(features) {
            joint.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Shares with Dirichlet pseudo-counts.
fn log_shares(posteriors: &[Vec<f64>], kinds: usize) -> Vec<f64> {
    let pseudo = |class: usize| PSEUDO_COUNTS[usize::from(class > 0)];
    let total = posteriors.len() as f64 + PSEUDO_COUNTS[0] + kinds as f64 * PSEUDO_COUNTS[1];
    (0..=kinds)
        .map(|class| {
            let count: f64 = posteriors.iter().map(|posterior| posterior[class]).sum();
            ((count + pseudo(class)) / total).ln()
        })
        .collect()
}

/// Probabilities from logarithms up to a constant.
pub(super) fn posterior(log_joint: &[f64]) -> Vec<f64> {
    let largest = log_joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let values: Vec<f64> = log_joint.iter().map(|value| (value - largest).exp()).collect();
    let sum: f64 = values.iter().sum();
    values.into_iter().map(|value| value / sum).collect()
}

/// ln p - ln (1 - p) of the first class, exact where p is next to 0 or 1.
pub(super) fn log_odds(log_joint: &[f64]) -> f64 {
    let others = &log_joint[1..];
    let largest = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = others.iter().map(|value| (value - largest).exp()).sum();
    log_joint[0] - largest - sum.ln()
}
