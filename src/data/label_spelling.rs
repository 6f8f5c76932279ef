//! Labels that are spelt in several ways, and words that stand where a label is missing.
//!
//! `Yes`, `yes ` and a `yes` of wide letters are one answer to people, and three to a program that
//! compares bytes: who types another case would agree with nobody. So spellings that differ only in
//! case, white space or Unicode form become one label, and words that programs write for "nothing"
//! become a missing label; both are counted and said.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(crate) use super::answers::says_nothing;
use super::answers::{Answered, set};
use super::ids::{Ids, alike, same_to_people};
use super::label_reader::LabelReading;
use super::labels::{Label, LabelReport};
use super::warning::{Warning, first_names};
use crate::data::nouns::{COUNT, SAY, WERE, counted, verb};
use crate::error::Remedy;

/// How labels are compared, and what was made of them so far.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    reading: LabelReading,
    missing: usize,
    missing_words: BTreeSet<String>,
    /// Other spellings by the one that stands for them.
    folded: BTreeMap<String, BTreeSet<String>>,
}

impl Spelling {
    pub(super) fn new(reading: LabelReading) -> Self {
        Self { reading, ..Self::default() }
    }

    pub(super) fn reading(&self) -> LabelReading {
        self.reading
    }

    fn is_none(&self, label: &str) -> bool {
        let is_label = self.reading.exact_labels || self.reading.sets && label.trim() == "[]";
        !is_label && says_nothing(label)
    }

    pub(super) fn has_missing(&self) -> bool {
        self.missing > 0
    }

    /// Whether `label` says that there is none, on one row; counts it.
    pub(super) fn is_missing(&mut self, label: &str) -> bool {
        let missing = self.is_none(label);
        if missing {
            self.count_missing(label, 1);
        }
        missing
    }

    fn count_missing(&mut self, label: &str, rows: usize) {
        self.missing += rows;
        if !self.missing_words.contains(label) {
            self.missing_words.insert(label.to_owned());
        }
    }

    /// Drops reports without a label, and gives every other label one spelling.
    pub(super) fn fold_reports(&mut self, labels: &mut Ids, parts: &mut [Vec<LabelReport>]) {
        if self.reading.exact_labels {
            return;
        }
        let nothing: Vec<bool> = labels.names().iter().map(|name| self.is_none(name)).collect();
        if nothing.contains(&true) {
            let mut rows = vec![0; nothing.len()];
            for reports in &mut *parts {
                reports.iter().for_each(|report| rows[usize::from(report.label)] += 1);
                reports.retain(|report| !nothing[usize::from(report.label)]);
            }
            let missing = labels.names().iter().zip(rows).zip(&nothing);
            missing
                .filter(|(_, nothing)| **nothing)
                .for_each(|((name, rows), _)| self.count_missing(name, rows));
        }
        let kept: Vec<u32> = (0..)
            .zip(&nothing)
            .filter_map(|(label, nothing)| (!nothing).then_some(label))
            .collect();
        let names: Ids = kept.iter().map(|&label| labels.name(label)).collect();
        let (folded, new) = self.fold(&names, 0);
        if folded.names() == labels.names() {
            return;
        }
        let mut numbers = vec![0; labels.len()];
        for (old, new) in kept.into_iter().zip(new) {
            numbers[old as usize] = new;
        }
        for report in parts.iter_mut().flatten() {
            report.label = numbers[usize::from(report.label)];
        }
        *labels = folded;
    }

