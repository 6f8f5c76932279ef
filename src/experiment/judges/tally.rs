//! Counts of one judge, which add up over pairs, and the measures made of them.
//!
//! Every measure is a function of sums over pairs, so that a bootstrap draw is a weighted sum of
//! the sums of its clusters.

use super::verdicts::{COSTS, Judge, Judged, Pair, Verdicts};
use crate::data::side::Side;
use crate::metrics::agreement::Confusion;
use crate::metrics::agreement::kappa::{Distance, kappa};
use crate::stats::rank::whole;

const POOLED: usize = 0;
const COMBINED: usize = 9;
/// Pairs with the same verdict in both orders, pairs with a verdict in both.
const CONSISTENT: usize = 18;
/// Verdicts for the side shown first, verdicts for a side, of pairs with both orders.
const FIRST: usize = 20;
/// Ties, readable verdicts.
const TIES: usize = 22;
/// Verdicts on pairs with a gold verdict that are missing.
const MISSING_WITH_GOLD: usize = 24;
/// Missing verdicts.
const MISSING: usize = 25;
/// On pairs with one answer of the judge's family: verdicts for it, gold verdicts for it, pairs.
const FAMILY: usize = 26;
/// Sum and readable verdicts, of every cost.
const COST: usize = 29;
/// Pairs behind the pooled figures, and without ties.
const PAIRS: usize = COST + 2 * COSTS.len();
/// Sum of the gaps between the scores of a verdict, verdicts with scores.
const GAP: usize = PAIRS + 2;
/// Number of sums.
pub(crate) const SUMS: usize = GAP + 2;

/// Sums over some pairs.
pub(crate) type Sums = [f64; SUMS];

/// What is measured, in the order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    /// Share of verdicts that are the gold one, each order by itself.
    Accuracy,
    /// The same where neither verdict is a tie.
    AccuracyWithoutTies,
    /// The same with missing verdicts counted as wrong.
    AccuracyLowerBound,
    /// Cohen's kappa of those verdicts.
    Kappa,
    /// Kappa where neither verdict is a tie.
    KappaWithoutTies,
    /// Share of pairs whose combined verdict is the gold one; a flip is a tie.
    AccuracyCombined,
    /// The same where neither is a tie.
    AccuracyCombinedWithoutTies,
    /// Kappa of the combined verdict.
    KappaCombined,
    /// Share of pairs with the same verdict in both orders.
    Consistency,
    /// Share of pairs whose verdict changes with the order.
    Flips,
    /// Share of ties.
    Ties,
    /// Share of verdicts for the answer shown first, among those for either, over the pairs with
    /// a verdict in both orders.
    FirstPlace,
    /// Mean gap between the scores of the sides.
    ScoreGap,
    /// Share of verdicts for the answer of the judge's own family.
    OwnFamily,
    /// That share minus the share of gold verdicts for it.
    OwnFamilyExcess,
    /// Cost of a readable verdict, by number in [`COSTS`].
    Cost(usize),
}

/// All measures.
pub(crate) const MEASURES: [Measure; 15 + COSTS.len()] = [
    Measure::Accuracy,
    Measure::AccuracyWithoutTies,
    Measure::AccuracyLowerBound,
    Measure::Kappa,
    Measure::KappaWithoutTies,
    Measure::AccuracyCombined,
    Measure::AccuracyCombinedWithoutTies,
    Measure::KappaCombined,
    Measure::Consistency,
    Measure::Flips,
    Measure::Ties,
    Measure::FirstPlace,
    Measure::ScoreGap,
    Measure::OwnFamily,
    Measure::OwnFamilyExcess,
    Measure::Cost(0),
    Measure::Cost(1),
    Measure::Cost(2),
    Measure::Cost(3),
];

