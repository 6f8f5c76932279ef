//! Which prompt labels best, and what the labels of each cost; no model is asked here.
//!
//! The labels of one model under several prompts are held against gold. A prompt is named by the
//! features that it has, one letter each (`DNA`; `none` for none), and after a slash which wording
//! it is (`DNA/3`): R role, D description, N narrative, A aspects, M several judges imagined. Other
//! names are prompts without features. After Thomas, Spielman, Craswell and Mitra (2024), *Large
//! Language Models Can Accurately Predict Searcher Preferences*, SIGIR.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::as_z::{AsZ, AsZSettings, as_z};
use super::costs::read_costs;
use super::error::AgreementError;
use super::panel::Panel;
use super::reference::{Labels, Reference, References, references};
use super::run::warnings;
use super::settings::{AgreementSettings, Cut};
use super::work::{Work, clusters, joined, only, scale_of};
use crate::data::labellers::{LabellerFiles, read_labellers};
use crate::data::observer::Observer;
use crate::data::problem::{DataError, Problems};
use crate::data::progress::NoProgress;
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::Source;
use crate::error::Result;
use crate::metrics::agreement::bootstrap::{ClusterCounts, few_clusters, interval, uncertainty};
use crate::metrics::agreement::paired::exchangeable;
use crate::metrics::agreement::{Confusion, Metric};
use crate::report::{Board, Cell, Input, Report, Table, settings_map};
use crate::stats::interval::sample_variance;
use crate::stats::rank::{mean, quantile};
use crate::stats::seed::stream;

/// Features of a prompt, in the order of their letters in a name.
pub(crate) const FEATURES: [char; 5] = ['R', 'D', 'N', 'A', 'M'];

/// Columns of the result, a contract with scripts.
pub(crate) const COLUMNS: [&str; 9] = [
    "prompt",
    "metric",
    "value",
    "ci_low",
    "ci_high",
    "n_items",
    "n_missing",
    "lower_bound",
    "upper_bound",
];

/// Settings of the study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PromptStudySettings {
    /// Scale, gold, draws and seed; what concerns comparisons is not used.
    pub agreement: AgreementSettings,
    /// Splits of the tasks in two behind the regret.
    pub splits: u32,
    /// What a million tokens read and written cost, if the labels say how many there were.
    pub prices: Option<[f64; 2]>,
    /// How much is drawn where the labels are Z of a crowd.
    pub as_z: AsZSettings,
}

impl Default for PromptStudySettings {
    fn default() -> Self {
        Self {
            agreement: AgreementSettings::default(),
            splits: 1000,
            prices: None,
            as_z: AsZSettings::default(),
        }
    }
}

/// A prompt that the labels name.
struct Prompt {
    name: String,
    /// Features, if the name is one of features.
    features: Option<BTreeSet<char>>,
    labels: Labels,
    counts: ClusterCounts,
    missing: Vec<u64>,
}

/// What is known of the items beside their labels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    /// Their length: `task, length`.
    pub lengths: Option<&'a Source>,
    /// The answers of a crowd, for which every prompt's labels are Z in turn: `task, worker, label`.
    pub crowd: Option<&'a Source>,
}

