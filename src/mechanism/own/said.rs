//! What the crowd says of each task: counts of its labels, and how probable each is by the others.
//!
//! Every worker is right with a probability of their own, else says each other label equally often
//! (one-coin Dawid-Skene); that probability is the mean, over the worker's tasks, of how probable
//! the *others* make the worker's label. So nobody vouches for themselves, and no LLM is asked.
//!
//! Where answers are poor or few, these rounds contract towards chance: whoever is good then reads as a
//! copy of a good LLM. A crowd that is [weak](WEAK) by them is fitted once more with the worker's own label
//! counted, by EM, in all rounds but the last.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::labels::{Label, LabelTable, Reports};
use crate::mechanism::chunks::most_chunks;

/// Rounds of the fit. Ten and forty gave the same flags.
const ROUNDS: usize = 10;

/// Tasks of an average worker that are added to a worker's own.
const SHRINKAGE: f64 = 4.0;

/// Bounds of the probability of being right: nobody is believed without limit.
const SKILL: [f64; 2] = [0.02, 0.99];

/// A crowd whose answers are right less often than this, or than this part of what chance leaves, by its own
/// account, cannot tell that an LLM is wrong: somebody who knows more says what a good LLM says against most of
/// the others. With four labels both are the same.
const WEAK: [f64; 2] = [0.5, 1.0 / 3.0];

/// Units of a sum of probabilities: sums of whole numbers are the same in any order, on any threads.
const UNITS: f64 = (1_u64 << 36) as f64;

/// Reports of a worker whose tasks are looked up at once: for more the memory is not worth it.
const AT_ONCE: usize = 2048;

/// What is said of all tasks.
#[derive(Debug)]
pub(super) struct Said {
    /// Tasks one after another, `1 << shift` in each part.
    parts: Vec<Part>,
    shift: u32,
    /// By label: share of the reports, each label half a task more than it has.
    pub(super) shares: Vec<f64>,
    /// By worker: what the odds of a label lose with the worker's report.
    without: Vec<f64>,
    /// By worker: the sum over tasks with others of how probable they make the label, and their number.
    pub(super) right: Vec<[f64; 2]>,
    /// How many questions each task has, one after another in the table.
    pub(super) questions: f64,
}

/// Some tasks, for one thread.
#[derive(Debug, Default)]
struct Part {
    tasks: Vec<OfTask>,
    given: Vec<Given>,
}

/// A stretch of tasks while the weights are fitted: what every round reads.
#[derive(Debug)]
struct Stretch<'a> {
    table: &'a LabelTable,
    first: u32,
    /// Different labels of each task, ascending, and where those of each end.
    labels: Vec<Label>,
    ends: Vec<u32>,
}

/// A label of a task; together, since they are read together.
#[derive(Debug, Clone, Copy)]
struct Given {
    /// How probable it is, up to a factor of the task.
    odds: f64,
    count: u32,
    label: Label,
}

/// A task, and in the unit of its odds those of labels that nobody gave.
#[derive(Debug, Clone, Copy)]
struct OfTask {
    /// Where its labels are, and how many.
    start: u32,
    labels: u32,
    reports: u32,
    /// Of one that has the share 1.
    unit: f64,
    /// Of all.
    unsaid: f64,
}

impl OfTask {
    fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.labels) as usize
    }
}

/// The logarithm of the odds that a report of a worker gives its label, and their inverse.
#[derive(Debug, Clone, Copy)]
struct Weight {
    log: f64,
    without: f64,
}

/// One report, and what the others say of its task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    said: &'a Said,
    /// Its place among the reports of the worker.
    pub(super) place: usize,
    pub(super) own: Label,
    given: &'a [Given],
    unit: f64,
    /// Factor of the odds of `own` without the worker's report.
    without: f64,
    /// How many others there are, at least one.
    pub(super) others: f64,
    /// Odds of all labels by the others.
    all: f64,
}

/// Reads the reports of one worker after another, several times each: what is said of the tasks lies all over
/// the memory, and is fetched once.
#[derive(Debug)]
pub(super) struct Hearing<'a> {
    pub(super) table: &'a LabelTable,
    pub(super) said: &'a Said,
    /// Worker and block of the reports that are at hand.
    at_hand: Option<(u32, usize)>,
    reports: Vec<Fetched>,
    given: Vec<Given>,
}

