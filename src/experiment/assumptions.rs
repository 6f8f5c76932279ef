//! Can conditioning on an LLM work on this crowd, and on which LLM?
//!
//! Conditioning on Z takes away what a cheater with an LLM shares with others, if four
//! hypotheses hold (section 5.2 of *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground
//! Truth*, Zhang, Pang, Zhu, Liu; NeurIPS 2025), with `I` the conditional mutual information of
//! [`ConditionalPairs`], `X` answers of people, `Z_i`, `Z_j` those of cheaters:
//!
//! 1. `I(Z_i; X_j | Z)` about 0: a cheater shares nothing with people beyond Z;
//! 2. `I(Z_i; Z_j | Z)` about 0: nor with another cheater;
//! 3. `I(X_i; X_j | Z) > I(Z_i; X_j | Z)`: people share more than that with each other;
//! 4. `I(X_i; X_j | Z) > I(Z_i; Z_j | Z)`: also more than two cheaters do.
//!
//! A hypothesis on what pairs share does not say that a copier ends below people: that also takes
//! scores of people that differ little. So copiers are planted ([`super::planted_copies`]), and
//! conditioning on Z works against a cheater only where their AUC is above [`LEAST_AUC`]; hypotheses 3 and
//! 4 are not said to hold where it is not.
//!
//! Every LLM is Z in turn, by its first sample, and every LLM is the cheater. Another sample of
//! the same LLM stands for a cheater who asks the LLM of the principal; as in Tables 2-5 of the
//! paper, in (2) one cheater uses the LLM of Z (its second sample) and the other one any LLM (its
//! first sample, or the third if that is the LLM of Z).
//!
//! Values are plug-in, biased upwards where little is shared, and a little downwards where much is:
//! a difference between a share and a product of shares loses 1 part in `n` in a stratum of `n`
//! tasks, so that `excess` may be above the value. The *null* is the mean under permutation of B inside the
//! strata. `excess` is what is shared beyond chance, the value less its bias. Where nothing is
//! shared the bias is the null; where something is, it is what bootstrap replicates have above the
//! value (`2 value - mean of the replicates` is the corrected value), 2 to 4 times closer than the
//! null, which takes away too much. Between the two the weight of the second is
//! `x^4 / (x^4 + (2 s)^4)` with `x` the value above the null and `s` the standard deviation of the
//! replicates: alone it would leave a third of the bias where nothing is shared. Intervals are 95 % bootstrap intervals over tasks: quantiles of the replicates,
//! moved so that their mean is the estimate, because a replicate of a plug-in value is biased
//! upwards once more. All values of a replicate come from the same drawn tasks, so differences
//! are paired.

use std::collections::BTreeSet;

use rand::RngExt;
use rayon::prelude::*;

use super::planted_copies::planted_auc;
use crate::data::labels::{Label, LabelTable};
use crate::data::progress::Progress;
use crate::data::z::{ZLabels, ZSource};
use crate::mechanism::ConditionalPairs;
use crate::stats::interval::{CONFIDENCE, Estimate, sample_variance};
use crate::stats::rank::{mean, quantile};
use crate::stats::seed::stream;

/// Default of [`AssumptionSettings::permutations`].
pub(crate) const PERMUTATIONS: u32 = 200;

/// Default of [`AssumptionSettings::replicates`].
pub(crate) const REPLICATES: u32 = 1000;

/// "About 0" means: at most this share of what two people share beyond Z.
pub(crate) const ABOUT_ZERO_SHARE: f64 = 0.25;

/// Conditioning works against a cheater where copiers of their LLM have an AUC surely above this.
pub(crate) const LEAST_AUC: f64 = 0.6;

/// What each side of the interval behind a verdict leaves out.
const VERDICT_TAIL: f64 = 0.01;

/// How much to draw, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AssumptionSettings {
    /// Permutations behind each null.
    pub permutations: u32,
    /// Bootstrap replicates behind each interval.
    pub replicates: u32,
    /// Seed; every permutation and replicate has its own stream.
    pub seed: u64,
}

