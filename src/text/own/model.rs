//! The model: a slot has a class, a person has a habit and an effect of their own, and how close an LLM
//! of which nobody has a text comes to Z is not known but integrated over.

use std::array::from_fn;

use nalgebra::{Matrix2, Vector2};
use rayon::prelude::*;

use super::class::Class;
use crate::stats::rank::median;

/// Coordinates `peers`, `z`; NaN where a slot has none.
pub(super) type Point = [f64; 2];

/// Added to every variance: cosines are not told apart below a standard deviation of .014.
const FLOOR: f64 = 2e-4;

/// z of another LLM's text of the paper, as a share of that of the whole Z in its own place: mean and
/// standard deviation where it is assumed, and where the venue has two Z and shows it.
const ASSUMED_CLOSENESS: [f64; 2] = [0.45, 0.12];
const MEASURED_CLOSENESS: [f64; 2] = [1.0, 0.14];

/// Nodes of the closeness in standard deviations, and their weights.
const NODES: usize = 5;
pub(super) const CLOSENESS: [(f64, f64); NODES] =
    [(-1.7, 0.1), (-0.8, 0.24), (0.0, 0.32), (0.8, 0.24), (1.7, 0.1)];

/// An LLM's text whose z would lie fewer deviations than this above the middle of people's cannot be told
/// from a person's: such a closeness has no part in the model, where it would make cheaters of people.
const VISIBLE: f64 = 1.4;

/// Nodes and weights of the Gauss-Hermite rule for a standard normal (Abramowitz, Stegun 1964, table
/// 25.10), in one dimension.
const HERMITE: [(f64, f64); 7] = [
    (-3.750_439_717_725_742, 5.482_688_559_722_2e-4),
    (-2.366_759_410_734_541, 3.075_712_396_758_65e-2),
    (-1.154_405_394_739_968, 0.240_123_178_605_013),
    (0.0, 0.457_142_857_142_857_1),
    (1.154_405_394_739_968, 0.240_123_178_605_013),
    (2.366_759_410_734_541, 3.075_712_396_758_65e-2),
    (3.750_439_717_725_742, 5.482_688_559_722_2e-4),
];

/// Slots from which on the nodes stand where this person does: fixed ones are too coarse for them.
const MANY_SLOTS: usize = 20;

/// Share of cheaters who always cheat; the others do so with one of the shares between.
const ALWAYS: f64 = 0.6;
const SOMETIMES: [f64; 3] = [0.25, 0.5, 0.75];

/// Least share of cheaters at which somebody can be called clear.
const CAUTIOUS: f64 = 0.1;

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

/// Slots that a ridge on the slope of z on the closeness of Z to the peers is worth.
const RIDGE: f64 = 10.0;

const MOST_STEPS: usize = 100;
const TOLERANCE: f64 = 1e-6;

/// Places of the kinds of a slot: copies, the closeness nodes of an LLM, other papers.
const PLACES: usize = 3 + NODES;

/// The kind of a place, a position in [`Class::GHOSTS`].
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
}

impl Kinds {
    pub(super) fn closeness(assumed: bool) -> [f64; 2] {
        if assumed { ASSUMED_CLOSENESS } else { MEASURED_CLOSENESS }
    }

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

/// Medians of both coordinates, and the covariance.
pub(super) fn median_moments(points: &[Point]) -> Option<(Point, Covariance)> {
    let (_, covariance) = moments(points.iter().map(|&point| (point, 1.0)))?;
    Some((medians(points), covariance))
}

pub(super) fn medians(points: &[Point]) -> Point {
    [0, 1].map(|at| {
        let known = points.iter().map(|point| point[at]).filter(|value| !value.is_nan());
        median(&known.collect::<Vec<_>>()).unwrap_or(f64::NAN)
    })
}

/// A point less what everybody has there, and its densities by place.
pub(super) type PointInSlot = (Point, [f64; PLACES]);

/// Products over the slots of a person, all divided by one number now and then so that none vanishes.
struct Products {
    /// Centers of own work that the person can have, and their weights.
    nodes: Vec<(Point, f64)>,
    /// How often the person may cheat, with the prior probabilities.
    habits: Vec<(f64, f64)>,
    is_used: [bool; PLACES],
    /// Of own work by node, and of kinds by place.
    own: Vec<f64>,
    always: [f64; PLACES],
    /// Of mixtures by habit, node and place, places side by side: each of their sums waits for itself alone.
    mixed: Vec<[f64; PLACES]>,
    /// Densities by slot and node, and by slot and place.
    slot_own: Vec<f64>,
    slot_kinds: Vec<[f64; PLACES]>,
}

/// What a person does, each with a number in proportion to its probability.
struct Masses {
    never: f64,
    /// Cheats, but on none of these slots.
    lucky: f64,
    /// Cheats now and then, by habit and place.
    habits: Vec<[f64; PLACES]>,
    /// Always cheats, and cheats at all, by kind.
    always: [f64; 4],
    kinds: [f64; 4],
}

impl Masses {
    fn cheat(&self) -> f64 {
        self.kinds.iter().sum()
    }

