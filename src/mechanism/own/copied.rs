//! Does the worker say what the LLM says more than people do?
//!
//! An own answer comes about in one of three ways, in shares of the worker's own: the truth, as far as
//! the others *and the LLM* tell it; what another person says of the task; or a guess. Each way gives
//! the LLM's label a probability, and a copier says it more often than any mix of them. Somebody who
//! knows more than the crowd agrees with a good LLM too, but only where it is right: where the others
//! are sure that it is wrong, the truth is not the LLM's label, and only copying gives it. How surely more is
//! copied than nothing is said by the ratio of likelihoods: a few answers that are rare for people have a large
//! score, but happen.

use super::LEAST_COPIED;
use super::dependence::Dependence;
use super::said::{Heard, Hearing, Said};
use crate::data::labels::{Label, LabelTable};

/// Share of the first way that is a guess by the shares of the crowd: the posterior of a few people is
/// surer than they are.
const DOUBT: f64 = 0.1;

/// Added to a probability that divides: no single task decides.
const BOUND: f64 = 0.1;

/// Tasks of each way that are added to a worker's own.
const PRIOR: [f64; 3] = [0.5, 1.0, 0.5];

/// Rounds in which the shares of the ways are fitted.
const ROUNDS: usize = 20;

/// Steps to the most probable share of copies, at most: the first ones double it.
const STEPS: usize = 40;

/// The answers of a worker where one sample of the LLM has a label of the crowd, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Copied {
    /// Such tasks.
    pub(super) tasks: usize,
    /// Of these, those in which the worker gives a label that the LLM has anywhere.
    pub(super) in_common: usize,
    /// Share of the answers that are copied beyond own answers: the score of that share at 0, over its
    /// information. 0 for a person like the others, 1 for somebody who always says it.
    pub(super) share: f64,
    /// Variance of it for somebody who copies nothing.
    pub(super) variance: f64,
    /// Twice the logarithm of how much more probable the answers are by the most probable share of copies than
    /// without; and those of somebody who copies all.
    pub(super) ratios: [f64; 2],
    /// Of what is left of the answers by the share copied.
    pub(super) dependence: Dependence,
}

impl Copied {
    /// The least share at which somebody may have copied so much: in any case surely half, by a standard error.
    pub(super) fn enough(&self, least: f64) -> f64 {
        least.max(LEAST_COPIED + self.variance.sqrt())
    }

    /// The same where the questions of a task count as so many times fewer.
    pub(super) fn of_fewer(self, effect: f64) -> Self {
        let ratios = self.ratios.map(|ratio| ratio / effect);
        Self { variance: effect * self.variance, ratios, ..self }
    }

    /// The share with its variance, and the same of somebody who copies all: so large that they are no more
    /// deviations above 0 than the root of the ratio.
    pub(super) fn apart(&self) -> [(f64, f64); 2] {
        [(self.share, self.ratios[0]), (1.0, self.ratios[1])].map(|(share, ratio)| {
            let is_above = share > 0.0 && ratio > 0.0;
            let least = if is_above { share.powi(2) / ratio } else { 0.0 };
            (share, self.variance.max(least))
        })
    }
}

/// One sample of an LLM.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    pub(super) labels: &'a [Option<Label>],
    /// How often it is right, by the crowd.
    pub(super) right: f64,
    /// By label whether it has it anywhere.
    has: Vec<bool>,
}

/// The answers of one worker.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// What the LLM says of each task of the worker.
    z: Vec<Option<Label>>,
    /// By each of the three ways how probable the worker's label is, and the LLM's; whether it is one.
    ways: Vec<([[f64; 3]; 2], bool)>,
    /// How probable the LLM's label was without a copy where the worker gave it.
    hits: Vec<f64>,
}

impl<'a> Sample<'a> {
    /// `None` if it has none of the labels of the crowd where two people answered.
    pub(super) fn new(
        table: &LabelTable,
        said: &Said,
        labels: &'a [Option<Label>],
    ) -> Option<Self> {
        let chance = 1.0 / table.label_count().max(2) as f64;
        let right = said.right_of(labels)?.clamp(chance, 0.98);
        let mut has = vec![false; table.label_count()];
        for label in labels.iter().flatten() {
            if let Some(has) = has.get_mut(usize::from(*label)) {
                *has = true;
            }
        }
        Some(Self { labels, right, has })
    }

    /// Probabilities of the worker's label and of the LLM's by each of the three ways.
    fn ways(&self, said: &Said, heard: Heard<'_>, z: Label) -> [[f64; 3]; 2] {
        let labels = said.shares.len() as f64;
        let wrong = (1.0 - self.right) / (labels - 1.0).max(1.0);
        let at_z = heard.probability(z);
        let all = at_z * self.right + (1.0 - at_z) * wrong;
        let way = |label: Label| {
            let share = said.shares[usize::from(label)];
            let known = if label == z {
                at_z * self.right / all
            } else {
                heard.probability(label) * wrong / all
            };
            let truth = (1.0 - DOUBT) * known + DOUBT * share;
            [truth, heard.person(label), 0.5 * share + 0.5 / labels]
        };
        let own = way(heard.own);
        [own, if z == heard.own { own } else { way(z) }]
    }

