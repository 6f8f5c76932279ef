//! What a chair does with the report of the sample: sort, filter, search, open, go back.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::browser::Browser;
use super::{one_at_a_time, report_of, sample_file};

const DOWN: char = '\u{e015}';
const ENTER: char = '\u{e007}';
const END: char = '\u{e010}';

/// Names in the list from top to bottom.
const NAMES: &str =
    "return [...document.querySelectorAll('#list tr.person th')].map(c => c.textContent).join(' ')";

fn reviews(folder: &Path, more: &[&str]) -> PathBuf {
    let (reviews, z) = (sample_file("reviews.jsonl"), sample_file("llm-reviews.jsonl"));
    // The page of the paper's score, unless another one is asked for.
    let score = if more.contains(&"--score") { &[][..] } else { &["--score", "projected"] };
    report_of(folder, &[&["reviews", &reviews, "--z", &z], score, more].concat())
}

fn labels(folder: &Path) -> PathBuf {
    let (labels, z) = (sample_file("labels.csv"), sample_file("llm-labels.csv"));
    report_of(folder, &["labels", &labels, "--z", &z, "--mechanism", "all"])
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn messages_and_requests_of_a_bad_page_are_seen() {
    // Without this the other tests might be quiet because nobody listens.
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("bad.html");
    let markup = "<!doctype html><script>console.error('seen')</script><img src='other.png'>";
    std::fs::write(&page, markup).unwrap();
    let browser = Browser::start();
    browser.open(&page);
    assert!(browser.console().iter().any(|message| message.contains("seen")));
    assert!(browser.requests().iter().any(|request| request.ends_with("other.png")));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn people_are_sorted_filtered_and_searched() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    // Own would lead the list, which then has no column of scores.
    let page = reviews(folder.path(), &["--score", "projected,cosine,negative,combined"]);
    let browser = Browser::start();
    browser.open(&page);
    // Worst first, as the README shows.
    assert_eq!(browser.run(NAMES), json!("finn ada dora emil bruno chen"));
    assert_eq!(browser.text("#shown"), "6 of 6 reviewers");

    let sorted = "return [...document.querySelectorAll('#list th[aria-sort]')]\
                  .map(h => h.textContent + ' ' + h.getAttribute('aria-sort')).join()";
    assert_eq!(browser.run(sorted), json!("score ascending"));
    browser.click("#list thead th:nth-child(2) button");
    assert_eq!(browser.run(NAMES), json!("chen bruno emil dora ada finn"));
    assert_eq!(browser.run(sorted), json!("score descending"));
    browser.click("#list thead th:nth-child(1) button");
    assert_eq!(browser.run(NAMES), json!("ada bruno chen dora emil finn"));
    // By the number of papers: three have 4, two have 3, one has 6.
    browser.click("#list thead th:nth-child(5) button");
    assert_eq!(browser.run(NAMES), json!("ada dora bruno chen emil finn"));

    browser.type_into("#search", "N");
    assert_eq!(browser.run(NAMES), json!("bruno chen finn"));
    assert_eq!(browser.text("#shown"), "3 of 6 reviewers");
    browser.run(
        "const box = document.getElementById('search'); box.value = ''; \
         box.dispatchEvent(new Event('input'))",
    );
    browser.run(
        "const box = document.getElementById('flag'); box.value = 'inconclusive'; \
         box.dispatchEvent(new Event('change'))",
    );
    assert_eq!(browser.text("#flag option:checked"), "inconclusive");
    assert_eq!(browser.run(NAMES), json!("finn"));
    browser.click("#flag option:nth-child(1)");
    browser.run(
        "const box = document.getElementById('least'); box.value = 4; \
         box.dispatchEvent(new Event('input'))",
    );
    assert_eq!(browser.run(NAMES), json!("bruno chen emil finn"));

    // Another score: its plot, and its ranks.
    browser.click("#view option:nth-child(3)");
    let visible = "return [...document.querySelectorAll('.distribution')]\
                   .filter(f => !f.hidden).map(f => f.dataset.view).join()";
    assert_eq!(browser.run(visible), json!("2"));
    browser.assert_quiet(&page);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn a_person_opens_by_click_and_by_keyboard_and_the_way_back_is_the_same() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = reviews(folder.path(), &[]);
    let browser = Browser::start();
    browser.open(&page);
    browser.click("#list tr.person td");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("finn"));
    assert_eq!(browser.run("return location.hash"), json!("#person=finn"));
    assert_eq!(browser.run("return document.activeElement.id"), json!("person-name"));
    assert_eq!(browser.run("return document.querySelectorAll('.paper').length"), json!(6));
    let evidence = browser.text("#evidence");
    // The similarities that the README shows.
    for part in
        ["Paper P1", "ada 0.816 -0.160", "bruno 0.816 0.026", "llm 0.980", "LLM 0.936, peers 0.531"]
    {
        assert!(evidence.contains(part), "no {part} in {evidence}");
    }
    // The interval is marked in the plot, its low end beyond the frame and so with an arrow, and
    // the dot in the other plot.
    let marked = "const ends = [...document.querySelectorAll('.distribution .overlay polyline')]; \
                  return [...ends.map(end => end.points.length), \
                  document.querySelector('.dot.selected').dataset.person]";
    assert_eq!(browser.run(marked), json!([3, 2, "5"]));
    assert_eq!(browser.run("return document.getElementById('people').hidden"), json!(true));

    // A peer, from the evidence, and both ways back.
    browser.click("#evidence a");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("ada"));
    browser.back();
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("finn"));
    browser.back();
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
    assert_eq!(browser.run(NAMES), json!("finn ada dora emil bruno chen"));

    // The keyboard: focus is on the row we came from; two down is dora.
    browser.wait_for("return document.activeElement.className", &json!("person active"));
    browser.press(&[DOWN, DOWN, ENTER]);
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("dora"));
    browser.click("#next");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("emil"));
    browser.click("#back");
    browser.wait_for("return document.activeElement.className", &json!("person active"));
    browser.press(&[END, ENTER]);
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("chen"));
    let next = "return document.getElementById('next').hasAttribute('href')";
    assert_eq!(browser.run(next), json!(false));
    browser.assert_quiet(&page);

    // A link to one person works from outside, and a wrong one shows the list.
    browser.run("location.hash = '#person=bruno'; location.reload()");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("bruno"));
    browser.run("location.hash = '#person=nobody'");
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_text_in_the_file_is_what_was_asked_for() {
    let _one = one_at_a_time();
    let browser = Browser::start();
    let sentences = "return document.querySelectorAll('.own mark.sentence').length";
    let read = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let page = reviews(folder.path(), &["--report-text", text]);
        browser.open(&page);
        browser.run("location.hash = '#person=ada'");
        browser
            .wait_for("return document.getElementById('person-name').textContent", &json!("ada"));
        let count = browser.run(sentences).as_u64().unwrap();
        let html = std::fs::read_to_string(&page).unwrap();
        browser.assert_quiet(&page);
        (count, html)
    };
    let (none, html) = read("none");
    assert_eq!(none, 0);
    assert!(!html.contains("picking blocks by a cheap hash"));
    let (excerpts, _) = read("excerpts");
    let (full, html) = read("full");
    assert!(html.contains("picking blocks by a cheap hash"));
    // ada has three reviews, of which up to six sentences each are shown.
    assert!((9..=18).contains(&excerpts) && full >= excerpts, "{excerpts} {full}");
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn what_a_review_praises_and_criticises_stands_beside_its_peers_and_the_llm() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let (reviews, z) = (sample_file("reviews.jsonl"), sample_file("llm-reviews.jsonl"));
    let arguments =
        ["reviews", &reviews, "--z", &z, "--score", "projected", "--embedder", "aspects"];
    let page = report_of(folder.path(), &arguments);
    let browser = Browser::start();
    browser.open(&page);
    browser.click("#list tr.person td");
    browser.wait_for("return document.getElementById('person').hidden", &json!(false));
    // A bar for the review, one for its peers and one for the LLM in every row.
    let shape = "return [...document.querySelectorAll('.aspects tbody tr')].every(row => \
                 row.querySelectorAll('td svg.aspect rect').length === \
                 row.closest('table').querySelectorAll('thead th').length)";
    assert_eq!(browser.run(shape), json!(true));
    // Praise to the right of the middle and criticism to the left, as long as the number says.
    let drawn = "return [...document.querySelectorAll('.aspects td:has(svg)')].map(cell => { \
                 const bar = cell.querySelector('rect'); \
                 const value = Number(cell.textContent.split(' ').pop()); \
                 const [x, length] = ['x', 'width'].map(name => Number(bar.getAttribute(name))); \
                 const right = value < 0 ? Math.abs(x + length - 75) < .5 : Math.abs(x - 75) < .5; \
                 return right && Math.abs(length - Math.abs(value) * 74) < .6 })";
    let drawn = browser.run(drawn);
    let drawn = drawn.as_array().unwrap();
    assert!(drawn.len() > 6 && drawn.iter().all(|right| *right == json!(true)), "{drawn:?}");
    let told = browser.text("#evidence");
    assert!(told.contains("What it praises and criticises"), "{told}");
    assert!(told.contains("about half of what it says"), "{told}");
    browser.screenshot("report-aspects.png");
    browser.assert_quiet(&page);
    // Without such an embedder there is none.
    let page = report_of(folder.path(), &arguments[..6]);
    browser.open(&page);
    browser.click("#list tr.person td");
    browser.wait_for("return document.getElementById('person').hidden", &json!(false));
    assert_eq!(browser.run("return document.querySelectorAll('.aspects').length"), json!(0));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn pages_of_labels_assumptions_and_experiments_open() {
    let _one = one_at_a_time();
    let browser = Browser::start();
    let folder = tempfile::tempdir().unwrap();
    let page = labels(folder.path());
    browser.open(&page);
    assert_eq!(browser.run("return document.querySelectorAll('#view option').length"), json!(12));
    // Own leads the page, whose column of scores is hidden.
    browser.click("#list tr.person th");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("kai"));
    let person = browser.text("#person-scores");
    // The README: lambda of kai is 0.89.
    assert!(person.contains("lambda: 0.89"), "{person}");
    assert!(browser.text("#evidence").contains("Dawid-Skene"));
    // All 101 tasks of ana, by label.
    browser.run("location.hash = '#people'");
    browser.run("document.querySelectorAll('#list thead button')[0].click()");
    browser.click("#list tr.person th");
    browser.wait_for("return document.getElementById('person-name').textContent", &json!("ana"));
    let total = "return [...document.querySelectorAll('.confusion td')]\
                 .reduce((sum, cell) => sum + Number(cell.textContent), 0)";
    assert_eq!(browser.run(total), json!(101));
    // The tasks behind it: by what they tell, and together all of them.
    let told = browser.text("#evidence");
    assert!(told.contains("Of 101 tasks: "), "{told}");
    let rows = "return document.querySelectorAll('.tasks tbody tr').length";
    assert_eq!(browser.run(rows), json!(40));
    browser.screenshot("report-worker.png");
    browser.assert_quiet(&page);

    let (crowd, z) = (sample_file("labels.csv"), sample_file("llm-labels.csv"));
    let few = ["--bootstrap", "20"];
    let assumptions: Vec<&str> =
        ["assumptions", &crowd, "--z", &z].into_iter().chain(few).collect();
    let page = report_of(folder.path(), &assumptions);
    browser.open(&page);
    assert!(browser.text("h1").starts_with("Can conditioning"));
    assert_eq!(browser.run("return document.querySelectorAll('figure svg').length"), json!(1));
    // The verdict is above everything, the numbers are folded.
    // Nobody can stand for a cheater: there is one sample of one LLM.
    assert!(browser.text(".lead").starts_with("Nothing can be said"));
    assert!(!browser.text("main").contains("human_human"));
    browser.click("main summary");
    assert!(browser.text("main").contains("human_human"));
    browser.screenshot("report-assumptions.png");
    browser.assert_quiet(&page);

    let experiment =
        ["experiment", "detection", &crowd, "--z", &z, "--crowd", "copy-z", "--trials", "2"];
    let page = report_of(folder.path(), &experiment);
    browser.open(&page);
    // Lines, bars, and the scores by each of twelve mechanisms.
    assert_eq!(browser.run("return document.querySelectorAll('figure svg').length"), json!(14));
    browser.emulate("prefers-color-scheme", "dark");
    browser.screenshot("report-experiment-dark.png");
    browser.assert_quiet(&page);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_page_fits_light_dark_narrow_and_paper() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = reviews(folder.path(), &["--score", "all", "--report-text", "full"]);
    let browser = Browser::start();
    let background = "return getComputedStyle(document.documentElement).backgroundColor";
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        browser.emulate("prefers-color-scheme", scheme);
        browser.open(&page);
        seen.push(browser.run(background));
        browser.screenshot(&format!("report-{scheme}.png"));
        browser.run("location.hash = '#person=dora'");
        browser.wait_for("return document.getElementById('people').hidden", &json!(true));
        browser.screenshot(&format!("report-person-{scheme}.png"));
        browser.run("location.hash = ''");
    }
    assert_ne!(seen[0], seen[1]);
    browser.emulate("prefers-color-scheme", "light");
    // The window has a least width, so the narrow one is emulated.
    let phone = json!({ "width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": true });
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    browser.open(&page);
    // The inner width itself grows with what sticks out.
    let width = "return document.documentElement.scrollWidth";
    assert_eq!(browser.run(width), json!(380), "nothing sticks out of a narrow window");
    browser.screenshot("report-narrow.png");
    browser.run("location.hash = '#person=dora'");
    browser.wait_for("return document.getElementById('people').hidden", &json!(true));
    assert_eq!(browser.run(width), json!(380));
    browser.screenshot("report-person-narrow.png");
    browser.assert_quiet(&page);

    // On paper all rows are there, and dark screens print light.
    browser.emulate("prefers-color-scheme", "dark");
    browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
    browser.devtools("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    browser.open(&page);
    let ink = "return getComputedStyle(document.documentElement).color";
    assert_eq!(browser.run(ink), json!("rgb(27, 31, 36)"));
    browser.screenshot("report-print.png");
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn without_scripts_the_table_can_be_read() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = reviews(folder.path(), &[]);
    let browser = Browser::start();
    browser.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.open(&page);
    let text = browser.text("#people");
    assert!(text.contains("Scripts are off"), "{text}");
    assert!(text.contains("finn 0.020 -0.049 0.089 inconclusive 6"), "{text}");
}
