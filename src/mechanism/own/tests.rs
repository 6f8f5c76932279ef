#![expect(clippy::cast_sign_loss, reason = "counts of workers are not negative")]

mod by_hand;
mod easy_crowds;
mod held_out;
mod public_crowds;

use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::constant::Repeated;
use super::people::always_right;
use super::twins::{Counter, Pair, twins};
use super::*;
use crate::data::z::{ZSample, ZSource};
use crate::mechanism::fixtures::{crowd_with_samples, numbered, real_crowd};
use crate::mechanism::tests::random_crowd;
use crate::stats::seed::stream;

type Labels = Vec<Option<Label>>;

/// One source with these samples.
fn source(samples: &[Labels]) -> ZSource {
    let samples = samples
        .iter()
        .map(|labels| ZSample { name: String::new(), labels: labels.clone() })
        .collect();
    ZSource { name: "llm".into(), samples }
}

fn judge(table: &LabelTable, samples: &[Labels]) -> OwnRun {
    let settings = OwnSettings { draws: 1, ..OwnSettings::default() };
    OwnAnswers::new(&[source(samples)], settings).judge(table).unwrap()
}

/// `tasks` tasks with five of `workers` workers each; easy and hard ones; `kind` of each worker: 0
/// own, 1 the third sample of the LLM, 2 guesses, 3 mostly label 0, 4 the first sample. The LLM has
/// three samples.
fn crowd(tasks: u32, workers: u32, kinds: &[usize], seed: u64) -> (LabelTable, Vec<Labels>) {
    let mut random = stream(seed, "test", 0);
    let mut samples = vec![Labels::new(); 3];
    let mut reports = Vec::new();
    for task in 0..tasks {
        let truth = random.random_range(0..3_u16);
        let ease = random.random_range(0.5..1.0);
        let pick = |random: &mut ChaCha8Rng, label: Label, right: f64| {
            if random.random_bool(right) { label } else { random.random_range(0..3) }
        };
        let core = pick(&mut random, truth, 0.6);
        for sample in &mut samples {
            sample.push(Some(pick(&mut random, core, 0.8)));
        }
        let team = rand::seq::index::sample(&mut random, workers as usize, 5);
        for worker in team {
            let skill = 0.7 + 0.3 * (worker as f64 / f64::from(workers));
            let label = match kinds.get(worker) {
                Some(1) => samples[2][task as usize].unwrap(),
                Some(2) => random.random_range(0..3),
                Some(3) => pick(&mut random, 0, 0.9),
                Some(4) => samples[0][task as usize].unwrap(),
                _ => pick(&mut random, truth, ease * skill),
            };
            reports.push((task, worker as u32, label));
        }
    }
    let samples = vec![samples[0].clone(), samples[1].clone(), samples[2].clone()];
    (numbered((tasks as usize, workers as usize, 3), &reports), samples)
}

fn looked(run: &OwnRun) -> Vec<usize> {
    (0..run.workers.len()).filter(|&w| run.workers[w].flag == OwnFlag::Look).collect()
}

#[test]
fn nobody_is_looked_at_in_clean_crowds() {
    let mut flagged = 0;
    for seed in 0..10 {
        let (table, samples) = crowd(800, 50, &[], seed);
        flagged += looked(&judge(&table, &samples[..2])).len();
    }
    eprintln!("{flagged} of 500 people in clean crowds flagged");
    assert!(flagged <= 10, "{flagged}");
}

#[test]
fn cheaters_of_every_kind_are_found_and_named() {
    let mut kinds = vec![0; 50];
    (kinds[0], kinds[1], kinds[20], kinds[21], kinds[40], kinds[41]) = (1, 1, 2, 2, 3, 3);
    let (mut found, mut false_alarms, mut right) = (0, 0, 0);
    for seed in 0..5 {
        let (table, samples) = crowd(800, 50, &kinds, seed);
        let run = judge(&table, &samples[..2]);
        for worker in looked(&run) {
            let words = run.workers[worker].reads_as.unwrap().as_words();
            match kinds[worker] {
                0 => false_alarms += 1,
                kind => {
                    found += 1;
                    // A guess and a constant answer agree with Z and with peers about equally
                    // often here; the labels tell them apart.
                    let expected = ["", "copies an LLM", "guesses", "always the same answer"];
                    right += usize::from(words == expected[kind]);
                }
            }
        }
    }
    eprintln!("found {found} of 30, named {right}, false {false_alarms}");
    assert!(found >= 24 && right * 10 >= found * 9 && false_alarms * 10 <= found);
}

