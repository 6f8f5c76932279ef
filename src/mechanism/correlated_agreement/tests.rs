#![expect(clippy::cast_possible_truncation, reason = "tables of tests are small")]

use std::collections::BTreeMap;

use super::super::tests::{Crowd, assert_close, random_crowd, shuffled, values};
use super::*;
use crate::data::labels::tests::table;
use crate::data::labels::{Label, LabelNames, LabelReport};
use crate::mechanism::options::LearnFrom;
use crate::mechanism::sampled_agreement::PeerDraws;
use crate::mechanism::scoring_function::{GivenScore, GivenScores, ScoringFunction};
use crate::stats::seed::stream;
use proptest::prelude::*;
use rand::RngExt;

fn ca_z(z: &[Option<Label>]) -> CorrelatedAgreement {
    CorrelatedAgreement::new(Conditioning::on(z.to_vec()), CorrelatedAgreementOptions::default())
}

/// The reports of all but one worker.
fn without(table: &LabelTable, worker: u32) -> LabelTable {
    let reports: Vec<LabelReport> = table.reports().filter(|r| r.worker != worker).collect();
    let (tasks, workers) = (table.task_count(), table.worker_count());
    let names = LabelNames {
        tasks: crate::mechanism::fixtures::numbers(tasks),
        workers: crate::mechanism::fixtures::numbers(workers),
        labels: table.labels().clone(),
    };
    LabelTable::new(names, &reports)
}

/// The definition in methods.md, one sum per symbol: the exact score and its tasks' terms.
fn by_definition(
    table: &LabelTable,
    z: &[Option<Label>],
    learn_from: LearnFrom,
) -> Vec<Option<(f64, usize)>> {
    let label = |task: u32, worker: u32| {
        table.of_task(task).iter().find(|&(other, _)| other == worker).map(|(_, label)| label)
    };
    let workers = 0..table.worker_count() as u32;
    let tasks: Vec<u32> =
        (0..table.task_count() as u32).filter(|&q| !table.of_task(q).is_empty()).collect();
    let covered = tasks.iter().filter(|&&q| z[q as usize].is_some()).count() as f64;
    let mut strata: BTreeMap<Label, Vec<u32>> = BTreeMap::new();
    for &q in &tasks {
        if let Some(k) = z[q as usize] {
            strata.entry(k).or_default().push(q);
        }
    }
    // T of all reports of `table`: NaN without a task that two workers answered.
    let scoring = |table: &LabelTable, tasks: &[u32], h: Label, l: Label| -> f64 {
        let tasks: Vec<u32> =
            tasks.iter().copied().filter(|&q| table.of_task(q).len() >= 2).collect();
        if tasks.is_empty() {
            return f64::NAN;
        }
        let mean = |f: &dyn Fn(&[Label]) -> f64| {
            tasks.iter().map(|&q| f(table.of_task(q).labels)).sum::<f64>() / tasks.len() as f64
        };
        let share = |labels: &[Label], h: Label| {
            labels.iter().filter(|&&x| x == h).count() as f64 / labels.len() as f64
        };
        let pairs = |labels: &[Label]| {
            let mut hits = 0.0;
            for (i, &a) in labels.iter().enumerate() {
                for (j, &b) in labels.iter().enumerate() {
                    hits += f64::from(i != j && a == h && b == l);
                }
            }
            hits / (labels.len() * (labels.len() - 1)) as f64
        };
        let single = |h: Label| mean(&|labels| share(labels, h));
        f64::from(mean(&pairs) - single(h) * single(l) > 1e-12)
    };
    workers
        .clone()
        .map(|i| {
            let (mut score, mut used) = (0.0, 0);
            let learned = match learn_from {
                LearnFrom::All => table.clone(),
                LearnFrom::Others => without(table, i),
            };
            let scoring = |tasks: &[u32], h, l| scoring(&learned, tasks, h, l);
            for stratum in strata.values() {
                if scoring(stratum, 0, 0).is_nan() {
                    continue;
                }
                let mut terms = Vec::new();
                for &q in stratum {
                    let Some(x) = label(q, i) else { continue };
                    let mut over_peers = Vec::new();
                    for j in workers.clone().filter(|&j| j != i) {
                        let Some(y) = label(q, j) else { continue };
                        let penalties: Vec<f64> = stratum
                            .iter()
                            .filter(|&&other| other != q)
                            .filter_map(|&other| label(other, j))
                            .map(|y| scoring(stratum, x, y))
                            .collect();
                        if !penalties.is_empty() {
                            let penalty = penalties.iter().sum::<f64>() / penalties.len() as f64;
                            over_peers.push(scoring(stratum, x, y) - penalty);
                        }
                    }
                    if !over_peers.is_empty() {
                        terms.push(over_peers.iter().sum::<f64>() / over_peers.len() as f64);
                    }
                }
                if !terms.is_empty() {
                    let weight = stratum.len() as f64 / covered;
                    score += weight * terms.iter().sum::<f64>() / terms.len() as f64;
                    used += terms.len();
                }
            }
            (used > 0).then_some((score, used))
        })
        .collect()
}

