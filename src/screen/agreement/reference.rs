//! What the labels are held against: gold, people, or another source.

use std::collections::{BTreeMap, BTreeSet};

use super::scale::Scale;
use super::settings::People;
use crate::data::labellers::{Labeller, Labellings};

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

/// The references of a run, and the number of tasks without gold since several labels tie, in one of
/// the references at least.
pub(super) fn references(
    data: &Labellings,
    scale: &Scale,
    people: People,
) -> (Vec<Reference>, usize) {
    let sources: Vec<(String, Labels)> = data.labellers.iter().map(|l| named(l, scale)).collect();
    let one = |name: &str, labels, against_it| Reference { name: name.into(), labels, against_it };
    match (data.gold.as_slice(), people) {
        ([], _) => (each_other(&sources), 0),
        ([gold], _) => (vec![one("gold", scale.labels_of(gold), sources)], 0),
        (people, People::Majority) => {
            let (labels, ties) = majority(people.iter(), scale);
            (vec![one("majority", labels, sources)], ties.len())
        }
        (people, People::Each) => {
            let of =
                |person: &Labeller| one(&person.name, scale.labels_of(person), sources.clone());
            (people.iter().map(of).collect(), 0)
        }
        (people, People::LeaveOneOut) => {
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
    (labeller.name.clone(), scale.labels_of(labeller))
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
        for (task, label) in scale.labels_of(person) {
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
