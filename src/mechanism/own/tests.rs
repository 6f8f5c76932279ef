#![expect(clippy::cast_sign_loss, reason = "counts of workers are not negative")]

mod easy_crowds;
mod held_out;

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
fn ghosts_in_closed_form_are_the_mean_of_many_draws() {
    let (table, samples) = crowd(600, 20, &[], 3);
    let conditioning = Conditioning::on(samples[0].clone());
    let others: Vec<Arc<[Option<Label>]>> = vec![samples[1].clone().into()];
    let crowd = Crowd::new(&table, &conditioning, &others);
    let features = crowd.of_worker(0, 10, &mut Counter::new(20)).unwrap();
    let tasks: Vec<_> = crowd.answered(0, &[]).collect();
    let mut random = stream(5, "test", 1);
    let moments = |parts: &[features::Normal], feature: usize| {
        let count = parts.len() as f64;
        let mean = parts.iter().map(|part| part.mean[feature]).sum::<f64>() / count;
        let square = |part: &features::Normal| {
            part.covariance[2 * feature] + (part.mean[feature] - mean).powi(2)
        };
        (mean, parts.iter().map(square).sum::<f64>() / count)
    };
    for kind in 0..5 {
        let draws: Vec<[f64; 2]> = (0..2000)
            .filter_map(|_| match kind {
                4 => person(&crowd, &tasks, &mut random),
                _ => of_answers(&tasks, &planted::ghost(&crowd, &tasks, kind, &mut random)),
            })
            .collect();
        let parts = match kind {
            4 => vec![features.person],
            _ => features.ghosts[kind].clone(),
        };
        for feature in 0..2 {
            let values: Vec<f64> = draws.iter().map(|x| x[feature]).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = crate::stats::interval::sample_variance(&values).unwrap();
            let (center, wanted) = moments(&parts, feature);
            // First order in 150 tasks: within a tenth of a standard deviation and 15 %.
            let error = (mean - center).abs();
            assert!(error < 0.15 * variance.sqrt() + 1e-9, "{kind} {feature} {error}");
            assert!((variance - wanted).abs() <= 0.15 * wanted + 1e-9, "{variance} {wanted}");
        }
    }
}

