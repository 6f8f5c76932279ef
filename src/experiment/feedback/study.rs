//! From runs to rows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::runs::{ByItem, Group, Runs, read};
use super::{By, CHECK_AGAIN, FeedbackSettings};
use crate::data::observer::Observer;
use crate::data::progress::Progress;
use crate::data::source::Source;
use crate::data::warning::{Warning, first_names};
use crate::error::{ErrorKind, Kinded, Result};
use crate::metrics::agreement::bootstrap::{over_draws, uncertainty};
use crate::metrics::agreement::paired::{holm, mcnemar};
use crate::report::{Board, Cell, Input, Report, Table};

/// Columns of the result; before them `task` where tasks are told apart.
pub(crate) const COLUMNS: [&str; 7] =
    ["provider", "feedback", "metric", "value", "ci_low", "ci_high", "n_items"];

/// Above this share of invalid turns a result says more of the form than of the feedback.
pub(crate) const MANY_INVALID: f64 = 0.2;

/// The run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted; nothing was written")]
pub(crate) struct FeedbackError;

impl Kinded for FeedbackError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Interrupted
    }
}

/// A row of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The task, or the kind of tasks; `None` of all together.
    pub task: Option<String>,
    /// Who gives feedback, as in the file.
    pub provider: String,
    /// What kind, as in the file.
    pub feedback: String,
    /// Name of the metric.
    pub metric: String,
    /// The metric; `None` where undefined.
    pub value: Option<f64>,
    /// 95 % interval, low end first.
    pub interval: Option<(f64, f64)>,
    /// Items behind it.
    pub items: u64,
}

/// Everything that a study found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeedbackRun {
    /// The settings.
    pub settings: FeedbackSettings,
    /// What was read.
    pub inputs: Vec<Input>,
    /// The result.
    pub rows: Vec<Row>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

/// A measure of a group, given how often each item is drawn.
type Measure<'a> = Box<dyn Fn(&[u32]) -> Option<f64> + Sync + 'a>;

/// A measure with its name and the items behind it.
struct Named<'a> {
    metric: String,
    items: u64,
    of: Measure<'a>,
    /// Whether an interval makes sense.
    drawn: bool,
}

/// Measures what feedback is worth, from runs of one or more files.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for a file that cannot be used, [`FeedbackError`] for an
/// interruption.
pub(crate) fn study(
    sources: &[Source],
    settings: &FeedbackSettings,
    observer: &dyn Observer,
) -> Result<FeedbackRun> {
    let runs = read(sources)?;
    let parts: Vec<(Option<String>, Runs)> = match settings.by {
        By::All => vec![(None, runs.clone())],
        By::Task => {
            let kinds = runs.kinds().into_iter();
            kinds.map(|name| (Some(name.to_owned()), runs.of_kind(name))).collect()
        }
    };
    let groups: usize = parts.iter().map(|(_, runs)| runs.groups.len()).sum();
    let progress = observer.stage("bootstrap", u64::from(settings.draws) * groups as u64);
    let mut found = Found::default();
    for (task, part) in &parts {
        found.measure(task.as_deref(), part, settings, (observer, progress.as_ref()))?;
    }
    let Found { mut rows, tests } = found;
    insert_adjusted(&mut rows, &tests);
    let mut warnings = warnings(&runs, &rows);
    if parts.is_empty() {
        let message = "no run says which task it is of: there is nothing to tell apart";
        warnings.push(Warning::new("no_tasks", 1, message));
    }
    let inputs = sources.iter().zip(&runs.rows).map(|(source, &rows)| Input::new(source, rows));
    let inputs = inputs.collect();
    Ok(FeedbackRun { settings: settings.clone(), inputs, rows, warnings })
}

/// Rows so far, and where among them tests are, with their p-values.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    tests: Vec<(usize, Option<f64>)>,
}

