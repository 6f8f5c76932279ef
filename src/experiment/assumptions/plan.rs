//! All values that are computed, with their nulls, replicates and intervals.

use std::collections::BTreeSet;

use rand::RngExt;
use rayon::prelude::*;

use super::AssumptionSettings;
use super::found::Measured;
use crate::data::labels::{Label, LabelTable};
use crate::data::progress::Progress;
use crate::data::z::ZSource;
use crate::mechanism::ConditionalPairs;
use crate::stats::interval::{CONFIDENCE, sample_variance};
use crate::stats::rank::{mean, quantile};
use crate::stats::seed::stream;

/// What each side of the interval behind a verdict leaves out.
const VERDICT_TAIL: f64 = 0.01;

/// Most kinds of workers that are told apart.
const MOST_KINDS: usize = 5;

/// Two kinds of workers, the same one twice or two different ones, with the worker numbers of each.
type KindPair = (String, [Vec<bool>; 2]);

/// What stands before the first `/` of the names of workers, if all have one and there are 2 to
/// [`MOST_KINDS`]: each kind with itself, then each with each.
pub(super) fn kind_pairs(table: &LabelTable) -> Vec<KindPair> {
    let names = table.workers().names().iter().map(|name| Some(name.split_once('/')?.0));
    let Some(of) = names.collect::<Option<Vec<&str>>>() else { return Vec::new() };
    let kinds: Vec<&str> = of.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if !(2..=MOST_KINDS).contains(&kinds.len()) {
        return Vec::new();
    }
    let members = |kind: &str| of.iter().map(|other| *other == kind).collect::<Vec<bool>>();
    let same = kinds.iter().map(|kind| ((*kind).to_owned(), [members(kind), members(kind)]));
    let different = kinds.iter().enumerate().flat_map(|(index, first)| {
        let pair = |second: &&str| (format!("{first}+{second}"), [members(first), members(second)]);
        kinds[index + 1..].iter().map(pair).collect::<Vec<_>>()
    });
    same.chain(different).collect()
}

/// The pairs of people of each pair of kinds.
fn of_kinds<'a>(
    table: &'a LabelTable,
    kinds: &'a [KindPair],
    z: &'a [Option<Label>],
) -> impl Iterator<Item = (String, ConditionalPairs)> + 'a {
    kinds.iter().map(move |(name, [a, b])| {
        let (first, second) = (|worker| a[worker as usize], |worker| b[worker as usize]);
        let pairs = if a == b {
            ConditionalPairs::humans_among(table, first, z)
        } else {
            ConditionalPairs::human_groups(table, first, second, z)
        };
        (name.clone(), pairs)
    })
}

/// All values to compute, and who needs which.
pub(super) struct Plan {
    pairs: Vec<ConditionalPairs>,
    pub(super) sources: Vec<PlannedSource>,
}

/// Positions in [`Plan::pairs`].
pub(super) struct PlannedSource {
    pub(super) humans: usize,
    kinds: Vec<(String, usize)>,
    /// Cheater and human, two cheaters; by cheater.
    pub(super) cheaters: Vec<(Option<usize>, Option<usize>)>,
}

impl PlannedSource {
    pub(super) fn kinds(&self, measured: &[Measured]) -> Vec<(String, Measured)> {
        self.kinds.iter().map(|(name, index)| (name.clone(), measured[*index])).collect()
    }
}

impl Plan {
    pub(super) fn new(table: &LabelTable, sources: &[ZSource]) -> Self {
        let kinds = kind_pairs(table);
        let mut pairs = Vec::new();
        let mut push = |value| {
            pairs.push(value);
            pairs.len() - 1
        };
        let sources = sources
            .iter()
            .enumerate()
            .map(|(index, source)| {
                let z = sample(source, 0).unwrap_or(&[]);
                let humans = push(ConditionalPairs::humans(table, z));
                let cheaters = sources
                    .iter()
                    .enumerate()
                    .map(|(other, cheater)| {
                        // Z takes the first sample of its LLM, the first cheater the second.
                        let own = usize::from(other == index);
                        let with_human = sample(cheater, own).map(|answers| {
                            push(ConditionalPairs::human_and_llm(table, answers, z))
                        });
                        let with_llm = sample(source, 1)
                            .zip(sample(cheater, 2 * own))
                            .map(|(a, b)| push(ConditionalPairs::llms(a, b, z)));
                        (with_human, with_llm)
                    })
                    .collect();
                let kinds = of_kinds(table, &kinds, z).map(|(name, value)| (name, push(value)));
                PlannedSource { humans, kinds: kinds.collect(), cheaters }
            })
            .collect();
        Self { pairs, sources }
    }