/// Features of a person on resampled tasks, label by label.
fn person(
    crowd: &Crowd<'_>,
    tasks: &[crowd::Answered<'_>],
    random: &mut ChaCha8Rng,
) -> Option<[f64; 2]> {
    let answer = |_| {
        let task = &tasks[random.random_range(0..tasks.len())];
        (task.task, planted::person(crowd, task, random))
    };
    of_answers(tasks, &(0..tasks.len()).map(answer).collect::<Vec<_>>())
}

/// Features of who gives these answers.
fn of_answers(tasks: &[crowd::Answered<'_>], answers: &[(u32, Label)]) -> Option<[f64; 2]> {
    let mut sums = features::Sums::default();
    for (task, answer) in answers {
        tasks.iter().find(|answered| answered.task == *task)?.push(*answer, &mut sums);
    }
    sums.normal().map(|normal| normal.mean)
}

#[test]
fn a_person_is_expected_to_say_what_the_others_say_by_hand() {
    // One stratum. q: x x y, r: x x x, s: y y x, each by three workers: of 9 pairs 1 + 3 + 1 agree,
    // P2 = 5/9; shares 6/9 and 3/9 (the smoothing by the same shares changes nothing), squares
    // 5/9, so pairs agree no more than the shares do and the prior is (4/9) / .001.
    let reports = [
        (0, 0, 0),
        (0, 1, 0),
        (0, 2, 1),
        (1, 0, 0),
        (1, 1, 0),
        (1, 2, 0),
        (2, 0, 1),
        (2, 1, 1),
        (2, 2, 0),
    ];
    let table = numbered((3, 3, 2), &reports);
    let conditioning = Conditioning::on(vec![Some(0); 3]);
    let mut crowd = Crowd::new(&table, &conditioning, &[]);
    assert!((crowd.prior - 4000.0 / 9.0).abs() < 1e-6, "{}", crowd.prior);
    let shares = crowd.shares_of(0).unwrap();
    assert!((shares[0] - 2.0 / 3.0).abs() + (shares[1] - 1.0 / 3.0).abs() < 1e-12, "{shares:?}");
    // With a prior of one report: worker 0 on q, others x y: (1 + 2/3) / 3 = 5/9 for x, 4/9 for y.
    // a = 5/9, p = (5/9 + 4/9) / 2 = 1/2. On r, others x x: (2 + 2/3) / 3 = 8/9: a = p = 8/9.
    // On s, others y x: as q. Means: a = 18/27 = 2/3, o = (1/2 + 1 + 1/2) / 3 = 2/3, so e = 0, and
    // p = (1/2 + 8/9 + 1/2) / 3 = 17/27.
    crowd.prior = 1.0;
    let person = crowd.of_worker(0, 2, &mut Counter::new(3)).unwrap().person;
    assert!(person.mean[0].abs() < 1e-12, "{person:?}");
    assert!((person.mean[1] - 17.0 / 27.0).abs() < 1e-12, "{person:?}");
}

#[test]
fn somebody_who_is_always_right_by_hand() {
    let person = |excess: f64, agreement: f64| features::Normal {
        mean: [excess, agreement],
        covariance: [0.0; 3],
    };
    // Three labels, people right with .6, the LLM with .9: two people agree with .36 + .16 / 2 = .44,
    // and a person says what Z says with .54 + .4 .1 / 2 = .56. Who is right says with .9 what Z says.
    let [excess, agreement] = always_right(&person(0.0, 0.44), 0.56, 3).unwrap();
    assert!((agreement - 0.6).abs() < 1e-12, "{agreement}");
    assert!((excess - (0.9 - 0.56) / 0.44).abs() < 1e-12, "{excess}");
    // Who says it with .648 in a crowd of .56, excess .2, stands for a better LLM: .648 = .2 + .4 g
    // would be g = 1.12, so 1.
    let [excess, _] = always_right(&person(0.2, 0.44), 0.56, 3).unwrap();
    assert!((excess - 1.0).abs() < 1e-12, "{excess}");
    // Two labels: .8 and .75: .64 + .04 = .68, .6 + .05 = .65.
    let [excess, agreement] = always_right(&person(0.0, 0.68), 0.65, 2).unwrap();
    assert!((agreement - 0.8).abs() < 1e-12, "{agreement}");
    assert!((excess - 0.1 / 0.35).abs() < 1e-12, "{excess}");
    // Nobody knows anything, one label, or everybody says what Z says: nothing to tell.
    assert_eq!(always_right(&person(0.0, 1.0 / 3.0), 0.5, 3), None);
    assert_eq!(always_right(&person(0.0, 0.9), 0.5, 1), None);
    assert_eq!(always_right(&person(0.0, 0.9), 1.0, 2), None);
}

#[test]
fn constant_answers_by_hand() {
    // Two labels, half of a person's answers would be the most common one: beta parameters that sum
    // to .25 / .04 - 1 = 5.25, 2.625 each. One answer, which is it: .95 against .5.
    let repeated = |times: f64, answers: f64| Repeated { times, answers, expected: 0.5 };
    assert!((repeated(1.0, 1.0).log_ratio(2) - (0.95_f64 / 0.5).ln()).abs() < 1e-12);
    assert!((repeated(0.0, 1.0).log_ratio(2) - (0.05_f64 / 0.5).ln()).abs() < 1e-12);
    // Of two answers both: .95^2 against .5 (2.625 + 1) / (5.25 + 1).
    let both = (0.95_f64 * 0.95 / (0.5 * 3.625 / 6.25)).ln();
    assert!((repeated(2.0, 2.0).log_ratio(2) - both).abs() < 1e-12);
    // Where nearly everything has one label, of a hundred answers all tell little: parameters 1.98 and
    // .02, and a person gives nothing else with 1.98 .. (1.98 + 99) / (2 .. (2 + 99)).
    let all = Repeated { times: 100.0, answers: 100.0, expected: 0.995 };
    let people: f64 = (0..100).map(|n| ((1.98 + f64::from(n)) / (2.0 + f64::from(n))).ln()).sum();
    assert!((all.log_ratio(2) - (100.0 * 0.95_f64.ln() - people)).abs() < 1e-9);
    assert_eq!(repeated(1.0, 1.0).log_ratio(1).to_bits(), 0.0_f64.to_bits());
    // Another favourite, the most common label itself, and one as common as another.
    assert_eq!(constant::times(&mut [1, 2, 1, 0], 2), None);
    assert_eq!(constant::times(&mut [1, 2, 2], 2), Some(2.0));
    assert_eq!(constant::times(&mut [1, 2], 2), Some(1.0));
    assert_eq!(constant::times(&mut [], 2), Some(0.0));
}

#[test]
fn twins_by_hand() {
    let pair = |other: u32, same: u32, common: u32| Pair { other, common, same };
    // The median of the rates .5, .6 and 1, each of 20 tasks, is .6. All of 20 is .4 more, the whole
    // room, and .4 / sqrt(.24 / 20) = 3.7 standard errors.
    assert_eq!(twins(vec![pair(7, 20, 20), pair(1, 10, 20), pair(2, 12, 20)]), [7]);
    // Of ten tasks 2.6 standard errors; nine would be too few to tell anything.
    assert_eq!(twins(vec![pair(7, 10, 10), pair(1, 10, 20), pair(2, 12, 20)]), [0; 0]);
    assert_eq!(twins(vec![pair(7, 9, 9), pair(1, 4, 20), pair(2, 4, 20)]), [0; 0]);
    // 16 of 20 are half of the room; 17 would be .25 / .4 = .625 of it, but 2.3 standard errors.
    assert_eq!(twins(vec![pair(7, 16, 20), pair(1, 10, 20), pair(2, 12, 20)]), [0; 0]);
    assert_eq!(twins(vec![pair(7, 85, 100), pair(1, 60, 100), pair(2, 60, 100)]), [7]);
    // Where all others are alike, that is what is usual.
    assert_eq!(twins(vec![pair(3, 20, 20), pair(4, 20, 20)]), [0; 0]);
    assert_eq!(twins(Vec::new()), [0; 0]);
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

/// A crowd redrawn from the shares of the labels on each task, so that difficulty stays and nobody
/// copies; then shares of the workers hand in another sample, guess or repeat one label.
fn planted_crowd(
    table: &LabelTable,
    cheats: &[&Labels],
    shares: [f64; 3],
    random: &mut ChaCha8Rng,
) -> (LabelTable, Vec<usize>) {
    let workers = table.worker_count();
    let mut order: Vec<usize> = (0..workers).collect();
    order.shuffle(random);
    let mut order = order.into_iter();
    let mut kinds = vec![0; workers];
    for (kind, share) in (1..).zip(shares) {
        let count =
            if share > 0.0 { ((share * workers as f64).round() as usize).max(1) } else { 0 };
        order.by_ref().take(count).for_each(|worker| kinds[worker] = kind);
    }
    let everything: Vec<Label> = table.reports().map(|report| report.label).collect();
    let mut counts = vec![0; table.label_count()];
    everything.iter().for_each(|&label| counts[usize::from(label)] += 1);
    let most = (0..counts.len()).max_by_key(|&label| counts[label]).unwrap() as Label;
    let sample: Vec<usize> = (0..workers).map(|_| random.random_range(0..cheats.len())).collect();
    let reports: Vec<(u32, u32, Label)> = table
        .reports()
        .map(|report| {
            let labels = table.of_task(report.task).labels;
            let own = labels[random.random_range(0..labels.len())];
            let worker = report.worker as usize;
            let label = match kinds[worker] {
                1 => cheats[sample[worker]][report.task as usize].unwrap_or(own),
                2 => everything[random.random_range(0..everything.len())],
                3 if random.random_bool(0.9) => most,
                3 => random.random_range(0..counts.len()) as Label,
                _ => own,
            };
            (report.task, report.worker, label)
        })
        .collect();
    (numbered((table.task_count(), workers, counts.len()), &reports), kinds)
}

/// Found and all cheaters with 40 tasks or more; people flagged, people, and all flagged.
#[derive(Debug, Default)]
struct Tally {
    found: usize,
    cheaters: usize,
    false_alarms: usize,
    people: usize,
    flagged: usize,
}

fn tally(
    (name, table): (&str, &LabelTable),
    samples: &[Labels],
    most: usize,
    shares: [f64; 3],
    runs: u64,
) -> Tally {
    let mut tally = Tally::default();
    for run in 0..runs {
        let mut random = stream(run, "own bars", 0);
        // The cheaters have the last sample, the principal at most so many of the others.
        let mut samples: Vec<&Labels> = samples.iter().collect();
        samples.shuffle(&mut random);
        let (cheat, known) = samples.split_last().unwrap();
        let (table, kinds) = planted_crowd(table, &[*cheat], shares, &mut random);
        let known: Vec<Labels> = known.iter().take(most).map(|l| (*l).clone()).collect();
        let judged = judge(&table, &known);
        for (score, kind) in judged.workers.iter().zip(kinds) {
            let look = usize::from(score.flag == OwnFlag::Look);
            tally.flagged += look;
            if kind == 0 {
                tally.people += 1;
                tally.false_alarms += look;
            } else if score.n_used >= 40 {
                tally.cheaters += 1;
                tally.found += look;
            }
        }
    }
    eprintln!("{name} with {most} Z, {shares:?}: {tally:?}");
    tally
}

/// The bars with one Z, and with all samples but that of the cheaters.
fn bars(name: &str, table: &LabelTable, samples: &[Labels], runs: u64) {
    for most in [1, samples.len()] {
        let tally = |shares| tally((name, table), samples, most, shares, runs);
        let clean = tally([0.0; 3]);
        assert!(clean.false_alarms * 50 <= clean.people, "{name}: {clean:?}");
        let copies = tally([0.1, 0.0, 0.0]);
        assert!(copies.found * 5 >= copies.cheaters * 4, "{name}: {copies:?}");
        assert!(copies.false_alarms * 5 <= copies.flagged, "{name}: {copies:?}");
        let mixed = tally([0.1, 0.08, 0.08]);
        assert!(mixed.false_alarms * 10 <= mixed.flagged, "{name}: {mixed:?}");
    }
}

/// Four samples of an LLM that is right three times out of four, and of which each sample differs a
/// little.
fn invented_llm(table: &LabelTable, truth: &[Option<Label>]) -> Vec<Labels> {
    let mut random = stream(1, "invented llm", 0);
    let labels = table.label_count() as Label;
    let pick = |random: &mut ChaCha8Rng, label: Option<Label>, right: f64| {
        label.filter(|_| random.random_bool(right)).or(Some(random.random_range(0..labels)))
    };
    let core: Labels = truth.iter().map(|&label| pick(&mut random, label, 0.75)).collect();
    (0..4).map(|_| core.iter().map(|&l| pick(&mut random, l, 0.85)).collect()).collect()
}

#[test]
#[ignore = "needs ../shared/data"]
fn bars_on_judges_of_dialogues() {
    let (table, samples) = crowd_with_samples("labels-llm-rubric");
    bars("llm-rubric", &table, &samples, 10);
}

#[test]
#[ignore = "needs ../shared/data"]
fn bars_on_labels_of_restaurant_reviews() {
    let (table, samples) = crowd_with_samples("labels-cebab");
    bars("cebab", &table, &samples, 20);
}

#[test]
#[ignore = "needs ../shared/data"]
fn bars_on_crowds_with_an_invented_llm() {
    for name in ["labels-bluebird", "labels-dog"] {
        let (table, truth) = real_crowd(name);
        bars(name, &table, &invented_llm(&table, &truth), 6);
    }
}

/// Where the flags are worth less: few tasks each (rte: 20 for most), or two peers and one label
/// that is nearly always right (product).
#[test]
#[ignore = "needs ../shared/data"]
fn limits_with_few_tasks_or_one_common_label() {
    for (name, runs, false_share) in [("labels-rte", 3, 0.2), ("labels-product", 2, 0.4)] {
        let (table, truth) = real_crowd(name);
        let samples = invented_llm(&table, &truth);
        let clean = tally((name, &table), &samples, 1, [0.0; 3], runs);
        assert!(clean.false_alarms * 50 <= clean.people, "{name}: {clean:?}");
        let copies = tally((name, &table), &samples, 1, [0.1, 0.0, 0.0], runs);
        assert!(copies.found * 5 >= copies.cheaters * 3, "{name}: {copies:?}");
        let allowed = false_share * copies.flagged as f64;
        assert!(copies.false_alarms as f64 <= allowed, "{name}: {copies:?}");
    }
}
