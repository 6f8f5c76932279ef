use std::collections::BTreeMap;

use super::naive::Naive;
use super::*;
use caz::for_caz_sql::{EmSettings, MechanismOptions, Scores, WorkerScore, build};
use caz::{LabelRow, Labels, LearnFrom, ZLabelRow};
use proptest::prelude::*;

pub(crate) fn values(scores: &Scores) -> Vec<Option<f64>> {
    scores.workers.iter().map(|score| score.estimate.map(|e| e.value)).collect()
}

#[track_caller]
pub(crate) fn assert_close(got: &[Option<f64>], want: &[Option<f64>], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (worker, pair) in got.iter().zip(want).enumerate() {
        match pair {
            (None, None) => {}
            (Some(a), Some(b)) if (a - b).abs() <= tolerance => {}
            _ => panic!("worker {worker}: got {:?}, want {:?}", pair.0, pair.1),
        }
    }
}

/// The same rows in an engine and in memory.
#[derive(Debug)]
struct BothWays {
    /// Task, worker, label.
    labels: Vec<(String, String, String)>,
    /// Source, task, label.
    z: Vec<(String, String, String)>,
    local: Labels,
}

impl BothWays {
    fn new(labels: Vec<(String, String, String)>, z: Vec<(String, String, String)>) -> Self {
        let rows = labels.iter().map(|(task, worker, label)| LabelRow::new(task, worker, label));
        let of_llm = z.iter().map(|(source, task, label)| {
            let mut row = ZLabelRow::new(task, label);
            row.source = Some(source.clone());
            row
        });
        let local = Labels::from_rows(rows, of_llm).unwrap();
        Self { labels, z, local }
    }

    fn naive(&self) -> Naive {
        let sources = self.local.z.sources.iter().map(|source| source.name.clone()).collect();
        Naive { labels: self.labels.clone(), z: self.z.clone(), sources, ..Naive::default() }
    }
}

/// Up to 5 workers, 8 tasks and 4 labels of which every one may be missing, and what the LLMs of these names say of
/// some tasks: also of those that nobody labels, and what nobody says.
fn crowd(sources: &'static [&'static str]) -> impl Strategy<Value = BothWays> {
    use proptest::collection::btree_map;
    let labels = btree_map((0..8_u8, 0..5_u8), 0..4_u8, 1..32);
    let z = btree_map((0..sources.len(), 0..8_u8), 0..5_u8, 1..8 * sources.len());
    (labels, z).prop_map(|(labels, z): (BTreeMap<_, _>, BTreeMap<_, _>)| {
        let label = |label| format!("l{label}");
        let labels = (labels.into_iter())
            .map(|((task, worker), of)| (format!("q{task}"), format!("w{worker}"), label(of)));
        let z = (z.into_iter()).map(|((source, task), of)| {
            (sources[source].to_owned(), format!("q{task}"), label(of))
        });
        BothWays::new(labels.collect(), z.collect())
    })
}

/// Engines learn from all labels.
fn options() -> MechanismOptions {
    let mut options = MechanismOptions::default();
    options.correlated_agreement.learn_from = LearnFrom::All;
    options
}

proptest! {
    // Following the definitions takes its time.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scores_of_the_plan_are_those_of_the_local_mechanisms(crowd in crowd(&["a", "b"])) {
        for name in PLANNED.into_iter().filter(|name| !name.is_fitted()) {
            let mut engine = crowd.naive();
            let people = engine.crowd().unwrap();
            let mechanism = build(name, &crowd.local.z.sources, &options()).unwrap();
            let local = mechanism.score(&crowd.local.table).unwrap();
            let planned = score(&mut engine, &people, name, &options()).unwrap();
            prop_assert_eq!(planned.zero_is_chance, mechanism.zero_is_chance());
            assert_close(&values(&planned.scores), &values(&local), 1e-12);
            for (got, want) in planned.scores.workers.iter().zip(&local.workers) {
                prop_assert_eq!(got.n_tasks, want.n_tasks);
                if name == MechanismName::NegZ {
                    let error = |score: &WorkerScore| {
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
    fn counts_of_one_llm_are_those_of_the_local_mechanisms(crowd in crowd(&["a"])) {
        for name in PLANNED.into_iter().filter(|name| !name.is_fitted()) {
            let mut engine = crowd.naive();
            let people = engine.crowd().unwrap();
            let mechanism = build(name, &crowd.local.z.sources, &options()).unwrap();
            let local = mechanism.score(&crowd.local.table).unwrap();
            let planned = score(&mut engine, &people, name, &options()).unwrap();
            let counts = |scores: &Scores| -> Vec<_> {
                let counts = |score: &WorkerScore| (score.n_tasks, score.n_z_tasks, score.n_used);
                scores.workers.iter().map(counts).collect()
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
        let labels = texts.collect();
        let crowd = BothWays::new(labels, Vec::new());
        let local = &crowd.local;
        let em = EmSettings { max_iterations, ..EmSettings::default() };
        let options = MechanismOptions { em, ..MechanismOptions::default() };
        let wanted = build(MechanismName::Ds, &[], &options).unwrap().score(&local.table).unwrap();
        let mut engine = crowd.naive();
        let people = engine.crowd().unwrap();
        let got = score(&mut engine, &people, MechanismName::Ds, &options).unwrap();
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
    assert_eq!(error.kind(), ErrorKind::Usage);
    let wanted = "ds goes on from what it has counted, which a cluster keeps only in a folder";
    assert!(error.to_string().starts_with(wanted), "{error}");
    // 100 labels make 100 * 99 pairs.
    assert_eq!(
        message(MechanismName::Oa),
        "oa compares every two labels of a task: 9900 pairs, more than 64 for each of 100 labels"
    );
}
