//! What is reckoned from the labels, by hand and against draws.

use super::*;

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
