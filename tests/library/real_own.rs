//! What the project promises for `own`, on real reviews: who is flagged, and how many of them falsely.
//!
//! The data are not part of the project; the test fails where they are missing.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a failed step fails the test")]

use std::path::Path;

use caz::data::duplicates::Duplicates;
use caz::data::progress::NoProgress;
use caz::data::reviews::{ReviewSet, read_reviews};
use caz::data::source::Source;
use caz::experiment::own_calibration::{Calibration, CalibrationSettings, Handed, calibrate};
use caz::experiment::reviews::Half;
use caz::text::own::{OwnSettings, own_scores, plant, tfidf_vectors};

fn real_data() -> ReviewSet {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/reviews-iclr24");
    let read = |name| Source::read(&folder.join(name)).unwrap();
    read_reviews(&read("reviews.jsonl"), &[read("z.jsonl")], Duplicates::Error).unwrap().set
}

const CHEATERS: [(Handed, f64); 3] =
    [(Handed::Llm, 0.05), (Handed::OffTopic, 0.05), (Handed::OffTopicLlm, 0.05)];

fn show(name: &str, found: &Calibration) {
    let rates = found.rates.iter().map(|rate| {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
        format!(
            "[{}: false {} recall {} people {}]",
            rate.fdr,
            number(rate.false_share),
            number(rate.recall),
            number(rate.people)
        )
    });
    let rates: Vec<String> = rates.collect();
    println!(
        "{name}: auc {:.3} error {:.3} prevalence {:+.3} covered {:.2} {}",
        found.auc.unwrap_or(f64::NAN),
        found.calibration_error.unwrap(),
        found.prevalence_error.unwrap(),
        found.interval_coverage.unwrap(),
        rates.join(" ")
    );
    for of in &found.by_kind {
        println!("    {of:?}");
    }
}

/// One line of what is promised, at a rate of .05.
struct Bar {
    name: &'static str,
    each: usize,
    z: &'static [u32],
    handed: &'static [u32],
    leave_out: bool,
    cheat: bool,
    most_false: f64,
    recall: f64,
    people: f64,
}

fn hold(bars: &[Bar]) {
    hold_on(Half::All, 8, bars);
}

fn hold_on(half: Half, trials: u32, bars: &[Bar]) {
    let set = real_data();
    for bar in bars {
        let settings = CalibrationSettings {
            papers: half.papers(set.papers.len()),
            papers_each: vec![bar.each],
            z_sources: bar.z.to_vec(),
            handed_sources: bar.handed.to_vec(),
            leave_out: bar.leave_out,
            shares: if bar.cheat { CHEATERS.to_vec() } else { Vec::new() },
            trials,
            ..CalibrationSettings::clean(&set)
        };
        let found = calibrate(&set, &settings, &NoProgress);
        show(bar.name, &found);
        let rate = found.rates[1];
        assert!((rate.fdr - 0.05).abs() < 1e-12);
        if bar.cheat {
            let false_share = rate.false_share.unwrap();
            assert!(false_share <= bar.most_false, "{}: {false_share} false", bar.name);
            let recall = rate.recall.unwrap();
            assert!(recall >= bar.recall, "{}: recall {recall}", bar.name);
        } else {
            let people = rate.people.unwrap();
            assert!(people <= bar.people, "{}: {people} of the people flagged", bar.name);
        }
    }
}

const BOTH: &[u32] = &[0, 1];
const NONE: Bar = Bar {
    name: "",
    each: 3,
    z: BOTH,
    handed: BOTH,
    leave_out: false,
    cheat: true,
    most_false: 0.05,
    recall: 0.9,
    people: 0.005,
};

#[test]
#[ignore = "needs ../shared/data, minutes"]
fn flags_keep_their_promise_on_the_half_that_is_held_out() {
    hold_on(
        Half::Second,
        3,
        &[
            Bar { name: "three papers, word for word", ..NONE },
            Bar { name: "three papers, text not in Z", leave_out: true, ..NONE },
            Bar { name: "three papers, clean", cheat: false, ..NONE },
            Bar { name: "one paper, word for word", each: 1, most_false: 0.1, recall: 0.6, ..NONE },
            Bar { name: "one paper, clean", each: 1, cheat: false, people: 0.02, ..NONE },
        ],
    );
}