    /// What the answers of a worker say; `None` without a task that counts. The memory of `answers` is used
    /// again.
    pub(super) fn of_worker(
        &self,
        hearing: &mut Hearing<'_>,
        worker: u32,
        answers: &mut Answers,
    ) -> Option<Copied> {
        let said = hearing.said;
        let tasks = hearing.table.of_worker(worker).others;
        answers.z.clear();
        answers.z.extend(tasks.iter().map(|&task| self.labels[task as usize]));
        answers.ways.clear();
        let mut in_common = 0;
        hearing.of_worker(worker, |heard| {
            let z = answers.z[heard.place];
            if let Some(z) = z.filter(|z| usize::from(*z) < said.shares.len()) {
                answers.ways.push((self.ways(said, heard, z), heard.own == z));
                in_common += usize::from(self.has[usize::from(heard.own)]);
            }
        });
        let Answers { ways, hits, .. } = answers;
        let shares = shares(ways, said.questions);
        hits.clear();
        let (mut score, mut information, mut variance, mut all) = (0.0, 0.0, 0.0, 0.0);
        for ([_, at_z], hit) in &*ways {
            let p = dot(shares, *at_z);
            let bounded = p + BOUND;
            score += (f64::from(u8::from(*hit)) - p) / bounded;
            information += (1.0 - p) / bounded;
            variance += p * (1.0 - p) / (bounded * bounded);
            all -= 2.0 * p.ln();
            hits.extend(hit.then_some(p));
        }
        let share = score / information;
        let residuals = ways.iter().map(|([_, at_z], hit)| {
            let p = dot(shares, *at_z);
            (f64::from(u8::from(*hit)) - p - share * (1.0 - p)) / (p + BOUND)
        });
        (information > 1e-6).then(|| Copied {
            tasks: ways.len(),
            in_common,
            share,
            variance: variance / (information * information),
            ratios: [ratio(hits, (ways.len() - hits.len()) as f64), all],
            dependence: Dependence::of(said.questions, residuals),
        })
    }
}

/// The most probable shares of the three ways: the logarithm of the likelihood is concave, and EM climbs it.
fn shares(answers: &[([[f64; 3]; 2], bool)], questions: f64) -> [f64; 3] {
    let mut shares = [1.0 / 3.0; 3];
    let prior = PRIOR.map(|prior| questions * prior);
    let total = answers.len() as f64 + prior.iter().sum::<f64>();
    for _ in 0..ROUNDS {
        let mut sums = [0.0; 3];
        for ([own, _], _) in answers {
            let weight = 1.0 / dot(shares, *own);
            (0..3).for_each(|way| sums[way] += own[way] * weight);
        }
        shares = std::array::from_fn(|way| (prior[way] + shares[way] * sums[way]) / total);
    }
    shares
}

/// Twice the logarithm of the ratio of the likelihoods by the most probable share of copies and by none.
fn ratio(hits: &[f64], misses: f64) -> f64 {
    let mut share = if misses > 0.0 { 0.0 } else { 1.0 };
    for _ in 0..STEPS {
        // The slope times the share of own answers falls, and is convex: Newton's steps from below stay below.
        let (mut slope, mut fall) = (0.0, 0.0);
        for p in hits {
            let all = share + (1.0 - share) * p;
            slope += (1.0 - p) / all;
            fall += (1.0 - p) / (all * all);
        }
        let step = ((1.0 - share) * slope - misses) / fall;
        if step > 1e-9 * share {
            share += step;
        } else {
            break;
        }
    }
    let copies: f64 = hits.iter().map(|p| ((share + (1.0 - share) * p) / p).ln()).sum();
    let others = if misses > 0.0 { misses * (1.0 - share).ln() } else { 0.0 };
    2.0 * (copies + others)
}

fn dot(shares: [f64; 3], ways: [f64; 3]) -> f64 {
    shares[0] * ways[0] + shares[1] * ways[1] + shares[2] * ways[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_likelihoods_by_hand() {
        // Two hits that people have half of the time: all is copied, 2 ln (1 / (1/2)^2). With a miss beside them that
        // is as likely two of three are hits, one of three copied: (2/3)^2 (1/3) over (1/2)^3.
        assert!((ratio(&[0.5; 2], 0.0) - 4.0 * 2.0_f64.ln()).abs() < 1e-12);
        assert!((ratio(&[0.5; 2], 1.0) - 2.0 * (32.0_f64 / 27.0).ln()).abs() < 1e-12);
        // No more hits than people have, or none.
        assert_eq!([ratio(&[0.5], 1.0), ratio(&[], 3.0)].map(Some), [0.0; 2].map(Some));
        // A hit that is rare for people, among nine misses: a tenth are hits, by copies and by chance.
        let share: f64 = (0.1 - 1e-6) / (1.0 - 1e-6);
        let expected = 2.0 * (1e5_f64.ln() + 9.0 * (1.0 - share).ln());
        assert!((ratio(&[1e-6], 9.0) - expected).abs() < 1e-9);
    }

    #[test]
    fn a_share_is_no_more_deviations_above_nothing_than_its_ratio_says() {
        let copied = |share, own| Copied {
            tasks: 9,
            in_common: 9,
            share,
            variance: 0.01,
            ratios: [own, 4.0],
            dependence: Dependence::default(),
        };
        let variance = |share, own| Some(copied(share, own).apart()[0].1);
        // Five deviations, of which the ratio leaves two, or six: then these five. Below people nothing changes.
        assert_eq!([variance(0.5, 4.0), variance(0.5, 36.0)], [0.0625, 0.01].map(Some));
        assert_eq!([variance(-0.5, 0.0), variance(0.1, 0.0)], [0.01, 0.01].map(Some));
        assert_eq!(copied(0.5, 4.0).apart()[1], (1.0, 0.25));
    }
}
