//! Where tasks are easy and the LLM is good, people say what it says without asking it.

use super::*;

/// `workers` people with `each` of `tasks` tasks of three labels, right with .8 to .99 on tasks that are
/// mostly easy, and an LLM right with .95 there; the first `copiers` hand in what it says.
fn easy_crowd(
    (workers, each, tasks): (u32, usize, u32),
    copiers: u32,
    seed: u64,
) -> (LabelTable, Labels) {
    let mut random = stream(seed, "easy", 0);
    let truth: Vec<Label> = (0..tasks).map(|_| random.random_range(0..3)).collect();
    let hard: Vec<f64> =
        (0..tasks).map(|_| if random.random_bool(0.1) { 0.5 } else { 0.01 }).collect();
    let say = |random: &mut ChaCha8Rng, task: usize, skill: f64| {
        let right = random.random_bool(skill * (1.0 - hard[task]) + (1.0 - skill) / 3.0);
        if right { truth[task] } else { (truth[task] + random.random_range(1..3)) % 3 }
    };
    let z: Labels = (0..tasks as usize).map(|task| Some(say(&mut random, task, 0.95))).collect();
    let mut reports = Vec::new();
    for worker in 0..workers {
        let skill = random.random_range(0.8..0.99);
        for task in rand::seq::index::sample(&mut random, tasks as usize, each) {
            let label =
                if worker < copiers { z[task].unwrap() } else { say(&mut random, task, skill) };
            reports.push((task as u32, worker, label));
        }
    }
    (numbered((tasks as usize, workers as usize, 3), &reports), z)
}

#[test]
fn people_who_say_all_that_a_good_llm_says_are_not_looked_at() {
    let (mut flagged, mut all_alike, mut judged) = (0, 0, 0);
    for seed in 0..20 {
        let (table, z) = easy_crowd((60, 12, 240), 0, seed);
        let run = judge(&table, &[z]);
        judged += run.workers.iter().filter(|worker| worker.score.is_some()).count();
        all_alike += run
            .workers
            .iter()
            .filter(|worker| worker.copied.is_some_and(|copied| copied.value > 0.999))
            .count();
        flagged += looked(&run).len();
    }
    eprintln!("{flagged} of {judged} flagged, {all_alike} say all that the LLM says");
    assert!(judged > 1_000 && all_alike > 50, "{all_alike} of {judged}");
    assert!(flagged <= 3, "{flagged} of {judged}");
}

#[test]
fn who_copies_word_for_word_in_many_tasks_is_found_all_the_same() {
    let (mut found, mut false_alarms) = (0, 0);
    for seed in 0..5 {
        let (table, z) = easy_crowd((60, 80, 480), 6, seed);
        for worker in looked(&judge(&table, &[z])) {
            if worker < 6 { found += 1 } else { false_alarms += 1 }
        }
    }
    eprintln!("{found} of 30 found, {false_alarms} false");
    assert!(found >= 27 && false_alarms <= 2, "{found} of 30, {false_alarms} false");
}

#[test]
fn an_unknown_llm_is_no_reason_to_look_where_it_may_be_the_majority() {
    // Half guess or hand in Z, and two hand in a sample that nobody has.
    let kind = |worker: usize| [1, 2, 2, 0, 0, 0, 1, 2, 0, 0][worker % 10];
    let mut kinds: Vec<usize> = (0..40).map(kind).collect();
    kinds[38..].fill(4);
    let mut unknown = 0;
    for seed in 0..10 {
        let (table, samples) = crowd(600, 40, &kinds, seed);
        let run = judge(&table, &samples[2..]);
        assert!(may_be_majority(run.estimated_share), "{:?}", run.estimated_share);
        let looked = looked(&run);
        assert!(looked.iter().filter(|worker| kinds[**worker] == 1).count() >= 6, "{looked:?}");
        for (number, worker) in run.workers.iter().enumerate() {
            let Some(probabilities) = worker.probabilities else { continue };
            if is_by_unknown_llm(&probabilities) && probabilities[0] < 0.05 {
                unknown += 1;
                assert_eq!(worker.flag, OwnFlag::Unsure, "{number}: {worker:?}");
            }
        }
        // Nor would most ghosts be.
        assert!(run.planted.flagged[1].unwrap() < 0.2, "{:?}", run.planted);
    }
    eprintln!("{unknown} who would be looked at elsewhere");
    assert!(unknown >= 4, "{unknown}");
}

#[test]
fn answers_by_an_unknown_llm_are_those_likelier_than_a_copy_and_than_answers_without_looking() {
    for (probabilities, expected) in [
        ([0.1, 0.3, 0.6, 0.0, 0.0], true),
        ([0.9, 0.01, 0.05, 0.02, 0.02], true),
        ([0.1, 0.6, 0.3, 0.0, 0.0], false),
        ([0.1, 0.0, 0.4, 0.3, 0.2], false),
    ] {
        assert_eq!(is_by_unknown_llm(&probabilities), expected, "{probabilities:?}");
    }
    assert!(may_be_majority(Some(0.45)) && !may_be_majority(Some(0.44)) && !may_be_majority(None));
}
