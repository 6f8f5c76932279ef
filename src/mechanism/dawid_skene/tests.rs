use proptest::prelude::*;

use super::super::fixtures::{numbered, real_crowd, small_tables};
use super::*;
use crate::data::labels::Label;
use crate::data::labels::tests::table;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

fn never_stopping(iterations: usize) -> DawidSkene {
    DawidSkene { settings: EmSettings { tolerance: -1.0, max_iterations: iterations } }
}

/// EM by its definition: dense matrices, products of probabilities, no logarithm but the last.
struct Naive {
    posteriors: Vec<Vec<f64>>,
    objective: Vec<f64>,
}

fn naive(table: &LabelTable, iterations: usize) -> Naive {
    let (tasks, classes) = (table.task_count(), table.label_count());
    let reports: Vec<_> = table.reports().collect();
    let on = |task: usize| reports.iter().filter(move |r| r.task as usize == task);
    let answered: Vec<usize> = (0..tasks).filter(|&task| on(task).count() > 0).collect();
    let mut posteriors = vec![vec![0.0; classes]; tasks];
    for report in &reports {
        posteriors[report.task as usize][usize::from(report.label)] +=
            1.0 / on(report.task as usize).count() as f64;
    }
    let mut objective = Vec::new();
    for _ in 0..iterations {
        let prior: Vec<f64> = (0..classes)
            .map(|h| {
                answered.iter().map(|&q| posteriors[q][h]).sum::<f64>() / answered.len() as f64
            })
            .collect();
        let confusion = |worker: u32, h: usize, label: Label| {
            let own = reports.iter().filter(|r| r.worker == worker);
            let total: f64 = own.clone().map(|r| posteriors[r.task as usize][h]).sum();
            let part: f64 =
                own.filter(|r| r.label == label).map(|r| posteriors[r.task as usize][h]).sum();
            if total > 0.0 { part / total } else { 1.0 / classes as f64 }
        };
        let mut next = posteriors.clone();
        let mut log_likelihood = 0.0;
        for (task, row) in next.iter_mut().enumerate() {
            for (h, entry) in row.iter_mut().enumerate() {
                *entry =
                    on(task).map(|r| confusion(r.worker, h, r.label)).product::<f64>() * prior[h];
            }
            let total: f64 = row.iter().sum();
            for entry in row.iter_mut() {
                *entry /= total;
            }
            log_likelihood += total.ln();
        }
        posteriors = next;
        objective.push(log_likelihood);
    }
    Naive { posteriors, objective }
}

proptest! {
    #[test]
    fn the_fit_equals_em_by_its_definition(table in small_tables(), iterations in 1..5_usize) {
        let fitted = never_stopping(iterations).fit(&table).unwrap().unwrap();
        let naive = naive(&table, iterations);
        for (fast, slow) in fitted.fit.objective.iter().zip(&naive.objective) {
            prop_assert!(close(*fast, *slow), "{fast} {slow}");
        }
        for (fast, slow) in
            fitted.posteriors.probabilities.iter().zip(naive.posteriors.iter().flatten())
        {
            prop_assert!(close(*fast, *slow), "{fast} {slow}");
        }
    }

    #[test]
    fn the_log_likelihood_never_decreases(table in small_tables()) {
        let fitted = never_stopping(60).fit(&table).unwrap().unwrap();
        for step in fitted.fit.objective.windows(2) {
            prop_assert!(step[1] >= step[0] - 1e-9 * step[0].abs().max(1.0), "{step:?}");
        }
    }

    #[test]
    fn scores_are_probabilities_and_agree_with_the_confusion_matrix(table in small_tables()) {
        let fitted = DawidSkene::default().fit(&table).unwrap().unwrap();
        let scores = DawidSkene::default().score(&table).unwrap();
        let shares = label_shares(&table);
        for (worker, score) in (0..).zip(&scores.workers) {
            let Some(matrix) = fitted.confusion(worker) else {
                prop_assert_eq!(score.estimate, None);
                continue;
            };
            let classes = table.label_count();
            for row in matrix.chunks_exact(classes) {
                prop_assert!(close(row.iter().sum(), 1.0));
            }
            let expected: f64 = (0..classes).map(|h| matrix[h * classes + h] * shares[h]).sum();
            prop_assert!(close(score.estimate.unwrap().value, expected));
        }
    }
}

#[test]
fn a_crowd_whose_labels_are_all_explained_stands_still() {
    // Everybody has one label: from the second iteration on all posteriors are alike and every label
    // has probability 1, so that the log-likelihood is 0 and its relative gain rounding alone.
    let rows = [(0, 0, 0), (0, 2, 1), (1, 0, 0), (2, 1, 0), (3, 1, 0)];
    let settings = EmSettings { max_iterations: 3, ..EmSettings::default() };
    let scores = DawidSkene { settings }.score(&numbered((4, 3, 2), &rows)).unwrap();
    let fit = scores.fit.unwrap();
    assert!(fit.converged && fit.objective.len() == 3, "{fit:?}");
    assert!(fit.objective[1].abs() < 1e-12 && fit.objective[2].abs() < 1e-12, "{fit:?}");
}

