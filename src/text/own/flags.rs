//! Who is worth a look, so that few of them are false alarms.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::model::{Judged, Model, Slot, honest_side, weighted};
use crate::stats::interval::{CONFIDENCE, benjamini_hochberg, fewest_false};

/// Nobody is worth a look whose P(own) is above this many times the rate of false alarms asked for: a
/// mean alone would let clear cases vouch for unclear ones.
const CAP: f64 = 3.0;

/// Those who stand apart may be people so many times as often as is asked for: the model has its say, too.
const APART: f64 = 2.0;

/// Degrees of freedom of one text's deviations towards Z, as of own work in the model: people's cosines with an
/// LLM's text have a long tail on that side.
const FREEDOM: f64 = 8.0;

/// Least intraclass correlation that the mean of a person's texts is tested with.
const LEAST_CORRELATION: f64 = 0.1;

/// The P(own) up to which those who stand apart are flagged: of the largest set of lowest values whose
/// mean is at most `fdr`, nobody above [`CAP`] times that. `None` if nobody is.
pub(super) fn cut_off(candidates: impl Iterator<Item = (f64, bool)>, fdr: f64) -> Option<f64> {
    let mut apart: Vec<f64> = candidates.filter(|(_, apart)| *apart).map(|(own, _)| own).collect();
    apart.sort_by(f64::total_cmp);
    let (mut sum, mut found) = (0.0, None);
    for (index, &own) in apart.iter().enumerate() {
        sum += own;
        // Equal values are in the set together.
        let is_last = apart.get(index + 1) != Some(&own);
        if is_last && own <= CAP * fdr && sum <= fdr * (index + 1) as f64 {
            found = Some(own);
        }
    }
    found
}

/// Who stands apart from people: closer to Z, or to nothing at all, than the middle and the spread of
/// people say, both taken from the side away from cheaters, everybody as far as they are believed. No ghost is asked,
/// so nothing is assumed of an LLM.
#[derive(Debug)]
pub(super) struct Apart {
    /// How many people do, at least: the low end of an interval.
    pub(super) fewest: usize,
    pub(super) people: Vec<bool>,
    pub(super) slots: Vec<bool>,
}

