//! The rows of the result, and what is said about them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::best::Best;
use super::error::AgreementError;
use super::panel::MOST_CLASSES;
use super::run::{AgreementRun, Measured};
use super::work::Row;
use crate::data::warning::first_names;
use crate::report::{Board, Cell, Exporter, Report, Table, TextExporter, settings_map};

/// Columns of the result, a contract with scripts.
pub(crate) const COLUMNS: [&str; 10] = [
    "source",
    "against",
    "metric",
    "value",
    "ci_low",
    "ci_high",
    "n_items",
    "n_missing",
    "lower_bound",
    "upper_bound",
];

/// Metrics of the table for people; the other formats have all.
const SHOWN: [&str; 17] = [
    "accuracy",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "mae",
    "rmse",
    "bias",
    "pearson",
    "spearman",
    "icc_2_1",
    "icc_2_k",
    "auc",
    "ac1",
    "fleiss",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
];

/// Metrics whose differences and p-values are in the table for people.
const COMPARED: [&str; 5] = ["accuracy", "kappa", "kappa_quadratic", "mae", "auc"];

/// Sources whose matrices are written out in the table for people.
const WRITTEN_OUT: usize = 2;

impl AgreementRun {
    /// All rows: of every source the base rates and the confusion matrix, of up to a dozen labels,
    /// then the metrics; then
    /// raters among themselves, comparisons, changes and the alternative annotator test.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for measured in &self.measured {
            rows.extend(self.counts(measured));
            rows.extend(self.metrics(measured));
        }
        rows.extend(self.more.iter().cloned());
        rows
    }

    /// Whether labels are few enough to be looked at one by one, and gold ones are among them.
    pub(super) fn are_classes(&self) -> bool {
        self.are_labels && self.scale.len() <= MOST_CLASSES
    }

    fn counts(&self, measured: &Measured) -> Vec<Row> {
        let Measured { source, against, matrix, .. } = measured;
        let (total, names) = (matrix.total(), &self.scale.names);
        let row = |metric: String, value| Row::new(source, against, metric, total).with(value);
        let share = |count: u64| (total > 0).then(|| count as f64 / total as f64);
        let (gold, given) = (matrix.gold_counts(), matrix.label_counts());
        let mut rows = Vec::new();
        if !self.are_classes() && self.scale.values.is_some() {
            return rows;
        }
        for (name, &count) in names.iter().zip(&gold) {
            rows.push(row(format!("gold_share:{name}"), share(count)));
        }
        for (name, &count) in names.iter().zip(&given) {
            rows.push(row(format!("share:{name}"), share(count)));
        }
        for (gold, counts) in names.iter().zip(matrix.rows()).filter(|_| self.are_classes()) {
            for (label, &count) in names.iter().zip(counts) {
                rows.push(row(format!("count:{gold}:{label}"), Some(count as f64)));
            }
        }
        rows
    }

    fn metrics<'a>(&'a self, measured: &'a Measured) -> impl Iterator<Item = Row> + 'a {
        let (items, missing) = (measured.matrix.total(), measured.missing.iter().sum());
        self.panel.names().iter().enumerate().map(move |(index, name)| Row {
            value: measured.values[index],
            interval: measured.intervals[index],
            missing: Some(missing),
            bounds: measured.bounds[index],
            ..Row::new(&measured.source, &measured.against, name.clone(), items)
        })
    }

    /// The report with all rows, for machines.
    pub fn report(&self) -> Report {
        self.report_of(&self.rows())
    }

    /// The report for people: of several sources a row each, best first; of one or two base rates and
    /// matrices, then a dozen metrics.
    pub(crate) fn summary(&self) -> Report {
        if let Some(report) = self.leaderboard() {
            return report;
        }
        let mut rows: Vec<Row> = Vec::new();
        for measured in &self.measured {
            rows.extend(self.metrics(measured).filter(|row| SHOWN.contains(&row.metric.as_str())));
        }
        rows.extend(self.more.iter().filter(|row| is_shown(&row.metric)).cloned());
        let mut report = self.report_of(&rows);
        let mut prose = format!("{}\n\n", self.answer());
        prose.push_str(&if self.are_classes() { self.base_rates() } else { self.locations() });
        if self.measured.len() <= WRITTEN_OUT && self.are_classes() {
            self.measured.iter().for_each(|measured| prose.push_str(&self.matrix(measured)));
        }
        prose.push_str(&grid(&without_repetition(&report.table)));
        report.prose = Some(prose);
        report
    }

    /// A row a source, where there are several with the same gold.
    fn leaderboard(&self) -> Option<Report> {
        let (best, gold) = (self.best.as_ref()?, &self.measured.first()?.against);
        if self.measured.len() <= WRITTEN_OUT
            || !self.changes.is_empty()
            || self.measured.iter().any(|measured| measured.against != *gold)
        {
            return None;
        }
        let mut metrics: Vec<&'static str> =
            ["kappa_quadratic", "kappa", "accuracy", "mae", "bias"]
                .into_iter()
                .filter(|metric| self.are_labels || *metric != "kappa")
                .collect();
        metrics.sort_by_key(|metric| *metric != best.metric);
        let only = [("against", gold.as_str().into())];
        let board = Board {
            names: &["source"],
            metrics: Some(("metric", &metrics)),
            value: "value",
            beside: &["ci_low", "ci_high", "n_items"],
            only: &only,
        };
        let mut report = self.report();
        let standings = board.standings(&report.table);
        if standings.is_empty() {
            return None;
        }
        let mut table = board.table(&report.table, &standings);
        table.set_headline(self.answer());
        report.table = table;
        report.footer.push(
            "Base rates, matrices, comparisons and all metrics are in files and on the page."
                .into(),
        );
        Some(report)
    }

    fn report_of(&self, rows: &[Row]) -> Report {
        let mut table = Table::new(&COLUMNS);
        rows.iter().for_each(|row| table.push(row.cells()));
        let mut settings = settings_map(&self.settings);
        settings.insert("cluster".into(), self.cluster_column.clone().into());
        Report {
            command: "agree",
            inputs: self.inputs.clone(),
            settings,
            table,
            warnings: self.warnings.clone(),
            footer: self.footer(),
            prose: None,
        }
    }

    /// Which source is best, and whether it is more than chance: the first line for people.
    pub(crate) fn answer(&self) -> String {
        let Some(best) = &self.best else {
            let alpha = self.more.iter().find(|row| row.metric == "alpha_nominal");
            let alpha = alpha.and_then(|row| Some((row, row.value?)));
            return match alpha {
                _ if self.has_gold => "No source can be called best: kappa is undefined, as where \
                                       only one label occurs."
                    .into(),
                Some((row, alpha)) => format!(
                    "No gold labels, so none is best; the {} agree with each other by alpha \
                     {alpha:.3}{}.",
                    row.source,
                    between(row.interval)
                ),
                None => "No gold labels, so none is best.".into(),
            };
        };
        let Best { source, against, metric, value, interval, next } = best;
        let held = against.as_ref().map_or_else(
            || "on the mean over the people who are gold in turn".to_owned(),
            |against| format!("against {against}"),
        );
        let first = format!("{metric} {value:.3}{} {held}", between(*interval));
        let Some(next) = next else { return format!("{source} agrees with {first}.") };
        let then = format!("Best: {source}, {first}; next {}, {:.3}.", next.source, next.value);
        let (Some(difference), true) = (next.difference, next.items > 0) else {
            let why = if against.is_none() {
                "is tested against one gold label per task only"
            } else {
                "cannot be said: they share too few tasks"
            };
            return format!("{then} Whether that is more than chance {why}.");
        };
        let p_value = next.p_value.map_or(String::new(), |p_value| match p_value {
            p_value if p_value < 0.001 => ", p < 0.001".to_owned(),
            p_value => format!(", p = {p_value:.3}"),
        });
        let verdict = if next.is_clearly_behind() {
            "is more than chance"
        } else {
            "could be chance: take them as equally good"
        };
        format!(
            "{then} On the {} tasks of both the difference is {difference:.3}{}{p_value}; it \
             {verdict}.",
            next.items,
            between(next.interval)
        )
    }

    /// Mean and spread of numbers of which there are too many to show how often each is given.
    fn locations(&self) -> String {
        let Some(values) = &self.scale.values else {
            return format!(" {} labels: too many to show\n\n", self.scale.len());
        };
        let line = |name: &str, counts: &[u64]| -> Vec<String> {
            let numbers = || values.iter().zip(counts).map(|(value, &count)| (value, count as f64));
            let total: f64 = numbers().map(|(_, count)| count).sum();
            let mean = numbers().map(|(value, count)| value * count).sum::<f64>() / total;
            let squares: f64 = numbers().map(|(value, count)| count * (value - mean).powi(2)).sum();
            let shown = |value: f64, least: f64| match total {
                total if total >= least => format!("{value:.3}"),
                _ => "-".to_owned(),
            };
            let spread = shown((squares / (total - 1.0)).sqrt(), 2.0);
            vec![name.to_owned(), format!("{total}"), shown(mean, 1.0), spread]
        };
        let mut lines = vec![["labels", "items", "mean", "sd"].map(str::to_owned).to_vec()];
        lines.extend(self.given().iter().map(|(name, counts)| line(name, counts)));
        aligned(&lines)
    }

    /// How often everybody gives every label, gold first, each name once however many it is held against:
    /// with the most items of all these.
    fn given(&self) -> Vec<(&str, Vec<u64>)> {
        let mut given: Vec<(&str, Vec<u64>)> = Vec::new();
        let mut places = BTreeMap::new();
        for measured in &self.measured {
            let Measured { source, against, matrix, missing, .. } = measured;
            let gold = matrix.gold_counts().iter().zip(missing).map(|(a, b)| a + b).collect();
            // A source may be called as the gold is; without gold all are sources.
            let both = [(against, self.has_gold, gold), (source, false, matrix.label_counts())];
            for (name, is_gold, counts) in both {
                let place = *places.entry((name, is_gold)).or_insert(given.len());
                match given.get_mut(place) {
                    None => given.push((name, counts)),
                    Some((_, kept)) if kept.iter().sum::<u64>() < counts.iter().sum() => {
                        *kept = counts;
                    }
                    Some(_) => {}
                }
            }
        }
        given
    }

    /// Shares of every label in gold and for every source.
    fn base_rates(&self) -> String {
        let names = &self.scale.names;
        let mut lines = vec![
            ["base rates".to_owned(), "items".to_owned()]
                .into_iter()
                .chain(names.iter().cloned())
                .collect::<Vec<_>>(),
        ];
        let line = |name: &str, counts: &[u64]| -> Vec<String> {
            let total: u64 = counts.iter().sum();
            let share = |count: u64| match total {
                0 => "-".to_owned(),
                total => format!("{:.3}", count as f64 / total as f64),
            };
            let shares = counts.iter().copied().map(share);
            [name.to_owned(), total.to_string()].into_iter().chain(shares).collect()
        };
        lines.extend(self.given().iter().map(|(name, counts)| line(name, counts)));
        aligned(&lines)
    }

    /// The confusion matrix of a source.
    fn matrix(&self, measured: &Measured) -> String {
        let names = &self.scale.names;
        let corner = format!("{} \\ {}", measured.against, measured.source);
        let mut lines: Vec<Vec<String>> =
            vec![std::iter::once(corner).chain(names.iter().cloned()).collect()];
        for (name, row) in names.iter().zip(measured.matrix.rows()) {
            let counts = row.iter().map(u64::to_string);
            lines.push(std::iter::once(name.clone()).chain(counts).collect());
        }
        aligned(&lines)
    }

    fn footer(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let (clusters, each) = self.clusters;
        let draws = self.settings.draws;
        let what = if each {
            "tasks (if they come in groups, such as topics, name the groups: the intervals widen)"
        } else {
            "clusters"
        };
        lines.push(match clusters {
            0 | 1 => "No intervals of sources: all their tasks are one cluster.".to_owned(),
            _ => format!(
                "Intervals: 95 %, percentile bootstrap over {clusters} {what}, B = {draws}, seed {}.",
                self.settings.seed
            ),
        });
        // Raters among themselves are compared on all tasks that two of them label.
        let raters = self.more.iter().filter(|row| row.source == row.against);
        let widest = raters.filter(|row| is_among_raters(&row.metric)).map(|row| row.items).max();
        if let Some(tasks) = widest.filter(|&tasks| !each || tasks != clusters as u64) {
            lines.push(format!(
                "fleiss and alpha of people or sources among themselves are of the {tasks} tasks that \
                 two of them label, with a gold label or without, and so are their intervals."
            ));
        }
        if !self.are_labels {
            lines.push(
                "Gold is a number between labels: what counts equal labels (accuracy, kappa) needs a \
                 cut of the scale, or the majority as gold."
                    .to_owned(),
            );
        }
        let lacks_one = |measured: &Measured| {
            measured.values.iter().zip(&measured.intervals).any(|(v, i)| v.is_some() && i.is_none())
        };
        if clusters > 1 && self.measured.iter().any(lacks_one) {
            lines.push(
                "No interval: all draws are equal, which makes nothing certain, or a tenth of them is \
                 undefined."
                    .to_owned(),
            );
        }
        if self.scale.are_places {
            lines.push(format!(
                "Labels in order, one step apart: {}.",
                self.scale.names.join(" < ")
            ));
        }
        if self.measured.iter().any(|measured| measured.missing.iter().any(|&n| n > 0)) {
            lines.push(
                "Bounds: the metric if all missing labels were right, if all were wrong, and without them; \
                 kappas, correlations and AUC could go beyond."
                    .to_owned(),
            );
        }
        for result in &self.alternatives {
            let (Some(omega), Some(rho)) = (result.outcome.winning_rate, result.outcome.advantage)
            else {
                let left_out = result.outcome.left_out;
                lines.push(format!(
                    "{}: nobody has enough items for the alternative annotator test ({left_out} \
                     people have some).",
                    result.source
                ));
                continue;
            };
            let verdict = if omega >= crate::metrics::alternative_annotator::REPLACES_FROM {
                "may replace people by this test"
            } else {
                "is not shown to be good enough to replace people"
            };
            let fails = result.fails_for();
            let fails = match fails.len() {
                0 => String::new(),
                _ => format!("; it is not shown to be as good as {}", first_names(&fails)),
            };
            lines.push(format!(
                "{} {verdict}: omega {omega:.2}, rho {rho:.2}{fails}.",
                result.source
            ));
        }
        lines
    }

    /// Sentences about the bounds that do not hold, and about sources that were lost since the
    /// earlier labels; none if all is well.
    ///
    /// # Errors
    ///
    /// [`AgreementError::UnknownMetric`] if no row has the metric of a bound.
    pub(crate) fn broken_bounds(&self) -> Result<Vec<String>, AgreementError> {
        let rows = self.rows();
        let mut broken: Vec<String> =
            self.lost.iter().map(|lost| lost.to_warning().message).collect();
        for bound in &self.settings.require {
            let mut found = false;
            for row in rows.iter().filter(|row| row.metric == bound.metric) {
                found = true;
                if !bound.holds(row.value) {
                    let value = row.value.map_or("undefined".into(), |v| format!("{v:.4}"));
                    let Row { source, against, metric, .. } = row;
                    broken.push(format!(
                        "{metric} of {source} against {against} is {value}, required: {bound}"
                    ));
                }
            }
            // Of sources that are all gone nothing can have changed; that they are gone is said.
            if !found && (!self.changes.is_empty() || self.lost.is_empty()) {
                let mut known: Vec<&str> = rows.iter().map(|row| row.metric.as_str()).collect();
                known.sort_unstable();
                known.dedup();
                known.retain(|metric| !metric.contains("share:") && !metric.contains("count:"));
                let (metric, known) = (bound.metric.clone(), known.join(", "));
                return Err(AgreementError::UnknownMetric { metric, known });
            }
        }
        Ok(broken)
    }
}

