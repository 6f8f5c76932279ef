//! Conditional mutual information by total variation: what two answers to a task share beyond
//! what an LLM says.
//!
//! `I(A; B | Z) = Σ_z P(z) Σ_{h,l} | P(A = h, B = l | z) - P(A = h | z) P(B = l | z) |`
//!
//! in `[0, 2)`, 0 if and only if A and B are independent given Z. Plug-in over the tasks where
//! all of A, B and Z exist, each task with equal weight: `P(z)` is the share of these tasks with
//! `Z = z`, `P(h, l | z)` the mean over them of the joint distribution on the task, the marginals
//! its sums. For two humans the joint distribution on a task is that of all ordered pairs of
//! different workers; for a human and an LLM, that of all reports with the label of the LLM.
//!
//! The plug-in is biased upwards, the more so the fewer tasks and the more labels. The *null* is
//! its mean when B is permuted over the tasks of each stratum, which keeps the marginals and
//! destroys the dependence. For two humans the roles A and B are exchangeable, so all labels of a
//! stratum are permuted over its reports.
//!
//! Section 5.2 of *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground Truth* (Zhang,
//! Pang, Zhu, Liu; NeurIPS 2025), with the definition of section 3.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and 2^16 labels"
)]

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::data::labels::{Label, LabelTable};

/// Pairs of answers A, B to the same tasks, by stratum of Z.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionalPairs {
    /// The task of each row; rows of a stratum stand together, tasks ascending inside.
    tasks: Vec<u32>,
    /// Rows of stratum `k` are `strata[k]..strata[k + 1]`.
    strata: Vec<u32>,
    /// Labels of row `r` are `offsets[r]..offsets[r + 1]` of A.
    offsets: Vec<u32>,
    /// A: levels below `a_levels`.
    a: Vec<u32>,
    a_levels: usize,
    b: SecondAnswer,
}

/// What B is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SecondAnswer {
    /// Another report of the same task in A.
    Peer,
    /// Labels of its own, of row `r` those of `order[r]`: `offsets[order[r]]..offsets[order[r] + 1]`.
    Other { offsets: Vec<u32>, labels: Vec<u32>, levels: usize, order: Vec<u32> },
}

/// Answers of an LLM, by task number.
type Answers<'a> = &'a [Option<Label>];

impl ConditionalPairs {
    /// Two humans: tasks with two reports or more.
    ///
    /// `z` has one entry per task of `table`; here and below a missing tail counts as `None`.
    pub(crate) fn humans(table: &LabelTable, z: Answers<'_>) -> Self {
        Self::humans_among(table, |_| true, z)
    }

    /// Two humans of one group: tasks with two reports of its workers or more.
    pub(crate) fn humans_among(
        table: &LabelTable,
        group: impl Fn(u32) -> bool,
        z: Answers<'_>,
    ) -> Self {
        Self::new(table_rows(table, 2, group), None, z)
    }

    /// A human of one group (A) and one of another that shares no worker with it (B): tasks with a
    /// report of either.
    pub(crate) fn human_groups(
        table: &LabelTable,
        a: impl Fn(u32) -> bool,
        b: impl Fn(u32) -> bool,
        z: Answers<'_>,
    ) -> Self {
        let mut second = vec![Vec::new(); table.task_count()];
        for (task, labels) in table_rows(table, 1, b) {
            second[task as usize] = labels;
        }
        Self::new(table_rows(table, 1, a), Some(&|task| &second[task as usize]), z)
    }

    /// A human (A) and an LLM (B): tasks with a report and a label of the LLM.
    pub(crate) fn human_and_llm(table: &LabelTable, llm: Answers<'_>, z: Answers<'_>) -> Self {
        Self::new(table_rows(table, 1, |_| true), Some(&|task| as_slice(llm, task)), z)
    }

    /// Two LLM answers.
    pub(crate) fn llms(a: Answers<'_>, b: Answers<'_>, z: Answers<'_>) -> Self {
        let rows = (0..a.len() as u32)
            .filter_map(|task| at(a, task).map(|label| (task, vec![label])))
            .collect();
        Self::new(rows, Some(&|task| as_slice(b, task)), z)
    }

