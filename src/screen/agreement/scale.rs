//! From texts of labels to numbers of a scale.

use super::settings::ScaleChoice;
use crate::data::labellers::{Labeller, Labellings};

/// The labels of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Names, ascending.
    pub names: Vec<String>,
    /// Their numbers, ascending, if they are numbers.
    pub values: Option<Vec<f64>>,
    /// Number on the scale of every text; `None` for texts outside.
    of_text: Vec<Option<usize>>,
}

impl Scale {
    /// The scale of what was read.
    pub fn new(choice: &ScaleChoice, data: &Labellings) -> Self {
        let texts = &data.texts;
        let number = |text: &String| {
            text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value + 0.0)
        };
        let numbers: Vec<Option<f64>> = texts.iter().map(number).collect();
        match choice {
            ScaleChoice::Range(low, high) => {
                let inside = |value: &f64| (low..=high).contains(&value);
                let numbers: Vec<Option<f64>> =
                    numbers.into_iter().map(|value| value.filter(inside)).collect();
                Self::of_numbers(&numbers, &whole_numbers(*low, *high))
            }
            ScaleChoice::Names(names) => {
                let mut names = names.clone();
                names.sort_unstable();
                names.dedup();
                Self::of_names(names, texts)
            }
            ScaleChoice::Auto if all_numbers(data, &numbers) => Self::of_numbers(&numbers, &[]),
            ScaleChoice::Auto | ScaleChoice::Nominal => Self::of_names(texts.clone(), texts),
        }
    }

    fn of_names(names: Vec<String>, texts: &[String]) -> Self {
        let of_text = texts.iter().map(|text| names.binary_search(text).ok()).collect();
        Self { names, values: None, of_text }
    }

    fn of_numbers(numbers: &[Option<f64>], more: &[f64]) -> Self {
        let mut values: Vec<f64> = numbers.iter().flatten().chain(more).copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let place = |value: f64| values.binary_search_by(|other| other.total_cmp(&value)).ok();
        let of_text = numbers.iter().map(|value| value.and_then(place)).collect();
        let names = values.iter().map(f64::to_string).collect();
        Self { names, values: Some(values), of_text }
    }

    /// Number of labels.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The label of a text; `None` if it is outside.
    pub fn label(&self, text: u32) -> Option<usize> {
        self.of_text[text as usize]
    }

    /// Texts outside the scale, by number.
    pub fn outside(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.of_text.len()).filter(|&text| self.of_text[text].is_none())
    }

    /// The label of every task that has one inside the scale, by ascending task.
    pub fn labels_of(&self, labeller: &Labeller) -> Vec<(u32, usize)> {
        let inside = |&(task, text): &(u32, Option<u32>)| Some((task, self.label(text?)?));
        labeller.labels.iter().filter_map(inside).collect()
    }
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

/// Whether the texts that decide are all numbers: those of gold, or all if there is no gold.
fn all_numbers(data: &Labellings, numbers: &[Option<f64>]) -> bool {
    let decides = if data.gold.is_empty() { &data.labellers } else { &data.gold };
    let mut texts = decides.iter().flat_map(|l| &l.labels).filter_map(|(_, text)| *text).peekable();
    texts.peek().is_some() && texts.all(|text| numbers[text as usize].is_some())
}
