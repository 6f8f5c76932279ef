//! From files to metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::alternative::{self, AltResult};
use super::best::{self, Best};
use super::compare::{self, Change, Lost};
use super::error::AgreementError;
use super::group::group_rows;
use super::panel::Panel;
use super::reference::{Labels, Reference, References, references};
use super::settings::{AgreementSettings, Compare, Cut, Outside};
use super::work::{Row, Work, clusters, labels_of, only, scale_of};
use crate::data::ids::{Ids, alike};
use crate::data::labellers::{LabellerFiles, Labellings, read_labellers};
use crate::data::nouns::{ARE, COUNT, HAVE, SAY, WERE, counted, verb};
use crate::data::observer::Observer;
use crate::data::scale::Scale;
use crate::data::warning::{Warning, first_names, names_alike, names_rounded};
use crate::error::Result;
use crate::metrics::agreement::Confusion;
use crate::metrics::agreement::bootstrap::{ClusterCounts, few_clusters, uncertainty};
use crate::report::Input;

/// One source against one reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// Who is measured.
    pub source: String,
    /// Against whom.
    pub against: String,
    /// Rows gold, columns the source.
    pub matrix: Confusion,
    /// Items without a readable label of the source, by gold label.
    pub missing: Vec<u64>,
    /// In the order of [`Panel::names`].
    pub values: Vec<Option<f64>>,
    /// Their intervals.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// Their bounds.
    pub bounds: Vec<Option<(f64, f64)>>,
}

/// An item on which sources disagree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disagreement {
    /// The task.
    pub task: String,
    /// The gold label, where there is one.
    pub gold: Option<String>,
    /// Label and number of sources that give it, most first.
    pub labels: Vec<(String, usize)>,
    /// Share of pairs of sources that differ.
    pub differing: f64,
}

/// Everything that a run found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgreementRun {
    /// The settings.
    pub settings: AgreementSettings,
    /// The column that had the clusters, if one had.
    pub(crate) cluster_column: Option<String>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// The labels.
    pub scale: Scale,
    /// Names of the metrics of [`Measured`].
    pub(crate) panel: Panel,
    /// Every source against every reference.
    pub(crate) measured: Vec<Measured>,
    /// Sources or people among themselves, comparisons, changes and the alternative annotator
    /// test.
    pub more: Vec<Row>,
    /// The alternative annotator test of every source.
    pub(crate) alternatives: Vec<AltResult>,
    /// The source that agrees best, and the next.
    pub best: Option<Best>,
    /// Whether there are gold labels.
    pub(crate) has_gold: bool,
    /// Whether every gold label is one that a source can give; not so where it is a mean of people.
    pub(crate) are_labels: bool,
    /// What changed since the earlier labels, by source.
    pub(crate) changes: Vec<Change>,
    /// Sources of the earlier labels that are gone or have lost tasks.
    pub(crate) lost: Vec<Lost>,
    /// Clusters that were drawn, and whether each is one task.
    pub clusters: (usize, bool),
    /// Items on which sources disagree most.
    pub(crate) disagreements: Vec<Disagreement>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Pairs whose draws are held in memory at a time.
const PAIRS_AT_ONCE: usize = 64;