/// A report with its place, and its task, whose labels are those fetched.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    place: u32,
    task: u32,
    own: Label,
    of_task: OfTask,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(table: &'a LabelTable, said: &'a Said) -> Self {
        Self { table, said, at_hand: None, reports: Vec::new(), given: Vec::new() }
    }

    /// Visits the reports of a worker on tasks that others answered, too.
    pub(super) fn of_worker(&mut self, worker: u32, mut visit: impl FnMut(Heard<'_>)) {
        let said = self.said;
        let without = said.without[worker as usize];
        let reports = self.table.of_worker(worker);
        let blocks = reports.others.chunks(AT_ONCE).zip(reports.labels.chunks(AT_ONCE));
        for (block, (tasks, labels)) in blocks.enumerate() {
            if self.at_hand != Some((worker, block)) {
                self.fetch(tasks, labels);
                self.at_hand = Some((worker, block));
            }
            for &Fetched { place, own, of_task, .. } in &self.reports {
                let given = &self.given[of_task.range()];
                let odds = given
                    .iter()
                    .map(|one| if one.label == own { one.odds * without } else { one.odds });
                visit(Heard {
                    said,
                    place: block * AT_ONCE + place as usize,
                    own,
                    given,
                    unit: of_task.unit,
                    without,
                    others: f64::from(of_task.reports - 1),
                    all: odds.sum::<f64>() + of_task.unsaid,
                });
            }
        }
    }

    /// First all tasks, then all labels: so the memory is asked for many at a time.
    fn fetch(&mut self, tasks: &[u32], labels: &[Label]) {
        self.reports.clear();
        self.given.clear();
        let reports = (0..).zip(tasks.iter().zip(labels));
        let found = reports.map(|(place, (&task, &own))| {
            let of_task = *self.said.task(task);
            Fetched { place, task, own, of_task }
        });
        self.reports.extend(found.filter(|report| report.of_task.reports > 1));
        for Fetched { task, of_task, .. } in &mut self.reports {
            let given = self.said.given(*task, of_task);
            of_task.start = self.given.len() as u32;
            self.given.extend_from_slice(given);
        }
    }
}

impl<'a> Heard<'a> {
    /// Labels of the task with the number of others who gave them.
    pub(super) fn counts(self) -> impl Iterator<Item = (Label, f64)> + Clone + 'a {
        let own = self.own;
        let others = |given: &Given, own| f64::from(given.count - u32::from(given.label == own));
        self.given.iter().map(move |given| (given.label, others(given, own)))
    }

    /// How many of the others gave this label.
    pub(super) fn count(self, label: Label) -> f64 {
        let given = self.given.iter().find(|given| given.label == label);
        given.map_or(0.0, |given| f64::from(given.count - u32::from(label == self.own)))
    }

    /// How probable the others make this label.
    pub(super) fn probability(self, label: Label) -> f64 {
        let odds = match self.given.iter().find(|given| given.label == label) {
            Some(given) if label == self.own => given.odds * self.without,
            Some(given) => given.odds,
            None => self.unit * self.said.shares[usize::from(label)],
        };
        odds / self.all
    }

    /// The probability that another person gives this label: the others' labels, and one report
    /// more by the shares of the crowd.
    pub(super) fn person(self, label: Label) -> f64 {
        (self.count(label) + self.said.shares[usize::from(label)]) / (self.others + 1.0)
    }
}

impl Said {
    pub(super) fn new(table: &LabelTable, questions: usize) -> Self {
        let questions = questions as f64;
        let size = table.task_count().div_ceil(most_chunks(table)).next_power_of_two();
        let firsts: Vec<u32> = (0..table.task_count() as u32).step_by(size).collect();
        let counted: Vec<(Stretch<'_>, Vec<u64>)> =
            firsts.into_par_iter().map(|first| Stretch::of(table, first, size)).collect();
        let mut labels = Vec::with_capacity(counted.len());
        let mut shares = vec![0.5 * questions; table.label_count()];
        for (part, counts) in counted {
            labels.push(part);
            shares.iter_mut().zip(counts).for_each(|(share, count)| *share += count as f64);
        }
        let all: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= all);
        let fitted = |counts_own| {
            let (parts, weights, right) = fitted(table, &labels, &shares, (questions, counts_own));
            let without = weights.iter().map(|weight| weight.without).collect();
            Self { parts, shift: size.ilog2(), shares: shares.clone(), without, right, questions }
        };
        let said = fitted(false);
        if !said.is_weak() {
            return said;
        }
        // Its memory is needed again.
        drop(said);
        fitted(true)
    }