/// The example of docs/methods.md: 3 workers, 4 tasks, 2 labels, all Z the same.
fn example() -> LabelTable {
    let labels = [("a", "xyxy"), ("b", "xyxx"), ("c", "xxyy")];
    let mut reports = Vec::new();
    let tasks = ["q1", "q2", "q3", "q4"];
    for (position, task) in tasks.iter().enumerate() {
        for (worker, labels) in labels {
            reports.push((*task, worker, &labels[position..=position]));
        }
    }
    table(&reports)
}

#[test]
fn the_example_of_the_documentation_by_hand() {
    // Counts of (x, y): 3 0, 1 2, 2 1, 1 2. P(x) = 7/12. P(x,x) = (1 + 0 + 1/3 + 0) / 4 = 1/3
    // < 49/144 = 0.3403; P(y,y) = (0 + 1/3 + 0 + 1/3) / 4 = 1/6 = 0.1667 < 25/144 = 0.1736;
    // P(x,y) = (0 + 1/3 + 1/3 + 1/3) / 4 = 1/4 > 35/144 = 0.2431. So T pays disagreement.
    // See docs/methods.md for the terms, worked out there with the scoring function identity.
    let identity = GivenScores::new(
        (0..2).map(|h| GivenScore { label: h, peer_label: h, z: None, value: 1.0 }).collect(),
    );
    let options = CorrelatedAgreementOptions {
        scoring_function: ScoringFunction::Given(identity),
        ..CorrelatedAgreementOptions::default()
    };
    let z = vec![Some(0), Some(1), Some(0), Some(1)];
    let mechanism = CorrelatedAgreement::new(Conditioning::on(z), options);
    let scores = mechanism.score(&example()).unwrap();
    // Strata {q1, q3} and {q2, q4}, each of weight 1/2, each worker has two tasks in each.
    // Stratum 1: a xx, b xx, c xy. Stratum 2: a yy, b yx, c xy.
    // a: q1 against b 1-1, c 1-0 -> 1/2; q3 against b 1-1, c 0-1 -> -1/2; mean 0.
    //    q2 against b 1-0, c 0-1 -> 0; q4 against b 0-1, c 1-0 -> 0; mean 0. Score 0.
    // b: as a in stratum 1: 0. q2 (y): a 1-1, c 0-1 -> -1/2; q4 (x): a 0-0, c 0-1 -> -1/2;
    //    mean -1/2. Score -1/4.
    // c: q1 (x): a 1-1, b 1-1 -> 0; q3 (y): a 0-0, b 0-0 -> 0; mean 0.
    //    q2 (x): a 0-0, b 0-1 -> -1/2; q4 (y): a 1-1, b 0-1 -> -1/2; mean -1/2. Score -1/4.
    let expected = [Some(0.0), Some(-0.25), Some(-0.25)];
    assert_close(&values(&scores), &expected, 1e-15);
    // a, stratum 1: terms 1/2 and -1/2. As a penalty task of c, whose labels x, y are worth 1 and 0
    // to a's x, q1 takes away (1 - 1/2) / 2 = 1/4 from the mean and q3 adds it: 1/2 - 2/4 = 0 in
    // all, as it must be, since labels that never differ cannot score. Stratum 2: 0. So se = 0.
    let estimate = scores.workers[0].estimate.unwrap();
    assert!(estimate.standard_error.unwrap().abs() < 1e-15);
    assert!((estimate.degrees_of_freedom - 2.0).abs() < 1e-15);
}

