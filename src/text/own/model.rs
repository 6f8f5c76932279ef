//! The model and its fit: a slot has a class, a person has a habit and an effect of their own, and how close an
//! LLM of which nobody has a text comes to Z is not known but integrated over.

mod judged;
mod reasons;

use std::array::from_fn;

use rayon::prelude::*;

pub(super) use judged::{Judged, PointInSlot};
use reasons::{REASONS, Reason, reasons};

/// Coordinates `peers`, `z`; NaN where a slot has none.
pub(super) type Point = [f64; 2];

/// Added to every variance: cosines are not told apart below a standard deviation of .014.
const FLOOR: f64 = 2e-4;

/// Nodes of the closeness in standard deviations, and their weights.
const NODES: usize = 5;
pub(super) const CLOSENESS: [(f64, f64); NODES] =
    [(-1.7, 0.1), (-0.8, 0.24), (0.0, 0.32), (0.8, 0.24), (1.7, 0.1)];

/// An LLM's text whose z would lie fewer deviations than this above the middle of people's cannot be told
/// from a person's: such a closeness has no part in the model, where it would make cheaters of people.
const VISIBLE: f64 = 1.0;

/// Intraclass correlation before anything is seen, with the weight of so many pairs, and its bounds.
const CORRELATION: (f64, f64) = (0.3, 10.0);
const CORRELATIONS: (f64, f64) = (0.02, 0.7);

/// Prior counts of people who cheat and who do not, and of each kind.
const PRIOR_COUNTS: [f64; 2] = [0.5, 10.0];
const PRIOR_OF_KIND: f64 = 0.5;

/// P(own) at the start of slots that lie so many robust deviations out, and of others. Where there are hundreds
/// of slots the end is the same from anywhere; in a small venue a fit without suspects may never find one.
const START: [f64; 2] = [0.02, 0.9];
const OUTLYING: f64 = 2.5;

const MOST_STEPS: usize = 100;
const TOLERANCE: f64 = 1e-6;

/// Places of the kinds of a slot: copies, the closeness nodes of an LLM, other papers.
const PLACES: usize = 3 + NODES;

/// The kind of a place, a position in [`GHOSTS`](super::class::Class::GHOSTS).
const fn kind_of(place: usize) -> usize {
    match place {
        0 => 0,
        6 => 2,
        7 => 3,
        _ => 1,
    }
}

/// A symmetric matrix of two rows: both variances, and the covariance between.
pub(super) type Covariance = [f64; 3];

/// Student t density with 8 degrees of freedom of the difference from a center.
#[derive(Debug, Clone, Copy)]
pub(super) struct Student {
    inverse: Covariance,
    both: f64,
    /// Inverse scale and constant of each coordinate alone.
    alone: [(f64, f64); 2],
}

impl Student {
    pub(super) fn new(covariance: Covariance) -> Self {
        // The scale matrix of a t density of this covariance.
        let [a, b, c] = covariance.map(|value| value * 6.0 / 8.0);
        let determinant = a * b - c * c;
        let alone = |scale: f64| (1.0 / scale, 0.386_699_020_961_393_3 / scale.sqrt());
        Self {
            inverse: [b / determinant, a / determinant, -c / determinant],
            both: 1.0 / (2.0 * std::f64::consts::PI * determinant.sqrt()),
            alone: [alone(a), alone(b)],
        }
    }

    /// Density at a difference; of one coordinate if the other is NaN, 1 without any.
    pub(super) fn at(&self, [x, y]: Point) -> f64 {
        let one = |value: f64, (inverse, constant): (f64, f64)| {
            let shape = 1.0 + value * value * inverse / 8.0;
            constant / (shape * shape * shape * shape * shape.sqrt())
        };
        match (x.is_nan(), y.is_nan()) {
            (false, false) => {
                let [a, b, c] = self.inverse;
                let shape = 1.0 + (a * x * x + b * y * y + 2.0 * c * x * y) / 8.0;
                let squared = shape * shape;
                self.both / (squared * squared * shape)
            }
            (false, true) => one(x, self.alone[0]),
            (true, false) => one(y, self.alone[1]),
            (true, true) => 1.0,
        }
    }
}

