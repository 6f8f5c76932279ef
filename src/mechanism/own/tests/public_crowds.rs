//! Bars on public crowds, cheaters planted in them.

use super::*;

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