    /// `second`: the labels of B on a task; without it B is another report of A.
    fn new<'a>(
        mut rows: Vec<(u32, Vec<Label>)>,
        second: Option<&dyn Fn(u32) -> &'a [Label]>,
        z: Answers<'_>,
    ) -> Self {
        rows.retain(|&(task, _)| {
            at(z, task).is_some() && second.is_none_or(|labels| !labels(task).is_empty())
        });
        // Stable, so that tasks stay ascending inside a stratum.
        rows.sort_by_key(|(task, _)| at(z, *task));
        let mut strata = vec![0];
        for (row, pair) in rows.windows(2).enumerate() {
            if at(z, pair[0].0) != at(z, pair[1].0) {
                strata.push(row as u32 + 1);
            }
        }
        if !rows.is_empty() {
            strata.push(rows.len() as u32);
        }
        let (offsets, a, a_levels) = levels(rows.iter().map(|(_, labels)| labels.as_slice()));
        let tasks: Vec<u32> = rows.iter().map(|&(task, _)| task).collect();
        let b = second.map_or(SecondAnswer::Peer, |second| {
            let (offsets, labels, levels) = levels(tasks.iter().map(|&task| second(task)));
            let order = (0..tasks.len() as u32).collect();
            SecondAnswer::Other { offsets, labels, levels, order }
        });
        Self { tasks, strata, offsets, a, a_levels, b }
    }

    /// Number of tasks where A, B and Z exist.
    pub(crate) fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// The plug-in value; `None` without a task.
    pub(crate) fn value(&self) -> Option<f64> {
        self.weighted_value(|_| 1.0)
    }

    /// The plug-in value when task `t` counts `weights[t]` times, as in a bootstrap sample of
    /// tasks; `None` if none counts.
    ///
    /// # Panics
    ///
    /// If a task has no weight.
    pub(crate) fn resampled_value(&self, weights: &[u32]) -> Option<f64> {
        self.weighted_value(|task| f64::from(weights[task as usize]))
    }

    /// One draw of the plug-in value under independence given Z; `None` without a task.
    pub(crate) fn permuted_value(&self, random: &mut ChaCha8Rng) -> Option<f64> {
        let mut permuted = self.clone();
        for stratum in self.strata.windows(2) {
            let rows = stratum[0] as usize..stratum[1] as usize;
            match &mut permuted.b {
                // What a task has stays together: reports of one task resemble each other.
                SecondAnswer::Other { order, .. } => order[rows].shuffle(random),
                SecondAnswer::Peer => {
                    let reports = self.offsets[rows.start]..self.offsets[rows.end];
                    permuted.a[reports.start as usize..reports.end as usize].shuffle(random);
                }
            }
        }
        permuted.value()
    }

    fn weighted_value(&self, weight: impl Fn(u32) -> f64) -> Option<f64> {
        let b_levels = match &self.b {
            SecondAnswer::Peer => self.a_levels,
            SecondAnswer::Other { levels, .. } => *levels,
        };
        let mut joint = Joint::new(self.a_levels, b_levels);
        let (mut sum, mut total) = (0.0, 0.0);
        for stratum in self.strata.windows(2) {
            joint.clear();
            for row in stratum[0] as usize..stratum[1] as usize {
                let weight = weight(self.tasks[row]);
                if weight > 0.0 {
                    self.add_row(row, weight, &mut joint);
                }
            }
            sum += joint.distance_from_independence();
            total += joint.total;
        }
        (total > 0.0).then(|| sum / total)
    }

    /// Adds the joint distribution on the task of a row, times `weight`.
    fn add_row(&self, row: usize, weight: f64, joint: &mut Joint) {
        let labels = &self.a[self.offsets[row] as usize..self.offsets[row + 1] as usize];
        let count = labels.len() as f64;
        joint.total += weight;
        match &self.b {
            SecondAnswer::Other { offsets, labels: b, order, .. } => {
                let row = order[row] as usize;
                let b = &b[offsets[row] as usize..offsets[row + 1] as usize];
                let each = weight / (count * b.len() as f64);
                for &label in labels {
                    b.iter().for_each(|&other| joint.add(label, other, each));
                }
            }
            SecondAnswer::Peer => {
                // Counts per label, since a task may have many reports: c[h] c[l] - 1[h = l] c[h].
                let each = weight / (count * (count - 1.0));
                let mut seen = std::mem::take(&mut joint.seen);
                for &label in labels {
                    if joint.counts[label as usize] == 0.0 {
                        seen.push(label);
                    }
                    joint.counts[label as usize] += 1.0;
                }
                for &h in &seen {
                    for &l in &seen {
                        let same = if h == l { 1.0 } else { 0.0 };
                        let pairs = joint.counts[h as usize] * (joint.counts[l as usize] - same);
                        joint.add(h, l, each * pairs);
                    }
                }
                for label in seen.drain(..) {
                    joint.counts[label as usize] = 0.0;
                }
                joint.seen = seen;
            }
        }
    }
}

