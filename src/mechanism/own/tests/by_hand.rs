//! Every formula a second time: one report at a time, without sums that are shared.

use super::*;
use crate::mechanism::tests::{assert_close, shuffled};

/// How far two orders of the same sums may lie apart: crowds of a few people who contradict each other are drawn, too,
/// where every round of the fit multiplies what rounding leaves by five.
const ROUNDED: f64 = 1e-6;

/// Labels of the others on a task, with their worker.
fn others(table: &LabelTable, task: u32, worker: u32) -> Vec<(u32, Label)> {
    table.of_task(task).iter().filter(|(other, _)| *other != worker).collect()
}

fn share(table: &LabelTable, label: Label) -> f64 {
    let count = table.reports().filter(|report| report.label == label).count() as f64;
    (count + 0.5) / (table.report_count() as f64 + 0.5 * table.label_count() as f64)
}

/// How probable the others make a label, where each is right with the odds of its weight.
fn posterior(table: &LabelTable, weights: &[f64], task: u32, worker: u32, label: Label) -> f64 {
    let odds = |label: Label| {
        let votes = others(table, task, worker).into_iter().filter(|(_, said)| *said == label);
        share(table, label) * votes.map(|(other, _)| weights[other as usize]).sum::<f64>().exp()
    };
    odds(label) / (0..table.label_count() as Label).map(odds).sum::<f64>()
}

fn person(table: &LabelTable, task: u32, worker: u32, label: Label) -> f64 {
    let others = others(table, task, worker);
    let count = others.iter().filter(|(_, said)| *said == label).count() as f64;
    (count + share(table, label)) / (others.len() as f64 + 1.0)
}

/// The reports of a worker on tasks that others answered.
fn reports(table: &LabelTable, worker: u32) -> Vec<(u32, Label)> {
    let reports = table.of_worker(worker).iter();
    reports.filter(|(task, _)| table.of_task(*task).len() > 1).collect()
}

/// The weights of the workers after the last round, and how right each is: of a weak crowd with the own labels
/// counted in the rounds before.
fn fitted(table: &LabelTable) -> (Vec<f64>, Vec<f64>) {
    let (weights, right) = fitted_by(table, false);
    let counts: f64 =
        (0..table.worker_count() as u32).map(|w| reports(table, w).len() as f64).sum();
    let mean = if counts > 0.0 { right.iter().sum::<f64>() / counts } else { 0.0 };
    let chance = 1.0 / table.label_count().max(2) as f64;
    let is_weak = mean < 0.5 || mean < chance + (1.0 - chance) / 3.0;
    if is_weak { fitted_by(table, true) } else { (weights, right) }
}

fn fitted_by(table: &LabelTable, counts_own: bool) -> (Vec<f64>, Vec<f64>) {
    let workers: Vec<u32> = (0..table.worker_count() as u32).collect();
    let sum = |of: &dyn Fn(u32, u32, Label) -> f64| -> Vec<f64> {
        let one = |&w: &u32| reports(table, w).iter().map(|&(task, own)| of(task, w, own)).sum();
        workers.iter().map(one).collect()
    };
    let counts: Vec<f64> = workers.iter().map(|&w| reports(table, w).len() as f64).collect();
    let mut right = sum(&|task, worker, own| person(table, task, worker, own));
    let mut weights = Vec::new();
    for round in 1..=10 {
        let all: f64 = counts.iter().sum();
        let average = if all > 0.0 { right.iter().sum::<f64>() / all } else { 0.5 };
        weights = right
            .iter()
            .zip(&counts)
            .map(|(right, count)| {
                let skill = ((right + 4.0 * average) / (count + 4.0)).clamp(0.02, 0.99);
                (skill * (table.label_count() as f64 - 1.0).max(1.0) / (1.0 - skill)).ln()
            })
            .collect();
        let nobody = u32::MAX;
        right = sum(&|task, worker, own| {
            let without = if counts_own && round < 10 { nobody } else { worker };
            posterior(table, &weights, task, without, own)
        });
    }
    (weights, right)
}

