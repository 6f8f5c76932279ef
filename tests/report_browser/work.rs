//! What a chair works with: who is looked at first, evidence side by side, marks, files, paper.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::browser::Browser;
use super::{one_at_a_time, report_of, sample_file};

/// The venue of the README: gwen rewords the LLM, hugo writes about other papers, finn copies.
fn venue(folder: &Path, more: &[&str]) -> PathBuf {
    let (reviews, z) = (sample_file("venue/reviews.jsonl"), sample_file("venue/llm-reviews.jsonl"));
    let arguments: Vec<&str> =
        ["reviews", &reviews, "--z", &z].into_iter().chain(more.iter().copied()).collect();
    report_of(folder, &arguments)
}

const NAMES: &str =
    "return [...document.querySelectorAll('#list tr.person th')].map(c => c.textContent).join(' ')";
const PERSON: &str = "return document.getElementById('person-name').textContent";

/// The content of a file that the page saves.
#[track_caller]
fn saved(folder: &Path, name: &str) -> String {
    let start = Instant::now();
    loop {
        // The browser makes the file before it writes it.
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        if !text.is_empty() {
            return text;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{name} was not saved");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_list_fills_its_place_before_anybody_scrolls() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let mut labels = String::from("task,worker,label\n");
    for worker in 0..40 {
        for task in 0..6 {
            labels.push_str(&format!("t{task},w{worker},{}\n", (worker * task) % 3));
        }
    }
    std::fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let page = report_of(folder.path(), &["labels", "labels.csv", "--mechanism", "oa"]);
    let browser = Browser::start();
    browser.open(&page);
    // As many rows as there is room for, and not only the spare ones.
    let filled = "const s = document.getElementById('scroller'); \
                  const rows = document.querySelectorAll('#list tr.person').length; \
                  return s.scrollTop === 0 && rows >= Math.ceil(s.clientHeight / 36)";
    browser.wait_for(filled, &json!(true));
    let rows = browser.run("return document.querySelectorAll('#list tr.person').length");
    assert!(rows.as_u64().unwrap() > 20, "{rows}");
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_first_screen_says_whom_to_look_at_and_begins_the_list() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &[]);
    let browser = Browser::start();
    browser.screen(1280, 800);
    browser.open(&page);
    assert_eq!(browser.text("#first"), "Look at these first");
    let people =
        "return [...document.querySelectorAll('.first li a')].map(a => a.textContent).join(' ')";
    assert_eq!(browser.run(people), json!("finn gwen hugo jules"));
    let said = browser.text(".first");
    for part in [
        "finn reads as a copy of the LLM's review on",
        "hugo reads as a review of another paper, by an LLM or a person on",
        "Closest (1.00):",
        "about 4 (2 to 8) did not hand in their own work.",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let top = browser.run("return document.getElementById('list').getBoundingClientRect().top");
    assert!(top.as_f64().unwrap() < 800.0 - 36.0 * 2.0, "the list begins at {top}");
    browser.screenshot("report-venue.png");
    // A picture of the whole page leaves it wider by the scroll bar until something changes, and then
    // everything moves away under the pointer.
    browser.open(&page);

    // The plot names the flagged and has the ghosts by kind; the keyboard names a point.
    let names = "return [...document.querySelectorAll('.scatter .name')].map(t => t.textContent).sort().join(' ')";
    assert_eq!(browser.run(names), json!("finn gwen hugo jules"));
    assert_eq!(browser.run("return document.querySelectorAll('.scatter .ghost').length"), json!(4));
    // finn, who copies, is to the right of everybody who does not.
    let right = "const x = name => { const n = JSON.parse(document.getElementById('data').textContent).names; \
                 return Number(document.querySelector(`.dot[data-person='${n.indexOf(name)}']`).getAttribute('cx')) }; \
                 return x('finn') > x('hugo')";
    assert_eq!(browser.run(right), json!(true));
    browser.point_at(".scatter .dot.named");
    let tip =
        "const tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent";
    let pointed = browser.run(tip);
    assert!(["finn", "gwen", "hugo"].iter().any(|name| pointed == *name), "{pointed}");
    browser.run("document.querySelector('.scatter svg').focus()");
    browser.press(&['\u{e012}'; 20]); // To the very left.
    let leftmost = browser.run(tip);
    browser.press(&['\u{e014}']);
    assert_ne!(browser.run(tip), leftmost);
    let named = browser.run(tip);
    browser.press(&['\u{e007}']);
    browser.wait_for(PERSON, &named);
    browser.assert_quiet(&page);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn nobody_stands_out_where_nobody_is_flagged() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    // Without finn, who copies Z word for word: that is flagged in a venue of any size.
    let all = std::fs::read_to_string(sample_file("reviews.jsonl")).unwrap();
    let others: String =
        all.lines().filter(|line| !line.contains("finn")).map(|line| format!("{line}\n")).collect();
    let reviews = folder.path().join("others.jsonl");
    std::fs::write(&reviews, others).unwrap();
    let page = report_of(
        folder.path(),
        &[
            "reviews",
            reviews.to_str().unwrap(),
            "--z",
            &sample_file("llm-reviews.jsonl"),
            "--score",
            "own",
        ],
    );
    let browser = Browser::start();
    browser.open(&page);
    // Who is unsure stands there, and is counted.
    assert_eq!(browser.text("#first"), "Look at these first");
    let said = browser.text(".first");
    assert!(said.contains("Nobody is flagged; some are unsure"), "{said}");
    assert!(said.starts_with("Nobody of 5 reviewers to look at, 5 unsure; 0 clear"), "{said}");
    let unsure = "return document.querySelectorAll('.first .unsure a').length";
    assert_eq!(browser.run(unsure), json!(5));
    browser.click("nav.jumps a[href='#warnings']");
    assert_eq!(browser.run("return document.getElementById('people').hidden"), json!(false));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn three_texts_stand_side_by_side_and_their_sentences_are_linked() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &["--report-text", "full"]);
    let browser = Browser::start();
    browser.open(&page);
    browser.run("location.hash = '#person=finn'");
    browser.wait_for(PERSON, &json!("finn"));
    let columns = "return [...document.querySelectorAll('.paper:first-child .column, article .column')]\
                   .slice(0, 3).map(c => c.className.split(' ')[1]).join(' ')";
    assert_eq!(browser.run(columns), json!("own z peer"));
    // finn hands in the LLM's words: the sentence that lights up beside the first is the same.
    let linked = "return [...document.querySelectorAll('.linked')].map(m => m.textContent)";
    browser.run("document.querySelector('.own mark[tabindex]').focus()");
    let same = |lit: &Value| -> bool {
        let lit = lit.as_array().unwrap();
        lit.len() >= 2 && lit[0] == lit[1]
    };
    let lit = browser.run(linked);
    assert!(same(&lit), "{lit}");
    browser.run("document.activeElement.blur()");
    assert_eq!(browser.run(linked), json!([]));
    browser.point_at(".own mark[tabindex]");
    assert!(same(&browser.run(linked)));
    // Shared words are marked in both.
    let shared =
        "return ['own', 'z'].every(c => document.querySelectorAll(`.${c} b.shared`).length > 0)";
    assert_eq!(browser.run(shared), json!(true));
    // What is no evidence is not linked.
    assert_eq!(browser.run("return document.querySelectorAll('.form[tabindex]').length"), json!(0));
    browser.screenshot("report-side-by-side.png");
    browser.assert_quiet(&page);

    // Without texts there is nothing beside each other, and no pair above the list.
    let bare = tempfile::tempdir().unwrap();
    let page = venue(bare.path(), &["--report-text", "none"]);
    browser.open(&page);
    assert_eq!(browser.run("return document.querySelectorAll('.first .pair').length"), json!(0));
    browser.run("location.hash = '#person=finn'");
    browser.wait_for(PERSON, &json!("finn"));
    assert_eq!(browser.run("return document.querySelectorAll('.column').length"), json!(0));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn marks_and_notes_are_kept_saved_and_loaded() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &["--report-text", "none"]);
    let browser = Browser::start();
    browser.save_into(folder.path());
    browser.open(&page);
    browser.type_into("#reader", "chair");
    browser.run("document.activeElement.blur()");
    browser.press(&['n']);
    browser.wait_for(PERSON, &json!("finn"));
    browser.press(&['3']);
    browser.type_into("#note", "=1+1, \"asked\" n 2");
    browser.run("document.activeElement.blur()");
    browser.press(&['n']);
    browser.wait_for(PERSON, &json!("gwen"));
    browser.press(&['2']);
    browser.press(&['n']);
    browser.wait_for(PERSON, &json!("hugo"));
    browser.press(&['p', 'p']);
    // The two before are marked, so the list goes round to its end.
    let last = browser.run(PERSON);
    assert!(!["finn", "gwen", "hugo"].iter().any(|name| last == *name), "{last}");
    browser.click("#back");

    // Kept for the same results, also in another file of them.
    let other = folder.path().join("again.html");
    std::fs::copy(&page, &other).unwrap();
    browser.open(&other);
    browser.click("#marked option[value='follow']");
    assert_eq!(browser.run(NAMES), json!("finn"));
    browser.click("#marked option[value='-']");
    let unmarked = browser.run(NAMES);
    assert!(!unmarked.as_str().unwrap().contains("finn"), "{unmarked}");
    assert!(!unmarked.as_str().unwrap().contains("gwen"), "{unmarked}");
    browser.click("#marked option[value='']");

    browser.click("#save-marks-csv");
    let csv = saved(folder.path(), "caz-reviewers-marks.csv");
    // Who marked, and hashes of the texts, by which a later page finds the mark.
    assert!(csv.starts_with(
        "name,mark,note,reader,texts\r\nfinn,follow,\"'=1+1, \"\"asked\"\" n 2\",chair,"
    ));
    assert!(csv.contains("\r\ngwen,clear,,chair,"), "{csv}");
    browser.click("#save-marks-json");
    let json_text = saved(folder.path(), "caz-reviewers-marks.json");
    let whole: Value = serde_json::from_str(&json_text).unwrap();
    let expected = whole["people"].clone();
    assert_eq!(expected.as_array().unwrap().len(), 2);
    assert_eq!(expected[0]["texts"].as_array().unwrap().len(), 3);
    assert_eq!(
        ["name", "mark", "note", "reader"].map(|key| expected[0][key].as_str().unwrap()),
        ["finn", "follow", "=1+1, \"asked\" n 2", "chair"]
    );
    browser.type_into("#search", "finn");
    browser.click("#save-list");
    let list = saved(folder.path(), "caz-reviewers-list.csv");
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 2, "{list}");
    assert!(lines[0].starts_with("reviewer,score_name,score,ci_low,ci_high,rank,flag,papers,"));
    assert!(lines[1].starts_with("finn,own,-") && lines[1].contains("\"'=1+1, "), "{list}");

    // Both files bring the marks back where nothing is kept.
    for name in ["caz-reviewers-marks.csv", "caz-reviewers-marks.json"] {
        browser.run("localStorage.clear()");
        browser.open(&page);
        browser.type_into("#marks-file", folder.path().join(name).to_str().unwrap());
        browser.wait_for(
            "return document.getElementById('kept').textContent",
            &json!("2 marks or notes loaded."),
        );
        browser.open(&other);
        let kept = "return JSON.parse(localStorage.getItem(Object.keys(localStorage).find(key => /^caz [0-9a-f]{32}$/.test(key)))).people";
        assert_eq!(browser.run(kept), expected, "{name}");
    }
    // What is no such file is said.
    std::fs::write(folder.path().join("wrong.json"), "{}").unwrap();
    browser.type_into("#marks-file", folder.path().join("wrong.json").to_str().unwrap());
    let kept =
        "return document.getElementById('kept').textContent.startsWith('This is no file of marks')";
    browser.wait_for(kept, &json!(true));
    // A quote that is not closed would swallow the rows after it.
    std::fs::write(folder.path().join("open.csv"), "name,mark\nfinn,\"follow\ngwen,clear\n")
        .unwrap();
    browser.type_into("#marks-file", folder.path().join("open.csv").to_str().unwrap());
    let kept = "return document.getElementById('kept').textContent.includes('is not closed')";
    browser.wait_for(kept, &json!(true));
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_address_has_everything_that_was_asked_for() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &["--score", "own,projected", "--report-text", "none"]);
    let browser = Browser::start();
    browser.open(&page);
    browser.click("#view option:nth-child(2)");
    browser.type_into("#search", "e");
    browser.click("#list thead th:nth-child(1) button");
    browser.click("#list thead th:nth-child(1) button");
    let hash = browser.run("return location.hash");
    assert_eq!(hash, json!("#view=projected&q=e&sort=name&desc=1"));
    let names = browser.run(NAMES);
    browser.click("#list tr.person td");
    browser.wait_for("return document.getElementById('people').hidden", &json!(true));
    let first = names.as_str().unwrap().split(' ').next().unwrap().to_owned();
    let expected = format!("#person={first}&view=projected&q=e&sort=name&desc=1");
    assert_eq!(browser.run("return location.hash"), json!(expected));
    // From outside, the same list is behind the person.
    browser.run("location.reload()");
    browser.wait_for(PERSON, &json!(first));
    browser.click("#back");
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
    assert_eq!(browser.run(NAMES), names);
    assert_eq!(browser.run("return document.getElementById('view').value"), json!("1"));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn paper_has_the_flagged_with_their_evidence() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &[]);
    let browser = Browser::start();
    browser.open(&page);
    browser.devtools("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    browser.run("dispatchEvent(new Event('beforeprint'))");
    let printed = "return [...document.querySelectorAll('.printed-person h2:not(.paper h2)')].map(h => h.textContent).join(' ')";
    assert_eq!(browser.run(printed), json!("finn gwen hugo jules"));
    let beside = "return document.querySelectorAll('.printed-person .column.z').length > 0";
    assert_eq!(browser.run(beside), json!(true));
    // What the list says on a screen it says on paper, and when it was printed.
    let on = browser.text("#printed-on");
    assert!(on.starts_with("Printed 20") && on.len() == "Printed 2026-11-26".len(), "{on}");
    let shown = "return ['reads as', 'chance own'].map(name => \
                 [...document.querySelectorAll('#list thead th')].find(h => h.textContent === name).offsetWidth > 0)";
    assert_eq!(browser.run(shown), json!([true, true]));
    browser.screenshot("report-print-venue.png");
    browser.run("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.run("return document.querySelectorAll('.printed-person').length"), json!(0));
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn a_person_begins_with_the_verdict_and_keys_go_back_and_undo() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &["--title", "Workshop <7>"]);
    let browser = Browser::start();
    browser.open(&page);
    assert_eq!(browser.text("h1"), "Workshop <7>: What reviewers add beyond the LLM");
    browser.press(&['n']);
    browser.wait_for(PERSON, &json!("finn"));
    let verdict = browser.text("#verdict");
    for part in [
        "look; reads as a copy of the LLM's review on 3 of 3 papers.",
        "chance that all is their own work less than 0.1 %",
        "100 % of its words stand in an LLM's",
        "3 reviews, with 12 by others and 6 by LLMs",
        "false alarms",
    ] {
        let said = verdict.replace('\n', " ");
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    // Rank and log odds are folded.
    let open = "return document.querySelector('#person-scores details').open";
    assert_eq!(browser.run(open), json!(false));
    let marked =
        "return document.querySelector('button[data-mark][aria-pressed=true]')?.dataset.mark ?? ''";
    browser.press(&['3']);
    assert_eq!(browser.run(marked), json!("follow"));
    browser.press(&['2']);
    browser.press(&['u']);
    assert_eq!(browser.run(marked), json!("follow"));
    browser.press(&['u']);
    assert_eq!(browser.run(marked), json!(""));
    browser.press(&['?']);
    assert_eq!(browser.run("return document.getElementById('keys').open"), json!(true));
    browser.press(&['\u{e00c}']);
    browser.wait_for("return document.getElementById('keys').open", &json!(false));
    browser.press(&['\u{e00c}']);
    browser.wait_for("return document.getElementById('people').hidden", &json!(false));
    browser.assert_quiet(&page);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn the_list_is_by_review_and_by_paper_and_of_one_area_chair() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    // The venue with an id for every review, and an area chair for each paper.
    let text = std::fs::read_to_string(sample_file("venue/reviews.jsonl")).unwrap();
    let (mut reviews, mut people) = (String::new(), String::from("id,person,ac\n"));
    for line in text.lines() {
        let mut review: Value = serde_json::from_str(line).unwrap();
        let paper = review["paper"].as_str().unwrap().to_owned();
        let person = review["reviewer"].as_str().unwrap().to_owned();
        let chair = if paper.as_str() < "P07" { "ann" } else { "bob" };
        people.push_str(&format!("{paper}/{person},{person},{chair}\n"));
        review["reviewer"] = format!("{paper}/{person}").into();
        reviews.push_str(&format!("{review}\n"));
    }
    std::fs::write(folder.path().join("reviews.jsonl"), reviews).unwrap();
    std::fs::write(folder.path().join("people.csv"), people).unwrap();
    let z = sample_file("venue/llm-reviews.jsonl");
    let page = report_of(
        folder.path(),
        &["reviews", "reviews.jsonl", "--z", &z, "--people", "people.csv"],
    );
    let browser = Browser::start();
    browser.save_into(folder.path());
    browser.open(&page);
    browser.click("#by option[value='review']");
    assert_eq!(browser.text("#shown"), "60 of 60 reviews");
    assert!(browser.run(NAMES).as_str().unwrap().starts_with("finn finn finn gwen"));
    // Of one area chair: half of the papers.
    browser.click("#group option[value='0']");
    assert_eq!(browser.text("#shown"), "30 of 60 reviews");
    assert_eq!(browser.run("return location.hash"), json!("#by=review&group=ann"));
    browser.click("#save-list");
    let list = saved(folder.path(), "caz-reviewers-review-list.csv");
    assert_eq!(list.lines().count(), 31);
    assert!(list.starts_with("paper,reviewer,flag,reads_as,p_own,copied,group,"), "{list}");
    assert!(!list.contains("bob") && !list.contains("P09"), "{list}");
    // Their people, with the evidence on their papers only.
    browser.click("#by option[value='person']");
    browser.run("location.hash = '#person=finn&group=ann'");
    browser.wait_for(PERSON, &json!("finn"));
    assert_eq!(browser.run("return document.querySelectorAll('.paper').length"), json!(2));
    browser.run("location.hash = '#by=paper'");
    browser
        .wait_for("return document.getElementById('shown').textContent", &json!("12 of 12 papers"));
    browser.click("#list tr.person td");
    browser.wait_for("return location.hash", &json!("#by=review&paper=P04"));
    browser
        .wait_for("return document.getElementById('shown').textContent", &json!("5 of 60 reviews"));
    assert!(browser.text("#only-paper").starts_with("Only P04"));
    browser.click("#all-papers");
    assert_eq!(browser.text("#shown"), "60 of 60 reviews");
    browser.assert_quiet(&page);
}

#[test]
#[ignore = "needs a browser, see CAZ_TEST_CHROMEDRIVER"]
fn marks_follow_a_review_by_its_text_into_a_later_page() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let page = venue(folder.path(), &[]);
    let browser = Browser::start();
    browser.open(&page);
    browser.press(&['n']);
    browser.wait_for(PERSON, &json!("finn"));
    browser.press(&['3']);
    // Later: other names, another score, a review less.
    let text = std::fs::read_to_string(sample_file("venue/reviews.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let later = lines[1..].join("\n").replace("\"finn\"", "\"Reviewer_9\"");
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("later.jsonl"), later).unwrap();
    let z = sample_file("venue/llm-reviews.jsonl");
    let page = report_of(other.path(), &["reviews", "later.jsonl", "--z", &z]);
    browser.open(&page);
    browser.click("#marked option[value='follow']");
    assert_eq!(browser.run(NAMES), json!("Reviewer_9"));
    assert!(browser.text("#kept").contains("from another page with the same texts"));
}
