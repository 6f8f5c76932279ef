//! A venue of 5,000 reviewers with 20,000 reviews.

use caz::for_tests::Page;
use caz::for_tests::{Details, Shade, ShownSentence, TextSentence};
use caz::{
    Exporter, HtmlExporter, Readers, ReportText as ReviewText, ReviewRow, Reviews, ReviewsRun,
    ReviewsSettings, ScoreName, Silent, ZRow, reviews as reviews_of, write_file,
};
use serde_json::{Value, json};

use super::browser::Browser;
use super::one_at_a_time;

const REVIEWERS: usize = 5_000;
const REVIEWS: usize = 20_000;
const PER_PAPER: usize = 4;

/// Largest file with excerpts.
const MAX_BYTES: u64 = 25_000_000;

/// Sentences of a text that are in the file, as many as of real reviews.
const SENTENCES: u32 = 6;

/// Characters of each: those of all texts together are as many as the program lets into one file.
const CHARACTERS: usize = 80;

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

    /// A sentence cut at a length, as in an excerpt.
    fn sentence(&mut self) -> String {
        let mut text = String::from("It");
        while text.len() < CHARACTERS {
            text.push(' ');
            text.push_str(WORDS[self.below(WORDS.len())]);
        }
        text.truncate(CHARACTERS);
        text
    }

    /// A number in [-1, 1).
    fn number(&mut self) -> f64 {
        self.below(20_000) as f64 / 10_000.0 - 1.0
    }

    fn vector(&mut self) -> Vec<f64> {
        (0..8).map(|_| self.number()).collect()
    }
}

/// A venue whose vectors are given, scored by the library.
///
/// Not by the program from texts: embedding and comparing 300,000 sentences takes the better part of
/// an hour where nothing is optimised, and says nothing about the page.
fn venue(draws: &mut Draws) -> ReviewsRun {
    let (mut reviews, mut z) = (Vec::new(), Vec::new());
    for review in 0..REVIEWS {
        let (paper, place) = (review / PER_PAPER, review % PER_PAPER);
        // Reviewers of one paper are strangers on the next.
        let reviewer = (paper + place * (1_249 + paper % 7)) % REVIEWERS;
        let reviewer = format!("~First_Lastname{reviewer}");
        let mut row = ReviewRow::new(format!("submission-{paper}"), reviewer);
        row.vector = Some(draws.vector());
        reviews.push(row);
    }
    for paper in 0..REVIEWS / PER_PAPER {
        let mut row = ZRow::new(format!("submission-{paper}"));
        row.vector = Some(draws.vector());
        z.push(row);
    }
    let mut settings = ReviewsSettings::default();
    settings.score = Some(vec![
        ScoreName::Projected,
        ScoreName::Cosine,
        ScoreName::Negative,
        ScoreName::Combined,
    ]);
    reviews_of(Reviews::from_rows(reviews, z).unwrap(), &settings, &Silent).unwrap()
}

/// Fills in as many sentences, with what was found about them, as the page of real texts has.
fn fill_in(page: &mut Page, draws: &mut Draws) {
    let Some(Details::Reviews(details)) = page.people.as_mut().map(|people| &mut people.details)
    else {
        panic!("a page of reviews")
    };
    details.text = ReviewText::Excerpts;
    details.cut_after = Some(CHARACTERS);
    details.shading = "Shaded: by a rule.".into();
    for row in &mut details.rows {
        row.flag = Some("clear");
        row.reads_as = Some("an LLM's review".into());
        (row.p_own, row.copied) = (Some(0.123), Some(0.456));
        row.key = "0123456789ab".into();
    }
    for text in details.texts.iter_mut().flatten() {
        text.length = 2 * SENTENCES as usize;
        let sentence =
            |at| TextSentence { position: 2 * at, text: draws.sentence(), is_form: false };
        text.sentences = (0..SENTENCES).map(sentence).collect();
    }
    for detail in details.people.iter_mut().flatten() {
        let last = detail.peers.len();
        detail.closest_z = Some(last + 1);
        detail.closest_peer = Some(if detail.own == last { 0 } else { last });
        detail.sentences = (0..SENTENCES)
            .map(|at| ShownSentence {
                position: 2 * at,
                z_similarity: Some(draws.number()),
                peer_support: Some(draws.number()),
                beyond_others: None,
                shade: Shade::Z,
                in_z: Some((2 * at, draws.number())),
                in_peer: Some((2 * at, draws.number())),
            })
            .collect();
    }
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn thousands_of_people_stay_usable() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let start = std::time::Instant::now();
    let mut draws = Draws(7);
    let run = venue(&mut draws);
    let (report, mut shown) = (run.report().unwrap(), run.page(ReviewText::None).unwrap());
    fill_in(&mut shown, &mut draws);
    let page = folder.path().join("report.html");
    write_file(&page, Readers::Owner, |out| HtmlExporter { page: &shown }.write(&report, out))
        .unwrap();
    let bytes = page.metadata().unwrap().len();
    eprintln!("report of {REVIEWS} reviews: {bytes} bytes, made in {:?}", start.elapsed());
    assert!((15_000_000..MAX_BYTES).contains(&bytes), "{bytes} bytes");

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
    // What the page itself needs, whatever else the machine does: time of its thread.
    browser.devtools("Performance.enable", &json!({ "timeDomain": "threadTicks" }));
    let worked = || -> f64 {
        let all = browser.devtools("Performance.getMetrics", &json!({}));
        let metrics = all["metrics"].as_array().unwrap();
        let its = |name: &str| metrics.iter().find(|metric| metric["name"] == name);
        its("TaskDuration").unwrap()["value"].as_f64().unwrap() * 1e3
    };
    let before = worked();
    let sorts: Vec<Value> = [0, 1, 2, 3, 4, 1, 0].map(sort).to_vec();
    let each = (worked() - before) / sorts.len() as f64;
    eprintln!("work of the page for a sort: {each:.0} ms");
    let open = browser.run(
        "const start = performance.now(); location.hash = '#person=~First_Lastname4999'; \
         dispatchEvent(new HashChangeEvent('hashchange')); return performance.now() - start",
    );
    eprintln!("first paint {first_paint} ms, sorts {sorts:?} ms, opening a person {open} ms");

    // Only what is seen is drawn, wherever the list is scrolled to.
    browser.run("location.hash = '#people'");
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
    browser.run("document.querySelectorAll('#list thead button')[4].click()");
    let drawn = "return document.querySelectorAll('#list tr.person').length";
    let rows = |browser: &Browser| browser.run(drawn).as_u64().unwrap();
    assert!((10..100).contains(&rows(&browser)));
    browser.run("const s = document.getElementById('scroller'); s.scrollTop = s.scrollHeight");
    let last = "return [...document.querySelectorAll('#list tr.person')].pop().ariaRowIndex";
    browser.wait_for(last, &json!((REVIEWERS + 1).to_string()));
    assert!((10..100).contains(&rows(&browser)));
    let sorted = "return [...document.querySelectorAll('#list tr.person td:nth-child(5)')]\
                  .map(c => Number(c.textContent)).every((papers, i, all) => !i || all[i - 1] <= papers)";
    assert_eq!(browser.run(sorted), json!(true));
    browser.type_into("#search", "lastname4999");
    assert_eq!(rows(&browser), 1);
    browser.assert_quiet(&page);
    browser.screenshot("report-large.png");
}
