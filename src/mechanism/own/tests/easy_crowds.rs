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
fn where_copiers_of_a_dozen_easy_tasks_cannot_be_told_the_ghosts_say_so() {
    let (mut flags, mut ghosts) = ([0; 3], 0.0);
    for seed in 0..20 {
        let (table, z) = easy_crowd((60, 12, 240), 6, seed);
        let run = judge(&table, &[z]);
        for worker in &run.workers[..6] {
            flags[0] += usize::from(worker.flag == OwnFlag::Look);
            flags[1] += usize::from(worker.flag == OwnFlag::Unsure);
        }
        flags[2] += looked(&run).into_iter().filter(|worker| *worker >= 6).count();
        ghosts += run.planted.flagged[0].unwrap() / 20.0;
    }
    eprintln!(
        "of 120 copiers {flags:?} look, unsure and people look; {ghosts:.2} of ghosts would be"
    );
    // One in eight people says all that the LLM says.
    assert!(ghosts < 0.4 && flags[2] <= 6, "{flags:?} {ghosts}");
}

/// Half guess or hand in the third sample, and two the first, for 40 workers.
fn half_and_two() -> Vec<usize> {
    let kind = |worker: usize| [1, 2, 2, 0, 0, 0, 1, 2, 0, 0][worker % 10];
    let mut kinds: Vec<usize> = (0..40).map(kind).collect();
    kinds[38..].fill(4);
    kinds
}

#[test]
fn an_unknown_llm_is_no_reason_to_look_where_it_may_be_the_majority() {
    let kinds = half_and_two();
    let (mut unknown, mut known) = (0, 0);
    for seed in 0..10 {
        let (table, samples) = crowd(600, 40, &kinds, seed);
        let run = judge(&table, &samples[2..]);
        assert!(may_be_majority(run.estimated_share), "{:?}", run.estimated_share);
        let copiers = looked(&run).into_iter().filter(|worker| kinds[*worker] == 1).count();
        assert!(copiers >= 6, "{copiers}");
        for worker in &run.workers[38..] {
            assert_ne!(worker.flag, OwnFlag::Look, "{worker:?}");
            unknown += usize::from(worker.probabilities.unwrap()[0] < 0.05);
        }
        // Nor would most ghosts be.
        assert!(run.planted.flagged[1].unwrap() < 0.2, "{:?}", run.planted);
        // Whose sample is in the files is no unknown LLM.
        let run = judge(&table, &[samples[2].clone(), samples[0].clone()]);
        assert!(may_be_majority(run.estimated_share), "{:?}", run.estimated_share);
        known += looked(&run).into_iter().filter(|worker| *worker >= 38).count();
    }
    eprintln!(
        "of 20 with another LLM {unknown} would be looked at elsewhere, {known} if it is known"
    );
    assert!(unknown >= 4 && known >= 14, "{unknown} {known}");
}

#[test]
fn answers_by_an_unknown_llm_are_those_likelier_than_all_else_but_own() {
    for (kinds, unknown, expected) in [
        ([0.1, 0.3, 0.6, 0.0, 0.0], 0.5, true),
        ([0.9, 0.01, 0.05, 0.02, 0.02], 0.05, true),
        // Half of it is of a sample that somebody has.
        ([0.1, 0.3, 0.6, 0.0, 0.0], 0.3, false),
        ([0.1, 0.6, 0.3, 0.0, 0.0], 0.3, false),
        ([0.1, 0.0, 0.4, 0.3, 0.2], 0.4, false),
    ] {
        let logs = Logs {
            kinds: kinds.map(f64::ln),
            known_llm: f64::ln(kinds[2] - unknown),
            unknown_llm: f64::ln(unknown),
        };
        assert_eq!(logs.is_by_unknown_llm(), expected, "{logs:?}");
    }
    assert!(may_be_majority(Some(0.45)) && !may_be_majority(Some(0.44)) && !may_be_majority(None));
}