proptest! {
    #[test]
    fn linear_time_scores_equal_the_definition(crowd in random_crowd()) {
        let Crowd { table, z } = &crowd;
        for learn_from in [LearnFrom::Others, LearnFrom::All] {
            let options =
                CorrelatedAgreementOptions { learn_from, ..CorrelatedAgreementOptions::default() };
            let mechanism = CorrelatedAgreement::new(Conditioning::on(z.clone()), options);
            let scores = mechanism.score(table).unwrap();
            let expected = by_definition(table, z, learn_from);
            let wanted: Vec<Option<f64>> = expected.iter().map(|e| e.map(|e| e.0)).collect();
            assert_close(&values(&scores), &wanted, 1e-12);
            for (score, expected) in scores.workers.iter().zip(&expected) {
                prop_assert_eq!(score.n_used, expected.map_or(0, |e| e.1));
            }
        }
    }

    #[test]
    fn a_table_per_stratum_changes_no_score(crowd in random_crowd(), given: bool, all: bool) {
        let Crowd { table, z } = &crowd;
        let function = if given {
            let entry = |label, peer_label, z, value| GivenScore { label, peer_label, z, value };
            ScoringFunction::Given(GivenScores::new(vec![
                entry(0, 1, None, 0.5),
                entry(1, 1, None, 1.0),
                entry(1, 0, Some(1), 0.25),
            ]))
        } else {
            ScoringFunction::Estimated
        };
        let learn_from = if all { LearnFrom::All } else { LearnFrom::Others };
        let options = CorrelatedAgreementOptions {
            scoring_function: function,
            learn_from,
            ..CorrelatedAgreementOptions::default()
        };
        for conditioning in [Conditioning::on(z.clone()), Conditioning::Nothing] {
            let strata = conditioning.strata(table);
            let mechanism = CorrelatedAgreement::new(conditioning, options.clone());
            let estimates = |sums: Vec<StratifiedMean>| -> Vec<_> {
                sums.iter().map(|sum| (sum.estimate(), sum.tasks())).collect()
            };
            let together = estimates(mechanism.sums(table, &strata));
            prop_assert_eq!(estimates(mechanism.sums_apart(table, &strata).unwrap()), together);
        }
    }

    #[test]
    fn a_constant_z_is_no_z(crowd in random_crowd()) {
        let constant = vec![Some(3); crowd.table.task_count()];
        let plain = CorrelatedAgreement::default().score(&crowd.table).unwrap();
        let conditioned = ca_z(&constant).score(&crowd.table).unwrap();
        assert_close(&values(&plain), &values(&conditioned), 0.0);
    }

    #[test]
    fn scores_follow_a_permutation_of_workers_tasks_and_labels(crowd in random_crowd(), seed: u64) {
        let scores = values(&ca_z(&crowd.z).score(&crowd.table).unwrap());
        let (permuted, workers) = shuffled(&crowd, seed);
        let again = values(&ca_z(&permuted.z).score(&permuted.table).unwrap());
        let back: Vec<Option<f64>> =
            workers.iter().map(|&worker| again[worker as usize]).collect();
        assert_close(&back, &scores, 1e-9);
    }

    #[test]
    fn resampling_all_tasks_once_changes_nothing(crowd in random_crowd()) {
        let all: Vec<u32> = (0..crowd.table.task_count() as u32).collect();
        let mechanism = ca_z(&crowd.z);
        let again = mechanism.on_tasks(&all).score(&crowd.table.on_tasks(&all)).unwrap();
        assert_close(&values(&again), &values(&mechanism.score(&crowd.table).unwrap()), 0.0);
    }
}

#[test]
fn sampled_scores_converge_to_the_exact_ones() {
    // 40000 draws of terms within [-1, 1]: a standard error below 0.005 per task.
    let crowd = super::super::tests::seeded_crowd(6, 30, 3, 7);
    let of_all = CorrelatedAgreementOptions {
        learn_from: LearnFrom::All,
        ..CorrelatedAgreementOptions::default()
    };
    let exact = CorrelatedAgreement::new(Conditioning::on(crowd.z.clone()), of_all);
    let exact = values(&exact.score(&crowd.table).unwrap());
    let options = CorrelatedAgreementOptions {
        sampling: Some(PeerDraws { draws: 40_000, printed: false, seed: 1 }),
        ..CorrelatedAgreementOptions::default()
    };
    let sampled = CorrelatedAgreement::new(Conditioning::on(crowd.z.clone()), options)
        .score(&crowd.table)
        .unwrap();
    assert!(exact.iter().flatten().any(|score| score.abs() > 0.05), "{exact:?}");
    assert_close(&values(&sampled), &exact, 0.02);
}

