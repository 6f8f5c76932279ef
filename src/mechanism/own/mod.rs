//! `own`: does a worker answer alone, or hand in something else? Two questions, each against people.
//!
//! *Does the worker say what the LLM says more than people do?* ([`copied`]) and *does the worker say
//! anything that others confirm?* ([`confirmed`]), or always the same? The answers to both are held
//! against those of the crowd ([`people`]): deviations beyond its middle, with what people differ by
//! anyway. Nobody is suspected of copying of whom not surely half seems copied, since somebody who knows more
//! than the crowd agrees with a good LLM; nor of guessing who says more that others confirm than blind answers would.
//! How seldom people of the crowd come so far in their own tasks, at either, is the p-value. The false discovery
//! rate is held over all, given the share of people who answer alone (Storey, JRSS B 64, 2002), and the probability
//! that somebody does follows from all p-values ([`chance`]). Nobody's true label is used.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a table has fewer than 2^32 tasks, workers and reports, and at most 2^16 labels"
)]

mod chance;
mod confirmed;
mod copied;
mod dependence;
mod people;
mod said;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::chance::{Mixture, Tails};
use self::confirmed::{Confirmed, Favour, Tally, favours};
use self::copied::{Answers, Copied, Sample};
use self::dependence::Dependence;
use self::people::People;
use self::said::{Hearing, Said};
use super::dawid_skene::point;
use super::entry::{Entry, Several};
use super::options::OwnSettings;
use super::{Mechanism, MechanismError, Scores, WorkerScore};
use crate::data::labels::{Label, LabelTable};
use crate::data::z::ZSource;
use crate::stats::calibration::Calibration;
pub(crate) use crate::stats::flag::OwnFlag;
use crate::stats::interval::{Estimate, benjamini_hochberg};

/// Fewest workers whom others can be held against.
const FEWEST: usize = 5;

/// Fewer workers give no scale by which somebody is clear.
const FEWEST_FOR_CLEAR: usize = 15;

/// Least share that must seem copied, by a standard error, before somebody is suspected of it.
const LEAST_COPIED: f64 = 0.5;

/// From here on what seems copied may be all. So much it must be in a weak crowd.
const WHOLE: f64 = 0.8;

/// Least share of an LLM's labels that must be right by the crowd's own account for that account to be
/// trusted where people do not say it: else those who always say one label may have made it.
const TRUSTED: f64 = 0.7;

/// Deviations above blind answers from which on somebody says something that others confirm: one in
/// twenty blind ones does.
const CONFIRMED: f64 = 1.644_853_626_951_472_7;

/// Most deviations that count without the condition of the question.
const UNCONFIRMED: f64 = 1.0;

/// Probability of as many deviations of somebody who answers alone up to which they stand out: .05 at two questions.
const STANDS_OUT: f64 = 0.025;

/// Share of the LLM's labels that are the crowd's from which on most may have copied it.
const ALL_ALIKE: f64 = 0.98;

/// Median number of reports with the same label below which labels hardly repeat.
const FEWEST_REPEATS: u32 = 3;

/// So few labels are classes, however short the file.
const FEW_LABELS: usize = 10;

/// What a worker's answers read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The worker's own answers.
    Own,
    /// The labels of Z.
    Copy,
    /// In part the labels of Z, or those of an LLM that is like it.
    Llm,
    /// Labels that have nothing to do with the task.
    Guess,
    /// Nearly always the same label.
    Constant,
}

impl AnswerKind {
    /// All of them.
    pub const EACH: [Self; 5] = [Self::Own, Self::Copy, Self::Llm, Self::Guess, Self::Constant];

    /// The name in tables and files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Copy => "copy",
            Self::Llm => "llm",
            Self::Guess => "guess",
            Self::Constant => "constant",
        }
    }

    /// What it reads as, in plain words.
    pub(crate) fn as_words(self) -> &'static str {
        match self {
            Self::Own => "own answers",
            Self::Copy => "says what your LLM says",
            Self::Llm => "says in part what your LLM says, or what one like it says",
            Self::Guess => "guesses",
            Self::Constant => "always the same answer",
        }
    }
}