/// Measures how well every source agrees with gold, or people, or the other sources.
///
/// # Errors
///
/// [`crate::data::problem::DataError`] for files that cannot be used, `AgreementError` for
/// settings that do not fit them and for an interruption.
pub fn run(
    files: &LabellerFiles<'_>,
    settings: &AgreementSettings,
    observer: &dyn Observer,
) -> Result<AgreementRun> {
    let data = read_labellers(files, settings.duplicates)?;
    let scale = scale_of(&settings.scale, &data);
    let mut warnings = warnings(&data, &scale, settings)?;
    let References { all: references, ties, scale, are_labels } =
        references(&data, scale, settings.gold_by)?;
    let cut = settings.binarize.as_ref();
    let panel = Panel::new(&scale, cut, are_labels)
        .ok_or_else(|| AgreementError::Cut { at: cut.cloned().unwrap_or(Cut::Number(0.0)) })?;
    if references.is_empty() {
        return Err(AgreementError::Alone.into());
    }
    if ties > 0 {
        let (tasks, have) = (counted(ties, "task"), verb(ties, HAVE));
        let message = format!("{tasks} {have} no gold label, since several labels tie");
        warnings.push(Warning::new("gold_ties", ties, message));
    }
    warnings.extend(without_gold(&data, &scale)?);
    warnings.extend(alike_labels(&scale));
    let (cluster_of, clusters) = clusters(&data, &references);
    warnings.extend(data.clusters.as_ref().and_then(|_| few_clusters(clusters)));
    let work = Work {
        settings,
        data: &data,
        scale: &scale,
        panel: &panel,
        cluster_of: &cluster_of,
        clusters,
        observer,
    };
    let measured = work.measure(&references)?;
    let mut more = group_rows(&work)?;
    if settings.compare != Compare::None {
        more.extend(compare::comparisons(&work, only(&references)?)?);
    }
    let (mut changes, mut lost) = (Vec::new(), Vec::new());
    if files.since.is_some() {
        let (rows, found) = compare::changes(&work, only(&references)?)?;
        more.extend(rows);
        changes = found;
        lost = compare::lost(&work);
        warnings.extend(lost.iter().map(Lost::to_warning));
    }
    let best = best::best(&work, &references, &measured)?;
    let mut alternatives = Vec::new();
    if let Some(test) = &settings.alt_test {
        let (rows, found) = alternative::alternatives(&work, test)?;
        more.extend(rows);
        alternatives = found;
    }
    let disagreements = disagreements(&data, &scale, &references);
    let inputs =
        files.sources().zip(&data.rows).map(|(source, &rows)| Input::new(source, rows)).collect();
    Ok(AgreementRun {
        settings: settings.clone(),
        cluster_column: files.cluster_column().map(str::to_owned),
        inputs,
        clusters: (clusters, data.clusters.is_none()),
        measured,
        more,
        alternatives,
        best,
        has_gold: !data.gold.is_empty(),
        are_labels,
        changes,
        lost,
        disagreements,
        warnings,
        scale,
        panel,
    })
}

impl Work<'_> {
    /// Every source against every reference.
    fn measure(&self, references: &[Reference]) -> Result<Vec<Measured>, AgreementError> {
        let pairs: Vec<(&Reference, &(String, Labels))> =
            references.iter().flat_map(|r| r.against_it.iter().map(move |s| (r, s))).collect();
        let total = u64::from(self.settings.draws) * pairs.len().div_ceil(PAIRS_AT_ONCE) as u64;
        let progress = self.observer.stage("bootstrap", total);
        let mut measured = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(PAIRS_AT_ONCE) {
            let counts: Vec<ClusterCounts> =
                pairs.iter().map(|(r, s)| self.counts(&r.labels, &s.1)).collect();
            let draws: Vec<Vec<Vec<Option<f64>>>> = self.draws(progress.as_ref(), |weights| {
                counts.iter().map(|counts| self.panel.of(&counts.weighted(weights))).collect()
            })?;
            for (index, ((reference, (source, _)), counts)) in pairs.iter().zip(&counts).enumerate()
            {
                let matrix = counts.total();
                let mut missing = vec![0_u64; self.scale.len()];
                reference.labels.iter().for_each(|&(_, gold)| missing[gold] += 1);
                let seen = matrix.gold_counts();
                missing.iter_mut().zip(seen).for_each(|(all, seen)| *all -= seen);
                let of_metric = |metric: usize| {
                    uncertainty(&draws.iter().map(|draw| draw[index][metric]).collect::<Vec<_>>())
                };
                measured.push(Measured {
                    source: source.clone(),
                    against: reference.name.clone(),
                    values: self.panel.of(&matrix),
                    intervals: (0..self.panel.names().len()).map(of_metric).collect(),
                    bounds: self.panel.bounds(&matrix, &missing),
                    matrix,
                    missing,
                });
            }
        }
        Ok(measured)
    }
}