/// Whether a metric is one of raters who need no gold label.
fn is_among_raters(metric: &str) -> bool {
    metric == "fleiss" || metric.starts_with("alpha_")
}

impl Row {
    /// The cells under [`COLUMNS`].
    fn cells(&self) -> Vec<Cell> {
        let (low, high) = self.interval.unzip();
        let (lower, upper) = self.bounds.unzip();
        vec![
            self.source.as_str().into(),
            self.against.as_str().into(),
            self.metric.as_str().into(),
            self.value.into(),
            low.into(),
            high.into(),
            self.items.into(),
            self.missing.into(),
            lower.into(),
            upper.into(),
        ]
    }
}

fn is_shown(metric: &str) -> bool {
    match metric.split_once(':') {
        None | Some(("moved", _)) => true,
        Some((_, of)) => COMPARED.contains(&of),
    }
}

/// An interval in brackets, if there is one.
fn between(interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| format!(" ({low:.3} to {high:.3})"))
}

/// Columns of equal width with an empty line after them: the first to the left, others to the
/// right.
fn aligned(lines: &[Vec<String>]) -> String {
    /// No cell makes its column wider; the format of texts takes no more than 65,535.
    const WIDEST: usize = 200;
    let columns = lines.first().map_or(0, Vec::len);
    let of = |cell: &str| crate::report::printable(cell).chars().count().min(WIDEST);
    let width = |column: usize| lines.iter().map(|line| of(&line[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let cell = crate::report::printable(cell);
            // Writing to a string cannot fail.
            _ = match column {
                0 => write!(text, " {cell:width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The table without columns that say one thing throughout: what all are held against, and bounds where
/// no label is missing.
fn without_repetition(table: &Table) -> Table {
    let rows = table.rows();
    let one_gold = rows.windows(2).all(|pair| pair[0][1] == pair[1][1]);
    let none_missing = rows.iter().all(|row| matches!(row[7], Cell::Missing | Cell::Integer(0)));
    let columns = table.columns().iter().enumerate();
    let kept = columns.filter(|&(at, _)| !(at == 1 && one_gold || at > 6 && none_missing));
    let (places, names): (Vec<usize>, Vec<&'static str>) = kept.unzip();
    let mut narrow = Table::new(&names);
    for row in rows {
        narrow.push(places.iter().map(|&place| row[place].clone()).collect());
    }
    narrow
}

/// The table as text, without footer and warnings.
fn grid(table: &Table) -> String {
    let report = Report {
        command: "agree",
        inputs: Vec::new(),
        settings: serde_json::Map::new(),
        table: table.clone(),
        warnings: Vec::new(),
        footer: Vec::new(),
        prose: None,
    };
    let mut bytes = Vec::new();
    // Memory takes everything, and the exporter writes text.
    _ = TextExporter { color: false, width: None }.write(&report, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