/// Why a worker is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NotJudged {
    /// Fewer tasks than asked for that Z covers and somebody else answered.
    TooFewTasks,
    /// The LLM says nothing that anybody says, or that this worker says: as copied it could not be seen.
    NoCommonLabel,
    /// Most labels are given once or twice, as ratings with decimals are.
    HardlyRepeated,
    /// All say the same of every task, so that nobody says anything about anybody.
    OneLabel,
    /// Too few workers to hold one against.
    TooFewWorkers,
}

impl NotJudged {
    /// All of them.
    pub(crate) const EACH: [Self; 5] = [
        Self::TooFewTasks,
        Self::NoCommonLabel,
        Self::HardlyRepeated,
        Self::OneLabel,
        Self::TooFewWorkers,
    ];

    /// The reason in words.
    pub(crate) fn as_words(self) -> &'static str {
        match self {
            Self::TooFewTasks => "too few tasks that the LLM and somebody else labelled",
            Self::NoCommonLabel => "the LLM gives none of their labels",
            Self::HardlyRepeated => {
                "labels hardly repeat, as ratings with decimals do not: put them into a few classes first"
            }
            Self::OneLabel => "all workers give one and the same label, which tells nobody apart",
            Self::TooFewWorkers => "too few workers to compare with",
        }
    }
}

/// The mechanism `own`.
#[derive(Debug, Clone)]
pub struct OwnAnswers {
    /// Every different sample of every source.
    samples: Vec<Arc<[Option<Label>]>>,
    settings: OwnSettings,
}

/// What is said about one worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnScore {
    /// Minus the larger of the deviations beyond people; `None` if not judged, as the next ones.
    pub score: Option<f64>,
    /// Estimated share of answers that are those of the LLM beyond what own answers have in common with it, of
    /// the sample for which it stands out most.
    pub copied: Option<Estimate>,
    /// Mean share of the other reports that equal the worker's.
    pub agreement: Option<f64>,
    /// Probability that the worker answers alone, as it is said: flags rest on the one by the model.
    pub p_own: Option<f64>,
    /// What the answers read as.
    pub reads_as: Option<AnswerKind>,
    /// What to do.
    pub flag: OwnFlag,
    /// Why nothing is said.
    pub(crate) not_judged: Option<NotJudged>,
    /// Whether the answers stand out, be it as those of somebody who knows more than the crowd, or less.
    pub(crate) stands_out: bool,
    /// Whether somebody who copies all could be seen in these tasks, and somebody who guesses.
    pub(crate) visible: [bool; 2],
    /// Tasks that Z covers and somebody else answered.
    pub n_used: usize,
}

/// What is said about a crowd as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCrowd {
    /// Workers who are judged.
    pub(crate) judged: usize,
    /// Estimated share of the judged workers whose answers are not their own; `None` if nobody is judged.
    pub(crate) estimated_share: Option<f64>,
    /// Of the judged, in whose tasks somebody who copies all could be seen, and somebody who guesses.
    pub(crate) visible: [usize; 2],
    /// Whether the crowd says nearly everywhere what an LLM says, so that copiers and people cannot be told
    /// apart.
    pub(crate) says_all_of_z: bool,
}

/// What is said about a crowd.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnRun {
    /// By worker.
    pub workers: Vec<OwnScore>,
    /// Of all together.
    pub crowd: OwnCrowd,
}

/// What was measured of somebody who is judged.
#[derive(Debug, Clone, Copy)]
struct Measured {
    worker: usize,
    copied: Copied,
    confirmed: Confirmed,
    /// Deviations beyond people: says what the LLM says, and is not confirmed.
    beyond: [f64; 2],
    /// The same of somebody who copies all, or guesses, in the same tasks.
    ghosts: [f64; 2],
    /// The same of somebody who copies all of the sample of which that shows least.
    least_ghost: f64,
    /// Deviations from which on somebody is suspected of copying in these tasks, or of guessing.
    from: [f64; 2],
    /// Deviations beyond people in giving one label, if it is given nearly always.
    constant: f64,
    /// Whether enough seems copied for somebody to be suspected of it.
    is_enough: bool,
}

impl Measured {
    /// The deviations that count, the conditions of both questions held.
    fn counted(&self) -> [f64; 3] {
        let when = |holds: bool, beyond: f64| if holds { beyond } else { beyond.min(UNCONFIRMED) };
        [
            when(self.is_enough, self.beyond[0]),
            when(self.may_guess(), self.beyond[1]),
            self.constant,
        ]
    }

