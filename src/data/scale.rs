//! Which labels there are, in which order, and how far apart they are.

use serde::Serialize;

use super::label_spelling::says_nothing;

/// Which labels there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleChoice {
    /// Numbers if all labels that decide are, else names.
    #[default]
    Auto,
    /// Names without an order.
    Nominal,
    /// Numbers from the first to the second, both in it.
    Range(f64, f64),
    /// These labels in this order, lowest first. Numbers that rise or fall all along are as far
    /// apart as they are; all others are one step from their neighbours.
    Ordered(Vec<String>),
}

impl std::str::FromStr for ScaleChoice {
    type Err = String;

    /// `auto`, `nominal`, `LOW..HIGH`, or labels in order with commas.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => return Ok(Self::Auto),
            "nominal" => return Ok(Self::Nominal),
            _ => {}
        }
        if let Some((low, high)) = text.split_once("..") {
            let ends = low.trim().parse::<f64>().ok().zip(high.trim().parse::<f64>().ok());
            return match ends {
                Some((low, high)) if low < high && low.is_finite() && high.is_finite() => {
                    Ok(Self::Range(low, high))
                }
                _ => Err(format!("`{text}` is no scale such as 0..3, low end first")),
            };
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.len() < 2 || names.iter().any(String::is_empty) {
            return Err(format!(
                "`{text}` is no scale; give LOW..HIGH, nominal, or labels in order A,B,C"
            ));
        }
        let known = |(at, name): (usize, &String)| names[..at].contains(name).then(|| name.clone());
        match names.iter().enumerate().find_map(known) {
            Some(twice) => Err(format!("`{twice}` stands in the scale twice")),
            None => Ok(Self::Ordered(names)),
        }
    }
}

/// The labels of a run, numbered in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Names: of numbers ascending, of labels in order as they were given, of others by name.
    pub names: Vec<String>,
    /// Their numbers, ascending, if they have an order.
    pub values: Option<Vec<f64>>,
    /// Whether the numbers are places in an order, and not the labels themselves.
    pub(crate) are_places: bool,
    /// Number on the scale of every text; `None` for texts that are not on it.
    of_text: Vec<Option<usize>>,
    /// Texts that say that there is no label.
    says_nothing: Vec<bool>,
}

impl Scale {
    /// The scale of some texts. `deciding` are the numbers of the texts that are looked at to see
    /// whether labels are numbers where nobody says so.
    ///
    /// Words that programs write for nothing (`N/A`, `NaN`, `null`) are no labels, unless the scale
    /// lists them.
    pub(crate) fn new(
        choice: &ScaleChoice,
        texts: &[String],
        deciding: impl IntoIterator<Item = u32>,
    ) -> Self {
        let listed: &[String] = match choice {
            ScaleChoice::Ordered(names) => names,
            _ => &[],
        };
        let nothing: Vec<bool> =
            texts.iter().map(|text| says_nothing(text) && !listed.contains(text)).collect();
        let something = |at: usize| !nothing[at];
        let numbers: Vec<Option<f64>> = texts.iter().map(|text| number(text)).collect();
        let mut scale = match choice {
            ScaleChoice::Range(low, high) => {
                let inside = |value: &f64| (low..=high).contains(&value);
                let numbers: Vec<Option<f64>> =
                    numbers.into_iter().map(|value| value.filter(inside)).collect();
                Self::of_numbers(&numbers, &whole_numbers(*low, *high))
            }
            ScaleChoice::Ordered(names) => Self::of_order(names, texts),
            ScaleChoice::Auto | ScaleChoice::Nominal => {
                let mut decide = deciding
                    .into_iter()
                    .map(|text| text as usize)
                    .filter(|&t| something(t))
                    .peekable();
                let is_number = |text: usize| numbers[text].is_some();
                if *choice == ScaleChoice::Auto && decide.peek().is_some() && decide.all(is_number)
                {
                    Self::of_numbers(&numbers, &[])
                } else {
                    let mut names: Vec<String> = (0..texts.len())
                        .filter(|&t| something(t))
                        .map(|t| texts[t].clone())
                        .collect();
                    names.sort_unstable();
                    names.dedup();
                    let of_text = texts.iter().map(|text| names.binary_search(text).ok()).collect();
                    Self::with(names, None, of_text)
                }
            }
        };
        for (place, _) in scale.of_text.iter_mut().zip(&nothing).filter(|(_, nothing)| **nothing) {
            *place = None;
        }
        scale.says_nothing = nothing;
        scale
    }

    fn with(names: Vec<String>, values: Option<Vec<f64>>, of_text: Vec<Option<usize>>) -> Self {
        Self { names, values, are_places: false, of_text, says_nothing: Vec::new() }
    }

    fn of_numbers(numbers: &[Option<f64>], more: &[f64]) -> Self {
        let mut values: Vec<f64> = numbers.iter().flatten().chain(more).copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let place = |value: f64| values.binary_search_by(|other| other.total_cmp(&value)).ok();
        let of_text = numbers.iter().map(|value| value.and_then(place)).collect();
        let names = values.iter().map(f64::to_string).collect();
        Self::with(names, Some(values), of_text)
    }

