mod naive;

use proptest::prelude::*;
use rand::RngExt;

use self::naive::Naive;
use super::*;
use crate::mechanism::fixtures::{numbered, small_tables, z_of};
use crate::stats::seed::stream;

type Labels = Vec<Option<Label>>;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

fn never_stopping(table: &LabelTable, sources: &[Labels], iterations: usize) -> CopyMixture {
    let sources: Vec<Vec<Labels>> = sources.iter().map(|z| vec![z.clone()]).collect();
    let settings = EmSettings { tolerance: -1.0, max_iterations: iterations };
    CopyMixture::new(&z_of(table, &sources).sources, settings)
}

/// Up to two sources for a small table, with gaps and a label that no worker has.
fn crowds() -> impl Strategy<Value = (LabelTable, Vec<Labels>)> {
    small_tables().prop_flat_map(|table| {
        let label = proptest::option::weighted(0.8, 0..=table.label_count() as Label);
        let source = proptest::collection::vec(label, table.task_count());
        (Just(table), proptest::collection::vec(source, 1..=2))
    })
}

proptest! {
    #[test]
    fn the_fit_equals_em_by_enumeration((table, sources) in crowds(), iterations in 1..5_usize) {
        let mut mixture = never_stopping(&table, &sources, iterations);
        mixture.starts.truncate(1);
        let fitted = mixture.fit(&table).unwrap().unwrap();
        let naive = Naive::run(&table, &sources, iterations);
        for (fast, slow) in fitted.fit.objective.iter().zip(&naive.objective) {
            prop_assert!(close(*fast, *slow), "objective {fast} {slow}");
        }
        for (fast, slow) in
            fitted.posteriors.probabilities.iter().zip(naive.posteriors.iter().flatten())
        {
            prop_assert!(close(*fast, *slow), "posterior {fast} {slow}");
        }
        for worker in 0..table.worker_count() {
            if table.of_worker(worker as u32).is_empty() {
                continue;
            }
            let shares = fitted.copied_shares(worker as u32);
            for (fast, slow) in shares.iter().zip(&naive.copying[worker]) {
                prop_assert!(close(*fast, *slow), "lambda {fast} {slow}");
            }
            let own = fitted.confusion(worker as u32);
            for (fast, slow) in own.iter().zip(naive.own[worker].iter().flatten()) {
                prop_assert!(close(*fast, *slow), "own {fast} {slow}");
            }
        }
    }

    #[test]
    fn the_log_posterior_never_decreases((table, sources) in crowds()) {
        let fitted = never_stopping(&table, &sources, 60).fit(&table).unwrap().unwrap();
        for step in fitted.fit.objective.windows(2) {
            prop_assert!(step[1] >= step[0] - 1e-9 * step[0].abs().max(1.0), "{step:?}");
        }
    }

    #[test]
    fn scores_are_finite_or_missing_without_z((table, sources) in crowds()) {
        let scores = never_stopping(&table, &sources, 20).score(&table).unwrap();
        for (worker, score) in (0..).zip(&scores.workers) {
            let covered = table
                .of_worker(worker)
                .others
                .iter()
                .filter(|&&task| sources.iter().any(|z| z[task as usize].is_some()))
                .count();
            prop_assert_eq!(score.n_z_tasks, Some(covered));
            prop_assert_eq!(score.estimate.is_some(), covered > 0);
            prop_assert_eq!(score.lambda.is_some(), covered > 0);
            if let (Some(estimate), Some(lambda)) = (score.estimate, score.lambda) {
                // A total variation between joint and product is below 2.
                prop_assert!((0.0..2.0).contains(&estimate.value));
                prop_assert!(lambda > 0.0 && lambda < 1.0);
            }
        }
    }
}

#[test]
fn known_shares_of_copies_are_recovered() {
    // 24 workers with λ = 0, 0.3, 0.6, 0.9 in turn answer 300 of 1200 tasks; K = 3, own
    // accuracy 0.7, the LLM is right in 60 %, copies equal Z in 95 %. Where Z is wrong, a
    // report equals Z with probability 0.95 λ + 0.15 (1 - λ), slope 0.8, so even from those
    // 120 tasks alone λ has a standard error of at most sqrt(1/4 / 120) / 0.8 = 0.057. No
    // worker is further off than 4 of these, and the mean error is at most one.
    let mut random = stream(3, "test", 0);
    let (tasks, workers) = (1200_u32, 24_u32);
    let mut z = Vec::new();
    let mut reports = Vec::new();
    let share = |worker: u32| 0.3 * f64::from(worker % 4);
    for task in 0..tasks {
        let truth: Label = random.random_range(0..3);
        let mut noisy = |label: Label, right: f64| {
            if random.random_bool(right) { label } else { (label + random.random_range(1..3)) % 3 }
        };
        let llm = noisy(truth, 0.6);
        z.push(Some(llm));
        for worker in (0..workers).filter(|worker| (worker + task) % 4 == 0) {
            // Workers of all shares meet: the remainder moves with the block of tasks.
            let worker = (worker + task / 4) % workers;
            let copies = noisy(0, 1.0 - share(worker)) != 0;
            let label = if copies { noisy(llm, 0.95) } else { noisy(truth, 0.7) };
            reports.push((task, worker, label));
        }
    }
    let table = numbered((tasks as usize, workers as usize, 3), &reports);
    let sources = z_of(&table, &[vec![z]]).sources;
    let fitted = CopyMixture::new(&sources, EmSettings::default()).fit(&table).unwrap().unwrap();
    let errors: Vec<f64> =
        (0..workers).map(|w| (fitted.copied_share(w) - share(w)).abs()).collect();
    assert!(errors.iter().all(|error| *error < 4.0 * 0.057), "{errors:?}");
    assert!(errors.iter().sum::<f64>() / f64::from(workers) < 0.057, "{errors:?}");
}

