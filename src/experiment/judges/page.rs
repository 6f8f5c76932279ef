//! The page: judges side by side, accuracy against tokens, and what the columns mean.

use super::row::Row;
use super::study::JudgesRun;
use crate::report::html::{Page, Section, SectionCell, ShownTable};
use crate::report::plot::{Bar, BarChart, NamedPoint, PointChart};

/// Metrics drawn side by side, with the value that says nothing.
const CHARTS: [(&str, Option<f64>, &str); 4] = [
    ("accuracy", Some(0.5), "Share of verdicts that are the gold one, each order by itself"),
    ("accuracy_combined", None, "The same for the combined verdict; one that flips is a tie"),
    ("consistency", None, "Share of pairs with the same verdict in both orders"),
    ("first_place", Some(0.5), "Share of verdicts for the answer shown first; .5 is fair"),
];

impl JudgesRun {
    /// The page of the run.
    pub(crate) fn page(&self) -> Page {
        let bars = CHARTS.iter().filter_map(|&(metric, reference, caption)| {
            let bars: Vec<Bar> = self.of(metric).map(bar).collect();
            let drawn = bars.iter().any(|bar| bar.value.is_some());
            let chart = BarChart {
                title: format!("{metric} of every judge"),
                x_name: format!("{metric}; error bars: 95 % interval"),
                x_range: Some((0.0, 1.0)),
                reference,
                bars,
            };
            drawn.then(|| (chart.svg(), format!("{caption}.")))
        });
        let report = self.report();
        Page {
            title: "How well judges of pairs judge".into(),
            lead: report
                .table
                .headline()
                .map(str::to_owned)
                .into_iter()
                .chain(report.footer)
                .collect(),
            reading: reading(),
            figures: self.against_tokens().into_iter().chain(bars).collect(),
            sections: self.exchange.iter().map(debate).collect(),
            table: ShownTable::Open,
            ..Page::default()
        }
    }

    fn of<'a>(&'a self, metric: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.method.is_some() && row.metric == metric)
    }

    /// Accuracy against what a verdict costs, where costs are known.
    fn against_tokens(&self) -> Option<(String, String)> {
        let points: Vec<NamedPoint> = self
            .of("tokens_per_verdict")
            .filter_map(|tokens| {
                let name = tokens.method.clone()?;
                let accuracy = self.row(&name, "accuracy")?;
                Some(NamedPoint {
                    x: tokens.value?,
                    y: accuracy.value?,
                    error: accuracy.interval,
                    name,
                })
            })
            .collect();
        let chart = PointChart {
            title: "Accuracy against tokens".into(),
            x_name: "tokens per verdict".into(),
            y_name: "accuracy; error bars: 95 % interval".into(),
            points,
        };
        let caption = "What more tokens buy: a debate has to lie above the repeated single calls \
                       of the same cost.";
        (!chart.points.is_empty()).then(|| (chart.svg(), caption.to_owned()))
    }
}

/// A debate turn by turn.
fn debate((title, turns): &(String, Vec<(String, String)>)) -> Section {
    let cells = |(speaker, text): &(String, String)| {
        [speaker, text].map(|text| SectionCell::Text(text.clone())).to_vec()
    };
    Section {
        id: "debate",
        title: title.clone(),
        lead: "What was said, from the first turn to the last; scores are by side.".into(),
        columns: vec!["who", "what"],
        rows: turns.iter().map(cells).collect(),
        ..Section::default()
    }
}

fn bar(row: &Row) -> Bar {
    Bar { name: row.method.clone().unwrap_or_default(), value: row.value, error: row.interval }
}

fn reading() -> Vec<String> {
    [
        "Look at consistency before accuracy: a judge whose verdict changes with the order says \
         something about the order.",
        "A debate costs several times the tokens of a single call. Compare it with single calls \
         repeated at the same cost, not with one call.",
        "Two intervals may overlap although the difference of two judges is clear: the rows \
         difference and p_mcnemar compare them on the same pairs.",
        "Where people disagree no judge can agree with all of them; vote_ceiling says how far one \
         could get.",
    ]
    .map(str::to_owned)
    .to_vec()
}
