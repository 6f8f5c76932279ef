//! The scoring function T of correlated agreement: which pairs of labels count as agreement.
//!
//! `T[h, l, k] = 1` if workers who report h see their peers report l more often than chance, given
//! that Z is k: `D[h, l, k] = P(h, l | k) - P(h | k) P(l | k) > 0`. Estimated from all pairs of
//! reports on a task, every task of the stratum with at least two reports weighing the same
//! (Algorithm 2 of the paper), or given by the user.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::chunks::task_chunks;
use crate::data::labels::{Label, LabelTable};

/// Differences up to here are rounding, not correlation.
const CORRELATION_THRESHOLD: f64 = 1e-12;

/// Where T comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ScoringFunction {
    /// From the reports themselves.
    #[default]
    Estimated,
    /// From the user.
    Given(GivenScores),
    /// From the places of the labels on a scale, from 0 to 1 by number: 1 less their distance, so that a
    /// near miss is not a miss.
    Ordered(Arc<[f64]>),
}

/// How much two labels agree: 1 where they are the same, else 0, or on a scale 1 less their distance.
pub(crate) fn agreement(places: Option<&[f64]>, a: Label, b: Label) -> f64 {
    match places {
        None => f64::from(u8::from(a == b)),
        Some(places) => 1.0 - (places[usize::from(a)] - places[usize::from(b)]).abs(),
    }
}

/// Written as `estimated`, `given` or `ordered`; what was given is among the inputs of a run.
impl Serialize for ScoringFunction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Estimated => "estimated",
            Self::Given(_) => "given",
            Self::Ordered(_) => "ordered",
        })
    }
}

/// Reads `estimated`; what is given has to be read from where it is.
impl<'de> Deserialize<'de> for ScoringFunction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "estimated" => Ok(Self::Estimated),
            "given" | "ordered" => {
                Err(serde::de::Error::custom("a given scoring function is not part of it"))
            }
            _ => Err(serde::de::Error::custom("a scoring function is `estimated` or `given`")),
        }
    }
}

/// A known scoring function: a value per pair of labels, 0 where nothing is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GivenScores {
    entries: Vec<GivenScore>,
}

/// One value of a known scoring function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GivenScore {
    /// Label of the scored worker.
    pub label: Label,
    /// Label of the peer.
    pub peer_label: Label,
    /// Z label for which it holds; `None` for all.
    pub z: Option<Label>,
    /// The score, finite.
    pub value: f64,
}

impl GivenScores {
    /// Collects the values; of two for the same pair and Z the later one counts.
    pub(crate) fn new(entries: Vec<GivenScore>) -> Self {
        Self { entries }
    }

    /// The matrix for one stratum, of these labels in ascending order: values without Z first, then
    /// those for this Z label.
    fn matrix(&self, z: Label, labels: &[Label]) -> ScoreMatrix {
        let classes = labels.len();
        let mut values = vec![0.0; classes * classes];
        let general = self.entries.iter().filter(|entry| entry.z.is_none());
        let special = self.entries.iter().filter(|entry| entry.z == Some(z));
        for entry in general.chain(special) {
            let place = |label| labels.binary_search(&label).ok();
            if let (Some(row), Some(column)) = (place(entry.label), place(entry.peer_label)) {
                values[row * classes + column] = entry.value;
            }
        }
        ScoreMatrix { classes, values }
    }
}

impl ScoringFunction {
    /// T of one stratum.
    pub(crate) fn matrix(&self, table: &LabelTable, tasks: &[u32], z: Label) -> ScoreMatrix {
        let all: Vec<Label> = (0..=Label::MAX).take(table.label_count()).collect();
        self.matrix_of(table, tasks, z, &all)
    }

    /// The same where the labels of `table` stand for `labels`, ascending, of which `z` is one or
    /// not.
    pub(crate) fn matrix_of(
        &self,
        table: &LabelTable,
        tasks: &[u32],
        z: Label,
        labels: &[Label],
    ) -> ScoreMatrix {
        match self {
            Self::Estimated => Joint::estimate(table, tasks).signs(),
            Self::Given(given) => given.matrix(z, labels),
            Self::Ordered(places) => {
                let row = |&h: &Label| labels.iter().map(move |&l| agreement(Some(places), h, l));
                let values = labels.iter().flat_map(row).collect();
                ScoreMatrix { classes: labels.len(), values }
            }
        }
    }
}

