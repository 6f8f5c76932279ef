//! What the crowd says of each task: counts of its labels, and how probable each is by the others.
//!
//! Every worker is right with a probability of their own, else says each other label equally often
//! (one-coin Dawid-Skene); that probability is the mean, over the worker's tasks, of how probable
//! the *others* make the worker's label. So nobody vouches for themselves, and no LLM is asked.

use rayon::prelude::*;

use crate::data::labels::{Label, LabelTable};

/// Rounds of the fit. Ten and forty gave the same flags.
const ROUNDS: usize = 10;

/// Reports of an average worker that are added to a worker's own.
const SHRINKAGE: f64 = 4.0;

/// Bounds of the probability of being right: nobody is believed without limit.
const SKILL: [f64; 2] = [0.02, 0.99];

/// What is said of all tasks.
#[derive(Debug)]
pub(super) struct Said {
    /// Where the labels of each task begin, and the end of the last.
    offsets: Vec<u32>,
    labels: Vec<Label>,
    counts: Vec<u32>,
    /// By the same places: how probable the label is, up to a factor of the task.
    odds: Vec<f64>,
    tasks: Vec<Odds>,
    /// By label: share of the reports, each label half a report more than it has.
    pub(super) shares: Vec<f64>,
    /// By worker: what the odds of a label lose with the worker's report.
    without: Vec<f64>,
    /// Share of pairs of reports on one task that are equal.
    equal_pairs: f64,
}

/// Of one task, in the unit of its odds.
#[derive(Debug, Clone, Copy, Default)]
struct Odds {
    /// Of the labels that somebody gave.
    said: f64,
    /// Of a label that nobody gave and that has the share 1.
    unit: f64,
    /// Of all labels that nobody gave.
    unsaid: f64,
}

/// One report, and what the others say of its task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    said: &'a Said,
    pub(super) task: u32,
    pub(super) own: Label,
    labels: &'a [Label],
    counts: &'a [u32],
    odds: &'a [f64],
    of_task: Odds,
    /// Factor of the odds of `own` without the worker's report.
    without: f64,
    /// How many others there are, at least one.
    pub(super) others: f64,
    /// Odds of all labels by the others.
    all: f64,
}

impl<'a> Heard<'a> {
    /// Labels of the task with the number of others who gave them.
    pub(super) fn counts(self) -> impl Iterator<Item = (Label, f64)> + Clone + 'a {
        let own = self.own;
        let others = move |(&label, &count): (&Label, &u32)| {
            (label, f64::from(count - u32::from(label == own)))
        };
        self.labels.iter().zip(self.counts).map(others)
    }

    /// How many of the others gave this label.
    pub(super) fn count(self, label: Label) -> f64 {
        let place = self.labels.iter().position(|&l| l == label);
        place.map_or(0.0, |place| f64::from(self.counts[place] - u32::from(label == self.own)))
    }

    /// How probable the others make this label.
    pub(super) fn probability(self, label: Label) -> f64 {
        let odds = match self.labels.iter().position(|&l| l == label) {
            Some(place) if label == self.own => self.odds[place] * self.without,
            Some(place) => self.odds[place],
            None => self.of_task.unit * self.said.shares[usize::from(label)],
        };
        odds / self.all
    }

    /// Share of equal pairs of reports on one task, over all tasks.
    pub(super) fn equal_pairs(self) -> f64 {
        self.said.equal_pairs
    }

    /// The probability that another person gives this label: the others' labels, and one report
    /// more by the shares of the crowd.
    pub(super) fn person(self, label: Label) -> f64 {
        (self.count(label) + self.said.shares[usize::from(label)]) / (self.others + 1.0)
    }
}

impl Said {
    pub(super) fn new(table: &LabelTable) -> Self {
        let tasks = table.task_count();
        let (mut offsets, mut labels, mut counts) = (Vec::with_capacity(tasks + 1), vec![], vec![]);
        let mut totals = vec![0.0; table.label_count()];
        let (mut equal, mut pairs) = (0.0, 0.0);
        offsets.push(0);
        let mut sorted: Vec<Label> = Vec::new();
        for task in 0..tasks as u32 {
            let reports = table.of_task(task).labels;
            sorted.clear();
            sorted.extend(reports);
            sorted.sort_unstable();
            for run in sorted.chunk_by(|a, b| a == b) {
                let count = run.len() as f64;
                labels.push(run[0]);
                counts.push(run.len() as u32);
                totals[usize::from(run[0])] += count;
                equal += count * (count - 1.0);
            }
            let count = reports.len() as f64;
            pairs += count * (count - 1.0);
            offsets.push(labels.len() as u32);
        }
        let all = totals.iter().sum::<f64>() + totals.len() as f64 / 2.0;
        let shares = totals.iter().map(|total| (total + 0.5) / all).collect();
        let mut said = Self {
            offsets,
            odds: vec![1.0; labels.len()],
            labels,
            counts,
            tasks: vec![Odds::default(); tasks],
            shares,
            without: vec![1.0; table.worker_count()],
            equal_pairs: if pairs > 0.0 { equal / pairs } else { 0.0 },
        };
        said.fit(table);
        said
    }