    /// P(every slot is own work).
    fn own(&self) -> f64 {
        (self.never + self.lucky) / (self.never + self.cheat())
    }
}

/// What is fitted.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) kinds: Kinds,
    pub(super) center: Point,
    pub(super) covariance: Covariance,
    /// Mean and deviation of how close Z is to the peers in a slot, and how far z of own work rises with
    /// one deviation of it: where people say what the LLM says, everybody does.
    closeness_of_z: (f64, f64, f64),
    /// Intraclass correlation of one person's own work.
    pub(super) correlation: f64,
    /// Share of people who cheat at times or always.
    cheaters: f64,
    /// By kind of [`Class::GHOSTS`].
    shares: [f64; 4],
    /// Weights of the closenesses at which an LLM's text can be told from people's.
    nodes: [f64; NODES],
}

/// What is said of a person.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// P(every slot is own work).
    pub(super) own: f64,
    /// Logarithms of `own`, and of 1 - `own`, exact where one of them is 0.
    pub(super) logs: [f64; 2],
    /// P(the person's kind, and a slot is of it), by kind.
    pub(super) kinds: [f64; 4],
    /// P(own) of each slot.
    pub(super) slots: Vec<f64>,
    /// P(kind) of each slot.
    pub(super) slot_kinds: Vec<[f64; 4]>,
    /// Per habit its probability and that of each slot to be something else under it.
    habits: Vec<(f64, Vec<f64>)>,
    cheats: f64,
}

impl Judged {
    /// Low and high end of the 95 % interval of the share of slots that are not own work.
    pub(super) fn share_interval(&self) -> (f64, f64) {
        let n = self.slots.len();
        let mut all = vec![0.0; n + 1];
        for (weight, slots) in &self.habits {
            let mut counts = vec![0.0; n + 1];
            counts[0] = *weight;
            for (index, &p) in slots.iter().enumerate() {
                for count in (0..=index).rev() {
                    counts[count + 1] += counts[count] * p;
                    counts[count] *= 1.0 - p;
                }
            }
            all.iter_mut().zip(counts).for_each(|(sum, value)| *sum += value);
        }
        let quantile = |level: f64| {
            let mut sum = 0.0;
            let at = all.iter().position(|value| {
                sum += value;
                sum >= level
            });
            at.unwrap_or(n) as f64 / n as f64
        };
        (quantile(0.025), quantile(0.975))
    }
}

/// How often somebody cheats who does, with the prior probabilities, but for always.
fn habits(slots: usize) -> Vec<(f64, f64)> {
    let n = slots as f64;
    let few = [1.0, 2.0, 4.0].map(|count| count / n);
    let few = few.into_iter().filter(|&share| slots > 4 && share < SOMETIMES[0]);
    let all: Vec<f64> = few.chain(SOMETIMES).collect();
    let each = (1.0 - ALWAYS) / all.len() as f64;
    all.into_iter().map(|share| (share, each)).collect()
}

