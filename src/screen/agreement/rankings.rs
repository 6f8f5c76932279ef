//! Two rankings of the same runs: do labels by an LLM rank systems as labels by people do?

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::nouns::{ARE, counted, verb};
use crate::data::observer::Observer;
use crate::data::problem::Problems;
use crate::data::rows::{FileProblems, NamedColumn, header, read_rows};
use crate::data::source::Source;
use crate::data::warning::Warning;
use crate::error::{ErrorKind, Kinded, Result};
use crate::metrics::agreement::bootstrap::{DRAWS, interval};
use crate::metrics::rankings::{Ranking, Ties, extrapolated, normalised, tau_ap, tau_ap_b, tau_b};
use crate::report::{Cell, Input, Report, Table, settings_map};
use crate::stats::rank::mean;
use crate::stats::seed::stream;

/// Columns of the result, a contract with scripts.
pub(crate) const COLUMNS: [&str; 9] =
    ["group", "source", "against", "metric", "value", "ci_low", "ci_high", "n_items", "n_missing"];

/// Names of the metrics, in the order of the rows.
const METRICS: [&str; 7] = ["tau_b", "tau_ap", "tau_ap_b", "rbo", "rbo_a", "rbo_b", "rbo_w"];

/// Settings of a comparison of rankings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankingSettings {
    /// Persistence of RBO, between 0 and 1: .9 gives the first ten ranks 86 % of the weight.
    pub persistence: f64,
    /// Bootstrap draws over the runs of a group.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for RankingSettings {
    fn default() -> Self {
        Self { persistence: 0.9, draws: DRAWS, seed: 0 }
    }
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RankingError {
    /// A persistence that is no share.
    #[error("the persistence of RBO is {value}, it must be between 0 and 1")]
    Persistence { value: f64 },
    /// The run was stopped.
    #[error("interrupted")]
    Interrupted,
}

impl Kinded for RankingError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Persistence { .. } => ErrorKind::Usage,
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}

/// Runs of a group with both scores, by name of the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) missing: usize,
}

/// The comparison of the rankings of every group.
///
/// `runs` has four columns: the group, the run and its two scores, whose names are theirs; larger
/// scores stand higher. A run without one of the scores is left out and counted. `tau_ap` takes the
/// first score as the reference. Intervals: percentile bootstrap over the runs of a group; copies
/// of a run tie in tau, and keep one order in both rankings of RBO, unless others tie with the run there.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for a file that cannot be used, `RankingError`.
pub fn compare_rankings(
    runs: &Source,
    settings: &RankingSettings,
    observer: &dyn Observer,
) -> Result<Report> {
    settings.check()?;
    let (groups, names, rows) = read(runs)?;
    let progress = observer.stage("bootstrap", groups.len() as u64);
    let mut table = Table::new(&COLUMNS);
    let mut missing = 0;
    for (number, (group, scores)) in groups.iter().enumerate() {
        missing += scores.missing;
        let labelled = [group.as_str(), &names.0, &names.1];
        push_rows(&mut table, labelled, scores, (settings, number as u64));
        progress.advance(1);
        if observer.interrupted() {
            return Err(RankingError::Interrupted.into());
        }
    }
    table.set_headline(answer(&table));
    let warnings = (missing > 0).then(|| {
        let (runs, are) = (counted(missing, "run"), verb(missing, ARE));
        let message = format!("{runs} without a score {are} left out");
        Warning::new("runs_without_score", missing, message)
    });
    Ok(Report {
        command: "agree",
        inputs: vec![Input::new(runs, rows)],
        settings: settings_map(settings),
        table,
        warnings: warnings.into_iter().collect(),
        footer: vec![
            format!(
                "Intervals: 95 %, percentile bootstrap over the runs of a group, B = {}, seed {}.",
                settings.draws, settings.seed
            ),
            READING.into(),
        ],
        prose: None,
    })
}

/// How the metrics are read.
pub(super) const READING: &str = "tau weighs all pairs alike, RBO the top of the ranking: a high tau \
    with a low RBO means that the order is kept overall and lost at the top. rbo_chance: rbo where the \
    second ranking is shuffled, with the middle 95 %; p_permutation:rbo: the share of shuffles as high.";

