//! What everything looks like to somebody who believes each review so far: the slots, and the densities of
//! the kinds of ghosts.

use super::class::Class;
use super::features::{Comparison, Features, Stand, Stands};
use super::ghosts::Planted;
use super::model::{Kinds, Point, Slot, Student, by_coordinate, covariance, minus, moments};
use super::result::GhostPoint;
use crate::stats::rank::{mean, median};

/// z of another LLM's text of a paper, as a share of that of the whole Z in its own place: mean and
/// standard deviation where the venue has two Z and shows it.
const MEASURED: [f64; 2] = [1.0, 0.14];

/// Fewest ghosts of a kind with a density.
const FEWEST: usize = 5;

/// Least standard deviation of the peers of an unknown LLM's text, and that of its z.
const UNKNOWN_LLM: [f64; 2] = [0.02, 0.06];

/// All slots, one per review, and what stands in them.
pub(super) struct Scene {
    pub(super) slots: Vec<Slot>,
    pub(super) kinds: Kinds,
    /// Per slot the texts about another paper that stand in it, by [`Class::OffTopic`] and
    /// [`Class::OffTopicLlm`].
    others: Vec<[Option<Point>; 2]>,
}

fn number(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Differences with the covariance of a further text about the mean of these, which is (n + 1) / (n - 1) times
/// that of their own: the variance is over n - 1, and the mean is uncertain by an n-th of it. None of one alone.
fn of_further(points: &[Point], mean: Point) -> impl Iterator<Item = Point> {
    let n = points.len() as f64;
    let scale = ((n + 1.0) / (n - 1.0)).sqrt();
    let known = if points.len() > 1 { points } else { &[] };
    known.iter().map(move |&point| minus(point, mean).map(|away| away * scale))
}

impl Scene {
    /// What was measured of an unknown LLM holds for these vectors if `is_measured`.
    pub(super) fn new(
        comparison: &Comparison<'_>,
        stands: &Stands,
        is_measured: bool,
        believed: &[f64],
    ) -> Self {
        let (planted, is_assumed) = (comparison.planted, comparison.assumed_ratio());
        let (ratio, of_other_llm) = comparison.assumed();
        let venue = &planted.venue;
        let point = |stand: &Stand, slot: usize| -> Point {
            [number(stand.peers(&stands.reviews[slot], believed)), number(stand.z)]
        };
        let (mut copies, mut llm) = (Vec::new(), Vec::new());
        let mut slots: Vec<Slot> = (0..venue.reviews.len())
            .map(|slot| {
                let z = venue.papers[venue.paper_of_review[slot]].z.clone();
                let cut: Vec<Point> =
                    stands.copies[slot].iter().map(|stand| point(stand, slot)).collect();
                let whole: Vec<Point> =
                    stands.z[z].iter().map(|stand| point(stand, slot)).collect();
                let (cut_mean, whole) = (by_coordinate(&cut, mean), by_coordinate(&whole, mean));
                let of_others: Vec<Point> = (stands.copies[slot].iter().zip(&cut))
                    .map(|(stand, point)| [point[0], number(stand.z_of_others)])
                    .collect();
                let mut close =
                    if is_assumed { whole[1] } else { by_coordinate(&of_others, mean)[1] };
                if close.is_nan() {
                    // On a paper with one Z of a venue that has two elsewhere.
                    close = ratio[0] * whole[1];
                }
                let center = [cut_mean[0], close];
                llm.extend(of_further(&of_others, center));
                copies.extend(cut);
                let x = point(&stands.reviews[slot], slot);
                let of_copies = stands.copies[slot].iter().filter_map(|stand| stand.task);
                let of_copies = mean(&of_copies.collect::<Vec<_>>());
                let tasks = [stands.reviews[slot].task, of_copies].map(number);
                Slot { x, copies: [cut_mean, whole], llm: center, tasks }
            })
            .collect();
        // Where a slot has no ghost of its own, those of the venue stand for it.
        let all = |of: &dyn Fn(&Slot) -> Point| {
            by_coordinate(&slots.iter().map(of).collect::<Vec<_>>(), median)
        };
        let usual = [all(&|s| s.copies[0]), all(&|s| s.copies[1]), all(&|s| s.llm)];
        for slot in &mut slots {
            let [cut, whole] = &mut slot.copies;
            for (center, usual) in [cut, whole, &mut slot.llm].into_iter().zip(usual) {
                for at in 0..2 {
                    if center[at].is_nan() {
                        center[at] = usual[at];
                    }
                }
            }
        }

        let mut others = vec![[None; 2]; slots.len()];
        for (ghost, stand) in planted.others.iter().zip(&stands.others) {
            others[ghost.slot][usize::from(ghost.z.is_some())] = Some(point(stand, ghost.slot));
        }
        let of_class = [0, 1].map(|class| {
            let points: Vec<Point> = others.iter().filter_map(|of| of[class]).collect();
            let (center, covariance) = (by_coordinate(&points, median), covariance(&points)?);
            let usable = points.len() >= FEWEST && center.iter().any(|value| !value.is_nan());
            usable.then(|| (center, Student::new(covariance)))
        });
        let has_z = copies.iter().filter(|point| !point[1].is_nan()).count() >= FEWEST;
        let covariance = |points: &[Point]| covariance(points).filter(|_| has_z);
        let copy = covariance(&copies).map(Student::new);
        let bases: Vec<Point> = copies.iter().map(|point| [point[0], f64::NAN]).collect();
        let [peers, z] = UNKNOWN_LLM;
        let llm_covariance = if is_assumed {
            let bases = covariance(&bases).filter(|_| is_measured);
            bases.map(|base| [base[0].max(peers * peers), z * z, 0.0])
        } else {
            // Two Z are as close to each other as each other, so that they show no spread of z: that from
            // paper to paper stands for it.
            let across = moments(slots.iter().map(|slot| ([f64::NAN, slot.llm[1]], 1.0)));
            let least = across.map_or(0.0, |(_, [_, z, _])| z);
            covariance(&llm).map(|[peers, z, both]| [peers, z.max(least), both])
        };
        let kinds = Kinds {
            copy,
            llm: llm_covariance.map(Student::new),
            llm_covariance: llm_covariance.unwrap_or([1.0, 1.0, 0.0]),
            others: of_class,
            closeness: if is_assumed { ratio } else { MEASURED },
            of_other_llm,
        };
        Self { slots, kinds, others }
    }

    /// The ghosts in a slot, in the order of [`Class::GHOSTS`].
    pub(super) fn ghosts(&self, slot: usize) -> [Option<Point>; 4] {
        let [off_topic, off_topic_llm] = self.others[slot];
        let slot = &self.slots[slot];
        let copy = self.kinds.copy.map(|_| slot.copies[0]);
        let llm = self.kinds.llm.map(|_| self.kinds.llm_at(slot, 0.0));
        [copy, llm, off_topic, off_topic_llm]
    }

    /// The ghosts, for figures.
    pub(super) fn points(&self, planted: &Planted) -> Vec<GhostPoint> {
        let mut points = Vec::new();
        for (slot, &review) in planted.venue.reviews.iter().enumerate() {
            for (class, point) in Class::GHOSTS.into_iter().zip(self.ghosts(slot)) {
                let ghost =
                    |point: Point| GhostPoint { class, review, features: Features::of(point) };
                points.extend(point.map(ghost));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_text_lies_further_from_the_mean_than_those_it_is_of() {
        let variances = |values: &[f64], mean: f64| {
            let points: Vec<Point> = values.iter().map(|&value| [value, f64::NAN]).collect();
            let away: Vec<Point> = of_further(&points, [mean, f64::NAN]).collect();
            away.iter().map(|[x, _]| x * x).sum::<f64>() / away.len() as f64
        };
        // By hand: the unbiased variances 2 and 9, times 1 + 1/2 and 1 + 1/3.
        assert!((variances(&[0.0, 2.0], 1.0) - 3.0).abs() < 1e-12);
        assert!((variances(&[0.0, 3.0, 6.0], 3.0) - 12.0).abs() < 1e-12);
        assert_eq!(of_further(&[[1.0, 2.0]], [1.0, 2.0]).count(), 0);
    }
}
