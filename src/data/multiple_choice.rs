//! Sets of labels as one question a label: does it apply?

use std::collections::{BTreeMap, BTreeSet};

use super::Labels;
use super::ids::Ids;
use super::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::error::{Error, ErrorKind, Result};

/// Separators of a set, the first that stands in any label.
const SEPARATORS: [char; 3] = [';', '|', ','];

impl Labels {
    /// Splits every label into the labels of a set, a JSON list or names between `;`, `|` or `,` (the
    /// first of these that occurs anywhere), and every task into one task a label that people gave,
    /// `task/label`, of which everybody who answered the task says `yes` or `no`. The order in a set does
    /// not matter, nor does case unless labels are exact.
    ///
    /// # Errors
    ///
    /// If there would be 2^32 labels or more.
    pub(crate) fn split_choices(mut self) -> Result<Self> {
        let names = self.z.labels.names();
        let separator = SEPARATORS
            .into_iter()
            .find(|separator| names.iter().any(|name| name.contains(*separator)));
        let exact = self.reading.exact_labels;
        let key = |choice: &str| {
            let choice = choice.trim();
            if exact { choice.to_owned() } else { choice.to_lowercase() }
        };
        let sets: Vec<Vec<String>> = names.iter().map(|name| choices(name, separator)).collect();
        // Each choice of the crowd by its key, in the first spelling of their order.
        let mut shown: BTreeMap<String, &str> = BTreeMap::new();
        for choice in sets[..self.table.label_count()].iter().flatten() {
            shown
                .entry(key(choice))
                .and_modify(|name| *name = (*name).min(choice))
                .or_insert(choice);
        }
        let keyed: Vec<BTreeSet<String>> =
            sets.iter().map(|set| set.iter().map(|choice| key(choice)).collect()).collect();
        let count = shown.len();
        let too_many = || Error::new(ErrorKind::Input, "the sets make 2^32 labels or more");
        u32::try_from(self.table.report_count().saturating_mul(count)).map_err(|_| too_many())?;
        let has: Vec<Vec<Label>> = keyed
            .iter()
            .map(|set| shown.keys().map(|key| Label::from(set.contains(key))).collect())
            .collect();
        let mut tasks = Ids::new();
        for task in self.table.tasks().names() {
            for choice in shown.values() {
                tasks.intern(&format!("{task}/{choice}"));
            }
        }
        if tasks.len() != self.table.task_count() * count {
            return Err(Error::new(
                ErrorKind::Input,
                "two tasks have the same name once the label is behind it; rename tasks that end in \
                 `/` and a label",
            ));
        }
        let number =
            |count: usize| u32::try_from(count).expect("a table has fewer than 2^32 tasks");
        let of = |task: u32, place: usize| task * number(count) + number(place);
        let mut reports = Vec::with_capacity(self.table.report_count() * count);
        for report in self.table.reports() {
            for (place, &label) in has[usize::from(report.label)].iter().enumerate() {
                reports.push(LabelReport { task: of(report.task, place), label, ..report });
            }
        }
        let labels: Ids = ["no", "yes"].iter().collect();
        let spread = |slots: &[Option<Label>]| -> Vec<Option<Label>> {
            let each = |slot: &Option<Label>| -> Vec<Option<Label>> {
                match slot {
                    Some(label) => has[usize::from(*label)].iter().copied().map(Some).collect(),
                    None => vec![None; count],
                }
            };
            slots.iter().flat_map(each).collect()
        };
        for sample in self.z.sources.iter_mut().flat_map(|source| &mut source.samples) {
            sample.labels = spread(&sample.labels);
        }
        self.truth = self.truth.as_deref().map(spread);
        self.z.labels = labels.clone();
        let names = LabelNames { tasks, workers: self.table.workers().clone(), labels };
        self.table = LabelTable::new(names, &reports);
        Ok(self)
    }
}

/// The labels of a set; empty ones are none.
fn choices(text: &str, separator: Option<char>) -> Vec<String> {
    if let Ok(list) = serde_json::from_str::<Vec<String>>(text) {
        return list;
    }
    let parts: Vec<&str> = match separator {
        Some(separator) => text.split(separator).collect(),
        None => vec![text],
    };
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelRow, ZLabelRow};

    #[test]
    fn sets_become_questions_in_any_order_of_their_labels() {
        let rows = [("q", "a", "cat; dog"), ("q", "b", "Dog;cat"), ("r", "a", "[\"dog\"]")];
        let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let z = [ZLabelRow::new("q", "dog"), ZLabelRow::new("r", "bird")];
        let set = Labels::from_rows(rows, z).unwrap().split_choices().unwrap();
        assert_eq!(set.table.tasks().names(), ["q/cat", "q/dog", "r/cat", "r/dog"]);
        assert_eq!(set.table.labels().names(), ["no", "yes"]);
        assert_eq!(set.table.of_task(0).labels, [1, 1]);
        assert_eq!(set.table.of_task(1).labels, [1, 1]);
        assert_eq!(set.table.of_task(2).labels, [0]);
        assert_eq!(set.table.of_task(3).labels, [1]);
        assert_eq!(set.z.sources[0].conditioning(), [Some(0), Some(1), Some(0), Some(0)]);
    }

    #[test]
    fn a_task_that_is_named_like_a_question_is_refused() {
        let rows = [("q", "a", "x;y"), ("q/x", "a", "y")];
        let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let set = Labels::from_rows(rows, []).unwrap();
        // q/x and q/y of q; q/x/x and q/x/y of q/x: all different.
        assert_eq!(set.split_choices().unwrap().table.task_count(), 4);
    }
}
