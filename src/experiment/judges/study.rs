//! From files to rows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bias::{length_slope, observations};
use super::compare::{Comparison, opponents};
use super::panel::Panel;
use super::row::{COLUMNS, Row};
use super::tally::{MEASURES, Measure, Sums, by_cluster, missing, weighted};
use super::verdicts::{Files, Judge, Verdicts, read};
use super::{Cluster, JudgesError, JudgesSettings, transcripts};
use crate::data::nouns::{ARE, COUNT, HAVE, counted, verb};
use crate::data::observer::Observer;
use crate::data::side::Side;
use crate::data::warning::{Warning, first_names};
use crate::error::Result;
use crate::metrics::agreement::bootstrap::{few_clusters, over_draws, uncertainty};
use crate::metrics::agreement::paired::holm;
use crate::report::{Board, Cell, Input, Report, Table};
use crate::stats::interval::sample_variance;

/// Everything that a study found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgesRun {
    /// The settings.
    pub settings: JudgesSettings,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Names of the judges.
    pub judges: Vec<String>,
    /// The result.
    pub rows: Vec<Row>,
    /// The debate with most to read: its title, and who said what.
    pub exchange: Option<(String, Vec<(String, String)>)>,
    /// Clusters that were drawn.
    pub clusters: usize,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Measures judges by their recorded verdicts.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for files that cannot be used, [`JudgesError`] for settings
/// that do not fit them and for an interruption.
pub(crate) fn study(
    files: &Files<'_>,
    settings: &JudgesSettings,
    observer: &dyn Observer,
) -> Result<JudgesRun> {
    // Panels are made of the other judges that are asked for, or of all.
    let is_panel = |name: &&String| Panel::is_meant(name);
    let (panels, methods): (Vec<&String>, Vec<&String>) =
        settings.methods.iter().partition(is_panel);
    let alone =
        JudgesSettings { methods: methods.into_iter().cloned().collect(), ..settings.clone() };
    let mut verdicts = read(files, &alone)?;
    let check = |names: &[String], known: &[String]| -> Result<()> {
        let Some(name) = names.iter().find(|name| !known.contains(name)) else { return Ok(()) };
        let known = first_names(known);
        Err(JudgesError::UnknownJudge { name: name.clone(), known }.into())
    };
    check(&alone.methods, &verdicts.names)?;
    let mut together = Vec::new();
    for name in panels {
        let Some(panel) = Panel::named(name) else {
            let known = Panel::EACH.map(Panel::as_str).join(", ");
            return Err(JudgesError::UnknownJudge { name: name.clone(), known }.into());
        };
        if verdicts.judges.len() < 2 {
            return Err(JudgesError::PanelOfOne { name: name.clone() }.into());
        }
        let mut judged = verdicts.judges.iter().flat_map(|judge| judge.judged.values());
        if panel.needs_scores() && judged.all(|judged| judged.scores == [None; 2]) {
            return Err(JudgesError::NoScores { name: name.clone() }.into());
        }
        together.push(panel.of(&verdicts));
    }
    verdicts.judges.extend(together);
    let measured: Vec<String> = verdicts.judges.iter().map(|judge| judge.name.clone()).collect();
    check(&settings.against, &measured)?;
    let mut rows = Vec::new();
    let total = u64::from(settings.draws) * verdicts.judges.len() as u64;
    let progress = observer.stage("bootstrap", total);
    for judge in &verdicts.judges {
        let of = Measured::new(&verdicts, judge);
        let drawn: Vec<Vec<Option<f64>>> = if verdicts.clusters < 2 {
            Vec::new()
        } else {
            let draws = (settings.draws, settings.seed);
            over_draws(verdicts.clusters, draws, progress.as_ref(), |weights| of.values(weights))
        };
        if observer.interrupted() {
            return Err(JudgesError::Interrupted.into());
        }
        rows.extend(of.rows(judge, &drawn));
    }
    rows.extend(comparisons(&verdicts, settings, observer)?);
    rows.extend(ceiling(&verdicts));
    let by_prompt = over_prompts(&rows);
    rows.extend(by_prompt);
    let mut exchange = None;
    let mut inputs = verdicts.inputs.clone();
    if let Some(source) = files.transcripts {
        let said = transcripts::read(source)?;
        rows.extend(transcripts::rows(&said));
        // Names of what was compared would make several pairs of an item.
        let unnamed = verdicts.pairs.iter().filter(|pair| pair.names.is_none());
        let gold = unnamed.filter_map(|pair| Some((pair.item.as_str(), pair.gold()?)));
        rows.extend(transcripts::errors(&said, &gold.collect()));
        exchange = transcripts::longest(&said);
        inputs.push(Input::new(source, said.len() as u64));
    }
    let mut warnings = warnings(&verdicts);
    let in_groups = settings.cluster != Cluster::Pair;
    warnings.extend(in_groups.then(|| few_clusters(verdicts.clusters)).flatten());
    let judges = verdicts.judges.iter().map(|judge| judge.name.clone()).collect();
    let (settings, clusters) = (settings.clone(), verdicts.clusters);
    Ok(JudgesRun { settings, inputs, judges, rows, exchange, clusters, warnings })
}