impl Default for AssumptionSettings {
    fn default() -> Self {
        Self { permutations: PERMUTATIONS, replicates: REPLICATES, seed: 0 }
    }
}

words! {
    /// What the data say about a hypothesis.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Verdict {
        /// The whole 98 % interval is on the side of the hypothesis.
        Holds = "holds",
        /// The whole interval is on the other side.
        Fails = "fails",
        /// The interval covers both; more tasks would be needed.
        Unclear = "unclear",
        /// The LLM has too few samples to play its part.
        NeedsSamples = "needs_samples",
        /// No tasks where all answers exist, or too few tasks for an interval.
        TooFewTasks = "too_few_tasks",
    }
}

impl Verdict {
    /// Whether `low..high` is above `bound` as a whole.
    fn above(bound: f64, interval: Option<(f64, f64)>) -> Self {
        match interval {
            None => Self::TooFewTasks,
            Some((low, _)) if low > bound => Self::Holds,
            Some((_, high)) if high < bound => Self::Fails,
            Some(_) => Self::Unclear,
        }
    }
}

/// A conditional mutual information with its null and interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Measured {
    /// Tasks where both answers and Z exist.
    pub n_tasks: usize,
    /// The plug-in value.
    pub value: Option<f64>,
    /// Its mean under permutation.
    pub null: Option<f64>,
    /// Estimated bias of the value.
    pub bias: Option<f64>,
    /// 95 % interval of [`Self::excess`], low end first.
    pub interval: Option<(f64, f64)>,
}

impl Measured {
    /// What is shared beyond chance: the value less its bias.
    pub(crate) fn excess(&self) -> Option<f64> {
        Some(self.value? - self.bias?)
    }
}

/// What a cheater shares, beside what people share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// `I(Z_i; X_j | Z)` or `I(Z_i; Z_j | Z)`.
    pub(crate) measured: Measured,
    /// Value of two people minus this value, both plug-in, as in Tables 2-5 of the paper.
    pub(crate) difference: Option<f64>,
    /// The same difference less its bias: twice it minus the mean of its replicates.
    pub(crate) excess_difference: Option<f64>,
    /// 95 % interval of [`Self::excess_difference`], low end first.
    pub interval: Option<(f64, f64)>,
    /// Hypothesis 1 or 2: the interval of [`ABOUT_ZERO_SHARE`] of the excess of two people minus
    /// this excess is above 0.
    pub(crate) about_zero: Verdict,
    /// Hypothesis 3 or 4: the interval of the difference is above 0.
    pub(crate) below_humans: Verdict,
}

/// One LLM as the cheater's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheaterCheck {
    /// Name of the LLM.
    pub(crate) cheater: String,
    /// A cheater and a human, hypotheses 1 and 3.
    pub human: Comparison,
    /// Two cheaters, hypotheses 2 and 4.
    pub llm: Comparison,
    /// AUC by `ca_z` of copies of this LLM planted among people, over copiers.
    pub auc: Option<Estimate>,
}

impl CheaterCheck {
    /// Whether copies of this LLM end below people where Z is conditioned on: the interval of
    /// [`Self::auc`] against [`LEAST_AUC`].
    pub(crate) fn works(&self) -> Verdict {
        match &self.auc {
            None if self.human.below_humans == Verdict::NeedsSamples => Verdict::NeedsSamples,
            None => Verdict::TooFewTasks,
            Some(auc) => Verdict::above(LEAST_AUC, auc.interval()),
        }
    }
}

/// One LLM as Z.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceCheck {
    /// Name of the LLM.
    pub z: String,
    /// How many samples of it there are.
    pub samples: usize,
    /// Two humans.
    pub(crate) humans: Measured,
    /// Two humans of one kind, then of two kinds (`expert+normal`), where workers are named `kind/name`;
    /// empty where they are not.
    pub(crate) kinds: Vec<(String, Measured)>,
    /// Every LLM as the cheater's, in the order of the sources.
    pub(crate) cheaters: Vec<CheaterCheck>,
}

