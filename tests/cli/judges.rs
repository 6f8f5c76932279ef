//! `caz experiment judges` and `caz experiment feedback` as a user meets them.

use super::Folder;

const VERDICTS: &str = "item,judge,winner,winner_swapped\n\
    1,single,a,b\n2,single,a,a\n3,single,b,\n1,more,a,a\n2,more,a,a\n3,more,b,b\n";
const PAIRS: &str = "{\"item\":\"1\",\"a\":\"x y\",\"b\":\"x\",\"gold\":\"a\"}\n\
    {\"item\":\"2\",\"a\":\"x\",\"b\":\"x y\",\"gold\":\"a\"}\n\
    {\"item\":\"3\",\"a\":\"x\",\"b\":\"x\",\"gold\":\"a\"}\n";

#[test]
fn judges_are_measured_and_compared_with_a_page() {
    let folder = Folder::new();
    folder.write("verdicts.csv", VERDICTS);
    folder.write("pairs.jsonl", PAIRS);
    let common = ["experiment", "judges", "verdicts.csv", "--pairs", "pairs.jsonl"];
    let more = ["--bootstrap", "50", "--format", "csv", "--report", "page.html"];
    let run = folder.caz(&[common.as_slice(), &more].concat()).succeeded();
    let rows = run.csv();
    let header = ["method", "metric", "value", "ci_low", "ci_high", "n_items", "n_missing"];
    assert_eq!(rows[0], header);
    let value = |method: &str, metric: &str| {
        let row = rows.iter().find(|row| row[0] == method && row[1] == metric);
        row.unwrap_or_else(|| panic!("no {metric} of {method}"))[2].clone()
    };
    // Right: a, a and a of a, b, a, a, b; 2 of 3 pairs keep their verdict, item 3 lacks one.
    assert_eq!(value("single", "accuracy"), "0.6");
    assert_eq!(value("single", "consistency"), "0.5");
    assert_eq!(value("more", "consistency"), "1");
    let p: f64 = value("more", "p_mcnemar:single").parse().unwrap();
    assert!((p - 1.0).abs() < 1e-9, "{p}");
    assert!(run.stderr.contains("1 verdict is missing, of single"), "{}", run.stderr);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("How well judges of pairs judge") && page.contains("<svg"));

    // The same bytes whatever the threads and the order of rows.
    let mut lines: Vec<&str> = VERDICTS.lines().skip(1).collect();
    lines.reverse();
    let turned = format!("item,judge,winner,winner_swapped\n{}\n", lines.join("\n"));
    folder.write("verdicts.csv", turned);
    let again = folder.caz(&[common.as_slice(), &more, &["--threads", "1"]].concat());
    assert_eq!(again.succeeded().stdout, run.stdout);
}

#[test]
fn unknown_judges_and_bad_verdicts_have_their_exit_codes() {
    let folder = Folder::new();
    folder.write("verdicts.csv", VERDICTS);
    folder.write("bad.csv", "item,judge,winner\n1,j,left\n");
    let run = folder.caz(&["experiment", "judges", "verdicts.csv", "--method", "x"]);
    run.failed(2, &["there is no judge `x`; there are: more, single"]);
    let run = folder.caz(&["experiment", "judges", "bad.csv"]);
    run.failed(3, &["bad.csv:2: column `winner`"]);
}

#[test]
fn feedback_is_measured_against_runs_without() {
    let folder = Folder::new();
    let runs = "provider,feedback,max_turns,item,success\n\
        None,,1,a,0\nNone,,1,b,0\nNone,,2,a,0\nNone,,2,b,1\nbig,textual,2,a,1\nbig,textual,2,b,1\n";
    folder.write("runs.csv", runs);
    let arguments = ["experiment", "feedback", "runs.csv", "--bootstrap", "20", "--format", "csv"];
    let run = folder.caz(&[arguments.as_slice(), &["--report", "page.html"]].concat()).succeeded();
    let rows = run.csv();
    assert_eq!(
        rows[0],
        ["provider", "feedback", "metric", "value", "ci_low", "ci_high", "n_items"]
    );
    let value = |provider: &str, metric: &str| {
        let row = rows.iter().find(|row| row[0] == provider && row[2] == metric);
        row.unwrap_or_else(|| panic!("no {metric} of {provider}"))[3].clone()
    };
    assert_eq!(value("None", "sr_2"), "0.5");
    assert_eq!(value("None", "slope"), "0.5");
    assert_eq!(value("big", "gain"), "0.5");
    assert!(run.stderr.contains("check-again"), "{}", run.stderr);
    assert!(
        std::fs::read_to_string(folder.path("page.html")).unwrap().contains("Gain of feedback")
    );
}