/// Kappa, mean absolute error and area under the curve of every prompt; effects of features;
/// spread over wordings; regret; slope of the error on length.
///
/// Where the labels say what they cost: tokens, seconds and price per label. With a crowd: what its
/// people share beyond each prompt's labels and by how much that is above what copies of any other
/// prompt share (`people_beyond_z`, `people_over_worst_copy`), how well contaminated crowds are
/// told apart with them as Z, and what that gains over no Z (`auc:ca_z`, `gain:ca_z`, ...). A
/// feature's effect is the mean over pairs of prompts that
/// differ in nothing else, with minus without; a wording is compared with the same wording. The
/// lead of the best prompt is tested against the next; with clusters there is the area under the curve
/// inside them. The
/// regret is what choosing the best prompt on one half of the clusters costs on the other half.
///
/// # Errors
///
/// [`DataError`] for files that cannot be used, [`AgreementError`] for settings that do not fit
/// them and for an interruption.
pub(crate) fn study(
    files: &LabellerFiles<'_>,
    beside: Beside<'_>,
    settings: &PromptStudySettings,
    observer: &dyn Observer,
) -> Result<Report> {
    let chosen = &settings.agreement;
    let data = read_labellers(files, chosen.duplicates)?;
    let scale = scale_of(&chosen.scale, &data);
    let mut warnings = warnings(&data, &scale, chosen)?;
    let References { all, scale, are_labels, .. } = references(&data, scale, chosen.gold_by)?;
    let cut = chosen.binarize.as_ref();
    let panel = Panel::new(&scale, cut, are_labels)
        .ok_or_else(|| AgreementError::Cut { at: cut.cloned().unwrap_or(Cut::Number(0.0)) })?;
    let reference = only(&all)?;
    let (cluster_of, count) = clusters(&data, &all);
    warnings.extend(data.clusters.as_ref().and_then(|_| few_clusters(count)));
    let work = Work {
        settings: chosen,
        data: &data,
        scale: &scale,
        panel: &panel,
        cluster_of: &cluster_of,
        clusters: count,
        observer,
    };
    let prompts = prompts(&work, reference);
    let (lengths_of, length_rows) = match beside.lengths {
        None => (BTreeMap::new(), None),
        Some(source) => {
            let (found, rows) = read_lengths(source, &data.tasks)?;
            (found, Some((source, rows)))
        }
    };
    let mut table = Table::new(&COLUMNS);
    work.rows(&prompts, settings, &mut table)?;
    work.best(&prompts, reference, &mut table)?;
    if data.clusters.is_some() && scale.values.is_some() {
        work.within_clusters(&prompts, reference, &mut table)?;
    }
    let texts = (0..).zip(&data.texts).filter(|(text, _)| scale.label(*text).is_none());
    let not_on_it: BTreeSet<&str> = texts.map(|(_, text)| text.as_str()).collect();
    let costs = read_costs(files.labels, |label| not_on_it.contains(label))?;
    for prompt in &prompts {
        let Some(costs) = costs.get(&prompt.name) else { continue };
        for (metric, value) in costs.per_label(settings.prices) {
            table.push(row((&prompt.name, metric), Some(value), None, costs.labels()));
        }
    }
    if beside.lengths.is_some() {
        work.slopes(&prompts, reference, &lengths_of, &mut table)?;
    }
    let mut crowd_rows = None;
    if let Some(crowd) = beside.crowd {
        let labels: Vec<(&str, Vec<(&str, &str)>)> = data
            .labellers
            .iter()
            .map(|labeller| {
                let named = |&(task, text): &(u32, Option<u32>)| {
                    let task = data.tasks[task as usize].as_str();
                    Some((task, data.texts[text? as usize].as_str()))
                };
                (labeller.name.as_str(), labeller.labels.iter().filter_map(named).collect())
            })
            .collect();
        let how = (&settings.as_z, chosen.seed, chosen.duplicates);
        let (found, set) = as_z(crowd, &labels, how, observer)?;
        for AsZ { prompt, metric, value, interval, items } in found {
            table.push(row((&prompt, &metric), value, interval, items));
        }
        warnings.extend(set.warnings);
        crowd_rows = set.inputs.first().map(|input| (crowd, input.rows));
    }
    let mut inputs: Vec<Input> =
        files.sources().zip(&data.rows).map(|(source, &rows)| Input::new(source, rows)).collect();
    inputs.extend(crowd_rows.map(|(source, rows)| Input::new(source, rows)));
    inputs.extend(length_rows.map(|(source, rows)| Input::new(source, rows)));
    let board = Board {
        names: &["prompt"],
        metrics: Some(("metric", &["kappa"])),
        value: "value",
        beside: &[],
        only: &[],
    };
    if let Some(answer) = board.answer(&table) {
        table.set_headline(answer);
    }
    let mut provenance = settings_map(settings);
    provenance.insert("cluster".into(), files.cluster_column().into());
    Ok(Report {
        command: "experiment prompts",
        inputs,
        settings: provenance,
        table,
        warnings,
        footer: vec![format!(
            "Intervals: 95 %, percentile bootstrap over {count} clusters, the same draws for all \
             prompts, B = {}, seed {}. Regret: {} splits, in which chosen:kappa counts the prompt that \
             is best on one half. The best prompt is best on these tasks; its lead is shown against \
             chance, not against having chosen it.",
            chosen.draws, chosen.seed, settings.splits
        )],
        prose: None,
    })
}