impl Found {
    /// Adds the rows of all groups of some runs.
    fn measure(
        &mut self,
        task: Option<&str>,
        runs: &Runs,
        settings: &FeedbackSettings,
        (observer, progress): (&dyn Observer, &dyn Progress),
    ) -> Result<(), FeedbackError> {
        let baseline = runs.groups.iter().find(|group| group.is_baseline());
        let control = |group: &Group| {
            let informed = group.feedback != CHECK_AGAIN && !group.is_baseline();
            runs.groups.iter().find(|other| informed && other.feedback == CHECK_AGAIN)
        };
        for group in &runs.groups {
            let mut measures = success_rates(group);
            measures.extend(costs(group));
            let against = baseline.filter(|_| !group.is_baseline());
            measures.extend(against.into_iter().flat_map(|without| gains(group, without, "")));
            let again = control(group).into_iter();
            measures.extend(again.flat_map(|again| gains(group, again, "_over_check_again")));
            let drawn: Vec<Vec<Option<f64>>> = if runs.items < 2 {
                Vec::new()
            } else {
                over_draws(runs.items, (settings.draws, settings.seed), progress, |weights| {
                    measures.iter().map(|m| if m.drawn { (m.of)(weights) } else { None }).collect()
                })
            };
            if observer.interrupted() {
                return Err(FeedbackError);
            }
            let whole = vec![1; runs.items];
            for (index, measure) in measures.iter().enumerate() {
                let value = (measure.of)(&whole);
                let of_draws = || drawn.iter().map(|draw| draw[index]).collect::<Vec<_>>();
                if measure.metric.starts_with("p_mcnemar") {
                    self.tests.push((self.rows.len(), value));
                }
                self.rows.push(Row {
                    task: task.map(str::to_owned),
                    provider: group.provider.clone(),
                    feedback: group.feedback.clone(),
                    metric: measure.metric.clone(),
                    value,
                    interval: value
                        .filter(|_| measure.drawn)
                        .and_then(|_| uncertainty(&of_draws())),
                    items: measure.items,
                });
            }
        }
        Ok(())
    }
}

/// Holm's correction over all tests, each behind the test.
fn insert_adjusted(rows: &mut Vec<Row>, tests: &[(usize, Option<f64>)]) {
    let p_values: Vec<Option<f64>> = tests.iter().map(|(_, p)| *p).collect();
    let adjusted = holm(&p_values);
    for (&(at, _), adjusted) in tests.iter().zip(adjusted).rev() {
        let metric = rows[at].metric.replacen("p_mcnemar", "p_mcnemar_holm", 1);
        let row = Row { metric, value: adjusted, interval: None, ..rows[at].clone() };
        rows.insert(at + 1, row);
    }
}

/// The weighted mean over items of what `of` says; `None` without items.
fn mean<T>(runs: &BTreeMap<u32, T>, weights: &[u32], of: impl Fn(&T) -> f64) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (item, run) in runs {
        let weight = f64::from(weights[*item as usize]);
        sum += weight * of(run);
        count += weight;
    }
    (count > 0.0).then(|| sum / count)
}

fn share(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// `sr_k`, `sr_cut_k`, and a line through each.
fn success_rates(group: &Group) -> Vec<Named<'_>> {
    let mut measures = Vec::new();
    for (&budget, runs) in &group.budgets {
        measures.push(Named {
            metric: if budget == 0 { "sr".into() } else { format!("sr_{budget}") },
            items: runs.len() as u64,
            of: Box::new(move |weights| mean(runs, weights, |run| share(run.solved))),
            drawn: true,
        });
    }
    if group.budgets.len() > 1 {
        let points = move |weights: &[u32]| -> Option<Vec<(f64, f64)>> {
            let of = |(&budget, runs): (&u32, &ByItem)| {
                Some((f64::from(budget), mean(runs, weights, |run| share(run.solved))?))
            };
            group.budgets.iter().map(of).collect()
        };
        let items = group.budgets.values().map(BTreeMap::len).min().unwrap_or(0);
        measures.extend(line("", items, points));
    }
    let Some((budget, runs)) = group.largest().filter(|(budget, _)| *budget > 1) else {
        return measures;
    };
    if runs.values().any(|run| run.turns.is_none()) {
        return measures;
    }
    let cut = move |turns: u32, weights: &[u32]| {
        mean(runs, weights, |run| share(run.solved && run.turns.is_some_and(|t| t <= turns)))
    };
    for turns in 1..=budget {
        measures.push(Named {
            metric: format!("sr_cut_{turns}"),
            items: runs.len() as u64,
            of: Box::new(move |weights| cut(turns, weights)),
            drawn: true,
        });
    }
    measures.extend(line("_cut", runs.len(), move |weights| {
        (1..=budget).map(|turns| Some((f64::from(turns), cut(turns, weights)?))).collect()
    }));
    measures
}

/// Slope and R squared of a line through points.
fn line<'a>(
    ending: &str,
    items: usize,
    points: impl Fn(&[u32]) -> Option<Vec<(f64, f64)>> + Copy + Sync + 'a,
) -> [Named<'a>; 2] {
    let named =
        |metric: String, of: Measure<'a>| Named { metric, items: items as u64, of, drawn: true };
    [
        named(format!("slope{ending}"), Box::new(move |weights| fit(&points(weights)?).0)),
        named(format!("r_squared{ending}"), Box::new(move |weights| fit(&points(weights)?).1)),
    ]
}

