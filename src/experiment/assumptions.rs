//! Can conditioning on an LLM work on this crowd, and on which LLM?
//!
//! Conditioning on Z takes away what a cheater with an LLM shares with others, if four
//! hypotheses hold (section 5.2 of *Evaluating LLM-Contaminated Crowdsourcing Data Without Ground
//! Truth*, Zhang, Pang, Zhu, Liu; NeurIPS 2025), with `I` the conditional mutual information of
//! [`ConditionalPairs`](crate::mechanism::ConditionalPairs), `X` answers of people, `Z_i`, `Z_j` those of cheaters:
//!
//! 1. `I(Z_i; X_j | Z)` about 0: a cheater shares nothing with people beyond Z;
//! 2. `I(Z_i; Z_j | Z)` about 0: nor with another cheater;
//! 3. `I(X_i; X_j | Z) > I(Z_i; X_j | Z)`: people share more than that with each other;
//! 4. `I(X_i; X_j | Z) > I(Z_i; Z_j | Z)`: also more than two cheaters do.
//!
//! A hypothesis on what pairs share does not say that a copier ends below people: that also takes
//! scores of people that differ little. So copiers are planted ([`super::planted_copies`]), and
//! conditioning on Z works against a cheater only where their AUC is above [`LEAST_AUC`](found::LEAST_AUC); hypotheses 3 and
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

mod found;
mod plan;

pub(crate) use self::found::{
    CheaterCheck, Comparison, Measured, SourceCheck, Verdict, best_source, verdict_sentence,
};
use self::plan::{Plan, centered_interval, kind_pairs, sample, verdict_interval};
use super::planted_copies::planted_auc;
use crate::data::labels::LabelTable;
use crate::data::progress::Progress;
use crate::data::z::ZLabels;
use crate::stats::interval::Estimate;
use crate::stats::rank::mean;

/// Default of [`AssumptionSettings::permutations`].
pub(crate) const PERMUTATIONS: u32 = 200;

/// Default of [`AssumptionSettings::replicates`].
pub(crate) const REPLICATES: u32 = 1000;

/// "About 0" means: at most this share of what two people share beyond Z.
pub(crate) const ABOUT_ZERO_SHARE: f64 = 0.25;

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

#[cfg(test)]
mod tests;