/// How alike the rankings are, in one sentence.
pub(super) fn answer(table: &Table) -> String {
    let tau = |row: &[Cell]| match (&row[0], &row[3], &row[4]) {
        (Cell::Text(group), Cell::Text(metric), Cell::Number(tau)) if metric == METRICS[0] => {
            Some((*tau, group.clone()))
        }
        _ => None,
    };
    let mut each: Vec<(f64, String)> = table.rows().iter().filter_map(|row| tau(row)).collect();
    each.sort_by(|a, b| a.0.total_cmp(&b.0));
    match &each[..] {
        [] => "How far the two orders agree cannot be said: no tau is defined.".into(),
        [(tau, group)] => {
            format!(
                "The two orders of {group} agree by tau-b {tau:.3}: 1 is the same order, 0 chance."
            )
        }
        [(low, first), .., (high, last)] => format!(
            "The two orders agree by tau-b {low:.3} ({first}) to {high:.3} ({last}): 1 is the same order, 0 \
             chance."
        ),
    }
}

impl RankingSettings {
    /// # Errors
    ///
    /// [`RankingError::Persistence`].
    pub(super) fn check(&self) -> Result<(), RankingError> {
        let value = self.persistence;
        let is_share = value > 0.0 && value < 1.0;
        if is_share { Ok(()) } else { Err(RankingError::Persistence { value }) }
    }
}

/// All rows of one group, whose names are the group, the first score and the second.
pub(super) fn push_rows(
    table: &mut Table,
    labelled: [&str; 3],
    scores: &Group,
    (settings, number): (&RankingSettings, u64),
) {
    let mut push = |metric: &str, value: Option<f64>, range: Option<(f64, f64)>| {
        let (low, high) = range.unzip();
        let mut cells: Vec<Cell> = labelled.iter().map(|name| Cell::from(*name)).collect();
        cells.extend([metric.into(), value.into(), low.into(), high.into()]);
        cells.extend([scores.first.len().into(), Cell::from(scores.missing)]);
        table.push(cells);
    };
    let values = metrics(&scores.first, &scores.second, settings.persistence);
    let draws = draws(scores, settings, number);
    for (index, metric) in METRICS.iter().enumerate() {
        let of_metric: Vec<Option<f64>> = draws.iter().map(|draw| draw[index]).collect();
        push(metric, values[index], interval(&of_metric));
    }
    let shuffled = shuffled(scores, settings, number);
    push("rbo_chance", mean(&shuffled), middle(&shuffled));
    let observed = values[RBO].filter(|_| !shuffled.is_empty());
    let p_value = observed.map(|observed| {
        // A shuffle that comes to the same may differ in the last digit.
        let as_high = shuffled.iter().filter(|value| **value >= observed - 1e-12).count();
        (1 + as_high) as f64 / (1 + shuffled.len()) as f64
    });
    push("p_permutation:rbo", p_value, None);
}

/// Position of `rbo` in [`METRICS`].
const RBO: usize = 3;

/// `rbo` of every shuffle of the second ranking, as many as there are draws; none where it is undefined.
fn shuffled(scores: &Group, settings: &RankingSettings, group: u64) -> Vec<f64> {
    let first = Ranking::by_scores(&scores.first);
    let of = |draw: u32| {
        let index = (group << 32) | u64::from(draw);
        let mut second = scores.second.clone();
        second.shuffle(&mut stream(settings.seed, "ranking permutation", index));
        normalised(&first, &Ranking::by_scores(&second), settings.persistence)
    };
    (0..settings.draws).into_par_iter().filter_map(of).collect()
}

/// The middle 95 %.
fn middle(values: &[f64]) -> Option<(f64, f64)> {
    interval(&values.iter().map(|value| Some(*value)).collect::<Vec<_>>())
}

type Groups = BTreeMap<String, Group>;

/// Both scores of every run.
type Runs = BTreeMap<String, (Option<f64>, Option<f64>)>;

fn read(source: &Source) -> Result<(Groups, (String, String), u64)> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let names = header(source);
    let mut groups: BTreeMap<String, Runs> = BTreeMap::new();
    let mut rows = 0;
    if let [group, run, first, second] = names.as_slice() {
        let column = |name| NamedColumn { name, synonyms: &[], required: true };
        let schema = [group, run, first, second].map(|name| column(name.as_str()));
        rows = read_rows(source, &schema, &mut file, &mut |row, problems| {
            let Some(run) = row.fields[1].as_name() else {
                problems.report(Some(row.line), Some(run), "is empty; give every row one");
                return;
            };
            let mut score = |index: usize| {
                let text = row.fields[index].as_name()?;
                let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
                if value.is_none() {
                    let message = format!("`{text}` is no number");
                    problems.report(Some(row.line), Some(schema[index].name), message);
                }
                value
            };
            let scores = (score(2), score(3));
            let group = row.fields[0].as_name().unwrap_or_default().into_owned();
            let before = groups.entry(group).or_default().insert(run.clone().into_owned(), scores);
            if before.is_some() {
                let message = format!("`{run}` is in the group twice; remove one");
                problems.report(Some(row.line), None, message);
            }
        });
    } else {
        let found = names.join(", ");
        let message = format!(
            "the header needs four columns: the group, the run and two scores; it has: {found}"
        );
        file.report(Some(1), None, message);
    }
    problems.into_result()?;
    let groups = groups
        .into_iter()
        .map(|(name, runs)| {
            let mut group = Group::default();
            for scores in runs.into_values() {
                if let (Some(first), Some(second)) = scores {
                    group.first.push(first);
                    group.second.push(second);
                } else {
                    group.missing += 1;
                }
            }
            (name, group)
        })
        .collect();
    Ok((groups, (names[2].clone(), names[3].clone()), rows))
}