    fn fit(&mut self, table: &LabelTable) {
        let mut sums = self.sums(table, |heard| heard.person(heard.own));
        for _ in 0..ROUNDS {
            let (sum, count) = sums.iter().fold((0.0, 0.0), |(a, b), [s, n]| (a + s, b + n));
            let average = if count > 0.0 { sum / count } else { 0.5 };
            let wrong_labels = (table.label_count() as f64 - 1.0).max(1.0);
            let weights: Vec<f64> = sums
                .iter()
                .map(|[right, count]| {
                    let skill = (right + SHRINKAGE * average) / (count + SHRINKAGE);
                    let skill = skill.clamp(SKILL[0], SKILL[1]);
                    (skill * wrong_labels / (1.0 - skill)).ln()
                })
                .collect();
            self.weigh(table, &weights);
            sums = self.right(table);
        }
    }

    /// By worker: the sum over tasks with others of how probable they make the label, and their number.
    pub(super) fn right(&self, table: &LabelTable) -> Vec<[f64; 2]> {
        self.sums(table, |heard| heard.probability(heard.own))
    }

    fn sums(&self, table: &LabelTable, of: impl Fn(Heard<'_>) -> f64 + Sync) -> Vec<[f64; 2]> {
        let one = |worker| {
            let add = |[sum, count]: [f64; 2], heard| [sum + of(heard), count + 1.0];
            self.of_worker(table, worker).fold([0.0; 2], add)
        };
        let workers = (0..table.worker_count() as u32).into_par_iter();
        workers.with_min_len(16).map(one).collect()
    }

    /// The odds of every label of every task where each report has the weight of its worker.
    fn weigh(&mut self, table: &LabelTable, weights: &[f64]) {
        let (offsets, labels, shares) = (&self.offsets, &self.labels, &self.shares);
        let mut rest = &mut self.odds[..];
        let mut rows = Vec::with_capacity(self.tasks.len());
        for pair in offsets.windows(2) {
            let (row, after) = rest.split_at_mut((pair[1] - pair[0]) as usize);
            rows.push(row);
            rest = after;
        }
        rows.into_par_iter().zip(&mut self.tasks).enumerate().with_min_len(512).for_each(
            |(task, (odds, of_task))| {
                let start = offsets[task] as usize;
                let labels = &labels[start..start + odds.len()];
                let mut unsaid = 1.0;
                for (odds, &label) in odds.iter_mut().zip(labels) {
                    let share = shares[usize::from(label)];
                    *odds = share.ln();
                    unsaid -= share;
                }
                for (worker, label) in table.of_task(task as u32).iter() {
                    if let Some(place) = labels.iter().position(|&l| l == label) {
                        odds[place] += weights[worker as usize];
                    }
                }
                let most = odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                odds.iter_mut().for_each(|odds| *odds = (*odds - most).exp());
                let unit = if most.is_finite() { (-most).exp() } else { 1.0 };
                let said = odds.iter().sum();
                *of_task = Odds { said, unit, unsaid: unit * f64::max(unsaid, 0.0) };
            },
        );
        self.without = weights.iter().map(|weight| (-weight).exp()).collect();
    }

    /// The reports of a worker on tasks that others answered, too.
    pub(super) fn of_worker<'a>(
        &'a self,
        table: &'a LabelTable,
        worker: u32,
    ) -> impl Iterator<Item = Heard<'a>> + Clone + 'a {
        let without = self.without[worker as usize];
        table.of_worker(worker).iter().filter_map(move |(task, own)| {
            let others = table.of_task(task).len() - 1;
            (others > 0).then(|| {
                let place = task as usize;
                let range = self.offsets[place] as usize..self.offsets[place + 1] as usize;
                let (labels, odds) = (&self.labels[range.clone()], &self.odds[range.clone()]);
                let of_task = self.tasks[place];
                let at = labels.iter().position(|&label| label == own).unwrap_or_default();
                let rest: f64 = (0..odds.len()).filter(|&l| l != at).map(|l| odds[l]).sum();
                Heard {
                    said: self,
                    task,
                    own,
                    labels,
                    counts: &self.counts[range],
                    odds,
                    of_task,
                    without,
                    others: others as f64,
                    all: rest + odds[at] * without + of_task.unsaid,
                }
            })
        })
    }

    /// Mean probability of the LLM's labels, each task as often as it has reports; `None` if none of
    /// its labels is one of the crowd's.
    pub(super) fn right_of(&self, table: &LabelTable, z: &[Option<Label>]) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (task, label) in (0..).zip(z) {
            let Some(label) = label.filter(|label| usize::from(*label) < self.shares.len()) else {
                continue;
            };
            let reports = table.of_task(task).len();
            if reports < 2 {
                continue;
            }
            let of_task = self.tasks[task as usize];
            let range =
                self.offsets[task as usize] as usize..self.offsets[task as usize + 1] as usize;
            let odds = match self.labels[range.clone()].iter().position(|&l| l == label) {
                Some(place) => self.odds[range][place],
                None => of_task.unit * self.shares[usize::from(label)],
            };
            sum += reports as f64 * odds / (of_task.said + of_task.unsaid);
            count += reports as f64;
        }
        (count > 0.0).then(|| sum / count)
    }
}
