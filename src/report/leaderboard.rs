//! What does best, of a table with rows of several metrics each: one row a method, best first.

use std::collections::BTreeMap;

use super::{Cell, Table, three_decimals};

/// Which rows of a table are compared, and by what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Board<'a> {
    /// Columns that together name what is compared.
    pub names: &'a [&'static str],
    /// The column of the name of the metric, and the metrics: the first orders the rows. `None` for a
    /// table of one metric.
    pub metrics: Option<(&'static str, &'a [&'static str])>,
    /// The column of the value.
    pub value: &'static str,
    /// Columns that are shown beside the value of the first metric.
    pub beside: &'a [&'static str],
    /// Rows take part in which these columns have these cells.
    pub only: &'a [(&'static str, Cell)],
}

/// A method and what it reaches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing<'a> {
    /// Its name.
    pub name: String,
    /// The value of the first metric.
    pub value: f64,
    /// The row of the first metric.
    row: &'a [Cell],
    /// The rows of all metrics.
    rows: BTreeMap<&'a str, &'a [Cell]>,
}

impl Board<'_> {
    /// Who has the first metric, best first, those of one value in the order of their names; nobody if a
    /// column is missing.
    pub(crate) fn standings<'a>(&self, table: &'a Table) -> Vec<Standing<'a>> {
        let place = |name: &str| table.place(name);
        let Some(value) = place(self.value) else { return Vec::new() };
        let names: Vec<usize> = self.names.iter().filter_map(|name| place(name)).collect();
        let takes_part = |row: &&Vec<Cell>| {
            self.only.iter().all(|(column, cell)| place(column).is_none_or(|p| row[p] == *cell))
        };
        let mut methods: BTreeMap<Vec<String>, BTreeMap<&str, &[Cell]>> = BTreeMap::new();
        for row in table.rows().iter().filter(takes_part) {
            let name: Option<Vec<String>> = names.iter().map(|&p| words(&row[p])).collect();
            let metric = match self.metrics.and_then(|(column, _)| place(column)) {
                Some(column) => match &row[column] {
                    Cell::Text(metric) => metric.as_str(),
                    _ => continue,
                },
                None => "",
            };
            if let Some(name) = name {
                methods.entry(name).or_default().insert(metric, row);
            }
        }
        let first = self.metrics.and_then(|(_, metrics)| metrics.first().copied()).unwrap_or("");
        let mut all: Vec<Standing> = methods
            .into_iter()
            .filter_map(|(name, rows)| {
                let row = *rows.get(first)?;
                let Cell::Number(reached) = row[value] else { return None };
                Some(Standing { name: name.join(", "), value: reached, row, rows })
            })
            .collect();
        all.sort_by(|a, b| b.value.total_cmp(&a.value));
        all
    }

    /// One row each, best first: names, the first metric and what is beside it, the other metrics that
    /// anybody has.
    pub(crate) fn table(&self, table: &Table, standings: &[Standing]) -> Table {
        let cell =
            |row: &[Cell], name: &str| table.place(name).map_or(Cell::Missing, |p| row[p].clone());
        let metrics = self.metrics.map_or(&[][..], |(_, metrics)| metrics);
        let others: Vec<&'static str> = metrics
            .iter()
            .skip(1)
            .copied()
            .filter(|metric| standings.iter().any(|its| its.rows.contains_key(metric)))
            .collect();
        let first = metrics.first().copied().unwrap_or(self.value);
        let columns = [self.names, &[first], self.beside, &others].concat();
        let mut board = Table::new(&columns);
        for standing in standings {
            let mut row: Vec<Cell> =
                self.names.iter().map(|name| cell(standing.row, name)).collect();
            row.push(standing.value.into());
            row.extend(self.beside.iter().map(|column| cell(standing.row, column)));
            row.extend(others.iter().map(|metric| {
                standing.rows.get(metric).map_or(Cell::Missing, |row| cell(row, self.value))
            }));
            board.push(row);
        }
        board
    }

    /// The best one with its interval, and how many others' intervals reach it; `None` for nobody.
    pub(crate) fn answer(&self, table: &Table) -> Option<String> {
        let standings = self.standings(table);
        let best = standings.first()?;
        let ends = |standing: &Standing| {
            let number = |name: &str| {
                if let Cell::Number(number) = standing.row[table.place(name)?] {
                    Some(number)
                } else {
                    None
                }
            };
            Some((number("ci_low")?, number("ci_high")?))
        };
        let metric = self.metrics.and_then(|(_, all)| all.first().copied()).unwrap_or(self.value);
        let count = standings.len();
        let value = three_decimals(best.value);
        let mut said = format!("Best of {count} by {metric}: {}, {value}", best.name);
        if let Some((low, high)) = ends(best) {
            said.push_str(&format!(" ({} to {})", three_decimals(low), three_decimals(high)));
            let reaches = |other: &&Standing| ends(other).is_some_and(|(_, high)| high >= low);
            said.push_str(&match standings[1..].iter().filter(reaches).count() {
                0 if count == 1 => String::new(),
                0 => "; no other's interval reaches it".to_owned(),
                1 => "; the interval of another one reaches it".to_owned(),
                near => format!("; the intervals of {near} others reach it"),
            });
        }
        Some(said + ".")
    }
}

fn words(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Number(_) | Cell::Missing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&["method", "set", "metric", "value", "ci_low", "ci_high", "n_items"]);
        for (method, set, value) in
            [("a", "x", 0.5), ("b", "x", 0.9), ("c", "x", 0.85), ("d", "y", 1.0)]
        {
            for (metric, value) in [("accuracy", value), ("consistency", 1.0 - value)] {
                table.push(vec![
                    method.into(),
                    set.into(),
                    metric.into(),
                    value.into(),
                    (value - 0.05).into(),
                    (value + 0.05).into(),
                    7_usize.into(),
                ]);
            }
        }
        table
    }

    #[test]
    fn methods_stand_best_first_and_the_answer_says_who_cannot_be_told_from_the_best() {
        let table = table();
        let only = [("set", Cell::from("x"))];
        let board = Board {
            names: &["method"],
            metrics: Some(("metric", &["accuracy", "consistency", "kappa"])),
            value: "value",
            beside: &["ci_low", "n_items"],
            only: &only,
        };
        let said = "Best of 3 by accuracy: b, 0.900 (0.850 to 0.950); the interval of another one reaches it.";
        assert_eq!(board.answer(&table).as_deref(), Some(said));
        let shown = board.table(&table, &board.standings(&table));
        // A metric that nobody has is no column.
        assert_eq!(shown.columns(), ["method", "accuracy", "ci_low", "n_items", "consistency"]);
        let names: Vec<&Cell> = shown.rows().iter().map(|row| &row[0]).collect();
        assert_eq!(names, [&Cell::from("b"), &"c".into(), &"a".into()]);
        assert_eq!(shown.rows()[0][3], Cell::Integer(7));
    }

    #[test]
    fn a_table_without_the_columns_has_no_answer() {
        let board = Board { names: &["k"], metrics: None, value: "auc", beside: &[], only: &[] };
        assert_eq!(board.answer(&table()), None);
    }
}