#[test]
fn sources_are_taken_together_by_hand() {
    let logs = |own: f64, kinds: [f64; 4]| {
        let [copy, llm, guess, constant] = kinds.map(f64::ln);
        // A quarter of what is said of LLMs is said of an unknown one.
        let [known_llm, unknown_llm] = [0.75, 0.25].map(|part: f64| llm + part.ln());
        Logs { kinds: [own.ln(), copy, llm, guess, constant], known_llm, unknown_llm }
    };
    // By the first source a copy is three times as likely as own answers, by the second a ninth: on
    // average 14/9. An absent kind stays absent; who is judged by one source is judged by it alone.
    let views = [logs(0.2, [0.6, 0.2, 0.0, 0.1]), logs(0.9, [0.1, 0.9, 0.0, 0.0])];
    let both = together(&views);
    assert!((both.unknown_llm.exp() - 0.25).abs() < 1e-12, "{both:?}");
    // Where samples stand for copies: 14/9 and .75.
    let copies = both.known_as_copies();
    assert!((copies.kinds[1].exp() - 14.0 / 9.0 - 0.75).abs() < 1e-12, "{copies:?}");
    assert!((copies.kinds[2].exp() - 0.25).abs() < 1e-12, "{copies:?}");
    let odds = both.kinds.map(f64::exp);
    let expected = [1.0, 14.0 / 9.0, 1.0, 0.0, 0.25];
    assert!(odds.iter().zip(expected).all(|(odds, e)| (odds - e).abs() < 1e-12), "{odds:?}");
    let odds = together(&views[1..]).kinds.map(f64::exp);
    assert!((odds[1] - 1.0 / 9.0).abs() < 1e-12, "{odds:?}");
}

#[test]
fn whose_source_is_copied_and_their_order_do_not_matter() {
    // Three sources; workers 0 to 2 copy one each.
    let mut others = 0;
    for seed in 0..3 {
        let (table, samples) = crowd(800, 50, &[], seed);
        let reports: Vec<(u32, u32, Label)> = table
            .reports()
            .map(|report| {
                let copied = samples.get(report.worker as usize);
                let label = copied.map_or(report.label, |s| s[report.task as usize].unwrap());
                (report.task, report.worker, label)
            })
            .collect();
        let table = numbered((800, 50, 3), &reports);
        let settings = OwnSettings { draws: 1, ..OwnSettings::default() };
        let runs = [[0, 1, 2], [2, 0, 1]].map(|order| {
            let sources = order.map(|number| source(&samples[number..=number]));
            OwnAnswers::new(&sources, settings).judge(&table).unwrap()
        });
        for (one, other) in runs[0].workers.iter().zip(&runs[1].workers) {
            assert_eq!((one.flag, one.reads_as), (other.flag, other.reads_as));
            let (one, other) = (one.score.unwrap(), other.score.unwrap());
            assert!((one - other).abs() < 1e-9 * (1.0 + one.abs()), "{one} {other}");
        }
        for worker in 0..3 {
            let found = &runs[0].workers[worker];
            assert_eq!((found.flag, found.reads_as), (OwnFlag::Look, Some(AnswerKind::Copy)));
            assert!((found.copied.unwrap().value - 1.0).abs() < 1e-12);
        }
        others += looked(&runs[0]).len() - 3;
    }
    assert!(others <= 2, "{others} of 141 people flagged");
}

