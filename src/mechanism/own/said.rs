//! What the crowd says of each task: counts of its labels, and how probable each is by the others.
//!
//! Every worker is right with a probability of their own, else says each other label equally often
//! (one-coin Dawid-Skene); that probability is the mean, over the worker's tasks, of how probable
//! the *others* make the worker's label. So nobody vouches for themselves, and no LLM is asked.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::data::labels::{Label, LabelTable};

/// Rounds of the fit. Ten and forty gave the same flags.
const ROUNDS: usize = 10;

/// Reports of an average worker that are added to a worker's own.
const SHRINKAGE: f64 = 4.0;

/// Bounds of the probability of being right: nobody is believed without limit.
const SKILL: [f64; 2] = [0.02, 0.99];

/// Units of a sum of probabilities: sums of whole numbers are the same in any order, on any threads.
const UNITS: f64 = (1_u64 << 36) as f64;

/// What is said of all tasks.
#[derive(Debug)]
pub(super) struct Said {
    given: Vec<Given>,
    tasks: Vec<OfTask>,
    /// By label: share of the reports, each label half a report more than it has.
    pub(super) shares: Vec<f64>,
    log_shares: Vec<f64>,
    /// By worker: what the odds of a label lose with the worker's report.
    without: Vec<f64>,
    /// By worker: the sum over tasks with others of how probable they make the label, and their number.
    pub(super) right: Vec<[f64; 2]>,
    /// Share of pairs of reports on one task that are equal.
    equal_pairs: f64,
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
#[derive(Debug, Clone, Copy, Default)]
struct OfTask {
    start: u32,
    labels: u32,
    reports: u32,
    /// Of one that has the share 1.
    unit: f64,
    /// Of all.
    unsaid: f64,
}

/// One report, and what the others say of its task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    said: &'a Said,
    pub(super) task: u32,
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
        let mut said = Self {
            given: Vec::new(),
            tasks: Vec::with_capacity(table.task_count()),
            shares: vec![0.5; table.label_count()],
            log_shares: Vec::new(),
            without: Vec::new(),
            right: Vec::new(),
            equal_pairs: 0.0,
        };
        let (mut equal, mut pairs) = (0.0, 0.0);
        let mut sorted: Vec<Label> = Vec::new();
        for task in 0..table.task_count() as u32 {
            let reports = table.of_task(task).labels;
            let start = said.given.len() as u32;
            sorted.clear();
            sorted.extend(reports);
            sorted.sort_unstable();
            for run in sorted.chunk_by(|a, b| a == b) {
                let count = run.len() as f64;
                said.given.push(Given { odds: 0.0, count: run.len() as u32, label: run[0] });
                said.shares[usize::from(run[0])] += count;
                equal += count * (count - 1.0);
            }
            pairs += reports.len() as f64 * (reports.len() as f64 - 1.0);
            let labels = said.given.len() as u32 - start;
            let reports = reports.len() as u32;
            said.tasks.push(OfTask { start, labels, reports, ..OfTask::default() });
        }
        let all: f64 = said.shares.iter().sum();
        said.shares.iter_mut().for_each(|share| *share /= all);
        said.log_shares = said.shares.iter().map(|share| share.ln()).collect();
        said.equal_pairs = if pairs > 0.0 { equal / pairs } else { 0.0 };
        said.fit(table);
        said
    }

    fn fit(&mut self, table: &LabelTable) {
        let mut counts = vec![0.0; table.worker_count()];
        for (task, of_task) in (0..).zip(&self.tasks) {
            let others = if of_task.reports > 1 { 1.0 } else { 0.0 };
            table.of_task(task).others.iter().for_each(|&w| counts[w as usize] += others);
        }
        let all: f64 = counts.iter().sum();
        let mut weights = Vec::new();
        let mut sums = self.sums(table, None);
        for _ in 0..ROUNDS {
            let average = if all > 0.0 { sums.iter().sum::<f64>() / all } else { 0.5 };
            let wrong_labels = (table.label_count() as f64 - 1.0).max(1.0);
            weights = sums
                .iter()
                .zip(&counts)
                .map(|(right, count)| {
                    let skill = (right + SHRINKAGE * average) / (count + SHRINKAGE);
                    let skill = skill.clamp(SKILL[0], SKILL[1]);
                    (skill * wrong_labels / (1.0 - skill)).ln()
                })
                .collect::<Vec<f64>>();
            sums = self.sums(table, Some(&weights));
        }
        self.right = sums.into_iter().zip(counts).map(|(sum, count)| [sum, count]).collect();
        let mut odds = Vec::new();
        for task in 0..self.tasks.len() {
            let (unit, unsaid) = self.odds(table, task as u32, &weights, &mut odds);
            let of_task = &mut self.tasks[task];
            (of_task.unit, of_task.unsaid) = (unit, unsaid);
            let given = &mut self.given[of_task.start as usize..][..odds.len()];
            given.iter_mut().zip(&odds).for_each(|(given, odds)| given.odds = *odds);
        }
        self.without = weights.iter().map(|weight| (-weight).exp()).collect();
    }

    /// How often an answer is right, in the eyes of the others.
    pub(super) fn average_right(&self) -> f64 {
        let add = |[a, b]: [f64; 2], [sum, count]: &[f64; 2]| [a + sum, b + count];
        let [sum, count] = self.right.iter().fold([0.0; 2], add);
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn given(&self, task: u32) -> &[Given] {
        let OfTask { start, labels, .. } = self.tasks[task as usize];
        &self.given[start as usize..(start + labels) as usize]
    }

    /// Odds of the labels of a task where each report has the weight of its worker, into `odds`; those of an
    /// unsaid label of share 1, and of all unsaid ones.
    fn odds(
        &self,
        table: &LabelTable,
        task: u32,
        weights: &[f64],
        odds: &mut Vec<f64>,
    ) -> (f64, f64) {
        let given = self.given(task);
        odds.clear();
        odds.extend(given.iter().map(|given| self.log_shares[usize::from(given.label)]));
        let said: f64 = given.iter().map(|given| self.shares[usize::from(given.label)]).sum();
        let unsaid = (1.0 - said).max(0.0);
        for (worker, label) in table.of_task(task).iter() {
            if let Some(place) = given.iter().position(|given| given.label == label) {
                odds[place] += weights[worker as usize];
            }
        }
        let most = odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        odds.iter_mut().for_each(|odds| *odds = (*odds - most).exp());
        let unit = if most.is_finite() { (-most).exp() } else { 1.0 };
        (unit, unit * unsaid)
    }

    /// By worker: the sum over tasks with others of how probable they make the label, by their weights or,
    /// without, by their number.
    #[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
    fn sums(&self, table: &LabelTable, weights: Option<&[f64]>) -> Vec<f64> {
        let sums: Vec<AtomicU64> = (0..table.worker_count()).map(|_| AtomicU64::new(0)).collect();
        let without: Vec<f64> =
            weights.unwrap_or_default().iter().map(|weight| (-weight).exp()).collect();
        (0..self.tasks.len() as u32).into_par_iter().with_min_len(512).for_each_init(
            Vec::new,
            |odds, task| {
                let given = self.given(task);
                let others = f64::from(self.tasks[task as usize].reports) - 1.0;
                if others < 1.0 {
                    return;
                }
                let (_, unsaid) =
                    weights.map_or((0.0, 0.0), |weights| self.odds(table, task, weights, odds));
                for (worker, label) in table.of_task(task).iter() {
                    let Some(place) = given.iter().position(|given| given.label == label) else {
                        continue;
                    };
                    let right = if weights.is_some() {
                        let own = odds[place] * without[worker as usize];
                        let rest: f64 =
                            (0..odds.len()).filter(|&l| l != place).map(|l| odds[l]).sum();
                        own / (rest + own + unsaid)
                    } else {
                        let count = f64::from(given[place].count - 1);
                        (count + self.shares[usize::from(label)]) / (others + 1.0)
                    };
                    // Rounded to a whole number of units.
                    sums[worker as usize].fetch_add((right * UNITS) as u64, Ordering::Relaxed);
                }
            },
        );
        sums.into_iter().map(|sum| sum.into_inner() as f64 / UNITS).collect()
    }

    /// The reports of a worker on tasks that others answered, too.
    pub(super) fn of_worker<'a>(
        &'a self,
        table: &'a LabelTable,
        worker: u32,
    ) -> impl Iterator<Item = Heard<'a>> + Clone + 'a {
        let without = self.without[worker as usize];
        table.of_worker(worker).iter().filter_map(move |(task, own)| {
            let of_task = self.tasks[task as usize];
            (of_task.reports > 1).then(|| {
                let given = self.given(task);
                let odds = given
                    .iter()
                    .map(|one| if one.label == own { one.odds * without } else { one.odds });
                Heard {
                    said: self,
                    task,
                    own,
                    given,
                    unit: of_task.unit,
                    without,
                    others: f64::from(of_task.reports - 1),
                    all: odds.sum::<f64>() + of_task.unsaid,
                }
            })
        })
    }

    /// Mean probability of the LLM's labels, each task as often as it has reports; `None` if none of
    /// its labels is one of the crowd's.
    pub(super) fn right_of(&self, z: &[Option<Label>]) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (task, label) in (0..).zip(z) {
            let Some(label) = label.filter(|label| usize::from(*label) < self.shares.len()) else {
                continue;
            };
            let of_task = self.tasks[task as usize];
            if of_task.reports < 2 {
                continue;
            }
            let given = self.given(task);
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