/// The features in the part of a name after its model and before its wording.
fn features(prompt: &str) -> Option<BTreeSet<char>> {
    let name = prompt.split('/').next().unwrap_or_default();
    if name == "none" {
        return Some(BTreeSet::new());
    }
    let known = !name.is_empty() && name.chars().all(|letter| FEATURES.contains(&letter));
    known.then(|| name.chars().collect())
}

fn prompts(work: &Work<'_>, reference: &Reference) -> Vec<Prompt> {
    let of = |(name, labels): &(String, Labels)| {
        let counts = work.counts(&reference.labels, labels);
        let mut missing = vec![0; work.scale.len()];
        reference.labels.iter().for_each(|&(_, gold)| missing[gold] += 1);
        let seen = counts.total().gold_counts();
        missing.iter_mut().zip(seen).for_each(|(all, seen)| *all -= seen);
        let prompt = name.rsplit_once(':').map_or(name.as_str(), |(_, prompt)| prompt);
        let features = features(prompt);
        Prompt { name: name.clone(), features, labels: labels.clone(), counts, missing }
    };
    reference.against_it.iter().map(of).collect()
}

/// Pairs of prompts, with and without a feature, that differ in nothing else.
fn matched(prompts: &[Prompt], feature: char) -> Vec<(usize, usize)> {
    let key = |prompt: &Prompt| {
        let model = prompt.name.rsplit_once(':').map_or("", |(model, _)| model);
        let wording = prompt.name.split_once('/').map_or("", |(_, wording)| wording);
        (model.to_owned(), wording.to_owned())
    };
    let mut pairs = Vec::new();
    for (with, a) in prompts.iter().enumerate() {
        for (without, b) in prompts.iter().enumerate() {
            let (Some(of_a), Some(of_b)) = (&a.features, &b.features) else { continue };
            let mut more = of_b.clone();
            if more.insert(feature) && more == *of_a && key(a) == key(b) {
                pairs.push((with, without));
            }
        }
    }
    pairs
}

/// The groups of wordings of one prompt, of two or more.
fn wordings(prompts: &[Prompt]) -> Vec<(String, Vec<usize>)> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, prompt) in prompts.iter().enumerate() {
        if let Some((name, _)) = prompt.name.split_once('/') {
            groups.entry(name.to_owned()).or_default().push(index);
        }
    }
    groups.into_iter().filter(|(_, group)| group.len() > 1).collect()
}

/// What half splits say: the regret with the middle 95 % of the splits, its middle and its ends, how often
/// there is none, and how often each prompt is chosen.
fn regret_rows(prompts: &[Prompt], chosen: &[Option<(usize, f64)>], table: &mut Table) {
    let regrets: Vec<Option<f64>> = chosen.iter().map(|of| of.map(|(_, regret)| regret)).collect();
    let mut found: Vec<f64> = regrets.iter().copied().flatten().collect();
    let count = found.len() as u64;
    table.push(row(("", "regret:kappa"), mean(&found), interval(&regrets), count));
    found.sort_by(f64::total_cmp);
    let none = found.iter().filter(|regret| **regret == 0.0).count() as f64;
    let shown = [
        ("regret:kappa:median", quantile(&found, 0.5)),
        ("regret:kappa:q90", quantile(&found, 0.9)),
        ("regret:kappa:max", found.last().copied()),
        ("regret:kappa:share_without", (count > 0).then(|| none / count as f64)),
    ];
    for (metric, value) in shown {
        table.push(row(("", metric), value, None, count));
    }
    for (index, prompt) in prompts.iter().enumerate() {
        let times = chosen.iter().flatten().filter(|(best, _)| *best == index).count() as f64;
        let share = (count > 0).then(|| times / count as f64);
        table.push(row((&prompt.name, "chosen:kappa"), share, None, count));
    }
}