impl Measure {
    /// The name in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::AccuracyWithoutTies => "accuracy_without_ties",
            Self::AccuracyLowerBound => "accuracy_lower_bound",
            Self::Kappa => "kappa",
            Self::KappaWithoutTies => "kappa_without_ties",
            Self::AccuracyCombined => "accuracy_combined",
            Self::AccuracyCombinedWithoutTies => "accuracy_combined_without_ties",
            Self::KappaCombined => "kappa_combined",
            Self::Consistency => "consistency",
            Self::Flips => "flips",
            Self::Ties => "ties",
            Self::FirstPlace => "first_place",
            Self::ScoreGap => "score_gap",
            Self::OwnFamily => "own_family",
            Self::OwnFamilyExcess => "own_family_excess",
            Self::Cost(0) => "tokens_per_verdict",
            Self::Cost(1) => "calls_per_verdict",
            Self::Cost(2) => "seconds_per_verdict",
            Self::Cost(_) => "rounds_per_verdict",
        }
    }

    /// Whether it needs gold verdicts.
    pub(crate) fn needs_gold(self) -> bool {
        self <= Self::KappaCombined || self == Self::OwnFamilyExcess
    }

    /// The measure; `None` where undefined.
    pub(crate) fn of(self, sums: &Sums) -> Option<f64> {
        let ratio = |num: f64, den: f64| (den > 0.0).then(|| num / den);
        match self {
            Self::Accuracy => accuracy(sums, POOLED, 3),
            Self::AccuracyWithoutTies => accuracy(sums, POOLED, 2),
            Self::AccuracyLowerBound => {
                let all: f64 = sums[POOLED..POOLED + 9].iter().sum();
                let right: f64 = (0..3).map(|side| sums[POOLED + 4 * side]).sum();
                ratio(right, all + sums[MISSING_WITH_GOLD])
            }
            Self::Kappa => kappa(&matrix(sums, POOLED, 3), Distance::Nominal),
            Self::KappaWithoutTies => kappa(&matrix(sums, POOLED, 2), Distance::Nominal),
            Self::AccuracyCombined => accuracy(sums, COMBINED, 3),
            Self::AccuracyCombinedWithoutTies => accuracy(sums, COMBINED, 2),
            Self::KappaCombined => kappa(&matrix(sums, COMBINED, 3), Distance::Nominal),
            Self::Consistency => ratio(sums[CONSISTENT], sums[CONSISTENT + 1]),
            Self::Flips => ratio(sums[CONSISTENT + 1] - sums[CONSISTENT], sums[CONSISTENT + 1]),
            Self::Ties => ratio(sums[TIES], sums[TIES + 1]),
            Self::FirstPlace => ratio(sums[FIRST], sums[FIRST + 1]),
            Self::ScoreGap => ratio(sums[GAP], sums[GAP + 1]),
            Self::OwnFamily => ratio(sums[FAMILY], sums[FAMILY + 2]),
            Self::OwnFamilyExcess => ratio(sums[FAMILY] - sums[FAMILY + 1], sums[FAMILY + 2]),
            Self::Cost(index) => ratio(sums[COST + 2 * index], sums[COST + 2 * index + 1]),
        }
    }

    /// Pairs behind it; for ties, first place and costs the readable verdicts.
    pub(crate) fn items(self, sums: &Sums) -> u64 {
        let count = match self {
            Self::Accuracy | Self::AccuracyLowerBound | Self::Kappa => sums[PAIRS],
            Self::AccuracyWithoutTies | Self::KappaWithoutTies => sums[PAIRS + 1],
            Self::AccuracyCombined | Self::KappaCombined => {
                sums[COMBINED..COMBINED + 9].iter().sum()
            }
            Self::AccuracyCombinedWithoutTies => matrix(sums, COMBINED, 2).total() as f64,
            Self::Consistency | Self::Flips => sums[CONSISTENT + 1],
            Self::Ties => sums[TIES + 1],
            Self::FirstPlace => sums[FIRST + 1],
            Self::ScoreGap => sums[GAP + 1],
            Self::OwnFamily | Self::OwnFamilyExcess => sums[FAMILY + 2],
            Self::Cost(index) => sums[COST + 2 * index + 1],
        };
        whole(count) as u64
    }
}

/// Verdicts of the judge that are missing.
pub(crate) fn missing(sums: &Sums) -> u64 {
    whole(sums[MISSING]) as u64
}

fn side(index: usize) -> Side {
    [Side::A, Side::B, Side::Tie][index]
}

fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
        Side::Tie => 2,
    }
}

/// The first `size` rows and columns of a matrix of three.
fn matrix(sums: &Sums, at: usize, size: usize) -> Confusion {
    let cells = (0..size).flat_map(|gold| (0..size).map(move |verdict| 3 * gold + verdict));
    Confusion::of_counts(size, cells.map(|cell| whole(sums[at + cell]) as u64).collect())
}

fn accuracy(sums: &Sums, at: usize, size: usize) -> Option<f64> {
    let matrix = matrix(sums, at, size);
    let right: f64 = (0..size).map(|side| sums[at + 4 * side]).sum();
    (matrix.total() > 0).then(|| right / matrix.total() as f64)
}

impl Judged {
    /// The verdict that counts where both orders were asked: the one both give, a tie if they
    /// differ; the only one where one order was asked; `None` if one that was asked is missing.
    pub(crate) fn combined(&self) -> Option<Side> {
        let mut asked = self.orders.iter().copied().flatten();
        match (asked.next()?, asked.next()) {
            (only, None) => only,
            (Some(one), Some(Some(other))) => Some(if one == other { one } else { Side::Tie }),
            (_, Some(_)) => None,
        }
    }

    /// Whether the verdict changes with the order; `None` unless both are there.
    pub(crate) fn flips(&self) -> Option<bool> {
        match self.orders {
            [Some(Some(one)), Some(Some(other))] => Some(one != other),
            _ => None,
        }
    }