/// T of one stratum: rows the label of the scored worker, columns that of the peer.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreMatrix {
    pub(crate) classes: usize,
    /// By the number of the label, then that of the peer.
    pub values: Vec<f64>,
}

impl ScoreMatrix {
    pub(crate) fn get(&self, label: Label, peer_label: Label) -> f64 {
        self.values[usize::from(label) * self.classes + usize::from(peer_label)]
    }
}

/// Distribution of one report and of a pair of reports on the same task, within a stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    pub(super) classes: usize,
    /// `P(h, l | k)`, row-major and symmetric.
    pub(super) pairs: Vec<f64>,
    /// `P(h | k)`.
    pub(super) singles: Vec<f64>,
}

/// Whether two labels meet more often than by chance: `D > 0` but for rounding.
pub(super) fn correlated(together: f64, apart: f64) -> bool {
    together - apart > CORRELATION_THRESHOLD
}

impl Joint {
    /// Estimates both from the tasks with at least two reports; all zero if there is none.
    pub(crate) fn estimate(table: &LabelTable, tasks: &[u32]) -> Self {
        let (mut joint, used) = Self::totals(table, tasks);
        if used > 0 {
            let tasks = used as f64;
            joint.pairs.iter_mut().chain(&mut joint.singles).for_each(|sum| *sum /= tasks);
        }
        joint
    }

    /// The same as sums over the tasks with at least two reports, and how many these are.
    pub(super) fn totals(table: &LabelTable, tasks: &[u32]) -> (Self, u64) {
        let parts: Vec<(Self, u64)> = task_chunks(table, tasks)
            .into_par_iter()
            .map(|tasks| Self::sums(table, tasks))
            .collect();
        let mut joint = Self::zero(table.label_count());
        let mut used = 0;
        for (part, tasks) in parts {
            used += tasks;
            let sums = joint.pairs.iter_mut().chain(&mut joint.singles);
            sums.zip(part.pairs.iter().chain(&part.singles)).for_each(|(sum, part)| *sum += part);
        }
        (joint, used)
    }

    /// The same from counts of ordered pairs of labels by two workers: number of reports of the
    /// task (2 or more), label, label of the peer, count; of `tasks` tasks.
    ///
    /// Single labels need no counts of their own: the rows of the pair distribution sum to theirs.
    pub fn of_counts(
        classes: usize,
        tasks: u64,
        counts: impl IntoIterator<Item = (u64, usize, usize, u64)>,
    ) -> Self {
        let mut joint = Self::zero(classes);
        let tasks = tasks as f64;
        for (reports, label, peer_label, count) in counts {
            let reports = reports as f64;
            let share = count as f64 / (reports * (reports - 1.0)) / tasks;
            joint.pairs[label * classes + peer_label] += share;
            joint.singles[label] += share;
        }
        joint
    }

    fn zero(classes: usize) -> Self {
        Self { classes, pairs: vec![0.0; classes * classes], singles: vec![0.0; classes] }
    }

    /// Sums over the tasks with at least two reports, and how many these are.
    fn sums(table: &LabelTable, tasks: &[u32]) -> (Self, u64) {
        let classes = table.label_count();
        let mut joint = Self::zero(classes);
        let mut counts = LabelCounts::new(classes);
        let mut used = 0_u64;
        for &task in tasks {
            let labels = table.of_task(task).labels;
            if labels.len() < 2 {
                continue;
            }
            used += 1;
            let reports = labels.len() as f64;
            let (per_report, per_pair) = (1.0 / reports, 1.0 / (reports * (reports - 1.0)));
            counts.count(labels);
            for (index, &(h, of_h)) in counts.present().iter().enumerate() {
                let (row, of_h) = (usize::from(h) * classes, f64::from(of_h));
                joint.singles[usize::from(h)] += of_h * per_report;
                joint.pairs[row + usize::from(h)] += of_h * (of_h - 1.0) * per_pair;
                for &(l, of_l) in &counts.present()[..index] {
                    let both = of_h * f64::from(of_l) * per_pair;
                    joint.pairs[row + usize::from(l)] += both;
                    joint.pairs[usize::from(l) * classes + usize::from(h)] += both;
                }
            }
        }
        (joint, used)
    }

