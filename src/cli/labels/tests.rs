use std::collections::BTreeMap;
use std::path::Path;

use clap::Parser;
use serde_json::{Value, json};

use super::super::{Cli, ExitStatus, run, status_of};
use super::*;

/// Runs `caz labels` in a folder of its own; the result as JSON, or the error.
fn labels(files: &[(&str, &str)], arguments: &[&str]) -> Result<Value> {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), files, arguments)
}

fn run_in(folder: &Path, files: &[(&str, &str)], arguments: &[&str]) -> Result<Value> {
    let path = |name: &str| folder.join(name).display().to_string();
    for (name, text) in files {
        std::fs::write(path(name), text).unwrap();
    }
    let output = path("out.json");
    let mut command = vec!["caz".to_owned(), "labels".into(), "--quiet".into()];
    for argument in arguments {
        let is_file = argument.contains(".csv");
        command.push(if is_file { path(argument) } else { (*argument).to_owned() });
    }
    command.extend(["--output".into(), output.clone()]);
    let status = run(&Cli::try_parse_from(command).expect("a command line of a test"))?;
    assert_eq!(status, ExitStatus::Done);
    Ok(serde_json::from_str(&std::fs::read_to_string(output)?).expect("JSON output"))
}

/// Rows as `mechanism/worker` and a column.
fn column(report: &Value, name: &str) -> BTreeMap<String, Value> {
    let rows = report["results"].as_array().unwrap();
    let key = |row: &Value| {
        format!("{}/{}", row["mechanism"].as_str().unwrap(), row["worker"].as_str().unwrap())
    };
    rows.iter().map(|row| (key(row), row[name].clone())).collect()
}

fn exit_status(result: Result<Value>) -> (ExitStatus, String) {
    let error = result.unwrap_err();
    (status_of(error.kind()), crate::cli::message_of(&error))
}

fn csv(header: &str, rows: &[&str]) -> String {
    format!("{header}\n{}\n", rows.join("\n"))
}

fn crowd(rows: &[&str]) -> String {
    csv("task,worker,label", rows)
}

const CROWD: [&str; 8] = ["q,a,x", "q,b,x", "r,a,y", "r,b,y", "s,a,x", "s,b,x", "t,a,y", "t,b,x"];

#[test]
fn columns_are_the_contract_and_follow_the_mechanisms_asked_for() {
    let files = [("l.csv", &*crowd(&CROWD)), ("gpt.csv", "task,label\nq,x\nr,x\ns,y\n")];
    let report = labels(&files, &["l.csv", "--z", "gpt.csv", "--mechanism", "oa,ca_z,oa"]).unwrap();
    let rows = report["results"].as_array().unwrap();
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "worker",
            "mechanism",
            "score",
            "se",
            "ci_low",
            "ci_high",
            "n_tasks",
            "n_z_tasks",
            "rank",
            "flag",
            "lambda",
            "copied",
            "copied_low",
            "copied_high",
            "p_own",
            "accuracy",
            "accuracy_low",
            "accuracy_high",
            "reads_as"
        ]
    );
    let mechanisms: Vec<&str> = rows.iter().map(|row| row["mechanism"].as_str().unwrap()).collect();
    assert_eq!(mechanisms, ["oa", "oa", "ca_z", "ca_z"]);
    assert_eq!(column(&report, "n_z_tasks")["ca_z/a"], 3);
    assert_eq!(column(&report, "n_z_tasks")["oa/a"], Value::Null);
    assert_eq!(report["settings"]["mechanism"], json!(["oa", "ca_z"]));
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
}

#[test]
fn who_is_not_judged_has_the_reason_in_the_last_column() {
    // Of few only q counts; a, b and c are too few to be held against each other.
    let rows = ["q,a,x", "q,b,x", "q,c,x", "r,a,y", "r,b,y", "r,c,y", "q,few,x"];
    let files = [("l.csv", &*crowd(&rows)), ("gpt.csv", "task,label\nq,x\nr,y\n")];
    let arguments = ["l.csv", "--z", "gpt.csv", "--truth", "gpt.csv", "--min-tasks", "2"];
    let report = labels(&files, &[&arguments[..], &["--mechanism", "own,oa"]].concat()).unwrap();
    let first = report["results"][0].as_object().unwrap();
    let expected = ["n_truth_tasks", "truth_accuracy", "consensus_accuracy", "reason"];
    assert!(first.keys().skip(19).eq(expected), "{first:?}");
    let alone = json!("too few workers to compare with");
    let too_few = json!("too few tasks that the LLM and somebody else labelled");
    let reasons = column(&report, "reason");
    let of = |row: &str| reasons[row].clone();
    assert_eq!(["own/a", "own/b", "own/c", "own/few"].map(of), {
        [alone.clone(), alone.clone(), alone, too_few]
    });
    assert_eq!([of("oa/a"), of("oa/few")], [Value::Null, Value::Null]);
}

