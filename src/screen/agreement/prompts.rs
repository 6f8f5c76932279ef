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
use crate::data::rows::{Column, FileProblems, read_rows};
use crate::data::source::Source;
use crate::error::Result;
use crate::metrics::agreement::Metric;
use crate::metrics::agreement::bootstrap::{ClusterCounts, interval};
use crate::report::{Cell, Input, Report, Table, settings_map};
use crate::stats::interval::sample_variance;
use crate::stats::rank::mean;
use crate::stats::seed::stream;

/// Features of a prompt, in the order of their letters in a name.
pub const FEATURES: [char; 5] = ['R', 'D', 'N', 'A', 'M'];

/// Columns of the result, a contract with scripts.
pub const COLUMNS: [&str; 9] = [
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
pub struct PromptStudySettings {
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
pub struct Beside<'a> {
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
/// regret is what choosing the best prompt on one half of the clusters costs on the other half.
///
/// # Errors
///
/// [`DataError`] for files that cannot be used, [`AgreementError`] for settings that do not fit
/// them and for an interruption.
pub fn study(
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
    let costs = read_costs(files.labels)?;
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
             prompts, B = {}, seed {}. Regret: {} splits.",
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
                let mut cells = row((&prompt.name, name), value, interval(&drawn), matrix.total());
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
            let regrets = self.regrets(prompts, kappa, settings.splits);
            self.go_on()?;
            let found: Vec<f64> = regrets.iter().copied().flatten().collect();
            let value = mean(&found);
            table.push(row(("", "regret:kappa"), value, interval(&regrets), found.len() as u64));
        }
        Ok(())
    }

    /// What the prompt that is best on one half loses on the other half, by split.
    fn regrets(&self, prompts: &[Prompt], metric: usize, splits: u32) -> Vec<Option<f64>> {
        let split = |split: u32| -> Option<f64> {
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
            Some(check.iter().copied().reduce(f64::max)? - check[best])
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
            let progress = crate::data::progress::NoProgress;
            let draws = self.draws(&progress, |weights| slope(&points, weights))?;
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
pub fn page(report: &Report) -> crate::report::html::Page {
    crate::report::html::Page {
        title: "Which prompt labels best".into(),
        lead: report.footer.first().cloned().into_iter().collect(),
        reading: report.footer.iter().skip(1).cloned().collect(),
        table: crate::report::html::ShownTable::Open,
        ..crate::report::html::Page::default()
    }
}

#[cfg(test)]
mod tests;
