//! What the copy mixture knows about a task before it sees a report: which LLM said what, and
//! what a copy of that looks like.

use std::collections::HashMap;
use std::sync::Arc;

use super::COPY_FIDELITY;
use crate::data::labels::{Label, LabelTable};

/// What one LLM said, by task.
#[derive(Debug, Clone)]
pub(super) struct SourceLabels {
    pub(super) conditioning: Arc<[Option<Label>]>,
    /// All samples, where there are several.
    pub(super) samples: Vec<Arc<[Option<Label>]>>,
}

/// The labels of Z as contexts of tasks, and what copies of them look like.
#[derive(Debug, Clone)]
pub(super) struct Signals {
    /// Context 0 has no Z; it also holds the tasks without a report.
    pub(super) context_of_task: Vec<u32>,
    /// Row-major context by source: number of the label among those that the source uses.
    levels: Vec<Option<u32>>,
    /// By source.
    pub(super) copies: Vec<CopyTable>,
}

/// `C_s`: probability of a report (column) given the label of Z that is copied (row).
#[derive(Debug, Clone)]
pub(super) struct CopyTable {
    pub(super) levels: usize,
    /// Row-major level by class.
    probabilities: Vec<f64>,
}

impl Signals {
    pub(super) fn new(sources: &[SourceLabels], table: &LabelTable) -> Self {
        let used: Vec<Vec<Label>> = sources.iter().map(|s| labels_used(s, table)).collect();
        let mut known: HashMap<Vec<Option<u32>>, u32> = HashMap::new();
        known.insert(vec![None; sources.len()], 0);
        let mut levels = vec![None; sources.len()];
        let mut context_of_task = vec![0; table.task_count()];
        for (task, context) in context_of_task.iter_mut().enumerate() {
            if table.of_task(task as u32).is_empty() {
                continue;
            }
            let signal: Vec<Option<u32>> = sources
                .iter()
                .zip(&used)
                .map(|(source, used)| {
                    let label = source.conditioning[task]?;
                    used.binary_search(&label).ok().map(|level| level as u32)
                })
                .collect();
            let next = known.len() as u32;
            *context = *known.entry(signal).or_insert_with_key(|signal| {
                levels.extend_from_slice(signal);
                next
            });
        }
        let copies = sources
            .iter()
            .zip(&used)
            .map(|(source, used)| CopyTable::new(&source.samples, used, table.label_count()))
            .collect();
        Self { context_of_task, levels, copies }
    }

    pub(super) fn contexts(&self) -> usize {
        // Without any source there is the context of no Z alone.
        self.levels.len().checked_div(self.copies.len()).unwrap_or(1)
    }

    /// The level of each source that covers `context`, with the number of the source.
    pub(super) fn of_context(&self, context: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
        let sources = self.copies.len();
        self.levels[context as usize * sources..][..sources]
            .iter()
            .enumerate()
            .filter_map(|(source, level)| Some((source, (*level)? as usize)))
    }

    /// Probability that a copy of the source's label is `label`.
    pub(super) fn copy(&self, source: usize, level: usize, label: Label, classes: usize) -> f64 {
        self.copies[source].probabilities[level * classes + usize::from(label)]
    }
}

/// Distinct labels of a source on the tasks with a report, ascending.
fn labels_used(source: &SourceLabels, table: &LabelTable) -> Vec<Label> {
    let mut used: Vec<Label> = (0..)
        .zip(source.conditioning.iter())
        .filter(|&(task, _)| !table.of_task(task).is_empty())
        .filter_map(|(_, label)| *label)
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

impl CopyTable {
    /// Rows near the identity, each worth one observation, plus the pairs of different samples.
    /// A label that no worker uses has no diagonal: its row is uniform.
    fn new(samples: &[Arc<[Option<Label>]>], used: &[Label], classes: usize) -> Self {
        let mut rows = vec![0.0; used.len() * classes];
        for (row, &label) in rows.chunks_exact_mut(classes).zip(used) {
            near_identity(row, usize::from(label));
        }
        for (first, one) in samples.iter().enumerate() {
            for (second, other) in samples.iter().enumerate() {
                if first == second {
                    continue;
                }
                for (z, copy) in one.iter().zip(other.iter()) {
                    let (Some(z), Some(copy)) = (z, copy) else { continue };
                    let Ok(level) = used.binary_search(z) else { continue };
                    if usize::from(*copy) < classes {
                        rows[level * classes + usize::from(*copy)] += 1.0;
                    }
                }
            }
        }
        for row in rows.chunks_exact_mut(classes) {
            let total: f64 = row.iter().sum();
            for entry in row {
                *entry /= total;
            }
        }
        Self { levels: used.len(), probabilities: rows }
    }
}

fn near_identity(row: &mut [f64], label: usize) {
    let classes = row.len();
    if label >= classes || classes == 1 {
        row.fill(1.0 / classes as f64);
    } else {
        row.fill((1.0 - COPY_FIDELITY) / (classes - 1) as f64);
        row[label] = COPY_FIDELITY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_look_like_one_sample_given_another() {
        // Pairs in both orders. z = 0: near identity (0.95, 0.05) plus pairs 0 -> 0 twice (both orders) and 0 -> 1 once:
        // (2.95, 1.05) / 4. z = 1: (0.05, 0.95) plus 1 -> 0 once: (1.05, 0.95) / 2.
        let samples: [Arc<[Option<Label>]>; 2] =
            [vec![Some(0), Some(0), None].into(), vec![Some(0), Some(1), Some(1)].into()];
        let table = CopyTable::new(&samples, &[0, 1], 2);
        let expected = [2.95 / 4.0, 1.05 / 4.0, 1.05 / 2.0, 0.95 / 2.0];
        for (got, want) in table.probabilities.iter().zip(expected) {
            assert!((got - want).abs() < 1e-12, "{:?}", table.probabilities);
        }
    }
}
