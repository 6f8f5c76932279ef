//! Uncertainty of `ca_z` on simulated crowds whose distribution is known: do 95 % intervals cover
//! the expected score, and how often is a worker called informative who is not?

#![expect(clippy::cast_possible_truncation, reason = "the numbers are small and known here")]

use caz::for_tests::{
    Conditioning, CorrelatedAgreement, CorrelatedAgreementOptions, FALSE_DISCOVERY_RATE,
    FlagSettings, Label, LabelNames, LabelReport, LabelTable, Mechanism, flags, stream,
};
use caz::{Estimate, Flag};
use rand::RngExt;
use rayon::prelude::*;

const LABELS: usize = 3;
/// Distribution of the truth, and accuracy of Z; errors of Z are spread evenly.
const PRIOR: [f64; LABELS] = [0.5, 0.3, 0.2];
const Z_ACCURACY: f64 = 0.7;

/// A worker reports the truth with this probability, copies Z with that one, else guesses by the
/// prior.
#[derive(Clone, Copy)]
struct Worker {
    truth: f64,
    copy: f64,
}

impl Worker {
    /// P(report | truth, Z).
    fn reports(self, truth: usize, z: usize) -> [f64; LABELS] {
        let mut probabilities = PRIOR.map(|prior| prior * (1.0 - self.truth - self.copy));
        probabilities[truth] += self.truth;
        probabilities[z] += self.copy;
        probabilities
    }
}

fn z_given(truth: usize) -> [f64; LABELS] {
    let mut probabilities = [(1.0 - Z_ACCURACY) / (LABELS as f64 - 1.0); LABELS];
    probabilities[truth] = Z_ACCURACY;
    probabilities
}

fn draw(random: &mut impl RngExt, probabilities: &[f64]) -> usize {
    let mut rest = random.random::<f64>();
    for (index, probability) in probabilities.iter().enumerate() {
        rest -= probability;
        if rest < 0.0 {
            return index;
        }
    }
    probabilities.len() - 1
}

struct Crowd<'a> {
    workers: &'a [Worker],
    tasks: u32,
    per_task: usize,
}

impl Crowd<'_> {
    /// A simulated table and its Z.
    fn simulate(&self, seed: u64, trial: u64) -> (LabelTable, Vec<Option<Label>>) {
        let mut random = stream(seed, "coverage", trial);
        let mut names = LabelNames::default();
        (0..self.tasks).for_each(|task| _ = names.tasks.intern(&format!("q{task}")));
        (0..self.workers.len()).for_each(|worker| _ = names.workers.intern(&format!("w{worker}")));
        (0..LABELS).for_each(|label| _ = names.labels.intern(&format!("l{label}")));
        let (mut reports, mut z) = (Vec::new(), Vec::new());
        for task in 0..self.tasks {
            let truth = draw(&mut random, &PRIOR);
            let z_label = draw(&mut random, &z_given(truth));
            z.push(Some(z_label as Label));
            let chosen = rand::seq::index::sample(&mut random, self.workers.len(), self.per_task);
            for worker in chosen {
                let probabilities = self.workers[worker].reports(truth, z_label);
                let label = draw(&mut random, &probabilities) as Label;
                reports.push(LabelReport { task, worker: worker as u32, label });
            }
        }
        (LabelTable::new(names, &reports), z)
    }

    /// Expected exact score of worker `i`, from the distribution itself: T from the true D of a
    /// random pair, peers equally likely, weights the true P(Z).
    fn expected(&self, i: usize) -> f64 {
        let peers = self.workers.len() as f64 - 1.0;
        (0..LABELS)
            .map(|z| {
                // P(Z = z, truth = y) and the weight of the stratum.
                let joint: Vec<f64> = (0..LABELS).map(|y| PRIOR[y] * z_given(y)[z]).collect();
                let weight: f64 = joint.iter().sum();
                // P(i says h and j says l | z), and both alone.
                let pair = |i: usize, j: usize, h: usize, l: usize| -> f64 {
                    (0..LABELS)
                        .map(|y| {
                            let both =
                                self.workers[i].reports(y, z)[h] * self.workers[j].reports(y, z)[l];
                            joint[y] / weight * both
                        })
                        .sum()
                };
                let single = |i: usize, h: usize| -> f64 {
                    (0..LABELS).map(|y| joint[y] / weight * self.workers[i].reports(y, z)[h]).sum()
                };
                let n = self.workers.len();
                let pairs: Vec<(usize, usize)> = (0..n)
                    .flat_map(|a| (0..n).filter(move |&b| b != a).map(move |b| (a, b)))
                    .collect();
                let mut score = 0.0;
                for h in 0..LABELS {
                    for l in 0..LABELS {
                        let mean = |f: &dyn Fn(usize, usize) -> f64| {
                            pairs.iter().map(|&(a, b)| f(a, b)).sum::<f64>() / pairs.len() as f64
                        };
                        let together = mean(&|a, b| pair(a, b, h, l));
                        let apart = mean(&|a, _| single(a, h)) * mean(&|_, b| single(b, l));
                        if together - apart > 1e-12 {
                            let gain = |j: usize| pair(i, j, h, l) - single(i, h) * single(j, l);
                            let others = (0..n).filter(|&j| j != i);
                            score += others.map(gain).sum::<f64>() / peers;
                        }
                    }
                }
                weight * score
            })
            .sum()
    }
}

fn estimates(table: &LabelTable, z: Vec<Option<Label>>) -> Vec<(Option<Estimate>, usize)> {
    let options = CorrelatedAgreementOptions::default();
    let mechanism = CorrelatedAgreement::new(Conditioning::on(z), options);
    let scores = mechanism.score(table).expect("Z is for this table");
    scores.workers.iter().map(|score| (score.estimate, score.n_used)).collect()
}