/// What the kinds of ghosts look like in one slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// What was handed in.
    pub(super) x: Point,
    pub(super) copies: [Point; 2],
    /// Peers of an LLM's text, and the z to which its closeness is relative.
    pub(super) llm: Point,
    /// Closeness to the task's text, by [`Writer`]: of what was handed in, and of an LLM's text in its place.
    pub(super) tasks: [f64; 2],
}

/// Whose text stands in a slot.
#[derive(Debug, Clone, Copy)]
pub(super) enum Writer {
    Person,
    Llm,
}

impl Slot {
    /// Why own work is close to Z in this slot: Z is close to the peers, and to other Z, and the text to the
    /// task's.
    fn reasons(&self, writer: Writer) -> [f64; REASONS] {
        [self.llm[0], self.llm[1], self.tasks[writer as usize]]
    }
}

/// The densities of all kinds but own work.
#[derive(Debug, Clone)]
pub(super) struct Kinds {
    pub(super) copy: Option<Student>,
    pub(super) llm: Option<Student>,
    pub(super) llm_covariance: Covariance,
    pub(super) others: [Option<(Point, Student)>; 2],
    /// Mean and standard deviation of the closeness of an unknown LLM.
    pub(super) closeness: [f64; 2],
    /// How close another company's LLM comes, as a share of that.
    pub(super) of_other_llm: f64,
}

impl Kinds {
    /// Where an LLM's text of this closeness stands, in deviations.
    pub(super) fn llm_at(&self, slot: &Slot, deviations: f64) -> Point {
        let [mean, deviation] = self.closeness;
        [slot.llm[0], slot.llm[1] * (mean + deviation * deviations)]
    }

    /// Density of a point in a slot by place.
    fn densities(&self, slot: &Slot, x: Point) -> [f64; PLACES] {
        let at = |student: &Option<Student>, center: Point| {
            student.map_or(0.0, |student| student.at(minus(x, center)))
        };
        let mut all = [0.0; PLACES];
        all[0] = 0.5 * (at(&self.copy, slot.copies[0]) + at(&self.copy, slot.copies[1]));
        for (value, (node, _)) in all[1..].iter_mut().zip(CLOSENESS) {
            *value = at(&self.llm, self.llm_at(slot, node));
        }
        for (value, other) in all[6..].iter_mut().zip(&self.others) {
            *value = other.map_or(0.0, |(center, student)| student.at(minus(x, center)));
        }
        all
    }

    fn known(&self) -> [bool; 4] {
        let others = self.others.map(|other| other.is_some());
        [self.copy.is_some(), self.llm.is_some(), others[0], others[1]]
    }
}

pub(super) fn minus([a, b]: Point, [c, d]: Point) -> Point {
    [a - c, b - d]
}

/// Center and covariance of weighted points, each coordinate of those that have it.
pub(super) fn moments(
    points: impl Iterator<Item = (Point, f64)> + Clone,
) -> Option<(Point, Covariance)> {
    let means = [0, 1].map(|at| weighted_mean(points.clone().map(|(point, w)| (point[at], w))));
    if means == [None, None] {
        return None;
    }
    let center = means.map(|mean| mean.unwrap_or(0.0));
    Some((center, products(points.map(|(point, w)| (minus(point, center), w)))?))
}

/// Weighted means of the products of deviations, with the floor; `None` without any.
#[expect(clippy::needless_pass_by_value, reason = "an iterator is a few words")]
fn products(points: impl Iterator<Item = (Point, f64)> + Clone) -> Option<Covariance> {
    let mean = |of: fn(Point) -> f64| weighted_mean(points.clone().map(|(x, w)| (of(x), w)));
    let (a, b) = (mean(|x| x[0] * x[0]), mean(|x| x[1] * x[1]));
    a.or(b)?;
    let [a, b] = [a, b].map(|variance| variance.unwrap_or(0.0) + FLOOR);
    // Each from the points that have it, so that it could be too large.
    let most = 0.98 * (a * b).sqrt();
    Some([a, b, mean(|x| x[0] * x[1]).unwrap_or(0.0).clamp(-most, most)])
}

