//! `own`: does a worker answer alone, or hand in something else? Ghosts planted in the worker's
//! own tasks.
//!
//! A score without a scale does not help: what a copy or a guess looks like depends on how hard
//! the tasks are and on how many there are. So every worker is compared with *ghosts* who answer
//! the same tasks: `copy` hands in the label of Z, `llm` another sample or source of Z or an LLM of
//! which nobody has a sample (with probability [`features::OTHER_LLM`] the label of Z, else what a
//! person says: assumed, see [`features`]), `guess` draws from the labels of the crowd, `constant` gives the most common
//! label with probability 0.9, else any. The features, over the tasks that Z covers and somebody
//! else answered, are the copy excess `e` (see [`super::CopyExcess`]) and the agreement with
//! peers `p`, the mean share of the other reports that equal the label.
//!
//! A ghost has a normal density of that worker's own ([`features`]); so has a *person*, who answers
//! like another worker on the task. `own` is that of the person plus a mean and a covariance between
//! workers, fitted by EM over all workers ([`model`]): who has easy tasks is expected to agree. The
//! posterior follows from Bayes. Nobody's true label is used.
//!
//! Who says what Z says on every task is held to the probability of that, not to a density
//! ([`model`]). Where most may not answer alone, nobody is looked at for reading as an LLM that is in no
//! file (`Logs::is_by_unknown_llm`).
//!
//! Who stands out without cheating has a density of own work, too ([`people`]), and who answers like
//! one worker far more than like the others does not count that one as a peer ([`twins`]). What is nearly always
//! the same label is told by the labels themselves ([`constant`]).

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

mod constant;
mod crowd;
mod features;
mod model;
mod people;
mod planted;
#[cfg(test)]
mod tests;
mod twins;

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::crowd::Crowd;
use self::features::WorkerFeatures;
use self::model::{Logs, Model};
use self::planted::Bar;
pub use self::planted::Planted;
use super::dawid_skene::point;
use super::entry::{Entry, Several};
use super::options::OwnSettings;
use super::strata::Conditioning;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::data::z::ZSource;
use crate::stats::flag::MAJORITY;
pub use crate::stats::flag::OwnFlag;
use crate::stats::interval::Estimate;

/// What an answer sheet may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The worker's own answers.
    Own,
    /// The labels of Z.
    Copy,
    /// Another sample or source of Z, or an LLM of which nobody has a sample.
    Llm,
    /// Draws from the labels of the crowd.
    Guess,
    /// Nearly always the most common label.
    Constant,
}

impl AnswerKind {
    /// All of them, in the order of [`OwnScore::probabilities`].
    pub const EACH: [Self; 5] = [Self::Own, Self::Copy, Self::Llm, Self::Guess, Self::Constant];

    /// The name in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Copy => "copy",
            Self::Llm => "llm",
            Self::Guess => "guess",
            Self::Constant => "constant",
        }
    }

    /// What it reads as, in plain words.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::Own => "own answers",
            Self::Copy | Self::Llm => "copies an LLM",
            Self::Guess => "guesses",
            Self::Constant => "always the same answer",
        }
    }
}

/// Why a worker is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotJudged {
    /// Fewer tasks than asked for that Z covers and somebody else answered.
    TooFewTasks,
    /// All others say what the LLM says on all of these tasks.
    EverybodyAgrees,
    /// The LLM says nothing that anybody says: nobody can have copied it.
    NoCommonLabel,
}

impl NotJudged {
    /// The reason in words.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::TooFewTasks => "too few tasks that the LLM and somebody else labelled",
            Self::EverybodyAgrees => "all others say what the LLM says",
            Self::NoCommonLabel => "the LLM has none of the labels of the crowd",
        }
    }
}

/// The mechanism `own`.
#[derive(Debug, Clone)]
pub struct OwnAnswers {
    /// One for every source.
    views: Vec<View>,
    settings: OwnSettings,
}

/// What is known where one source is taken for what a cheater hands in.
#[derive(Debug, Clone)]
struct View {
    /// Its first sample.
    conditioning: Conditioning,
    /// Its other samples and all other sources.
    others: Vec<Arc<[Option<Label>]>>,
}

/// Most samples and sources beside one that are looked at with it; each source has its own turn.
const MOST_OTHERS: usize = 8;

