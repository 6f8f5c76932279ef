//! Sets of labels as one question a label: does it apply?

use std::collections::{BTreeMap, BTreeSet};

use super::Labels;
use super::ids::Ids;
use super::label_reader::of_whole_labels;
use super::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::data::nouns::{HAVE, verb};
use crate::error::{Error, ErrorKind, Result};

/// Separators of a set, the first that stands in any label.
const SEPARATORS: [char; 3] = [';', '|', ','];

impl Labels {
    /// Splits every label into the labels of a set, a JSON list or names between `;`, `|` or `,` (of people the
    /// first of these that occurs, of Z and truth the one by which most sets are of people's labels), and every
    /// task into one task a label that people gave, `task/label`, of which everybody who answered the task says
    /// `yes` or `no`. The order in a set does not matter, nor does case unless labels are exact.
    ///
    /// A set of Z or truth without any of people's labels, such as a refusal, is missing, and counted in a warning.
    ///
    /// # Errors
    ///
    /// If there would be 2^32 labels or more.
    pub(crate) fn split_choices(mut self) -> Result<Self> {
        let (of_people, of_others) = self.z.labels.names().split_at(self.table.label_count());
        let occurs = |c: &char| of_people.iter().any(|name| name.contains(*c));
        let separator = SEPARATORS.into_iter().find(occurs);
        let exact = self.reading.exact_labels;
        let key = |choice: &str| {
            let choice = choice.trim();
            if exact { choice.to_owned() } else { choice.to_lowercase() }
        };
        let mut sets: Vec<Vec<String>> =
            of_people.iter().map(|name| choices(name, separator)).collect();
        // Each choice of the crowd by its key, in the first spelling of their order.
        let mut shown: BTreeMap<String, String> = BTreeMap::new();
        for choice in sets.iter().flatten() {
            shown
                .entry(key(choice))
                .and_modify(|name| {
                    if *choice < *name {
                        name.clone_from(choice);
                    }
                })
                .or_insert_with(|| choice.clone());
        }
        let is_known = |choice: &String| shown.contains_key(&key(choice));
        sets.extend(sets_of_others(of_others, separator, is_known));
        let keyed: Vec<BTreeSet<String>> =
            sets.iter().map(|set| set.iter().map(|choice| key(choice)).collect()).collect();
        let count = shown.len();
        let too_many = || Error::new(ErrorKind::Input, "the sets make 2^32 labels or more");
        u32::try_from(self.table.report_count().saturating_mul(count)).map_err(|_| too_many())?;
        let has: Vec<Vec<Label>> = keyed
            .iter()
            .map(|set| shown.keys().map(|key| Label::from(set.contains(key))).collect())
            .collect();
        // No choice at all is an answer; only others is none.
        let is_none = |label: Label| {
            let set = &keyed[usize::from(label)];
            !set.is_empty() && !set.iter().any(|choice| shown.contains_key(choice))
        };
        self.warnings.retain(|warning| !of_whole_labels(warning));
        let codes = ["z_labels_unknown", "truth_labels_unknown"];
        let what = |count| format!("{} none of the labels that people gave", verb(count, HAVE));
        let missing = self.missing(codes, &what, is_none);
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
                    Some(label) if !is_none(*label) => {
                        has[usize::from(*label)].iter().copied().map(Some).collect()
                    }
                    _ => vec![None; count],
                }
            };
            slots.iter().flat_map(each).collect()
        };
        for sample in self.z.sources.iter_mut().flat_map(|source| &mut source.samples) {
            sample.labels = spread(&sample.labels);
        }
        self.truth = self.truth.as_deref().map(spread);
        self.warnings.extend(missing);
        self.z.labels = labels.clone();
        let names = LabelNames { tasks, workers: self.table.workers().clone(), labels };
        self.table = LabelTable::new(names, &reports);
        Ok(self)
    }
}