    /// One name for every label, and the new number of each old one. The first `own` names keep
    /// name and number; of others that are spelt alike the spelling without capitals stands for
    /// all, or else the first by code points, so that the order of rows decides nothing.
    pub(super) fn fold(&mut self, names: &Ids, own: usize) -> (Ids, Vec<Label>) {
        let exact = self.reading.exact_labels;
        let key_of = |name: &str| if exact { name.to_owned() } else { same_to_people(name) };
        // A set of choices in its one order, however it is written.
        let plain: Vec<Cow<'_, str>> = names
            .names()
            .iter()
            .map(|name| match Answered::in_cell(name) {
                Answered::Label(label) if !exact => Cow::Owned(label),
                _ => Cow::Borrowed(name.as_str()),
            })
            .collect();
        let plain = if exact { plain } else { clicked(plain) };
        // Of each key the least: own names first, then the one without capitals, then by name.
        let mut least: BTreeMap<String, (bool, bool, &str)> = BTreeMap::new();
        for (number, (name, plain)) in names.names().iter().zip(&plain).enumerate() {
            let key = key_of(plain);
            let name = if number < own { name.as_str() } else { &**plain };
            let candidate = (number >= own, name != key, name);
            let known = least.entry(key).or_insert(candidate);
            *known = candidate.min(*known);
        }
        let mut folded = Ids::new();
        let mut new = Vec::with_capacity(names.len());
        for (name, plain) in names.names().iter().zip(&plain) {
            let (_, _, spelling) = least[&key_of(plain)];
            if spelling != name {
                self.folded.entry(spelling.to_owned()).or_default().insert(name.clone());
            }
            new.push(Label::try_from(folded.intern(spelling)).unwrap_or(Label::MAX));
        }
        (folded, new)
    }

    /// What was folded and what is missing.
    pub(super) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let words: Vec<String> =
            self.missing_words.iter().map(|word| format!("`{word}`")).collect();
        let message = format!(
            "{} {} that there is none and {} as missing: {}",
            counted(self.missing, "label"),
            verb(self.missing, SAY),
            verb(self.missing, COUNT),
            first_names(&words)
        );
        let missing = (self.missing > 0)
            .then(|| Warning::new("labels_missing", self.missing, message))
            .map(|warning| warning.with_remedy(Remedy::KeepLabels));
        let count = self.folded.values().map(BTreeSet::len).sum();
        let groups: Vec<String> = self
            .folded
            .iter()
            .map(|(spelling, others)| {
                let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
                format!("{} as `{spelling}`", first_names(&others))
            })
            .collect();
        let message = format!(
            "{} of labels {} from others only in case, white space, Unicode form, characters that nobody sees, \
             zeros (1.0 and 1) or the order of choices and {} read as one: {}",
            counted(count, "spelling"),
            verb(count, ["differs", "differ"]),
            verb(count, WERE),
            first_names(&groups)
        );
        let folded = (count > 0)
            .then(|| Warning::new("labels_folded", count, message))
            .map(|warning| warning.with_remedy(Remedy::KeepLabels));
        missing.into_iter().chain(folded)
    }
}

