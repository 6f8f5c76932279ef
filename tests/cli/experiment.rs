//! `caz experiment`: tables, raw trials, figures.

use super::simulate::crowd;
use super::{Folder, Run};

fn run(folder: &Folder, experiment: &str, more: &[&str]) -> Run {
    let files = ["experiment", experiment, "labels.csv", "--z", "z.csv", "--trials", "4"];
    let arguments: Vec<&str> = files.iter().chain(more).copied().collect();
    folder.caz(&arguments)
}

#[test]
fn detection_has_a_row_per_mechanism_and_share_and_one_over_all() {
    let folder = Folder::new();
    crowd(&folder);
    let more = ["--crowd", "z-source=gpt", "--format", "csv", "--figures", "f", "--raw", "t.jsonl"];
    let rows = run(&folder, "detection", &more).succeeded().csv();
    assert_eq!(rows[0][..4], ["mechanism", "llm_share", "mean_auc", "q10_auc"]);
    assert_eq!(rows.len(), 1 + 12 * 6);
    assert_eq!(rows[1][..2], ["ca_z", ""]);
    assert_eq!(rows[1][5], "20");
    assert_eq!((rows[6][1].as_str(), rows[6][5].as_str()), ("0.2", "4"));
    for row in &rows[1..] {
        let (mean, low) = (row[2].parse::<f64>().unwrap(), row[3].parse::<f64>().unwrap());
        assert!((0.0..=1.0).contains(&mean) && low <= 1.0, "{row:?}");
    }
    for name in ["auc.svg", "auc-by-llm-share.svg", "scores-ca_z.svg", "scores-neg_z.svg"] {
        let figure = std::fs::read_to_string(folder.path("f").join(name)).unwrap();
        assert!(figure.starts_with("<svg") && figure.contains("ca_z") | figure.contains("neg_z"));
    }
    let raw = std::fs::read_to_string(folder.path("t.jsonl")).unwrap();
    assert_eq!(raw.lines().count(), 21);
}

#[test]
fn trials_are_the_same_on_any_threads_and_after_an_interruption() {
    let folder = Folder::new();
    crowd(&folder);
    let more = |raw, threads| {
        ["--crowd", "z-source=gpt", "--format", "json", "--raw", raw, "--threads", threads]
    };
    let whole = run(&folder, "detection", &more("a.jsonl", "1")).succeeded().stdout;
    let bytes = std::fs::read(folder.path("a.jsonl")).unwrap();
    assert_eq!(run(&folder, "detection", &more("b.jsonl", "3")).succeeded().stdout, whole);
    assert_eq!(std::fs::read(folder.path("b.jsonl")).unwrap(), bytes);
    folder.write("c.jsonl", &bytes[..bytes.len() / 2]);
    assert_eq!(run(&folder, "detection", &more("c.jsonl", "2")).succeeded().stdout, whole);
    assert_eq!(std::fs::read(folder.path("c.jsonl")).unwrap(), bytes);
}

#[test]
fn raw_trials_are_not_overwritten_or_mixed() {
    let folder = Folder::new();
    crowd(&folder);
    let more = ["--crowd", "z-source=gpt", "--mechanism", "ca", "--raw", "t.jsonl"];
    run(&folder, "detection", &more).succeeded();
    let written = std::fs::read(folder.path("t.jsonl")).unwrap();
    run(&folder, "detection", &more).succeeded();
    assert_eq!(std::fs::read(folder.path("t.jsonl")).unwrap(), written, "nothing is left to do");
    let other: Vec<&str> = more.into_iter().chain(["--seed", "3"]).collect();
    run(&folder, "detection", &other).failed(3, &["trials of another run (its settings differs)"]);
    folder.write("x.jsonl", "not a file of trials\n");
    let strange = ["--crowd", "z-source=gpt", "--raw", "x.jsonl"];
    run(&folder, "detection", &strange).failed(3, &["`x.jsonl` holds trials of another run"]);
}