/// The share copied, its variance, and by how much a share of copies makes the answers more probable, by the
/// definition.
fn copied(
    table: &LabelTable,
    weights: &[f64],
    z: &[Option<Label>],
    worker: u32,
) -> Option<[f64; 4]> {
    let labels = table.label_count() as f64;
    let known = |task: u32| z[task as usize].filter(|z| usize::from(*z) < table.label_count());
    // How often the LLM is right, each task as often as it has reports, every report counted.
    let (mut sum, mut count) = (0.0, 0.0);
    for report in table.reports().filter(|report| table.of_task(report.task).len() > 1) {
        let Some(z) = known(report.task) else { continue };
        sum += posterior(table, weights, report.task, u32::MAX, z);
        count += 1.0;
    }
    if count == 0.0 {
        return None;
    }
    let right = (sum / count).clamp(1.0 / labels.max(2.0), 0.98);
    let wrong = (1.0 - right) / (labels - 1.0).max(1.0);
    let ways = |task: u32, label: Label, z: Label| {
        let of = |l: Label| {
            posterior(table, weights, task, worker, l) * if l == z { right } else { wrong }
        };
        let all: f64 = (0..table.label_count() as Label).map(of).sum();
        [
            0.9 * of(label) / all + 0.1 * share(table, label),
            person(table, task, worker, label),
            0.5 * share(table, label) + 0.5 / labels,
        ]
    };
    let seen: Vec<(u32, Label, Label)> = reports(table, worker)
        .into_iter()
        .filter_map(|(task, own)| Some((task, own, known(task)?)))
        .collect();
    let mix = |shares: [f64; 3], p: [f64; 3]| (0..3).map(|way| shares[way] * p[way]).sum::<f64>();
    let mut shares = [1.0 / 3.0; 3];
    for _ in 0..20 {
        let mut sums = [0.5, 1.0, 0.5];
        for &(task, own, z) in &seen {
            let p = ways(task, own, z);
            (0..3).for_each(|way| sums[way] += shares[way] * p[way] / mix(shares, p));
        }
        shares = sums.map(|sum| sum / (seen.len() as f64 + 2.0));
    }
    let probable: Vec<(f64, bool)> =
        seen.iter().map(|&(task, own, z)| (mix(shares, ways(task, z, z)), own == z)).collect();
    let log = |copies: f64| -> f64 {
        let of = |p: f64, hit| {
            if hit { copies + (1.0 - copies) * p } else { (1.0 - copies) * (1.0 - p) }
        };
        probable.iter().map(|&(p, hit)| of(p, hit).ln()).sum()
    };
    // Thirds of the range that hold the largest value of a concave function.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let [a, b] = [(2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0];
        (low, high) = if log(a) < log(b) { (a, high) } else { (low, b) };
    }
    let ratio = 2.0 * (log(low.max(0.0)) - log(0.0));
    let all = -2.0 * probable.iter().map(|(p, _)| p.ln()).sum::<f64>();
    let (mut score, mut information, mut variance) = (0.0, 0.0, 0.0);
    for (task, own, z) in seen {
        let p = mix(shares, ways(task, z, z));
        score += (f64::from(u8::from(own == z)) - p) / (p + 0.1);
        information += (1.0 - p) / (p + 0.1);
        variance += p * (1.0 - p) / (p + 0.1).powi(2);
    }
    (information > 1e-6).then(|| [score / information, variance / information.powi(2), ratio, all])
}

