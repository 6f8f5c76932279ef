//! What would be flagged: ghosts that answer real workers' tasks, label by label.
//!
//! The densities of the model are approximations; here labels are drawn, so that the shares are
//! measured on the crowd at hand. A ghost is judged as one more worker beside everybody.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::OwnSettings;
use super::crowd::{Answered, Crowd};
use super::features::{Normal, OTHER_LLM, OTHER_LLM_SD, Sums, WorkerFeatures};
use super::model::{Model, posterior};
use crate::data::labels::Label;
use crate::stats::seed::stream;

/// Most reports that are looked at: some seconds of work on any crowd.
const MOST_VISITS: usize = 30_000_000;

/// Shares that would be flagged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Planted {
    /// Share of the ghosts of each kind (`copy`, `llm`, `guess`, `constant`) who would be flagged;
    /// `None` without such a ghost.
    pub flagged: [Option<f64>; 4],
    /// Share of people's slots who would be, were everybody's answers their own; `None` if nobody
    /// is judged.
    pub people: Option<f64>,
    /// In how many workers' tasks ghosts were planted.
    pub workers: usize,
}

impl Planted {
    /// Plants ghosts in the tasks of as many workers as [`MOST_VISITS`] allows, evenly spread.
    pub(super) fn measure(
        crowd: &Crowd<'_>,
        model: &Model,
        judged: &[(u32, WorkerFeatures)],
        own: &[f64],
        settings: &OwnSettings,
    ) -> Self {
        let bar = Bar::new(own, settings.false_discovery_rate);
        let cost = |worker: u32| -> usize {
            let per_task = |(task, _, _)| crowd.table.of_task(task).len();
            crowd.tasks_of(worker).map(per_task).sum::<usize>() * 3 * settings.draws as usize
        };
        let total: usize = judged.iter().map(|(worker, _)| cost(*worker)).sum();
        let step = (total / MOST_VISITS + 1).min(judged.len().max(1));
        let mut hits = [(0_u64, 0_u64); 5];
        let mut workers = 0;
        for (worker, features) in judged.iter().step_by(step) {
            workers += 1;
            let mut random = stream(settings.seed, "own ghosts", u64::from(*worker));
            let tasks: Vec<Answered<'_>> = crowd.answered(*worker, &features.twins).collect();
            for _ in 0..settings.draws {
                let people = one_of(&model.people(features), &mut random).draw(&mut random);
                bar.count(model, features, people, &mut hits[0]);
                for kind in 0..4 {
                    if features.ghosts[kind].is_empty() {
                        continue;
                    }
                    if let Some(x) = ghost(crowd, &tasks, kind, &mut random) {
                        bar.count(model, features, x, &mut hits[kind + 1]);
                    }
                }
            }
        }
        let share = |(hits, all): (u64, u64)| (all > 0).then(|| hits as f64 / all as f64);
        let flagged = [hits[1], hits[2], hits[3], hits[4]].map(share);
        Self { flagged, people: share(hits[0]), workers }
    }
}

/// Features of one ghost of kind `kind` on resampled tasks.
pub(super) fn ghost(
    crowd: &Crowd<'_>,
    tasks: &[Answered<'_>],
    kind: usize,
    random: &mut ChaCha8Rng,
) -> Option<[f64; 2]> {
    let mut sums = Sums::default();
    // One of the other samples, or none: an LLM of which nobody has a sample.
    let sample = match kind {
        1 => crowd.others.get(random.random_range(0..=crowd.others.len())),
        _ => None,
    };
    let copied = (OTHER_LLM + OTHER_LLM_SD * normal(random)[0]).clamp(0.0, 1.0);
    for _ in tasks {
        let task = &tasks[random.random_range(0..tasks.len())];
        let z = task.z;
        let answer = match (kind, sample) {
            (0, _) => z,
            (1, Some(sample)) => sample[task.task as usize].unwrap_or(task.own),
            (1, None) if random.random_bool(copied) => z,
            (1, None) => person(crowd, task, random),
            _ => drawn(&crowd.blind[kind - 2], random),
        };
        let equal = f64::from(u8::from(answer == z));
        let values = [equal, task.share(z), task.share(answer)];
        sums.push(values, [0.0; 3]);
    }
    sums.normal().map(|normal| normal.mean)
}

/// What a person says: the label of another worker, or one that is common where Z says the same.
pub(super) fn person(crowd: &Crowd<'_>, task: &Answered<'_>, random: &mut ChaCha8Rng) -> Label {
    let (labels, own) = (&task.labels, task.own);
    let others = (labels.len() - 1) as f64;
    if random.random_bool(crowd.prior / (crowd.prior + others)) {
        return crowd.shares_of(task.task).map_or(own, |shares| drawn(shares, random));
    }
    // The worker's own report is one of those with the worker's own label.
    let number = random.random_range(0..labels.len() - 1);
    let skipped = labels.iter().position(|&label| label == own).unwrap_or(labels.len());
    labels[number + usize::from(number >= skipped)]
}

/// One of the densities, by its share.
fn one_of(densities: &[(f64, Normal)], random: &mut ChaCha8Rng) -> Normal {
    let shares: Vec<f64> = densities.iter().map(|(share, _)| *share).collect();
    densities[usize::from(drawn(&shares, random))].1
}

fn drawn(probabilities: &[f64], random: &mut ChaCha8Rng) -> Label {
    let mut rest = random.random::<f64>();
    for (label, probability) in (0..).zip(probabilities) {
        rest -= probability;
        if rest < 0.0 {
            return label;
        }
    }
    probabilities.len().saturating_sub(1) as Label
}

/// Who would be flagged as one more worker: the mean of all values up to the newcomer's, the
/// newcomer's included, is at most the rate, or it is part of a larger set that is.
struct Bar {
    sorted: Vec<f64>,
    rate: f64,
}

impl Bar {
    fn new(own: &[f64], rate: f64) -> Self {
        let mut sorted = own.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self { sorted, rate }
    }

    fn flags(&self, value: f64) -> bool {
        if value <= self.rate {
            return true;
        }
        if value > super::CAP * self.rate {
            return false;
        }
        let below = self.sorted.partition_point(|other| *other <= value);
        let mut sum = self.sorted[..below].iter().sum::<f64>() + value;
        let mut count = below as f64 + 1.0;
        let mut rest = self.sorted[below..].iter();
        loop {
            if sum <= self.rate * count {
                return true;
            }
            // Values above the rate never bring the mean down.
            match rest.next().filter(|next| **next <= self.rate) {
                Some(next) => (sum, count) = (sum + next, count + 1.0),
                None => return false,
            }
        }
    }

    fn count(
        &self,
        model: &Model,
        features: &WorkerFeatures,
        x: [f64; 2],
        (hits, all): &mut (u64, u64),
    ) {
        *all += 1;
        *hits += u64::from(self.flags(posterior(&model.log_weights_at(features, x))[0]));
    }
}

/// Two draws of a standard normal variable, by Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> [f64; 2] {
    // In (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    let (sine, cosine) = (std::f64::consts::TAU * random.random::<f64>()).sin_cos();
    [radius * cosine, radius * sine]
}

impl Normal {
    /// One draw.
    fn draw(&self, random: &mut ChaCha8Rng) -> [f64; 2] {
        let [u, v] = normal(random);
        let [a, b, c] = self.covariance;
        let first = a.max(0.0).sqrt();
        let slope = if first > 0.0 { b / first } else { 0.0 };
        let second = (c - slope * slope).max(0.0).sqrt();
        [self.mean[0] + first * u, self.mean[1] + slope * u + second * v]
    }
}
