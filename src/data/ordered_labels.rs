//! Labels in an order: numbers of a range, or names as listed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::label_reader::of_whole_labels;
use super::labels::{Label, LabelNames, LabelReport, LabelTable};
use super::warning::{Warning, first_names};
use super::{Labels, ids::Ids};
use crate::data::nouns::{ARE, counted, verb};
use crate::error::{ErrorKind, Kinded};

/// Numbers that differ more often than this are put into [`BINS`].
const MOST_VALUES: usize = 21;

/// Equal parts of a range of many numbers.
const BINS: usize = 10;

/// A scale as it is written: `LOW..HIGH` or `A,B,C`.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelScale {
    /// Numbers, both ends included.
    Range(f64, f64),
    /// Names, lowest first; numbers that rise or fall all along are as far apart as they are.
    List(Vec<String>),
}

/// Why a text is no scale.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scale; write LOW..HIGH, such as 1..5, or the labels in order: bad,fair,good")]
pub struct BadScale(String);

impl Kinded for BadScale {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl FromStr for LabelScale {
    type Err = BadScale;

    fn from_str(text: &str) -> Result<Self, BadScale> {
        let wrong = || BadScale(text.to_owned());
        if let Some((low, high)) = text.split_once("..") {
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
            let (low, high) = number(low).zip(number(high)).ok_or_else(wrong)?;
            return if low < high { Ok(Self::Range(low, high)) } else { Err(wrong()) };
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let distinct: BTreeSet<String> = names.iter().map(|n| folded(n)).collect();
        let fine = names.len() > 1 && distinct.len() == names.len() && !distinct.contains("");
        if fine { Ok(Self::List(names)) } else { Err(wrong()) }
    }
}

impl fmt::Display for LabelScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(low, high) => write!(f, "{low}..{high}"),
            Self::List(names) => f.write_str(&names.join(",")),
        }
    }
}

impl Serialize for LabelScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LabelScale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The names as numbers, if they are some that rise or fall all along.
fn listed_numbers(names: &[String]) -> Option<Vec<f64>> {
    let number = |name: &String| name.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Vec<f64> = names.iter().map(number).collect::<Option<_>>()?;
    let rise = numbers.windows(2).all(|two| two[0] < two[1]);
    (rise || numbers.windows(2).all(|two| two[0] > two[1])).then_some(numbers)
}

impl LabelScale {
    /// Where a label is on the scale; `None` where it is not on it. Of a list of names the places, from 0.
    fn value(&self, label: &str) -> Option<f64> {
        match self {
            Self::Range(low, high) => {
                let value: f64 = label.trim().parse().ok()?;
                (*low..=*high).contains(&value).then_some(value)
            }
            Self::List(names) => {
                if let Some(numbers) = listed_numbers(names) {
                    let value = label.trim().parse().ok()?;
                    return numbers.contains(&value).then_some(value);
                }
                let place = names.iter().position(|name| folded(name) == folded(label))?;
                Some(place as f64)
            }
        }
    }

    /// From the lowest to the highest label.
    fn ends(&self) -> (f64, f64) {
        match self {
            Self::Range(low, high) => (*low, *high),
            Self::List(names) => match listed_numbers(names).as_deref() {
                Some([first, .., last]) => (first.min(*last), first.max(*last)),
                _ => (0.0, names.len() as f64 - 1.0),
            },
        }
    }
}

/// Where the labels of a crowd are on their scale.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelValues {
    /// Place of every label by its number, those of Z and truth included, from 0 for the lowest of the
    /// scale to 1 for the highest.
    pub(crate) places: Vec<f64>,
    /// From the lowest to the highest, in the numbers of the labels; of names in steps.
    pub width: f64,
}

