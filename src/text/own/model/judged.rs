//! What the model says of a person and of each of their slots, everything that they may do summed up.

use std::array::from_fn;

use nalgebra::{Matrix2, Vector2};

use super::{
    Covariance, Model, PLACES, Point, Slot, Student, Writer, by_coordinate, kind_of, minus,
};
use crate::stats::rank::median;
use crate::text::own::class::Class;

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

/// A point less what the reasons say, and its densities by place.
pub(in crate::text::own) type PointInSlot = (Point, [f64; PLACES]);

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

/// What is said of a person.
#[derive(Debug, Clone)]
pub(in crate::text::own) struct Judged {
    /// P(every slot is own work).
    pub(in crate::text::own) own: f64,
    /// Logarithms of `own`, and of 1 - `own`, exact where one of them is 0.
    pub(in crate::text::own) logs: [f64; 2],
    /// P(the person's kind, and a slot is of it), by kind.
    pub(in crate::text::own) kinds: [f64; 4],
    /// P(own) of each slot.
    pub(in crate::text::own) slots: Vec<f64>,
    /// P(kind) of each slot.
    pub(in crate::text::own) slot_kinds: Vec<[f64; 4]>,
    /// Per habit its probability and that of each slot to be something else under it.
    habits: Vec<(f64, Vec<f64>)>,
    pub(super) cheats: f64,
}

impl Judged {
    /// Low and high end of the 95 % interval of the share of slots that are not own work.
    pub(in crate::text::own) fn share_interval(&self) -> (f64, f64) {
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
    /// What is said of somebody who has these points in these slots.
    pub(in crate::text::own) fn judge<'a>(
        &self,
        points: impl Iterator<Item = (&'a Slot, Point)>,
    ) -> Judged {
        let points = points.map(|(slot, x)| self.point_in(slot, x, Writer::Person));
        self.judge_points(&points.collect::<Vec<_>>())
    }

    /// A point in a slot, and its densities.
    pub(in crate::text::own) fn point_in(
        &self,
        slot: &Slot,
        x: Point,
        writer: Writer,
    ) -> PointInSlot {
        (self.beyond(slot, x, writer), self.kinds.densities(slot, x))
    }

    /// P(every slot is own work), where nothing else is asked.
    pub(in crate::text::own) fn own(&self, points: &[PointInSlot]) -> f64 {
        self.masses(&self.products(points), |_, _| {}).own()
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

    pub(super) fn judge_points(&self, points: &[PointInSlot]) -> Judged {
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
            let points: Vec<Point> = points.iter().map(|(x, _)| *x).collect();
            let medians = by_coordinate(&points, median);
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
    pub(in crate::text::own) fn prior(&self, slots: usize) -> f64 {
        self.cheaters * (1.0 - lucky(slots))
    }

    /// P(every slot is own work), and P(own) of each, if one in ten cheated here: where nobody does,
    /// P(own) is high whatever somebody hands in, so that it would call everybody clear, and nothing
    /// that is planted would be seen. The same where more cheat.
    pub(in crate::text::own) fn cautious(&self, judged: &Judged) -> (f64, Vec<f64>) {
        self.at_share(judged, self.cheaters.max(CAUTIOUS))
    }

    /// The first of [`Self::cautious`], of P(every one of so many slots is own work).
    pub(in crate::text::own) fn cautiously_own(&self, own: f64, slots: usize) -> f64 {
        self.own_at_share(own, slots, self.cheaters.max(CAUTIOUS))
    }

    /// P(every slot is own work), and P(own) of each, if so many cheated.
    pub(in crate::text::own) fn at_share(&self, judged: &Judged, share: f64) -> (f64, Vec<f64>) {
        let (own, n) = (judged.own, judged.slots.len());
        let total = self.total(own, n);
        let factor = share / self.cheaters * total(self.cheaters) / total(share);
        let slots = judged.slots.iter().map(|own| 1.0 - ((1.0 - own) * factor).min(1.0));
        (self.own_at_share(own, n, share), slots.collect())
    }

    /// P(every one of so many slots is own work) if so many cheated.
    pub(in crate::text::own) fn own_at_share(&self, own: f64, slots: usize, share: f64) -> f64 {
        (1.0 - share + share * lucky(slots)) / self.total(own, slots)(share)
    }

    /// Likelihood by the share of cheaters, relative to that of nothing but own work.
    fn total(&self, own: f64, slots: usize) -> impl Fn(f64) -> f64 + use<> {
        let fitted = self.cheaters;
        let lucky = lucky(slots);
        let cheats = ((1.0 - fitted + fitted * lucky) / own.max(1e-300) - (1.0 - fitted)) / fitted;
        move |share| 1.0 - share + share * cheats
    }

    /// The kind that a list by kind has most of.
    pub(in crate::text::own) fn largest(kinds: &[f64; 4]) -> Class {
        let best = (0..4).reduce(|best, next| if kinds[next] > kinds[best] { next } else { best });
        Class::GHOSTS[best.unwrap_or(0)]
    }
}

fn scaled(covariance: Covariance, factor: f64) -> Covariance {
    covariance.map(|value| value * factor)
}

#[cfg(test)]
mod tests;