    /// Whether an answer is so seldom right, in the eyes of the others, that these cannot judge an LLM.
    pub(super) fn is_weak(&self) -> bool {
        let add = |[a, b]: [f64; 2], [sum, count]: &[f64; 2]| [a + sum, b + count];
        let [sum, count] = self.right.iter().fold([0.0; 2], add);
        let right = if count > 0.0 { sum / count } else { 0.0 };
        let chance = 1.0 / self.shares.len().max(2) as f64;
        right < f64::max(WEAK[0], chance + WEAK[1] * (1.0 - chance))
    }

    fn task(&self, task: u32) -> &OfTask {
        &self.parts[(task >> self.shift) as usize].tasks[task as usize & ((1 << self.shift) - 1)]
    }

    fn given(&self, task: u32, of_task: &OfTask) -> &[Given] {
        &self.parts[(task >> self.shift) as usize].given[of_task.range()]
    }

    /// Mean probability of the LLM's labels, each task as often as it has reports; `None` if none of
    /// its labels is one of the crowd's.
    pub(super) fn right_of(&self, z: &[Option<Label>]) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (task, label) in (0..).zip(z) {
            let Some(label) = label.filter(|label| usize::from(*label) < self.shares.len()) else {
                continue;
            };
            let of_task = self.task(task);
            if of_task.reports < 2 {
                continue;
            }
            let given = self.given(task, of_task);
            let odds = given
                .iter()
                .find(|given| given.label == label)
                .map_or_else(|| of_task.unit * self.shares[usize::from(label)], |given| given.odds);
            let all: f64 = given.iter().map(|given| given.odds).sum();
            sum += f64::from(of_task.reports) * odds / (all + of_task.unsaid);
            count += f64::from(of_task.reports);
        }
        (count > 0.0).then(|| sum / count)
    }
}

/// What is said of the tasks by the weights of the last round; these; and how right each worker is, see
/// [`Said::right`]. In the rounds before, the worker's own label counts or does not.
fn fitted(
    table: &LabelTable,
    labels: &[Stretch<'_>],
    shares: &[f64],
    (questions, counts_own): (f64, bool),
) -> (Vec<Part>, Vec<Weight>, Vec<[f64; 2]>) {
    let counts = table.count_of_workers(|task| table.of_task(task).len() > 1);
    let counts: Vec<f64> = counts.into_iter().map(|count| count as f64).collect();
    let all: f64 = counts.iter().sum();
    let log_shares: Vec<f64> = shares.iter().map(|share| share.ln()).collect();
    let merged = |parts: &[Vec<u64>]| -> Vec<f64> {
        let sum = |worker: usize| parts.iter().map(|sums| sums[worker]).sum::<u64>();
        (0..table.worker_count()).map(|worker| sum(worker) as f64 / UNITS).collect()
    };
    let by_number: Vec<Vec<u64>> = labels.par_iter().map(|part| part.by_number(shares)).collect();
    let mut sums = merged(&by_number);
    let (mut parts, mut weights) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let average = if all > 0.0 { sums.iter().sum::<f64>() / all } else { 0.5 };
        let wrong_labels = (table.label_count() as f64 - 1.0).max(1.0);
        weights = sums
            .iter()
            .zip(&counts)
            .map(|(right, count)| {
                let shrinkage = questions * SHRINKAGE;
                let skill = (right + shrinkage * average) / (count + shrinkage);
                let skill = skill.clamp(SKILL[0], SKILL[1]);
                let log = (skill * wrong_labels / (1.0 - skill)).ln();
                Weight { log, without: (-log).exp() }
            })
            .collect::<Vec<Weight>>();
        let of_parts = labels.par_iter().map(|part| {
            let mut kept = Part::default();
            let is_last = round == ROUNDS;
            let sums = part.by_weights(
                (shares, &log_shares),
                (&weights, counts_own && !is_last),
                is_last.then_some(&mut kept),
            );
            (sums, kept)
        });
        let (by_weights, kept): (Vec<Vec<u64>>, Vec<Part>) = of_parts.unzip();
        (sums, parts) = (merged(&by_weights), kept);
    }
    (parts, weights, sums.into_iter().zip(counts).map(|(sum, count)| [sum, count]).collect())
}

impl<'a> Stretch<'a> {
    /// Of `size` tasks from `first` on, and how often each label is given.
    fn of(table: &'a LabelTable, first: u32, size: usize) -> (Self, Vec<u64>) {
        let mut part = Self { table, first, labels: Vec::new(), ends: Vec::new() };
        let mut counts = vec![0; table.label_count()];
        let mut sorted: Vec<Label> = Vec::new();
        for task in (first..table.task_count() as u32).take(size) {
            let reports = table.of_task(task).labels;
            sorted.clear();
            sorted.extend(reports);
            sorted.sort_unstable();
            for run in sorted.chunk_by(|a, b| a == b) {
                part.labels.push(run[0]);
                counts[usize::from(run[0])] += run.len() as u64;
            }
            part.ends.push(part.labels.len() as u32);
        }
        (part, counts)
    }

