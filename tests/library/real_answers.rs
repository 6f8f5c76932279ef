//! What `own` says of real crowd workers' answers, where some hand in an LLM's: who quotes the task's passages, as
//! the LLM does, is not one of them.
//!
//! The data are not part of the project; the test fails where they are missing.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a failed step fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use caz::for_tests::{
    Content, NoProgress, OwnFlag, OwnSettings, ReviewSet, check_texts, own_scores, plant,
    read_reviews, tfidf_vectors,
};
use caz::{Duplicates, Source};
use serde_json::Value;

/// Who may really have used an LLM.
const DOUBTFUL: &str = "82e5";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The answers to topics that nothing was tuned on, with what workers and the LLM had before them.
fn real_data() -> ReviewSet {
    let file = |name: &str| path("../shared/data/answers-rag").join(name);
    let read = |name| Source::read(&file(name)).unwrap();
    let mut set =
        read_reviews(&read("answers.jsonl"), &[read("z.jsonl")], Duplicates::First).unwrap().set;
    let halves = std::fs::read_to_string(path("docs/own-halves.csv")).unwrap();
    let held_out: BTreeSet<&str> = halves
        .lines()
        .filter_map(|line| line.strip_prefix("answers-rag,")?.strip_suffix(",held_out"))
        .collect();
    let papers = set.papers.names().to_vec();
    let is_held_out = |paper: u32| held_out.contains(papers[paper as usize].as_str());
    let workers = set.reviewers.names().to_vec();
    set.reviews.retain(|review| {
        is_held_out(review.paper) && !workers[review.reviewer as usize].starts_with(DOUBTFUL)
    });
    set.z.retain(|z| is_held_out(z.paper));
    let tasks = std::fs::read_to_string(file("tasks.jsonl")).unwrap();
    let tasks: BTreeMap<String, String> = tasks
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row[name].as_str().unwrap().to_owned();
            (field("paper"), field("text"))
        })
        .collect();
    let content = |paper: &String| {
        Some(Content { text: Some(tasks.get(paper)?.clone()), ..Content::default() })
    };
    set.tasks = papers.iter().map(content).collect();
    set
}

/// People of one to six answers each, every `one_in` of whom hands in the LLM's answer of the style that is no Z;
/// all cut to so many words. The numbers of those.
fn made(
    mut set: ReviewSet,
    style: u32,
    one_in: Option<usize>,
    words: Option<usize>,
) -> (ReviewSet, BTreeSet<u32>) {
    let mut answers_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (answer, review) in set.reviews.iter().enumerate() {
        answers_of.entry(review.reviewer).or_default().push(answer);
    }
    let mut people = ReviewSet::default().reviewers;
    let mut bad = BTreeSet::new();
    let unheld: BTreeMap<u32, Content> =
        set.z.iter().filter(|z| z.source == style).map(|z| (z.paper, z.content.clone())).collect();
    set.z.retain(|z| z.source != style);
    for answers in answers_of.values() {
        let mut left = &answers[..];
        while !left.is_empty() {
            let count = people.len();
            let person = people.intern(&format!("person {count:03}"));
            let (of_person, rest) = left.split_at((1 + count * 5 % 6).min(left.len()));
            left = rest;
            let cheats = one_in.is_some_and(|one_in| count % one_in == 0);
            for &answer in of_person {
                let review = &mut set.reviews[answer];
                review.reviewer = person;
                if cheats {
                    bad.insert(person);
                    review.content = unheld[&review.paper].clone();
                }
            }
        }
    }
    set.reviewers = people;
    let cut = |content: &mut Content| {
        let text = content.text.take().unwrap();
        let kept = text.split_whitespace().take(words.unwrap_or(usize::MAX));
        content.text = Some(kept.collect::<Vec<_>>().join(" "));
    };
    set.reviews.iter_mut().for_each(|review| cut(&mut review.content));
    set.z.iter_mut().for_each(|z| cut(&mut z.content));
    (set, bad)
}

/// Cheaters who are found and all of them, honest people who are flagged and all of these; each of the three
/// styles is no Z once.
fn found(of: &ReviewSet, one_in: Option<usize>, words: Option<usize>) -> [usize; 4] {
    let mut counts = [0; 4];
    for style in 0..3 {
        let (set, bad) = made(of.clone(), style, one_in, words);
        let settings = OwnSettings::default();
        let planted = plant(&set, &check_texts(&set, &settings), &settings);
        let vectors = tfidf_vectors(&set, &planted, &NoProgress).unwrap().unwrap();
        let said = own_scores(&set, &planted, vectors, &settings, &|_| false, &NoProgress).unwrap();
        for (number, person) in (0..).zip(&said.reviewers) {
            let place = if bad.contains(&number) { 0 } else { 2 };
            counts[place] += usize::from(person.flag == OwnFlag::Look);
            counts[place + 1] += 1;
        }
        println!("style {style}, one in {one_in:?}, {words:?} words: {counts:?}");
    }
    counts
}

#[test]
#[ignore = "needs ../shared/data"]
fn who_hands_in_an_llms_answers_is_found_and_nobody_for_quoting_as_it_does() {
    let set = real_data();
    // With two Z and one in ten or three: found, and false ones among the flagged, in hundredths. Of ten false ones
    // with 40 words five are answers of one worker, who keeps close to the passages.
    for (words, least_found, most_false) in [(None, 80, 12), (Some(40), 25, 17)] {
        let [of_few, of_many] = [Some(10), Some(3)].map(|one_in| found(&set, one_in, words));
        let [found, bad, honest, _] = [0, 1, 2, 3].map(|at| of_few[at] + of_many[at]);
        assert!(100 * found >= least_found * bad, "{found} of {bad} found");
        let flagged = found + honest;
        assert!(100 * honest <= most_false * flagged, "{honest} of {flagged} flagged are honest");
    }
    // Nobody cheats: at most one in sixty.
    for words in [None, Some(40)] {
        let [_, _, honest, people] = found(&set, None, words);
        assert!(60 * honest <= people, "{honest} of {people} honest people flagged");
    }
}