#[test]
fn several_sources_name_the_one_that_was_copied() {
    // Worker 0 copies the first LLM, worker 1 the second, the others answer alone.
    let mut random = stream(4, "test", 0);
    let mut sources = [Vec::new(), Vec::new()];
    let mut reports = Vec::new();
    for task in 0..400_u32 {
        let truth: Label = random.random_range(0..3);
        let mut noisy = |right: f64| {
            if random.random_bool(right) { truth } else { random.random_range(0..3) }
        };
        let llms = [noisy(0.5), noisy(0.5)];
        for (source, llm) in sources.iter_mut().zip(llms) {
            source.push(Some(llm));
        }
        reports.extend([(task, 0, llms[0]), (task, 1, llms[1])]);
        reports.extend((2..7).map(|worker| (task, worker, noisy(0.7))));
    }
    let table = numbered((400, 7, 3), &reports);
    let z = z_of(&table, &sources.map(|labels| vec![labels]));
    let mixture = CopyMixture::new(&z.sources, EmSettings::default());
    let fitted = mixture.fit(&table).unwrap().unwrap();
    assert!(fitted.copied_shares(0)[0] > 0.9 && fitted.copied_shares(1)[1] > 0.9);
    assert!((2..7).all(|worker| fitted.copied_share(worker) < 0.1));
    let scores = mixture.score(&table).unwrap();
    let value = |worker: usize| scores.workers[worker].estimate.unwrap().value;
    assert!((2..7).all(|own| value(own) > value(0) && value(own) > value(1)));
}

#[test]
fn degenerate_crowds_have_scores_or_none_but_never_nan() {
    let one = numbered((1, 1, 1), &[(0, 0, 0)]);
    let empty = numbered((2, 1, 1), &[]);
    let pair = numbered((2, 2, 2), &[(0, 0, 0), (1, 1, 1)]);
    // The unseen label, no overlap with the answered task, no source at all.
    let cases: [(&LabelTable, Vec<Labels>, usize); 6] = [
        (&one, vec![vec![Some(0)]], 1),
        (&one, vec![vec![Some(7)]], 1),
        (&one, vec![vec![None]], 0),
        (&one, vec![], 0),
        (&empty, vec![vec![Some(0), None]], 0),
        (&pair, vec![vec![Some(1), None]], 1),
    ];
    for (table, sources, scored) in &cases {
        let scores = never_stopping(table, sources, 10).score(table).unwrap();
        let values: Vec<f64> =
            scores.workers.iter().filter_map(|w| w.estimate.map(|e| e.value)).collect();
        assert_eq!(values.len(), *scored);
        assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
        let probabilities = scores.posteriors.map_or(Vec::new(), |p| p.probabilities);
        assert!(probabilities.iter().all(|p| p.is_finite()), "{probabilities:?}");
    }
}

#[test]
fn z_of_another_table_is_refused() {
    let table = numbered((2, 1, 1), &[(0, 0, 0)]);
    let mixture = never_stopping(&table, &[vec![Some(0)]], 1);
    assert_eq!(
        mixture.score(&table).unwrap_err(),
        MechanismError::TaskCount { z_tasks: 1, tasks: 2 }
    );
}

#[test]
fn threads_and_resampling_do_not_change_a_bit() {
    let reports: Vec<(u32, u32, Label)> = (0..12_000_u32)
        .map(|r| (r / 4, (r * 7 + r / 31) % 97, ((r * r / 5 + r / 4) % 3) as Label))
        .collect();
    let table = numbered((3000, 97, 3), &reports);
    let z: Labels = (0..3000_u16).map(|q| (q % 5 > 0).then_some(q % 3)).collect();
    let mixture = never_stopping(&table, &[z], 20);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mixture.score(&table).unwrap())
    };
    assert_eq!(on(1), on(3));
    let all: Vec<u32> = (0..3000).collect();
    assert_eq!(mixture.on_tasks(&all).score(&table.on_tasks(&all)).unwrap(), on(1));
}

/// AUC of `ds_z` and whether it warns that it takes the LLM for the truth.
fn told_apart(table: &LabelTable, z: &Labels, copies: &[bool]) -> (f64, bool) {
    let sources = z_of(table, &[vec![z.clone()]]).sources;
    let scores = CopyMixture::new(&sources, EmSettings::default()).score(table).unwrap();
    let items: Vec<(Option<f64>, bool)> = scores
        .workers
        .iter()
        .zip(copies)
        .map(|(score, copies)| (score.estimate.map(|e| e.value), !copies))
        .collect();
    let warned = scores.warnings.iter().any(|warning| warning.code == "llm_is_truth");
    (crate::metrics::auc::auc(&items).unwrap(), warned)
}