impl Labels {
    /// The labels in the order of a scale. Labels that are not on it are missing, and counted in a
    /// warning. A range on which people gave more than 21 different numbers is cut into ten equal bins, each
    /// called by its middle: labels that hardly repeat cannot be compared.
    #[must_use]
    pub(crate) fn on_scale(self, scale: &LabelScale) -> Self {
        let (low, high) = scale.ends();
        let people = self.table.labels().names();
        let values = people.iter().filter_map(|name| scale.value(name));
        let mut distinct: Vec<f64> = values.collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let width = (high - low) / BINS as f64;
        let binned = distinct.len() > MOST_VALUES;
        let value = |name: &str| -> Option<(f64, String)> {
            let value = scale.value(name)?;
            if !binned {
                return Some((
                    value,
                    match scale {
                        LabelScale::Range(..) => value.to_string(),
                        LabelScale::List(_) => name.trim().to_owned(),
                    },
                ));
            }
            let bin = ((value - low) / width).floor().min(BINS as f64 - 1.0);
            let middle = low + (bin + 0.5) * width;
            // As short as a bin's middle can be told: binary rounding would show.
            Some((
                middle,
                format!("{middle:.6}").trim_end_matches('0').trim_end_matches('.').into(),
            ))
        };
        // By value, so that the numbers of labels are in the order of the scale.
        let mut named: Vec<(f64, String)> =
            self.z.labels.names().iter().filter_map(|name| value(name)).collect();
        named.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        named.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
        let given: Vec<f64> = people.iter().filter_map(|name| Some(value(name)?.0)).collect();
        let (of_people, others): (Vec<_>, Vec<_>) = named
            .into_iter()
            .partition(|(at, _)| given.iter().any(|given| given.total_cmp(at).is_eq()));
        let all: Vec<(f64, String)> = of_people.iter().chain(&others).cloned().collect();
        let number = |name: &str| -> Option<Label> {
            let (at, _) = value(name)?;
            let place = all.iter().position(|(other, _)| other.total_cmp(&at).is_eq())?;
            Label::try_from(place).ok()
        };
        let new: Vec<Option<Label>> =
            self.z.labels.names().iter().map(|name| number(name)).collect();
        let ids = |names: &[(f64, String)]| -> Ids { names.iter().map(|(_, name)| name).collect() };
        let outside: Vec<&str> =
            people.iter().map(String::as_str).filter(|name| number(name).is_none()).collect();
        let dropped = self.table.reports().filter(|r| new[usize::from(r.label)].is_none()).count();
        let mut warnings = self.warnings.clone();
        warnings.retain(|warning| !of_whole_labels(warning));
        let is_off = |label: Label| new[usize::from(label)].is_none();
        let codes = ["z_labels_outside_scale", "truth_labels_outside_scale"];
        let what = |count: usize| format!("{} not on the scale {scale}", verb(count, ARE));
        warnings.extend(self.missing(codes, &what, is_off));
        if dropped > 0 {
            let message = format!(
                "{} {are} not on the scale {scale}, and {are} missing: {}",
                counted(dropped, "label"),
                first_names(&outside),
                are = verb(dropped, ARE)
            );
            warnings.push(Warning::new("labels_outside_scale", dropped, message));
        }
        let reports: Vec<LabelReport> = self
            .table
            .reports()
            .filter_map(|r| Some(LabelReport { label: new[usize::from(r.label)]?, ..r }))
            .collect();
        let names = LabelNames {
            tasks: self.table.tasks().clone(),
            workers: self.table.workers().clone(),
            labels: ids(&of_people),
        };
        let places = all.iter().map(|(at, _)| (at - low) / (high - low)).collect();
        let mut renumbered = Self {
            values: Some(LabelValues { places, width: high - low }),
            table: LabelTable::new(names, &reports),
            warnings,
            ..self
        };
        renumbered.renumber(ids(&all), |label| new[usize::from(label)]);
        renumbered
    }

