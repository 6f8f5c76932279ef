//! The labels of the crowd as a whole, to take home.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

use super::LabelsRun;
use crate::data::Labels;
use crate::data::labels::{Label, LabelNames, LabelReport, LabelTable};
use crate::data::nouns::{ARE, WERE, counted, verb};
use crate::error::Result;
use crate::mechanism::{
    Accuracy, MechanismName, Posteriors, build, consensus_accuracy, consensus_labels,
};
use crate::report::Table;

/// One label a task, with what dropping the people flagged `look` changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Consensus {
    /// The mechanism whose probabilities these are.
    pub by: MechanismName,
    /// One row a task, in the order of the table of labels.
    pub rows: Vec<ConsensusRow>,
    /// Share of known truths that it says; `None` without a truth. Of labels that tie each is right
    /// with equal probability.
    pub accuracy: Option<Accuracy>,
    /// What the other choice would give; `None` where nobody is flagged.
    pub other: Option<OtherConsensus>,
}

/// What the crowd says of one task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConsensusRow {
    /// Name of the task.
    pub task: String,
    /// The most probable label; `None` where several tie, or nobody is left.
    pub label: Option<String>,
    /// Its probability, by the mechanism; that of each where several tie.
    pub probability: Option<f64>,
    /// Labels that it rests on.
    pub n_labels: usize,
}

/// The consensus with people dropped, beside that with all, or the reverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OtherConsensus {
    /// People flagged `look`.
    pub flagged: usize,
    /// Tasks whose label would be another, or none.
    pub changed: usize,
    /// Share of known truths that it says.
    pub accuracy: Option<Accuracy>,
}

/// The labels of one choice of people.
struct Fitted {
    labels: Vec<Option<Label>>,
    posteriors: Option<Posteriors>,
    accuracy: Option<Accuracy>,
    table: LabelTable,
}

impl LabelsRun {
    /// The consensus by the mechanism of the settings, with or without the people flagged `look`.
    ///
    /// # Errors
    ///
    /// [`MechanismError`](crate::mechanism::MechanismError) if the mechanism needs labels of an LLM and
    /// there are none, or cannot fit the labels.
    pub(crate) fn consensus_of_tasks(&self) -> Result<Consensus> {
        let flagged: Vec<u32> = match self.scores(MechanismName::Own) {
            Some(own) => {
                let look = own.rows.iter().filter(|row| row.flag_word() == Some("look"));
                look.map(|row| row.number as u32).collect()
            }
            None => Vec::new(),
        };
        let all = self.fitted(self.set.table.clone())?;
        let (kept, other) = if flagged.is_empty() {
            (all, None)
        } else {
            let rest = self.fitted(without(&self.set.table, &flagged))?;
            let changed = all.labels.iter().zip(&rest.labels).filter(|(a, b)| a != b).count();
            let (kept, left) = if self.settings.drop_flagged { (rest, all) } else { (all, rest) };
            let other = OtherConsensus { flagged: flagged.len(), changed, accuracy: left.accuracy };
            (kept, Some(other))
        };
        Ok(Consensus {
            by: self.settings.consensus_by,
            rows: rows(&self.set, &kept),
            accuracy: kept.accuracy,
            other,
        })
    }

    fn fitted(&self, table: LabelTable) -> Result<Fitted> {
        let options = self.settings.options(self.set.values.as_ref());
        let mechanism = build(self.settings.consensus_by, &self.set.z.sources, &options)?;
        let posteriors = mechanism.score(&table)?.posteriors;
        let labels = consensus_labels(&table, posteriors.as_ref());
        let truth = self.set.truth.as_ref();
        let accuracy = truth.map(|truth| consensus_accuracy(&table, truth, posteriors.as_ref()));
        Ok(Fitted { labels, posteriors, accuracy, table })
    }
}

fn rows(set: &Labels, kept: &Fitted) -> Vec<ConsensusRow> {
    let names = set.table.labels();
    let row = |(task, name): (u32, &String)| {
        let n_labels = kept.table.of_task(task).len();
        let posteriors = kept.posteriors.as_ref().filter(|_| n_labels > 0);
        ConsensusRow {
            task: name.clone(),
            label: kept.labels[task as usize].map(|label| names.name(u32::from(label)).to_owned()),
            probability: posteriors
                .map(|posteriors| posteriors.of_task(task).iter().copied().fold(0.0, f64::max)),
            n_labels,
        }
    };
    (0..).zip(set.table.tasks().names()).map(row).collect()
}

/// The reports of all but some workers.
fn without(table: &LabelTable, workers: &[u32]) -> LabelTable {
    let reports: Vec<LabelReport> =
        table.reports().filter(|report| !workers.contains(&report.worker)).collect();
    let names = LabelNames {
        tasks: table.tasks().clone(),
        workers: table.workers().clone(),
        labels: table.labels().clone(),
    };
    LabelTable::new(names, &reports)
}

impl Consensus {
    /// The rows: `task,label,probability,n_labels`, missing where there is none.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(&["task", "label", "probability", "n_labels"]);
        for row in &self.rows {
            let (task, label) = (row.task.as_str(), row.label.as_deref());
            table.push(vec![
                task.into(),
                label.into(),
                row.probability.into(),
                row.n_labels.into(),
            ]);
        }
        table
    }

    /// What to know of it: ties, how right it is, what the people flagged change.
    /// Nobody can be flagged where nobody is judged, by own.
    pub(crate) fn sentences(&self, dropped: bool, judged: bool) -> Vec<String> {
        let right = |accuracy: Option<Accuracy>| {
            let accuracy = accuracy?;
            let truths = counted(accuracy.n_tasks, "known truth");
            Some(format!("{:.1} % of {truths}", 100.0 * accuracy.share?))
        };
        let none = self.rows.iter().filter(|row| row.label.is_none()).count();
        let tied = match none {
            0 => String::new(),
            1 => "; 1 of them ties or has no label, and is empty".to_owned(),
            none => format!("; {none} of them tie or have no label, and are empty"),
        };
        let is_right =
            right(self.accuracy).map_or(String::new(), |said| format!("; it says {said}"));
        let mut all = vec![format!(
            "Consensus by {} of {}{tied}{is_right}.",
            self.by,
            counted(self.rows.len(), "task")
        )];
        match self.other {
            None if dropped && !judged => all.push(
                "Nobody was judged, which takes Z and the mechanism own, so nobody was left out."
                    .into(),
            ),
            None if dropped => all.push("Nobody is flagged look, so nobody was left out.".into()),
            None => {}
            Some(other) => {
                let (people, changed) = (other.flagged, other.changed);
                let what = if dropped {
                    format!("{} left out; with", verb(people, WERE))
                } else {
                    format!("{} in it; without", verb(people, ARE))
                };
                let who = verb(people, ["person", "people"]);
                let them = verb(people, ["this one", "them"]);
                let others = verb(changed, ["another", "others"]);
                let labels = counted(changed, "label");
                let would = right(other.accuracy)
                    .map_or(String::new(), |said| format!(", and the consensus would say {said}"));
                all.push(format!(
                    "The {people} {who} flagged look {what} {them} {labels} would be {others}{would}."
                ));
            }
        }
        all
    }
}