/// What is measured of one judge.
struct Measured {
    clusters: Vec<(u32, Sums)>,
    observations: Vec<super::bias::Observation>,
    whole: Vec<u32>,
    measures: Vec<Measure>,
}

impl Measured {
    fn new(verdicts: &Verdicts, judge: &Judge) -> Self {
        let clusters = by_cluster(verdicts, judge);
        let whole = vec![1; verdicts.clusters];
        let total = weighted(&clusters, &whole);
        let has_gold = verdicts.pairs.iter().any(|pair| pair.gold().is_some());
        // What nobody could know is not a row; what turned out undefined is.
        let measures = MEASURES.into_iter().filter(|measure| match measure {
            Measure::Cost(_)
            | Measure::ScoreGap
            | Measure::OwnFamily
            | Measure::OwnFamilyExcess => measure.items(&total) > 0,
            measure => has_gold || !measure.needs_gold(),
        });
        let measures = measures.collect();
        Self { observations: observations(verdicts, judge), clusters, whole, measures }
    }

    /// All measures, the slope last if there is one.
    fn values(&self, weights: &[u32]) -> Vec<Option<f64>> {
        let sums = weighted(&self.clusters, weights);
        let mut values: Vec<Option<f64>> =
            self.measures.iter().map(|measure| measure.of(&sums)).collect();
        if !self.observations.is_empty() {
            values.push(length_slope(&self.observations, weights));
        }
        values
    }

    fn rows(&self, judge: &Judge, drawn: &[Vec<Option<f64>>]) -> Vec<Row> {
        let sums = weighted(&self.clusters, &self.whole);
        let slope = ("length_slope", self.observations.len() as u64);
        let named = self.measures.iter().map(|m| (m.name(), m.items(&sums)));
        let values = self.values(&self.whole);
        named
            .chain([slope])
            .zip(values)
            .enumerate()
            .map(|(index, ((metric, items), value))| Row {
                method: Some(judge.name.clone()),
                metric: metric.to_owned(),
                value,
                interval: interval_of(value, drawn, index),
                items,
                missing: Some(missing(&sums)),
            })
            .collect()
    }
}

fn interval_of(value: Option<f64>, drawn: &[Vec<Option<f64>>], index: usize) -> Option<(f64, f64)> {
    value?;
    uncertainty(&drawn.iter().map(|draw| draw[index]).collect::<Vec<_>>())
}

/// Every judge against its controls: paired differences, exact tests, Holm's correction over all.
fn comparisons(
    verdicts: &Verdicts,
    settings: &JudgesSettings,
    observer: &dyn Observer,
) -> Result<Vec<Row>, JudgesError> {
    let mut found: Vec<(String, String, Comparison)> = Vec::new();
    for judge in &verdicts.judges {
        for other in opponents(&judge.name, &verdicts.judges, &settings.against) {
            let comparison = Comparison::new(verdicts, judge, other);
            found.push((judge.name.clone(), other.name.clone(), comparison));
        }
    }
    let adjusted = holm(&found.iter().map(|(_, _, c)| c.p_value()).collect::<Vec<_>>());
    let progress = observer.stage("comparing", u64::from(settings.draws) * found.len() as u64);
    let mut rows = Vec::new();
    for ((name, other, comparison), adjusted) in found.into_iter().zip(adjusted) {
        let drawn: Vec<Vec<Option<f64>>> = if verdicts.clusters < 2 {
            Vec::new()
        } else {
            let draws = (settings.draws, settings.seed);
            over_draws(verdicts.clusters, draws, progress.as_ref(), |weights| {
                comparison.differences(Some(weights)).to_vec()
            })
        };
        if observer.interrupted() {
            return Err(JudgesError::Interrupted);
        }
        let differences = comparison.differences(None);
        let row = |metric: &str, value: Option<f64>, index: Option<usize>| Row {
            method: Some(name.clone()),
            metric: format!("{metric}:{other}"),
            value,
            interval: index.and_then(|index| interval_of(value, &drawn, index)),
            items: comparison.pairs,
            missing: None,
        };
        rows.push(row("difference:accuracy", differences[0], Some(0)));
        rows.push(row("difference:accuracy_combined", differences[1], Some(1)));
        rows.push(row("p_mcnemar", comparison.p_value(), None));
        rows.push(row("p_mcnemar_holm", adjusted, None));
    }
    Ok(rows)
}

/// What the prompt does: the accuracy of a model over its prompts, of judges named `model:prompt`.
fn over_prompts(rows: &[Row]) -> Vec<Row> {
    let mut models: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.metric == "accuracy") {
        let name = row.method.as_deref().filter(|name| !Panel::is_meant(name));
        let Some((model, _)) = name.and_then(|name| name.split_once(':')) else { continue };
        models.entry(model).or_default().extend(row.value);
    }
    let several = models.into_iter().filter(|(_, accuracies)| accuracies.len() > 1);
    let of_model = |(model, accuracies): (&str, Vec<f64>)| {
        let spread = [
            ("min", accuracies.iter().copied().reduce(f64::min)),
            ("max", accuracies.iter().copied().reduce(f64::max)),
            ("sd", sample_variance(&accuracies).map(f64::sqrt)),
        ];
        spread.map(|(name, value)| Row {
            method: Some(model.to_owned()),
            metric: format!("prompts:accuracy:{name}"),
            value,
            interval: None,
            items: accuracies.len() as u64,
            missing: None,
        })
    };
    several.flat_map(of_model).collect()
}