    /// Whether the answers are not confirmed more than blind ones: who knows little knows something. Who gives one
    /// label nearly always is asked how often others give it, and not this.
    fn may_guess(&self) -> bool {
        self.confirmed.above_blind() < CONFIRMED && self.confirmed.favourite.is_none()
    }

    /// Between which deviations somebody's own answers to these tasks count: as copies no further than all copied
    /// would; as not confirmed, or one label, however far, and of who gives one from anywhere.
    fn reaches(&self) -> [[f64; 2]; 2] {
        let from = |question: usize, holds: bool| {
            let from = self.from[question];
            if holds { from.min(self.beyond[question]) } else { from }
        };
        [
            [from(0, self.is_enough), self.ghosts[0].max(self.beyond[0])],
            [from(1, self.may_guess()), f64::INFINITY],
        ]
    }

    fn largest(&self) -> f64 {
        self.counted().into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// What the answers read as if they are not the worker's own.
    fn kind(&self) -> AnswerKind {
        let [copied, guessed, constant] = self.counted();
        if constant >= copied.max(guessed) {
            AnswerKind::Constant
        } else if guessed > copied {
            AnswerKind::Guess
        } else if self.copied.share >= WHOLE {
            AnswerKind::Copy
        } else {
            AnswerKind::Llm
        }
    }
}

impl OwnAnswers {
    /// Every sample of every source is what a worker may have copied; one that is equal to another counts
    /// once. Without a source nobody is judged.
    pub fn new(sources: &[ZSource], settings: OwnSettings) -> Self {
        let mut samples: Vec<Arc<[Option<Label>]>> = Vec::new();
        for sample in sources.iter().flat_map(|source| &source.samples) {
            if samples.iter().all(|known| **known != *sample.labels) {
                samples.push(sample.labels.clone().into());
            }
        }
        Self { samples, settings }
    }

    /// Judges every worker. Time: for every sample the reports times the labels of a task.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TaskCount`] if Z is not for the tasks of `table`.
    pub(crate) fn judge(&self, table: &LabelTable) -> Result<OwnRun, MechanismError> {
        let tasks = table.task_count();
        if let Some(other) = self.samples.iter().find(|sample| sample.len() != tasks) {
            return Err(MechanismError::TaskCount { z_tasks: other.len(), tasks });
        }
        let counts = counts(table);
        if !labels_repeat(&counts) {
            return Ok(nobody(table, NotJudged::HardlyRepeated));
        }
        if counts.iter().filter(|count| **count > 0).count() == 1 {
            return Ok(nobody(table, NotJudged::OneLabel));
        }
        let said = Said::new(table, self.settings.questions);
        let samples: Vec<Sample<'_>> =
            self.samples.iter().filter_map(|labels| Sample::new(table, &said, labels)).collect();
        if samples.is_empty() && !self.samples.is_empty() {
            return Ok(nobody(table, NotJudged::NoCommonLabel));
        }
        let (mut measured, others) = self.measured(table, &said, &samples);
        let open = || {
            let mut run = nobody(table, NotJudged::TooFewTasks);
            let reason = Some(NotJudged::NoCommonLabel);
            others.iter().for_each(|&worker| run.workers[worker].not_judged = reason);
            run
        };
        if measured.len() < FEWEST {
            let mut run = open();
            measured.iter().for_each(|one| {
                run.workers[one.worker].not_judged = Some(NotJudged::TooFewWorkers);
                run.workers[one.worker].n_used = one.copied.tasks;
            });
            return Ok(run);
        }
        confirm(said.questions, &mut measured);
        let is_trusted = samples.iter().any(|sample| sample.right >= TRUSTED);
        constants(table, &said, is_trusted, &mut measured);
        let says_all_of_z = samples.iter().any(|sample| sample.right >= ALL_ALIKE);
        Ok(self.flagged(open(), &measured, says_all_of_z))
    }

