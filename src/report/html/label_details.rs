//! The evidence for crowd workers, as a page holds it.

use serde_json::{Value, json};

use super::digits::{SIMILARITY_DECIMALS, rounded};

/// The evidence for crowd workers.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelDetails {
    /// Names of labels, by number.
    pub labels: Vec<String>,
    /// Names of the LLMs, by number.
    pub sources: Vec<String>,
    /// What the consensus is, in a sentence.
    pub(crate) consensus: String,
    /// Names of the tasks that are shown of somebody.
    pub tasks: Vec<String>,
    /// Per worker.
    pub people: Vec<LabelDetail>,
}

/// The evidence for one worker.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelDetail {
    /// Per LLM: share of tasks with the same label, and tasks with a label of both.
    pub agreement: Vec<(Option<f64>, u64)>,
    /// What the worker says where the consensus says something.
    pub confusion: ShownConfusion,
    /// Tasks by what they tell: with an LLM against the crowd, alone, with the crowd against the
    /// LLM, the same as both, nothing.
    pub(crate) kinds: [u64; 5],
    /// The tasks that tell most, in this order.
    pub tasks: Vec<ShownTask>,
}

/// One task of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownTask {
    /// Number among the names of [`LabelDetails::tasks`].
    pub task: usize,
    /// Place of what it tells in [`LabelDetail::kinds`].
    pub kind: usize,
    /// Number of the label that the worker gave.
    pub own: u32,
    /// Number of the label of the crowd.
    pub(crate) consensus: Option<u32>,
    /// Numbers of the labels of the LLMs, by source.
    pub z: Vec<Option<u32>>,
}

/// Counts of the label of the consensus against that of the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownConfusion {
    /// Label of the consensus, label of the worker, tasks; most tasks first.
    pub cells: Vec<(u32, u32, u64)>,
    /// Tasks in cells that are left out.
    pub left_out: u64,
    /// Tasks of the worker without a consensus, since several labels tie.
    pub ties: u64,
}

impl LabelDetails {
    pub(super) fn index(&self) -> Value {
        json!({ "labels": self.labels, "sources": self.sources, "consensus": self.consensus, "tasks": self.tasks })
    }
}

impl LabelDetail {
    pub(super) fn value(&self) -> Value {
        let agreement: Vec<Value> = self
            .agreement
            .iter()
            .map(|&(share, tasks)| json!([rounded(share, SIMILARITY_DECIMALS), tasks]))
            .collect();
        let ShownConfusion { cells, left_out, ties } = &self.confusion;
        let tasks: Vec<Value> =
            self.tasks.iter().map(|t| json!([t.task, t.kind, t.own, t.consensus, t.z])).collect();
        json!([agreement, cells, left_out, ties, self.kinds, tasks])
    }
}