/// Weights of pairs of levels in one stratum, with room for the counts of one task.
struct Joint {
    b_levels: usize,
    weights: Vec<f64>,
    total: f64,
    counts: Vec<f64>,
    seen: Vec<u32>,
}

impl Joint {
    fn new(a_levels: usize, b_levels: usize) -> Self {
        Self {
            b_levels,
            weights: vec![0.0; a_levels * b_levels],
            total: 0.0,
            counts: vec![0.0; a_levels],
            seen: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.weights.fill(0.0);
        self.total = 0.0;
    }

    fn add(&mut self, a: u32, b: u32, weight: f64) {
        self.weights[a as usize * self.b_levels + b as usize] += weight;
    }

    /// `total * Σ_{h,l} | P(h, l) - P(h) P(l) |`, 0 if empty.
    fn distance_from_independence(&self) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let rows = self.weights.chunks_exact(self.b_levels);
        let mut columns = vec![0.0; self.b_levels];
        for row in rows.clone() {
            columns.iter_mut().zip(row).for_each(|(column, weight)| *column += weight);
        }
        rows.map(|row| {
            let share = row.iter().sum::<f64>() / self.total;
            row.iter().zip(&columns).map(|(joint, b)| (joint - share * b).abs()).sum::<f64>()
        })
        .sum()
    }
}

fn at(answers: Answers<'_>, task: u32) -> Option<Label> {
    answers.get(task as usize).copied().flatten()
}

/// The label of a task, or none.
fn as_slice(answers: Answers<'_>, task: u32) -> &[Label] {
    answers.get(task as usize).map_or(&[], Option::as_slice)
}

/// Tasks with at least `least` reports by workers of a group, with the labels.
fn table_rows(
    table: &LabelTable,
    least: usize,
    group: impl Fn(u32) -> bool,
) -> Vec<(u32, Vec<Label>)> {
    let of = |task| table.of_task(task).iter().filter(|&(worker, _)| group(worker));
    (0..table.task_count() as u32)
        .map(|task| (task, of(task).map(|(_, label)| label).collect::<Vec<_>>()))
        .filter(|(_, labels)| labels.len() >= least)
        .collect()
}