/// P(no slot of so many is anything else) of somebody who cheats.
fn lucky(slots: usize) -> f64 {
    let n = i32::try_from(slots).unwrap_or(i32::MAX);
    habits(slots).iter().map(|(share, prior)| prior * (1.0 - share).powi(n)).sum()
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
                closeness_of_z: (0.0, 1.0, 0.0),
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
                    let points = of.iter().map(|&slot| {
                        (model.beyond_slot(&slots[slot], slots[slot].x), densities[slot])
                    });
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

    /// The weights of the closenesses, 0 where an LLM's text would stand among people's.
    fn visible_nodes(&self, slots: &[Slot], people: &[Vec<usize>]) -> [f64; NODES] {
        let weights = CLOSENESS.map(|(node, weight)| {
            let slots = people.iter().flatten().map(|&slot| &slots[slot]);
            let mean = weighted_mean(slots.map(|slot| (self.kinds.llm_at(slot, node)[1], 1.0)));
            let bar = self.center[1] + VISIBLE * self.covariance[1].sqrt();
            if mean.is_some_and(|mean| mean >= bar) { weight } else { 0.0 }
        });
        normalized(weights).unwrap_or([0.0; NODES])
    }

    /// Whether an LLM's text of any closeness can be told from people's.
    pub(super) fn sees_llm(&self) -> bool {
        self.nodes.iter().any(|&weight| weight > 0.0)
    }

    /// Center, covariance and correlation of own work, given P(own) of every slot.
    fn update_own(&mut self, slots: &[Slot], people: &[Vec<usize>], own: &[f64]) -> Option<()> {
        let correlation = self.correlation;
        let weighted: Vec<(usize, f64)> = people
            .iter()
            .flat_map(|of| {
                let each = 1.0 / (1.0 + (of.len() as f64 - 1.0) * correlation);
                of.iter().map(move |&slot| (slot, each * own[slot].max(1e-9)))
            })
            .collect();
        self.closeness_of_z = slope(slots, &weighted);
        let beyond = |&(slot, w): &(usize, f64)| (self.beyond_slot(&slots[slot], slots[slot].x), w);
        let points: Vec<(Point, f64)> = weighted.iter().map(beyond).collect();
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
            let away = |&slot: &usize| {
                (own[slot], minus(self.beyond_slot(&slots[slot], slots[slot].x), self.center))
            };
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

    /// What is said of somebody who has these points in these slots.
    pub(super) fn judge<'a>(&self, points: impl Iterator<Item = (&'a Slot, Point)>) -> Judged {
        self.judge_points(&points.map(|(slot, x)| self.point_in(slot, x)).collect::<Vec<_>>())
    }

    /// A point in a slot, and its densities.
    pub(super) fn point_in(&self, slot: &Slot, x: Point) -> PointInSlot {
        (self.beyond_slot(slot, x), self.kinds.densities(slot, x))
    }

    /// P(every slot is own work), where nothing else is asked.
    pub(super) fn own(&self, points: &[PointInSlot]) -> f64 {
        self.masses(&self.products(points), |_, _| {}).own()
    }

    /// A point less what everybody's z has in this slot.
    pub(super) fn beyond_slot(&self, slot: &Slot, x: Point) -> Point {
        let (mean, deviation, slope) = self.closeness_of_z;
        let close = (slot.llm[0] - mean) / deviation;
        [x[0], x[1] - if close.is_nan() { 0.0 } else { slope * close }]
    }

    fn products(&self, points: &[PointInSlot]) -> Products {
        let n = points.len();
        let nodes = self.nodes(points);
        let slot_covariance =
            if n == 1 { self.covariance } else { scaled(self.covariance, 1.0 - self.correlation) };
        let student = Student::new(slot_covariance);
        let habits = habits(n);
        let m = nodes.len();
        let is_used: [bool; PLACES] = from_fn(|place| self.share(place) > 0.0);
        let mut own = vec![1.0; m];
        let mut always = [1.0; PLACES];
        let mut mixed = vec![[1.0; PLACES]; habits.len() * m];
        let mut unused = 1.0;
        let mut slot_own = vec![0.0; n * m];
        let mut slot_kinds = vec![[0.0; PLACES]; n];
        for (index, (x, densities)) in points.iter().enumerate() {
            let of_slot = &mut slot_own[index * m..(index + 1) * m];
            for (value, (center, _)) in of_slot.iter_mut().zip(&nodes) {
                *value = student.at(minus(*x, *center));
            }
            let largest = of_slot.iter().chain(densities).copied().fold(1e-300, f64::max);
            of_slot.iter_mut().for_each(|value| *value /= largest);
            let kinds = densities.map(|value| value / largest);
            slot_kinds[index] = kinds;
            own.iter_mut().zip(&*of_slot).for_each(|(product, value)| *product *= value);
            always.iter_mut().zip(kinds).for_each(|(product, kind)| *product *= kind);
            for (of_habit, &(share, _)) in mixed.chunks_mut(m).zip(&habits) {
                let of_kinds = kinds.map(|kind| share * kind);
                for (products, value) in of_habit.iter_mut().zip(&*of_slot) {
                    let of_own = (1.0 - share) * value;
                    for (product, of_kind) in products.iter_mut().zip(of_kinds) {
                        *product *= of_own + of_kind;
                    }
                }
            }
            if index % 8 == 7 {
                let by_place = || mixed.iter().chain(std::iter::once(&always)).flatten();
                let by_place = by_place().zip(is_used.iter().cycle());
                let of_used =
                    by_place.map(|(product, &is_used)| if is_used { *product } else { unused });
                let largest = own.iter().copied().chain(of_used).fold(1e-300, f64::max);
                let all = own.iter_mut().chain(&mut always).chain(mixed.as_flattened_mut());
                all.chain([&mut unused]).for_each(|product| *product /= largest);
            }
        }
        Products { nodes, habits, is_used, own, always, mixed, slot_own, slot_kinds }
    }

    /// What is likely of the person; `of_habit` is told the number of every habit and its weights by node
    /// and place.
    fn masses(&self, of: &Products, mut of_habit: impl FnMut(usize, &[[f64; PLACES]])) -> Masses {
        let every_own: f64 = of.own.iter().zip(&of.nodes).map(|(p, (_, w))| p * w).sum();
        let never = (1.0 - self.cheaters) * every_own;
        let lucky = self.cheaters * lucky(of.slot_kinds.len()) * every_own;
        let priors: [f64; PLACES] = from_fn(|place| self.cheaters * self.share(place));
        let m = of.nodes.len();
        let mut habits = vec![[0.0; PLACES]; of.habits.len()];
        let mut weights = vec![[0.0; PLACES]; m];
        for (habit, (&(_, prior), mass)) in of.habits.iter().zip(&mut habits).enumerate() {
            let priors = priors.map(|of_place| of_place * prior);
            let products = &of.mixed[habit * m..(habit + 1) * m];
            for ((weights, products), (_, weight)) in
                weights.iter_mut().zip(products).zip(&of.nodes)
            {
                let of_places = weights.iter_mut().zip(products).zip(priors).zip(&mut *mass);
                for (((value, product), prior), mass) in of_places {
                    *value = prior * product * weight;
                    *mass += *value;
                }
            }
            of_habit(habit, &weights);
        }
        let (mut always, mut kinds) = ([0.0; 4], [0.0; 4]);
        for place in (0..PLACES).filter(|&place| of.is_used[place]) {
            let kind = kind_of(place);
            let mass = priors[place] * ALWAYS * of.always[place];
            always[kind] += mass;
            kinds[kind] += mass;
            habits.iter().for_each(|masses| kinds[kind] += masses[place]);
        }
        Masses { never, lucky, habits, always, kinds }
    }

    fn judge_points(&self, points: &[PointInSlot]) -> Judged {
        let n = points.len();
        let products = self.products(points);
        let Products { is_used, slot_own, slot_kinds, .. } = &products;
        let m = products.nodes.len();
        let mut sums = vec![[0.0; PLACES]; products.habits.len() * n];
        let masses = self.masses(&products, |habit, weights| {
            let share = products.habits[habit].0;
            for (index, kinds) in slot_kinds.iter().enumerate() {
                let cheat = kinds.map(|kind| share * kind);
                let mut sums_of_slot = [0.0; PLACES];
                for (own, weights) in slot_own[index * m..].iter().zip(weights) {
                    let own = (1.0 - share) * own;
                    for ((sum, weight), cheat) in sums_of_slot.iter_mut().zip(weights).zip(cheat) {
                        *sum += weight * cheat / (own + cheat);
                    }
                }
                sums[habit * n + index] = sums_of_slot;
            }
        });
        let mut by_habit = vec![(0.0, vec![0.0; n]); masses.habits.len()];
        let mut each_kind = vec![[0.0; 4]; n];
        for place in (0..PLACES).filter(|&place| is_used[place]) {
            for (habit, &(share, _)) in products.habits.iter().enumerate() {
                by_habit[habit].0 += masses.habits[habit][place];
                // What cannot be of the kind would be a share of nothing.
                let can_be = (0..n).filter(|&index| share * slot_kinds[index][place] != 0.0);
                for index in can_be {
                    let sum = sums[habit * n + index][place];
                    by_habit[habit].1[index] += sum;
                    each_kind[index][kind_of(place)] += sum;
                }
            }
        }
        let cheat_mass = masses.cheat();
        let total = masses.never + cheat_mass;
        let always_mass: f64 = masses.always.iter().sum();
        let not_own = (cheat_mass - masses.lucky).max(0.0);
        let normal = |value: f64| value / total;
        let slot_kinds: Vec<[f64; 4]> = each_kind
            .into_iter()
            .map(|mut slot| {
                slot.iter_mut().zip(masses.always).for_each(|(p, all)| *p = normal(*p + all));
                slot
            })
            .collect();
        let slots =
            slot_kinds.iter().map(|kinds| (1.0 - kinds.iter().sum::<f64>()).max(0.0)).collect();
        let given = |(mass, slots): (f64, Vec<f64>)| {
            let slots = slots.into_iter();
            (normal(mass), slots.map(|p| if mass > 0.0 { p / mass } else { 0.0 }).collect())
        };
        let mut habits: Vec<(f64, Vec<f64>)> = by_habit.into_iter().map(given).collect();
        habits.extend([(normal(masses.never), vec![0.0; n]), (normal(always_mass), vec![1.0; n])]);
        let of_kinds = |mass: f64| if cheat_mass > 0.0 { mass * not_own / cheat_mass } else { 0.0 };
        let own = masses.own();
        Judged {
            own,
            logs: [own.max(1e-300).ln(), normal(not_own).max(1e-300).ln()],
            kinds: masses.kinds.map(|mass| normal(of_kinds(mass))),
            slots,
            slot_kinds,
            habits,
            cheats: normal(cheat_mass),
        }
    }

    /// Share of the people who cheat that a place has.
    fn share(&self, place: usize) -> f64 {
        let of_kind = self.shares[kind_of(place)];
        if kind_of(place) == 1 { of_kind * self.nodes[place - 1] } else { of_kind }
    }

    /// Centers of own work that a person can have, and their weights.
    fn nodes(&self, points: &[PointInSlot]) -> Vec<(Point, f64)> {
        let n = points.len();
        if n == 1 {
            return vec![(self.center, 1.0)];
        }
        let rho = self.correlation;
        let [a, b, c] = self.covariance;
        let matrix = Matrix2::new(a, c, c, b);
        let (mut at, mut width) = (Vector2::zeros(), rho);
        if n >= MANY_SLOTS {
            // Normal approximation of where the person stands, from the slots near the others' middle.
            let medians = medians(&points.iter().map(|(x, _)| *x).collect::<Vec<_>>());
            let away = minus(medians, self.center).map(|v| if v.is_nan() { 0.0 } else { v });
            let count = n as f64;
            let kept = 1.0 - rho + count * rho;
            at = Vector2::from(away) * (count * rho / kept);
            width = rho * (1.0 - rho) / kept;
        }
        let factor = match (matrix * width).cholesky() {
            Some(cholesky) => cholesky.l(),
            None => Matrix2::zeros(),
        };
        let inverse = matrix.try_inverse().unwrap_or_else(Matrix2::zeros);
        let mut nodes = Vec::with_capacity(HERMITE.len().pow(2));
        for (g, w) in HERMITE {
            for (h, v) in HERMITE {
                let away = at + factor * Vector2::new(g, h);
                let mut weight = w * v;
                if n >= MANY_SLOTS {
                    // The normal density of the effect by that which the nodes are drawn from.
                    let prior = (-away.dot(&(inverse * away)) / (2.0 * rho)).exp() / rho;
                    weight *= prior / ((-(g * g + h * h) / 2.0).exp() / width);
                }
                nodes.push(([self.center[0] + away[0], self.center[1] + away[1]], weight));
            }
        }
        nodes
    }

    /// P(some slot is not own work) of somebody with so many slots before anything is seen.
    pub(super) fn prior(&self, slots: usize) -> f64 {
        self.cheaters * (1.0 - lucky(slots))
    }

    /// P(every slot is own work), and P(own) of each, if one in ten cheated here: where nobody does,
    /// P(own) is high whatever somebody hands in, so that it would call everybody clear, and nothing
    /// that is planted would be seen. The same where more cheat.
    pub(super) fn cautious(&self, judged: &Judged) -> (f64, Vec<f64>) {
        self.at_share(judged, self.cheaters.max(CAUTIOUS))
    }

    /// The first of [`Self::cautious`], of P(every one of so many slots is own work).
    pub(super) fn cautiously_own(&self, own: f64, slots: usize) -> f64 {
        self.own_at_share(own, slots, self.cheaters.max(CAUTIOUS))
    }

    /// P(every slot is own work), and P(own) of each, if so many cheated.
    pub(super) fn at_share(&self, judged: &Judged, share: f64) -> (f64, Vec<f64>) {
        let (own, n) = (judged.own, judged.slots.len());
        let total = self.total(own, n);
        let factor = share / self.cheaters * total(self.cheaters) / total(share);
        let slots = judged.slots.iter().map(|own| 1.0 - ((1.0 - own) * factor).min(1.0));
        (self.own_at_share(own, n, share), slots.collect())
    }

    /// P(every one of so many slots is own work) if so many cheated.
    pub(super) fn own_at_share(&self, own: f64, slots: usize, share: f64) -> f64 {
        (1.0 - share + share * lucky(slots)) / self.total(own, slots)(share)
    }

    /// Likelihood by the share of cheaters, relative to that of nothing but own work.
    fn total(&self, own: f64, slots: usize) -> impl Fn(f64) -> f64 + use<> {
        let fitted = self.cheaters;
        let lucky = lucky(slots);
        let cheats = ((1.0 - fitted + fitted * lucky) / own.max(1e-300) - (1.0 - fitted)) / fitted;
        move |share| 1.0 - share + share * cheats
    }

    /// The share of cheaters that the model has fitted.
    pub(super) fn cheaters(&self) -> f64 {
        self.cheaters
    }

    /// The kind that a list by kind has most of.
    pub(super) fn largest(kinds: &[f64; 4]) -> Class {
        let best = (0..4).reduce(|best, next| if kinds[next] > kinds[best] { next } else { best });
        Class::GHOSTS[best.unwrap_or(0)]
    }
}

