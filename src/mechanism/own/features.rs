//! Copy excess and agreement with peers of a worker and of the worker's ghosts, as normal
//! densities.
//!
//! Both features are functions of three means over tasks: `a` (equals Z), `o` (share of the others
//! who equal Z) and `p` (share of the others with the same label). A ghost's answer to a task is
//! random, so a task has a mean and a variance of `a` and `p`; tasks are resampled. What many
//! seeded draws would estimate follows in closed form to first order (delta method), from counts
//! of labels: one pass over the reports, no draw. `planted` draws, to measure what this misses.

use super::NotJudged;
use super::constant::{self, Repeated};
use std::borrow::Cow;

use super::crowd::{Answered, Crowd, TaskSums, count};
use super::people::always_right;
use super::twins::Counter;
use crate::data::labels::Label;

/// How much more often than a person another LLM says what Z says, as a share of the room there is:
/// a mean over 12 ordered pairs of samples of one LLM .38 (.37 to .41) and over 30 pairs of six LLMs
/// on another crowd .39, of which those without the weakest LLM .34 to .68.
pub(super) const OTHER_LLM: f64 = 0.4;

/// Standard deviation of that between LLMs.
pub(super) const OTHER_LLM_SD: f64 = 0.2;

/// A normal density of `(copy excess, agreement)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normal {
    pub(super) mean: [f64; 2],
    /// Variance of the first, covariance, variance of the second.
    pub(super) covariance: [f64; 3],
}

/// A worker's features and those of the ghosts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WorkerFeatures {
    pub(super) tasks: usize,
    /// What one task more with the label of Z adds to the copy excess.
    pub(super) step: f64,
    /// What the worker did, with the covariance of sampling tasks.
    pub(super) own: Normal,
    /// What an average person would have done on the same tasks.
    pub(super) person: Normal,
    /// `copy`, `llm`, `guess`, `constant`: equal parts of the densities in each list. The last of `llm`
    /// is an LLM of which nobody has a sample.
    pub(super) ghosts: [Vec<Normal>; 4],
    /// Features of somebody who is always right on these tasks, see [`always_right`].
    pub(super) always_right: Option<[f64; 2]>,
    /// Log of how much likelier the labels themselves are as a constant answer than as a person's.
    pub(super) constant: f64,
    /// What a person would give the most common label, as a share of the tasks.
    pub(super) expected: f64,
    /// Who is not a peer, see [`Counter::twins_of`].
    pub(super) twins: Vec<u32>,
}

impl WorkerFeatures {
    /// Whether every answer is that of Z.
    pub(super) fn says_all_of_z(&self) -> bool {
        self.own.mean[0] >= last_half_step(self.step)
    }
}

/// Where the last half `step` of the copy excess begins: beyond it is whoever says what Z says on every task.
pub(super) fn last_half_step(step: f64) -> f64 {
    1.0 - step / 2.0
}

/// One answered task with all that the ghosts need.
struct Slot {
    /// Share of the others who equal Z.
    o: f64,
    others: f64,
    /// How many others give the worker's label.
    of_own: f64,
    sums: TaskSums,
}

impl Slot {
    /// Means of `a` and `p` and of the square of `p`, for draws from the distribution `index` of
    /// [`TaskSums`], which gives Z and the worker's own label these probabilities.
    fn draw(&self, index: usize, at_z: f64, at_own: f64) -> [f64; 3] {
        let p = (self.sums.first[index] - at_own) / self.others;
        let squares = self.sums.second[index] - at_own * (2.0 * self.of_own + 1.0);
        [at_z, p, squares / (self.others * self.others)]
    }

