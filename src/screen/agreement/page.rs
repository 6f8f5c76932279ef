//! The page: matrices as pictures, sources side by side, items where sources disagree.

use super::run::{AgreementRun, Disagreement, Measured};
use crate::metrics::agreement::Metric;
use crate::report::folded;
use crate::report::html::{Page, Section, SectionCell, ShownTable};
use crate::report::plot::{Bar, BarChart, MatrixChart};

/// Matrices that are drawn; the table has all.
const MOST_MATRICES: usize = 6;

/// Names of tasks that are longer are cut to their ends.
const LONG_TASK: usize = 24;

/// Metrics drawn side by side.
const CHARTS: [(Metric, &str); 5] = [
    (Metric::Kappa, "Cohen's kappa: 1 is full agreement, 0 what chance gives"),
    (Metric::KappaQuadratic, "Quadratic kappa: far misses count more than near ones"),
    (Metric::Accuracy, "Share of items with the gold label"),
    (Metric::Mae, "Mean absolute error on the scale as given: 0 is best"),
    (Metric::Auc, "Order of pairs of items with different gold labels; 0.5 is chance"),
];

impl AgreementRun {
    /// The page of the run.
    pub fn page(&self) -> Page {
        let charts = CHARTS.iter().filter_map(|&(metric, caption)| self.chart(metric, caption));
        let written_out = if self.are_classes() { MOST_MATRICES } else { 0 };
        let matrices = self.measured.iter().take(written_out).map(|m| self.matrix_chart(m));
        let report = self.report();
        let mut lead = vec![self.answer()];
        lead.extend(report.footer);
        Page {
            title: "How well labellers agree".into(),
            lead,
            reading: reading(),
            figures: charts.chain(matrices).collect(),
            sections: self.where_sources_disagree().into_iter().collect(),
            table: ShownTable::Open,
            ..Page::default()
        }
    }

    /// The items on which sources disagree most, for people to read.
    fn where_sources_disagree(&self) -> Option<Section> {
        let names: Vec<&str> = self.disagreements.iter().map(|item| item.task.as_str()).collect();
        let short = folded(&names, LONG_TASK);
        let names = short.unwrap_or_else(|| names.into_iter().map(str::to_owned).collect());
        let row = |(item, name): (&Disagreement, String)| {
            let labels: Vec<String> =
                item.labels.iter().map(|(label, count)| format!("{label} x{count}")).collect();
            let gold = item.gold.clone().unwrap_or_else(|| "-".into());
            [name, gold, labels.join(", ")].map(SectionCell::Text).to_vec()
        };
        (!names.is_empty()).then(|| Section {
            id: "disagreement",
            title: "Where sources disagree most".into(),
            lead: "Read these tasks first: where labels differ so much, the task or its rules are often unclear.".into(),
            columns: vec!["task", "gold", "labels by sources"],
            rows: self.disagreements.iter().zip(names).map(row).collect(),
            ..Section::default()
        })
    }

    fn chart(&self, metric: Metric, caption: &str) -> Option<(String, String)> {
        let index = self.panel.position(metric)?;
        let one = self.measured.iter().all(|m| m.against == self.measured[0].against);
        let mut bars: Vec<Bar> = self
            .measured
            .iter()
            .map(|measured| Bar {
                name: if one {
                    measured.source.clone()
                } else {
                    format!("{}, {}", measured.source, measured.against)
                },
                value: measured.values[index],
                error: measured.intervals[index],
            })
            .collect();
        bars.sort_by(|a, b| b.value.unwrap_or(f64::MIN).total_cmp(&a.value.unwrap_or(f64::MIN)));
        let name = &self.panel.names()[index];
        let chart = BarChart {
            title: format!("{name} of every source"),
            x_name: format!("{name}; error bars: 95 % interval"),
            x_range: None,
            reference: None,
            bars,
        };
        Some((chart.svg(), format!("{caption}.")))
    }

    fn matrix_chart(&self, measured: &Measured) -> (String, String) {
        let Measured { source, against, matrix, missing, .. } = measured;
        let chart = MatrixChart {
            title: format!("{source} against {against}"),
            row_name: against.clone(),
            column_name: source.clone(),
            labels: self.scale.names.clone(),
            counts: matrix.rows().map(<[u64]>::to_vec).collect(),
        };
        let missing: u64 = missing.iter().sum();
        let caption = format!(
            "Rows: the label of {against}; columns: that of {source}; {} items, {missing} without \
             a readable label. Darker: a larger share of the row.",
            matrix.total()
        );
        (chart.svg(), caption)
    }
}

fn reading() -> Vec<String> {
    [
        "Look at the base rates and the matrix first: a labeller who always gives the most common \
         label has a high accuracy and says nothing.",
        "Kappa, AC1, Fleiss' kappa and alpha correct for chance in different ways; where they \
         differ much, one label is rare.",
        "An interval says how much the figure could change with other items of the same kind; over \
         clusters (topics, authors) it is wider, and honest if you want to speak of new ones.",
        "Bounds say what the items without a readable label could do at worst.",
        "Two intervals may overlap although the difference of two sources is clear: compare them \
         on the same items.",
    ]
    .map(str::to_owned)
    .to_vec()
}