/// One row of the table.
fn row(
    (prompt, metric): (&str, &str),
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    items: u64,
) -> Vec<Cell> {
    let (low, high) = interval.unzip();
    let prompt = if prompt.is_empty() { Cell::Missing } else { prompt.into() };
    let mut cells = vec![prompt, metric.into(), value.into(), low.into(), high.into()];
    cells.extend([items.into(), Cell::Missing, Cell::Missing, Cell::Missing]);
    cells
}

impl Work<'_> {
    fn rows(
        &self,
        prompts: &[Prompt],
        settings: &PromptStudySettings,
        table: &mut Table,
    ) -> Result<(), AgreementError> {
        let progress = self.observer.stage("bootstrap", u64::from(self.settings.draws));
        // By draw, prompt and metric.
        let draws: Vec<Vec<Vec<Option<f64>>>> = self.draws(progress.as_ref(), |weights| {
            prompts.iter().map(|p| self.panel.of(&p.counts.weighted(weights))).collect()
        })?;
        let values: Vec<Vec<Option<f64>>> =
            prompts.iter().map(|p| self.panel.of(&p.counts.total())).collect();
        let wanted = [(Metric::Kappa, "kappa"), (Metric::Mae, "mae"), (Metric::Auc, "auc")];
        let wanted: Vec<(usize, &str)> = wanted
            .into_iter()
            .filter_map(|(metric, name)| Some((self.panel.position(metric)?, name)))
            .collect();
        for (index, prompt) in prompts.iter().enumerate() {
            let matrix = prompt.counts.total();
            let bounds = self.panel.bounds(&matrix, &prompt.missing);
            for &(metric, name) in &wanted {
                let drawn: Vec<Option<f64>> = draws.iter().map(|d| d[index][metric]).collect();
                let value = values[index][metric];
                let mut cells =
                    row((&prompt.name, name), value, uncertainty(&drawn), matrix.total());
                cells[6] = prompt.missing.iter().sum::<u64>().into();
                let (lower, upper) = bounds[metric].unzip();
                (cells[7], cells[8]) = (lower.into(), upper.into());
                table.push(cells);
            }
        }
        let Some(&(kappa, _)) = wanted.first() else { return Ok(()) };
        for feature in FEATURES {
            let pairs = matched(prompts, feature);
            let effect = |of: &[Vec<Option<f64>>]| -> Option<f64> {
                let each = pairs.iter().map(|&(a, b)| Some(of[a][kappa]? - of[b][kappa]?));
                mean(&each.collect::<Option<Vec<f64>>>()?)
            };
            if !pairs.is_empty() {
                let drawn: Vec<Option<f64>> = draws.iter().map(|draw| effect(draw)).collect();
                let name = format!("effect:kappa:{feature}");
                table.push(row(("", &name), effect(&values), interval(&drawn), pairs.len() as u64));
            }
        }
        for (name, group) in wordings(prompts) {
            let kappas: Option<Vec<f64>> = group.iter().map(|&p| values[p][kappa]).collect();
            let Some(kappas) = kappas else { continue };
            let spread = [
                ("wordings:kappa:min", kappas.iter().copied().reduce(f64::min)),
                ("wordings:kappa:max", kappas.iter().copied().reduce(f64::max)),
                ("wordings:kappa:sd", sample_variance(&kappas).map(f64::sqrt)),
            ];
            for (metric, value) in spread {
                table.push(row((&name, metric), value, None, kappas.len() as u64));
            }
        }
        if prompts.len() > 1 && self.clusters > 1 {
            let chosen = self.regrets(prompts, kappa, settings.splits);
            self.go_on()?;
            regret_rows(prompts, &chosen, table);
        }
        Ok(())
    }

    /// The prompt with the highest kappa, and its lead over the next on the tasks of both: paired, with
    /// the exchange of their labels by cluster as the test.
    fn best(
        &self,
        prompts: &[Prompt],
        reference: &Reference,
        table: &mut Table,
    ) -> Result<(), AgreementError> {
        let Some(panel) = self.panel.only(Metric::Kappa) else { return Ok(()) };
        let work = Work { panel: &panel, ..*self };
        let of = |prompt: &Prompt| panel.of(&prompt.counts.total())[0];
        let mut order: Vec<(&Prompt, f64)> =
            prompts.iter().filter_map(|prompt| Some((prompt, of(prompt)?))).collect();
        // Stable: of equals the first stays first.
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [(best, kappa), (next, _), ..] = order[..] else { return Ok(()) };
        let items = best.counts.total().total();
        table.push(row((&best.name, "best:kappa"), Some(kappa), None, items));
        let paired = work.paired(reference, &best.labels, &next.labels)?;
        let (value, items) = (paired.differences[0], paired.gold.len() as u64);
        let metric = format!("lead:kappa:{}", next.name);
        table.push(row((&best.name, &metric), value, paired.intervals[0], items));
        let both = (&paired.first, &paired.second);
        let p_value = exchangeable(both, work.permutations(), &NoProgress, |m| panel.of(m))[0];
        let metric = format!("p_permutation:{}", next.name);
        table.push(row((&best.name, &metric), p_value, None, items));
        work.go_on()
    }

    /// Area under the curve over the pairs of one cluster with different gold labels, all clusters pooled.
    fn within_clusters(
        &self,
        prompts: &[Prompt],
        reference: &Reference,
        table: &mut Table,
    ) -> Result<(), AgreementError> {
        for prompt in prompts {
            let size = self.scale.len();
            let mut matrices = vec![Confusion::new(size); self.clusters];
            for (task, gold, label) in joined(&reference.labels, &prompt.labels) {
                if let Some(cluster) = self.cluster_of[task as usize] {
                    matrices[cluster as usize].add(gold, label, 1);
                }
            }
            let pairs: Vec<[f64; 2]> = matrices.iter().map(|m| self.panel.won(m)).collect();
            let of = |weights: &[u32]| -> Option<f64> {
                let sum = |index: usize| -> f64 {
                    pairs.iter().zip(weights).map(|(of, &w)| f64::from(w) * of[index]).sum()
                };
                (sum(1) > 0.0).then(|| sum(0) / sum(1))
            };
            let draws = self.draws(&NoProgress, of)?;
            let value = of(&vec![1; self.clusters]);
            let items = prompt.counts.total().total();
            let metric = (prompt.name.as_str(), "auc_within_clusters");
            table.push(row(metric, value, interval(&draws), items));
        }
        Ok(())
    }

    /// The prompt that is best on one half, and what it loses on the other half, by split.
    fn regrets(&self, prompts: &[Prompt], metric: usize, splits: u32) -> Vec<Option<(usize, f64)>> {
        let split = |split: u32| -> Option<(usize, f64)> {
            let mut random = stream(self.settings.seed, "half splits", u64::from(split));
            let mut order: Vec<usize> = (0..self.clusters).collect();
            // Half of a random order: the first places of a Fisher-Yates shuffle.
            let half = self.clusters / 2;
            for place in 0..half {
                let other = random.random_range(place..order.len());
                order.swap(place, other);
            }
            let mut first = vec![0; self.clusters];
            order[..half].iter().for_each(|&cluster| first[cluster] = 1);
            let second: Vec<u32> = first.iter().map(|weight| 1 - weight).collect();
            let values = |weights: &[u32]| -> Option<Vec<f64>> {
                prompts
                    .iter()
                    .map(|prompt| self.panel.of(&prompt.counts.weighted(weights))[metric])
                    .collect()
            };
            let (choose, check) = (values(&first)?, values(&second)?);
            let best = (0..choose.len()).rev().max_by(|&a, &b| choose[a].total_cmp(&choose[b]))?;
            Some((best, check.iter().copied().reduce(f64::max)? - check[best]))
        };
        (0..splits).into_par_iter().map(split).collect()
    }

    /// Least-squares slope of `label - gold` on length, of every prompt.
    fn slopes(
        &self,
        prompts: &[Prompt],
        reference: &Reference,
        lengths: &BTreeMap<u32, f64>,
        table: &mut Table,
    ) -> Result<(), AgreementError> {
        let Some(values) = &self.scale.values else { return Ok(()) };
        for prompt in prompts {
            let points: Vec<(usize, f64, f64)> = joined(&reference.labels, &prompt.labels)
                .filter_map(|(task, gold, label)| {
                    let cluster = self.cluster_of[task as usize]?;
                    Some((cluster as usize, *lengths.get(&task)?, values[label] - values[gold]))
                })
                .collect();
            let whole = slope(&points, &vec![1; self.clusters]);
            let draws = self.draws(&NoProgress, |weights| slope(&points, weights))?;
            let metric = (prompt.name.as_str(), "slope:length");
            table.push(row(metric, whole, interval(&draws), points.len() as u64));
        }
        Ok(())
    }
}