/// Ended from outside in the middle of a run. Not by SIGINT, which a shell that starts the tests in
/// the background has them ignore.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_whole_trials_and_can_go_on() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    crowd(&folder);
    let many = ["--crowd", "z-source=gpt", "--trials", "200000", "--raw", "t.jsonl"];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("caz"))
        .current_dir(folder.path(""))
        .args(["experiment", "detection", "labels.csv", "--z", "z.csv"])
        .args(many)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || {
        let text = std::fs::read_to_string(folder.path("t.jsonl")).unwrap_or_default();
        text.lines().count()
    };
    while lines() < 30 {
        assert_eq!(child.try_wait().unwrap(), None, "the run is long enough to be interrupted");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("`t.jsonl`, the same command goes on from here"), "{said}");
    let left = lines();
    let text = std::fs::read_to_string(folder.path("t.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "the last trial was written to its end");
    let count = format!("interrupted after {} of 1000000 trials", left - 1);
    assert!(said.contains(&count), "{count}: {said}");
    let more = ["--crowd", "z-source=gpt", "--raw", "t.jsonl", "--format", "csv"];
    let rows = run(&folder, "detection", &more).succeeded().csv();
    assert_eq!(rows[1][5], "20");
    // A line that was being written when the run ended is cut off, and the trial run again.
    assert!(lines() == left || lines() + 1 == left, "{} of {left}", lines());
}

#[test]
fn trials_of_another_embedding_or_reading_are_not_mixed() {
    let folder = Folder::new();
    let mut reviews = String::new();
    let mut z = String::new();
    for paper in 0..12 {
        for reviewer in 0..3 {
            reviews.push_str(&format!(
                "{{\"paper\":\"p{paper}\",\"reviewer\":\"r{reviewer}\",\"text\":\"the method \
                 number{paper} of this paper is good{reviewer} and new\"}}\n"
            ));
        }
        for source in ["a", "b"] {
            z.push_str(&format!(
                "{{\"paper\":\"p{paper}\",\"source\":\"{source}\",\"text\":\"the work \
                 number{paper} is solid{source}\"}}\n"
            ));
        }
    }
    folder.write("r.jsonl", reviews);
    folder.write("z.jsonl", z);
    let run = |more: &[&str]| {
        let first = ["experiment", "reviews", "r.jsonl", "--z", "z.jsonl", "--venue", "k=2"];
        let raw = ["--trials", "2", "--score", "cosine", "--raw", "t.jsonl"];
        folder.caz(&[&first[..], &raw, more].concat())
    };
    run(&["--embedder", "tfidf"]).succeeded();
    run(&["--embedder", "tfidf", "--trials", "3"]).failed(2, &["cannot be used multiple times"]);
    for more in [
        &["--embedder", "tfidf", "--duplicates", "first"][..],
        &["--embedder", "tfidf", "--vectors", "granularity=sentence"],
        &["--embedder", "static"],
    ] {
        run(more).failed(3, &["holds trials of another run"]);
    }
    run(&["--embedder", "tfidf", "--threads", "2", "--quiet"]).succeeded();
}

#[test]
fn trials_are_a_table_where_the_name_of_the_file_asks_for_one() {
    let folder = Folder::new();
    crowd(&folder);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let more = |raw| {
        ["--crowd", "z-source=gpt", "--mechanism", "ca_z,ca", "--crowd", "llm=.1,.2", "--raw", raw]
    };
    run(&folder, "detection", &more("t.csv")).succeeded();
    let rows: Vec<String> = read("t.csv").lines().map(str::to_owned).collect();
    assert_eq!(rows[0], "repetition,llm,random,biased,mechanism,auc,n_missing");
    // Four repetitions of two shares, two mechanisms.
    assert_eq!(rows.len(), 1 + 4 * 2 * 2);
    assert!(rows[1].starts_with("0,0.1,") && rows[3].starts_with("0,0.2,"), "{rows:?}");
    assert!(rows[16].starts_with("3,0.2,") && rows[16].contains(",ca,"));
    // What the lines say is what the table says; more trials go on from the lines.
    run(&folder, "detection", &more("t.jsonl")).succeeded();
    assert_eq!(read("t.csv.jsonl"), read("t.jsonl"));
    let last: serde_json::Value =
        serde_json::from_str(read("t.jsonl").lines().last().unwrap()).unwrap();
    let auc = last["result"]["aucs"][0][1]["auc"].as_f64().unwrap();
    assert_eq!(
        rows[16].split(',').nth(5).unwrap().parse::<f64>().unwrap().to_bits(),
        auc.to_bits()
    );
    let again: Vec<&str> = more("t.csv").into_iter().chain(["--trials", "6"]).collect();
    let again: Vec<&str> = ["experiment", "detection", "labels.csv", "--z", "z.csv"]
        .into_iter()
        .chain(again)
        .collect();
    folder.caz(&again).succeeded();
    assert_eq!(read("t.csv").lines().count(), 1 + 6 * 2 * 2);
    assert_eq!(read("t.csv").lines().take(17).collect::<Vec<_>>(), rows);

    run(&folder, "sample-size", &["--crowd", "z-source=gpt", "--raw", "s.json"]).succeeded();
    let value: serde_json::Value = serde_json::from_str(&read("s.json")).unwrap();
    assert_eq!(value["command"], "experiment sample-size");
    // Four trials, five coverages, twelve mechanisms.
    assert_eq!(value["results"].as_array().unwrap().len(), 4 * 5 * 12);
    assert_eq!(value["results"][0]["coverage"], 0.2);
    run(&folder, "multi-llm", &["--crowd", "llm=.2,copy-z", "--raw", "m.csv"]).succeeded();
    assert!(read("m.csv").lines().nth(1).unwrap().ends_with(",lowest over all"));
    run(&folder, "detection", &more("t.txt")).failed(2, &["end `t.txt` in .jsonl, .csv or .json"]);
}

#[test]
fn sample_size_has_a_row_per_coverage_and_ca_is_constant() {
    let folder = Folder::new();
    crowd(&folder);
    let more = ["--crowd", "z-source=gpt", "--mechanism", "ca_z,ca", "--format", "csv"];
    let rows = run(&folder, "sample-size", &more).succeeded().csv();
    let shares: Vec<&str> = rows[1..6].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(shares, ["0.2", "0.4", "0.6", "0.8", "1"]);
    assert!(rows[6..].iter().all(|row| row[2] == rows[6][2]));
    let bad: Vec<&str> = more.into_iter().chain(["--crowd", "coverage=1.2"]).collect();
    run(&folder, "sample-size", &bad).failed(2, &["the coverage 1.2"]);
}

#[test]
fn several_llms_are_compared_with_each_alone() {
    let folder = Folder::new();
    crowd(&folder);
    let more = ["--mechanism", "ca_z,ds", "--crowd", "llm=.2,copy-z", "--format", "csv"];
    let rows = run(&folder, "multi-llm", &more).succeeded().csv();
    let used: Vec<(&str, &str)> =
        rows[1..].iter().step_by(2).map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let expected =
        [("ca_z", "lowest over all"), ("ca_z", "gpt"), ("ca_z", "llama"), ("ds", "none")];
    assert_eq!(used, expected);
    let one = ["--crowd", "z-source=gpt", "--format", "csv"];
    run(&folder, "multi-llm", &one).failed(2, &["several LLMs are needed"]);
}

#[test]
fn shares_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    crowd(&folder);
    run(&folder, "detection", &["--crowd", "llm=.9"]).failed(2, &["sum to 1.3"]);
    run(&folder, "detection", &["--crowd=others=-1"]).failed(2, &["the share `random` is -1"]);
}

#[test]
fn shares_of_nobody_are_named() {
    let folder = Folder::new();
    folder.write("labels.csv", "task,worker,label\nq,a,x\nq,b,x\nr,a,y\nr,b,y\nr,c,x\nq,c,x\n");
    folder.write("z.csv", "task,label,source\nq,x,gpt\nr,x,gpt\nq,x,llama\nr,y,llama\n");
    let of = |shares: &str| {
        let crowd = format!("z-source=gpt,llm-source=llama,llm={shares}");
        let run = run(&folder, "detection", &["--crowd", &crowd, "--mechanism", "ca"]).succeeded();
        run.stdout + &run.stderr
    };
    // A tenth and a third (but for a hair) of three workers is nobody, four tenths are one.
    let said = of("0,.1,.33,.4");
    assert!(said.contains("nobody hands in an LLM at a share of 0.1, 0.33:"), "{said}");
    assert!(!of("0,.4").contains("nobody hands in"));
}