/// Least-squares slope, and the share of the variance that the line explains; `None` where all
/// points stand above each other, or all are equally high.
pub(super) fn fit(points: &[(f64, f64)]) -> (Option<f64>, Option<f64>) {
    let count = points.len() as f64;
    let (x_mean, y_mean) = (
        points.iter().map(|(x, _)| x).sum::<f64>() / count,
        points.iter().map(|(_, y)| y).sum::<f64>() / count,
    );
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - x_mean).powi(2);
        xy += (x - x_mean) * (y - y_mean);
        yy += (y - y_mean).powi(2);
    }
    let slope = (xx > 0.0).then(|| xy / xx);
    let explained = slope.filter(|_| yy > 0.0).map(|slope| slope * xy / yy);
    (slope, explained)
}

/// Invalid turns and tokens, at the largest budget.
fn costs(group: &Group) -> Vec<Named<'_>> {
    let Some((_, runs)) = group.largest() else { return Vec::new() };
    let mut measures = Vec::new();
    let items = runs.len() as u64;
    if runs.values().all(|run| run.turns.is_some() && run.invalid.is_some()) {
        measures.push(Named {
            metric: "invalid_turns".into(),
            items,
            of: Box::new(move |weights| {
                let turns = mean(runs, weights, |run| f64::from(run.turns.unwrap_or(0)))?;
                let invalid = mean(runs, weights, |run| f64::from(run.invalid.unwrap_or(0)))?;
                (turns > 0.0).then(|| invalid / turns)
            }),
            drawn: true,
        });
    }
    if runs.values().all(|run| run.tokens.is_some()) {
        measures.push(Named {
            metric: "tokens_per_item".into(),
            items,
            of: Box::new(move |weights| mean(runs, weights, |run| run.tokens.unwrap_or(0) as f64)),
            drawn: true,
        });
    }
    measures
}

/// One item with feedback and without.
struct Both {
    with: bool,
    without: bool,
    /// Tokens with minus without.
    more_tokens: Option<f64>,
}

/// What a group gains over another on the same items, at the largest budget that both have.
fn gains<'a>(group: &'a Group, other: &'a Group, ending: &str) -> Vec<Named<'a>> {
    let budgets = group.budgets.keys().rev();
    let Some(budget) = budgets.copied().find(|budget| other.budgets.contains_key(budget)) else {
        return Vec::new();
    };
    let (with, without) = (&group.budgets[&budget], &other.budgets[&budget]);
    let both: BTreeMap<u32, Both> = with
        .iter()
        .filter_map(|(&item, run)| {
            let before = without.get(&item)?;
            let tokens = run.tokens.zip(before.tokens);
            let both = Both {
                with: run.solved,
                without: before.solved,
                more_tokens: tokens.map(|(with, without)| with as f64 - without as f64),
            };
            Some((item, both))
        })
        .collect();
    let both = std::sync::Arc::new(both);
    let items = both.len() as u64;
    let measure =
        |metric: &str, drawn: bool, of: fn(&BTreeMap<u32, Both>, &[u32]) -> Option<f64>| {
            let both = std::sync::Arc::clone(&both);
            let of: Measure<'a> = Box::new(move |weights| of(&both, weights));
            Named { metric: format!("{metric}{ending}"), items, of, drawn }
        };
    let mut measures = vec![
        measure("gain", true, |both, weights| {
            mean(both, weights, |both| share(both.with) - share(both.without))
        }),
        measure("p_mcnemar", false, |both, _| {
            let count = |with: bool| {
                both.values().filter(|both| both.with == with && both.without != with).count()
            };
            (!both.is_empty()).then(|| mcnemar(count(true) as u64, count(false) as u64))
        }),
        measure("wrong_to_right", true, |both, weights| {
            mean(both, weights, |both| share(both.with && !both.without))
        }),
        measure("right_to_wrong", true, |both, weights| {
            mean(both, weights, |both| share(!both.with && both.without))
        }),
    ];
    if both.values().all(|both| both.more_tokens.is_some()) {
        measures.push(measure("tokens_per_item_put_right", true, |both, weights| {
            let tokens = mean(both, weights, |both| both.more_tokens.unwrap_or(0.0))?;
            let right = mean(both, weights, |both| share(both.with && !both.without))?;
            (right > 0.0).then(|| tokens / right)
        }));
    }
    measures
}

