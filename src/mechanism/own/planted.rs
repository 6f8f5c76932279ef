//! What would be flagged: ghosts that answer real workers' tasks, label by label.
//!
//! The densities of the model are approximations; here labels are drawn, so that the shares are
//! measured on the crowd at hand. A ghost is judged as one more worker beside everybody.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::constant::Repeated;
use super::crowd::{Answered, Crowd};
use super::features::{Normal, OTHER_LLM, OTHER_LLM_SD, Sums, WorkerFeatures};
use super::model::{Logs, posterior};
use super::{Fitted, OwnSettings, together};
use crate::data::labels::Label;
use crate::stats::flag::CAP;
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
    /// Plants ghosts in the tasks of as many of the workers `judged` as [`MOST_VISITS`] allows, evenly
    /// spread, and holds them to the `bar` of all of these.
    pub(super) fn measure(
        fitted: &[Fitted<'_>],
        judged: &[u32],
        bar: &Bar,
        settings: &OwnSettings,
    ) -> Self {
        let cost = |worker: u32| -> usize {
            let visits = |one: &Fitted<'_>| {
                let per_task = |(task, _, _)| one.crowd.table.of_task(task).len();
                one.crowd.tasks_of(worker).map(per_task).sum::<usize>()
            };
            fitted.iter().map(visits).sum::<usize>() * 3 * settings.draws as usize
        };
        let total: usize = judged.iter().map(|worker| cost(*worker)).sum();
        let step = (total / MOST_VISITS + 1).min(judged.len().max(1));
        let mut hits = [(0_u64, 0_u64); 5];
        let mut workers = 0;
        for &worker in judged.iter().step_by(step) {
            workers += 1;
            let mut random = stream(settings.seed, "own ghosts", u64::from(worker));
            let views: Vec<Sheet<'_>> =
                fitted.iter().filter_map(|one| Sheet::new(one, worker)).collect();
            for _ in 0..settings.draws {
                bar.count(&people(&views, &mut random), &mut hits[0]);
                for kind in 0..4 {
                    bar.count(&ghosts(&views, kind, &mut random), &mut hits[kind + 1]);
                }
            }
        }
        let share = |(hits, all): (u64, u64)| (all > 0).then(|| hits as f64 / all as f64);
        let flagged = [hits[1], hits[2], hits[3], hits[4]].map(share);
        Self { flagged, people: share(hits[0]), workers }
    }
}

/// The tasks of one worker with one source as Z.
struct Sheet<'a> {
    fitted: &'a Fitted<'a>,
    features: &'a WorkerFeatures,
    tasks: Vec<Answered<'a>>,
}

impl<'a> Sheet<'a> {
    /// `None` if the worker is not judged.
    fn new(fitted: &'a Fitted<'a>, worker: u32) -> Option<Self> {
        let features = fitted.features[worker as usize].as_ref().ok()?;
        let tasks = fitted.crowd.answered(worker, &features.twins).collect();
        Some(Self { fitted, features, tasks })
    }

    fn logs(&self, x: [f64; 2], step: f64, constant: f64) -> Logs {
        self.fitted.model.log_weights_at(self.features, x, step, constant)
    }
}

/// What each source says of somebody who answers alone: the same person, so the same draw.
fn people(views: &[Sheet<'_>], random: &mut ChaCha8Rng) -> Vec<Logs> {
    let (which, deviations) = (random.random::<f64>(), normal(random));
    let person = |view: &Sheet<'_>| {
        let densities = view.fitted.model.people(view.features);
        let shares = densities.map(|(share, _)| share);
        let (_, density) = densities[usize::from(at(&shares, which))];
        // Somebody who gives the most common label as often as people do.
        let (expected, answers) = (view.features.expected, view.tasks.len() as f64);
        let repeated = Repeated { times: expected * answers, answers, expected };
        let constant = repeated.log_ratio(view.fitted.crowd.blind[0].len());
        view.logs(density.at(deviations), view.features.step, constant)
    };
    views.iter().map(person).collect()
}