pub(super) fn scaled(covariance: Covariance, factor: f64) -> Covariance {
    covariance.map(|value| value * factor)
}

/// Weighted mean and deviation of the closeness of Z to the peers, and the slope of z on it in
/// deviations, shrunk by [`RIDGE`].
fn slope(slots: &[Slot], weighted: &[(usize, f64)]) -> (f64, f64, f64) {
    let both = weighted.iter().map(|&(slot, w)| ([slots[slot].llm[0], slots[slot].x[1]], w));
    let both = both.filter(|(x, _)| !x[0].is_nan() && !x[1].is_nan());
    let weight: f64 = both.clone().map(|(_, w)| w).sum();
    match moments(both) {
        Some((center, [variance, _, product])) => {
            let deviation = variance.sqrt();
            (center[0], deviation, product / deviation * weight / (weight + RIDGE))
        }
        None => (0.0, 1.0, 0.0),
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

/// P(own) before the first step: low for slots that lie far out on the side of ghosts, and for all slots
/// of people of whose slots half do.
fn start(slots: &[Slot], people: &[Vec<usize>]) -> Vec<f64> {
    let weights: Vec<(usize, f64)> = people
        .iter()
        .flat_map(|of| {
            let each = 1.0 / (1.0 + (of.len() as f64 - 1.0) * CORRELATION.0);
            of.iter().map(move |&slot| (slot, each))
        })
        .collect();
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
mod tests;
