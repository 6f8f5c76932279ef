//! What everything looks like to somebody who believes each review so far: the slots, and the densities of
//! the kinds of ghosts.

use super::class::Class;
use super::closeness::Closeness;
use super::features::{Comparison, Features, MostSimilar, Stand};
use super::ghosts::Planted;
use super::model::{Kinds, Point, Slot, Student, median_moments, medians, minus, moments};
use super::result::GhostPoint;
use crate::data::progress::Progress;
use crate::stats::rank::mean;

/// Fewest ghosts of a kind with a density.
const FEWEST: usize = 5;

/// Least standard deviation of the peers of an unknown LLM's text, and that of its z.
const UNKNOWN_LLM: [f64; 2] = [0.02, 0.06];

/// Where all texts stand.
pub(super) struct Stands {
    pub(super) reviews: Vec<Stand>,
    pub(super) z: Vec<Stand>,
    pub(super) copies: Vec<Vec<Stand>>,
    pub(super) others: Vec<Stand>,
    /// Whether most papers have one Z.
    pub(super) assumed: bool,
    /// How close texts of LLMs that are not held come to Z.
    pub(super) closeness: Closeness,
    /// Whether it was measured for these vectors how close an unknown LLM comes.
    pub(super) is_measured: bool,
}

impl Stands {
    /// Where all texts stand, and what is most similar to each review.
    pub(super) fn new(
        comparison: &Comparison<'_>,
        is_measured: bool,
        progress: &dyn Progress,
    ) -> (Self, Vec<MostSimilar>) {
        let mut stands = Self {
            reviews: Vec::new(),
            z: Vec::new(),
            copies: Vec::new(),
            others: comparison.of_others(progress),
            assumed: comparison.assumed_ratio(),
            closeness: Closeness::of(comparison.by_pairs()),
            is_measured,
        };
        let mut most_similar = Vec::new();
        for of in comparison.on_papers(progress) {
            stands.reviews.extend(of.reviews);
            stands.z.extend(of.z);
            stands.copies.extend(of.copies);
            most_similar.extend(of.most_similar);
        }
        (stands, most_similar)
    }
}

/// All slots, one per review, and what stands in them.
pub(super) struct Scene {
    pub(super) slots: Vec<Slot>,
    pub(super) kinds: Kinds,
    /// Per slot the texts about another paper that stand in it, by [`Class::OffTopic`] and
    /// [`Class::OffTopicLlm`].
    pub(super) others: Vec<[Option<Point>; 2]>,
}

fn number(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Mean of those that are known, by coordinate.
fn mean_point(points: &[Point]) -> Point {
    [0, 1].map(|at| {
        let known = points.iter().map(|point| point[at]).filter(|value| !value.is_nan());
        number(mean(&known.collect::<Vec<_>>()))
    })
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
    pub(super) fn new(planted: &Planted, stands: &Stands, believed: &[f64]) -> Self {
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
                let (cut_mean, whole) = (mean_point(&cut), mean_point(&whole));
                let of_others: Vec<Point> = (stands.copies[slot].iter().zip(&cut))
                    .map(|(stand, point)| [point[0], number(stand.z_of_others)])
                    .collect();
                let mut close = if stands.assumed { whole[1] } else { mean_point(&of_others)[1] };
                if close.is_nan() {
                    // On a paper with one Z of a venue that has two elsewhere.
                    close = stands.closeness.assumed[0] * whole[1];
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
        let all = |of: &dyn Fn(&Slot) -> Point| medians(&slots.iter().map(of).collect::<Vec<_>>());
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
            others[ghost.slot][usize::from(ghost.class == Class::OffTopicLlm)] =
                Some(point(stand, ghost.slot));
        }
        let of_class = [0, 1].map(|class| {
            let points: Vec<Point> = others.iter().filter_map(|of| of[class]).collect();
            let (center, covariance) = median_moments(&points)?;
            let usable = points.len() >= FEWEST && center.iter().any(|value| !value.is_nan());
            usable.then(|| (center, Student::new(covariance)))
        });
        let has_z = copies.iter().filter(|point| !point[1].is_nan()).count() >= FEWEST;
        let covariance = |points: &[Point]| {
            let moments = moments(points.iter().map(|&point| (point, 1.0)));
            moments.map(|(_, covariance)| covariance).filter(|_| has_z)
        };
        let copy = covariance(&copies).map(Student::new);
        let bases: Vec<Point> = copies.iter().map(|point| [point[0], f64::NAN]).collect();
        let [peers, z] = UNKNOWN_LLM;
        let llm_covariance = if stands.assumed {
            let bases = covariance(&bases).filter(|_| stands.is_measured);
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
            closeness: stands.closeness.of_llm(stands.assumed),
            of_other_llm: stands.closeness.of_other,
        };
        Self { slots, kinds, others }
    }

    /// The ghosts, for figures.
    pub(super) fn points(&self, planted: &Planted) -> Vec<GhostPoint> {
        let mut points = Vec::new();
        for (slot, others) in self
            .slots
            .iter()
            .zip(&self.others)
            .zip(&planted.venue.reviews)
            .map(|((slot, others), &review)| ((slot, review), others))
        {
            let (slot, review) = slot;
            let copy = self.kinds.copy.map(|_| slot.copies[0]);
            let llm = self.kinds.llm.map(|_| self.kinds.llm_at(slot, 0.0));
            let all = [copy, llm, others[0], others[1]];
            for (class, point) in Class::GHOSTS.into_iter().zip(all) {
                if let Some(point) = point {
                    points.push(GhostPoint { class, review, features: Features::of(point) });
                }
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
