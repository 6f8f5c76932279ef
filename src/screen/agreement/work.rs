//! What the parts of a run share.

use std::collections::BTreeMap;

use super::error::AgreementError;
use super::panel::Panel;
use super::reference::{Labels, Reference};
use super::settings::AgreementSettings;
use crate::data::labellers::{Labeller, Labellings};
use crate::data::observer::Observer;
use crate::data::progress::Progress;
use crate::data::scale::{Scale, ScaleChoice};
use crate::metrics::agreement::bootstrap::{ClusterCounts, over_draws};

/// A row of the result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Who is measured.
    pub source: String,
    /// Against whom.
    pub against: String,
    /// Name of the metric.
    pub metric: String,
    /// The metric; `None` where undefined.
    pub value: Option<f64>,
    /// 95 % interval, low end first.
    pub interval: Option<(f64, f64)>,
    /// Items behind it.
    pub items: u64,
    /// Items without a readable label of the source.
    pub missing: Option<u64>,
    /// What the missing labels could make of it.
    pub bounds: Option<(f64, f64)>,
}

impl Row {
    pub(super) fn new(source: &str, against: &str, metric: impl Into<String>, items: u64) -> Self {
        Self {
            source: source.into(),
            against: against.into(),
            metric: metric.into(),
            value: None,
            interval: None,
            items,
            missing: None,
            bounds: None,
        }
    }

    pub(super) fn with(mut self, value: Option<f64>) -> Self {
        self.value = value;
        self
    }
}

/// What the parts of a run share.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) settings: &'a AgreementSettings,
    pub(super) data: &'a Labellings,
    pub(super) scale: &'a Scale,
    pub(super) panel: &'a Panel,
    /// Cluster of every task; `None` for tasks without gold.
    pub(super) cluster_of: &'a [Option<u32>],
    pub(super) clusters: usize,
    pub(super) observer: &'a dyn Observer,
}

impl Work<'_> {
    /// Counts of the tasks that both label.
    pub(super) fn counts(&self, gold: &Labels, labels: &Labels) -> ClusterCounts {
        let items = joined(gold, labels)
            .filter_map(|(task, gold, label)| Some((self.cluster_of[task as usize]?, gold, label)));
        ClusterCounts::new(self.scale.len(), self.clusters, items)
    }

    /// What `of` makes of every draw of the clusters; none if one cluster is all there is.
    ///
    /// # Errors
    ///
    /// If the run was interrupted.
    pub(super) fn draws<T: Send>(
        &self,
        progress: &dyn Progress,
        of: impl Fn(&[u32]) -> T + Sync,
    ) -> Result<Vec<T>, AgreementError> {
        self.draws_of(self.clusters, progress, of)
    }

    /// The same of other clusters than those of the references.
    ///
    /// # Errors
    ///
    /// If the run was interrupted.
    pub(super) fn draws_of<T: Send>(
        &self,
        clusters: usize,
        progress: &dyn Progress,
        of: impl Fn(&[u32]) -> T + Sync,
    ) -> Result<Vec<T>, AgreementError> {
        if clusters < 2 {
            return Ok(Vec::new());
        }
        let AgreementSettings { draws, seed, .. } = *self.settings;
        let found = over_draws(clusters, (draws, seed), progress, of);
        self.go_on()?;
        Ok(found)
    }

    /// # Errors
    ///
    /// If the run was interrupted.
    pub(super) fn go_on(&self) -> Result<(), AgreementError> {
        if self.observer.interrupted() { Err(AgreementError::Interrupted) } else { Ok(()) }
    }
}

/// The one reference, where there must be no more.
pub(super) fn only(references: &[Reference]) -> Result<&Reference, AgreementError> {
    match references {
        [one] => Ok(one),
        _ => Err(AgreementError::SeveralReferences { count: references.len() }),
    }
}

/// The label of every task that has one on the scale, by ascending task.
pub(super) fn labels_of(scale: &Scale, labeller: &Labeller) -> Labels {
    let on_it = |&(task, text): &(u32, Option<u32>)| Some((task, scale.label(text?)?));
    labeller.labels.iter().filter_map(on_it).collect()
}

/// The scale of what was read: gold labels decide whether labels are numbers, or all labels where
/// there are none.
pub(super) fn scale_of(choice: &ScaleChoice, data: &Labellings) -> Scale {
    let decide = if data.gold.is_empty() { &data.labellers } else { &data.gold };
    let texts = decide.iter().flat_map(|labeller| &labeller.labels).filter_map(|(_, text)| *text);
    Scale::new(choice, &data.texts, texts)
}

/// Tasks of both with both labels; both are by ascending task.
pub(super) fn joined<'a>(
    gold: &'a Labels,
    labels: &'a Labels,
) -> impl Iterator<Item = (u32, usize, usize)> + 'a {
    let mut next = 0;
    gold.iter().filter_map(move |&(task, gold)| {
        while next < labels.len() && labels[next].0 < task {
            next += 1;
        }
        let &(found, label) = labels.get(next)?;
        (found == task).then_some((task, gold, label))
    })
}

/// The cluster of every task that has a label in a reference, and the number of clusters.
pub(super) fn clusters(data: &Labellings, references: &[Reference]) -> (Vec<Option<u32>>, usize) {
    let labels = references.iter().flat_map(|reference| &reference.labels);
    clusters_of(data, labels.map(|(task, _)| *task))
}

/// The cluster of every one of some tasks, and the number of clusters.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 tasks")]
pub(super) fn clusters_of(
    data: &Labellings,
    tasks: impl Iterator<Item = u32>,
) -> (Vec<Option<u32>>, usize) {
    let mut used = vec![false; data.tasks.len()];
    tasks.for_each(|task| used[task as usize] = true);
    let given = |task: usize| data.clusters.as_ref().map_or(task as u32, |(of, _)| of[task]);
    let mut numbers: BTreeMap<u32, u32> =
        (0..used.len()).filter(|&task| used[task]).map(|task| (given(task), 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let of = |task: usize| used[task].then(|| numbers[&given(task)]);
    ((0..used.len()).map(of).collect(), numbers.len())
}