    /// The same for a person: the others' labels with `prior` reports' worth of the stratum's.
    fn person(&self, prior: f64, at_z: f64, at_own: f64) -> [f64; 3] {
        let m = self.others;
        let [_, p, squares] = self.draw(2, at_z, at_own);
        // Sums of the squares and cubes of the counts without the worker's own report.
        let with = self.of_own + 1.0;
        let second = self.sums.squares - with * with + self.of_own * self.of_own;
        let third = self.sums.cubes - with.powi(3) + self.of_own.powi(3);
        [
            (m * self.o + prior * at_z) / (m + prior),
            (second / m + prior * p) / (m + prior),
            (third / (m * m) + prior * squares) / (m + prior),
        ]
    }

    fn push(&self, sums: &mut Sums, [a, p, squares]: [f64; 3]) {
        // Whoever answers Z has p = o, so the product has the mean a o.
        let within = [a * (1.0 - a), a * self.o - a * p, squares - p * p];
        sums.push([a, self.o, p], within);
    }
}

impl Crowd<'_> {
    pub(super) fn of_worker(
        &self,
        worker: u32,
        min_tasks: usize,
        counter: &mut Counter,
    ) -> Result<WorkerFeatures, (NotJudged, usize)> {
        let all = self.tasks_of(worker).count();
        let least = min_tasks.max(2);
        if all < least {
            return Err((NotJudged::TooFewTasks, all));
        }
        if !self.has_common_label {
            return Err((NotJudged::NoCommonLabel, all));
        }
        let mut twins = counter.twins_of(self, worker);
        // With nobody else to compare with, twins are better than none.
        if self.answered(worker, &twins).count() < least {
            twins.clear();
        }
        let mut tasks = 0;
        let (mut own, mut copy, mut person) = (Sums::default(), Sums::default(), Sums::default());
        let mut assumed = Sums::default();
        let mut llms = vec![Sums::default(); self.others.len()];
        let mut blind = [Sums::default(); 2];
        let (mut answers, mut expected_most) = (Vec::with_capacity(all), 0.0);
        for answered in self.answered(worker, &twins) {
            let Answered { task, z, own: label, ref labels } = answered;
            tasks += 1;
            let sums = match labels {
                Cow::Borrowed(_) => self.tasks[task as usize],
                Cow::Owned(labels) => self.sums_of(labels, Some(z)),
            };
            let others = (labels.len() - 1) as f64;
            let equal = f64::from(u8::from(label == z));
            let o = (f64::from(sums.agreeing) - equal) / others;
            let of_own = f64::from(count(labels, label) - 1);
            let slot = Slot { o, others, of_own, sums };
            own.push([equal, o, of_own / others], [0.0; 3]);
            copy.push([1.0, o, o], [0.0; 3]);
            for (llm, sample) in llms.iter_mut().zip(self.others) {
                // Where the sample has no answer the cheater has to answer alone.
                let answer = sample[task as usize].unwrap_or(label);
                let agrees = f64::from(u8::from(answer == z));
                llm.push([agrees, o, answered.share(answer)], [0.0; 3]);
            }
            for (index, d) in self.blind.iter().enumerate() {
                slot.push(&mut blind[index], slot.draw(index, at(d, z), at(d, label)));
            }
            let shares = self.shares_of(task).unwrap_or_default();
            let expected = slot.person(self.prior, at(shares, z), at(shares, label));
            slot.push(&mut person, expected);
            answers.push(label);
            expected_most += (others * answered.share(self.most)
                + self.prior * at(shares, self.most))
                / (others + self.prior);
            let copied = [1.0, o, o * o];
            let part =
                |index: usize| OTHER_LLM * copied[index] + (1.0 - OTHER_LLM) * expected[index];
            slot.push(&mut assumed, [part(0), part(1), part(2)]);
        }
        let nobody = (NotJudged::EverybodyAgrees, tasks);
        let step = own.step().ok_or(nobody)?;
        let own = own.normal().ok_or(nobody)?;
        let person = person.normal().ok_or(nobody)?;
        let listed = |sums: &Sums| sums.normal().into_iter().collect::<Vec<_>>();
        let mut llm: Vec<Normal> = llms.iter().filter_map(Sums::normal).collect();
        llm.extend(assumed.normal().map(|assumed| another_llm(assumed, &person)));
        let ghosts = [listed(&copy), llm, listed(&blind[0]), listed(&blind[1])];
        let labels = self.blind[0].len();
        let expected = expected_most / tasks as f64;
        let constant = self.constant(&mut answers, expected);
        // Who copies agrees with the others as often as these say what Z says.
        let always_right =
            ghosts[0].first().and_then(|copy| always_right(&person, copy.mean[1], labels));
        Ok(WorkerFeatures {
            tasks,
            step,
            own,
            person,
            ghosts,
            always_right,
            constant,
            expected,
            twins,
        })
    }
}