/// Mean of the values that are numbers.
fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let known = values.filter(|(value, _)| !value.is_nan());
    let (sum, weight) = known.fold((0.0, 0.0), |(sum, all), (value, w)| (sum + w * value, all + w));
    (weight > 0.0).then(|| sum / weight)
}

/// One number of those that are known, by coordinate; NaN of none.
pub(super) fn by_coordinate(points: &[Point], of: fn(&[f64]) -> Option<f64>) -> Point {
    [0, 1].map(|at| {
        let known = points.iter().map(|point| point[at]).filter(|value| !value.is_nan());
        of(&known.collect::<Vec<_>>()).unwrap_or(f64::NAN)
    })
}

/// Covariance of points that weigh the same.
pub(super) fn covariance(points: &[Point]) -> Option<Covariance> {
    Some(moments(points.iter().map(|&point| (point, 1.0)))?.1)
}

/// What is fitted.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) kinds: Kinds,
    center: Point,
    covariance: Covariance,
    /// Of [`Slot::reasons`]: where people say what the LLM says, or quote the task as it does, everybody does.
    reasons: [Reason; REASONS],
    /// Intraclass correlation of one person's own work.
    pub(super) correlation: f64,
    /// Share of people who cheat at times or always.
    cheaters: f64,
    /// By kind of [`GHOSTS`](super::class::Class::GHOSTS).
    shares: [f64; 4],
    /// Weights of the closenesses at which an LLM's text can be told from people's.
    nodes: [f64; NODES],
}

impl Model {
    /// Fits everything to `people`, each with positions in `slots`. `start` is P(own) of every slot,
    /// where it is known from a fit before. `None` if nothing can be told apart.
    pub(super) fn fit(
        kinds: Kinds,
        slots: &[Slot],
        people: &[Vec<usize>],
        before: Option<&(Self, Vec<f64>)>,
    ) -> Option<(Self, Vec<f64>)> {
        if !kinds.known().contains(&true) || people.is_empty() {
            return None;
        }
        let (mut model, mut own) = if let Some((model, own)) = before {
            (Self { kinds, ..model.clone() }, own.clone())
        } else {
            let model = Self {
                kinds,
                center: [0.0; 2],
                covariance: [0.0; 3],
                reasons: [Reason::NONE; REASONS],
                correlation: CORRELATION.0,
                cheaters: 0.1,
                shares: [0.25; 4],
                nodes: [0.0; NODES],
            };
            (model, start(slots, people))
        };
        let densities: Vec<[f64; PLACES]> =
            slots.par_iter().map(|slot| model.kinds.densities(slot, slot.x)).collect();
        model.update_own(slots, people, &own)?;
        model.nodes = model.visible_nodes(slots, people);
        let mut known = model.kinds.known();
        known[1] &= model.sees_llm();
        let known = known.map(|known| f64::from(u8::from(known)));
        model.shares = normalized(from_fn(|kind| known[kind] * model.shares[kind]))?;
        for _ in 0..MOST_STEPS {
            let judged: Vec<Judged> = people
                .par_iter()
                .map(|of| {
                    let points =
                        of.iter().map(|&slot| (model.own_point(&slots[slot]), densities[slot]));
                    model.judge_points(&points.collect::<Vec<_>>())
                })
                .collect();
            let mut change = 0.0_f64;
            for (of, judged) in people.iter().zip(&judged) {
                for (&slot, &now) in of.iter().zip(&judged.slots) {
                    change = change.max((own[slot] - now).abs());
                    own[slot] = now;
                }
            }
            model.update_own(slots, people, &own)?;
            let cheats: f64 = judged.iter().map(|judged| judged.cheats).sum();
            let [of_cheaters, of_others] = PRIOR_COUNTS;
            model.cheaters =
                (cheats + of_cheaters) / (people.len() as f64 + of_cheaters + of_others);
            let count = |kind: usize| {
                let sum: f64 = judged.iter().map(|judged| judged.kinds[kind]).sum();
                known[kind] * (sum + PRIOR_OF_KIND)
            };
            model.shares = normalized([0, 1, 2, 3].map(count))?;
            if change < TOLERANCE {
                break;
            }
        }
        Some((model, own))
    }