    /// Everybody with enough tasks, by worker, with the deviations of the first question; and those with enough
    /// tasks who never give a label that a sample has.
    fn measured(
        &self,
        table: &LabelTable,
        said: &Said,
        samples: &[Sample<'_>],
    ) -> (Vec<Measured>, Vec<usize>) {
        let least = self.settings.min_tasks.max(2);
        let workers = 0..table.worker_count() as u32;
        let least_copied = if said.is_weak() { WHOLE } else { LEAST_COPIED };
        // All of one worker after another: what is said of the tasks is then at hand.
        let mut found: Vec<(Vec<Option<Copied>>, bool, Confirmed)> = workers
            .clone()
            .into_par_iter()
            .with_min_len(16)
            .map_init(
                || (Answers::default(), Tally::new(table.label_count()), Hearing::new(table, said)),
                |(answers, tally, hearing), worker| {
                    let of = |sample: &Sample<'_>| {
                        let found = sample.of_worker(hearing, worker, answers);
                        found.filter(|found| found.tasks >= least)
                    };
                    let mut copied: Vec<Option<Copied>> = samples.iter().map(of).collect();
                    let is_known = |copied: &Copied| copied.in_common > 0;
                    let is_other = copied.iter().any(Option::is_some)
                        && !copied.iter().flatten().any(is_known);
                    copied.iter_mut().for_each(|copied| *copied = copied.filter(is_known));
                    let any = copied.iter().any(Option::is_some);
                    let confirmed = any.then(|| tally.of_worker(hearing, worker));
                    (copied, is_other, confirmed.unwrap_or_default())
                },
            )
            .collect();
        for sample in 0..samples.len() {
            let of = found.iter().filter_map(|(copied, ..)| Some(copied[sample]?.dependence));
            let effect = Dependence::effect(said.questions, of);
            for one in found.iter_mut().filter_map(|(copied, ..)| copied[sample].as_mut()) {
                *one = one.of_fewer(effect);
            }
        }
        let people: Vec<Option<People>> = (0..samples.len())
            .map(|sample| {
                let copied = found.iter().filter_map(|(copied, ..)| copied[sample]);
                let values: Vec<(f64, f64)> = copied.map(|one| (one.share, one.variance)).collect();
                (values.len() >= FEWEST).then(|| People::of(&values))
            })
            .collect();
        let most = |copied: &[Option<Copied>]| {
            let mut best: Option<(Copied, [f64; 4])> = None;
            for (one, people) in copied.iter().zip(&people) {
                let Some(one) = *one else { continue };
                let at = |value| people.map_or(0.0, |people| people.deviations(value));
                let [beyond, mut ghost] = one.apart().map(at);
                let mut from = at((one.enough(least_copied), one.variance));
                let mut least = ghost;
                if let Some((_, [_, other_ghost, other_from, other_least])) = best {
                    ghost = ghost.max(other_ghost);
                    from = from.min(other_from);
                    least = least.min(other_least);
                }
                best = match best {
                    Some((other, [larger, ..])) if larger >= beyond => {
                        Some((other, [larger, ghost, from, least]))
                    }
                    _ => Some((one, [beyond, ghost, from, least])),
                };
            }
            best
        };
        let mut measured: Vec<Measured> = found
            .iter()
            .enumerate()
            .filter_map(|(worker, (copied, _, confirmed))| {
                let (copied, [beyond, ghost, from, least]) = most(copied)?;
                Some(Measured {
                    worker,
                    copied,
                    confirmed: *confirmed,
                    beyond: [beyond, 0.0],
                    ghosts: [ghost, 0.0],
                    least_ghost: least,
                    from: [from, 0.0],
                    constant: f64::NEG_INFINITY,
                    is_enough: copied.share >= copied.enough(least_copied),
                })
            })
            .collect();
        // The largest of several deviations is held against the largest of people.
        if samples.len() > 1 {
            let largest: Vec<(f64, f64)> =
                measured.iter().map(|one| (one.beyond[0], 0.0)).collect();
            let mut people = People::of(&largest);
            people.between = people.between.max(1.0);
            for one in &mut measured {
                let Measured { beyond, ghosts, from, least_ghost, .. } = one;
                for value in [&mut beyond[0], &mut ghosts[0], &mut from[0], least_ghost] {
                    *value = people.deviations((*value, 0.0));
                }
            }
        }
        let others = found.iter().enumerate().filter(|(_, (_, is_other, _))| *is_other);
        (measured, others.map(|(worker, _)| worker).collect())
    }