    /// Share of the readable verdicts that are `gold`.
    pub(crate) fn share_right(&self, gold: Side) -> Option<f64> {
        let readable: Vec<Side> = self.orders.iter().copied().flatten().flatten().collect();
        let right = readable.iter().filter(|side| **side == gold).count();
        (!readable.is_empty()).then(|| right as f64 / readable.len() as f64)
    }
}

/// The sums of one pair.
pub(crate) fn sums_of(judge: &Judge, pair: &Pair, judged: &Judged) -> Sums {
    let mut sums = [0.0; SUMS];
    let gold = pair.gold();
    let (mut readable, mut without_ties) = (0.0, false);
    for (order, verdict) in judged.orders.iter().enumerate() {
        let Some(verdict) = verdict else { continue };
        let Some(verdict) = *verdict else {
            sums[MISSING] += 1.0;
            sums[MISSING_WITH_GOLD] += f64::from(u8::from(gold.is_some()));
            continue;
        };
        readable += 1.0;
        if let Some(gold) = gold {
            sums[POOLED + 3 * index(gold) + index(verdict)] += 1.0;
            without_ties |= gold != Side::Tie && verdict != Side::Tie;
        }
        if verdict == Side::Tie {
            sums[TIES] += 1.0;
        } else if judged.flips().is_some() {
            // With one order only, which side is shown first may go with which is better.
            sums[FIRST] += f64::from(u8::from(verdict == side(order)));
            sums[FIRST + 1] += 1.0;
        }
    }
    for [a, b] in judged.scores.iter().flatten() {
        sums[GAP] += (a - b).abs();
        sums[GAP + 1] += 1.0;
    }
    sums[TIES + 1] = readable;
    if gold.is_some() && readable > 0.0 {
        sums[PAIRS] = 1.0;
        sums[PAIRS + 1] = f64::from(u8::from(without_ties));
    }
    if let (Some(gold), Some(verdict)) = (gold, judged.combined()) {
        sums[COMBINED + 3 * index(gold) + index(verdict)] = 1.0;
    }
    if let Some(flips) = judged.flips() {
        sums[CONSISTENT] = f64::from(u8::from(!flips));
        sums[CONSISTENT + 1] = 1.0;
    }
    let decided = gold
        .zip(judged.combined())
        .filter(|(gold, verdict)| *gold != Side::Tie && *verdict != Side::Tie);
    if let Some((own, (gold, verdict))) = own_side(judge, pair).zip(decided) {
        sums[FAMILY] = f64::from(u8::from(verdict == own));
        sums[FAMILY + 1] = f64::from(u8::from(gold == own));
        sums[FAMILY + 2] = 1.0;
    }
    for (cost, (sum, verdicts)) in judged.cost.iter().enumerate() {
        sums[COST + 2 * cost] = *sum;
        sums[COST + 2 * cost + 1] = *verdicts;
    }
    sums
}

/// The side that is of the judge's family, if exactly one is.
fn own_side(judge: &Judge, pair: &Pair) -> Option<Side> {
    let own = judge.family?;
    let (a, b) = pair.names.as_ref()?;
    let is_own = |name: &str| super::family::family(name) == Some(own);
    match (is_own(a), is_own(b)) {
        (true, false) => Some(Side::A),
        (false, true) => Some(Side::B),
        _ => None,
    }
}

/// The sums of every cluster in which a judge has a verdict, by number of the cluster.
pub(crate) fn by_cluster(verdicts: &Verdicts, judge: &Judge) -> Vec<(u32, Sums)> {
    let mut of_pairs: Vec<(u32, Sums)> = judge
        .judged
        .iter()
        .map(|(&pair, judged)| {
            let pair = &verdicts.pairs[pair as usize];
            (pair.cluster, sums_of(judge, pair, judged))
        })
        .collect();
    of_pairs.sort_by_key(|(cluster, _)| *cluster);
    let mut clusters: Vec<(u32, Sums)> = Vec::new();
    for (cluster, sums) in of_pairs {
        match clusters.last_mut().filter(|(last, _)| *last == cluster) {
            Some((_, total)) => add(total, &sums, 1.0),
            None => clusters.push((cluster, sums)),
        }
    }
    clusters
}

/// The sum of clusters, each `weights[cluster]` times.
pub(crate) fn weighted(clusters: &[(u32, Sums)], weights: &[u32]) -> Sums {
    let mut total = [0.0; SUMS];
    for (cluster, sums) in clusters {
        let weight = weights[*cluster as usize];
        if weight > 0 {
            add(&mut total, sums, f64::from(weight));
        }
    }
    total
}

fn add(total: &mut Sums, sums: &Sums, weight: f64) {
    total.iter_mut().zip(sums).for_each(|(total, value)| *total += weight * value);
}
