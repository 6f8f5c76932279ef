//! Two labellings of the same items: two sources, or one source earlier and now.

use super::error::AgreementError;
use super::panel::MOST_CLASSES;
use super::reference::{Labels, Reference};
use super::settings::Compare;
use super::work::{Row, Work, joined, labels_of};
use crate::data::labellers::Labeller;
use crate::data::progress::NoProgress;
use crate::data::warning::{Warning, first_names};
use crate::metrics::agreement::Confusion;
use crate::metrics::agreement::bootstrap::{ClusterCounts, interval};
use crate::metrics::agreement::paired::{Permutations, exchangeable, holm, mcnemar};

/// What changed in the labels of a source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// The source.
    pub source: String,
    /// Rows the earlier label, columns the label now, over the tasks that have both.
    pub moved: Confusion,
}

/// A source of the earlier labels that is gone, or has no label now for some of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The source.
    pub source: String,
    /// Tasks that it labelled, all of which it has lost if it is gone.
    pub earlier: usize,
    /// Those without a label now, by name.
    pub tasks: Vec<String>,
    /// Sources that were not there earlier: one may be this one under a new name. Empty unless it
    /// is gone.
    pub new: Vec<String>,
    /// Whether there is no source of this name now.
    pub is_gone: bool,
}

impl Lost {
    /// What was lost, as a sentence.
    pub(crate) fn to_warning(&self) -> Warning {
        let Self { source, earlier, tasks, new, is_gone } = self;
        let count = tasks.len();
        if !is_gone {
            let names = first_names(tasks);
            let message =
                format!("`{source}` has no label now for {count} of its {earlier} tasks: {names}");
            return Warning::new("tasks_gone", count, message);
        }
        let renamed = match new.as_slice() {
            [] => String::new(),
            new => format!(" (new are {}: was it renamed?)", first_names(new)),
        };
        Warning::new(
            "source_gone",
            count,
            format!("`{source}` is gone since the earlier labels{renamed}"),
        )
    }
}

/// What the earlier labels have and those of now do not.
pub(super) fn lost(work: &Work<'_>) -> Vec<Lost> {
    let (now, since) = (&work.data.labellers, &work.data.since);
    let is_in = |name: &str, all: &[Labeller]| all.iter().any(|labeller| labeller.name == name);
    let of = |earlier: &Labeller| -> Option<Lost> {
        let labels = labels_of(work.scale, earlier);
        let found = now.iter().find(|labeller| labeller.name == earlier.name);
        let kept = found.map_or_else(Vec::new, |labeller| labels_of(work.scale, labeller));
        let is_kept = |task: u32| kept.binary_search_by_key(&task, |(task, _)| *task).is_ok();
        let tasks: Vec<String> = labels
            .iter()
            .filter(|(task, _)| !is_kept(*task))
            .map(|(task, _)| work.data.tasks[*task as usize].clone())
            .collect();
        let is_gone = found.is_none();
        let new = now.iter().filter(|labeller| is_gone && !is_in(&labeller.name, since));
        (is_gone || !tasks.is_empty()).then(|| Lost {
            source: earlier.name.clone(),
            earlier: labels.len(),
            tasks,
            new: new.map(|labeller| labeller.name.clone()).collect(),
            is_gone,
        })
    };
    since.iter().filter_map(of).collect()
}

/// The tasks of gold that both label.
fn common(gold: &Labels, first: &Labels, second: &Labels) -> Labels {
    let both: Labels = joined(gold, first).map(|(task, gold, _)| (task, gold)).collect();
    joined(&both, second).map(|(task, gold, _)| (task, gold)).collect()
}

/// A paired comparison of two labellings of the same items.
pub(super) struct Paired {
    pub(super) gold: Labels,
    pub(super) first: ClusterCounts,
    pub(super) second: ClusterCounts,
    pub(super) differences: Vec<Option<f64>>,
    pub(super) intervals: Vec<Option<(f64, f64)>>,
}

impl Work<'_> {
    pub(super) fn permutations(&self) -> Permutations {
        Permutations { draws: self.settings.permutations, seed: self.settings.seed }
    }

    /// First minus second, of every metric.
    pub(super) fn paired(
        &self,
        reference: &Reference,
        first: &Labels,
        second: &Labels,
    ) -> Result<Paired, AgreementError> {
        let gold = common(&reference.labels, first, second);
        let (first, second) = (self.counts(&gold, first), self.counts(&gold, second));
        let difference = |one: &Confusion, other: &Confusion| -> Vec<Option<f64>> {
            let (one, other) = (self.panel.of(one), self.panel.of(other));
            one.into_iter().zip(other).map(|(a, b)| Some(a? - b?)).collect()
        };
        let draws = self.draws(&NoProgress, |weights| {
            difference(&first.weighted(weights), &second.weighted(weights))
        })?;
        let differences = difference(&first.total(), &second.total());
        let of =
            |metric: usize| interval(&draws.iter().map(|draw| draw[metric]).collect::<Vec<_>>());
        let intervals = (0..differences.len()).map(of).collect();
        Ok(Paired { gold, first, second, differences, intervals })
    }
}

