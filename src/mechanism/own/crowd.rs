//! What the ghosts of a crowd answer: distributions of labels, and sums per task over them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::features::Sums;
use crate::data::labels::{Label, LabelTable};
use crate::mechanism::strata::Conditioning;

/// How often a constant ghost gives the most common label without looking.
pub(super) const CONSTANT: f64 = 0.9;

/// Least excess of the agreement of two people over that of the label shares, so that a crowd whose
/// tasks do not differ has a finite [`Crowd::prior`].
const LEAST_EXCESS: f64 = 1e-3;

/// What the features of all workers need.
pub(super) struct Crowd<'a> {
    pub(super) table: &'a LabelTable,
    pub(super) conditioning: &'a Conditioning,
    pub(super) others: &'a [Arc<[Option<Label>]>],
    /// Probabilities of the labels of a guess and of a constant answer.
    pub(super) blind: [Vec<f64>; 2],
    /// The most common label.
    pub(super) most: Label,
    /// Reports' worth of the label shares of the stratum in what is expected of a person on a task:
    /// the parameter of a Dirichlet distribution whose pairs agree as often as the crowd's.
    pub(super) prior: f64,
    /// Whether Z says anywhere what somebody says anywhere.
    pub(super) has_common_label: bool,
    /// Label shares of the tasks with the same Z.
    strata: BTreeMap<Label, Vec<f64>>,
    pub(super) tasks: Vec<TaskSums>,
}

/// Sums over the reports of one task, `c` the counts of the labels: of three distributions `d` (a
/// guess, a constant answer, the shares of the stratum) and of the counts themselves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskSums {
    /// Reports that equal Z.
    pub(super) agreeing: u32,
    /// `sum_l d[l] c[l]` and `sum_l d[l] c[l]^2`.
    pub(super) first: [f64; 3],
    pub(super) second: [f64; 3],
    /// `sum_l c[l]^2` and `sum_l c[l]^3`.
    pub(super) squares: f64,
    pub(super) cubes: f64,
}

impl<'a> Crowd<'a> {
    pub(super) fn new(
        table: &'a LabelTable,
        conditioning: &'a Conditioning,
        others: &'a [Arc<[Option<Label>]>],
    ) -> Self {
        let mut counts = vec![0_u64; table.label_count()];
        let mut strata: BTreeMap<Label, Vec<f64>> = BTreeMap::new();
        for task in 0..table.task_count() as u32 {
            let labels = table.of_task(task).labels;
            labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
            if let Some(z) = conditioning.label(task).filter(|_| labels.len() > 1) {
                let stratum = strata.entry(z).or_insert_with(|| vec![0.0; counts.len()]);
                labels.iter().for_each(|&label| stratum[usize::from(label)] += 1.0);
            }
        }
        let total = table.report_count().max(1) as f64;
        let guess: Vec<f64> = counts.iter().map(|&count| count as f64 / total).collect();
        for stratum in strata.values_mut() {
            // One report's worth of the whole crowd: no label is impossible.
            stratum.iter_mut().zip(&guess).for_each(|(count, share)| *count += share);
            let sum: f64 = stratum.iter().sum();
            stratum.iter_mut().for_each(|count| *count /= sum);
        }
        let mut constant = vec![(1.0 - CONSTANT) / counts.len().max(1) as f64; counts.len()];
        // Of several most common labels the first.
        let most = counts.iter().copied().max().unwrap_or(0);
        let most = counts.iter().position(|&count| count == most).unwrap_or(0);
        if let Some(probability) = constant.get_mut(most) {
            *probability += CONSTANT;
        }
        let blind = [guess, constant];
        let has_common_label =
            strata.keys().any(|&z| counts.get(usize::from(z)).is_some_and(|&count| count > 0));
        let mut crowd = Self {
            table,
            conditioning,
            others,
            blind,
            most: most as Label,
            prior: 0.0,
            has_common_label,
            strata,
            tasks: Vec::new(),
        };
        crowd.tasks = (0..table.task_count() as u32)
            .into_par_iter()
            .with_min_len(1024)
            .map(|task| crowd.sums(task))
            .collect();
        crowd.prior = crowd.fitted_prior();
        crowd
    }

    fn sums(&self, task: u32) -> TaskSums {
        self.sums_of(self.table.of_task(task).labels, self.conditioning.label(task))
    }

