//! One judge against another on the pairs that both judged.

use std::collections::BTreeMap;

use super::verdicts::{Judge, Verdicts};
use crate::metrics::agreement::paired::mcnemar;

/// Sums over pairs that both judged: differences of the share right and of being right, pairs.
pub(crate) type Sums = [f64; 3];

/// First minus second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    /// By number of the cluster.
    pub clusters: Vec<(u32, Sums)>,
    /// Pairs that the first alone gets right, and the second alone, by their combined verdicts.
    pub only: [u64; 2],
    /// Pairs that both judged and that have a gold verdict.
    pub pairs: u64,
}

impl Comparison {
    /// Over the pairs with a gold verdict for which both have every verdict they were asked for.
    pub(crate) fn new(verdicts: &Verdicts, first: &Judge, second: &Judge) -> Self {
        let mut clusters: BTreeMap<u32, Sums> = BTreeMap::new();
        let (mut only, mut pairs) = ([0; 2], 0);
        for (number, one) in &first.judged {
            let pair = &verdicts.pairs[*number as usize];
            let (Some(gold), Some(other)) = (pair.gold(), second.judged.get(number)) else {
                continue;
            };
            let (Some(by_one), Some(by_other)) = (one.combined(), other.combined()) else {
                continue;
            };
            let (Some(share), Some(other_share)) = (one.share_right(gold), other.share_right(gold))
            else {
                continue;
            };
            let right = [by_one == gold, by_other == gold];
            only[0] += u64::from(right[0] && !right[1]);
            only[1] += u64::from(right[1] && !right[0]);
            pairs += 1;
            let sums = clusters.entry(pair.cluster).or_default();
            sums[0] += share - other_share;
            sums[1] += f64::from(u8::from(right[0])) - f64::from(u8::from(right[1]));
            sums[2] += 1.0;
        }
        Self { clusters: clusters.into_iter().collect(), only, pairs }
    }

    /// Differences of accuracy over both orders, and of the combined verdicts.
    pub(crate) fn differences(&self, weights: Option<&[u32]>) -> [Option<f64>; 2] {
        let mut total = [0.0; 3];
        for (cluster, sums) in &self.clusters {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[*cluster as usize]));
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += weight * sum);
        }
        [0, 1].map(|index| (total[2] > 0.0).then(|| total[index] / total[2]))
    }

    /// Exact p-value that both are right equally often; `None` without pairs.
    pub(crate) fn p_value(&self) -> Option<f64> {
        (self.pairs > 0).then(|| mcnemar(self.only[0], self.only[1]))
    }
}

/// The judges with which `name` is compared: those asked for, or the controls.
///
/// A control is `single`, and `repeated-NAME` for a debate `NAME`, or `repeated` where there is
/// only that.
pub(crate) fn opponents<'a>(name: &str, judges: &'a [Judge], against: &[String]) -> Vec<&'a Judge> {
    let debate = name.strip_suffix("+jury").unwrap_or(name);
    let repeated = format!("repeated-{debate}");
    judges
        .iter()
        .filter(|other| other.name != name)
        .filter(|other| {
            let other = other.name.as_str();
            if against.is_empty() {
                let control = name.starts_with("repeated") || name == "single";
                !control && (other == "single" || other == repeated || other == "repeated")
            } else {
                against.iter().any(|wanted| wanted == other)
            }
        })
        .collect()
}
