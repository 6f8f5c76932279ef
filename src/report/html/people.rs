//! From the table of a result to people with their scores.

use super::super::plot::Histogram;
use super::super::{Cell, Table, printable};
use super::model::{People, PersonRow, View};

/// Which columns of a table hold what.
#[derive(Debug, Clone, Copy)]
pub struct PeopleColumns {
    /// The name of the person.
    pub person: &'static str,
    /// The name of the score.
    pub view: &'static str,
    /// How many papers or tasks there are.
    pub count: &'static str,
}

/// One view per score, in the order of the table; the row of a person is at the number that
/// `number` gives to the name.
///
/// The page thus shows what the table says, digit by digit. Columns that the table does not have
/// are empty.
pub fn views_of(
    table: &Table,
    columns: PeopleColumns,
    people: usize,
    number: impl Fn(&str) -> Option<usize>,
) -> Vec<View> {
    let position = |name: &str| table.columns().iter().position(|column| *column == name);
    let [person, view, count] = [columns.person, columns.view, columns.count].map(position);
    let [score, low, high, rank, flag] =
        ["score", "ci_low", "ci_high", "rank", "flag"].map(position);
    let mut views: Vec<View> = Vec::new();
    for row in table.rows() {
        let cell = |column: Option<usize>| column.map(|column| &row[column]);
        let (Some(name), Some(person)) = (text(cell(view)), text(cell(person))) else { continue };
        let Some(person) = number(person).filter(|&person| person < people) else { continue };
        if views.last().is_none_or(|view| view.name != name) {
            let rows = vec![PersonRow::default(); people];
            views.push(View { name: name.to_owned(), meaning: String::new(), rows });
        }
        let view = views.last_mut().expect("one was pushed");
        view.rows[person] = PersonRow {
            score: float(cell(score)),
            interval: float(cell(low)).zip(float(cell(high))),
            rank: integer(cell(rank)),
            flag: text(cell(flag)).map(str::to_owned),
            count: integer(cell(count)),
        };
    }
    views
}

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

fn text(cell: Option<&Cell>) -> Option<&str> {
    match cell {
        Some(Cell::Text(text)) => Some(text),
        _ => None,
    }
}

fn float(cell: Option<&Cell>) -> Option<f64> {
    match cell {
        Some(Cell::Number(number)) => Some(*number),
        _ => None,
    }
}

fn integer(cell: Option<&Cell>) -> Option<u64> {
    match cell {
        Some(Cell::Integer(number)) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_per_score_with_the_row_of_every_person() {
        let mut table = Table::new(&["worker", "mechanism", "score", "ci_low", "ci_high", "n"]);
        let mut push = |worker: &str, mechanism: &str, score: Option<f64>| {
            table.push(vec![
                worker.into(),
                mechanism.into(),
                score.into(),
                score.map(|score| score - 1.0).into(),
                score.map(|score| score + 1.0).into(),
                7_usize.into(),
            ]);
        };
        push("b", "ca", Some(0.5));
        push("a", "ca", None);
        push("b", "oa", Some(2.0));
        let columns = PeopleColumns { person: "worker", view: "mechanism", count: "n" };
        let number = |name: &str| ["a", "b"].iter().position(|known| *known == name);
        let views = views_of(&table, columns, 2, number);
        let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(names, ["ca", "oa"]);
        assert_eq!(views[0].rows[0], PersonRow { count: Some(7), ..PersonRow::default() });
        assert_eq!(views[0].rows[1].interval, Some((-0.5, 1.5)));
        assert_eq!(views[1].rows[0], PersonRow::default());
        assert_eq!(views[1].rows[1].score, Some(2.0));
    }
}
