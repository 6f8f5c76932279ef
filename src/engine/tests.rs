use super::naive::Naive;
use super::*;
use crate::data::labels::Label;
use crate::data::z::{ZSample, ZSource};
use crate::data::{LabelRow, Labels};
use crate::mechanism::tests::{Crowd as LabelledCrowd, assert_close, random_crowd, values};
use crate::mechanism::{
    CorrelatedAgreementOptions, EmSettings, LearnFrom, MechanismOptions, build,
};
use proptest::prelude::*;

/// Names of the tasks, workers and labels of a crowd as rows; labels that only Z has get a name.
fn naive(crowd: &LabelledCrowd, sources: &[ZSource]) -> Naive {
    let table = &crowd.table;
    let label = |label: Label| format!("l{label}");
    let labels = table
        .reports()
        .map(|report| {
            let task = table.tasks().name(report.task).to_owned();
            let worker = table.workers().name(report.worker).to_owned();
            (task, worker, label(report.label))
        })
        .collect();
    let z = sources
        .iter()
        .flat_map(|source| {
            let tasks = table.tasks().names().iter().zip(source.conditioning());
            tasks.filter_map(|(task, z)| Some((source.name.clone(), task.clone(), label(z?))))
        })
        .collect();
    let sources = sources.iter().map(|source| source.name.clone()).collect();
    Naive { labels, z, sources, ..Naive::default() }
}

fn source(name: &str, labels: Vec<Option<Label>>) -> ZSource {
    ZSource { name: name.into(), samples: vec![ZSample { name: String::new(), labels }] }
}