    /// Flags, probabilities and what they rest on, put into a run in which nobody is judged.
    fn flagged(&self, mut run: OwnRun, measured: &[Measured], says_all_of_z: bool) -> OwnRun {
        let p_values = p_values(measured);
        let chances = Mixture::fit(&p_values);
        let rate = self.settings.false_discovery_rate / chances.most_own();
        let adjusted = benjamini_hochberg(&p_values.iter().copied().map(Some).collect::<Vec<_>>());
        let (mut others, mut visible) = (0.0, [0, 0]);
        for ((one, &p), adjusted) in measured.iter().zip(&p_values).zip(adjusted) {
            let own = chances.own(p);
            others += 1.0 - own;
            let is_small = adjusted.is_some_and(|p| p <= rate);
            let look = is_small && own < 0.5;
            // By the same bound, so that nobody is clear who does what would be seen.
            let is_far = |deviations: f64| chance::tail(deviations) <= STANDS_OUT;
            let seen = [one.least_ghost, one.ghosts[1]].map(is_far);
            (0..2).for_each(|question| visible[question] += usize::from(seen[question]));
            // Stands out, but as somebody who knows more than the crowd, or less, would, too.
            // Nobody is cleared who gives one label nearly always, unless most would there.
            let stands_out =
                own < 0.5 || one.beyond.into_iter().any(is_far) || one.constant > UNCONFIRMED;
            let clear = !stands_out
                && seen == [true; 2]
                && measured.len() >= FEWEST_FOR_CLEAR
                && !says_all_of_z;
            run.workers[one.worker] = OwnScore {
                score: Some(-one.largest()),
                copied: Some(Estimate {
                    value: one.copied.share,
                    standard_error: Some(one.copied.variance.sqrt()),
                    degrees_of_freedom: (one.copied.tasks / self.settings.questions) as f64 - 1.0,
                }),
                agreement: Some(one.confirmed.agreement),
                p_own: Some(Calibration::OWN_LABELS.probability(own)),
                reads_as: Some(if own < 0.5 { one.kind() } else { AnswerKind::Own }),
                flag: match (look, clear) {
                    (true, _) => OwnFlag::Look,
                    (false, true) => OwnFlag::Clear,
                    (false, false) => OwnFlag::Unsure,
                },
                not_judged: None,
                stands_out,
                visible: seen,
                n_used: one.copied.tasks,
            };
        }
        let judged = measured.len();
        let estimated_share = (judged > 0).then(|| others / judged as f64);
        run.crowd = OwnCrowd { judged, estimated_share, visible, says_all_of_z };
        run
    }

