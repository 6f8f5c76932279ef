use super::*;
use crate::data::labels::{LabelNames, LabelReport};
use crate::data::progress::NoProgress;
use crate::data::z::ZSample;

/// A crowd with sources `(name, samples)`.
struct World {
    table: LabelTable,
    z: ZLabels,
}

/// Four people answer each task. `honest` LLM samples depend on the truth only through the
/// first sample of their own LLM (hypotheses 1 and 2 hold for it); an `oracle` LLM sees the
/// truth by itself each time.
fn world(tasks: u32, seed: u64, sources: &[(&str, usize, bool)]) -> World {
    let mut random = stream(seed, "test", 0);
    let mut reports = Vec::new();
    let mut answers: Vec<Vec<Vec<Option<Label>>>> =
        sources.iter().map(|(_, samples, _)| vec![Vec::new(); *samples]).collect();
    for task in 0..tasks {
        let truth: Label = random.random_range(0..2);
        let mut noisy = |label: Label, right: f64| {
            if random.random_bool(right) { label } else { 1 - label }
        };
        for worker in 0..4 {
            reports.push(LabelReport { task, worker, label: noisy(truth, 0.85) });
        }
        for ((_, _, oracle), samples) in sources.iter().zip(&mut answers) {
            let core = noisy(truth, 0.7);
            for (index, sample) in samples.iter_mut().enumerate() {
                let label = match (oracle, index) {
                    (true, _) => noisy(truth, 0.95),
                    (false, 0) => core,
                    (false, _) => noisy(core, 0.9),
                };
                sample.push(Some(label));
            }
        }
    }
    let mut names = LabelNames::default();
    (0..tasks).for_each(|task| _ = names.tasks.intern(&task.to_string()));
    (0..4).for_each(|worker| _ = names.workers.intern(&worker.to_string()));
    (0..2).for_each(|label| _ = names.labels.intern(&label.to_string()));
    let labels = names.labels.clone();
    let sources = sources
        .iter()
        .zip(answers)
        .map(|((name, _, _), samples)| ZSource {
            name: (*name).into(),
            samples: samples
                .into_iter()
                .map(|labels| ZSample { name: String::new(), labels })
                .collect(),
        })
        .collect();
    World { table: LabelTable::new(names, &reports), z: ZLabels { sources, labels } }
}

fn check(world: &World, settings: &AssumptionSettings) -> Vec<SourceCheck> {
    check_assumptions(&world.table, &world.z, settings, &NoProgress)
}

const QUICK: AssumptionSettings = AssumptionSettings { permutations: 50, replicates: 200, seed: 1 };

#[test]
fn hypotheses_hold_for_copies_and_fail_for_an_llm_that_sees_the_truth() {
    let world = world(1500, 1, &[("copied", 3, false), ("oracle", 3, true)]);
    let checks = check(&world, &QUICK);
    // People share |P(x, x') - P(x) P(x')| about 4 · (0.7 · 0.7)² / 4 given nothing; the LLM
    // takes a part of it away, but not most.
    let copied = &checks[0];
    assert!(copied.humans.excess().unwrap() > 0.2, "{:?}", copied.humans);
    let same = &copied.cheaters[0];
    let verdicts =
        |check: &CheaterCheck| [&check.human, &check.llm].map(|c| (c.about_zero, c.below_humans));
    assert_eq!(verdicts(same), [(Verdict::Holds, Verdict::Holds); 2]);
    // The oracle shares the truth with people, beyond what the weak LLM says.
    let oracle = &copied.cheaters[1];
    assert_eq!(oracle.human.about_zero, Verdict::Fails);
    assert_eq!(oracle.human.below_humans, Verdict::Fails);
    // One cheater still copies Z, so two cheaters share nothing.
    assert_eq!(oracle.llm.about_zero, Verdict::Holds);
}