#[test]
#[ignore = "needs ../shared/data, minutes"]
fn flags_keep_their_promise_with_two_z() {
    hold(&[
        Bar { name: "three papers, word for word", ..NONE },
        Bar { name: "three papers, text not in Z", leave_out: true, ..NONE },
        Bar { name: "three papers, clean", cheat: false, ..NONE },
        Bar { name: "one paper, word for word", each: 1, most_false: 0.1, recall: 0.6, ..NONE },
        Bar { name: "one paper, clean", each: 1, cheat: false, people: 0.02, ..NONE },
    ]);
}

#[test]
#[ignore = "needs ../shared/data, minutes"]
fn flags_keep_their_promise_with_one_z() {
    let held = Bar { most_false: 0.06, recall: 0.85, ..NONE };
    hold(&[
        Bar { name: "first prompt is Z", z: &[0], handed: &[1], ..held },
        Bar { name: "second prompt is Z", z: &[1], handed: &[0], ..held },
        Bar { name: "first prompt is Z, word for word", z: &[0], handed: &[0], ..held },
        Bar { name: "second prompt is Z, word for word", z: &[1], handed: &[1], ..held },
        Bar { name: "first prompt is Z, clean", z: &[0], cheat: false, ..NONE },
        Bar { name: "second prompt is Z, clean", z: &[1], cheat: false, ..NONE },
    ]);
}

/// What is not promised but said in `docs/own.md`: with one paper each and 15 % cheaters of one kind
/// more of the flagged are honest than the .05 that is asked for; most of them read like an LLM's.
#[test]
#[ignore = "needs ../shared/data, minutes"]
fn with_one_paper_each_and_one_kind_of_cheaters_at_most_one_flag_in_six_is_false() {
    let set = real_data();
    for (kind, recall) in [(Handed::Llm, 0.75), (Handed::Shortened, 0.6)] {
        let settings = CalibrationSettings {
            papers: Half::Second.papers(set.papers.len()),
            papers_each: vec![1],
            leave_out: true,
            shares: vec![(kind, 0.15)],
            trials: 12,
            ..CalibrationSettings::clean(&set)
        };
        let found = calibrate(&set, &settings, &NoProgress);
        show(kind.as_str(), &found);
        let rate = found.rates[1];
        assert!(rate.false_share.unwrap() <= 1.0 / 6.0, "{kind:?}: {rate:?}");
        assert!(rate.people.unwrap() <= 0.025 && rate.recall.unwrap() >= recall, "{rate:?}");
    }
}

/// People of two papers each, put together from real reviews, of whom twelve have handed in both under
/// other papers.
#[test]
#[ignore = "needs ../shared/data"]
fn real_reviews_filed_under_wrong_papers_are_seen_and_the_right_papers_named() {
    let mut set = real_data();
    let papers = u32::try_from(set.papers.len()).unwrap();
    // The reviews of two neighbouring papers by their place are one person's.
    let mut seen = vec![0_usize; set.papers.len()];
    let mut written_for = Vec::new();
    let mut people = ReviewSet::default().reviewers;
    for review in &mut set.reviews {
        let (pair, place) = (review.paper / 2, seen[review.paper as usize]);
        seen[review.paper as usize] += 1;
        review.reviewer = people.intern(&format!("{pair}-{place}"));
        written_for.push(review.paper);
        if place == 0 && pair < 12 {
            review.paper = (review.paper + 37) % papers;
        }
    }
    set.reviewers = people;

    let settings = OwnSettings::default();
    let planted = plant(&set, &settings);
    let vectors = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
    let found = own_scores(&set, &planted, vec![vectors], &settings, &NoProgress).unwrap();
    let (mut misfiled, mut accused, mut named, mut right) = (0, 0, 0, 0);
    for (index, own) in found.reviews.iter().enumerate() {
        let is_misfiled = set.reviews[index].paper != written_for[index];
        misfiled += usize::from(is_misfiled);
        let Some(elsewhere) = own.elsewhere else { continue };
        if is_misfiled {
            named += 1;
            right += usize::from(elsewhere.paper == written_for[index]);
        } else {
            accused += 1;
        }
    }
    println!("{misfiled} misfiled, {named} seen, {right} named rightly, {accused} others");
    assert_eq!(misfiled, 24);
    assert!(named >= 20 && 10 * right >= 9 * named, "{named} seen, {right} named rightly");
    assert!(accused <= 4, "{accused} reviews that were filed rightly");
}
