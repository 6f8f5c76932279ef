//! What one worker said, beside what the LLMs and the crowd say.

use super::{LabelsError, LabelsRun};
use crate::data::labels::Label;
use crate::mechanism::{
    Accuracy, ConsensusConfusion, MechanismName, Posteriors, consensus_labels, worker_accuracy,
    worker_confusion,
};

/// The evidence for one worker.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerEvidence {
    /// Name of the worker.
    pub worker: String,
    /// How often the worker says what an LLM says, by source of Z.
    pub with_z: Vec<SourceAgreement>,
    /// What the worker says where the crowd says something; the worker's own labels are part of
    /// what the crowd says.
    pub with_consensus: ConsensusConfusion,
    /// How often the worker is right, if a truth was given.
    pub accuracy: Option<Accuracy>,
}

/// How often a worker says what an LLM says.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceAgreement {
    /// Name of the LLM.
    pub source: String,
    /// Tasks with a label of both.
    pub n_tasks: u64,
    /// Share of them on which the labels are the same; `None` without such a task.
    pub share: Option<f64>,
}

/// One task of a worker, beside what the LLMs and the crowd say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerTask {
    /// Number of the task in the table of labels.
    pub task: u32,
    /// What the worker says.
    pub own: Label,
    /// What each LLM says, by source; `None` where it says nothing.
    pub z: Vec<Option<Label>>,
    /// What the crowd says, the worker included; `None` where several labels tie.
    pub consensus: Option<Label>,
}

/// What a task says about whom a worker follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TaskKind {
    /// The worker says what an LLM says and the crowd does not.
    WithLlm,
    /// The worker says what neither an LLM nor the crowd says.
    Alone,
    /// The worker says what the crowd says and no LLM does.
    AgainstLlm,
    /// The worker, the crowd and an LLM say the same.
    Same,
    /// There is no LLM's label or no consensus to compare with.
    Untold,
}

impl TaskKind {
    /// All of them, those that tell most about a copier first.
    pub(crate) const EACH: [Self; 5] =
        [Self::WithLlm, Self::Alone, Self::AgainstLlm, Self::Same, Self::Untold];
}

impl WorkerTask {
    /// Whom the worker follows on this task.
    pub(crate) fn kind(&self) -> TaskKind {
        let Some(consensus) = self.consensus.filter(|_| self.z.iter().any(Option::is_some)) else {
            return TaskKind::Untold;
        };
        match (self.z.contains(&Some(self.own)), self.own == consensus) {
            (true, false) => TaskKind::WithLlm,
            (false, false) => TaskKind::Alone,
            (false, true) => TaskKind::AgainstLlm,
            (true, true) => TaskKind::Same,
        }
    }
}

impl LabelsRun {
    /// The tasks of a worker by number, those that tell most first; of one kind by number.
    #[cfg(feature = "html")]
    pub(super) fn tasks_of(&self, worker: u32) -> Vec<WorkerTask> {
        let consensus = self.consensus();
        let one = |(task, own): (u32, Label)| WorkerTask {
            task,
            own,
            z: self.conditioning.iter().map(|z| z[task as usize]).collect(),
            consensus: consensus[task as usize],
        };
        let mut tasks: Vec<WorkerTask> = self.set.table.of_worker(worker).iter().map(one).collect();
        tasks.sort_by_key(|task| (task.kind(), task.task));
        tasks
    }

    /// The evidence for the worker of this name.
    ///
    /// # Errors
    ///
    /// `LabelsError::UnknownWorker` if nobody has this name.
    pub fn evidence(&self, worker: &str) -> Result<WorkerEvidence, LabelsError> {
        match self.set.table.workers().get(worker) {
            Some(number) => Ok(self.evidence_of(number)),
            None => Err(LabelsError::UnknownWorker { name: worker.to_owned() }),
        }
    }

    /// The evidence for a worker by number.
    pub(super) fn evidence_of(&self, worker: u32) -> WorkerEvidence {
        let table = &self.set.table;
        let with_z = self.set.z.sources.iter().zip(&self.conditioning);
        let accuracy = |truth: &Vec<Option<Label>>| worker_accuracy(table, truth, worker);
        WorkerEvidence {
            worker: table.workers().name(worker).to_owned(),
            with_z: with_z.map(|(source, z)| self.agreement(worker, &source.name, z)).collect(),
            with_consensus: worker_confusion(table, self.consensus(), worker),
            accuracy: self.set.truth.as_ref().map(accuracy),
        }
    }

    fn agreement(&self, worker: u32, source: &str, z: &[Option<Label>]) -> SourceAgreement {
        let (mut same, mut both) = (0_u64, 0_u64);
        for (task, own) in self.set.table.of_worker(worker).iter() {
            if let Some(z) = z[task as usize] {
                both += 1;
                same += u64::from(z == own);
            }
        }
        let share = (both > 0).then(|| same as f64 / both as f64);
        SourceAgreement { source: source.to_owned(), n_tasks: both, share }
    }

    /// The most probable label of each task by Dawid-Skene, if it was asked for, else that of the
    /// majority.
    fn consensus(&self) -> &[Option<Label>] {
        self.consensus.get_or_init(|| consensus_labels(&self.set.table, self.fitted_posteriors()))
    }

    /// The posteriors that the consensus is taken from, if there are any.
    pub(super) fn fitted_posteriors(&self) -> Option<&Posteriors> {
        self.scores(MechanismName::Ds).and_then(|scored| scored.posteriors.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_tells_whom_the_worker_follows() {
        let task = |own, z: &[Option<Label>], consensus| {
            WorkerTask { task: 0, own, z: z.to_vec(), consensus }.kind()
        };
        assert_eq!(task(1, &[None, Some(1)], Some(0)), TaskKind::WithLlm);
        assert_eq!(task(2, &[Some(1)], Some(0)), TaskKind::Alone);
        assert_eq!(task(0, &[Some(1)], Some(0)), TaskKind::AgainstLlm);
        assert_eq!(task(1, &[Some(1), Some(0)], Some(1)), TaskKind::Same);
        assert_eq!(task(1, &[Some(1)], None), TaskKind::Untold);
        assert_eq!(task(1, &[None], Some(1)), TaskKind::Untold);
    }
}