#[test]
fn the_best_source_has_the_best_worst_case_among_those_that_can_be_checked() {
    // Given the oracle, people share little and its samples nothing less; given the copied
    // LLM, a cheater with the oracle is the worst case of all. With copied LLMs only, the
    // single-sample one is out although its seen cases are fine.
    let world = world(1500, 2, &[("single", 1, false), ("double", 2, false)]);
    let checks = check(&world, &QUICK);
    assert_eq!(best_source(&checks).unwrap().z, "double");
    assert!(!checks[0].is_complete());
    assert_eq!(checks[0].cheaters[0].human.about_zero, Verdict::NeedsSamples);
    assert_eq!(checks[0].cheaters[1].llm.below_humans, Verdict::NeedsSamples);
    assert!(checks[0].cheaters[1].human.measured.value.is_some());
    // Two samples serve hypothesis 1 but not two cheaters besides Z.
    assert_eq!(checks[1].cheaters[1].human.about_zero, Verdict::Holds);
    assert_eq!(checks[1].cheaters[1].llm.about_zero, Verdict::NeedsSamples);
    let (_, worst) = checks[1].worst_case().unwrap();
    let all = checks[1].cheaters.iter().flat_map(|c| [&c.human, &c.llm]);
    for other in all.filter_map(|comparison| comparison.excess_difference) {
        assert!(worst.excess_difference.unwrap() <= other);
    }
}

#[test]
fn intervals_cover_zero_where_nothing_is_shared() {
    // Hypothesis 1 is exactly true for a copied LLM: 100 small worlds, nominal 95 %. The number
    // of misses is binomial; more than 12 has probability below 0.002 at 5 %.
    let settings = AssumptionSettings { permutations: 40, replicates: 100, seed: 5 };
    let misses = (0..100)
        .filter(|&seed| {
            let checks = check(&world(120, seed, &[("copied", 2, false)]), &settings);
            let (low, high) = checks[0].cheaters[0].human.measured.interval.unwrap();
            low > 0.0 || high < 0.0
        })
        .count();
    eprintln!("{misses} of 100 intervals miss 0");
    assert!(misses <= 12, "{misses}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let world = world(60, 3, &[("a", 2, false), ("b", 1, true)]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| check(&world, &QUICK))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn degenerate_input_has_no_numbers_and_no_verdicts() {
    // No tasks at all; Z that covers nothing; one task; no source.
    let mut nothing = world(0, 1, &[("a", 2, false)]);
    let checks = check(&nothing, &QUICK);
    assert_eq!(checks[0].humans, Measured::default());
    assert_eq!(checks[0].cheaters[0].human.about_zero, Verdict::TooFewTasks);
    assert!(best_source(&checks).is_none());
    nothing.z.sources.clear();
    assert!(check(&nothing, &QUICK).is_empty());

    let mut uncovered = world(5, 1, &[("a", 3, false)]);
    uncovered.z.sources[0].samples[0].labels = vec![None; 5];
    let checks = check(&uncovered, &QUICK);
    assert_eq!(checks[0].cheaters[0].llm.below_humans, Verdict::TooFewTasks);

    // One task: everything is certain, so nothing is shared.
    let checks = check(&world(1, 1, &[("a", 3, false)]), &QUICK);
    assert_eq!(checks[0].cheaters[0].llm.measured.value, Some(0.0));
    assert_eq!(checks[0].cheaters[0].llm.measured.n_tasks, 1);
}

#[test]
fn the_interval_is_centred_on_the_estimate() {
    // Replicates 1..=41 with mean 21; quantiles 2.5 % and 97.5 % are 2 and 40.
    let replicates: Vec<f64> = (1..=41).map(f64::from).collect();
    let (low, high) = centered_interval(0.0, &replicates).unwrap();
    assert!((low + 19.0).abs() < 1e-12 && (high - 19.0).abs() < 1e-12, "{low} {high}");
    assert_eq!(centered_interval(0.0, &[1.0]), None);
}