    /// The same over these labels only.
    pub(super) fn sums_of(&self, labels: &[Label], z: Option<Label>) -> TaskSums {
        let stratum = z.and_then(|z| self.strata.get(&z));
        let mut sums = TaskSums::default();
        for &label in labels {
            sums.agreeing += u32::from(Some(label) == z);
            let count = f64::from(count(labels, label));
            sums.squares += count;
            sums.cubes += count * count;
            let index = usize::from(label);
            let shares = stratum.map_or(0.0, |stratum| stratum[index]);
            let shares = [self.blind[0][index], self.blind[1][index], shares];
            for (number, d) in shares.into_iter().enumerate() {
                // A label with count c comes c times, each time with weight c / c.
                sums.first[number] += d;
                sums.second[number] += d * count;
            }
        }
        sums
    }

    /// From the share of pairs of reports on a task that agree, and the share that would if the
    /// tasks of a stratum did not differ.
    fn fitted_prior(&self) -> f64 {
        let (mut pairs, mut blind, mut tasks) = (0.0, 0.0, 0.0);
        for (task, sums) in (0..).zip(&self.tasks) {
            let n = self.table.of_task(task).len() as f64;
            if let Some(shares) = self.shares_of(task).filter(|_| n > 1.0) {
                pairs += (sums.squares - n) / (n * (n - 1.0));
                blind += shares.iter().map(|share| share * share).sum::<f64>();
                tasks += 1.0;
            }
        }
        if tasks == 0.0 {
            return 1.0;
        }
        (1.0 - pairs / tasks) / ((pairs - blind) / tasks).max(LEAST_EXCESS)
    }

    /// Label shares of the tasks with the same Z; `None` without Z.
    pub(super) fn shares_of(&self, task: u32) -> Option<&[f64]> {
        self.strata.get(&self.conditioning.label(task)?).map(Vec::as_slice)
    }

    /// Calls `visit` with task, Z and own label for each task that counts.
    pub(super) fn tasks_of(&self, worker: u32) -> impl Iterator<Item = (u32, Label, Label)> + '_ {
        self.table.of_worker(worker).iter().filter_map(|(task, label)| {
            let z = self.conditioning.label(task)?;
            (self.table.of_task(task).len() > 1).then_some((task, z, label))
        })
    }

    /// The same with the labels of the task, without those of the `twins` of the worker; a task that
    /// nobody else answered is left out.
    pub(super) fn answered<'s>(
        &'s self,
        worker: u32,
        twins: &'s [u32],
    ) -> impl Iterator<Item = Answered<'s>> + 's {
        self.tasks_of(worker).filter_map(move |(task, z, own)| {
            let reports = self.table.of_task(task);
            let labels = if twins.is_empty() {
                Cow::Borrowed(reports.labels)
            } else {
                let others =
                    reports.iter().filter(|(other, _)| twins.binary_search(other).is_err());
                Cow::Owned(others.map(|(_, label)| label).collect::<Vec<_>>())
            };
            (labels.len() > 1).then_some(Answered { task, z, own, labels })
        })
    }

    /// Log of how much likelier the labels of a worker are as guesses than as a constant answer. Both
    /// may agree with Z and with others equally often; the labels themselves tell them apart.
    pub(super) fn log_odds_of_guess(&self, worker: u32) -> f64 {
        let odds = |label: Label| {
            let label = usize::from(label);
            self.blind[0][label].ln() - self.blind[1][label].ln()
        };
        self.tasks_of(worker).map(|(_, _, label)| odds(label)).sum()
    }
}

/// A task of a worker.
pub(super) struct Answered<'a> {
    pub(super) task: u32,
    pub(super) z: Label,
    /// What the worker said.
    pub(super) own: Label,
    /// What everybody said who counts, the worker included.
    pub(super) labels: Cow<'a, [Label]>,
}

impl Answered<'_> {
    /// Share of the others with `label`.
    pub(super) fn share(&self, label: Label) -> f64 {
        let same = count(&self.labels, label) - u32::from(self.own == label);
        f64::from(same) / (self.labels.len() - 1) as f64
    }

    /// Adds what somebody who says `answer` has on this task.
    pub(super) fn push(&self, answer: Label, sums: &mut Sums) {
        let equal = f64::from(u8::from(answer == self.z));
        sums.push([equal, self.share(self.z), self.share(answer)], [0.0; 3]);
    }
}

pub(super) fn count(labels: &[Label], label: Label) -> u32 {
    labels.iter().map(|&other| u32::from(other == label)).sum()
}