    /// The same with the share of cheaters that is believed before anything is seen.
    pub(super) fn uncounted(self) -> Self {
        let [of_cheaters, of_others] = PRIOR_COUNTS;
        Self { cheaters: of_cheaters / (of_cheaters + of_others), ..self }
    }

    /// The weights of the closenesses, 0 where an LLM's text would stand among people's.
    fn visible_nodes(&self, slots: &[Slot], people: &[Vec<usize>]) -> [f64; NODES] {
        let weights = CLOSENESS.map(|(node, weight)| {
            let slots = people.iter().flatten().map(|&slot| &slots[slot]);
            let llm = |slot: &Slot| self.beyond(slot, self.kinds.llm_at(slot, node), Writer::Llm);
            let mean = weighted_mean(slots.map(|slot| (llm(slot)[1], 1.0)));
            let bar = self.center[1] + VISIBLE * self.covariance[1].sqrt();
            if mean.is_some_and(|mean| mean >= bar) { weight } else { 0.0 }
        });
        normalized(weights).unwrap_or([0.0; NODES])
    }

    /// Whether an LLM's text of any closeness can be told from people's.
    pub(super) fn sees_llm(&self) -> bool {
        self.nodes.iter().any(|&weight| weight > 0.0)
    }

    /// Whether an LLM's texts are known here and would stand among people's.
    pub(super) fn is_blind_to_llm(&self) -> bool {
        self.kinds.llm.is_some() && !self.sees_llm()
    }

    /// Center, covariance and correlation of own work, given P(own) of every slot.
    fn update_own(&mut self, slots: &[Slot], people: &[Vec<usize>], own: &[f64]) -> Option<()> {
        let weighted = weighted(people, self.correlation);
        let weighted: Vec<(usize, f64)> =
            weighted.map(|(slot, each)| (slot, each * own[slot].max(1e-9))).collect();
        self.reasons = reasons(slots, &weighted);
        let points = weighted.iter().map(|&(slot, w)| (self.own_point(&slots[slot]), w));
        let points: Vec<(Point, f64)> = points.collect();
        (self.center, self.covariance) = moments(points.iter().copied())?;
        // What is beyond the middle on the side of Z may not be own work after all: where it spreads
        // further than the other side, that side speaks for both.
        let center = self.center;
        let away = points.iter().map(|&(x, w)| (minus(x, center), w));
        if let Some(honest) = products(away.filter(|(away, _)| away[1] <= 0.0))
            && honest[1] < self.covariance[1]
        {
            self.covariance = honest;
        }
        let (mut sum, mut pairs) = (0.0, 0.0);
        for of in people.iter().filter(|of| of.len() > 1) {
            let away =
                |&slot: &usize| (own[slot], minus(self.own_point(&slots[slot]), self.center));
            let (product, weight) = pair_sums(of.iter().map(away), self.covariance);
            // Each person with the weight of their slots, not of their pairs.
            let each = 2.0 / (of.len() as f64 - 1.0);
            sum += each * product;
            pairs += each * weight;
        }
        let (prior, count) = CORRELATION;
        let (low, high) = CORRELATIONS;
        self.correlation = ((sum + prior * count) / (pairs + count)).clamp(low, high);
        Some(())
    }

    /// A point less what the reasons say of z of own work in this slot.
    fn beyond(&self, slot: &Slot, x: Point, writer: Writer) -> Point {
        let reasons = self.reasons.iter().zip(slot.reasons(writer));
        let usual = reasons.map(|(reason, value)| reason.slope * reason.away(value));
        [x[0], x[1] - usual.sum::<f64>()]
    }

    /// What was handed in, less the same.
    pub(super) fn own_point(&self, slot: &Slot) -> Point {
        self.beyond(slot, slot.x, Writer::Person)
    }

    /// The share of cheaters that the model has fitted.
    pub(super) fn cheaters(&self) -> f64 {
        self.cheaters
    }
}