#[test]
fn scores_without_a_meaningful_zero_have_no_flag_but_too_few() {
    let files = [("l.csv", &*crowd(&CROWD)), ("gpt.csv", "task,label\nq,x\nr,x\ns,y\n")];
    let flags = |min: &str| {
        let arguments = ["l.csv", "--z", "gpt.csv", "--mechanism", "all", "--min-tasks", min];
        column(&labels(&files, &arguments).unwrap(), "flag")
    };
    assert_eq!(flags("2")["neg_z/a"], Value::Null);
    assert_eq!(flags("2")["ds/a"], Value::Null);
    assert!(flags("2")["ca/a"].is_string());
    assert_eq!(flags("9")["neg_z/a"], "too_few");
    assert_eq!(flags("9")["ca/a"], "too_few");
}

#[test]
fn truth_adds_the_accuracy_of_workers_and_consensus() {
    let truth = "task,truth\nq,x\nr,x\nt,y\n";
    let files = [("l.csv", &*crowd(&CROWD)), ("t.csv", truth)];
    let report = labels(&files, &["l.csv", "--truth", "t.csv", "--mechanism", "ca,ds"]).unwrap();
    assert_eq!(column(&report, "n_truth_tasks")["ca/a"], 3);
    assert_eq!(column(&report, "truth_accuracy")["ca/a"], json!(2.0 / 3.0));
    assert_eq!(column(&report, "truth_accuracy")["ds/b"], json!(1.0 / 3.0));
    // q right, r wrong, t tied.
    assert_eq!(column(&report, "consensus_accuracy")["ca/a"], json!(0.5));
}

#[test]
fn z_of_other_tasks_or_in_other_words_is_refused_unless_a_mechanism_is_named() {
    for (z, says) in [
        ("task,label\nelsewhere,x\n", "has a label of the LLM"),
        ("task,label\nq,class x\nr,class y\n", "the LLM has none of the labels of the crowd (x"),
    ] {
        let files = [("l.csv", &*crowd(&CROWD)), ("gpt.csv", z)];
        let error = labels(&files, &["l.csv", "--z", "gpt.csv"]).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        // What is asked for by name is defined, or says that it is not.
        let named = ["l.csv", "--z", "gpt.csv", "--mechanism", "ca_z,own", "--min-tasks", "2"];
        let report = labels(&files, &named).unwrap();
        assert!(column(&report, "score")["own/a"].is_null(), "{says}");
    }
}