impl SourceCheck {
    /// The smallest excess difference over cheaters and hypotheses, with the cheater; `None` if
    /// none could be computed.
    pub(crate) fn worst_case(&self) -> Option<(&CheaterCheck, &Comparison)> {
        self.cheaters
            .iter()
            .flat_map(|check| [(check, &check.human), (check, &check.llm)])
            .filter(|(_, comparison)| comparison.excess_difference.is_some())
            .min_by(|(_, a), (_, b)| {
                let key = |comparison: &Comparison| comparison.excess_difference.unwrap_or(0.0);
                key(a).total_cmp(&key(b))
            })
    }

    /// By how much assumptions 4.1 and 4.2 of the paper fail: the most that a cheater shares beyond Z,
    /// with people or with another cheater, and who it is.
    ///
    /// What is shared is convex in what a worker does, so one who hands in an LLM with probability `l`
    /// shares at most `(1 - l)` times what two people share plus `l` times this.
    pub(crate) fn epsilon(&self) -> Option<(&CheaterCheck, &Comparison)> {
        let each = self.cheaters.iter();
        let each = each.flat_map(|check| [(check, &check.human), (check, &check.llm)]);
        let each = each.filter(|(_, comparison)| comparison.measured.excess().is_some());
        let excess = |comparison: &Comparison| comparison.measured.excess().unwrap_or(0.0);
        each.max_by(|(_, a), (_, b)| excess(a).total_cmp(&excess(b)))
    }

    /// The cheater whose planted copies have the lowest AUC, with it.
    pub(crate) fn worst_copier(&self) -> Option<(&CheaterCheck, Estimate)> {
        let each = self.cheaters.iter().filter_map(|check| Some((check, check.auc?)));
        each.min_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))
    }

    /// Whether the cheater who uses the LLM of Z could be looked at.
    pub(crate) fn is_complete(&self) -> bool {
        self.samples >= 2
    }
}

/// The LLM to condition on: the one whose worst planted copies have the highest AUC, among equals the
/// one with the largest excess difference in its worst case. LLMs with two samples or more come first,
/// since for the others the cheater who uses the same LLM is out of sight. `None` if no copy could be
/// planted.
pub(crate) fn best_source(checks: &[SourceCheck]) -> Option<&SourceCheck> {
    let key = |check: &SourceCheck| {
        let (_, auc) = check.worst_copier()?;
        let excess = check.worst_case().and_then(|(_, c)| c.excess_difference);
        Some((check.is_complete(), auc.value, excess.unwrap_or(f64::NEG_INFINITY)))
    };
    let mut best: Option<(&SourceCheck, (bool, f64, f64))> = None;
    for check in checks {
        let Some(found) = key(check) else { continue };
        let better = best.is_none_or(|(_, other)| {
            let by_auc = found.0.cmp(&other.0).then(found.1.total_cmp(&other.1));
            by_auc.then(found.2.total_cmp(&other.2)).is_gt()
        });
        if better {
            best = Some((check, found));
        }
    }
    best.map(|(check, _)| check)
}