impl Apart {
    /// With what the model says of each person, where so many false discoveries are asked for.
    pub(super) fn new(
        model: &Model,
        slots: &[Slot],
        people: &[Vec<usize>],
        judged: &[Option<Judged>],
        fdr: f64,
    ) -> Self {
        let rho = model.correlation;
        let own = judged.iter().flatten().flat_map(|judged| &judged.slots);
        let order =
            weighted(people, rho).zip(own).map(|((slot, weight), own)| (slot, weight * own));
        let order: Vec<(usize, f64)> = order.collect();
        // In honest deviations; 0 where nothing is known.
        let deviations = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let known = order.iter().map(|&(slot, weight)| (value(slot), weight));
            let known: Vec<(f64, f64)> = known.filter(|(value, _)| !value.is_nan()).collect();
            let (middle, spread) = honest_side(&known);
            let mut all = vec![0.0; slots.len()];
            for &(slot, _) in &order {
                let value = (value(slot) - middle) / spread;
                all[slot] = if value.is_nan() { 0.0 } else { value };
            }
            all
        };
        let x = |slot: usize| model.own_point(&slots[slot]);
        let up = deviations(&|slot| x(slot)[1]);
        let (far, away) = (deviations(&|slot| -x(slot)[0]), deviations(&|slot| -x(slot)[1]));
        let down = deviations(&|slot| far[slot] + away[slot]);
        let normal = Normal::standard();
        // Of variance 1; a mean of several is as good as normal.
        let student = StudentsT::new(0.0, (1.0 - 2.0 / FREEDOM).sqrt(), FREEDOM).ok();
        let long_tail = |value: &f64| student.map_or(1.0, |student| student.sf(*value));
        let up_tails: Vec<f64> = up.iter().map(long_tail).collect();
        let down_tails: Vec<f64> = down.iter().map(|value| normal.sf(*value)).collect();
        let of_slot = |slot: usize| (2.0 * up_tails[slot].min(down_tails[slot])).min(1.0);
        let of_person = |of: &Vec<usize>| match of[..] {
            [] => None,
            [slot] => Some(of_slot(slot)),
            _ => {
                let n = of.len() as f64;
                let scale = (n / (1.0 + (n - 1.0) * rho.max(LEAST_CORRELATION))).sqrt();
                let direction = |values: &[f64], tails: &[f64]| {
                    let mean = of.iter().map(|&slot| values[slot]).sum::<f64>() / n;
                    let mut tails: Vec<f64> = of.iter().map(|&slot| tails[slot]).collect();
                    tails.sort_by(f64::total_cmp);
                    // Simes (1986).
                    let ranked = tails.iter().zip(1..).map(|(p, rank)| p * n / f64::from(rank));
                    ranked.fold(normal.sf(mean * scale), f64::min)
                };
                let least = direction(&up, &up_tails).min(direction(&down, &down_tails));
                Some((4.0 * least).min(1.0))
            }
        };
        let found = |values: &[Option<f64>]| {
            let adjusted = benjamini_hochberg(values).into_iter();
            adjusted.map(|p| p.is_some_and(|p| p <= APART * fdr)).collect()
        };
        let mut all = vec![None; slots.len()];
        order.iter().for_each(|&(slot, _)| all[slot] = Some(of_slot(slot)));
        let of_people: Vec<Option<f64>> = people.iter().map(of_person).collect();
        let p_values: Vec<f64> = of_people.iter().copied().flatten().collect();
        let fewest = fewest_false(&p_values, (1.0 - CONFIDENCE) / 2.0);
        Self { fewest, people: found(&of_people), slots: found(&all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::own::model::tests::model;
    use proptest::prelude::*;

    fn apart(values: &[f64], fdr: f64) -> Option<f64> {
        cut_off(values.iter().map(|&own| (own, true)), fdr)
    }

    #[test]
    fn a_set_by_hand() {
        // Means 0, .03, .05, .0625: the last is too much, and .16 above the cap of .15.
        assert_eq!(apart(&[0.1, 0.06, 0.09, 0.0], 0.05), Some(0.09));
        assert_eq!(apart(&[0.16, 0.0, 0.0, 0.0], 0.05), Some(0.0));
        // Who is no different from people does not count.
        let few = [(0.0, false), (0.06, true), (0.09, true)];
        assert_eq!(cut_off(few.into_iter(), 0.05), None);
        assert_eq!(apart(&[], 0.05), None);
    }

    #[test]
    fn one_text_stands_apart_towards_z_by_a_longer_tail_than_away_from_it() {
        let model = model();
        // A hundred people like a standard normal, all believed, and somebody at a place. Of 101 the bar of the first is
        // .1 / 101: 3.3 deviations of a normal, 4.4 of a Student t with 8 degrees of freedom and variance 1.
        let is_apart = |place: f64| {
            let normal = Normal::standard();
            let of = |index: u32| normal.inverse_cdf((f64::from(index) + 0.5) / 100.0);
            let all = (0..100).map(of).chain([place]);
            let slots: Vec<Slot> = all
                .map(|z| Slot {
                    x: [f64::NAN, z],
                    copies: [[0.0; 2]; 2],
                    llm: [f64::NAN; 2],
                    tasks: [f64::NAN; 2],
                })
                .collect();
            let people: Vec<Vec<usize>> = (0..101).map(|person| vec![person]).collect();
            let believed = |slot: &Slot| {
                let mut judged = model.judge([(slot, slot.x)].into_iter());
                judged.slots = vec![1.0];
                Some(judged)
            };
            let judged: Vec<Option<Judged>> = slots.iter().map(believed).collect();
            Apart::new(&model, &slots, &people, &judged, 0.05).people[100]
        };
        assert_eq!([3.1, 3.9, 4.7].map(is_apart), [false, false, true]);
        assert_eq!([-3.1, -3.6].map(is_apart), [false, true]);
    }

    proptest! {
        #[test]
        fn it_is_the_largest_set_of_lowest_values(
            values in prop::collection::vec(0.0..0.2_f64, 1..12),
            fdr in 0.05..0.3_f64,
        ) {
            let holds = |&bar: &f64| {
                let set: Vec<f64> = values.iter().copied().filter(|&p| p <= bar).collect();
                bar <= 3.0 * fdr && set.iter().sum::<f64>() <= fdr * set.len() as f64 + 1e-12
            };
            let best = values.iter().copied().filter(holds).reduce(f64::max);
            prop_assert_eq!(apart(&values, fdr), best);
        }
    }
}