/// Slope of points `(cluster, x, y)` of weighted clusters; `None` if all x are one.
fn slope(points: &[(usize, f64, f64)], weights: &[u32]) -> Option<f64> {
    let (mut total, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
    for &(cluster, x, y) in points {
        let weight = f64::from(weights[cluster]);
        total += weight;
        x_sum += weight * x;
        y_sum += weight * y;
    }
    let (x_mean, y_mean) = (x_sum / total, y_sum / total);
    let (mut squares, mut products) = (0.0, 0.0);
    for &(cluster, x, y) in points {
        let weight = f64::from(weights[cluster]);
        squares += weight * (x - x_mean).powi(2);
        products += weight * (x - x_mean) * (y - y_mean);
    }
    (squares > 0.0).then(|| products / squares)
}

const TASK: Column = Column { name: "task", synonyms: &["item", "question"], required: true };
const LENGTH: Column = Column { name: "length", synonyms: &["words", "tokens"], required: true };

/// Lengths by number of the task, and the rows read; tasks that nobody labelled do not matter.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 tasks")]
fn read_lengths(source: &Source, tasks: &[String]) -> Result<(BTreeMap<u32, f64>, u64), DataError> {
    let mut problems = Problems::new();
    let mut file = FileProblems::new(source, &mut problems);
    let mut lengths = BTreeMap::new();
    let rows = read_rows(source, &[TASK, LENGTH], &mut file, &mut |row, problems| {
        let (task, length) = (row.fields[0].as_name(), row.fields[1].as_name());
        let length = length.and_then(|text| text.parse::<f64>().ok()).filter(|l| l.is_finite());
        let (Some(task), Some(length)) = (task, length) else {
            problems.report(Some(row.line), None, "needs a task, and a length that is a number");
            return;
        };
        if let Ok(found) = tasks.binary_search_by(|known| known.as_str().cmp(&task)) {
            lengths.insert(found as u32, length);
        }
    });
    problems.into_result()?;
    Ok((lengths, rows))
}

/// The page of a study: its table, and what the columns mean.
#[cfg(feature = "html")]
pub(crate) fn page(report: &Report) -> crate::report::html::Page {
    use crate::report::plot::{Bar, BarChart};
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    };
    let number = |cell: &Cell| match cell {
        Cell::Number(number) => Some(*number),
        _ => None,
    };
    let kappas = report.table.rows().iter().filter(|row| row[1] == "kappa".into());
    let bar = |row: &Vec<Cell>| {
        let error = number(&row[3]).zip(number(&row[4]));
        Some(Bar { name: text(&row[0])?, value: number(&row[2]), error })
    };
    let mut bars: Vec<Bar> = kappas.filter_map(bar).collect();
    bars.sort_by(|a, b| b.value.unwrap_or(f64::MIN).total_cmp(&a.value.unwrap_or(f64::MIN)));
    let chart = BarChart {
        title: "Kappa of every prompt and wording".into(),
        x_name: "Cohen's kappa with gold; error bars: 95 % interval".into(),
        x_range: None,
        reference: None,
        bars,
    };
    let caption =
        "The same labels by other words: how far the dots lie apart is what wording does.";
    let figure = (!chart.bars.is_empty()).then(|| (chart.svg(), caption.to_owned()));
    crate::report::html::Page {
        figures: figure.into_iter().collect(),
        title: "Which prompt labels best".into(),
        lead: report.table.headline().map(str::to_owned).into_iter().collect(),
        reading: report.footer.clone(),
        table: crate::report::html::ShownTable::Open,
        ..crate::report::html::Page::default()
    }
}

#[cfg(test)]
mod tests;