/// The largest share of people's verdicts that any verdict per pair can agree with.
fn ceiling(verdicts: &Verdicts) -> Option<Row> {
    let (mut most, mut all) = (0, 0);
    for pair in &verdicts.pairs {
        let count = |side: Side| pair.votes.iter().filter(|vote| **vote == side).count();
        most += [Side::A, Side::B, Side::Tie].map(count).into_iter().max().unwrap_or(0);
        all += pair.votes.len();
    }
    let several = verdicts.pairs.iter().any(|pair| pair.votes.len() > 1);
    several.then(|| Row {
        method: None,
        metric: "vote_ceiling".into(),
        value: Some(most as f64 / all as f64),
        interval: None,
        items: all as u64,
        missing: None,
    })
}

fn warnings(verdicts: &Verdicts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let without = verdicts.pairs.iter().filter(|pair| pair.gold().is_none()).count();
    if without == verdicts.pairs.len() {
        let message = "no pair has a gold verdict: who is right is not measured";
        warnings.push(Warning::new("no_gold", without, message));
    } else if without > 0 {
        let (pairs, have) = (counted(without, "pair"), verb(without, HAVE));
        let message =
            format!("{pairs} {have} no gold verdict and {} for flips only", verb(without, COUNT));
        warnings.push(Warning::new("pairs_without_gold", without, message));
    }
    let missing = |judge: &&Judge| {
        let judged = judge.judged.values();
        judged.flat_map(|judged| judged.orders).filter(|order| *order == Some(None)).count()
    };
    let unread: Vec<&Judge> = verdicts.judges.iter().filter(|judge| missing(judge) > 0).collect();
    if !unread.is_empty() {
        let count: usize = unread.iter().map(missing).sum();
        let names: Vec<&str> = unread.iter().map(|judge| judge.name.as_str()).collect();
        let (verdicts, are) = (counted(count, "verdict"), verb(count, ARE));
        let message = format!("{verdicts} {are} missing, of {}", first_names(&names));
        warnings.push(Warning::new("missing_verdicts", count, message));
    }
    warnings
}

/// How judges are held side by side.
const BOARD: Board = Board {
    names: &["method"],
    metrics: Some(("metric", &["accuracy", "accuracy_without_ties", "consistency", "kappa"])),
    value: "value",
    beside: &["ci_low", "ci_high", "n_items"],
    only: &[],
};

/// Most judges that are shown to people.
const SHOWN: usize = 20;

impl JudgesRun {
    /// The result for people: a row a judge, best first.
    pub(crate) fn shown(&self) -> Report {
        let mut report = self.report();
        let standings = BOARD.standings(&report.table);
        if standings.is_empty() {
            return report;
        }
        let mut board = BOARD.table(&report.table, &standings[..standings.len().min(SHOWN)]);
        board.set_headline_of(&report.table);
        let more = match standings.len().saturating_sub(SHOWN) {
            0 => "All metrics are in files.".to_owned(),
            more => format!("{more} more judges and all metrics are in files."),
        };
        report.footer.push(more);
        report.table = board;
        report
    }

    /// The row of a judge and a metric.
    pub(crate) fn row(&self, method: &str, metric: &str) -> Option<&Row> {
        let is = |row: &&Row| row.method.as_deref() == Some(method) && row.metric == metric;
        self.rows.iter().find(is)
    }

    /// The result as a table.
    pub(crate) fn report(&self) -> Report {
        let mut table = Table::new(&COLUMNS);
        for row in &self.rows {
            let (low, high) = row.interval.unzip();
            table.push(vec![
                row.method.clone().map_or(Cell::Missing, Cell::from),
                row.metric.clone().into(),
                row.value.into(),
                low.into(),
                high.into(),
                row.items.into(),
                row.missing.into(),
            ]);
        }
        if let Some(answer) = BOARD.answer(&table) {
            table.set_headline(answer);
        }
        let JudgesSettings { draws, seed, .. } = self.settings;
        let value = serde_json::to_value(&self.settings).ok();
        let settings = value.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        Report {
            command: "experiment judges",
            inputs: self.inputs.clone(),
            settings,
            table,
            warnings: self.warnings.clone(),
            footer: vec![
                format!(
                    "Intervals: 95 %, percentile bootstrap over {} clusters, the same draws for all \
                     judges, B = {draws}, seed {seed}.",
                    self.clusters
                ),
                "accuracy: each order by itself; accuracy_combined: a verdict that changes with the \
                 order is a tie. first_place .5: the place does not matter. length_slope: log-odds \
                 for an answer twice as long, at the same place and gold verdict."
                    .into(),
            ],
            prose: None,
        }
    }
}
