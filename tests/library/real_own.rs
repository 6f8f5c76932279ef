//! What the project promises for `own`, on real reviews: who is flagged, and how many of them falsely.
//!
//! The data are not part of the project; the test fails where they are missing.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a failed step fails the test")]

use std::collections::BTreeSet;
use std::path::Path;

use caz::for_tests::{
    Calibration, CalibrationSettings, Half, Handed, NoProgress, OwnFlag, OwnSettings, ReviewSet,
    calibrate, check_texts, own_scores, plant, read_reviews, tfidf_vectors,
};
use caz::{Duplicates, Source};

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
            // All who copy; who writes about another paper is seldom sure enough with one review.
            Bar {
                name: "one paper, word for word",
                each: 1,
                most_false: 0.03,
                recall: 0.34,
                ..NONE
            },
            Bar { name: "one paper, clean", each: 1, cheat: false, people: 0.005, ..NONE },
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
        Bar { name: "one paper, word for word", each: 1, most_false: 0.03, recall: 0.34, ..NONE },
        Bar { name: "one paper, clean", each: 1, cheat: false, people: 0.005, ..NONE },
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
/// more of the flagged are honest than the .05 that is asked for; most of them read like an LLM's. An LLM's
/// first five sentences among whole reviews are seldom found, and a quarter of the few flags is false.
#[test]
#[ignore = "needs ../shared/data, minutes"]
fn with_one_paper_each_and_one_kind_of_cheaters_at_most_one_flag_in_eight_is_false() {
    let set = real_data();
    for (kind, recall, most_false) in
        [(Handed::Llm, 0.75, 1.0 / 8.0), (Handed::Shortened, 0.15, 0.27)]
    {
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
        assert!(rate.false_share.unwrap() <= most_false, "{kind:?}: {rate:?}");
        assert!(rate.people.unwrap() <= 0.015 && rate.recall.unwrap() >= recall, "{rate:?}");
    }
}

/// Made from real reviews: people of at most two papers, twelve of whom handed in something else.
struct Misfiled {
    set: ReviewSet,
    /// The paper each review was written for; `None` for one that is not in the set.
    written_for: Vec<Option<u32>>,
    wrong: Vec<bool>,
}

impl Misfiled {
    /// Reviews of papers `step` apart are one person's by their place; twelve people have filed theirs
    /// `shift` papers on.
    fn new(step: u32, shift: u32) -> Self {
        let mut set = real_data();
        let papers = u32::try_from(set.papers.len()).unwrap();
        let mut people = ReviewSet::default().reviewers;
        let mut seen = vec![0_usize; set.papers.len()];
        let (mut written_for, mut wrong) = (Vec::new(), Vec::new());
        for review in &mut set.reviews {
            let (paper, place) = (review.paper, seen[review.paper as usize]);
            let pair = paper / (2 * step) * step + paper % step;
            seen[paper as usize] += 1;
            review.reviewer = people.intern(&format!("{pair}-{place}"));
            written_for.push(Some(paper));
            let is_wrong = place == 0 && pair < 12;
            wrong.push(is_wrong);
            if is_wrong {
                review.paper = (paper + shift) % papers;
            }
        }
        set.reviewers = people;
        Self { set, written_for, wrong }
    }

    /// The twelve hand in reviews of papers that are left out of the venue.
    fn of_absent_papers() -> Self {
        let mut made = Self::new(1, 0);
        let absent = u32::try_from(made.set.papers.len()).unwrap() - 12;
        let texts = made.set.reviews.iter().filter(|review| review.paper >= absent);
        let texts: Vec<_> = texts.map(|review| review.content.clone()).collect();
        let mut next = texts.into_iter();
        for (index, review) in made.set.reviews.iter_mut().enumerate() {
            if made.wrong[index] {
                review.content = next.next().unwrap();
                made.written_for[index] = None;
            }
        }
        let kept: Vec<usize> =
            (0..made.set.reviews.len()).filter(|&r| made.set.reviews[r].paper < absent).collect();
        let set = ReviewSet {
            reviews: kept.iter().map(|&review| made.set.reviews[review].clone()).collect(),
            z: made.set.z.iter().filter(|z| z.paper < absent).cloned().collect(),
            ..made.set
        };
        let written_for = kept.iter().map(|&review| made.written_for[review]).collect();
        let wrong = kept.iter().map(|&review| made.wrong[review]).collect();
        Self { set, written_for, wrong }
    }

    /// Reviews of the twelve, those by people who read as off topic, those with the right paper named,
    /// those said to be close to the paper named, people flagged `look` and `unsure` of the twelve, and
    /// the others who are `look`.
    fn found(&self) -> [usize; 7] {
        let settings = OwnSettings::default();
        let planted = plant(&self.set, &check_texts(&self.set, &settings), &settings);
        let vectors = tfidf_vectors(&self.set, &planted, &NoProgress).unwrap().unwrap();
        let found =
            own_scores(&self.set, &planted, vectors, &settings, &|_| true, &NoProgress).unwrap();
        let mut counts = [0; 7];
        let mut twelve = BTreeSet::new();
        for (index, own) in found.reviews.iter().enumerate() {
            if !self.wrong[index] {
                continue;
            }
            twelve.insert(self.set.reviews[index].reviewer);
            counts[0] += 1;
            let Some(other) = own.other_paper else { continue };
            counts[1] += 1;
            counts[2] += usize::from(Some(other.paper) == self.written_for[index]);
            counts[3] += usize::from(other.is_close == Some(true));
        }
        for (number, reviewer) in (0..).zip(&found.reviewers) {
            match (twelve.contains(&number), reviewer.flag) {
                (true, OwnFlag::Look) => counts[4] += 1,
                (true, OwnFlag::Unsure) => counts[5] += 1,
                (false, OwnFlag::Look) => counts[6] += 1,
                _ => {}
            }
        }
        println!("{counts:?} of {} others", found.reviewers.len() - twelve.len());
        counts
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn real_reviews_filed_under_wrong_papers_are_seen_and_the_right_papers_named() {
    for (step, shift) in [(1, 37), (7, 11), (33, 50)] {
        let [reviews, seen, right, close, look, unsure, others] =
            Misfiled::new(step, shift).found();
        assert_eq!(reviews, 24);
        assert!(seen >= 20 && right >= 20, "{seen} seen, {right} named rightly");
        assert!(5 * close >= 3 * seen, "{close} of {seen} are said to be close");
        assert!(
            look + unsure >= 10 && others <= 1,
            "{look} look, {unsure} unsure, {others} others look"
        );
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn real_reviews_of_papers_that_are_not_there_are_seldom_said_to_be_close_to_one() {
    let [reviews, seen, _, close, ..] = Misfiled::of_absent_papers().found();
    assert_eq!(reviews, 24);
    assert!(seen >= 20 && 3 * close <= seen, "{close} of {seen} are said to be close to a paper");
}