/// The answer in one sentence: can conditioning work on this crowd, and on which LLM?
///
/// Looks at the best source (see [`best_source`]) and says what its worst planted copies show.
pub(crate) fn verdict_sentence(checks: &[SourceCheck]) -> String {
    let Some((best, (cheater, auc))) =
        best_source(checks).and_then(|best| Some((best, best.worst_copier()?)))
    else {
        return "Nothing can be said: there are too few tasks or workers, or no LLM has a second \
                sample to stand for a cheater."
            .to_owned();
    };
    let z = &best.z;
    let share = match (100.0 * auc.value).round() {
        share if share >= 100.0 => "all".to_owned(),
        share => format!("{share} %"),
    };
    let or_more = if share == "all" { "" } else { " or more" };
    match cheater.works() {
        Verdict::Holds if best.is_complete() => format!(
            "Condition on {z}: tried here, workers who copy an LLM, up to a fifth of all, end below \
             {share}{or_more} of the people."
        ),
        Verdict::Holds => format!(
            "Condition on {z}: tried here, workers who copy another LLM, up to a fifth of all, end below \
             {share}{or_more} of the people; copies of {z} itself need a second sample of it."
        ),
        Verdict::Fails => format!(
            "Conditioning does not work here, not even on {z}, the best choice: workers who copy {}, \
             up to a fifth of all, end below {share} of the people only.",
            cheater.cheater
        ),
        _ => format!(
            "Condition on {z}; whether that tells copies of every LLM from people's answers is \
             unclear: tried here, workers who copy {}, up to a fifth of all, end below {share} of the \
             people.",
            cheater.cheater
        ),
    }
}

/// Checks the hypotheses for every source as Z and every source as the cheater.
///
/// `z` is for the tasks of `table`. Time: `permutations + replicates` passes over the tasks for
/// each of `s (1 + 2 s)` values with `s` sources, and up to 25 scores of the crowd for each of `s s` pairs. `progress` hears of each value and replicate.
pub(crate) fn check_assumptions(
    table: &LabelTable,
    z: &ZLabels,
    settings: &AssumptionSettings,
    progress: &dyn Progress,
) -> Vec<SourceCheck> {
    let plan = Plan::new(table, &z.sources);
    let (measured, replicates) = plan.measured(table.task_count(), settings, progress);
    let mut planted = planted(table, z, progress).into_iter();
    plan.sources
        .iter()
        .zip(&z.sources)
        .map(|(source, names)| SourceCheck {
            z: names.name.clone(),
            samples: names.samples.len(),
            humans: measured[source.humans],
            kinds: source.kinds(&measured),
            cheaters: source
                .cheaters
                .iter()
                .zip(&z.sources)
                .map(|(&(human, llm), cheater)| {
                    let compare = |index: Option<usize>| match index {
                        None => not_computed(),
                        Some(index) => compared(&measured, &replicates, (source.humans, index)),
                    };
                    let mut found = CheaterCheck {
                        cheater: cheater.name.clone(),
                        human: compare(human),
                        llm: compare(llm),
                        auc: planted.next().flatten(),
                    };
                    // People may share more, and copiers stand among them all the same.
                    if found.auc.is_some() && found.works() != Verdict::Holds {
                        for comparison in [&mut found.human, &mut found.llm] {
                            if comparison.below_humans == Verdict::Holds {
                                comparison.below_humans = Verdict::Unclear;
                            }
                        }
                    }
                    found
                })
                .collect(),
        })
        .collect()
}

/// What pairs share without any Z, `I(X_i; X_j)`: as a source check whose Z has no name.
///
/// Two cheaters are two samples of one LLM. Nothing is planted, and no hypothesis is about these values.
pub(crate) fn check_unconditional(
    table: &LabelTable,
    z: &ZLabels,
    settings: &AssumptionSettings,
    progress: &dyn Progress,
) -> SourceCheck {
    let plan = Plan::unconditional(table, &z.sources);
    let (measured, replicates) = plan.measured(table.task_count(), settings, progress);
    let source = &plan.sources[0];
    let compare = |index: Option<usize>| match index {
        None => not_computed(),
        Some(index) => compared(&measured, &replicates, (source.humans, index)),
    };
    let cheaters = source.cheaters.iter().zip(&z.sources).map(|(&(human, llm), cheater)| {
        let cheater = cheater.name.clone();
        CheaterCheck { cheater, human: compare(human), llm: compare(llm), auc: None }
    });
    SourceCheck {
        z: String::new(),
        samples: 0,
        humans: measured[source.humans],
        kinds: source.kinds(&measured),
        cheaters: cheaters.collect(),
    }
}