#[test]
fn the_largest_set_with_a_small_mean_is_looked_at() {
    let looked_at = |own: &[f64], rate: f64| -> Vec<bool> {
        let bar = Bar::new(own.to_vec(), rate, false);
        own.iter().map(|own| bar.looks_at(*own)).collect()
    };
    // Means of the lowest: 0, .03, .06, ...: the first two.
    assert_eq!(looked_at(&[0.9, 0.06, 0.0, 0.12], 0.05), [false, true, true, false]);
    assert_eq!(looked_at(&[0.2, 0.3], 0.05), [false, false]);
    // Two equal values that would be one too many together are both left out.
    assert_eq!(looked_at(&[0.0, 0.08, 0.08], 0.05), [true, false, false]);
    assert_eq!(looked_at(&[], 0.05), [false; 0]);
    // However many are certain, they do not vouch for one who is likely to be alone.
    for (own, is_looked_at) in [(0.19, true), (0.21, false), (0.999, false)] {
        let crowd = [vec![0.0; 100], vec![own]].concat();
        assert_eq!(looked_at(&crowd, 0.05)[100], is_looked_at, "{own}");
    }
}

#[test]
fn who_hands_in_the_same_answers_is_no_peer() {
    let mut kinds = vec![0; 12];
    (kinds[3], kinds[8]) = (1, 1);
    let (table, samples) = crowd(400, 12, &kinds, 1);
    let conditioning = Conditioning::on(samples[0].clone());
    let crowd = Crowd::new(&table, &conditioning, &[]);
    let mut counter = Counter::new(12);
    for worker in 0..12 {
        let expected: &[u32] = match worker {
            3 => &[8],
            8 => &[3],
            _ => &[],
        };
        assert_eq!(counter.twins_of(&crowd, worker), expected, "{worker}");
    }
    for answered in crowd.answered(3, &[8]) {
        let reports = table.of_task(answered.task);
        let others: Vec<Label> =
            reports.iter().filter(|(worker, _)| ![3, 8].contains(worker)).map(|(_, l)| l).collect();
        for label in 0..3 {
            let same = others.iter().filter(|&&other| other == label).count();
            let share = same as f64 / others.len() as f64;
            assert!((answered.share(label) - share).abs() < 1e-15);
        }
    }
}

/// 40 people right with .6 and an LLM right with .85, five answers to each of 1,500 tasks of three
/// labels; four of the people are right with .97 instead, or hand in another LLM, which says half of
/// the time what the first says, and is right with .7 else.
fn four_in_a_weak_crowd(experts: bool, seed: u64) -> (LabelTable, Labels) {
    const TASKS: u32 = 1500;
    let mut random = stream(seed, "experts", 0);
    let (mut z, mut reports) = (Labels::new(), Vec::new());
    for task in 0..TASKS {
        let truth = random.random_range(0..3_u16);
        let mut pick = |right: f64| {
            let wrong = (truth + random.random_range(1..3)) % 3;
            if random.random_bool(right) { truth } else { wrong }
        };
        let ours = pick(0.85);
        let theirs = if pick(0.5) == truth { ours } else { pick(0.7) };
        z.push(Some(ours));
        for worker in rand::seq::index::sample(&mut random, 40, 5) {
            let mut pick = |right: f64| {
                let wrong = (truth + random.random_range(1..3)) % 3;
                if random.random_bool(right) { truth } else { wrong }
            };
            let label = match worker {
                0..4 if experts => pick(0.97),
                0..4 => theirs,
                _ => pick(0.6),
            };
            reports.push((task, worker as u32, label));
        }
    }
    (numbered((TASKS as usize, 40, 3), &reports), z)
}

#[test]
fn experts_in_a_weak_crowd_are_not_taken_for_copiers() {
    let flagged = |experts: bool| {
        let of = |seed| {
            let (table, z) = four_in_a_weak_crowd(experts, seed);
            looked(&judge(&table, &[z])).iter().filter(|&&worker| worker < 4).count()
        };
        (0..5).map(of).sum::<usize>()
    };
    let (experts, copiers) = (flagged(true), flagged(false));
    eprintln!("flagged of 20 experts {experts}, of 20 who hand in another LLM {copiers}");
    assert!(experts <= 1 && copiers >= 14, "{experts} {copiers}");
}