    /// The same without Z: one stratum of all tasks.
    pub(super) fn unconditional(table: &LabelTable, sources: &[ZSource]) -> Self {
        let z = vec![Some(0); table.task_count()];
        let mut pairs = vec![ConditionalPairs::humans(table, &z)];
        let mut push = |value| {
            pairs.push(value);
            pairs.len() - 1
        };
        let cheaters = sources
            .iter()
            .map(|source| {
                let with_human = sample(source, 0)
                    .map(|answers| push(ConditionalPairs::human_and_llm(table, answers, &z)));
                let both = sample(source, 0).zip(sample(source, 1));
                (with_human, both.map(|(a, b)| push(ConditionalPairs::llms(a, b, &z))))
            })
            .collect();
        let kinds = kind_pairs(table);
        let kinds = of_kinds(table, &kinds, &z).map(|(name, value)| (name, push(value))).collect();
        Self { pairs, sources: vec![PlannedSource { humans: 0, kinds, cheaters }] }
    }

    /// Every value with its null and interval, and its replicates.
    pub(super) fn measured(
        &self,
        tasks: usize,
        settings: &AssumptionSettings,
        progress: &dyn Progress,
    ) -> (Vec<Measured>, Vec<Vec<Option<f64>>>) {
        let nulls = self.nulls(settings, progress);
        let replicates = self.replicates(tasks, settings, progress);
        let measured = |(index, (pairs, null)): (usize, (&ConditionalPairs, Option<f64>))| {
            let column: Vec<f64> = replicates.iter().filter_map(|row| row[index]).collect();
            let value = pairs.value();
            let measured = Measured {
                n_tasks: pairs.task_count(),
                value,
                null,
                bias: bias(value, null, &column),
                interval: None,
            };
            let interval = measured.excess().and_then(|excess| centered_interval(excess, &column));
            Measured { interval, ..measured }
        };
        let measured = self.pairs.iter().zip(nulls).enumerate().map(measured).collect();
        (measured, replicates)
    }

    /// Mean over permutations of each value.
    fn nulls(&self, settings: &AssumptionSettings, progress: &dyn Progress) -> Vec<Option<f64>> {
        self.pairs
            .par_iter()
            .enumerate()
            .map(|(index, pairs)| {
                let mut random = stream(settings.seed, "assumptions null", index as u64);
                let sum: Option<f64> =
                    (0..settings.permutations).map(|_| pairs.permuted_value(&mut random)).sum();
                progress.advance(1);
                sum.filter(|_| settings.permutations > 0)
                    .map(|sum| sum / f64::from(settings.permutations))
            })
            .collect()
    }

    /// Row-major replicate by value: every value on the tasks that the replicate drew.
    fn replicates(
        &self,
        tasks: usize,
        settings: &AssumptionSettings,
        progress: &dyn Progress,
    ) -> Vec<Vec<Option<f64>>> {
        (0..settings.replicates)
            .into_par_iter()
            .map(|replicate| {
                let mut random =
                    stream(settings.seed, "assumptions bootstrap", u64::from(replicate));
                let mut weights = vec![0_u32; tasks];
                for _ in 0..tasks {
                    weights[random.random_range(0..tasks)] += 1;
                }
                let values =
                    self.pairs.iter().map(|pairs| pairs.resampled_value(&weights)).collect();
                progress.advance(1);
                values
            })
            .collect()
    }
}

pub(super) fn sample(source: &ZSource, index: usize) -> Option<&[Option<Label>]> {
    source.samples.get(index).map(|sample| sample.labels.as_slice())
}

/// Estimated bias of a plug-in value: see the head of [`super`].
pub(super) fn bias(value: Option<f64>, null: Option<f64>, replicates: &[f64]) -> Option<f64> {
    let (value, null, center) = (value?, null?, mean(replicates)?);
    let above = (value - null).max(0.0).powi(4);
    let noise = 16.0 * sample_variance(replicates)?.powi(2);
    let weight = if above > 0.0 { above / (above + noise) } else { 0.0 };
    Some(weight * (center - value) + (1.0 - weight) * null)
}

/// Percentile interval of bootstrap `replicates`, moved so that their mean is `estimate`.
///
/// `None` for fewer than two replicates.
pub(super) fn centered_interval(estimate: f64, replicates: &[f64]) -> Option<(f64, f64)> {
    interval_between(estimate, replicates, (1.0 - CONFIDENCE) / 2.0)
}

/// The interval behind a verdict: wider, because percentile intervals are too narrow in small
/// crowds, where 95 % ones said `holds` falsely in 3.5 % of crowds.
pub(super) fn verdict_interval(estimate: f64, replicates: &[f64]) -> Option<(f64, f64)> {
    interval_between(estimate, replicates, VERDICT_TAIL)
}

fn interval_between(estimate: f64, replicates: &[f64], tail: f64) -> Option<(f64, f64)> {
    let mut sorted = replicates.to_vec();
    if sorted.len() < 2 {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let shift = estimate - sorted.iter().sum::<f64>() / sorted.len() as f64;
    Some((quantile(&sorted, tail)? + shift, quantile(&sorted, 1.0 - tail)? + shift))
}
