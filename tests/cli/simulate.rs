//! `caz simulate`: files, seeds and refusals.

use std::collections::BTreeSet;

use super::{Folder, Run};

pub(super) const TASKS: usize = 40;

/// 20 workers answer 40 tasks; the LLM `gpt` has two samples, `llama` one.
pub(super) fn crowd(folder: &Folder) {
    let labels = ["a", "b", "c"];
    let mut reports = String::from("task,worker,label\n");
    let mut z = String::from("task,label,source,sample\n");
    for task in 0..TASKS {
        for worker in 0..20 {
            // Right two times out of three, in no simple pattern.
            let draw = (task * 7919 + worker * 104_729 + task * worker * 31) % 9;
            let label = if draw < 6 { task % 3 } else { draw % 3 };
            reports.push_str(&format!("q{task},w{worker},{}\n", labels[label]));
        }
        for (source, sample, shift) in [("gpt", 0, 4), ("gpt", 1, 5), ("llama", 0, 7)] {
            let label = if task % shift == 0 { (task + 1) % 3 } else { task % 3 };
            z.push_str(&format!("q{task},{},{source},{sample}\n", labels[label]));
        }
    }
    folder.write("labels.csv", reports);
    folder.write("z.csv", z);
}

const SIMULATE: [&str; 7] = [
    "simulate",
    "labels",
    "labels.csv",
    "--z",
    "z.csv",
    "--crowd",
    "z-source=gpt,llm=.1,random=.05",
];

