//! Z: the labels that the principal's LLMs gave to the tasks of a crowd.

use std::cmp::Ordering;

use super::ids::Ids;
use super::labels::Label;

/// Labels of all LLMs on the tasks of a [`super::labels::LabelTable`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZLabels {
    /// The LLMs, in order of files, inside a file of names.
    pub sources: Vec<ZSource>,
    /// Names of all labels: the label set S of the table under the same numbers, then the labels
    /// that only Z (or the truth) has. A label outside S makes a stratum of its own.
    pub labels: Ids,
}

/// What one LLM said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZSource {
    /// Name of the LLM: the column `source`, else the name of the file.
    pub name: String,
    /// Independent answers of the same LLM to the same tasks, at least one, in the order of
    /// [`by_name`] where they come from a file.
    pub samples: Vec<ZSample>,
}

/// One answer of one LLM per task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZSample {
    /// The column `sample`; empty if there is none.
    pub name: String,
    /// Label of each task, by task number; `None` where the LLM gave none.
    pub labels: Vec<Option<Label>>,
}

impl ZSource {
    /// The label to condition on, by task: that of the first sample that has one, first in the
    /// order of their names ([`by_name`]), wherever they stand.
    ///
    /// Samples are independent draws of the same LLM, so that a later one may stand in where an
    /// earlier one is missing; the others tell how much the LLM varies.
    pub(crate) fn conditioning(&self) -> Vec<Option<Label>> {
        let mut samples: Vec<&ZSample> = self.samples.iter().collect();
        samples.sort_by(|a, b| by_name(&a.name, &b.name));
        let Some((first, others)) = samples.split_first() else { return Vec::new() };
        let mut labels = first.labels.clone();
        for sample in others {
            for (label, other) in labels.iter_mut().zip(&sample.labels) {
                *label = label.or(*other);
            }
        }
        labels
    }
}

/// The order of samples: numbers by their value before other names by their code points.
pub fn by_name(a: &str, b: &str) -> Ordering {
    let number = |name: &str| name.parse::<u64>().ok();
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_sample_stands_in_where_the_first_is_missing() {
        let sample = |name: &str, labels: &[Option<Label>]| ZSample {
            name: name.into(),
            labels: labels.to_vec(),
        };
        let mut source = ZSource {
            name: "gpt".into(),
            samples: vec![
                sample("2", &[Some(1), None, None]),
                sample("10", &[Some(0), Some(2), None]),
            ],
        };
        assert_eq!(source.conditioning(), [Some(1), Some(2), None]);
        // Their order in the file does not matter.
        source.samples.reverse();
        assert_eq!(source.conditioning(), [Some(1), Some(2), None]);
    }

    #[test]
    fn samples_are_in_the_order_of_their_numbers_then_of_their_names() {
        let mut names = ["b", "10", "", "2", "02", "a"];
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(names, ["02", "2", "10", "", "a", "b"]);
    }
}
