//! A table of results: named columns, rows of cells, missing cells kept apart from zero.

use serde_json::{Map, Value};

use super::text::three_decimals;
use crate::stats::interval::Estimate;

/// One value of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Undefined: an empty cell, `null` in JSON.
    Missing,
    /// A name, a flag or a sentence.
    Text(String),
    /// A count or a rank.
    Integer(u64),
    /// A finite number.
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Integer(count as u64)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Integer(count)
    }
}

/// A number that is not finite is undefined, so it becomes [`Cell::Missing`].
impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        // A negative zero is read as a sign of something.
        if number.is_finite() { Self::Number(number + 0.0) } else { Self::Missing }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// How metrics begin whose values are p-values.
const TESTS: [&str; 2] = ["p_mcnemar", "p_permutation"];

/// Rows under named columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    headline: Option<String>,
    summary: Map<String, Value>,
}

impl Table {
    /// No rows yet.
    pub fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), headline: None, summary: Map::new() }
    }

    /// Says the answer in one sentence, for people to read before the rows.
    pub fn set_headline(&mut self, sentence: String) {
        self.headline = Some(sentence);
    }

    /// The answer in one sentence, if there is one.
    pub fn headline(&self) -> Option<&str> {
        self.headline.as_deref()
    }

    /// Says what another table says first: of the same rows in other columns.
    pub(crate) fn set_headline_of(&mut self, other: &Self) {
        self.headline.clone_from(&other.headline);
    }

    /// Says in numbers, for programs, what sentences around the rows say to people.
    pub(crate) fn set_summary(&mut self, summary: Map<String, Value>) {
        self.summary = summary;
    }

    /// The numbers of the sentences around the rows; empty if there are none.
    pub fn summary(&self) -> &Map<String, Value> {
        &self.summary
    }

    /// Appends a row.
    ///
    /// # Panics
    ///
    /// If the row does not have one cell per column: a bug of the caller.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "one cell per column");
        self.rows.push(row);
    }

    /// The column names, lower-case with underscores.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// The place of a column; `None` if there is none of this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| *column == name)
    }

    /// The rows in order.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// A number of a row as people read it: three decimals, but no p-value is nought.
    pub(super) fn for_people(&self, row: &[Cell], column: usize, number: f64) -> String {
        /// Half of the last decimal that is shown.
        const ROUNDED_AWAY: f64 = 0.0005;
        let is_test = |cell: &Cell| match cell {
            Cell::Text(metric) => TESTS.iter().any(|test| metric.starts_with(test)),
            _ => false,
        };
        let is_p_value = match self.columns[column] {
            "p" => true,
            "value" => self.place("metric").is_some_and(|metric| is_test(&row[metric])),
            _ => false,
        };
        if is_p_value && number < ROUNDED_AWAY {
            "<0.001".to_owned()
        } else {
            three_decimals(number)
        }
    }
}

/// The cells under `score`, `se`, `ci_low` and `ci_high`, the latter two given.
pub(crate) fn estimate_cells(
    estimate: Option<Estimate>,
    interval: Option<(f64, f64)>,
) -> [Cell; 4] {
    [
        estimate.map(|estimate| estimate.value).into(),
        estimate.and_then(|estimate| estimate.standard_error).into(),
        interval.map(|(low, _)| low).into(),
        interval.map(|(_, high)| high).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{example, written};
    use super::super::{CsvExporter, JsonExporter, MarkdownExporter, Report, TextExporter};
    use super::*;

    #[test]
    fn undefined_numbers_become_missing_cells() {
        assert_eq!(Cell::from(f64::NAN), Cell::Missing);
        assert_eq!(Cell::from(f64::INFINITY), Cell::Missing);
        assert_eq!(Cell::from(None::<f64>), Cell::Missing);
        assert_eq!(Cell::from(Some(0.0)), Cell::Number(0.0));
    }

    #[test]
    fn for_people_no_p_value_is_nought_and_other_numbers_may_be() {
        let mut table = Table::new(&["metric", "value", "p"]);
        let (tiny, small) = (Cell::Number(1e-9), Cell::Number(0.0006));
        table.push(vec!["p_mcnemar_holm:a".into(), tiny.clone(), tiny.clone()]);
        table.push(vec!["kappa".into(), tiny, small]);
        let report = Report { table, ..example() };
        let shown = written(&TextExporter { color: false, width: None }, &report);
        let rows: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows.contains(&vec!["p_mcnemar_holm:a", "<0.001", "<0.001"]), "{shown}");
        assert!(rows.contains(&vec!["kappa", "0.000", "0.001"]), "{shown}");
        let shown = written(&MarkdownExporter, &report);
        assert!(shown.contains("| p_mcnemar_holm:a | &lt;0.001 | &lt;0.001 |"), "{shown}");
        // Programs get the number.
        let shown = written(&CsvExporter, &report);
        assert!(shown.contains("p_mcnemar_holm:a,1e-9,1e-9"), "{shown}");
        assert!(written(&JsonExporter, &report).contains("1e-9"));
    }
}