fn simulate(folder: &Folder, more: &[&str]) -> Run {
    let arguments: Vec<&str> = SIMULATE.iter().chain(more).copied().collect();
    folder.caz(&arguments)
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn three_files_say_who_did_what() {
    let folder = Folder::new();
    crowd(&folder);
    let run = simulate(&folder, &["--crowd", "biased=.1", "--output", "new", "--format", "csv"]);
    let rows = run.succeeded().csv();
    assert_eq!(rows[0], ["kind", "n_workers", "n_labels", "n_changed"]);
    let workers: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(workers, ["15", "2", "1", "2"]);
    assert_eq!(rows[1][2..], ["600", "0"]);

    let truth = read(&folder, "new/truth.csv");
    assert!(truth.starts_with("worker,kind\nw0,"), "{truth}");
    for (kind, count) in [("good", 15), ("llm", 2), ("random", 1), ("biased", 2)] {
        assert_eq!(truth.matches(&format!(",{kind}\n")).count(), count);
    }
    // Who hands in the LLM says what its second sample says; Z is the first.
    let old_z = read(&folder, "z.csv");
    // Tasks are in the order of their names, whatever that of the file was.
    let sorted = |mut lines: Vec<&str>| {
        lines.sort_unstable();
        lines.join("\n")
    };
    let expected = old_z.lines().filter(|line| line.ends_with(",gpt,0")).collect();
    assert_eq!(sorted(read(&folder, "new/z.csv").lines().skip(1).collect()), sorted(expected));
    let (old, new) = (read(&folder, "labels.csv"), read(&folder, "new/labels.csv"));
    for line in truth.lines().skip(1) {
        let (worker, kind) = line.split_once(',').unwrap();
        let of = |text: &str| -> Vec<String> {
            let part = format!(",{worker},");
            let mut lines: Vec<String> =
                text.lines().filter(|line| line.contains(&part)).map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let new = of(&new);
        assert_eq!(new.len(), TASKS);
        match kind {
            "good" => assert_eq!(new, of(&old)),
            "llm" => {
                let second = old_z.lines().filter(|line| line.ends_with(",gpt,1"));
                let second = second.map(|line| line.replace(",gpt,1", ""));
                assert_eq!(
                    new.iter()
                        .map(|l| l.replace(&format!(",{worker},"), ","))
                        .collect::<BTreeSet<_>>(),
                    second.collect::<BTreeSet<_>>()
                );
            }
            _ => assert_ne!(new, of(&old)),
        }
    }
    // What was written can be read.
    folder.caz(&["labels", "new/labels.csv", "--z", "new/z.csv"]).succeeded();
}

#[test]
fn the_seed_decides_everything() {
    let folder = Folder::new();
    crowd(&folder);
    for (seed, threads, output) in [("7", "1", "a"), ("7", "2", "b"), ("8", "1", "c")] {
        let more = ["--seed", seed, "--threads", threads, "--output", output, "--quiet"];
        simulate(&folder, &more).succeeded();
    }
    let labels = |name: &str| read(&folder, &format!("{name}/labels.csv"));
    assert_eq!(labels("a"), labels("b"));
    assert_ne!(labels("a"), labels("c"));
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    crowd(&folder);
    simulate(&folder, &[]).failed(2, &["add --output DIR"]);
    simulate(&folder, &["--crowd", "biased=1.5", "--output", "o"])
        .failed(2, &["the share `biased` is 1.5"]);
    simulate(&folder, &["--crowd", "biased=.9", "--output", "o"]).failed(2, &["more than 1"]);
    simulate(&folder, &["--crowd", "llm-source=claude", "--output", "o"])
        .failed(2, &["no source `claude`; it has: gpt, llama"]);
    let only = ["simulate", "labels", "labels.csv", "--z", "z.csv", "--output", "o"];
    folder.caz(&only).failed(2, &["there are: gpt, llama; name it with --crowd z-source=NAME"]);
    let llama: Vec<&str> = only.into_iter().chain(["--crowd", "z-source=llama,llm=.1"]).collect();
    folder.caz(&llama).failed(2, &["`llama` has no sample besides Z", "copy-z"]);
    let copy: Vec<&str> = llama.into_iter().chain(["--crowd", "copy-z"]).collect();
    folder.caz(&copy).succeeded();
    assert!(!folder.path("o/o").exists());
}

#[test]
fn exact_labels_keep_words_for_nothing_of_an_export_too() {
    let folder = Folder::new();
    let mut table =
        "INPUT:url\tOUTPUT:result\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
            .to_owned();
    let mut z = "task,label\n".to_owned();
    for task in 0..6 {
        z += &format!("t{task},{}\n", ["yes", "no"][task % 2]);
        for worker in 0..3 {
            let label = ["yes", "no", "N/A"][(task + worker) % 3];
            table += &format!("http://{task}\t{label}\tt{task}\tw{worker}\tAPPROVED\n");
        }
    }
    folder.write("toloka.tsv", &table);
    folder.write("z.csv", &z);
    let kept = |more: &[&str], output: &str| {
        let start =
            ["simulate", "labels", "toloka.tsv", "--z", "z.csv", "--quiet", "--output", output];
        let crowd = ["--crowd", "llm=0,random=0,biased=0,copy-z"];
        folder.caz(&[&start[..], &crowd, more].concat()).succeeded();
        read(&folder, &format!("{output}/labels.csv")).matches("N/A\n").count()
    };
    assert_eq!(kept(&[], "dropped"), 0);
    assert_eq!(kept(&["--exact-labels"], "kept"), 6);
}

#[test]
fn a_crowd_out_of_nothing_names_the_key_that_is_wrong_and_says_what_it_lacks() {
    let folder = Folder::new();
    let simulate = |crowd: &str| {
        folder.caz(&["simulate", "crowd", "--crowd", crowd, "--output", "c", "--format", "json"])
    };
    for (key, name) in [
        ("human-accuracy", "human_accuracy"),
        ("llm-accuracy", "llm_accuracy"),
        ("llm-consistency", "llm_consistency"),
        ("llm", "llm"),
    ] {
        simulate(&format!("{key}=2")).failed(2, &[&format!("the share `{name}` is 2")]);
    }
    // Nothing is written over that no simulation left, and the same command may be run again.
    std::fs::create_dir(folder.path("c")).unwrap();
    folder.write("c/labels.csv", "mine");
    simulate("tasks=5").failed(2, &["labels.csv` is there, and no simulation left it"]);
    assert_eq!(read(&folder, "c/labels.csv"), "mine");
    assert!(!folder.path("c/z.csv").exists());
    std::fs::remove_file(folder.path("c/labels.csv")).unwrap();
    simulate("tasks=5").succeeded();
    let run = simulate("workers=3,workers-per-task=9,tasks=5").succeeded();
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["results"][0]["n_labels"], 15);
    assert_eq!(report["warnings"][0]["code"], "workers_per_task");
    assert_eq!(
        report["warnings"][0]["message"],
        "every task is answered by all workers, who are 3 and not the 9 asked for"
    );
}

#[test]
fn a_crowd_out_of_nothing_is_scored() {
    let folder = Folder::new();
    let more = ["--crowd", "workers=20,tasks=900,llm=.2", "--output", "c", "--seed", "1"];
    let arguments: Vec<&str> = ["simulate", "crowd"].into_iter().chain(more).collect();
    folder.caz(&arguments).succeeded();
    let workers = read(&folder, "c/truth.csv");
    assert_eq!(workers.matches(",llm,1\n").count(), 4);
    let arguments = ["labels", "c/labels.csv", "--z", "c/z.csv", "--truth", "c/tasks.csv"];
    let rows = folder.caz(&[&arguments[..], &["--format", "csv"]].concat()).succeeded().csv();
    // w1 to w4 hand in the LLM: worst first.
    let mut worst: Vec<&str> = rows[1..5].iter().map(|row| row[0].as_str()).collect();
    worst.sort_unstable();
    assert_eq!(worst, ["w1", "w2", "w3", "w4"]);
    folder
        .caz(&["simulate", "crowd", "--crowd", "tasks=0", "--output", "d"])
        .failed(2, &["at least 1 task"]);
}

#[test]
fn confusion_matrices_come_from_a_file_and_mistakes_in_it_are_named() {
    let folder = Folder::new();
    let run = |file: &str, more: &[&str]| {
        folder.write("c.json", file);
        let arguments = ["simulate", "crowd", "--crowd", "confusion=c.json", "--output", "c"];
        folder.caz(&[&arguments[..], more].concat())
    };
    // People are always right, the LLM always says the next label.
    let file = r#"{"human": [[1,0,0],[0,1,0],[0,0,1]], "llm": [[0,1,0],[0,0,1],[1,0,0]]}"#;
    run(file, &["--crowd", "llm-consistency=1,tasks=60,llm=0"]).succeeded();
    let truth = read(&folder, "c/tasks.csv");
    let number = |line: &str| -> u32 { line.rsplit(",a").next().unwrap().parse().unwrap() };
    for (truth, z) in truth.lines().zip(read(&folder, "c/z.csv").lines()).skip(1) {
        assert_eq!(number(z), number(truth) % 3 + 1);
    }
    let truth: std::collections::BTreeMap<&str, &str> =
        truth.lines().skip(1).map(|line| line.split_once(',').unwrap()).collect();
    let labels = read(&folder, "c/labels.csv");
    assert_eq!(labels.lines().count(), 1 + 60 * 5);
    for line in labels.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(truth[cells[0]], cells[2]);
    }

    for (file, message) in [
        (r#"{"human": [[1]]}"#, "is not an object with `human` and `llm`"),
        (r#"{"human": [[1, "x"]], "llm": [[1]]}"#, "is not an object with `human` and `llm`"),
        (
            r#"{"human": [[0.5, 0.6], [0, 1]], "llm": [[1]]}"#,
            "row 1 of the confusion matrix `human` sums to 1.1",
        ),
        (
            r#"{"human": [[1, 0], [0, 1]], "llm": [[1, 0], [1]]}"#,
            "row 2 of the confusion matrix `llm` has 1 entries for 2 labels",
        ),
        (
            r#"{"human": [[1, 0], [0, 1]], "llm": [[1, 0], [-1, 2]]}"#,
            "row 2, column 1 of the confusion matrix `llm` is -1",
        ),
        (r#"{"human": [[1, 0], [0, 1]], "llm": [[1]]}"#, "`human` has 2 labels and `llm` has 1"),
    ] {
        run(file, &[]).failed(3, &["`c.json`", message]);
    }
    run(file, &["--crowd", "human-accuracy=.5"]).failed(2, &["cannot be used with"]);
    let missing = ["simulate", "crowd", "--crowd", "confusion=none.json", "--output", "c"];
    folder.caz(&missing).failed(4, &["cannot read `none.json`"]);
}