#[test]
fn a_fixed_point_by_hand() {
    // Task 0: a and b say 0. Task 1: a says 0, b says 1. Votes: T = (1, 0), (1/2, 1/2), so
    // prior (3/4, 1/4), Γ^a rows (1, 0), (1, 0), Γ^b rows (2/3, 1/3), (0, 1). Task 0 has
    // weights 3/4 · 2/3 = 1/2 and 0, task 1 has 3/4 · 1/3 = 1/4 and 1/4: the same posteriors,
    // each task with likelihood 1/2. Scores with P = (3/4, 1/4): a 3/4, b 2/3 · 3/4 + 1/4.
    let table = numbered((2, 2, 2), &[(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)]);
    let scores = DawidSkene::default().score(&table).unwrap();
    let fit = scores.fit.unwrap();
    assert!(fit.converged && fit.objective.len() == 2, "{fit:?}");
    assert!(close(fit.objective[1], 2.0 * 0.5_f64.ln()));
    assert!(close(scores.posteriors.unwrap().of_task(1)[0], 0.5));
    for worker in &scores.workers {
        assert!(close(worker.estimate.unwrap().value, 0.75), "{worker:?}");
    }
}

#[test]
fn degenerate_crowds_have_scores_or_none_but_never_nan() {
    let crowds = [
        numbered((0, 0, 0), &[]),
        numbered((3, 2, 2), &[]),
        numbered((1, 1, 1), &[(0, 0, 0)]),
        numbered((3, 1, 2), &[(0, 0, 0), (1, 0, 1), (2, 0, 0)]),
        numbered((1, 3, 2), &[(0, 0, 0), (0, 1, 1), (0, 2, 0)]),
        numbered((4, 4, 2), &[(0, 0, 0), (1, 1, 1), (2, 2, 0)]),
    ];
    for table in &crowds {
        let scores = DawidSkene::default().score(table).unwrap();
        for (worker, score) in (0..).zip(&scores.workers) {
            let answered = !table.of_worker(worker).is_empty();
            assert_eq!(score.estimate.is_some(), answered);
            assert!(score.estimate.is_none_or(|estimate| (0.0..=1.0).contains(&estimate.value)));
        }
        let posteriors = scores.posteriors.map_or(Vec::new(), |p| p.probabilities);
        assert!(posteriors.iter().all(|p| (0.0..=1.0).contains(p)), "{posteriors:?}");
    }
}

#[test]
fn running_out_of_iterations_is_said() {
    let table = numbered((2, 2, 2), &[(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
    let hurried =
        DawidSkene { settings: EmSettings { max_iterations: 1, ..EmSettings::default() } };
    let scores = hurried.score(&table).unwrap();
    assert_eq!(scores.warnings[0].code, "not_converged");
    assert!(DawidSkene::default().score(&table).unwrap().warnings.is_empty());
}

#[test]
fn threads_do_not_change_a_bit() {
    // More tasks than fit in one piece of the E-step.
    let reports: Vec<(u32, u32, Label)> = (0..12_000_u32)
        .map(|r| (r / 4, (r * 7 + r / 31) % 97, ((r * r / 5 + r / 4) % 3) as Label))
        .collect();
    let table = numbered((3000, 97, 3), &reports);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| DawidSkene::default().score(&table).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn too_many_classes_are_refused_before_the_work() {
    // 65,535 classes for each of 20,000 tasks: 65,535 · 20,000 · 8 bytes = 9.8 GiB.
    let reports: Vec<(u32, u32, Label)> = (0..20_000).map(|task| (task, 0, 0)).collect();
    let table = numbered((20_000, 1, 65_535), &reports);
    let error = DawidSkene::default().fit(&table).unwrap_err();
    assert!(matches!(error, MechanismError::TooLarge { .. }), "{error}");
}

#[test]
#[ignore = "needs the real crowds in ../shared/data"]
fn real_crowds_reach_the_known_accuracies() {
    let known = [
        ("labels-product", 0.940, 0.003),
        ("labels-bluebird", 0.898, 0.003),
        ("labels-rte", 0.928, 0.003),
        ("labels-dog", 0.843, 0.010),
    ];
    for (folder, expected, tolerance) in known {
        let (table, truth) = real_crowd(folder);
        let fitted = DawidSkene::default().fit(&table).unwrap().unwrap();
        let known: Vec<(u32, usize)> = (0..)
            .zip(&truth)
            .filter_map(|(task, truth)| Some((task, usize::from((*truth)?))))
            .collect();
        let right = known.iter().filter(|&&(task, truth)| {
            let posterior = fitted.posteriors.of_task(task);
            posterior.iter().all(|p| *p <= posterior[truth])
        });
        let accuracy = right.count() as f64 / known.len() as f64;
        eprintln!("{folder}: {accuracy:.4} after {} iterations", fitted.fit.objective.len());
        assert!((accuracy - expected).abs() <= tolerance, "{folder}: {accuracy}");
        assert!(fitted.fit.converged, "{folder}");
    }
}

#[test]
fn three_who_agree_are_right() {
    // Three workers agree on two tasks: they are always right about the classes they met.
    let reports = ["a", "b", "c"].map(|worker| [("q", worker, "yes"), ("r", worker, "no")]);
    let scores = DawidSkene::default().score(&table(&reports.concat())).unwrap();
    assert_eq!(scores.workers[0].estimate.map(|estimate| estimate.value), Some(1.0));
}