/// AUC of planted copies by Z and by cheater, row-major; as in the hypotheses, another sample of the
/// LLM of Z stands for a cheater who uses it.
fn planted(table: &LabelTable, z: &ZLabels, progress: &dyn Progress) -> Vec<Option<Estimate>> {
    let mut all = Vec::new();
    for (index, source) in z.sources.iter().enumerate() {
        for (other, cheater) in z.sources.iter().enumerate() {
            let both = sample(source, 0).zip(sample(cheater, usize::from(other == index)));
            // What is too large for the score has none.
            all.push(both.and_then(|both| planted_auc(table, &z.labels, both).ok().flatten()));
            progress.advance(1);
        }
    }
    all
}

/// Total of what [`check_assumptions`] reports as progress.
pub(crate) fn progress_total(
    table: &LabelTable,
    sources: usize,
    settings: &AssumptionSettings,
) -> u64 {
    let values = 1 + kind_pairs(table).len() + 3 * sources;
    (sources * values) as u64 + u64::from(settings.replicates)
}

/// Most kinds of workers that are told apart.
const MOST_KINDS: usize = 5;

/// Two kinds of workers, the same one twice or two different ones, with the worker numbers of each.
type KindPair = (String, [Vec<bool>; 2]);

/// What stands before the first `/` of the names of workers, if all have one and there are 2 to
/// [`MOST_KINDS`]: each kind with itself, then each with each.
fn kind_pairs(table: &LabelTable) -> Vec<KindPair> {
    let names = table.workers().names().iter().map(|name| Some(name.split_once('/')?.0));
    let Some(of) = names.collect::<Option<Vec<&str>>>() else { return Vec::new() };
    let kinds: Vec<&str> = of.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if !(2..=MOST_KINDS).contains(&kinds.len()) {
        return Vec::new();
    }
    let members = |kind: &str| of.iter().map(|other| *other == kind).collect::<Vec<bool>>();
    let same = kinds.iter().map(|kind| ((*kind).to_owned(), [members(kind), members(kind)]));
    let different = kinds.iter().enumerate().flat_map(|(index, first)| {
        let pair = |second: &&str| (format!("{first}+{second}"), [members(first), members(second)]);
        kinds[index + 1..].iter().map(pair).collect::<Vec<_>>()
    });
    same.chain(different).collect()
}

/// The pairs of people of each pair of kinds.
fn of_kinds<'a>(
    table: &'a LabelTable,
    kinds: &'a [KindPair],
    z: &'a [Option<Label>],
) -> impl Iterator<Item = (String, ConditionalPairs)> + 'a {
    kinds.iter().map(move |(name, [a, b])| {
        let (first, second) = (|worker| a[worker as usize], |worker| b[worker as usize]);
        let pairs = if a == b {
            ConditionalPairs::humans_among(table, first, z)
        } else {
            ConditionalPairs::human_groups(table, first, second, z)
        };
        (name.clone(), pairs)
    })
}

/// All values to compute, and who needs which.
struct Plan {
    pairs: Vec<ConditionalPairs>,
    sources: Vec<PlannedSource>,
}

/// Positions in [`Plan::pairs`].
struct PlannedSource {
    humans: usize,
    kinds: Vec<(String, usize)>,
    /// Cheater and human, two cheaters; by cheater.
    cheaters: Vec<(Option<usize>, Option<usize>)>,
}

impl PlannedSource {
    fn kinds(&self, measured: &[Measured]) -> Vec<(String, Measured)> {
        self.kinds.iter().map(|(name, index)| (name.clone(), measured[*index])).collect()
    }
}