/// What is said about one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnScore {
    /// `ln p_own - ln(1 - p_own)`; `None` if not judged, as the next three.
    pub score: Option<f64>,
    /// Copy excess with its standard error.
    pub copied: Option<Estimate>,
    /// Agreement with peers: mean share of the other reports that equal the worker's.
    pub agreement: Option<f64>,
    /// Probability of each of [`AnswerKind::EACH`], summing to 1.
    pub probabilities: Option<[f64; 5]>,
    /// The most probable kind.
    pub reads_as: Option<AnswerKind>,
    /// What to do.
    pub flag: OwnFlag,
    /// Why nothing is said.
    pub not_judged: Option<NotJudged>,
    /// Tasks that Z covers and somebody else answered.
    pub n_used: usize,
}

impl OwnScore {
    /// `p_own`.
    pub fn p_own(&self) -> Option<f64> {
        self.probabilities.map(|p| p[0])
    }
}

/// What is said about a crowd as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCrowd {
    /// As in [`OwnRun`].
    pub estimated_share: Option<f64>,
    /// As in [`OwnRun`].
    pub planted: Planted,
}

/// What is said about a crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRun {
    /// By worker.
    pub workers: Vec<OwnScore>,
    /// Estimated share of the judged workers whose answers are not their own; `None` if nobody is
    /// judged.
    pub estimated_share: Option<f64>,
    /// What would be flagged of ghosts and of people, in the tasks of this crowd.
    pub planted: Planted,
}

impl OwnAnswers {
    /// Each source is Z in turn, by its first sample; its other samples and the other sources are
    /// what a cheater may have instead. Without a source nobody is judged.
    pub fn new(sources: &[ZSource], settings: OwnSettings) -> Self {
        let view = |number: usize| {
            let (before, rest) = sources.split_at(number);
            let own = rest[0].samples.iter().skip(1);
            let others = before.iter().chain(&rest[1..]).flat_map(|source| &source.samples);
            View {
                conditioning: Conditioning::on(rest[0].conditioning()),
                others: own
                    .chain(others)
                    .take(MOST_OTHERS)
                    .map(|sample| sample.labels.clone().into())
                    .collect(),
            }
        };
        let mut views: Vec<View> = (0..sources.len()).map(view).collect();
        if views.is_empty() {
            views.push(View { conditioning: Conditioning::on(Vec::new()), others: Vec::new() });
        }
        Self { views, settings }
    }

    /// Judges every worker. Time: for every source the reports times the reports on a task; see
    /// `features`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TaskCount`] if Z is not for the tasks of `table`.
    pub fn judge(&self, table: &LabelTable) -> Result<OwnRun, MechanismError> {
        let fitted: Vec<Fitted<'_>> = self
            .views
            .iter()
            .map(|view| Fitted::new(table, view, self.settings.min_tasks))
            .collect::<Result<_, _>>()?;
        let judged: Vec<(u32, Judged)> = (0..table.worker_count() as u32)
            .filter_map(|worker| Some((worker, Judged::of(&fitted, worker)?)))
            .collect();
        let own: Vec<f64> =
            judged.iter().map(|(_, judged)| model::posterior(&judged.logs.kinds)[0]).collect();
        let estimated_share = (!own.is_empty())
            .then(|| own.iter().map(|own| 1.0 - own).sum::<f64>() / own.len() as f64);
        let majority = may_be_majority(estimated_share);
        let is_spared: Vec<bool> =
            judged.iter().map(|(_, judged)| majority && judged.logs.is_by_unknown_llm()).collect();
        // Who is not looked at does not vouch for others either.
        let candidates: Vec<f64> = own
            .iter()
            .zip(&is_spared)
            .filter(|(_, spared)| !**spared)
            .map(|(own, _)| *own)
            .collect();
        let bar = Bar::new(candidates, self.settings.false_discovery_rate, majority);
        let workers_judged: Vec<u32> = judged.iter().map(|(worker, _)| *worker).collect();
        let planted = Planted::measure(&fitted, &workers_judged, &bar, &self.settings);
        let mut workers: Vec<OwnScore> = (0..table.worker_count())
            .map(|worker| {
                // Of several reasons that of the source with the most tasks, of equals the first.
                let reasons =
                    fitted.iter().rev().filter_map(|one| one.features[worker].as_ref().err());
                let reason = reasons.max_by_key(|(_, tasks)| *tasks);
                reason.map_or_else(
                    || not_judged(NotJudged::TooFewTasks, 0),
                    |(reason, tasks)| not_judged(*reason, *tasks),
                )
            })
            .collect();
        for (((worker, judged), own), is_spared) in judged.iter().zip(&own).zip(&is_spared) {
            let of = &fitted[judged.likest];
            let Ok(features) = &of.features[*worker as usize] else { continue };
            workers[*worker as usize] = judged_score(
                features,
                (
                    model::log_odds(&judged.logs.kinds),
                    named(
                        model::posterior(&judged.logs.kinds),
                        of.crowd.log_odds_of_guess(*worker),
                    ),
                ),
                !is_spared && bar.looks_at(*own),
            );
        }
        Ok(OwnRun { workers, estimated_share, planted })
    }
}