fn warnings(runs: &Runs, rows: &[Row]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !runs.groups.iter().any(Group::is_baseline) {
        let message = "there are no runs without feedback (provider and feedback none): no gains";
        warnings.push(Warning::new("no_baseline", 1, message));
    }
    if !runs.groups.iter().any(|group| group.feedback == CHECK_AGAIN) {
        let message = format!(
            "there are no runs with feedback `{CHECK_AGAIN}`: what a second try without \
             information would gain is not known, and is part of every gain"
        );
        warnings.push(Warning::new("no_control", 1, message));
    }
    let many = |row: &&Row| {
        row.metric == "invalid_turns" && row.value.is_some_and(|value| value > MANY_INVALID)
    };
    let names: Vec<String> = rows
        .iter()
        .filter(many)
        .map(|row| {
            let of = row.task.as_ref().map_or(String::new(), |task| format!(" on {task}"));
            format!("{} {}{of}", row.provider, row.feedback).trim().to_owned()
        })
        .collect();
    if !names.is_empty() {
        let message = format!(
            "more than {:.0} % of the turns are invalid with: {}",
            100.0 * MANY_INVALID,
            first_names(&names)
        );
        warnings.push(Warning::new("invalid_turns", names.len(), message));
    }
    warnings
}

impl FeedbackRun {
    /// The row of a provider, kind and metric.
    #[cfg(test)]
    pub(crate) fn row(&self, provider: &str, feedback: &str, metric: &str) -> Option<&Row> {
        let is = |row: &&Row| {
            row.provider == provider && row.feedback == feedback && row.metric == metric
        };
        self.rows.iter().find(is)
    }

    /// The result as a table.
    pub(crate) fn report(&self) -> Report {
        let by_task = self.settings.by == By::Task;
        let columns: Vec<&str> = by_task.then_some("task").into_iter().chain(COLUMNS).collect();
        let mut table = Table::new(&columns);
        for row in &self.rows {
            let name = |text: &str| {
                if text.is_empty() { Cell::Missing } else { Cell::from(text) }
            };
            let (low, high) = row.interval.unzip();
            let mut cells: Vec<Cell> =
                row.task.iter().map(|task| Cell::from(task.as_str())).collect();
            cells.extend([
                name(&row.provider),
                name(&row.feedback),
                row.metric.clone().into(),
                row.value.into(),
                low.into(),
                high.into(),
                row.items.into(),
            ]);
            table.push(cells);
        }
        let names: &[&str] =
            if by_task { &["task", "provider", "feedback"] } else { &["provider", "feedback"] };
        let board = Board {
            names,
            metrics: Some(("metric", &["gain"])),
            value: "value",
            beside: &[],
            only: &[],
        };
        if let Some(answer) = board.answer(&table) {
            table.set_headline(answer);
        }
        let value = serde_json::to_value(&self.settings).ok();
        let FeedbackSettings { draws, seed, .. } = self.settings;
        Report {
            command: "experiment feedback",
            inputs: self.inputs.clone(),
            settings: value.as_ref().and_then(Value::as_object).cloned().unwrap_or_default(),
            table,
            warnings: self.warnings.clone(),
            footer: vec![
                format!(
                    "Intervals: 95 %, percentile bootstrap over items, the same draws for all, \
                     B = {draws}, seed {seed}."
                ),
                "sr_k: solved in runs with a budget of k turns. sr_cut_k: solved within k turns of \
                 the runs with the largest budget. gain: against the runs without feedback, on the \
                 same items."
                    .into(),
            ],
            prose: None,
        }
    }

    /// The page of the run: gains with intervals.
    #[cfg(feature = "html")]
    pub(crate) fn page(&self) -> crate::report::html::Page {
        use crate::report::plot::{Bar, BarChart};
        let gains = self.rows.iter().filter(|row| row.metric == "gain").map(|row| Bar {
            name: {
                let task = row.task.iter().map(String::as_str);
                let names: Vec<&str> =
                    task.chain([row.provider.as_str(), row.feedback.as_str()]).collect();
                names.join(", ")
            },
            value: row.value,
            error: row.interval,
        });
        let chart = BarChart {
            title: "Gain of feedback".into(),
            x_name: "share solved with minus without; error bars: 95 % interval".into(),
            x_range: None,
            reference: None,
            bars: gains.collect(),
        };
        let report = self.report();
        let answer = report.table.headline().map(str::to_owned);
        let lead = answer.into_iter().chain(report.footer).collect();
        let caption = "On the same items. Below 0: feedback did harm.".to_owned();
        let figure = (!chart.bars.is_empty()).then(|| (chart.svg(), caption));
        crate::report::html::Page {
            title: "What feedback is worth".into(),
            lead,
            figures: figure.into_iter().collect(),
            table: crate::report::html::ShownTable::Open,
            ..crate::report::html::Page::default()
        }
    }
}