impl Plan {
    fn new(table: &LabelTable, sources: &[ZSource]) -> Self {
        let kinds = kind_pairs(table);
        let mut pairs = Vec::new();
        let mut push = |value| {
            pairs.push(value);
            pairs.len() - 1
        };
        let sources = sources
            .iter()
            .enumerate()
            .map(|(index, source)| {
                let z = sample(source, 0).unwrap_or(&[]);
                let humans = push(ConditionalPairs::humans(table, z));
                let cheaters = sources
                    .iter()
                    .enumerate()
                    .map(|(other, cheater)| {
                        // Z takes the first sample of its LLM, the first cheater the second.
                        let own = usize::from(other == index);
                        let with_human = sample(cheater, own).map(|answers| {
                            push(ConditionalPairs::human_and_llm(table, answers, z))
                        });
                        let with_llm = sample(source, 1)
                            .zip(sample(cheater, 2 * own))
                            .map(|(a, b)| push(ConditionalPairs::llms(a, b, z)));
                        (with_human, with_llm)
                    })
                    .collect();
                let kinds = of_kinds(table, &kinds, z).map(|(name, value)| (name, push(value)));
                PlannedSource { humans, kinds: kinds.collect(), cheaters }
            })
            .collect();
        Self { pairs, sources }
    }

    /// The same without Z: one stratum of all tasks.
    fn unconditional(table: &LabelTable, sources: &[ZSource]) -> Self {
        let z = vec![Some(0); table.task_count()];
        let mut pairs = vec![ConditionalPairs::humans(table, &z)];
        let mut push = |value| {
            pairs.push(value);
            pairs.len() - 1
        };
        let cheaters = sources
            .iter()
            .map(|source| {
                let with_human = sample(source, 0)
                    .map(|answers| push(ConditionalPairs::human_and_llm(table, answers, &z)));
                let both = sample(source, 0).zip(sample(source, 1));
                (with_human, both.map(|(a, b)| push(ConditionalPairs::llms(a, b, &z))))
            })
            .collect();
        let kinds = kind_pairs(table);
        let kinds = of_kinds(table, &kinds, &z).map(|(name, value)| (name, push(value))).collect();
        Self { pairs, sources: vec![PlannedSource { humans: 0, kinds, cheaters }] }
    }

    /// Every value with its null and interval, and its replicates.
    fn measured(
        &self,
        tasks: usize,
        settings: &AssumptionSettings,
        progress: &dyn Progress,
    ) -> (Vec<Measured>, Vec<Vec<Option<f64>>>) {
        let nulls = self.nulls(settings, progress);
        let replicates = self.replicates(tasks, settings, progress);
        let measured = |(index, (pairs, null)): (usize, (&ConditionalPairs, Option<f64>))| {
            let column: Vec<f64> = replicates.iter().filter_map(|row| row[index]).collect();
            let value = pairs.value();
            let measured = Measured {
                n_tasks: pairs.task_count(),
                value,
                null,
                bias: bias(value, null, &column),
                interval: None,
            };
            let interval = measured.excess().and_then(|excess| centered_interval(excess, &column));
            Measured { interval, ..measured }
        };
        let measured = self.pairs.iter().zip(nulls).enumerate().map(measured).collect();
        (measured, replicates)
    }

    /// Mean over permutations of each value.
    fn nulls(&self, settings: &AssumptionSettings, progress: &dyn Progress) -> Vec<Option<f64>> {
        self.pairs
            .par_iter()
            .enumerate()
            .map(|(index, pairs)| {
                let mut random = stream(settings.seed, "assumptions null", index as u64);
                let sum: Option<f64> =
                    (0..settings.permutations).map(|_| pairs.permuted_value(&mut random)).sum();
                progress.advance(1);
                sum.filter(|_| settings.permutations > 0)
                    .map(|sum| sum / f64::from(settings.permutations))
            })
            .collect()
    }

    /// Row-major replicate by value: every value on the tasks that the replicate drew.
    fn replicates(
        &self,
        tasks: usize,
        settings: &AssumptionSettings,
        progress: &dyn Progress,
    ) -> Vec<Vec<Option<f64>>> {
        (0..settings.replicates)
            .into_par_iter()
            .map(|replicate| {
                let mut random =
                    stream(settings.seed, "assumptions bootstrap", u64::from(replicate));
                let mut weights = vec![0_u32; tasks];
                for _ in 0..tasks {
                    weights[random.random_range(0..tasks)] += 1;
                }
                let values =
                    self.pairs.iter().map(|pairs| pairs.resampled_value(&weights)).collect();
                progress.advance(1);
                values
            })
            .collect()
    }
}