/// Every pair of sources that is asked for: paired differences, and tests of none.
pub(super) fn comparisons(
    work: &Work<'_>,
    reference: &Reference,
) -> Result<Vec<Row>, AgreementError> {
    let pairs = pairs(work, reference)?;
    let progress = work.observer.stage("comparing", pairs.len() as u64);
    let permutations = work.permutations();
    let mut rows: Vec<Vec<Row>> = Vec::new();
    let names = work.panel.names();
    // Per metric, and last McNemar's, the p-value of every pair.
    let mut p_values: Vec<Vec<Option<f64>>> = vec![Vec::new(); names.len() + 1];
    for &((a, first), (b, second)) in &pairs {
        work.go_on()?;
        let paired = work.paired(reference, first, second)?;
        let items = paired.gold.len() as u64;
        let both = (&paired.first, &paired.second);
        let found = exchangeable(both, permutations, &NoProgress, |matrix| work.panel.of(matrix));
        let right = |labels: &Labels| -> Vec<bool> {
            let class = |label: usize| work.panel.class(label);
            joined(&paired.gold, labels).map(|(_, gold, l)| class(gold) == class(l)).collect()
        };
        let (right_a, right_b) = (right(first), right(second));
        let only = |one: &[bool], other: &[bool]| {
            one.iter().zip(other).filter(|(one, other)| **one && !**other).count() as u64
        };
        let exact =
            (items > 0).then(|| mcnemar(only(&right_a, &right_b), only(&right_b, &right_a)));
        let mut of_pair = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let mut row = Row::new(a, b, format!("difference:{name}"), items);
            row.interval = paired.intervals[index];
            of_pair.push(row.with(paired.differences[index]));
            of_pair.push(Row::new(a, b, format!("p_permutation:{name}"), items).with(found[index]));
            p_values[index].push(found[index]);
        }
        of_pair.push(Row::new(a, b, "p_mcnemar", items).with(exact));
        p_values[names.len()].push(exact);
        rows.push(of_pair);
        progress.advance(1);
    }
    let labelled = names.iter().map(|name| format!("p_permutation_holm:{name}"));
    for (metric, p_values) in labelled.chain(["p_mcnemar_holm".to_owned()]).zip(&p_values) {
        for (of_pair, adjusted) in rows.iter_mut().zip(holm(p_values)) {
            let Row { source, against, items, .. } = of_pair[0].clone();
            of_pair.push(Row::new(&source, &against, metric.clone(), items).with(adjusted));
        }
    }
    Ok(rows.into_iter().flatten().collect())
}

type Named = (String, Labels);

fn pairs<'a>(
    work: &Work<'_>,
    reference: &'a Reference,
) -> Result<Vec<(&'a Named, &'a Named)>, AgreementError> {
    let sources = &reference.against_it;
    let find = |name: &String| {
        sources.iter().find(|(known, _)| known == name).ok_or_else(|| {
            AgreementError::UnknownSource { name: name.clone(), known: names_of(sources) }
        })
    };
    match &work.settings.compare {
        Compare::None => Ok(Vec::new()),
        Compare::Pairs(pairs) => pairs.iter().map(|(a, b)| Ok((find(a)?, find(b)?))).collect(),
        Compare::All => {
            let after =
                |index: usize| sources[index + 1..].iter().map(move |b| (&sources[index], b));
            Ok((0..sources.len()).flat_map(after).collect())
        }
    }
}

fn names_of(sources: &[Named]) -> String {
    first_names(&sources.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
}

/// What changed since the earlier labels: labels, the matrix against gold, every metric.
pub(super) fn changes(
    work: &Work<'_>,
    reference: &Reference,
) -> Result<(Vec<Row>, Vec<Change>), AgreementError> {
    let (mut rows, mut changes) = (Vec::new(), Vec::new());
    let names = &work.scale.names;
    for (source, now) in &reference.against_it {
        let Some(earlier) = work.data.since.iter().find(|labeller| labeller.name == *source) else {
            continue;
        };
        let earlier = labels_of(work.scale, earlier);
        let against = reference.name.as_str();
        let both = joined(&earlier, now).map(|(_, earlier, now)| (earlier, now));
        let moved = Confusion::of_pairs(names.len(), both);
        let changed = moved.accuracy().map(|same| 1.0 - same);
        rows.push(Row::new(source, against, "changed", moved.total()).with(changed));
        let listed = names.len() <= MOST_CLASSES;
        let moves = moved
            .rows()
            .enumerate()
            .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &count)| (i, j, count)));
        for (i, j, count) in moves.filter(|&(i, j, count)| listed && i != j && count > 0) {
            let metric = format!("moved:{}:{}", names[i], names[j]);
            rows.push(Row::new(source, against, metric, moved.total()).with(Some(count as f64)));
        }
        let paired = work.paired(reference, now, &earlier)?;
        let items = paired.gold.len() as u64;
        let (after, before) = (paired.first.total(), paired.second.total());
        for (gold, gold_name) in names.iter().enumerate() {
            for (label, label_name) in names.iter().enumerate() {
                let change = after.count(gold, label) as f64 - before.count(gold, label) as f64;
                if listed && change != 0.0 {
                    let metric = format!("change:count:{gold_name}:{label_name}");
                    rows.push(Row::new(source, against, metric, items).with(Some(change)));
                }
            }
        }
        for (index, name) in work.panel.names().iter().enumerate() {
            let mut row = Row::new(source, against, format!("change:{name}"), items);
            row.interval = paired.intervals[index];
            rows.push(row.with(paired.differences[index]));
        }
        changes.push(Change { source: source.clone(), moved });
    }
    Ok((rows, changes))
}