    /// Labels in a given order.
    fn of_order(listed: &[String], texts: &[String]) -> Self {
        let values: Option<Vec<f64>> = listed.iter().map(|name| number(name)).collect();
        let monotone = |values: &Vec<f64>| {
            values.windows(2).all(|two| two[0] < two[1])
                || values.windows(2).all(|two| two[0] > two[1])
        };
        if let Some(values) = values.filter(monotone) {
            let known = |text: &String| number(text).filter(|value| values.contains(value));
            return Self::of_numbers(&texts.iter().map(known).collect::<Vec<_>>(), &values);
        }
        let places = (0..listed.len()).map(|place| place as f64).collect();
        let of_text =
            texts.iter().map(|text| listed.iter().position(|name| name == text)).collect();
        Self { are_places: true, ..Self::with(listed.to_vec(), Some(places), of_text) }
    }

    /// The scale with more numbers between its labels, which no text has: means of labels.
    ///
    /// Without an order the scale stays as it is.
    #[must_use]
    pub(crate) fn with_numbers(mut self, more: &[f64]) -> Self {
        let Some(old) = self.values.take() else { return self };
        let mut all: Vec<(f64, Option<&String>)> =
            old.iter().copied().zip(self.names.iter().map(Some)).collect();
        all.extend(more.iter().filter(|value| !old.contains(value)).map(|&value| (value, None)));
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
        let values: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
        let name = |(value, name): &(f64, Option<&String>)| {
            name.map_or_else(|| value.to_string(), Clone::clone)
        };
        let names = all.iter().map(name).collect();
        let place = |old_place: usize| values.partition_point(|value| *value < old[old_place]);
        let of_text = self.of_text.iter().map(|old| old.map(place)).collect();
        Self { names, values: Some(values), of_text, ..self }
    }

    /// Number of labels.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The label of a text; `None` if it is not on the scale.
    pub(crate) fn label(&self, text: u32) -> Option<usize> {
        self.of_text[text as usize]
    }

    /// The label with exactly this value.
    pub(crate) fn at_value(&self, value: f64) -> Option<usize> {
        self.values.as_ref()?.binary_search_by(|other| other.total_cmp(&value)).ok()
    }

    /// Whether a text says that there is no label.
    pub(crate) fn is_missing(&self, text: u32) -> bool {
        self.says_nothing[text as usize]
    }
}

/// The number that a text is, a finite one; -0 is 0.
fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value + 0.0)
}

/// Whole numbers of a range, if they are few; the labels that nobody happens to give.
fn whole_numbers(low: f64, high: f64) -> Vec<f64> {
    const MOST: f64 = 1000.0;
    let mut values = Vec::new();
    let mut value = low.ceil();
    while value <= high && high - low <= MOST {
        values.push(value + 0.0);
        value += 1.0;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn scale(choice: &str, of: &[&str]) -> Scale {
        let of = texts(of);
        Scale::new(&choice.parse().unwrap(), &of, 0..u32::try_from(of.len()).unwrap())
    }

    #[test]
    fn scales_are_read() {
        assert_eq!("0..3".parse(), Ok(ScaleChoice::Range(0.0, 3.0)));
        assert_eq!("-1..1".parse(), Ok(ScaleChoice::Range(-1.0, 1.0)));
        assert_eq!("b, a".parse(), Ok(ScaleChoice::Ordered(texts(&["b", "a"]))));
        for bad in ["3..0", "x..y", "a", "a,,b", "a,b,a"] {
            assert!(bad.parse::<ScaleChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_is_an_order_as_written() {
        let numbers = scale("0,1,5,10", &["10", "5.0", "1", "7"]);
        assert_eq!(numbers.names, ["0", "1", "5", "10"]);
        assert_eq!(numbers.values, Some(vec![0.0, 1.0, 5.0, 10.0]));
        let places: Vec<_> = (0..4).map(|text| numbers.label(text)).collect();
        assert_eq!(places, [Some(3), Some(2), Some(1), None]);
        // Falling numbers are the same numbers.
        assert_eq!(scale("10,5,1,0", &["10", "7"]).values, numbers.values);
        let names = scale("poor,fair,good", &["good", "poor", "Good"]);
        assert_eq!(names.names, ["poor", "fair", "good"]);
        assert_eq!(names.values, Some(vec![0.0, 1.0, 2.0]));
        assert!(names.are_places && !numbers.are_places);
        assert_eq!([names.label(0), names.label(1), names.label(2)], [Some(2), Some(0), None]);
        // Numbers in no order of size are names.
        assert!(scale("1,10,5", &["5"]).are_places);
    }

    #[test]
    fn words_for_nothing_are_no_labels_and_do_not_make_numbers_names() {
        let found = scale("auto", &["1", "N/A", "NaN", "2"]);
        assert_eq!(found.values, Some(vec![1.0, 2.0]));
        assert_eq!([found.label(1), found.label(2)], [None, None]);
        assert!(found.is_missing(1) && found.is_missing(2) && !found.is_missing(0));
        assert_eq!(scale("nominal", &["x", "null"]).names, ["x"]);
        // Who lists one means a label by it.
        let listed = scale("yes,N/A", &["N/A", "nan"]);
        assert_eq!([listed.label(0), listed.label(1)], [Some(1), None]);
    }

    #[test]
    fn means_stand_between_the_labels() {
        let scale = scale("1..3", &["1", "3", "9"]).with_numbers(&[2.5, 1.0, 2.5]);
        assert_eq!(scale.names, ["1", "2", "2.5", "3"]);
        assert_eq!([scale.label(0), scale.label(1), scale.label(2)], [Some(0), Some(3), None]);
        assert_eq!([scale.at_value(2.5), scale.at_value(2.6)], [Some(2), None]);
    }
}