/// The sets of Z and truth, by the separator with which most are of known labels; of equals by that of people.
fn sets_of_others(
    names: &[String],
    of_people: Option<char>,
    is_known: impl Fn(&String) -> bool,
) -> Vec<Vec<String>> {
    let split = |separator: Option<char>| -> Vec<Vec<String>> {
        names.iter().map(|name| choices(name, separator)).collect()
    };
    let known =
        |sets: &Vec<Vec<String>>| sets.iter().filter(|set| set.iter().all(&is_known)).count();
    let all = [of_people].into_iter().chain(SEPARATORS.map(Some)).map(split);
    let better = |best, sets| if known(&sets) > known(&best) { sets } else { best };
    all.reduce(better).unwrap_or_default()
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
    use std::path::Path;

    use super::*;
    use crate::data::label_reader::{LabelFiles, LabelReading};
    use crate::data::source::Source;
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
        // A bird is nothing that people say: it may be a refusal.
        assert_eq!(set.z.sources[0].conditioning(), [Some(0), Some(1), None, None]);
        let missing = set.warnings.iter().find(|warning| warning.code == "z_labels_unknown");
        assert!(missing.unwrap().message.ends_with("is missing: bird"), "{:?}", set.warnings);
        assert!(!set.warnings.iter().any(of_whole_labels), "{:?}", set.warnings);
    }

    #[test]
    fn people_and_the_llm_may_separate_sets_in_their_own_ways() {
        let rows = [("q", "a", "cat, dog"), ("q", "b", "big; cat"), ("r", "a", "dog")];
        let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let asked = |z: [(&str, &str); 2]| {
            let z = z.map(|(task, label)| ZLabelRow::new(task, label));
            let rows = [("q", "a", "cat, dog"), ("q", "b", "dog, cat"), ("r", "a", "dog")];
            let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
            let set = Labels::from_rows(rows, z).unwrap().split_choices().unwrap();
            assert_eq!(set.table.tasks().names(), ["q/cat", "q/dog", "r/cat", "r/dog"]);
            set.z.sources[0].conditioning()
        };
        assert_eq!(asked([("q", "cat; dog"), ("r", "cat")]), [Some(1), Some(1), Some(1), Some(0)]);
        assert_eq!(asked([("q", "dog|cat"), ("r", "dog")]), [Some(1), Some(1), Some(0), Some(1)]);
        // Those of people that have a `;` are not cut at commas.
        let set = Labels::from_rows(rows, [ZLabelRow::new("q", "cat, dog")]).unwrap();
        let set = set.split_choices().unwrap();
        assert_eq!(set.table.tasks().names()[..2], ["q/big", "q/cat"]);
        assert!(set.table.tasks().names().contains(&"q/cat, dog".to_owned()));
    }

    #[test]
    fn a_set_without_a_label_says_no_to_each_and_a_word_for_nothing_says_nothing() {
        let labels = "task,worker,label\nq,a,cat;dog\nq,b,[]\nr,a,dog\nr,b,n/a\n";
        let z = "task,label\nq,[]\nr,null\n";
        let csv = |text: &str| Source::from_reader(Path::new("z.csv"), text.as_bytes()).unwrap();
        let (labels, z) = (csv(labels), csv(z));
        let files = LabelFiles { labels: &labels, z: &[z], truth: None };
        let of = |sets: bool| {
            let reading = LabelReading { sets, ..LabelReading::default() };
            Labels::from_sources(&files, reading).unwrap().split_choices().unwrap()
        };
        let set = of(true);
        assert_eq!(set.table.tasks().names(), ["q/cat", "q/dog", "r/cat", "r/dog"]);
        assert_eq!(set.table.of_task(0).labels, [1, 0]);
        assert_eq!(set.table.of_task(1).labels, [1, 0]);
        assert_eq!(set.table.of_task(2).labels, [0]);
        assert_eq!(set.z.sources[0].conditioning(), [Some(0), Some(0), None, None]);
        let missing = set.warnings.iter().find(|warning| warning.code == "labels_missing").unwrap();
        assert_eq!(missing.count, 2);
        // Where labels are no sets nothing in brackets is no label.
        assert_eq!(of(false).table.of_task(0).labels, [1]);
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