#[test]
fn intervals_cover_the_expected_score() {
    let workers: Vec<Worker> = (0..20)
        .map(|index| Worker { truth: 0.3 + 0.025 * f64::from(index), copy: 0.1 })
        .chain([Worker { truth: 0.0, copy: 1.0 }, Worker { truth: 0.0, copy: 0.0 }])
        .collect();
    for (tasks, per_task) in [(300, 5), (1_500, 3)] {
        let crowd = Crowd { workers: &workers, tasks, per_task };
        let expected: Vec<f64> = (0..workers.len()).map(|i| crowd.expected(i)).collect();
        let trials = 200;
        let covered: Vec<(usize, usize)> = (0..trials)
            .into_par_iter()
            .map(|trial| {
                let (table, z) = crowd.simulate(17, trial);
                let intervals = estimates(&table, z);
                let intervals = intervals.iter().map(|(e, _)| e.and_then(|e| e.interval()));
                let covered = intervals.zip(&expected).filter_map(|(interval, expected)| {
                    interval.map(|(low, high)| (low..=high).contains(expected))
                });
                covered.fold((0, 0), |(hits, all), hit| (hits + usize::from(hit), all + 1))
            })
            .collect();
        let (hits, all) = covered.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let coverage = hits as f64 / all as f64;
        eprintln!("coverage with {tasks} tasks, {per_task} labels each: {coverage:.4} of {all}");
        assert!((0.90..=0.98).contains(&coverage), "{tasks} tasks: {coverage}");
    }
}

#[test]
fn a_null_crowd_is_rarely_called_informative() {
    // Everybody copies Z or guesses: independent given Z.
    let workers: Vec<Worker> =
        (0..30).map(|index| Worker { truth: 0.0, copy: f64::from(index) / 30.0 }).collect();
    let crowd = Crowd { workers: &workers, tasks: 400, per_task: 5 };
    let settings =
        FlagSettings { false_discovery_rate: FALSE_DISCOVERY_RATE, margin: None, min_count: 10 };
    let trials = 300;
    let shares: Vec<f64> = (0..trials)
        .into_par_iter()
        .map(|trial| {
            let (table, z) = crowd.simulate(23, trial);
            let people = estimates(&table, z);
            let flags = flags(&people, &settings);
            let informative = flags.iter().filter(|&&flag| flag == Flag::Informative).count();
            informative as f64 / flags.len() as f64
        })
        .collect();
    let share = Estimate::of_mean(&shares).expect("there are trials");
    let error = share.standard_error.expect("there are many trials");
    eprintln!("informative in a null crowd: {:.4} ± {error:.4}", share.value);
    assert!(share.value <= 0.05 + 2.0 * error, "{}", share.value);
}

/// A crowd of 20 workers with `labels` labels, in fixed teams of five or with five random workers
/// on each task; every worker has about `tasks` tasks.
fn twenty_workers(
    fixed: bool,
    tasks: u32,
    labels: u16,
    trial: u64,
) -> (LabelTable, Vec<Option<Label>>) {
    let mut random = stream(31, "coverage of teams", trial);
    let mut names = LabelNames::default();
    (0..4 * tasks).for_each(|task| _ = names.tasks.intern(&format!("q{task}")));
    (0..20).for_each(|worker| _ = names.workers.intern(&format!("w{worker}")));
    (0..labels).for_each(|label| _ = names.labels.intern(&format!("l{label}")));
    let (mut reports, mut z) = (Vec::new(), Vec::new());
    for task in 0..4 * tasks {
        let truth = random.random_range(0..labels);
        let noisy = |random: &mut _, right: f64| {
            let random: &mut rand_chacha::ChaCha8Rng = random;
            if random.random_bool(right) { truth } else { random.random_range(0..labels) }
        };
        let llm = noisy(&mut random, 0.7);
        z.push(Some(llm));
        let team: Vec<usize> = if fixed {
            (0..5).map(|slot| (task / tasks) as usize * 5 + slot).collect()
        } else {
            rand::seq::index::sample(&mut random, 20, 5).into_vec()
        };
        for worker in team {
            let own = noisy(&mut random, 0.5 + 0.02 * worker as f64);
            let label = if random.random_bool(0.1) { llm } else { own };
            reports.push(LabelReport { task, worker: worker as u32, label });
        }
    }
    (LabelTable::new(names, &reports), z)
}

/// The target is the mean score over all crowds, since T is estimated anew in each.
#[test]
fn intervals_cover_for_fixed_teams_and_random_peers() {
    let mut bad = Vec::new();
    for fixed in [true, false] {
        for (tasks, trials) in [(20, 1000), (50, 200), (200, 100)] {
            for labels in [2, 4] {
                let all: Vec<Vec<(Option<Estimate>, usize)>> = (0..trials)
                    .into_par_iter()
                    .map(|trial| {
                        let (table, z) = twenty_workers(fixed, tasks, labels, trial);
                        estimates(&table, z)
                    })
                    .collect();
                let (mut hits, mut count) = (0, 0);
                for worker in 0..20 {
                    let of_worker = || all.iter().filter_map(|trial| trial[worker].0);
                    let mean =
                        of_worker().map(|e| e.value).sum::<f64>() / of_worker().count() as f64;
                    for (low, high) in of_worker().filter_map(|e| e.interval()) {
                        count += 1;
                        hits += usize::from((low..=high).contains(&mean));
                    }
                }
                let coverage = hits as f64 / f64::from(count);
                let design = if fixed { "fixed teams" } else { "random peers" };
                eprintln!(
                    "{design}, {tasks} tasks each, {labels} labels: {coverage:.3} of {count}"
                );
                if !(0.93..=0.97).contains(&coverage) {
                    bad.push((design, tasks, labels, coverage));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}
