//! What is said of each LLM as Z, and which is the one to condition on.

use crate::stats::interval::Estimate;

/// Conditioning works against a cheater where copiers of their LLM have an AUC surely above this.
pub(crate) const LEAST_AUC: f64 = 0.6;

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
    pub(super) fn above(bound: f64, interval: Option<(f64, f64)>) -> Self {
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
    /// Hypothesis 1 or 2: the interval of [`ABOUT_ZERO_SHARE`](super::ABOUT_ZERO_SHARE) of the excess of two people minus
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