/// What was dropped, and what is outside the scale.
pub(super) fn warnings(
    data: &Labellings,
    scale: &Scale,
    settings: &AgreementSettings,
) -> Result<Vec<Warning>, AgreementError> {
    let mut warnings = Vec::new();
    if data.dropped > 0 {
        let message = format!("{} duplicate labels were dropped", data.dropped);
        warnings.push(Warning::new("duplicates_dropped", data.dropped, message));
    }
    let tasks: Ids = data.tasks.iter().collect();
    warnings.extend(names_rounded("tasks", &tasks));
    warnings.extend(names_alike("tasks", &tasks));
    if !data.sets.is_empty() {
        let message = format!(
            "{} {} of choices that stand there in another order, too, and {} read as one: {}",
            counted(data.sets.len(), "label"),
            verb(data.sets.len(), ["is a set", "are sets"]),
            verb(data.sets.len(), WERE),
            first_names(&data.sets)
        );
        warnings.push(Warning::new("labels_folded", data.sets.len(), message));
    }
    let all = data.labellers.iter().chain(&data.gold).chain(&data.since);
    let texts = all.flat_map(|labeller| &labeller.labels).filter_map(|(_, text)| *text);
    let (nothing, outside): (Vec<u32>, Vec<u32>) =
        texts.filter(|&text| scale.label(text).is_none()).partition(|&text| scale.is_missing(text));
    let names = |texts: &[u32]| -> String {
        let texts: BTreeSet<u32> = texts.iter().copied().collect();
        first_names(&texts.iter().map(|&t| data.texts[t as usize].as_str()).collect::<Vec<_>>())
    };
    let rows = nothing.len();
    if rows > 0 {
        let words = names(&nothing);
        let message = format!(
            "{} {} that there is none and {} as missing: {words}",
            counted(rows, "label"),
            verb(rows, SAY),
            verb(rows, COUNT)
        );
        warnings.push(Warning::new("labels_missing", rows, message));
    }
    let rows = outside.len();
    if rows == 0 {
        return Ok(warnings);
    }
    let names = names(&outside);
    if settings.outside == Outside::Refuse {
        return Err(AgreementError::OutsideScale { rows, labels: names });
    }
    let message = if rows == 1 {
        format!("a label is outside the scale and counts as missing: {names}")
    } else {
        format!("{rows} labels are outside the scale and count as missing: {names}")
    };
    warnings.push(Warning::new("labels_outside_scale", rows, message));
    Ok(warnings)
}

/// Labels of tasks that nobody has a gold label for, one on the scale.
///
/// # Errors
///
/// If that is every label of every source.
fn without_gold(data: &Labellings, scale: &Scale) -> Result<Option<Warning>, AgreementError> {
    if data.gold.is_empty() {
        return Ok(None);
    }
    let mut has_gold = vec![false; data.tasks.len()];
    for (task, _) in data.gold.iter().flat_map(|person| labels_of(scale, person)) {
        has_gold[task as usize] = true;
    }
    let labels = data.labellers.iter().flat_map(|labeller| &labeller.labels);
    let (with, without): (Vec<u32>, Vec<u32>) =
        labels.map(|(task, _)| *task).partition(|&task| has_gold[task as usize]);
    let rows = without.len();
    let tasks: BTreeSet<u32> = without.into_iter().collect();
    let names: Vec<&str> = tasks.iter().map(|&task| data.tasks[task as usize].as_str()).collect();
    if rows == 0 {
        return Ok(None);
    }
    if let Some(error) = two_spellings(data, &has_gold, &tasks) {
        return Err(error);
    }
    if with.is_empty() {
        let gold = (0..data.tasks.len()).filter(|&task| has_gold[task]);
        let gold: Vec<&str> = gold.map(|task| data.tasks[task].as_str()).collect();
        let (labels, gold) = (first_names(&names), first_names(&gold));
        return Err(AgreementError::NoCommonTask { labels, gold });
    }
    let message = format!(
        "{} {} of {} without a gold label: {}",
        counted(rows, "label"),
        verb(rows, ARE),
        counted(tasks.len(), "task"),
        first_names(&names)
    );
    Ok(Some(Warning::new("no_gold", rows, message)))
}