#[test]
fn the_algorithm_as_printed_by_hand() {
    // The example of the documentation: everybody has two tasks in either stratum, so that the terms are
    // half of ours: 0, -1/8, -1/8 in place of 0, -1/4, -1/4. d has one task, whose only penalty is itself:
    // with T the identity 0, and as a peer of the others a term of 0.
    let crowd = table(&[
        ("q1", "a", "x"),
        ("q1", "b", "x"),
        ("q1", "c", "x"),
        ("q3", "a", "x"),
        ("q3", "b", "x"),
        ("q3", "c", "y"),
        ("q2", "a", "y"),
        ("q2", "b", "y"),
        ("q2", "c", "x"),
        ("q4", "a", "y"),
        ("q4", "b", "x"),
        ("q4", "c", "y"),
        ("q5", "d", "x"),
        ("q5", "e", "x"),
    ]);
    let z = [Some(0), Some(0), Some(1), Some(1), Some(1)];
    let same = |label| GivenScore { label, peer_label: label, z: None, value: 1.0 };
    let identity = GivenScores::new((0..2).map(same).collect());
    let score = |printed| {
        let options = CorrelatedAgreementOptions {
            scoring_function: ScoringFunction::Given(identity.clone()),
            sampling: Some(PeerDraws { draws: 40_000, printed, seed: 1 }),
            ..CorrelatedAgreementOptions::default()
        };
        let mechanism = CorrelatedAgreement::new(Conditioning::on(z.to_vec()), options);
        values(&mechanism.score(&crowd).unwrap())
    };
    // P(Z = x) = 2/5, P(Z = y) = 3/5: b is 3/5 * -1/2, as printed half of it.
    let ours = [Some(0.0), Some(-0.3), Some(-0.3), None, None];
    assert_close(&score(false), &ours, 0.01);
    assert_close(&score(true), &[Some(0.0), Some(-0.15), Some(-0.15), Some(0.0), Some(0.0)], 0.01);
}

#[test]
fn a_pair_that_only_the_worker_makes_is_no_agreement() {
    // q, r: a and b say x, y; c says u on q, v on r. By all reports (u, x) and (v, y) meet more often
    // than by chance, so c earns: on q T(u,x) = 1 from a and b, who say y on r, T(u,y) = 0: 1. By the
    // reports of a and b nothing is known of u and v: 0. a by b and c: pairs (x, u) and (y, v) alone,
    // 1/4 each way > 1/16: T(x,x) = 0, T(x,u) = 1. On q b's x less b's y on r: 0, c's u less c's v: 1,
    // mean 1/2. By all: 1 from each.
    let crowd = table(&[
        ("q", "a", "x"),
        ("q", "b", "x"),
        ("q", "c", "u"),
        ("r", "a", "y"),
        ("r", "b", "y"),
        ("r", "c", "v"),
    ]);
    let score = |learn_from| {
        let options =
            CorrelatedAgreementOptions { learn_from, ..CorrelatedAgreementOptions::default() };
        values(&CorrelatedAgreement::new(Conditioning::Nothing, options).score(&crowd).unwrap())
    };
    assert_close(&score(LearnFrom::All), &[Some(1.0); 3], 1e-15);
    assert_close(&score(LearnFrom::Others), &[Some(0.5), Some(0.5), Some(0.0)], 1e-15);
    // Without c nobody else answers with b: nothing to learn a's T from.
    let pair = without(&crowd, 2);
    let alone = CorrelatedAgreement::default().score(&pair).unwrap();
    assert_eq!(values(&alone), [None; 3]);
    assert_eq!(alone.workers[0].n_used, 0);
}