/// 40 workers of accuracy .8 on 300 tasks, five each; the first `copiers` hand in Z, which is
/// right in .75.
fn copied_crowd(copiers: u32, classes: Label, seed: u64) -> (LabelTable, Labels, Vec<bool>) {
    let mut random = stream(seed, "test", 0);
    let (mut reports, mut z) = (Vec::new(), Vec::new());
    for task in 0..300_u32 {
        let truth: Label = random.random_range(0..classes);
        let mut noisy = |right: f64| {
            if random.random_bool(right) {
                truth
            } else {
                (truth + random.random_range(1..classes)) % classes
            }
        };
        let llm = noisy(0.75);
        z.push(Some(llm));
        for worker in (0..5).map(|slot| (task * 7 + slot * 8 + task / 40) % 40) {
            let own = noisy(0.8);
            reports.push((task, worker, if worker < copiers { llm } else { own }));
        }
    }
    let copies = (0..40).map(|worker| worker < copiers).collect();
    (numbered((300, 40, usize::from(classes)), &reports), z, copies)
}

#[test]
fn forty_percent_copies_are_told_apart() {
    for seed in 0..5 {
        let (table, z, copies) = copied_crowd(16, 2, seed);
        let (auc, warned) = told_apart(&table, &z, &copies);
        eprintln!("ds_z with 40 % copies: AUC {auc:.3}, warned {warned}");
        assert!(auc >= 0.95 && !warned, "{auc} {warned}");
    }
}

#[test]
fn a_crowd_in_which_nearly_all_copy_is_warned_of() {
    let (table, z, copies) = copied_crowd(34, 2, 1);
    let (auc, warned) = told_apart(&table, &z, &copies);
    eprintln!("ds_z with 85 % copies: AUC {auc:.3}, warned {warned}");
    assert!(warned);
}

#[test]
fn the_best_of_the_starts_is_kept() {
    let (table, z, _) = copied_crowd(18, 3, 2);
    let sources = z_of(&table, &[vec![z]]).sources;
    let all = CopyMixture::new(&sources, EmSettings::default());
    let last = |mixture: &CopyMixture| {
        *mixture.fit(&table).unwrap().unwrap().fit.objective.last().unwrap()
    };
    let each: Vec<f64> = (0..STARTS.len())
        .map(|start| last(&CopyMixture { starts: vec![STARTS[start]], ..all.clone() }))
        .collect();
    let best = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!((last(&all) - best).abs() < 1e-12, "{each:?}");
}

#[test]
#[ignore = "needs ../shared/data"]
fn verbatim_copies_of_a_public_crowd_are_told_apart_or_warned_of() {
    let (table, samples) = crate::mechanism::fixtures::crowd_with_samples("labels-cebab");
    let workers = table.worker_count();
    for copiers in [2, 3, 4, 5] {
        let mut sum = 0.0;
        for (trial, z) in samples.iter().enumerate() {
            let chosen: Vec<usize> = (0..copiers).map(|c| (3 * c + trial) % workers).collect();
            let reports: Vec<(u32, u32, Label)> = table
                .reports()
                .map(|r| {
                    let copies = chosen.contains(&(r.worker as usize));
                    let z = z[r.task as usize].filter(|_| copies);
                    (r.task, r.worker, z.unwrap_or(r.label))
                })
                .collect();
            let size = (table.task_count(), workers, table.label_count());
            let copies: Vec<bool> = (0..workers).map(|w| chosen.contains(&w)).collect();
            let (auc, warned) = told_apart(&numbered(size, &reports), z, &copies);
            eprintln!("cebab, {copiers} of {workers} copy, trial {trial}: {auc:.3} {warned}");
            assert!(auc >= 0.97 || warned, "{copiers} copy, trial {trial}: {auc}");
            sum += auc;
        }
        let mean = sum / samples.len() as f64;
        eprintln!("cebab, {copiers} of {workers} copy: mean AUC {mean:.3}");
        // With one half copying, two of the six LLMs win over the people: nothing in the labels
        // says which half is which.
        assert!(mean >= 0.97 || copiers == 5, "{copiers}: {mean}");
    }
}

#[test]
fn too_many_labels_are_refused_with_the_size() {
    // Few reports of 50,000 labels: the matrices of the crowd and of the LLM alone are 2 * 8 K^2
    // bytes, 37 GiB.
    let classes = 50_000;
    let reports: Vec<(u32, u32, Label)> =
        (0..50_000).map(|row| (row % 10, row / 10, row as Label)).collect();
    let table = numbered((10, 5000, classes), &reports);
    let z: Vec<Labels> = vec![(0..10).map(Some).collect()];
    let error = never_stopping(&table, &z, 1).fit(&table).unwrap_err();
    assert!(matches!(error, MechanismError::TooLarge { gibibytes: 38.., .. }), "{error}");
}