#[test]
fn with_one_z_who_hands_in_another_llm_is_found_and_named_so() {
    let mut kinds = vec![0; 50];
    (kinds[0], kinds[1]) = (1, 1);
    let (mut found, mut named, mut false_alarms) = (0, 0, 0);
    for seed in 0..5 {
        let (table, samples) = crowd(800, 50, &kinds, seed);
        let run = judge(&table, &samples[..1]);
        for worker in looked(&run) {
            let copies = run.workers[worker].reads_as == Some(AnswerKind::Llm);
            (found, named) = match kinds[worker] {
                1 => (found + 1, named + usize::from(copies)),
                _ => (found, named),
            };
            false_alarms += usize::from(kinds[worker] == 0);
        }
    }
    eprintln!("one Z: found {found} of 10, named {named}, false {false_alarms}");
    assert!(found >= 8 && named * 10 >= found * 9 && false_alarms <= 2);
}

#[test]
fn what_cannot_be_judged_says_why() {
    let (table, samples) = crowd(20, 10, &[], 1);
    let nothing = judge(&table, &[vec![None; 20]]);
    assert!(nothing.workers.iter().all(|w| w.flag == OwnFlag::NotJudged && w.score.is_none()));
    assert_eq!(nothing.workers[0].not_judged, Some(NotJudged::TooFewTasks));
    assert_eq!((nothing.estimated_share, nothing.planted.people), (None, None));
    let settings = OwnSettings { min_tasks: 2, draws: 1, ..OwnSettings::default() };
    let same: Vec<(u32, u32, Label)> =
        (0..20).flat_map(|task| (0..3).map(move |worker| (task, worker, 1))).collect();
    let same = numbered((20, 3, 2), &same);
    let agrees = OwnAnswers::new(&[source(&[vec![Some(1); 20]])], settings).judge(&same).unwrap();
    assert_eq!(agrees.workers[0].not_judged, Some(NotJudged::EverybodyAgrees));
    // In words of its own the LLM is nobody's source; beside one in the crowd's words it is passed over.
    let foreign: Labels = vec![Some(7); 20];
    let run = judge(&table, std::slice::from_ref(&foreign));
    assert!(run.workers.iter().all(|worker| worker.flag == OwnFlag::NotJudged));
    let judged_by = |sources: &[ZSource]| {
        let settings = OwnSettings { min_tasks: 2, draws: 1, ..OwnSettings::default() };
        let run = OwnAnswers::new(sources, settings).judge(&table).unwrap();
        run.workers.iter().filter(|worker| worker.score.is_some()).count()
    };
    assert_eq!(judged_by(&[source(std::slice::from_ref(&foreign)), source(&samples[..1])]), 10);
    assert_eq!(judged_by(&[source(&[foreign])]), 0);
    let error = OwnAnswers::new(&[source(&samples[..1])], settings).judge(&same.on_tasks(&[0]));
    assert!(matches!(error, Err(MechanismError::TaskCount { z_tasks: 20, tasks: 1 })));
}

proptest! {
    #[test]
    fn probabilities_sum_to_one_and_scores_are_their_log_odds(crowd in random_crowd()) {
        let settings = OwnSettings { min_tasks: 2, draws: 1, ..OwnSettings::default() };
        let own = OwnAnswers::new(&[source(std::slice::from_ref(&crowd.z))], settings);
        let run = own.judge(&crowd.table).unwrap();
        for worker in &run.workers {
            prop_assert_eq!(worker.score.is_some(), worker.not_judged.is_none());
            if let (Some(p), Some(score)) = (worker.probabilities, worker.score) {
                prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert!(score.is_finite());
                let odds = (p[0] / (1.0 - p[0])).ln();
                prop_assert!(!odds.is_finite() || (odds - score).abs() < 1e-6 * (1.0 + score.exp()));
            }
        }
        prop_assert_eq!(own.judge(&crowd.table).unwrap(), run);
    }
}