fn sample(source: &ZSource, index: usize) -> Option<&[Option<Label>]> {
    source.samples.get(index).map(|sample| sample.labels.as_slice())
}

fn not_computed() -> Comparison {
    Comparison {
        measured: Measured::default(),
        difference: None,
        excess_difference: None,
        interval: None,
        about_zero: Verdict::NeedsSamples,
        below_humans: Verdict::NeedsSamples,
    }
}

/// Compares value `cheater` with value `humans`.
fn compared(
    measured: &[Measured],
    replicates: &[Vec<Option<f64>>],
    (humans, cheater): (usize, usize),
) -> Comparison {
    let (people, cheating) = (&measured[humans], &measured[cheater]);
    let minus = |a: Option<f64>, b: Option<f64>| Some(a? - b?);
    let differences: Vec<f64> =
        replicates.iter().filter_map(|row| minus(row[humans], row[cheater])).collect();
    // Corrected as one: the two biases are measured on the same tasks and mostly cancel, where the
    // weights of `bias` would take more from the noisier of the two.
    let excess_difference = minus(people.value, cheating.value)
        .zip(mean(&differences))
        .map(|(difference, center)| 2.0 * difference - center);
    let interval = excess_difference.and_then(|center| centered_interval(center, &differences));
    // What people share is estimated too, from the same tasks: so the bound belongs in the
    // difference. Without anything that people share there is nothing to be small against.
    let room =
        minus(people.excess().map(|excess| excess.max(0.0) * ABOUT_ZERO_SHARE), cheating.excess());
    let rooms: Vec<f64> = replicates
        .iter()
        .filter_map(|row| minus(row[humans].map(|value| value * ABOUT_ZERO_SHARE), row[cheater]))
        .collect();
    let room = room.and_then(|center| verdict_interval(center, &rooms));
    Comparison {
        measured: *cheating,
        difference: minus(people.value, cheating.value),
        excess_difference,
        interval,
        about_zero: Verdict::above(0.0, room),
        below_humans: Verdict::above(
            0.0,
            excess_difference.and_then(|center| verdict_interval(center, &differences)),
        ),
    }
}

/// Estimated bias of a plug-in value: see the head of this file.
fn bias(value: Option<f64>, null: Option<f64>, replicates: &[f64]) -> Option<f64> {
    let (value, null, center) = (value?, null?, mean(replicates)?);
    let above = (value - null).max(0.0).powi(4);
    let noise = 16.0 * sample_variance(replicates)?.powi(2);
    let weight = if above > 0.0 { above / (above + noise) } else { 0.0 };
    Some(weight * (center - value) + (1.0 - weight) * null)
}

/// Percentile interval of bootstrap `replicates`, moved so that their mean is `estimate`.
///
/// `None` for fewer than two replicates.
fn centered_interval(estimate: f64, replicates: &[f64]) -> Option<(f64, f64)> {
    interval_between(estimate, replicates, (1.0 - CONFIDENCE) / 2.0)
}

/// The interval behind a verdict: wider, because percentile intervals are too narrow in small
/// crowds, where 95 % ones said `holds` falsely in 3.5 % of crowds.
fn verdict_interval(estimate: f64, replicates: &[f64]) -> Option<(f64, f64)> {
    interval_between(estimate, replicates, VERDICT_TAIL)
}

fn interval_between(estimate: f64, replicates: &[f64], tail: f64) -> Option<(f64, f64)> {
    let mut sorted = replicates.to_vec();
    if sorted.len() < 2 {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let shift = estimate - sorted.iter().sum::<f64>() / sorted.len() as f64;
    Some((quantile(&sorted, tail)? + shift, quantile(&sorted, 1.0 - tail)? + shift))
}

#[cfg(test)]
mod tests;