/// Shares of a whole, `None` of nothing.
fn normalized<const N: usize>(values: [f64; N]) -> Option<[f64; N]> {
    let sum: f64 = values.iter().sum();
    (sum > 0.0).then(|| values.map(|value| value / sum))
}

/// Sum over pairs of weight times the mean over coordinates of the product of deviations by the
/// variance, and the sum of the weights, by sums.
fn pair_sums(points: impl Iterator<Item = (f64, Point)>, [a, b, _]: Covariance) -> (f64, f64) {
    let (mut sums, mut squares, mut weights, mut weights_squared) = ([0.0; 2], [0.0; 2], 0.0, 0.0);
    for (weight, away) in points {
        weights += weight;
        weights_squared += weight * weight;
        for at in 0..2 {
            let value = if away[at].is_nan() { 0.0 } else { weight * away[at] };
            sums[at] += value;
            squares[at] += value * value;
        }
    }
    let pairs = |at: usize, variance: f64| (sums[at] * sums[at] - squares[at]) / (2.0 * variance);
    ((pairs(0, a) + pairs(1, b)) / 2.0, (weights * weights - weights_squared) / 2.0)
}

/// Every slot of these people with its weight: one of many of a person says less.
pub(super) fn weighted(people: &[Vec<usize>], rho: f64) -> impl Iterator<Item = (usize, f64)> {
    people.iter().flat_map(move |of| {
        let each = 1.0 / (1.0 + (of.len() as f64 - 1.0) * rho);
        of.iter().map(move |&slot| (slot, each))
    })
}

/// P(own) before the first step: low for slots that lie far out on the side of ghosts, and for all slots
/// of people of whose slots half do.
fn start(slots: &[Slot], people: &[Vec<usize>]) -> Vec<f64> {
    let weights: Vec<(usize, f64)> = weighted(people, CORRELATION.0).collect();
    let bound = |value: &dyn Fn(Point) -> f64| {
        let known = weights.iter().map(|&(slot, weight)| (value(slots[slot].x), weight));
        let known: Vec<(f64, f64)> = known.filter(|(value, _)| !value.is_nan()).collect();
        let (middle, spread) = honest_side(&known);
        middle + OUTLYING * spread
    };
    let (most_z, fewest_peers) = (bound(&|x| x[1]), -bound(&|x| -x[0]));
    let far = |slot: usize| slots[slot].x[1] > most_z || slots[slot].x[0] < fewest_peers;
    let mut own = vec![START[1]; slots.len()];
    for of in people {
        let count = of.iter().filter(|&&slot| far(slot)).count();
        let all = 2 * count >= of.len();
        of.iter().filter(|&&slot| all || far(slot)).for_each(|&slot| own[slot] = START[0]);
    }
    own
}

/// Middle and robust deviation, from weighted values, of those who are honest, where cheaters have large
/// values: the deviation is that of the side away from them, the middle that of those near it.
pub(super) fn honest_side(values: &[(f64, f64)]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut middle = weighted_median(&sorted).unwrap_or(0.0);
    let mut spread = 0.0;
    for _ in 0..20 {
        let below = sorted.iter().rev().skip_while(|(value, _)| *value > middle);
        let below: Vec<(f64, f64)> = below.map(|&(value, w)| (middle - value, w)).collect();
        spread = 1.4826 * weighted_median(&below).unwrap_or(0.0);
        let kept = sorted.partition_point(|(value, _)| *value <= middle + 2.0 * spread);
        let next = weighted_median(&sorted[..kept]).unwrap_or(middle);
        if (next - middle).abs() < 1e-9 {
            break;
        }
        middle = next;
    }
    (middle, spread.max(1e-12))
}

/// The middle of ascending values with weights: half of the weight lies below it, the mean of two that
/// it lies between.
fn weighted_median(sorted: &[(f64, f64)]) -> Option<f64> {
    let half = sorted.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (index, &(value, weight)) in sorted.iter().enumerate() {
        sum += weight;
        if sum > half + 1e-9 {
            return Some(value);
        }
        if sum >= half - 1e-9 {
            return Some(sorted.get(index + 1).map_or(value, |next| f64::midpoint(value, next.0)));
        }
    }
    None
}

#[cfg(test)]
pub(super) mod tests;
