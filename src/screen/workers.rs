//! The file of people, for whoever pays them: one row each, from labels or from texts.

use crate::data::times::Times;
use crate::report::{Cell, Table};
use crate::stats::interval::Estimate;

/// Columns of the file, a contract with scripts.
const COLUMNS: [&str; 12] = [
    "worker",
    "flag",
    "reads_as",
    "quality",
    "quality_low",
    "quality_high",
    "copied",
    "copied_low",
    "copied_high",
    "n_tasks",
    "median_seconds",
    "share_fast",
];

/// Columns that follow where labels are on a scale.
const ERROR_COLUMNS: [&str; 3] = ["error", "error_low", "error_high"];

/// A number with the ends of its 95 % interval; each is missing where it is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounded {
    pub(super) value: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
}

impl From<Option<Estimate>> for Bounded {
    fn from(estimate: Option<Estimate>) -> Self {
        Self {
            value: estimate.map(|estimate| estimate.value),
            interval: estimate.and_then(|estimate| estimate.interval()),
        }
    }
}

impl Bounded {
    fn cells(self) -> [Cell; 3] {
        let ends = self.interval.unzip();
        [self.value.into(), ends.0.into(), ends.1.into()]
    }
}

/// What is known of one person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worker<'a> {
    pub(super) name: &'a str,
    pub(super) flag: Option<&'static str>,
    pub(super) reads_as: Option<&'static str>,
    /// What to pay by: of labels their accuracy, of texts their similarity with those of others beyond
    /// what an LLM says.
    pub(super) quality: Bounded,
    /// How much is an LLM's.
    pub(super) copied: Bounded,
    /// Tasks that were done.
    pub(super) n_tasks: usize,
    /// Mean absolute error of labels on a scale; `None` where there is no scale, for all alike.
    pub(super) error: Option<Bounded>,
}

/// The rows in the order in which people come.
pub(super) fn table<'a>(people: impl IntoIterator<Item = Worker<'a>>, times: &Times) -> Table {
    let people: Vec<Worker<'_>> = people.into_iter().collect();
    let mut columns = COLUMNS.to_vec();
    if people.iter().any(|person| person.error.is_some()) {
        columns.extend(ERROR_COLUMNS);
    }
    let mut table = Table::new(&columns);
    for person in people {
        let speed = times.speed(person.name);
        let mut row = vec![person.name.into(), person.flag.into(), person.reads_as.into()];
        row.extend(person.quality.cells());
        row.extend(person.copied.cells());
        row.extend([
            person.n_tasks.into(),
            speed.map(|speed| speed.median_seconds).into(),
            speed.map(|speed| speed.share_fast).into(),
        ]);
        row.extend(person.error.into_iter().flat_map(Bounded::cells));
        table.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_an_empty_cell_and_the_order_stays() {
        let worker = |name, n_tasks| Worker {
            name,
            flag: None,
            reads_as: None,
            quality: Bounded::default(),
            copied: Bounded { value: Some(0.5), interval: Some((0.25, 0.75)) },
            n_tasks,
            error: None,
        };
        let table = table([worker("b", 2), worker("a", 0)], &Times::default());
        let row = &table.rows()[0];
        assert_eq!(row[0], "b".into());
        assert_eq!(row[1..6], [const { Cell::Missing }; 5]);
        assert_eq!(row[6..9], [0.5, 0.25, 0.75].map(Cell::Number));
        assert_eq!(row[9..], [Cell::Integer(2), Cell::Missing, Cell::Missing]);
        assert_eq!(table.rows()[1][0], "a".into());
    }
}