proptest! {
    // Following the definitions takes its time.
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The engine knows only workers with a label, the table all of them.
    #[test]
    fn scores_of_the_plan_are_those_of_the_local_mechanisms(
        crowd in random_crowd(),
        shift in 0..3_u16,
    ) {
        let mut second = crowd.z.clone();
        second.rotate_left(1);
        for label in second.iter_mut().flatten() {
            *label = (*label + shift) % 4;
        }
        let sources = [source("a", crowd.z.clone()), source("b", second)];
        let options = MechanismOptions {
            correlated_agreement: CorrelatedAgreementOptions {
                learn_from: LearnFrom::All,
                ..CorrelatedAgreementOptions::default()
            },
            ..MechanismOptions::default()
        };
        let table = &crowd.table;
        let present: Vec<usize> = (0..table.worker_count())
            .filter(|&worker| !table.of_worker(u32::try_from(worker).unwrap()).is_empty())
            .collect();
        for name in PLANNED.into_iter().filter(|name| !name.is_fitted()) {
            let mechanism = build(name, &sources, &options).unwrap();
            let local = mechanism.score(table).unwrap();
            let mut engine = naive(&crowd, &sources);
            let people = engine.crowd().unwrap();
            let planned = score(&mut engine, &people, name, &options).unwrap();
            prop_assert_eq!(planned.zero_is_chance, mechanism.zero_is_chance());
            let all = values(&local);
            let of_present: Vec<Option<f64>> = present.iter().map(|&worker| all[worker]).collect();
            // `oa` divides by the number of workers, of which the engine knows fewer.
            let scale = match name {
                MechanismName::Oa | MechanismName::OaZ => {
                    table.worker_count() as f64 / present.len() as f64
                }
                _ => 1.0,
            };
            let of_present: Vec<Option<f64>> =
                of_present.iter().map(|value| value.map(|value| value * scale)).collect();
            assert_close(&values(&planned.scores), &of_present, 1e-12);
            for (&worker, got) in present.iter().zip(&planned.scores.workers) {
                let want = &local.workers[worker];
                prop_assert_eq!(got.n_tasks, want.n_tasks);
                if name == MechanismName::NegZ {
                    let error = |score: &crate::mechanism::WorkerScore| {
                        score.estimate.and_then(|estimate| estimate.standard_error)
                    };
                    assert_close(&[error(got)], &[error(want)], 1e-12);
                }
                // Of several LLMs the counts are those of the one with the lowest score, of equal
                // ones the first: sums that differ in the last digit may choose another.
                if !name.needs_z() {
                    prop_assert_eq!((got.n_used, got.n_z_tasks), (want.n_used, want.n_z_tasks));
                }
            }
        }
    }

    #[test]
    fn counts_of_one_llm_are_those_of_the_local_mechanisms(crowd in random_crowd()) {
        let sources = [source("a", crowd.z.clone())];
        let mut options = MechanismOptions::default();
        options.correlated_agreement.learn_from = LearnFrom::All;
        for name in PLANNED.into_iter().filter(|name| !name.is_fitted()) {
            let local = build(name, &sources, &options).unwrap().score(&crowd.table).unwrap();
            let mut engine = naive(&crowd, &sources);
            let people = engine.crowd().unwrap();
            let planned = score(&mut engine, &people, name, &options).unwrap();
            let counts = |scores: &crate::mechanism::Scores| -> Vec<_> {
                let workers = scores.workers.iter().filter(|score| score.n_tasks > 0);
                workers.map(|score| (score.n_tasks, score.n_z_tasks, score.n_used)).collect()
            };
            prop_assert_eq!(counts(&planned.scores), counts(&local), "{}", name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A table of its own: an engine knows no tasks and labels without a row.
    #[test]
    fn dawid_skene_of_the_plan_is_that_of_the_local_mechanism(
        rows in proptest::collection::btree_map((0..6_u8, 0..4_u8), 0..3_u8, 1..24),
        max_iterations in 1..8_usize,
    ) {
        let texts = rows.iter().map(|((task, worker), label)| {
            (format!("t{task}"), format!("w{worker}"), format!("l{label}"))
        });
        let labels: Vec<_> = texts.collect();
        let local = labels.iter().map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let local = Labels::from_rows(local, []).unwrap();
        let em = EmSettings { max_iterations, ..EmSettings::default() };
        let options = MechanismOptions { em, ..MechanismOptions::default() };
        let wanted = build(MechanismName::Ds, &[], &options).unwrap().score(&local.table).unwrap();
        let mut engine = Naive { labels, ..Naive::default() };
        let crowd = engine.crowd().unwrap();
        let got = score(&mut engine, &crowd, MechanismName::Ds, &options).unwrap();
        assert_close(&values(&got.scores), &values(&wanted), 1e-10);
        prop_assert!(!got.zero_is_chance);
        let (got, wanted) = (got.scores, wanted);
        prop_assert_eq!(&got.warnings, &wanted.warnings);
        prop_assert_eq!(got.fit.unwrap().converged, wanted.fit.unwrap().converged);
        for (got, wanted) in got.workers.iter().zip(&wanted.workers) {
            prop_assert_eq!((got.n_tasks, got.n_used), (wanted.n_tasks, wanted.n_used));
            prop_assert_eq!(got.n_z_tasks, wanted.n_z_tasks);
        }
    }
}

#[test]
fn what_has_no_plan_or_too_many_pairs_is_refused() {
    let labels = (0..100).map(|worker| ("q".into(), format!("w{worker:02}"), "x".into())).collect();
    let mut engine = Naive { labels, ..Naive::default() };
    let crowd = engine.crowd().unwrap();
    let options = MechanismOptions::default();
    let mut message = |name| score(&mut engine, &crowd, name, &options).unwrap_err().to_string();
    assert_eq!(
        message(MechanismName::Own),
        "own has no plan for an engine; there are: ca_z, ca, oa, oa_z, ds, neg_z"
    );
    // A cluster without a folder keeps nothing between iterations.
    let mut cluster = Naive { forgets: true, ..Naive::default() };
    let error = score(&mut cluster, &crowd, MechanismName::Ds, &options).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    let wanted = "ds goes on from what it has counted, which a cluster keeps only in a folder";
    assert!(error.to_string().starts_with(wanted), "{error}");
    // 100 labels make 100 * 99 pairs.
    assert_eq!(
        message(MechanismName::Oa),
        "oa compares every two labels of a task: 9900 pairs, more than 64 for each of 100 labels"
    );
}