    /// By worker: most tasks that one sample covers; `None` without samples.
    fn covered_tasks(&self, table: &LabelTable) -> Option<Vec<usize>> {
        let of = |sample: &Arc<[Option<Label>]>| {
            table.count_of_workers(|task| sample[task as usize].is_some())
        };
        let larger =
            |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
        self.samples.iter().map(of).reduce(larger)
    }
}

/// The deviations of the second question.
fn confirm(questions: f64, measured: &mut [Measured]) {
    let of = measured.iter().map(|one| one.confirmed.dependence);
    let effect = Dependence::effect(questions, of);
    measured.iter_mut().for_each(|one| one.confirmed = one.confirmed.of_fewer(effect));
    let all: Vec<Confirmed> = measured.iter().map(|one| one.confirmed).collect();
    let pooled = Confirmed::pooled(&all);
    let values: Vec<(f64, f64)> = all.iter().map(|one| one.below(pooled)).collect();
    let people = People::of(&values);
    for (one, (below, variance)) in measured.iter_mut().zip(values) {
        one.beyond[1] = people.deviations((below, variance));
        let ghost = people.deviations((one.confirmed.expected, variance));
        one.ghosts[1] = ghost;
        // Where `may_guess` begins to hold, in deviations.
        let blind = one.confirmed.blind_deviation() / people.deviation(variance);
        let is_asked = one.confirmed.favourite.is_none();
        one.from[1] = if is_asked { ghost - CONFIRMED * blind } else { f64::NEG_INFINITY };
    }
}

/// Of those who give one label nearly always, how much oftener than people they do.
fn constants(table: &LabelTable, said: &Said, is_trusted: bool, measured: &mut [Measured]) {
    let mut watched: Vec<Label> =
        measured.iter().filter_map(|one| one.confirmed.favourite).collect();
    watched.sort_unstable();
    watched.dedup();
    if watched.is_empty() {
        return;
    }
    let favours: Vec<Vec<Favour>> = measured
        .par_iter()
        .with_min_len(16)
        .map_init(
            || Hearing::new(table, said),
            |hearing, one| favours(hearing, one.worker as u32, &watched, is_trusted),
        )
        .collect();
    for (place, &label) in watched.iter().enumerate() {
        let of = favours.iter().map(|of| of[place].dependence);
        let effect = Dependence::effect(said.questions, of);
        let favours: Vec<Favour> = favours.iter().map(|of| of[place].of_fewer(effect)).collect();
        let values: Vec<(f64, f64)> = favours.iter().map(Favour::beyond).collect();
        let mut people = People::of(&values);
        // Most give less of it where it is right more often than they say: no reason to suspect who knows.
        people.middle = people.middle.max(0.0);
        for ((one, value), favours) in measured.iter_mut().zip(values).zip(&favours) {
            if one.confirmed.favourite == Some(label) {
                // With few tasks what is known of each tells more, with many the share itself.
                let rare = favours.tail(people.middle, people.between);
                one.constant = people.deviations(value).max(chance::deviations_of(rare));
            }
        }
    }
}

/// How probable it is that somebody of the crowd who answers alone comes as far as each, at either question.
fn p_values(measured: &[Measured]) -> Vec<f64> {
    let [copies, guesses] =
        [0, 1].map(|question| Tails::new(measured.iter().map(|one| one.reaches()[question])));
    let so_far = |one: &Measured| {
        let [copied, guessed] = [&copies, &guesses].map(|tails| tails.at(one.largest()));
        copied + guessed - copied * guessed
    };
    measured.iter().map(so_far).collect()
}

/// How often each label is given.
fn counts(table: &LabelTable) -> Vec<u32> {
    let mut counts = vec![0_u32; table.label_count()];
    for task in 0..table.task_count() as u32 {
        table.of_task(task).labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
    }
    counts
}

/// Whether at least half of the labels are given often enough to be compared, or there are few.
fn labels_repeat(counts: &[u32]) -> bool {
    let rare = counts.iter().filter(|count| **count < FEWEST_REPEATS).count();
    counts.len() <= FEW_LABELS || 2 * rare <= counts.len()
}

/// A run in which nobody is judged.
fn nobody(table: &LabelTable, reason: NotJudged) -> OwnRun {
    let one = OwnScore {
        score: None,
        copied: None,
        agreement: None,
        p_own: None,
        reads_as: None,
        flag: OwnFlag::NotJudged,
        not_judged: Some(reason),
        stands_out: false,
        visible: [false; 2],
        n_used: 0,
    };
    let crowd =
        OwnCrowd { judged: 0, estimated_share: None, visible: [0; 2], says_all_of_z: false };
    OwnRun { workers: vec![one; table.worker_count()], crowd }
}

pub(super) const ENTRY: Entry = Entry {
    name: "own",
    summary: "Own answers, or an LLM's, guesses, one label: two questions, held against people",
    meaning: "minus the deviations by which a worker, more than people do, says what the LLM says, or \
              says nothing that others confirm, whichever is larger; it says nothing of quality",
    unscored: "too few tasks with a Z label and another worker, or labels that hardly repeat",
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
        let covered = self.covered_tasks(table);
        let workers = (0..)
            .zip(run.workers)
            .map(|(worker, own)| WorkerScore {
                estimate: own.score.map(point),
                n_tasks: table.of_worker(worker).len(),
                n_z_tasks: covered.as_ref().map(|covered| covered[worker as usize]),
                n_used: own.n_used,
                copied: own.copied.map(|copied| copied.value),
                own: Some(own),
                ..WorkerScore::default()
            })
            .collect();
        Ok(Scores { workers, own: Some(run.crowd), ..Scores::default() })
    }

    fn on_tasks(&self, tasks: &[u32]) -> Box<dyn Mechanism> {
        let pick = |labels: &Arc<[Option<Label>]>| {
            tasks.iter().map(|&task| labels[task as usize]).collect::<Arc<[_]>>()
        };
        Box::new(Self { samples: self.samples.iter().map(pick).collect(), settings: self.settings })
    }

    fn zero_is_chance(&self) -> bool {
        false
    }
}