    /// Every task with its labels.
    fn tasks(&self) -> impl Iterator<Item = (Reports<'a>, &[Label])> {
        let mut start = 0;
        (self.first..).zip(&self.ends).map(move |(task, &end)| {
            let labels = &self.labels[start..end as usize];
            start = end as usize;
            (self.table.of_task(task), labels)
        })
    }

    /// By worker: the sum over tasks with others of how probable their number makes the label, in units.
    fn by_number(&self, shares: &[f64]) -> Vec<u64> {
        let mut sums = vec![0; self.table.worker_count()];
        let mut of_label = vec![(0_u32, 0); shares.len()];
        for (reports, labels) in self.tasks().filter(|(reports, _)| reports.len() > 1) {
            reports.labels.iter().for_each(|&label| of_label[usize::from(label)].0 += 1);
            for label in labels.iter().map(|&label| usize::from(label)) {
                let others = f64::from(of_label[label].0 - 1);
                of_label[label] = (0, units((others + shares[label]) / reports.len() as f64));
            }
            for (worker, label) in reports.iter() {
                sums[worker as usize] += of_label[usize::from(label)].1;
            }
        }
        sums
    }

    /// The same by their weights. What is said of each task then goes to `kept`.
    fn by_weights(
        &self,
        (shares, log_shares): (&[f64], &[f64]),
        (weights, counts_own): (&[Weight], bool),
        mut kept: Option<&mut Part>,
    ) -> Vec<u64> {
        let mut sums = vec![0; self.table.worker_count()];
        // Of labels of the task: the logarithm of the odds, later the odds, and those of the other labels.
        let mut of_label = vec![[0.0; 2]; shares.len()];
        let mut odds = Vec::new();
        if let Some(kept) = &mut kept {
            kept.given.reserve_exact(self.labels.len());
            kept.tasks.reserve_exact(self.ends.len());
        }
        for (reports, labels) in self.tasks() {
            let mut said = 0.0;
            for label in labels.iter().map(|&label| usize::from(label)) {
                of_label[label][0] = log_shares[label];
                said += shares[label];
            }
            for (worker, label) in reports.iter() {
                of_label[usize::from(label)][0] += weights[worker as usize].log;
            }
            let logs = labels.iter().map(|&label| of_label[usize::from(label)][0]);
            let most = logs.clone().fold(f64::NEG_INFINITY, f64::max);
            odds.clear();
            odds.extend(logs.map(|log| (log - most).exp()));
            let unit = if most.is_finite() { (-most).exp() } else { 1.0 };
            let unsaid = unit * f64::max(1.0 - said, 0.0);
            if let Some(kept) = &mut kept {
                kept.push(reports, labels, &odds, [unit, unsaid]);
            }
            if reports.len() < 2 {
                continue;
            }
            for (place, &label) in labels.iter().enumerate() {
                let rest = (0..odds.len()).filter(|&l| l != place).map(|l| odds[l]);
                of_label[usize::from(label)] = [odds[place], rest.sum()];
            }
            for (worker, label) in reports.iter() {
                let [odds, rest] = of_label[usize::from(label)];
                let without = if counts_own { 1.0 } else { weights[worker as usize].without };
                let own = odds * without;
                sums[worker as usize] += units(own / (rest + own + unsaid));
            }
        }
        sums
    }
}

impl Part {
    fn push(
        &mut self,
        reports: Reports<'_>,
        labels: &[Label],
        odds: &[f64],
        [unit, unsaid]: [f64; 2],
    ) {
        let (start, count) = (self.given.len() as u32, reports.len() as u32);
        let given = labels.iter().zip(odds);
        self.given.extend(given.map(|(&label, &odds)| Given { odds, count: 0, label }));
        for label in reports.labels {
            let place = labels.binary_search(label).expect("the labels are those of the reports");
            self.given[start as usize + place].count += 1;
        }
        let labels = labels.len() as u32;
        self.tasks.push(OfTask { start, labels, reports: count, unit, unsaid });
    }
}

/// A probability, rounded to a whole number of units.
#[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
fn units(probability: f64) -> u64 {
    // By way of signed numbers, which the processor converts itself.
    (probability * UNITS) as i64 as u64
}
