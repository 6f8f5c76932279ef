//! What would be flagged in this venue, and how many cheat: the footer.

use super::class::Class;
use super::density::Density;
use super::features::Features;
use super::flags::FlagRule;
use super::ghosts::Ghost;
use super::model::{Model, Reviews, ghost_densities, own_density, posterior};
use super::result::{GhostRate, PlantedRates, Prevalence};
use crate::stats::interval::CONFIDENCE;
use crate::stats::rank::mean;

use statrs::distribution::{ContinuousCDF, Normal};

/// Groups of reviewers that are left out together.
const GROUPS: usize = 10;

/// Share of cheaters with Wilson's interval.
pub(super) fn prevalence(own: &[f64]) -> Option<Prevalence> {
    let share = 1.0 - mean(own)?;
    let n = own.len() as f64;
    let z = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let scale = 1.0 + z * z / n;
    let middle = (share + z * z / (2.0 * n)) / scale;
    let half = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).max(0.0).sqrt();
    let interval = ((middle - half).max(0.0), (middle + half).min(1.0));
    Some(Prevalence { share, interval, judged: own.len() })
}

/// What the rates are measured with.
pub(super) struct Fitted<'a> {
    pub(super) model: &'a Model,
    pub(super) reviews: &'a Reviews,
    pub(super) features: &'a [Features],
    pub(super) ghosts: &'a [Ghost],
    pub(super) ghost_features: &'a [Features],
    /// Reviewer of each review, by position.
    pub(super) reviewer_of: &'a [usize],
    /// P(own) of each reviewer, 0 for those not judged.
    pub(super) own: &'a [f64],
    pub(super) rule: &'a FlagRule,
    pub(super) spaces: usize,
}

impl Fitted<'_> {
    /// Densities without every tenth reviewer and the ghosts in their slots, ten times; then these
    /// reviewers as they are, and ghost reviewers made of the ghosts in their slots.
    pub(super) fn rates(&self) -> PlantedRates {
        let mut flagged = vec![(0.0, 0_usize); Class::GHOSTS.len()];
        let (mut people, mut weight) = (0.0, 0.0);
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.reviewer_of.len()];
        for (index, ghost) in self.ghosts.iter().enumerate() {
            at[ghost.slot].push(index);
        }
        for group in 0..GROUPS {
            let Some(model) = self.without(group) else { continue };
            for reviewer in (group..self.reviews.len()).step_by(GROUPS) {
                let reviews = &self.reviews[reviewer];
                if reviews.is_empty() {
                    continue;
                }
                let own = posterior(&model.log_joint(reviews, self.features))[0];
                let now = self.own[reviewer];
                weight += now;
                people += if self.rule.would_flag(own, Some(now)) { now } else { 0.0 };
                for (class, (count, total)) in Class::GHOSTS.into_iter().zip(&mut flagged) {
                    if let Some(own) = self.ghost_reviewer(&model, reviews, class, &at) {
                        *total += 1;
                        *count += f64::from(u8::from(self.rule.would_flag(own, None)));
                    }
                }
            }
        }
        let by_class: Vec<GhostRate> = Class::GHOSTS
            .into_iter()
            .zip(flagged)
            .filter(|(_, (_, total))| *total > 0)
            .map(|(class, (count, total))| {
                let share = count / total as f64;
                GhostRate { class, on_one: share, on_all: share, count: total }
            })
            .collect();
        let ghosts = mean(&by_class.iter().map(|rate| rate.on_all).collect::<Vec<_>>());
        PlantedRates { by_class, ghosts, people: (weight > 0.0).then(|| people / weight) }
    }

    /// P(own) of somebody who hands in the first ghost of a class in each of these slots.
    fn ghost_reviewer(
        &self,
        model: &Model,
        reviews: &[usize],
        class: Class,
        at: &[Vec<usize>],
    ) -> Option<f64> {
        let ghost = |&slot: &usize| {
            at[slot].iter().copied().find(|&ghost| self.ghosts[ghost].class == class)
        };
        let ghosts: Vec<usize> = reviews.iter().filter_map(ghost).collect();
        let known = |&&ghost: &&usize| model.densities_of(&self.ghost_features[ghost]).is_some();
        ghosts.iter().find(known)?;
        Some(posterior(&model.log_joint(&ghosts, self.ghost_features))[0])
    }

    fn without(&self, group: usize) -> Option<Model> {
        let left = |reviewer: usize| reviewer % GROUPS != group;
        let kept = self.ghosts.iter().zip(self.ghost_features);
        let kept = kept.filter(|(ghost, _)| left(self.reviewer_of[ghost.slot]));
        let densities =
            ghost_densities(&kept.map(|(ghost, features)| (ghost.class, features)), self.spaces);
        let own: Vec<f64> = (0..self.own.len())
            .map(|reviewer| if left(reviewer) { self.own[reviewer] } else { 0.0 })
            .collect();
        let own = own_density(self.reviews, self.features, &own, self.spaces)?;
        let all: Vec<(Class, Density)> = [(Class::Own, own)].into_iter().chain(densities).collect();
        let classes: Vec<Class> = all.iter().map(|(class, _)| *class).collect();
        (classes == self.model.classes).then(|| Model {
            classes,
            densities: all.into_iter().map(|(_, density)| density).collect(),
            log_shares: self.model.log_shares.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_and_its_interval_by_hand() {
        // Wilson's interval for 1 of 10: .0179 to .4042 (Brown, Cai, DasGupta 2001, formula 4).
        let mut own = vec![1.0; 9];
        own.push(0.0);
        let found = prevalence(&own).unwrap();
        assert!((found.share - 0.1).abs() < 1e-12);
        assert!((found.interval.0 - 0.0179).abs() < 5e-5, "{found:?}");
        assert!((found.interval.1 - 0.4042).abs() < 5e-5, "{found:?}");
        assert_eq!(prevalence(&[]), None);
    }
}
