//! Names and texts that attack the page, in every field that comes from a file.

use std::path::Path;

use serde_json::json;

use super::browser::Browser;
use super::{one_at_a_time, report_of};

/// Ways into a page; each sets `__pwned` where it is run, or loads something.
const PAYLOADS: [&str; 12] = [
    "<script>window.__pwned=1</script>",
    "</script><script>window.__pwned=1</script>",
    "<!--<script>window.__pwned=1",
    "\"><img src=x onerror=window.__pwned=1>",
    "' autofocus onfocus=window.__pwned=1 x='",
    "<svg onload=window.__pwned=1><animate onbegin=window.__pwned=1 attributeName=x>",
    "</style><style>*{background:url(//127.0.0.1/x)}</style>",
    "<iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    "javascript:window.__pwned=1",
    "</title></noscript></template><base href=//127.0.0.1/><link rel=stylesheet href=x>",
    "{{ 7*7 }}{% raw %}${window.__pwned=1}\\u003cscript\\u003e",
    "]]>&lt;script&gt;\u{202e}txt.exe\u{200b}\u{2028}window.__pwned=1",
];

/// Visits the list and everybody in it, by all scores; nothing may run and nothing be loaded.
#[track_caller]
fn assert_harmless(browser: &Browser, page: &Path) {
    browser.open(page);
    let people = browser.run("return document.querySelectorAll('#list tr.person').length");
    let views = browser.run("return document.querySelectorAll('#view option').length");
    for view in 0..views.as_u64().unwrap() {
        browser.run(&format!(
            "const view = document.getElementById('view'); view.value = '{view}'; \
             view.dispatchEvent(new Event('change'))"
        ));
    }
    for person in 0..people.as_u64().unwrap() {
        let name = format!(
            "const name = JSON.parse(document.getElementById('data').textContent).names[{person}];"
        );
        browser.run(&format!("{name} location.hash = '#person=' + encodeURIComponent(name)"));
        // Shown as itself, but for characters that hide or reorder others.
        let there = format!(
            "{name} const shown = document.getElementById('person-name').textContent; \
             return [document.getElementById('person').hidden, shown.slice(0, 9) === name.slice(0, 9)]"
        );
        browser.wait_for(&there, &json!([false, true]));
    }
    assert_still(browser, page);
}

#[track_caller]
fn assert_still(browser: &Browser, page: &Path) {
    // An image that fails to load, an animation that begins, need a moment.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(browser.run("return typeof window.__pwned"), json!("undefined"));
    let strange = "return document.querySelectorAll('img,iframe,base,link,animate,object').length";
    assert_eq!(browser.run(strange), json!(0));
    assert_eq!(
        browser.run("return document.scripts.length"),
        browser.run("return document.querySelectorAll('#data').length * 5")
    );
    browser.assert_quiet(page);
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn reviews_cannot_run_a_script() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let name = |kind: &str| format!("{kind}<img src=x onerror=__pwned=1>'\"&{{{{7}}}}.jsonl");
    let (reviews, z) = (name("reviews"), name("z"));
    let (mut of_people, mut of_llm) = (String::new(), String::new());
    for (paper, payload) in PAYLOADS.iter().enumerate() {
        for shift in 0..3 {
            let reviewer = PAYLOADS[(paper + shift) % PAYLOADS.len()];
            let text = format!("{payload} {reviewer}. The baseline is weak. {payload}!");
            let row =
                json!({ "paper": format!("{payload}{paper}"), "reviewer": reviewer, "text": text });
            of_people.push_str(&format!("{row}\n"));
        }
        for source in &PAYLOADS[..2] {
            let text = format!("The paper is novel. {payload} Strong results.");
            let row = json!({
                "paper": format!("{payload}{paper}"), "source": source, "sample": payload,
                "text": text,
            });
            of_llm.push_str(&format!("{row}\n"));
        }
    }
    std::fs::write(folder.path().join(&reviews), of_people).unwrap();
    std::fs::write(folder.path().join(&z), of_llm).unwrap();
    let browser = Browser::start();
    for text in ["excerpts", "full"] {
        let page = report_of(
            folder.path(),
            &["reviews", &reviews, "--z", &z, "--score", "all", "--report-text", text],
        );
        assert_harmless(&browser, &page);
    }
    // What was attacked with is there to be read.
    let shown = browser.text("#evidence");
    assert!(shown.contains("</script><script>window.__pwned=1</script>"), "{shown}");
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn labels_and_names_of_models_cannot_run_a_script() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let (mut of_people, mut of_llm, mut truth) = (
        String::from("task,worker,label\n"),
        String::from("task,label,source,sample\n"),
        String::from("task,truth\n"),
    );
    for task in 0..36 {
        let name = quoted(&format!("{}{task}", PAYLOADS[task % PAYLOADS.len()]));
        for (worker, payload) in PAYLOADS.iter().enumerate() {
            let label = quoted(PAYLOADS[(task + (worker * task) % 5) % 3]);
            of_people.push_str(&format!("{name},{},{label}\n", quoted(payload)));
        }
        for source in [3, 4] {
            let label = quoted(PAYLOADS[(task + source) % 3]);
            let (source, sample) = (quoted(PAYLOADS[source]), quoted(PAYLOADS[5]));
            of_llm.push_str(&format!("{name},{label},{source},{sample}\n"));
        }
        truth.push_str(&format!("{name},{}\n", quoted(PAYLOADS[task % 3])));
    }
    let labels = "labels<svg onload=__pwned=1>.csv";
    std::fs::write(folder.path().join(labels), of_people).unwrap();
    std::fs::write(folder.path().join("z.csv"), of_llm).unwrap();
    std::fs::write(folder.path().join("t.csv"), truth).unwrap();
    let browser = Browser::start();
    let all = ["labels", labels, "--z", "z.csv", "--truth", "t.csv", "--mechanism", "all"];
    assert_harmless(&browser, &report_of(folder.path(), &all));

    let few = ["--bootstrap", "5"];
    let assumptions: Vec<&str> =
        ["assumptions", labels, "--z", "z.csv"].into_iter().chain(few).collect();
    let page = report_of(folder.path(), &assumptions);
    browser.open(&page);
    assert!(browser.text("main").contains(PAYLOADS[3]));
    assert_still(&browser, &page);

    let experiment =
        ["experiment", "multi-llm", labels, "--z", "z.csv", "--crowd", "copy-z", "--trials", "1"];
    let page = report_of(folder.path(), &experiment);
    browser.open(&page);
    assert!(browser.text("main").contains(PAYLOADS[4]));
    assert_still(&browser, &page);
}