fn metrics(first: &[f64], second: &[f64], persistence: f64) -> Vec<Option<f64>> {
    let taus = [tau_b(first, second), tau_ap(first, second), tau_ap_b(first, second)];
    taus.into_iter().chain(overlaps(first, second, persistence)).collect()
}

fn overlaps(first: &[f64], second: &[f64], persistence: f64) -> [Option<f64>; 4] {
    let (x, y) = (Ranking::by_scores(first), Ranking::by_scores(second));
    let extrapolated = |ties| extrapolated(&x, &y, persistence, ties);
    [
        normalised(&x, &y, persistence),
        extrapolated(Ties::A),
        extrapolated(Ties::B),
        extrapolated(Ties::W),
    ]
}

/// The metrics of every draw of the runs of a group.
fn draws(scores: &Group, settings: &RankingSettings, group: u64) -> Vec<Vec<Option<f64>>> {
    let count = scores.first.len();
    if count < 2 {
        return Vec::new();
    }
    let ranks = [dense_ranks(&scores.first), dense_ranks(&scores.second)];
    let draw = |draw: u32| {
        let index = (group << 32) | u64::from(draw);
        let mut random = stream(settings.seed, "ranking bootstrap", index);
        let drawn: Vec<usize> = (0..count).map(|_| random.random_range(0..count)).collect();
        let of = |scores: &[f64]| drawn.iter().map(|&run| scores[run]).collect::<Vec<_>>();
        let (first, second) = (of(&scores.first), of(&scores.second));
        let mut copies = vec![0_u32; count];
        let copy: Vec<u32> = drawn
            .iter()
            .map(|&run| {
                copies[run] += 1;
                copies[run]
            })
            .collect();
        // Ranks leave room for the copies between them. Those of a run that ties with others tie, too: an
        // order of theirs that both rankings share would be agreement that is not there.
        let apart = |ranks: &[(f64, bool)]| -> Vec<f64> {
            let room = count as f64 + 1.0;
            let place = |(&run, &copy): (&usize, &u32)| {
                let (rank, is_alone) = ranks[run];
                rank * room - if is_alone { f64::from(copy) } else { 0.0 }
            };
            drawn.iter().zip(&copy).map(place).collect()
        };
        let mut found =
            vec![tau_b(&first, &second), tau_ap(&first, &second), tau_ap_b(&first, &second)];
        found.extend(overlaps(&apart(&ranks[0]), &apart(&ranks[1]), settings.persistence));
        found
    };
    (0..settings.draws).into_par_iter().map(draw).collect()
}

/// 0 for the lowest score, one more for each different one, and whether no other score is the same.
fn dense_ranks(scores: &[f64]) -> Vec<(f64, bool)> {
    let mut sorted: Vec<f64> = scores.iter().map(|score| score + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let same = |score: &f64| {
        sorted.partition_point(|other| other <= score)
            - sorted.partition_point(|other| other < score)
    };
    let mut distinct = sorted.clone();
    distinct.dedup();
    let rank =
        |score: &f64| (distinct.partition_point(|other| other < score) as f64, same(score) == 1);
    scores.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_runs_that_tie_are_no_more_in_order_than_the_runs() {
        // All tie in both rankings: whatever is drawn, all six tie again.
        let tied = Group { first: vec![1.0; 6], second: vec![0.0; 6], missing: 0 };
        let settings = RankingSettings { draws: 50, ..RankingSettings::default() };
        let value = metrics(&tied.first, &tied.second, settings.persistence);
        assert!(value[RBO].is_some_and(|rbo| rbo < 0.9));
        assert!(draws(&tied, &settings, 0).iter().all(|draw| draw[RBO..] == value[RBO..]));
        // Without ties copies keep the order that the rankings share: equal ones stay equal.
        let scores: Vec<f64> = (0..6).map(f64::from).collect();
        let same = Group { first: scores.clone(), second: scores, missing: 0 };
        let is_one = |rbo: Option<f64>| rbo.is_some_and(|rbo| (rbo - 1.0).abs() < 1e-12);
        assert!(draws(&same, &settings, 0).iter().all(|draw| is_one(draw[RBO])));
    }
}