/// Tasks without gold that are the same number as one with gold that nobody else labels, as `7` and `7.0`.
fn two_spellings(
    data: &Labellings,
    has_gold: &[bool],
    without: &BTreeSet<u32>,
) -> Option<AgreementError> {
    let number = |task: usize| {
        let name = data.tasks[task].as_str();
        let plain = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        name.parse::<f64>().ok().filter(|_| plain).map(f64::to_bits)
    };
    let labels = data.labellers.iter().flat_map(|labeller| &labeller.labels);
    let labelled: BTreeSet<usize> = labels.map(|(task, _)| *task as usize).collect();
    let alone = (0..data.tasks.len()).filter(|task| has_gold[*task] && !labelled.contains(task));
    let gold: BTreeMap<u64, usize> = alone.filter_map(|task| Some((number(task)?, task))).collect();
    let twin = |task: &u32| Some((*task as usize, *gold.get(&number(*task as usize)?)?));
    let twins: Vec<(usize, usize)> = without.iter().filter_map(twin).collect();
    let (label, gold) = twins.first()?;
    Some(AgreementError::TwoSpellings {
        count: twins.len(),
        label: data.tasks[*label].clone(),
        gold: data.tasks[*gold].clone(),
    })
}

/// Labels that differ in case or white space only: people mean one by them, and they count as several.
fn alike_labels(scale: &Scale) -> Option<Warning> {
    let mut spellings: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in &scale.names {
        spellings.entry(alike(name)).or_default().push(name);
    }
    let several: Vec<String> = spellings
        .into_values()
        .filter(|names| names.len() > 1)
        .map(|names| names.join(" and "))
        .collect();
    let shown: Vec<&str> = several.iter().map(String::as_str).collect();
    (!several.is_empty()).then(|| {
        let message = format!(
            "labels that differ only in case or white space count as different ones: {}",
            first_names(&shown)
        );
        Warning::new("labels_alike", several.len(), message)
    })
}

/// Items on which the sources disagree most, the first few.
fn disagreements(data: &Labellings, scale: &Scale, references: &[Reference]) -> Vec<Disagreement> {
    const SHOWN: usize = 20;
    let mut counts: BTreeMap<u32, BTreeMap<usize, usize>> = BTreeMap::new();
    for labeller in &data.labellers {
        for (task, label) in labels_of(scale, labeller) {
            *counts.entry(task).or_default().entry(label).or_default() += 1;
        }
    }
    let differing = |labels: &BTreeMap<usize, usize>| {
        let total: usize = labels.values().sum();
        let equal: usize = labels.values().map(|count| count * (count - 1)).sum();
        let pairs = total * (total - 1);
        if pairs == 0 { 0.0 } else { 1.0 - equal as f64 / pairs as f64 }
    };
    let mut found: Vec<(u32, f64)> = counts
        .iter()
        .map(|(&task, labels)| (task, differing(labels)))
        .filter(|(_, differing)| *differing > 0.0)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(SHOWN);
    let gold = references.first().filter(|_| !data.gold.is_empty());
    found
        .into_iter()
        .map(|(task, differing)| {
            let gold = gold.and_then(|reference| {
                let at = reference.labels.binary_search_by_key(&task, |(task, _)| *task).ok()?;
                Some(scale.names[reference.labels[at].1].clone())
            });
            let mut labels: Vec<(String, usize)> =
                counts[&task].iter().map(|(&l, &n)| (scale.names[l].clone(), n)).collect();
            labels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            Disagreement { task: data.tasks[task as usize].clone(), gold, labels, differing }
        })
        .collect()
}
