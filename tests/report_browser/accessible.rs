//! What axe-core, a set of rules on accessibility, says of every page; zoom.

use std::path::Path;

use serde_json::json;

use super::browser::Browser;
use super::{one_at_a_time, report_of, sample_file};

/// Names the file `axe.min.js` of the npm package `axe-core`.
const AXE: &str = "CAZ_TEST_AXE";

/// Rules that the page in sight breaks, each with the first element that does.
#[track_caller]
fn assert_no_violation(browser: &Browser, what: &str) {
    let file = std::env::var(AXE).unwrap_or_else(|_| {
        panic!("set {AXE} to axe.min.js of the npm package axe-core (`npm pack axe-core`)")
    });
    let axe = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    browser.run(&format!("{axe}\nwindow.axe = axe; window.found = null;"));
    browser.run(
        "axe.run(document, { resultTypes: ['violations'] }).then(its => window.found = \
         its.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 200)), \
         error => window.found = [String(error)])",
    );
    browser.wait_for("return window.found !== null", &json!(true));
    assert_eq!(browser.run("return window.found"), json!([]), "{what}");
    assert!(browser.run("return axe.version").as_str().unwrap().starts_with("4."));
}

fn venue(folder: &Path) -> std::path::PathBuf {
    let (reviews, z) = (sample_file("venue/reviews.jsonl"), sample_file("venue/llm-reviews.jsonl"));
    // With bars of what the reviews praise and criticise.
    let more = ["--score", "own,projected", "--embedder", "aspects"];
    let arguments: Vec<&str> = ["reviews", &reviews, "--z", &z].into_iter().chain(more).collect();
    report_of(folder, &arguments)
}

#[test]
#[ignore = "needs a browser and axe-core, see CAZ_TEST_CHROMEDRIVER and CAZ_TEST_AXE"]
fn no_rule_of_axe_is_broken_in_either_theme() {
    let _one = one_at_a_time();
    let browser = Browser::start();
    // Without this the others might pass because nothing is looked at.
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.html");
    std::fs::write(&bad, "<!doctype html><html lang=en><title>t</title><img src=x>").unwrap();
    browser.open(&bad);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        assert_no_violation(&browser, "bad");
    }));
    assert!(caught.is_err(), "a picture without a text is found");

    let reviews = venue(folder.path());
    let labels = tempfile::tempdir().unwrap();
    let (crowd, z) = (sample_file("labels.csv"), sample_file("llm-labels.csv"));
    let labels = report_of(labels.path(), &["labels", &crowd, "--z", &z]);
    let assumptions = tempfile::tempdir().unwrap();
    let few = ["--bootstrap", "20"];
    let arguments: Vec<&str> = ["assumptions", &crowd, "--z", &z].into_iter().chain(few).collect();
    let assumptions = report_of(assumptions.path(), &arguments);
    for theme in ["light", "dark"] {
        browser.emulate("prefers-color-scheme", theme);
        for (page, person) in
            [(&reviews, Some("finn")), (&labels, Some("kai")), (&assumptions, None)]
        {
            browser.open(page);
            assert_no_violation(&browser, &format!("{} {theme}", page.display()));
            if let Some(person) = person {
                browser.run(&format!("location.hash = '#person={person}'"));
                let there = "return document.getElementById('person-name').textContent";
                browser.wait_for(there, &json!(person));
                assert_no_violation(&browser, &format!("{person} {theme}"));
            }
        }
    }
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn nothing_sticks_out_at_twice_the_size_and_on_a_phone() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path());
    let browser = Browser::start();
    // Twice the size on a laptop of 1280 pixels is a page of 640.
    for (width, height, name) in [(640, 400, "zoom"), (380, 800, "phone")] {
        browser.screen(width, height);
        for hash in ["", "#person=finn"] {
            browser.open(&page);
            browser.run(&format!("location.hash = '{hash}'"));
            let is_person = !hash.is_empty();
            browser.wait_for("return !document.getElementById('person').hidden", &json!(is_person));
            // What sticks out makes the page wider than what is seen of it.
            let out =
                "const page = document.documentElement; return page.scrollWidth - page.clientWidth";
            assert_eq!(browser.run(out), json!(0), "{name} {hash}");
            // Nor is it made to fit by a letter a line.
            let tallest = "return Math.max(0, ...[...document.querySelectorAll('.aspects tr')]\
                           .map(row => row.offsetHeight))";
            let tallest = browser.run(tallest).as_f64().unwrap();
            assert!(tallest < 100.0 && (tallest > 0.0) == is_person, "{name} {hash}: {tallest}");
            browser.screenshot(&format!(
                "report-{name}{}.png",
                if is_person { "-person" } else { "" }
            ));
        }
    }
}
