//! `own` at the size of ICLR 2026: 19,500 papers, 76,000 reviews, two Z of each paper.
//!
//! `cargo bench --bench own` makes venues of an eighth, a quarter, a half and the whole of that size,
//! and prints for each the seconds of planting, weighing words and scoring, the most memory the
//! process had, and by which power of the reviews the time grew since the size before (1 is linear).
//! Run it on two cores with `RAYON_NUM_THREADS=2`. `--test` makes one small venue.
//!
//! Texts are sentences of the bundled venue, of which every sixth word is replaced by one of thirty
//! invented words of the paper: about 300 words a review, 600 a Z, half a million different words.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::Instant;

use caz::for_tests::{
    Content, NoProgress, OwnFlag, OwnSettings, Review, ReviewSet, ZReview, check_texts, own_scores,
    plant, tfidf_vectors,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PAPERS: u32 = 19_500;
const REVIEWS: u32 = 76_000;
/// Reviews of one person, so that there are 25,334 people.
const PAPERS_EACH: u32 = 3;
/// Words of one paper's own.
const PAPER_WORDS: u32 = 30;
/// One word of so many is the paper's own.
const OWN_WORD: f64 = 1.0 / 6.0;

/// Sentences of the bundled texts, by word.
fn sentences(file: &str) -> Vec<Vec<String>> {
    let lines = file.lines().filter_map(|line| serde_json::from_str(line).ok());
    let texts = lines.filter_map(|row: serde_json::Value| Some(row["text"].as_str()?.to_owned()));
    texts
        .flat_map(|text| {
            let sentences = text.split_inclusive(". ").map(|sentence| {
                sentence.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
            });
            sentences.collect::<Vec<_>>()
        })
        .collect()
}

struct Writer {
    people: Vec<Vec<String>>,
    llm: Vec<Vec<String>>,
    random: ChaCha8Rng,
}

impl Writer {
    fn text(&mut self, paper: u32, llm: bool, words: usize) -> String {
        let mut text = String::new();
        let mut count = 0;
        while count < words {
            let pool = if llm { &self.llm } else { &self.people };
            let sentence = &pool[self.random.random_range(0..pool.len())];
            for word in sentence {
                if self.random.random_bool(OWN_WORD) {
                    let end = if word.ends_with('.') { "." } else { "" };
                    let number = self.random.random_range(0..PAPER_WORDS);
                    text.push_str(&format!("term{paper}x{number}{end} "));
                } else {
                    text.push_str(word);
                    text.push(' ');
                }
                count += 1;
            }
        }
        text
    }

    /// A venue of `1 / part` of the whole; one reviewer in a hundred hands in Z.
    fn venue(&mut self, part: u32) -> ReviewSet {
        let (papers, reviews) = (PAPERS / part, REVIEWS / part);
        let mut set = ReviewSet::default();
        for source in ["first", "second"] {
            let source = set.sources.intern(source);
            for paper in 0..papers {
                let text = Some(self.text(paper, true, 600));
                let paper = set.papers.intern(&format!("p{paper}"));
                set.z.push(ZReview {
                    paper,
                    source,
                    content: Content { text, ..Content::default() },
                });
            }
        }
        let people = reviews.div_ceil(PAPERS_EACH);
        for number in 0..reviews {
            let (paper, reviewer) = (number % papers, number % people);
            let text = if reviewer % 100 == 0 {
                set.z[paper as usize].content.text.clone()
            } else {
                Some(self.text(paper, false, 300))
            };
            let reviewer = set.reviewers.intern(&format!("r{reviewer}"));
            set.reviews.push(Review {
                paper,
                reviewer,
                content: Content { text, ..Content::default() },
            });
        }
        set
    }
}

/// The most memory that the process had so far, where the system says.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() {
    let parts: &[u32] =
        if std::env::args().any(|argument| argument == "--test") { &[500] } else { &[8, 4, 2, 1] };
    let read = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/venue/");
        sentences(&std::fs::read_to_string(format!("{folder}{name}")).expect("the bundled venue"))
    };
    let mut writer = Writer {
        people: read("reviews.jsonl"),
        llm: read("llm-reviews.jsonl"),
        random: ChaCha8Rng::seed_from_u64(7),
    };
    let mut before: Option<(f64, f64)> = None;
    for &part in parts {
        let set = writer.venue(part);
        let start = Instant::now();
        let settings = OwnSettings::default();
        let planted = plant(&set, &check_texts(&set, &settings), &settings);
        let planting = start.elapsed().as_secs_f64();
        let vectors = tfidf_vectors(&set, &planted, &NoProgress).expect("words have weights");
        let vectors = vectors.expect("all are texts");
        let weighing = start.elapsed().as_secs_f64() - planting;
        let scores = own_scores(&set, &planted, vectors, &settings, &|_| false, &NoProgress);
        let scores = scores.expect("vectors fit");
        let all = start.elapsed().as_secs_f64();
        let flagged = scores.reviewers.iter().filter(|r| r.flag == OwnFlag::Look).count();
        let reviews = set.reviews.len() as f64;
        let power = before.map(|(n, time)| (all / time).ln() / (reviews / n).ln());
        before = Some((reviews, all));
        println!(
            "own/papers={}/reviews={}: {all:.1} s (planting {planting:.1}, weighing {weighing:.1}, \
             scoring {:.1}), growth {}, peak {} MB, {flagged} of {} flagged",
            set.papers.len(),
            set.reviews.len(),
            all - planting - weighing,
            power.map_or("-".into(), |power| format!("{power:.2}")),
            peak_megabytes().map_or("?".into(), |peak| format!("{peak:.0}")),
            set.reviewers.len()
        );
    }
}
