//! A venue of 5,000 reviewers with 20,000 reviews.

use std::fmt::Write;

use serde_json::{Value, json};

use super::browser::Browser;
use super::{one_at_a_time, report_of};

const REVIEWERS: usize = 5_000;
const REVIEWS: usize = 20_000;
const PER_PAPER: usize = 4;

/// Largest file with excerpts.
const MAX_BYTES: u64 = 25_000_000;

/// Words of reviews, so that sentences have about the length of real ones.
const WORDS: [&str; 48] = [
    "the",
    "paper",
    "proposes",
    "a",
    "method",
    "for",
    "learning",
    "of",
    "representations",
    "with",
    "attention",
    "and",
    "memory",
    "but",
    "experiments",
    "are",
    "limited",
    "to",
    "small",
    "data",
    "baselines",
    "missing",
    "ablation",
    "would",
    "help",
    "understand",
    "which",
    "component",
    "matters",
    "table",
    "figure",
    "section",
    "results",
    "significance",
    "variance",
    "seeds",
    "theorem",
    "proof",
    "assumption",
    "unclear",
    "notation",
    "related",
    "work",
    "comparison",
    "scaling",
    "budget",
    "evaluation",
    "metric",
];

/// Numbers in no simple pattern, the same every time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        // Knuth's MMIX.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Twelve sentences of 10 to 30 words: about 1,500 letters, as reviews have.
    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..12 {
            text.push_str("It");
            for _ in 0..10 + self.below(21) {
                text.push(' ');
                text.push_str(WORDS[self.below(WORDS.len())]);
            }
            text.push_str(". ");
        }
        text
    }
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn thousands_of_people_stay_usable() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Draws(7);
    let (mut reviews, mut z) = (String::new(), String::new());
    for review in 0..REVIEWS {
        let (paper, place) = (review / PER_PAPER, review % PER_PAPER);
        // Reviewers of one paper are strangers on the next.
        let reviewer = (paper + place * (1_249 + paper % 7)) % REVIEWERS;
        let row = json!({ "paper": format!("submission-{paper}"),
            "reviewer": format!("~First_Lastname{reviewer}"), "text": draws.text() });
        writeln!(reviews, "{row}").unwrap();
    }
    for paper in 0..REVIEWS / PER_PAPER {
        let row = json!({ "paper": format!("submission-{paper}"), "text": draws.text() });
        writeln!(z, "{row}").unwrap();
    }
    std::fs::write(folder.path().join("reviews.jsonl"), reviews).unwrap();
    std::fs::write(folder.path().join("z.jsonl"), z).unwrap();
    let start = std::time::Instant::now();
    let arguments = [
        "reviews",
        "reviews.jsonl",
        "--z",
        "z.jsonl",
        // Without own, whose ghosts would take minutes in a program that is not optimised.
        "--score",
        "projected,cosine,negative,combined",
        "--embedder",
        "static",
        "--duplicates",
        "first",
        "--output",
        "scores.csv",
    ];
    let page = report_of(folder.path(), &arguments);
    let bytes = page.metadata().unwrap().len();
    eprintln!("report of {REVIEWS} reviews: {bytes} bytes, made in {:?}", start.elapsed());
    assert!(bytes < MAX_BYTES, "{bytes} bytes");

    let browser = Browser::start();
    browser.open(&page);
    let said = format!("{REVIEWERS} of {REVIEWERS} reviewers");
    browser.wait_for("return document.getElementById('shown').textContent", &json!(said));
    // Timings are reported and decide nothing: machines differ.
    let paint =
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
    let first_paint = browser.run(paint);
    let sort = |column: usize| -> Value {
        browser.run(&format!(
            "const button = document.querySelectorAll('#list thead button')[{column}]; \
             const start = performance.now(); button.click(); \
             document.getElementById('scroller').getBoundingClientRect(); \
             return performance.now() - start"
        ))
    };
    let sorts: Vec<Value> = [0, 1, 2, 3, 4, 1, 0].map(sort).to_vec();
    let open = browser.run(
        "const start = performance.now(); location.hash = '#person=~First_Lastname4999'; \
         dispatchEvent(new HashChangeEvent('hashchange')); return performance.now() - start",
    );
    eprintln!("first paint {first_paint} ms, sorts {sorts:?} ms, opening a person {open} ms");

    // Only what is seen is drawn, wherever the list is scrolled to.
    browser.run("location.hash = '#people'");
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
    browser.run("document.querySelectorAll('#list thead button')[3].click()");
    let drawn = "return document.querySelectorAll('#list tr.person').length";
    let rows = |browser: &Browser| browser.run(drawn).as_u64().unwrap();
    assert!((10..100).contains(&rows(&browser)));
    browser.run("const s = document.getElementById('scroller'); s.scrollTop = s.scrollHeight");
    let last = "return [...document.querySelectorAll('#list tr.person')].pop().ariaRowIndex";
    browser.wait_for(last, &json!((REVIEWERS + 1).to_string()));
    assert!((10..100).contains(&rows(&browser)));
    let sorted = "return [...document.querySelectorAll('#list tr.person td:nth-child(4)')]\
                  .map(c => Number(c.textContent)).every((rank, i, all) => !i || all[i - 1] <= rank)";
    assert_eq!(browser.run(sorted), json!(true));
    browser.type_into("#search", "lastname4999");
    assert_eq!(rows(&browser), 1);
    browser.assert_quiet(&page);
    browser.screenshot("report-large.png");
}
