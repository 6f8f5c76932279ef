//! Crowds of many designs, drawn at random; the tables of `docs/results.md` are of 100 such a row with
//! another generator of numbers.

use super::*;

/// What the cheaters of a crowd hand in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cheating {
    /// The labels of Z, word for word.
    Copy,
    /// In equal parts the labels of Z but for one in fourteen, those of another LLM, guesses, one label.
    Mixed,
}

/// A crowd, its Z, and who of it does not answer alone.
struct HeldOut {
    table: LabelTable,
    z: Labels,
    cheats: Vec<bool>,
}

impl HeldOut {
    fn new(cheating: Cheating, share: f64, seed: u64) -> Self {
        let mut random = stream(seed, "held out", 0);
        let random = &mut random;
        let labels: Label = one_of(random, &[2, 3, 5]);
        let tasks = one_of(random, &[120_usize, 250, 500]);
        let workers = one_of(random, &[30_u32, 60, 100]);
        let (fewest, most) = one_of(random, &[(12_usize, 30_usize), (20, 60), (40, 100)]);
        let skill = one_of(random, &[0.65, 0.75, 0.85]);
        let of_llm = one_of(random, &[0.55, 0.7, 0.85, 0.95]);
        let spread = one_of(random, &[0.5, 1.0]);
        let truth: Vec<Label> = (0..tasks).map(|_| random.random_range(0..labels)).collect();
        let hard: Vec<f64> = (0..tasks)
            .map(|_| spread * (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0 * spread)
            .collect();
        let say = |random: &mut ChaCha8Rng, task: usize, skill: f64| {
            let ease = (skill / (1.0 - skill)).ln() - hard[task];
            let floor = 1.0 / f64::from(labels);
            let right = random.random_bool(floor + (1.0 - floor) / (1.0 + (-ease).exp()));
            // Half of the wrong answers are the same wrong label.
            let wrong = if random.random_bool(0.5) { 1 } else { random.random_range(1..labels) };
            if right { truth[task] } else { (truth[task] + wrong) % labels }
        };
        let z: Vec<Label> = (0..tasks).map(|task| say(random, task, of_llm)).collect();
        let copied = random.random_range(0.2..0.6);
        let other: Vec<Label> = (0..tasks)
            .map(
                |task| if random.random_bool(copied) { z[task] } else { say(random, task, of_llm) },
            )
            .collect();
        let (mut reports, mut cheats) = (Vec::new(), Vec::new());
        for worker in 0..workers {
            let kind = if random.random_bool(share) {
                if cheating == Cheating::Copy { 4 } else { random.random_range(0..4) }
            } else {
                9
            };
            cheats.push(kind != 9);
            let favourite = random.random_range(0..labels);
            let stands_out = random.random::<f64>();
            let (bias, own): (f64, f64) = match stands_out {
                x if x < 0.07 => (0.33, skill),
                x if x < 0.13 => (0.0, 0.96),
                x if x < 0.2 => (0.0, skill - 0.13),
                _ => (0.0, skill + random.random_range(-0.12..0.11)),
            };
            let each = random.random_range(fewest..=most).min(tasks);
            for task in rand::seq::index::sample(random, tasks, each) {
                let label = match kind {
                    0 if random.random_bool(0.93) => z[task],
                    1 if random.random_bool(0.95) => other[task],
                    2 => random.random_range(0..labels),
                    3 if random.random_bool(0.93) => favourite,
                    4 => z[task],
                    _ if random.random_bool(bias) => favourite,
                    _ => say(random, task, own),
                };
                reports.push((task as u32, worker, label));
            }
        }
        let table = numbered((tasks, workers as usize, usize::from(labels)), &reports);
        Self { table, z: z.into_iter().map(Some).collect(), cheats }
    }
}

fn one_of<T: Copy>(random: &mut ChaCha8Rng, values: &[T]) -> T {
    values[random.random_range(0..values.len())]
}

/// How many of so many crowds' people are flagged, of how many, and the same of the cheaters.
fn flagged(cheating: Cheating, share: f64) -> [usize; 4] {
    const CROWDS: u64 = 30;
    let mut counts = [0; 4];
    for seed in 0..CROWDS {
        let crowd = HeldOut::new(cheating, share, seed);
        let run = judge(&crowd.table, &[crowd.z]);
        for (worker, cheats) in run.workers.iter().zip(crowd.cheats) {
            let place = 2 * usize::from(cheats);
            counts[place] += usize::from(worker.flag == OwnFlag::Look);
            counts[place + 1] += 1;
        }
    }
    let [false_alarms, people, found, cheaters] = counts;
    eprintln!(
        "{cheating:?} {share}: {false_alarms} of {people} people flagged, {found} of {cheaters} cheaters"
    );
    counts
}

#[test]
fn few_people_are_flagged_in_crowds_of_many_designs_and_most_cheaters_are() {
    let [false_alarms, people, ..] = flagged(Cheating::Mixed, 0.0);
    assert!(300 * false_alarms <= people, "{false_alarms} of {people}");
    // The rate that is asked for is .05. With few cheaters it is missed where people and copiers change
    // places, see `docs/results.md`.
    for (cheating, share, least, most_false) in [
        (Cheating::Mixed, 0.1, 0.5, 0.08),
        (Cheating::Mixed, 0.35, 0.5, 0.05),
        (Cheating::Copy, 0.1, 0.75, 0.13),
        (Cheating::Copy, 0.3, 0.85, 0.05),
    ] {
        let [false_alarms, people, found, cheaters] = flagged(cheating, share);
        let all = (false_alarms + found) as f64;
        assert!(false_alarms as f64 <= most_false * all, "{false_alarms} of {all} flagged");
        assert!(50 * false_alarms <= people, "{false_alarms} of {people}");
        assert!(found as f64 >= least * cheaters as f64, "{found} of {cheaters}");
    }
}