/// Labels of all rows, renumbered from 0 without gaps: where each row begins, the labels, and how many
/// different ones there are.
fn levels<'a>(rows: impl Iterator<Item = &'a [Label]>) -> (Vec<u32>, Vec<u32>, usize) {
    let (mut offsets, mut labels) = (vec![0], Vec::new());
    for row in rows {
        labels.extend_from_slice(row);
        offsets.push(labels.len() as u32);
    }
    let mut used = labels.clone();
    used.sort_unstable();
    used.dedup();
    let level = |label: &Label| used.partition_point(|other| other < label) as u32;
    (offsets, labels.iter().map(level).collect(), used.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::numbered;
    use super::super::tests::random_crowd;
    use super::*;
    use crate::stats::seed::stream;

    /// `(task weight, z, a, b)` of every pair, weights of a task adding up to 1.
    type Pairs = Vec<(f64, Label, Label, Label)>;

    /// The definition, one probability at a time.
    fn by_definition(pairs: &Pairs) -> Option<f64> {
        let mass = |keep: &dyn Fn(Label, Label, Label) -> bool| -> f64 {
            pairs.iter().filter(|&&(_, z, a, b)| keep(z, a, b)).map(|pair| pair.0).sum()
        };
        let total = mass(&|_, _, _| true);
        let strata: std::collections::BTreeSet<Label> = pairs.iter().map(|p| p.1).collect();
        let largest = pairs.iter().map(|p| p.2.max(p.3)).max()?;
        let mut sum = 0.0;
        for k in strata {
            let stratum = mass(&|z, _, _| z == k);
            for h in 0..=largest {
                for l in 0..=largest {
                    let joint = mass(&|z, a, b| z == k && a == h && b == l) / stratum;
                    let a = mass(&|z, a, _| z == k && a == h) / stratum;
                    let b = mass(&|z, _, b| z == k && b == l) / stratum;
                    sum += stratum / total * (joint - a * b).abs();
                }
            }
        }
        Some(sum)
    }

    /// All pairs of different workers, the first of one group and the second of the other.
    fn human_pairs(
        table: &LabelTable,
        z: &[Option<Label>],
        groups: [&dyn Fn(u32) -> bool; 2],
    ) -> Pairs {
        let mut pairs = Pairs::new();
        for task in 0..table.task_count() as u32 {
            let Some(k) = z[task as usize] else { continue };
            let mut here = Vec::new();
            for (i, a) in table.of_task(task).iter().filter(|report| groups[0](report.0)) {
                for (j, b) in table.of_task(task).iter().filter(|report| groups[1](report.0)) {
                    if i != j {
                        here.push((k, a, b));
                    }
                }
            }
            let each = 1.0 / here.len() as f64;
            pairs.extend(here.into_iter().map(|(k, a, b)| (each, k, a, b)));
        }
        pairs
    }

    fn llm_pairs(table: &LabelTable, llm: &[Option<Label>], z: &[Option<Label>]) -> Pairs {
        let mut pairs = Pairs::new();
        for report in table.reports() {
            let task = report.task as usize;
            let count = table.of_task(report.task).len() as f64;
            if let (Some(b), Some(k)) = (llm[task], z[task]) {
                pairs.push((1.0 / count, k, report.label, b));
            }
        }
        pairs
    }

    fn assert_same(got: Option<f64>, want: Option<f64>) -> Result<(), TestCaseError> {
        prop_assert_eq!(got.is_some(), want.is_some());
        prop_assert!((got.unwrap_or(0.0) - want.unwrap_or(0.0)).abs() < 1e-12, "{got:?} {want:?}");
        prop_assert!(got.is_none_or(|value| (0.0..2.0).contains(&value)));
        Ok(())
    }

    proptest! {
        #[test]
        fn every_kind_of_pair_equals_the_definition(crowd in random_crowd(), shift in 0..3_usize) {
            let (table, z) = (&crowd.table, &crowd.z);
            assert_same(
                ConditionalPairs::humans(table, z).value(),
                by_definition(&human_pairs(table, z, [&|_| true; 2])),
            )?;
            let (first, second) = (|worker: u32| worker < 2, |worker: u32| worker >= 2);
            assert_same(
                ConditionalPairs::humans_among(table, first, z).value(),
                by_definition(&human_pairs(table, z, [&first, &first])),
            )?;
            assert_same(
                ConditionalPairs::human_groups(table, first, second, z).value(),
                by_definition(&human_pairs(table, z, [&first, &second])),
            )?;
            let mut llm = z.clone();
            llm.rotate_left(shift.min(z.len()));
            assert_same(
                ConditionalPairs::human_and_llm(table, &llm, z).value(),
                by_definition(&llm_pairs(table, &llm, z)),
            )?;
            let mut other = llm.clone();
            other.reverse();
            let both: Pairs = (0..z.len())
                .filter_map(|q| Some((1.0, z[q]?, llm[q]?, other[q]?)))
                .collect();
            let value = ConditionalPairs::llms(&llm, &other, z).value();
            assert_same(value, by_definition(&both))?;
            assert_same(ConditionalPairs::llms(&other, &llm, z).value(), value)?;
        }

        #[test]
        fn whole_weights_are_repeated_tasks(
            crowd in random_crowd(),
            draws in proptest::collection::vec(0..8_u32, 1..10),
        ) {
            let tasks: Vec<u32> =
                draws.iter().map(|draw| draw % crowd.table.task_count() as u32).collect();
            let mut weights = vec![0; crowd.table.task_count()];
            for &task in &tasks {
                weights[task as usize] += 1;
            }
            let z: Vec<Option<Label>> = tasks.iter().map(|&task| crowd.z[task as usize]).collect();
            assert_same(
                ConditionalPairs::humans(&crowd.table, &crowd.z).resampled_value(&weights),
                ConditionalPairs::humans(&crowd.table.on_tasks(&tasks), &z).value(),
            )?;
        }

        #[test]
        fn permuting_keeps_what_is_conditioned_on(crowd in random_crowd(), seed in 0..100_u64) {
            // With one task per stratum there is nothing to permute for an LLM.
            let z: Vec<Option<Label>> = (0..).map(Some).take(crowd.z.len()).collect();
            let pairs = ConditionalPairs::human_and_llm(&crowd.table, &crowd.z, &z);
            prop_assert_eq!(pairs.permuted_value(&mut stream(seed, "test", 0)), pairs.value());
        }
    }

    #[test]
    fn a_value_by_hand() {
        // z = 0: tasks 0 and 1, a = b = 0 and a = b = 1: |1/2 - 1/4| in 4 cells = 1.
        // z = 1: task 2: one certain pair, 0. P(z) = 2/3, 1/3.
        let a = [Some(0), Some(1), Some(0), Some(1)];
        let z = [Some(0), Some(0), Some(1), None];
        let pairs = ConditionalPairs::llms(&a, &a, &z);
        assert_eq!(pairs.task_count(), 3);
        assert!((pairs.value().unwrap() - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn independent_answers_share_nothing() {
        // Every combination of a and b once in each stratum.
        let (mut a, mut b, mut z) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..2 {
            for h in 0..3 {
                for l in 0..2 {
                    a.push(Some(h));
                    b.push(Some(l));
                    z.push(Some(k));
                }
            }
        }
        assert!(ConditionalPairs::llms(&a, &b, &z).value().unwrap() < 1e-15);
        // Without Z they share nothing either; given their own label nothing is left to share.
        assert!(ConditionalPairs::llms(&a, &a, &a).value().unwrap() < 1e-15);
    }

    #[test]
    fn missing_overlap_and_single_reports_have_no_value() {
        let table = numbered((2, 2, 2), &[(0, 0, 0), (1, 1, 1)]);
        let z = [Some(0), None];
        assert_eq!(ConditionalPairs::humans(&table, &z).value(), None);
        assert_eq!(ConditionalPairs::human_and_llm(&table, &[None, Some(1)], &z).value(), None);
        let empty = ConditionalPairs::llms(&[], &[], &z);
        assert_eq!(empty.value(), None);
        assert_eq!(empty.permuted_value(&mut stream(0, "test", 0)), None);
        assert_eq!(empty.resampled_value(&[0, 0]), None);
    }

    #[test]
    fn the_null_of_independent_reports_is_their_value() {
        // Five workers guess among three labels: I is 0, and the plug-in differs from it by its
        // bias. Mean plug-in over 60 crowds against mean null; the spread of one plug-in value is
        // measured, so the bound is 4 standard errors of the mean difference.
        let mut differences = Vec::new();
        for crowd in 0..60 {
            let mut random = stream(9, "test", crowd);
            let mut reports = Vec::new();
            for task in 0..40_u32 {
                for worker in 0..5 {
                    reports.push((task, worker, rand::RngExt::random_range(&mut random, 0..3)));
                }
            }
            let table = numbered((40, 5, 3), &reports);
            let z: Vec<Option<Label>> = (0..40).map(|task| Some(task % 2)).collect();
            let pairs = ConditionalPairs::humans(&table, &z);
            let null: f64 =
                (0..20).map(|_| pairs.permuted_value(&mut random).unwrap()).sum::<f64>() / 20.0;
            differences.push(pairs.value().unwrap() - null);
        }
        let mean = differences.iter().sum::<f64>() / 60.0;
        let variance = crate::stats::interval::sample_variance(&differences).unwrap();
        assert!(mean.abs() < 4.0 * (variance / 60.0).sqrt(), "{mean}");
    }
}