impl OwnAnswers {
    /// Of the source that covers most.
    fn covered_tasks(&self, table: &LabelTable, worker: u32) -> Option<usize> {
        let covered = |view: &View| view.conditioning.covered_tasks(table, worker);
        self.views.iter().filter_map(covered).max()
    }
}

/// A crowd seen with one source as Z.
struct Fitted<'a> {
    crowd: Crowd<'a>,
    /// By worker.
    features: Vec<Result<WorkerFeatures, (NotJudged, usize)>>,
    model: Model,
}

impl<'a> Fitted<'a> {
    fn new(
        table: &'a LabelTable,
        view: &'a View,
        min_tasks: usize,
    ) -> Result<Self, MechanismError> {
        view.conditioning.check(table)?;
        if let Some(other) = view.others.iter().find(|other| other.len() != table.task_count()) {
            let (z_tasks, tasks) = (other.len(), table.task_count());
            return Err(MechanismError::TaskCount { z_tasks, tasks });
        }
        let crowd = Crowd::new(table, &view.conditioning, &view.others);
        let features: Vec<Result<WorkerFeatures, (NotJudged, usize)>> = (0..table.worker_count()
            as u32)
            .into_par_iter()
            .with_min_len(16)
            .map_init(
                || twins::Counter::new(table.worker_count()),
                |counter, worker| crowd.of_worker(worker, min_tasks, counter),
            )
            .collect();
        let judged: Vec<&WorkerFeatures> =
            features.iter().filter_map(|features| features.as_ref().ok()).collect();
        let model = Model::fit(&judged);
        Ok(Self { crowd, features, model })
    }
}

/// A worker by all sources together.
struct Judged {
    /// See [`together`].
    logs: Logs,
    /// The number of the source that the answers are most like a copy of; of equals the first.
    likest: usize,
}