#[test]
fn twenty_labels_and_a_tenth_who_guess() {
    // 50 workers right with .5 to .9, 5 of them guess; 20 labels, 40 tasks each, 5 labels a task; the
    // LLM is right with .7.
    let (mut learned, mut of_all) = (0.0, 0.0);
    for trial in 0..20 {
        let mut random = stream(29, "guessers", trial);
        let (mut reports, mut z) = (Vec::new(), Vec::new());
        for task in 0..400_u32 {
            let truth = random.random_range(0..20_u16);
            let llm = random.random_bool(0.7);
            z.push(Some(if llm { truth } else { random.random_range(0..20) }));
            for worker in rand::seq::index::sample(&mut random, 50, 5) {
                let skill = 0.5 + 0.4 * worker as f64 / 49.0;
                let right = worker % 10 != 0 && random.random_bool(skill);
                let label = if right { truth } else { random.random_range(0..20) };
                reports.push((task, worker as u32, label));
            }
        }
        let table = crate::mechanism::fixtures::numbered((400, 50, 20), &reports);
        let auc = |learn_from| {
            let options =
                CorrelatedAgreementOptions { learn_from, ..CorrelatedAgreementOptions::default() };
            let mechanism = CorrelatedAgreement::new(Conditioning::on(z.clone()), options);
            let scores = values(&mechanism.score(&table).unwrap());
            let (mut above, mut pairs) = (0.0, 0.0);
            for (good, a) in scores.iter().enumerate().filter(|(w, _)| w % 10 != 0) {
                for b in scores.iter().step_by(10) {
                    let (a, b) = (a.unwrap(), b.unwrap());
                    above += if a > b {
                        1.0
                    } else if a < b {
                        0.0
                    } else {
                        0.5
                    };
                    pairs += 1.0;
                    assert!(good % 10 != 0);
                }
            }
            above / pairs / 20.0
        };
        learned += auc(LearnFrom::Others);
        of_all += auc(LearnFrom::All);
    }
    eprintln!("guessers among 20 labels: AUC {learned:.3}, T from all {of_all:.3}");
    assert!(learned >= 0.95, "{learned}");
    assert!(of_all < learned - 0.05, "{of_all}");
}

#[test]
fn three_hundred_classes_score_as_defined() {
    let names: Vec<String> = (0..300).map(|class| format!("class {class}")).collect();
    let mut state = 17_u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let tasks: Vec<String> = (0..320).map(|task| format!("q{task}")).collect();
    let mut reports = Vec::new();
    for (task, name) in tasks.iter().enumerate() {
        // Every class is the truth of a task.
        let truth = task % names.len();
        for worker in ["a", "b", "c", "d"] {
            let label = if draw(4) > 0 { truth } else { draw(300) as usize };
            reports.push((name.as_str(), worker, names[label].as_str()));
        }
    }
    let table = table(&reports);
    assert_eq!(table.label_count(), 300);
    let z: Vec<Option<Label>> =
        (0..tasks.len()).map(|task| (task % 7 > 0).then_some((task % 90) as Label)).collect();
    let scores = values(&ca_z(&z).score(&table).unwrap());
    let wanted: Vec<Option<f64>> =
        by_definition(&table, &z, LearnFrom::Others).into_iter().map(|e| e.map(|e| e.0)).collect();
    assert!(wanted.iter().all(|score| score.is_some_and(|score| score > 0.0)), "{wanted:?}");
    assert_close(&scores, &wanted, 1e-9);
}

#[test]
fn free_text_taken_for_labels_is_refused_before_the_work_starts() {
    let names: Vec<String> = (0..30_000).map(|n| format!("text {n}")).collect();
    let reports: Vec<(&str, &str, &str)> =
        names.iter().map(|name| (name.as_str(), "a", name.as_str())).collect();
    // 2 * 8 * 30000^2 bytes are 14 GiB.
    let error = CorrelatedAgreement::default().score(&table(&reports)).unwrap_err();
    assert!(matches!(error, MechanismError::TooLarge { gibibytes: 14, .. }), "{error}");
}

#[test]
fn z_for_another_table_is_an_error() {
    let error = ca_z(&[Some(0)]).score(&example()).unwrap_err();
    assert_eq!(error, MechanismError::TaskCount { z_tasks: 1, tasks: 4 });
}

#[test]
fn thousands_of_labels_cost_what_each_stratum_has() {
    // 5,000 labels, as many strata: a matrix of all labels for each would take minutes.
    let classes = 5000_u32;
    let names: Vec<String> = (0..classes).map(|label| format!("l{label:04}")).collect();
    let tasks: Vec<String> = (0..2 * classes).map(|task| format!("q{task:05}")).collect();
    let workers: Vec<String> = (0..40).map(|worker| format!("w{worker:02}")).collect();
    let mut rows = Vec::new();
    for (task, name) in tasks.iter().enumerate() {
        for place in 0..3 {
            let worker = (task / 2 + 7 * place) % workers.len();
            let label = (task / 2 + usize::from(place == 2) * (1 + task % 2)) % names.len();
            rows.push((name.as_str(), workers[worker].as_str(), names[label].as_str()));
        }
    }
    let table = table(&rows);
    assert_eq!(table.label_count(), classes as usize);
    let z: Vec<Option<Label>> = (0..2 * classes).map(|task| Some((task / 2) as Label)).collect();
    let scores = ca_z(&z).score(&table).unwrap();
    assert!(values(&scores).iter().all(Option::is_some));
}