/// Sets of choices that a program joined with a sign in the order of the clicks (`b|a` and `a|b`), in the
/// one order of sets. Where every label has as many names, it may be a ranking, and the order the answer.
pub(super) fn clicked(mut names: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    for sign in ['|', ';', ','] {
        let mut keys: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for name in &names {
            let parts: Vec<String> = name.split(sign).map(alike).collect();
            let mut key = parts.clone();
            key.sort();
            keys.entry(key).or_default().insert(parts);
        }
        let ordered = |name: &str| {
            let parts = name.split(sign).map(|part| part.trim().to_owned());
            match set(parts.filter(|part| !part.is_empty()).collect()) {
                Answered::Label(label) if name.contains(sign) => Some(label),
                _ => None,
            }
        };
        let lengths: BTreeSet<usize> = keys.keys().map(Vec::len).collect();
        if lengths.len() < 2 {
            continue;
        }
        let known: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
        // In two orders, or once as a list is written.
        let is_twice = |name: &Cow<'_, str>| {
            ordered(name).is_some_and(|set| set != **name && known.contains(set.as_str()))
        };
        if !keys.values().any(|orders| orders.len() > 1) && !names.iter().any(is_twice) {
            continue;
        }
        for name in &mut names {
            if let Some(set) = ordered(name) {
                *name = Cow::Owned(set);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_joined_in_the_order_of_clicks_are_sets_and_rankings_are_not() {
        for sign in ["|", ";", ", "] {
            let [ab, ba] = [["a", "b"], ["b", "a"]].map(|names| names.join(sign));
            let (names, new, warnings) = folded(&[&ba, &ab, "a", "c"], 0);
            assert_eq!(
                (names, new),
                (vec!["a; b".into(), "a".into(), "c".into()], vec![0, 0, 1, 2])
            );
            assert_eq!(warnings[0].code, "labels_folded", "{warnings:?}");
            // A ranking, and texts in which nothing is said twice in another order.
            let other = ["d", "c"].join(sign);
            for same in [&[ab.as_str(), &ba, &other][..], &[ab.as_str(), "b"]] {
                assert_eq!(folded(same, 0).0, same);
            }
        }
    }

    fn folded(names: &[&str], own: usize) -> (Vec<String>, Vec<Label>, Vec<Warning>) {
        let mut spelling = Spelling::new(LabelReading::default());
        let (ids, new) = spelling.fold(&names.iter().collect(), own);
        (ids.names().to_vec(), new, spelling.warnings().collect())
    }

    #[test]
    fn the_spelling_without_capitals_stands_for_all_whatever_the_order() {
        let (names, new, warnings) = folded(&["Yes", "no", "yes", "\u{ff39}es", "NO WAY"], 0);
        assert_eq!(names, ["yes", "no", "NO WAY"]);
        assert_eq!(new, [0, 1, 0, 0, 2]);
        assert_eq!((warnings[0].code, warnings[0].count), ("labels_folded", 2));
        assert!(warnings[0].message.contains("`Yes`, `\u{ff39}es` as `yes`"), "{warnings:?}");
        // Without one in small letters the first by code points.
        assert_eq!(folded(&["Yes", "YES"], 0).0, ["YES"]);
        assert_eq!(folded(&["YES", "Yes"], 0).0, ["YES"]);
        assert_eq!(folded(&["a  b", "A b"], 0).0, ["A b"]);
    }

    #[test]
    fn a_number_is_one_label_however_a_spreadsheet_writes_it_and_so_is_what_looks_like_one() {
        let labels =
            ["1.0", "1", "01", "1.5", "1.50", "0", "0.0", "N1", "yes", "y\u{200b}es", "уes"];
        let (names, new, _) = folded(&labels, 0);
        assert_eq!(names, ["1", "1.5", "1.50", "0", "N1", "yes"]);
        assert_eq!(new, [0, 0, 0, 1, 2, 3, 3, 4, 5, 5, 5]);
        // Not where other words are written with letters of their own.
        assert_eq!(
            folded(&["5 µm", "5 mm", "5 \u{3bc}m", "нет", "net"], 0).0,
            ["5 \u{3bc}m", "5 mm", "нет", "net"]
        );
    }

    #[test]
    fn labels_of_the_crowd_keep_their_spelling() {
        let (names, new, _) = folded(&["Yes", "No", "yes", "maybe", "Maybe"], 2);
        assert_eq!(names, ["Yes", "No", "maybe"]);
        assert_eq!(new, [0, 1, 0, 2, 2]);
        assert!(folded(&["Yes", "No"], 2).2.is_empty());
    }

    #[test]
    fn exact_labels_are_left_alone() {
        let mut spelling =
            Spelling::new(LabelReading { exact_labels: true, ..LabelReading::default() });
        let names: Ids = ["Yes", "yes", "NaN"].iter().collect();
        assert_eq!(spelling.fold(&names, 0), (names.clone(), vec![0, 1, 2]));
        assert!(!spelling.is_missing("NaN"));
        assert_eq!(spelling.warnings().count(), 0);
    }

    #[test]
    fn words_for_nothing_are_missing_and_categories_are_not() {
        let mut spelling = Spelling::new(LabelReading::default());
        for word in ["NaN", "nan", "NULL", "n/a", "N/A", "#N/A", "<NA>", "\u{ff2e}\u{ff41}\u{ff2e}"]
        {
            assert!(spelling.is_missing(word), "{word}");
        }
        for word in ["none", "NA", "no", "0", "-", "unknown", "null hypothesis"] {
            assert!(!spelling.is_missing(word), "{word}");
        }
        let warnings: Vec<Warning> = spelling.warnings().collect();
        assert_eq!((warnings[0].code, warnings[0].count), ("labels_missing", 8));
        assert!(warnings[0].message.contains("`#N/A`"), "{warnings:?}");
    }
}