impl Judged {
    /// `None` if no source judges the worker.
    fn of(fitted: &[Fitted<'_>], worker: u32) -> Option<Self> {
        let mut likest: Option<(usize, (bool, f64))> = None;
        let mut views = Vec::with_capacity(fitted.len());
        for (number, one) in fitted.iter().enumerate() {
            let Ok(features) = &one.features[worker as usize] else { continue };
            let logs = one.model.log_weights(features);
            let odds = model::log_sum(&logs.kinds[1..3]) - logs.kinds[0];
            let says_all = features.says_all_of_z();
            if likest.is_none_or(|(_, most)| (says_all, odds) > most) {
                likest = Some((number, (says_all, odds)));
            }
            views.push((logs, says_all));
        }
        let (likest, (copies, _)) = likest?;
        // Who says word for word what one source says is no other LLM to the other sources.
        let views: Vec<Logs> = views
            .into_iter()
            .map(|(logs, says_all)| if copies && !says_all { logs.known_as_copies() } else { logs })
            .collect();
        Some(Self { logs: together(&views), likest })
    }
}

/// Logs of the odds of every kind against own work: the mean over the sources of the odds by each. A
/// cheater has one of them, and nobody knows which.
fn together(views: &[Logs]) -> Logs {
    let count = (views.len().max(1) as f64).ln();
    let mean = |of: &dyn Fn(&Logs) -> f64| {
        let odds: Vec<f64> = views.iter().map(|logs| of(logs) - logs.kinds[0]).collect();
        model::log_sum(&odds) - count
    };
    let mut kinds = [0.0; 5];
    (1..5).for_each(|kind| kinds[kind] = mean(&|logs| logs.kinds[kind]));
    let (known_llm, unknown_llm) = (mean(&|logs| logs.known_llm), mean(&|logs| logs.unknown_llm));
    Logs { kinds, known_llm, unknown_llm }
}

/// The probabilities with what guesses and constant answers have together dealt out by `log_odds`.
fn named(mut probabilities: [f64; 5], log_odds: f64) -> [f64; 5] {
    let blind = probabilities[3] + probabilities[4];
    let guess = 1.0 / (1.0 + (-log_odds).exp());
    probabilities[3] = blind * guess;
    probabilities[4] = blind - probabilities[3];
    probabilities
}

fn not_judged(reason: NotJudged, n_used: usize) -> OwnScore {
    OwnScore {
        score: None,
        copied: None,
        agreement: None,
        probabilities: None,
        reads_as: None,
        flag: OwnFlag::NotJudged,
        not_judged: Some(reason),
        n_used,
    }
}

fn judged_score(
    features: &WorkerFeatures,
    (score, probabilities): (f64, [f64; 5]),
    look: bool,
) -> OwnScore {
    let mut reads_as = AnswerKind::Own;
    let mut largest = probabilities[0];
    for (kind, probability) in AnswerKind::EACH.into_iter().zip(probabilities) {
        if probability > largest {
            (reads_as, largest) = (kind, probability);
        }
    }
    let flag = if look {
        OwnFlag::Look
    } else if probabilities[0] < 0.5 {
        OwnFlag::Unsure
    } else {
        OwnFlag::Clear
    };
    OwnScore {
        score: Some(score),
        copied: Some(Estimate {
            value: features.own.mean[0],
            standard_error: Some(features.own.covariance[0].max(0.0).sqrt()),
            degrees_of_freedom: features.tasks as f64 - 1.0,
        }),
        agreement: Some(features.own.mean[1]),
        probabilities: Some(probabilities),
        reads_as: Some(reads_as),
        flag,
        not_judged: None,
        n_used: features.tasks,
    }
}

/// Whether those who do not answer alone may be most of the workers. People who agree with a good LLM
/// and an LLM that nobody has a sample of can change places then: neither is known, so each can be what
/// most people are.
fn may_be_majority(estimated_share: Option<f64>) -> bool {
    estimated_share.is_some_and(|share| share >= MAJORITY)
}

pub(super) const ENTRY: Entry = Entry {
    name: "own",
    summary: "Own answers, or a copy, a guess or a constant: ghosts in each worker's tasks",
    meaning: "the log odds that a worker's answers are the worker's own and not those of an LLM, \
              guesses or always the same, compared with ghosts in the same tasks",
    unscored: "too few tasks with a Z label and another worker, or all others say what the LLM says",
    needs_z: true,
    is_fitted: false,
    several: Several::Together,
    build: |sources, options| Box::new(OwnAnswers::new(sources, options.own)),
};

impl Mechanism for OwnAnswers {
    fn name(&self) -> &'static str {
        "own"
    }

    fn score(&self, table: &LabelTable) -> Result<Scores, MechanismError> {
        let run = self.judge(table)?;
        let crowd = OwnCrowd { estimated_share: run.estimated_share, planted: run.planted };
        let workers = (0..)
            .zip(run.workers)
            .map(|(worker, own)| WorkerScore {
                estimate: own.score.map(point),
                n_tasks: table.of_worker(worker).len(),
                n_z_tasks: self.covered_tasks(table, worker),
                n_used: own.n_used,
                copied: own.copied.map(|copied| copied.value),
                own: Some(own),
                ..WorkerScore::default()
            })
            .collect();
        Ok(Scores { workers, own: Some(crowd), ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let pick = |labels: &Arc<[Option<Label>]>| {
            tasks.iter().map(|&task| labels[task as usize]).collect::<Arc<[_]>>()
        };
        let view = |view: &View| View {
            conditioning: view.conditioning.on_tasks(tasks),
            others: view.others.iter().map(pick).collect(),
        };
        Box::new(Self { views: self.views.iter().map(view).collect(), settings: self.settings })
    }

    fn zero_is_chance(&self) -> bool {
        false
    }
}