    /// T: 1 where two labels meet more often than by chance.
    pub fn signs(&self) -> ScoreMatrix {
        let values = (0..self.classes * self.classes)
            .map(|index| {
                let (h, l) = (index / self.classes, index % self.classes);
                f64::from(correlated(self.pairs[index], self.singles[h] * self.singles[l]))
            })
            .collect();
        ScoreMatrix { classes: self.classes, values }
    }
}

/// Counts of the labels of one task; clearing costs as much as counting, not as many classes.
pub(crate) struct LabelCounts {
    /// Position in `present` plus one, by label; 0 if absent.
    position: Vec<u32>,
    present: Vec<(Label, u32)>,
}

impl LabelCounts {
    pub(crate) fn new(classes: usize) -> Self {
        Self { position: vec![0; classes], present: Vec::new() }
    }

    /// Replaces the counts by those of `labels`.
    pub(crate) fn count(&mut self, labels: &[Label]) {
        for (label, _) in self.present.drain(..) {
            self.position[usize::from(label)] = 0;
        }
        for &label in labels {
            let position = &mut self.position[usize::from(label)];
            if *position == 0 {
                self.present.push((label, 1));
                *position = self.present.len() as u32;
            } else {
                self.present[*position as usize - 1].1 += 1;
            }
        }
    }

    /// The labels that occur, with their counts, in order of first occurrence.
    pub(crate) fn present(&self) -> &[(Label, u32)] {
        &self.present
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::tests::table;
    use crate::mechanism::tests::random_crowd;
    use proptest::prelude::*;

    #[test]
    fn joint_distribution_of_two_tasks_by_hand() {
        // q: x x y, r: x y, s: one report, left out. P(x) = (2/3 + 1/2) / 2 = 7/12.
        // P(x, x) = (2 * 1 / 6 + 0) / 2 = 1/6, P(x, y) = (2 * 1 / 6 + 1 / 2) / 2 = 5/12.
        let table = table(&[
            ("q", "a", "x"),
            ("q", "b", "x"),
            ("q", "c", "y"),
            ("r", "a", "x"),
            ("r", "b", "y"),
            ("s", "c", "y"),
        ]);
        let joint = Joint::estimate(&table, &[0, 1, 2]);
        let expected = [1.0 / 6.0, 5.0 / 12.0, 5.0 / 12.0, 0.0];
        for (got, want) in joint.pairs.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{got} {want}");
        }
        assert!((joint.singles[0] - 7.0 / 12.0).abs() < 1e-15);
        // D(x, x) = 1/6 - 49/144 < 0, D(x, y) = 5/12 - 35/144 > 0, D(y, y) < 0.
        assert_eq!(joint.signs().values, [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn on_a_scale_a_near_miss_is_half_a_miss() {
        // Of three labels 0, 1/2, 1: in the part with the first and the last only, 1 and 0.
        let table = table(&[("q", "a", "x"), ("q", "b", "y"), ("r", "a", "z")]);
        let function = ScoringFunction::Ordered([0.0, 0.5, 1.0].into());
        let all = [1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0];
        assert_eq!(function.matrix(&table, &[0, 1], 0).values, all);
        assert_eq!(function.matrix_of(&table, &[0], 0, &[0, 2]).values, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!((agreement(None, 1, 1), agreement(None, 1, 2)), (1.0, 0.0));
    }

    #[test]
    fn a_given_function_may_depend_on_z() {
        let entry = |z, value| GivenScore { label: 1, peer_label: 0, z, value };
        let given = GivenScores::new(vec![entry(Some(2), 0.5), entry(None, 1.0)]);
        assert_eq!(given.matrix(0, &[0, 1]).values, [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(given.matrix(2, &[0, 1]).values, [0.0, 0.0, 0.5, 0.0]);
    }

    proptest! {
        #[test]
        fn rows_of_the_pair_distribution_sum_to_the_single_one(crowd in random_crowd()) {
            let table = &crowd.table;
            let tasks: Vec<u32> = (0..table.task_count() as u32).collect();
            let joint = Joint::estimate(table, &tasks);
            for h in 0..joint.classes {
                let row = &joint.pairs[h * joint.classes..(h + 1) * joint.classes];
                prop_assert!((row.iter().sum::<f64>() - joint.singles[h]).abs() < 1e-12);
            }
        }
    }
}