    /// That some labels of Z and of truth, under a code each, of which so many are as `what` says, are
    /// taken as missing.
    pub(super) fn missing(
        &self,
        codes: [&'static str; 2],
        what: &dyn Fn(usize) -> String,
        is_missing: impl Fn(Label) -> bool,
    ) -> Vec<Warning> {
        let samples = self.z.sources.iter().flat_map(|source| &source.samples);
        let of_z: Vec<Label> = samples.flat_map(|s| s.labels.iter().flatten()).copied().collect();
        let of_truth: Vec<Label> = self.truth.iter().flatten().flatten().copied().collect();
        let warning = |(code, (whose, labels)): (&'static str, (&str, Vec<Label>))| {
            let labels = labels.into_iter().filter(|label| is_missing(*label));
            let labels: Vec<&str> = labels.map(|l| self.z.labels.name(u32::from(l))).collect();
            let names: Vec<&str> =
                labels.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let (count, names) = (labels.len(), first_names(&names));
            let (labels, are) = (counted(count, "label"), verb(count, ARE));
            let what = what(count);
            let message = format!("{labels} of {whose} {what}, and {are} missing: {names}");
            (count > 0).then(|| Warning::new(code, count, message))
        };
        let both = [("Z", of_z), ("the truth", of_truth)];
        codes.into_iter().zip(both).filter_map(warning).collect()
    }

    /// Gives the labels of Z and truth new numbers.
    pub(super) fn renumber(&mut self, names: Ids, new: impl Fn(Label) -> Option<Label>) {
        self.z.labels = names;
        let samples = self.z.sources.iter_mut().flat_map(|source| &mut source.samples);
        let slots = samples.flat_map(|sample| &mut sample.labels);
        for slot in slots.chain(self.truth.iter_mut().flatten()) {
            *slot = slot.and_then(&new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelRow, ZLabelRow};

    #[test]
    fn labels_of_z_and_truth_off_the_scale_are_counted() {
        let rows = ["1", "2", "3"].map(|label| LabelRow::new("q", label, label));
        let z = [ZLabelRow::new("q", "4/5")];
        let mut set = Labels::from_rows(rows, z).unwrap();
        set.truth = Some(vec![set.z.sources[0].conditioning()[0]]);
        let set = set.on_scale(&"1..5".parse().unwrap());
        assert_eq!((set.z.sources[0].conditioning(), set.truth), (vec![None], Some(vec![None])));
        let said: Vec<&str> = set.warnings.iter().map(|warning| warning.message.as_str()).collect();
        for whose in ["Z", "the truth"] {
            let off = format!("1 label of {whose} is not on the scale 1..5, and is missing: 4/5");
            assert!(said.contains(&off.as_str()), "{said:?}");
        }
        assert!(!set.warnings.iter().any(of_whole_labels), "{said:?}");
    }

    #[test]
    fn scales_are_read_and_shown_as_written() {
        for text in ["1..5", "-1..0.5", "bad,fair,good"] {
            assert_eq!(text.parse::<LabelScale>().unwrap().to_string(), text);
        }
        for text in ["", "5..1", "1..1", "a", "a,,b", "a,A", "1..x", "1..inf"] {
            assert!(text.parse::<LabelScale>().is_err(), "{text}");
        }
    }

    #[test]
    fn labels_follow_the_scale_and_others_are_missing() {
        let rows = [("q", "a", "good"), ("q", "b", "bad"), ("r", "a", "none"), ("r", "b", "Fair")];
        let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let z = [ZLabelRow::new("q", "best"), ZLabelRow::new("r", "good")];
        let set = Labels::from_rows(rows, z).unwrap();
        let set = set.on_scale(&"bad,fair,good,best".parse().unwrap());
        assert_eq!(set.table.labels().names(), ["bad", "Fair", "good"]);
        assert_eq!(set.table.of_task(0).labels, [2, 0]);
        assert_eq!(set.table.of_task(1).iter().collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!(set.z.labels.names(), ["bad", "Fair", "good", "best"]);
        assert_eq!(set.z.sources[0].conditioning(), [Some(3), Some(2)]);
        let values = set.values.unwrap();
        assert_eq!(values.places, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert!(set.warnings.iter().any(|w| w.code == "labels_outside_scale" && w.count == 1));
    }

    #[test]
    fn listed_numbers_are_as_far_apart_as_they_are() {
        let of = |scale: &str| {
            let rows = [("q", "a", "0"), ("q", "b", "10"), ("r", "a", "1.0"), ("r", "b", "7")];
            let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
            let set = Labels::from_rows(rows, []).unwrap();
            set.on_scale(&scale.parse().unwrap()).values.unwrap()
        };
        for scale in ["0,1,10", "10,1,0"] {
            let values = of(scale);
            assert_eq!((values.places, values.width), (vec![0.0, 0.1, 1.0], 10.0), "{scale}");
        }
        // Numbers in no order of size are names: steps.
        assert!((of("1.0,10,0").width - 2.0).abs() < 1e-12);
    }

    #[test]
    fn many_numbers_are_put_into_ten_bins() {
        let rows = (0..60)
            .map(|n| LabelRow::new(format!("q{n}"), "a", format!("{}", 0.05 * f64::from(n))));
        let set = Labels::from_rows(rows, []).unwrap().on_scale(&"0..3".parse().unwrap());
        assert_eq!(set.table.label_count(), 10);
        assert_eq!(set.table.labels().names()[0], "0.15");
        assert_eq!(set.table.labels().names()[9], "2.85");
    }
}