impl Crowd<'_> {
    /// Log of how much likelier such answers are as a constant answer than as those of a person, who
    /// would give the most common label with probability `expected`; 0 where they have another
    /// favourite. Sorts the answers.
    pub(super) fn constant(&self, answers: &mut [Label], expected: f64) -> f64 {
        let count = answers.len() as f64;
        constant::times(answers, self.most).map_or(0.0, |times| {
            let repeated = Repeated { times, answers: count, expected };
            repeated.log_ratio(self.blind[0].len())
        })
    }
}

fn at(distribution: &[f64], label: Label) -> f64 {
    distribution.get(usize::from(label)).copied().unwrap_or(0.0)
}

/// The density of an LLM of which nobody has a sample: with its share of what Z says varying between
/// LLMs. That share moves the features along the line from a `person` to a copy.
fn another_llm(assumed: Normal, person: &Normal) -> Normal {
    let slope = [0, 1].map(|f| (assumed.mean[f] - person.mean[f]) / OTHER_LLM * OTHER_LLM_SD);
    let spread = [slope[0] * slope[0], slope[0] * slope[1], slope[1] * slope[1]];
    Normal { covariance: [0, 1, 2].map(|c| assumed.covariance[c] + spread[c]), ..assumed }
}

/// Sums over tasks of `a`, `o`, `p`, of their products, and of variances inside a task.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    count: f64,
    features: [f64; 3],
    /// aa, ao, ap, oo, op, pp.
    products: [f64; 6],
    /// Variance of `a`, covariance, variance of `p`.
    within: [f64; 3],
}

impl Sums {
    pub(super) fn push(&mut self, [a, o, p]: [f64; 3], within: [f64; 3]) {
        self.count += 1.0;
        let add = |sums: &mut [f64], values: &[f64]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        };
        add(&mut self.features, &[a, o, p]);
        add(&mut self.products, &[a * a, a * o, a * p, o * o, o * p, p * p]);
        add(&mut self.within, &within);
    }

    /// By how much the copy excess grows with each task on which the answer is that of Z; `None` where
    /// it is undefined.
    pub(super) fn step(&self) -> Option<f64> {
        let room = self.count - self.features[1];
        (room > 0.0).then(|| 1.0 / room)
    }

    /// Mean and covariance of the features; `None` where the excess is undefined.
    pub(super) fn normal(&self) -> Option<Normal> {
        let n = self.count;
        let [a, o, p] = self.features.map(|sum| sum / n);
        if n < 2.0 || self.features[1] >= n {
            return None;
        }
        let room = 1.0 - o;
        let ratio = (1.0 - a) / room;
        let centered = |index: usize, x: f64, y: f64| self.products[index] - n * x * y;
        let (aa, ao, ap) = (centered(0, a, a), centered(1, a, o), centered(2, a, p));
        let (oo, op, pp) = (centered(3, o, o), centered(4, o, p), centered(5, p, p));
        let between = n * (n - 1.0);
        let excess = (aa - 2.0 * ratio * ao + ratio * ratio * oo) / (room * room);
        let covariance = [
            excess.max(0.0) / between + self.within[0] / (room * room) / (n * n),
            (ap - ratio * op) / room / between + self.within[1] / room / (n * n),
            pp.max(0.0) / between + self.within[2] / (n * n),
        ];
        Some(Normal { mean: [(a - o) / room, p], covariance })
    }
}