/// What each source says of a ghost that hands in what one of them says, or nobody.
fn ghosts(views: &[Sheet<'_>], kind: usize, random: &mut ChaCha8Rng) -> Vec<Logs> {
    let from = match views {
        [] => return Vec::new(),
        [one] => one,
        several => &several[random.random_range(0..several.len())],
    };
    if from.features.ghosts[kind].is_empty() {
        return Vec::new();
    }
    let answers = ghost(&from.fitted.crowd, &from.tasks, kind, random);
    let logs = |view: &Sheet<'_>| {
        let (mut sums, mut given) = (Sums::default(), Vec::with_capacity(answers.len()));
        for (task, answer) in &answers {
            // A source may not cover what another does.
            if let Ok(index) = view.tasks.binary_search_by_key(task, |answered| answered.task) {
                view.tasks[index].push(*answer, &mut sums);
                given.push(*answer);
            }
        }
        let constant = view.fitted.crowd.constant(&mut given, view.features.expected);
        Some(view.logs(sums.normal()?.mean, sums.step()?, constant))
    };
    views.iter().filter_map(logs).collect()
}

/// Tasks and answers of one ghost of kind `kind`: as many as there are, drawn with replacement.
pub(super) fn ghost(
    crowd: &Crowd<'_>,
    tasks: &[Answered<'_>],
    kind: usize,
    random: &mut ChaCha8Rng,
) -> Vec<(u32, Label)> {
    // One of the other samples, or none: an LLM of which nobody has a sample.
    let sample = match kind {
        1 => crowd.others.get(random.random_range(0..=crowd.others.len())),
        _ => None,
    };
    let copied = (OTHER_LLM + OTHER_LLM_SD * normal(random)[0]).clamp(0.0, 1.0);
    let answer = |_| {
        let task = &tasks[random.random_range(0..tasks.len())];
        let answer = match (kind, sample) {
            (0, _) => task.z,
            (1, Some(sample)) => sample[task.task as usize].unwrap_or(task.own),
            (1, None) if random.random_bool(copied) => task.z,
            (1, None) => person(crowd, task, random),
            _ => drawn(&crowd.blind[kind - 2], random),
        };
        (task.task, answer)
    };
    (0..tasks.len()).map(answer).collect()
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

fn drawn(probabilities: &[f64], random: &mut ChaCha8Rng) -> Label {
    at(probabilities, random.random::<f64>())
}

/// Where `rest`, uniform in 0 to 1, falls.
fn at(probabilities: &[f64], mut rest: f64) -> Label {
    for (label, probability) in (0..).zip(probabilities) {
        rest -= probability;
        if rest < 0.0 {
            return label;
        }
    }
    probabilities.len().saturating_sub(1) as Label
}

/// Who is looked at: the largest set of lowest values whose mean is at most the rate, of equal ones all or
/// none, and none above [`CAP`] times the rate. And who would be as one more worker: the mean of all
/// values up to the newcomer's, the newcomer's included, is at most the rate, or it is part of a larger
/// set that is.
pub(super) struct Bar {
    sorted: Vec<f64>,
    rate: f64,
    /// The largest value that is looked at.
    bound: Option<f64>,
    /// Whether nobody is looked at who reads as an LLM of which nobody has a sample.
    spares: bool,
}

impl Bar {
    /// `own` are the probabilities of those who may be looked at.
    pub(super) fn new(own: Vec<f64>, rate: f64, spares: bool) -> Self {
        let mut sorted = own;
        sorted.sort_by(f64::total_cmp);
        let (mut sum, mut bound) = (0.0, None);
        for (index, value) in sorted.iter().enumerate() {
            sum += value;
            let last_of_its_value = sorted.get(index + 1).is_none_or(|next| next > value);
            let may_be = *value <= CAP * rate && sum <= rate * (index as f64 + 1.0);
            if last_of_its_value && may_be {
                bound = Some(*value);
            }
        }
        Self { sorted, rate, bound, spares }
    }

    /// Whether a value is one of the set.
    pub(super) fn looks_at(&self, value: f64) -> bool {
        self.bound.is_some_and(|bound| value <= bound)
    }

    fn flags(&self, value: f64) -> bool {
        if value <= self.rate {
            return true;
        }
        if value > CAP * self.rate {
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

    /// Counts somebody of whom the sources say this; nobody, if none does.
    fn count(&self, views: &[Logs], (hits, all): &mut (u64, u64)) {
        if !views.is_empty() {
            let logs = together(views);
            let is_spared = self.spares && logs.is_by_unknown_llm();
            *all += 1;
            *hits += u64::from(!is_spared && self.flags(posterior(&logs.kinds)[0]));
        }
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
    /// What is so many standard deviations from the mean.
    fn at(&self, [u, v]: [f64; 2]) -> [f64; 2] {
        let [a, b, c] = self.covariance;
        let first = a.max(0.0).sqrt();
        let slope = if first > 0.0 { b / first } else { 0.0 };
        let second = (c - slope * slope).max(0.0).sqrt();
        [self.mean[0] + first * u, self.mean[1] + slope * u + second * v]
    }
}
