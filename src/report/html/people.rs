//! The figure of a view of people.

use super::super::plot::Histogram;
use super::super::printable;
use super::model::{People, View};

/// The distribution of the scores of one view.
pub(super) fn histogram(people: &People, view: &View) -> Histogram {
    let name = printable(&view.name);
    Histogram {
        title: format!("{name} score of all {}s", people.noun),
        x_name: format!("{name} score"),
        y_name: format!("{}s", people.noun),
        values: view.rows.iter().filter_map(|row| row.score).collect(),
    }
}