/// Value, expected value and variance of blind answers, by the definition.
fn confirmed(table: &LabelTable, worker: u32) -> (f64, f64, f64) {
    let tasks = reports(table, worker);
    let n = tasks.len() as f64;
    let rest = (n - 1.0).max(1.0);
    let say = |task: u32, label: Label| {
        let others = others(table, task, worker);
        others.iter().filter(|(_, said)| *said == label).count() as f64 / others.len() as f64
    };
    let beyond = |task: u32, label: Label| {
        let elsewhere = tasks.iter().filter(|(other, _)| *other != task);
        say(task, label) - elsewhere.map(|&(other, _)| say(other, label)).sum::<f64>() / rest
    };
    let (mut value, mut expected, mut blind) = (0.0, 0.0, 0.0);
    for &(task, own) in &tasks {
        value += beyond(task, own);
        let all = 0..table.label_count() as Label;
        let another = all.clone().map(|l| person(table, task, worker, l) * beyond(task, l));
        expected += another.sum::<f64>();
        let draw = |label: Label| {
            let own = tasks.iter().filter(|(_, own)| *own == label).count() as f64;
            (own + share(table, label)) / (n + 1.0)
        };
        let mean: f64 = all.clone().map(|l| draw(l) * beyond(task, l)).sum();
        let square: f64 = all.map(|l| draw(l) * beyond(task, l).powi(2)).sum();
        blind += square - mean * mean;
    }
    (value / n, expected / n, blind.max(0.0) / (n * n))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_measured_is_what_the_definitions_say(crowd in random_crowd()) {
        let table = &crowd.table;
        let said = Said::new(table, 1);
        let (weights, right) = fitted(table);
        let got: Vec<Option<f64>> = said.right.iter().map(|sum| Some(sum[0])).collect();
        assert_close(&got, &right.iter().copied().map(Some).collect::<Vec<_>>(), ROUNDED);
        let sample = Sample::new(table, &said, &crowd.z);
        let mut tally = Tally::new(table.label_count());
        let mut hearing = Hearing::new(table, &said);
        for worker in 0..table.worker_count() as u32 {
            let found = sample
                .as_ref()
                .and_then(|sample| sample.of_worker(&mut hearing, worker, &mut Answers::default()));
            let want = copied(table, &weights, &crowd.z, worker);
            let got = found.map(|f| [f.share, f.variance, f.ratios[0], f.ratios[1]]);
            let each = |values: Option<[f64; 4]>| (0..4).map(|n| Some(values?[n])).collect::<Vec<_>>();
            assert_close(&each(got), &each(want), ROUNDED);
            if reports(table, worker).is_empty() {
                continue;
            }
            let found = tally.of_worker(&mut hearing, worker);
            let (value, expected, blind) = confirmed(table, worker);
            let got = [found.value, found.expected, found.blind].map(Some);
            assert_close(&got, &[Some(value), Some(expected), Some(blind)], 1e-9);
        }
    }

    #[test]
    fn questions_that_are_asked_again_say_of_copies_what_they_say_once(crowd in random_crowd()) {
        let (once, z) = (&crowd.table, &crowd.z);
        let again: Vec<(u32, u32, Label)> = once
            .reports()
            .flat_map(|r| (0..3).map(move |question| (3 * r.task + question, r.worker, r.label)))
            .collect();
        let again = numbered((3 * once.task_count(), once.worker_count(), once.label_count()), &again);
        let z_again: Labels = z.iter().flat_map(|label| [*label; 3]).collect();
        let all = |table: &LabelTable, questions: usize, z: &Labels| -> Vec<Option<f64>> {
            let said = Said::new(table, questions);
            let Some(sample) = Sample::new(table, &said, z) else { return Vec::new() };
            let mut hearing = Hearing::new(table, &said);
            let workers = 0..table.worker_count() as u32;
            let found: Vec<Copied> = workers
                .filter_map(|worker| sample.of_worker(&mut hearing, worker, &mut Answers::default()))
                .collect();
            let effect =
                Dependence::effect(questions as f64, found.iter().map(|one| one.dependence));
            let of = |one: Copied| [one.share, one.variance, one.ratios[0], one.ratios[1]].map(Some);
            found.into_iter().flat_map(|one| of(one.of_fewer(effect))).collect()
        };
        assert_close(&all(&again, 3, &z_again), &all(once, 1, z), ROUNDED);
    }

    #[test]
    fn names_and_order_change_nothing(crowd in random_crowd(), seed in 0..100_u64) {
        let settings = OwnSettings { min_tasks: 2, ..OwnSettings::default() };
        let run = |table: &LabelTable, z: &Labels| {
            OwnAnswers::new(&[source(std::slice::from_ref(z))], settings).judge(table).unwrap()
        };
        let (other, workers) = shuffled(&crowd, seed);
        let (one, two) = (run(&crowd.table, &crowd.z), run(&other.table, &other.z));
        for (worker, &number) in workers.iter().enumerate() {
            let (a, b) = (&one.workers[worker], &two.workers[number as usize]);
            assert_close(&[a.score, a.p_own], &[b.score, b.p_own], ROUNDED);
            prop_assert_eq!(a.not_judged, b.not_judged);
        }
    }
}

#[test]
fn one_label_always_is_confirmed_exactly_as_much_as_chance() {
    // a and b say x, y, x, y; c says x always.
    let mut reports = Vec::new();
    for task in 0..4_u32 {
        let label = Label::from(task % 2 == 1);
        reports.extend([(task, 0, label), (task, 1, label), (task, 2, 0)]);
    }
    let table = numbered((4, 3, 2), &reports);
    let said = Said::new(&table, 1);
    let mut tally = Tally::new(2);
    let mut hearing = Hearing::new(&table, &said);
    // On x tasks all others of c say x, on y tasks none; elsewhere 1/3 and 2/3 of them: 2/3 - 2/3.
    let c = tally.of_worker(&mut hearing, 2);
    assert!(c.value.abs() < 1e-15, "{c:?}");
    assert_eq!((c.agreement, c.favourite), (0.5, Some(0)));
    // Of a: on x tasks 1, on y tasks 1/2; elsewhere x by (1 + 1/2 + 1/2) / 3, y by (1/2) / 3.
    let a = tally.of_worker(&mut hearing, 0);
    assert!((a.value - (0.75 - (2.0 / 3.0 + 1.0 / 6.0) / 2.0)).abs() < 1e-15, "{a:?}");
    assert_eq!((a.agreement, a.favourite), (0.75, None));
}
