//! Rows of a metric each as one row a method, best first: what a terminal shows of many.

use std::collections::BTreeMap;

use crate::report::{Cell, Report, Table, three_decimals};

/// Most methods that are shown.
const SHOWN: usize = 20;

/// The report with one row per method, by the first of `metrics`, whose interval is shown, and the answer
/// before it; as it is where that metric is missing. `metrics` are columns of the table, too.
pub(super) fn leaderboard(report: &Report, metrics: [&'static str; 4]) -> Report {
    let all = &report.table;
    let column = |name: &str| all.columns().iter().position(|column| *column == name);
    let places = ["method", "metric", "value", "ci_low", "ci_high", "n_items"].map(column);
    let [Some(method), Some(metric), Some(value), Some(low), Some(high), Some(items)] = places
    else {
        return report.clone();
    };
    let mut methods: BTreeMap<&str, BTreeMap<&str, &[Cell]>> = BTreeMap::new();
    for row in all.rows() {
        if let (Cell::Text(method), Cell::Text(metric)) = (&row[method], &row[metric]) {
            methods.entry(method).or_default().insert(metric, row);
        }
    }
    let number = |cell: &Cell| if let Cell::Number(number) = cell { Some(*number) } else { None };
    let first =
        |its: &BTreeMap<&str, &[Cell]>| its.get(metrics[0]).and_then(|row| number(&row[value]));
    let mut order: Vec<_> = methods.iter().filter(|(_, its)| first(its).is_some()).collect();
    order.sort_by(|(_, a), (_, b)| first(b).unwrap_or(0.0).total_cmp(&first(a).unwrap_or(0.0)));
    let Some((best, its)) = order.first() else { return report.clone() };
    let mut table = Table::new(&[
        "method", metrics[0], "ci_low", "ci_high", metrics[1], metrics[2], metrics[3], "n_items",
    ]);
    for (name, its) in order.iter().take(SHOWN) {
        let of = |metric: &str, column: usize| {
            its.get(metric).map_or(Cell::Missing, |row| row[column].clone())
        };
        table.push(vec![
            (**name).into(),
            of(metrics[0], value),
            of(metrics[0], low),
            of(metrics[0], high),
            of(metrics[1], value),
            of(metrics[2], value),
            of(metrics[3], value),
            of(metrics[0], items),
        ]);
    }
    let ends = |its: &BTreeMap<&str, &[Cell]>| {
        let row = its.get(metrics[0])?;
        Some((number(&row[low])?, number(&row[high])?))
    };
    let mut said = format!(
        "Best of {} by {}: {best}, {}",
        order.len(),
        metrics[0],
        three_decimals(first(its).unwrap_or(0.0))
    );
    if let Some((low, high)) = ends(its) {
        said.push_str(&format!(" ({} to {})", three_decimals(low), three_decimals(high)));
        let near = order[1..]
            .iter()
            .filter(|(_, its)| ends(its).is_some_and(|(_, high)| high >= low))
            .count();
        said.push_str(&match near {
            0 => "; no other's interval reaches it".to_owned(),
            near => format!("; the intervals of {near} others reach it"),
        });
    }
    table.set_headline(said + ".");
    let left_out = order.len().saturating_sub(SHOWN);
    let more = if left_out > 0 { format!("{left_out} more methods and a") } else { "A".to_owned() };
    let mut report = report.clone();
    report.table = table;
    report.footer.push(format!("{more}ll metrics: --output FILE."));
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Exporter, TextExporter};

    #[test]
    fn methods_stand_best_first_and_the_answer_says_who_cannot_be_told_from_the_best() {
        let mut table = Table::new(&["method", "metric", "value", "ci_low", "ci_high", "n_items"]);
        for (method, value) in [("a", 0.5), ("b", 0.9), ("c", 0.85)] {
            let row = |metric: &str, value: f64| {
                let ends = [value - 0.05, value + 0.05].map(Cell::from);
                [
                    vec![method.into(), metric.into(), value.into()],
                    ends.to_vec(),
                    vec![7_usize.into()],
                ]
                .concat()
            };
            table.push(row("accuracy", value));
            table.push(row("consistency", 1.0 - value));
        }
        let report = Report {
            command: "experiment judges",
            inputs: Vec::new(),
            settings: serde_json::Map::new(),
            table,
            warnings: Vec::new(),
            footer: Vec::new(),
            prose: None,
        };
        let board = leaderboard(&report, ["accuracy", "consistency", "kappa", "ties"]);
        let mut shown = Vec::new();
        TextExporter { color: false, width: None }.write(&board, &mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.starts_with("Best of 3 by accuracy: b, 0.900 (0.850 to 0.950); the intervals of 1 others reach it."), "{shown}");
        let names: Vec<&str> = shown
            .lines()
            .skip(3)
            .take(3)
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(names, ["b", "c", "a"]);
    }
}
