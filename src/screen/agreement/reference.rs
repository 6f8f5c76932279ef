//! What the labels are held against: gold, people, or another source.

use std::collections::{BTreeMap, BTreeSet};

use super::error::AgreementError;
use super::settings::GoldBy;
use super::work::labels_of;
use crate::data::labellers::{Labeller, Labellings};
use crate::data::scale::Scale;

/// Labels of tasks by ascending task.
pub(super) type Labels = Vec<(u32, usize)>;

/// Labels to hold others against.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    /// Its name in the column `against`.
    pub(super) name: String,
    /// The labels.
    pub(super) labels: Labels,
    /// Who is held against it: names and labels.
    pub(super) against_it: Vec<(String, Labels)>,
}

/// What the labels of a run are held against.
pub(super) struct References {
    /// Every one.
    pub(super) all: Vec<Reference>,
    /// Tasks without gold since several labels tie, in one of the references at least.
    pub(super) ties: usize,
    /// The scale, with the means of people in it.
    pub(super) scale: Scale,
    /// Whether every gold label is one that a source can give; not so where it is a mean between
    /// labels.
    pub(super) are_labels: bool,
}

/// The references of a run.
///
/// # Errors
///
/// If means are asked for and labels have no order.
pub(super) fn references(
    data: &Labellings,
    scale: Scale,
    gold_by: GoldBy,
) -> Result<References, AgreementError> {
    let middle: fn(&[f64]) -> f64 = match gold_by {
        GoldBy::Mean => |sorted| sorted.iter().sum::<f64>() / sorted.len() as f64,
        GoldBy::Median => |sorted| {
            let half = sorted.len() / 2;
            if sorted.len() % 2 == 1 {
                sorted[half]
            } else {
                (sorted[half - 1] + sorted[half]) / 2.0
            }
        },
        GoldBy::Majority | GoldBy::Each | GoldBy::LeaveOneOut => {
            let (all, ties) = of_labels(data, &scale, gold_by);
            return Ok(References { all, ties, scale, are_labels: true });
        }
    };
    if data.gold.len() < 2 {
        let (all, ties) = of_labels(data, &scale, GoldBy::Majority);
        return Ok(References { all, ties, scale, are_labels: true });
    }
    let Some(values) = &scale.values else {
        let what = "the mean or median of people";
        return Err(AgreementError::NoNumbers { what });
    };
    let mut of_task: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for person in &data.gold {
        for (task, label) in labels_of(&scale, person) {
            of_task.entry(task).or_default().push(values[label]);
        }
    }
    let gold: Vec<(u32, f64)> = of_task
        .into_iter()
        .map(|(task, mut numbers)| {
            // In order, so that a mean does not depend on who gives which label.
            numbers.sort_by(f64::total_cmp);
            (task, middle(&numbers))
        })
        .collect();
    let more: Vec<f64> = gold.iter().map(|(_, number)| *number).collect();
    let labels = scale.len();
    let scale = scale.with_numbers(&more);
    let labels_of_gold = gold
        .into_iter()
        .filter_map(|(task, number)| Some((task, scale.at_value(number)?)))
        .collect();
    let name = if gold_by == GoldBy::Mean { "mean" } else { "median" };
    let against_it = data.labellers.iter().map(|l| named(l, &scale)).collect();
    let all = vec![Reference { name: name.into(), labels: labels_of_gold, against_it }];
    let are_labels = scale.len() == labels;
    Ok(References { all, ties: 0, scale, are_labels })
}

/// References whose gold labels are labels of people, and the number of tasks without one since
/// several tie.
fn of_labels(data: &Labellings, scale: &Scale, gold_by: GoldBy) -> (Vec<Reference>, usize) {
    let sources: Vec<(String, Labels)> = data.labellers.iter().map(|l| named(l, scale)).collect();
    let one = |name: &str, labels, against_it| Reference { name: name.into(), labels, against_it };
    match (data.gold.as_slice(), gold_by) {
        ([], _) => (each_other(&sources), 0),
        ([gold], _) => (vec![one("gold", labels_of(scale, gold), sources)], 0),
        (people, GoldBy::Majority | GoldBy::Mean | GoldBy::Median) => {
            let (labels, ties) = majority(people.iter(), scale);
            (vec![one("majority", labels, sources)], ties.len())
        }
        (people, GoldBy::Each) => {
            let of =
                |person: &Labeller| one(&person.name, labels_of(scale, person), sources.clone());
            (people.iter().map(of).collect(), 0)
        }
        (people, GoldBy::LeaveOneOut) => {
            let mut all_ties = BTreeSet::new();
            let without = |left: &Labeller| {
                let others = people.iter().filter(|other| other.name != left.name);
                let (mut labels, ties) = majority(others, scale);
                // Where the person has no label, person and source cannot be compared.
                let (name, own) = named(left, scale);
                let has = |task: u32| own.binary_search_by_key(&task, |(task, _)| *task).is_ok();
                labels.retain(|&(task, _)| has(task));
                all_ties.extend(ties.into_iter().filter(|&task| has(task)));
                let mut against_it = sources.clone();
                against_it.push((name, own));
                one(&format!("all but {}", left.name), labels, against_it)
            };
            let references = people.iter().map(without).collect();
            (references, all_ties.len())
        }
    }
}

fn named(labeller: &Labeller, scale: &Scale) -> (String, Labels) {
    (labeller.name.clone(), labels_of(scale, labeller))
}

/// Without gold every source is held against those after it.
fn each_other(sources: &[(String, Labels)]) -> Vec<Reference> {
    let last = sources.len().saturating_sub(1);
    (0..last)
        .map(|index| Reference {
            name: sources[index].0.clone(),
            labels: sources[index].1.clone(),
            against_it: sources[index + 1..].to_vec(),
        })
        .collect()
}

/// The most frequent label of each task, and the tasks where several tie.
fn majority<'a>(people: impl Iterator<Item = &'a Labeller>, scale: &Scale) -> (Labels, Vec<u32>) {
    let mut votes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for person in people {
        for (task, label) in labels_of(scale, person) {
            votes.entry(task).or_insert_with(|| vec![0; scale.len()])[label] += 1;
        }
    }
    let mut ties = Vec::new();
    let mut labels = Vec::with_capacity(votes.len());
    for (task, counts) in votes {
        let most = counts.iter().copied().max().unwrap_or(0);
        let mut winners = (0..counts.len()).filter(|&label| counts[label] == most);
        match (winners.next(), winners.next()) {
            (Some(label), None) => labels.push((task, label)),
            _ => ties.push(task),
        }
    }
    (labels, ties)
}