#[test]
fn degenerate_crowds_have_missing_scores_and_no_numbers_made_up() {
    let z = "task,label\nq,x\nr,y\n";
    let far = "task,label\nelsewhere,x\n";
    let cases: [(&str, &[&str], &str, Option<f64>); 8] = [
        ("one worker", &["q,a,x", "r,a,y"], z, None),
        ("one task", &["q,a,x", "q,b,x"], z, None),
        ("two workers who never meet", &["q,a,x", "r,b,x"], z, None),
        ("no overlap with Z", &CROWD, far, None),
        ("a worker with one task", &["q,a,x", "q,b,x", "r,b,y"], z, None),
        // Everybody agrees always: nothing to tell.
        ("one label", &["q,a,x", "q,b,x", "r,a,x", "r,b,x"], "task,label\nq,x\nr,x\n", Some(0.0)),
        // Z is w where nobody says w: a stratum like any other. T(x,x) and T(y,y) hold, each
        // worker is paid 1 - 0 on both tasks.
        ("unseen Z", &["q,a,x", "q,b,x", "r,a,y", "r,b,y"], "task,label\nq,w\nr,w\n", Some(1.0)),
        ("one report", &["q,a,x"], z, None),
    ];
    for (what, rows, z, expected) in cases {
        let files = [("l.csv", &*crowd(rows)), ("gpt.csv", z)];
        let arguments = ["l.csv", "--z", "gpt.csv", "--mechanism", "all", "--learn-from", "all"];
        let report = labels(&files, &arguments).unwrap();
        let scores = column(&report, "score");
        assert_eq!(scores["ca_z/a"], json!(expected), "{what}");
        for (row, score) in &scores {
            if score.is_null() {
                let flag = if row.starts_with("own/") { "not_judged" } else { "too_few" };
                assert_eq!(column(&report, "flag")[row], flag, "{what}: {row}");
                assert_eq!(column(&report, "rank")[row], Value::Null, "{what}: {row}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let rows: Vec<String> = (0..400)
        .map(|n| format!("q{},w{},{}", n / 4, (n * 7 + n / 4) % 13, (n * n + n / 3) % 3))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let z: Vec<String> = (0..90).map(|n| format!("q{n},{}", n % 4)).collect();
    let z: Vec<&str> = z.iter().map(String::as_str).collect();
    let files = [("l.csv", &*crowd(&rows)), ("gpt.csv", &*csv("task,label", &z))];
    let folder = tempfile::tempdir().unwrap();
    let mut results = Vec::new();
    for threads in ["1", "3"] {
        let mut arguments = vec!["l.csv", "--z", "gpt.csv", "--mechanism", "all"];
        arguments.extend(["--duplicates", "last", "--bootstrap", "5", "--threads", threads]);
        results.push(run_in(folder.path(), &files, &arguments).unwrap());
        arguments.extend(["--sampled", "3", "--seed", "4"]);
        results.push(run_in(folder.path(), &files, &arguments).unwrap());
    }
    assert_eq!(results[0], results[2]);
    assert_eq!(results[1], results[3]);
    let (exact, sampled) = (column(&results[0], "score"), column(&results[1], "score"));
    assert_ne!(exact["ca_z/w1"], sampled["ca_z/w1"]);
    assert!(column(&results[0], "se")["ds/w1"].is_number());
}

#[test]
fn several_sources_give_the_lowest_score() {
    let z = "task,label,source\nq,x,one\nr,x,one\ns,x,one\nt,x,one\nq,x,two\nr,y,two\ns,x,two\nt,y,two\n";
    // Two workers have nobody else to learn from.
    let arguments = ["l.csv", "--z", "z.csv", "--learn-from", "all"];
    let alone = |source: &str| {
        let rows: String = z
            .lines()
            .filter(|row| row.contains(source))
            .fold("task,label,source\n".to_owned(), |text, row| text + row + "\n");
        let files = [("l.csv", &*crowd(&CROWD)), ("z.csv", &*rows)];
        column(&labels(&files, &arguments).unwrap(), "score")
    };
    let files = [("l.csv", &*crowd(&CROWD)), ("z.csv", z)];
    let both = column(&labels(&files, &arguments).unwrap(), "score");
    let (one, two) = (alone("one"), alone("two"));
    for worker in ["ca_z/a", "ca_z/b"] {
        let lowest = one[worker].as_f64().unwrap().min(two[worker].as_f64().unwrap());
        assert_eq!(both[worker].as_f64(), Some(lowest));
    }
    assert_ne!(one, two);
}

#[test]
fn one_row_a_worker_says_whom_to_pay_and_how_fast_they_were() {
    // a takes 100 s each time; b 5 s once, less than a tenth of the median.
    let timed = |row: &&str| {
        let seconds = if *row == "q,b,x" { 5 } else { 100 };
        format!("{row},2026-05-01T10:00:00Z,2026-05-01T10:{:02}:{:02}Z", seconds / 60, seconds % 60)
    };
    let rows: Vec<String> = CROWD.iter().map(timed).collect();
    let header = "task,worker,label,AcceptTime,SubmitTime\n";
    let files = [
        ("l.csv", &*format!("{header}{}\n", rows.join("\n"))),
        ("gpt.csv", "task,label\nq,x\nr,x\ns,y\nt,x\n"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["l.csv", "--z", "gpt.csv", "--mechanism", "ca_z,excess_z"];
    let more = ["--min-tasks", "2", "--workers", "pay.csv"];
    run_in(folder.path(), &files, &[&arguments[..], &more[..]].concat()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("pay.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let columns = [
        "worker",
        "flag",
        "reads_as",
        "quality",
        "quality_low",
        "quality_high",
        "copied",
        "copied_low",
        "copied_high",
        "n_tasks",
        "median_seconds",
        "share_fast",
    ];
    assert_eq!(rows[0], columns);
    let of = |worker: &str| rows.iter().find(|row| row[0] == worker).unwrap().clone();
    let (a, b) = (of("a"), of("b"));
    // The other says the same always; four tasks tell little for all that.
    assert_eq!((a[2], a[9], a[10], a[11]), ("", "4", "100", "0"));
    assert_eq!(b[9..], ["4", "100", "0.25"]);
    for row in [&a, &b] {
        let [quality, low, high] = [3, 4, 5].map(|at: usize| row[at].parse::<f64>().unwrap());
        assert!(quality > 0.85 && low < 0.5 && high >= quality, "{row:?}");
    }
    // What excess_z says of copying stands beside the flag of the first mechanism.
    assert!(a[6].parse::<f64>().is_ok(), "{a:?}");
    let wrong = run_in(folder.path(), &files, &["l.csv", "--workers", "pay.xyz"]);
    let (status, message) = exit_status(wrong);
    assert_eq!(status, ExitStatus::Usage);
    assert!(message.contains("cannot tell the format"), "{message}");
}

#[test]
fn the_consensus_is_written_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("l.csv", &*crowd(&CROWD)), ("truth.csv", "task,truth\nq,x\nr,y\ns,y\n")];
    let arguments = [
        "l.csv",
        "--mechanism",
        "ca",
        "--truth",
        "truth.csv",
        "--consensus",
        "c.csv",
        "--consensus-by",
        "majority",
    ];
    let report = run_in(folder.path(), &files, &arguments).unwrap();
    let text = std::fs::read_to_string(folder.path().join("c.csv")).unwrap();
    assert_eq!(text, "task,label,probability,n_labels\nq,x,1,2\nr,y,1,2\ns,x,1,2\nt,,0.5,2\n");
    assert_eq!(report["settings"]["consensus_by"], "majority");

    // Any other ending is another format, as of every output.
    let arguments = ["l.csv", "--mechanism", "ca", "--consensus-by", "majority", "--consensus"];
    let of = |name| run_in(folder.path(), &files[..1], &[&arguments[..], &[name]].concat());
    of("c.csv.json").unwrap();
    let text = std::fs::read_to_string(folder.path().join("c.csv.json")).unwrap();
    let envelope: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tied = json!({"task": "t", "label": null, "probability": 0.5, "n_labels": 2});
    assert_eq!(envelope["results"][3], tied);
    assert_eq!(envelope["settings"]["consensus_by"], "majority");
    let (status, message) = exit_status(of("c.csv.xlsx"));
    assert_eq!(status, ExitStatus::Usage);
    assert!(message.contains("c.csv.xlsx`; end it in .csv, .json"), "{message}");
}

#[test]
fn a_scoring_function_replaces_the_estimated_one() {
    // Nothing counts as agreement: every score is 0.
    let files = [("l.csv", &*crowd(&CROWD)), ("t.csv", "label,peer_label,value\nx,x,0\n")];
    let arguments = ["l.csv", "--mechanism", "ca", "--scoring-function", "t.csv"];
    let report = labels(&files, &arguments).unwrap();
    assert_eq!(column(&report, "score")["ca/a"], json!(0.0));
    assert_eq!(report["settings"]["scoring_function"], "given");
}

#[test]
fn usage_errors_say_what_to_do() {
    let files = [("l.csv", &*crowd(&CROWD))];
    let (status, message) = exit_status(labels(&files, &["l.csv"]));
    assert_eq!(status, ExitStatus::Usage);
    assert!(message.contains("ca_z needs labels of an LLM; add --z FILE"), "{message}");
    let dropped = ["l.csv", "--mechanism", "ca", "--drop-flagged"];
    let (status, message) = exit_status(labels(&files, &dropped));
    assert_eq!(status, ExitStatus::Usage);
    assert!(message.contains("--drop-flagged is of --consensus FILE"), "{message}");
    let (status, message) = exit_status(labels(&files, &["missing.csv", "--mechanism", "ca"]));
    assert_eq!(status, ExitStatus::Missing);
    assert!(message.contains("no such file"), "{message}");
    let all = labels(&files, &["l.csv", "--mechanism", "all"]).unwrap();
    assert_eq!(all["settings"]["mechanism"], json!(["ca", "oa", "ds", "majority", "one_coin"]));
}

#[test]
fn a_scale_may_begin_below_0() {
    let rows = ["q,a,-1", "q,b,-1", "r,a,1", "r,b,1", "s,a,-1", "s,b,1"];
    let report =
        labels(&[("l.csv", &*crowd(&rows))], &["l.csv", "--mechanism", "ca", "--scale", "-1..1"]);
    assert_eq!(column(&report.unwrap(), "score").len(), 2);
}
