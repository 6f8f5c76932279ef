//! What the labels of every prompt cost, where their file says so.

use std::collections::BTreeMap;

use crate::data::problem::{DataError, Problems};
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::Source;

const fn column(name: &'static str, synonyms: &'static [&'static str]) -> Column {
    Column { name, synonyms, required: false }
}

/// Who labelled, by which prompt, and whether there is a label; then what the row cost.
const SCHEMA: [Column; 8] = [
    column("source", &["model", "judge", "llm"]),
    column("worker", &["annotator"]),
    column("prompt", &[]),
    column("label", &["answer", "response", "value", "grade"]),
    column("tokens_read", &[]),
    column("tokens_written", &[]),
    column("tokens", &[]),
    column("seconds", &[]),
];

/// Position of the first cost in [`SCHEMA`].
const FIRST: usize = 4;

/// Sums over the rows of a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Costs {
    /// Rows with a label.
    labels: u64,
    /// Tokens read, written, and both; `None` where a row does not say.
    sums: [Option<f64>; 3],
    rows: u64,
    /// Seconds of the rows that say them, and how many labels those rows have: an answer that was kept from
    /// an earlier run has none, and is no reason to say nothing of the others.
    seconds: Option<f64>,
    timed_labels: u64,
}

impl Costs {
    /// By name, for each label: tokens, seconds, and the price at so much for a million tokens read
    /// and written. What unreadable answers cost is part of it.
    pub(super) fn per_label(&self, prices: Option<[f64; 2]>) -> Vec<(&'static str, f64)> {
        if self.labels == 0 {
            return Vec::new();
        }
        let [read, written, both] = self.sums;
        let split = read.zip(written);
        let tokens = split.map(|(read, written)| read + written).or(both);
        let price = split.zip(prices).map(|((read, written), [price_read, price_written])| {
            (price_read * read + price_written * written) / 1e6
        });
        let timed = self.seconds.filter(|_| self.timed_labels > 0);
        let each = [
            ("tokens_per_label", tokens, self.labels),
            ("seconds_per_label", timed, self.timed_labels),
            ("price_per_label", price, self.labels),
        ];
        let mut found: Vec<(&'static str, f64)> = each
            .into_iter()
            .filter_map(|(name, sum, labels)| Some((name, sum? / labels as f64)))
            .collect();
        // One request at a time.
        let timed = timed.filter(|seconds| *seconds > 0.0);
        found.extend(timed.map(|s| ("labels_per_hour", 3600.0 * self.timed_labels as f64 / s)));
        found
    }

    /// Rows with a label.
    pub(super) fn labels(&self) -> u64 {
        self.labels
    }
}

/// Costs by the name of the labeller, `source:prompt`; a label that `is_none` knows as none was paid
/// for all the same.
pub(super) fn read_costs(
    source: &Source,
    is_none: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Costs>, DataError> {
    let mut problems = Problems::new();
    let mut found: BTreeMap<String, Costs> = BTreeMap::new();
    let mut file = FileProblems::new(source, &mut problems);
    let stem = source.stem();
    read_rows(source, &SCHEMA, &mut file, &mut |row, problems| {
        let name = |index: usize| row.fields[index].as_name();
        let mut who = name(0).or_else(|| name(1)).map_or_else(|| stem.clone(), Into::into);
        if let Some(prompt) = name(2) {
            who = format!("{who}:{prompt}");
        }
        let costs = found.entry(who).or_default();
        let first = costs.rows == 0;
        costs.rows += 1;
        let is_label = !row.fields[3].is_missing() && !name(3).is_some_and(|label| is_none(&label));
        costs.labels += u64::from(is_label);
        let numbers: [Option<f64>; 4] = std::array::from_fn(|index| {
            let field = &row.fields[FIRST + index];
            let number = field.as_name().and_then(|text| text.parse::<f64>().ok());
            let number = number.filter(|number| number.is_finite() && *number >= 0.0);
            if number.is_none() && !field.is_missing() {
                let column = SCHEMA[FIRST + index].name;
                problems.report(Some(row.line), Some(column), "is not a number of at least 0");
            }
            number
        });
        for (sum, number) in costs.sums.iter_mut().zip(numbers) {
            let before = if first { Some(0.0) } else { *sum };
            *sum = before.zip(number).map(|(before, number)| before + number);
        }
        if let Some(seconds) = numbers[3] {
            costs.seconds = Some(costs.seconds.unwrap_or(0.0) + seconds);
            costs.timed_labels += u64::from(is_label);
        }
    });
    problems.into_result()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn costs(text: &str) -> BTreeMap<String, Costs> {
        let source = Source::from_reader(Path::new("l.csv"), text.as_bytes()).unwrap();
        read_costs(&source, |label| label == "???").unwrap()
    }

    #[test]
    fn unreadable_answers_cost_and_are_no_labels() {
        let found = costs(
            "task,source,prompt,label,tokens_read,tokens_written,seconds\n\
             1,m,A,2,100,10,0.5\n2,m,A,,200,30,1.5\n3,m,A,1,100,10,\n1,m,none,1,50,5,1\n\
             1,m,N,1,50,5,1\n2,m,N,???,50,5,1\n",
        );
        // 450 tokens and 2 labels; the rows that say their seconds have one of these.
        let of_a = found["m:A"].per_label(Some([2.0, 10.0]));
        assert_eq!(of_a[..2], [("tokens_per_label", 225.0), ("seconds_per_label", 2.0)]);
        // (2 * 400 + 10 * 50) / 1e6 for two labels.
        assert_eq!(of_a[2].0, "price_per_label");
        assert!((of_a[2].1 - 0.000_65).abs() < 1e-15);
        assert_eq!(of_a[3..], [("labels_per_hour", 1800.0)]);
        let of_none = found["m:none"].per_label(None);
        let expected =
            [("tokens_per_label", 55.0), ("seconds_per_label", 1.0), ("labels_per_hour", 3600.0)];
        assert_eq!(of_none, expected);
        // Of two labels one is none on the scale: 110 tokens and 2 seconds for the other.
        let expected =
            [("tokens_per_label", 110.0), ("seconds_per_label", 2.0), ("labels_per_hour", 1800.0)];
        assert_eq!(found["m:N"].per_label(None), expected);
    }

    #[test]
    fn files_without_costs_have_none_and_one_number_of_tokens_has_no_price() {
        assert!(costs("task,label\n1,2\n")["l"].per_label(Some([1.0, 1.0])).is_empty());
        let found = costs("task,worker,label,tokens\n1,w,2,7\n");
        assert_eq!(found["w"].per_label(Some([1.0, 1.0])), [("tokens_per_label", 7.0)]);
    }
}
