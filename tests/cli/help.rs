//! A command line to read: what to write instead, lists, formats, shells, manual pages.

use super::{Folder, sample};

#[test]
fn a_file_that_z_took_is_said_with_what_to_write() {
    let folder = Folder::new();
    let run = folder.caz(&["reviews", "--z", "z.jsonl", "reviews.jsonl", "--top", "3"]);
    run.failed(2, &["caz reviews reviews.jsonl --z z.jsonl --top 3"]);
    let run = folder.caz(&["labels", "--z", "z.csv"]);
    run.failed(2, &["required arguments", "<LABELS>"]);
}

#[test]
fn the_short_help_names_the_way_to_the_long_one() {
    let folder = Folder::new();
    let short = folder.caz(&["reviews", "-h"]).succeeded().stdout;
    for part in ["Input:", "What to compute:", "Output:", "Examples:", "--help"] {
        assert!(short.contains(part), "no {part} in {short}");
    }
    assert!(!short.contains("--server") && !short.contains("--threads"), "{short}");
    let long = folder.caz(&["reviews", "--help"]).succeeded().stdout;
    assert!(long.contains("--threads") && long.contains("Advanced:"), "{long}");
}

#[test]
fn a_table_can_be_markdown() {
    let folder = Folder::new();
    let (labels, z) = (sample("labels.csv"), sample("llm-labels.csv"));
    let arguments = ["labels", &labels, "--z", &z, "--mechanism", "ca_z"];
    let run = folder.caz(&[&arguments[..], &["--format", "markdown"]].concat()).succeeded();
    assert!(run.stdout.contains("| worker | mechanism | score |"), "{}", run.stdout);
    assert!(run.stdout.contains("\n| --- | --- | ---: |"), "{}", run.stdout);
    folder.caz(&[&arguments[..], &["--output", "scores.md"]].concat()).succeeded();
    let written = std::fs::read_to_string(folder.path("scores.md")).unwrap();
    assert_eq!(written, run.stdout);
}

#[test]
fn keys_take_lists_and_the_last_counts() {
    let folder = Folder::new();
    let (labels, z) = (sample("labels.csv"), sample("llm-labels.csv"));
    let run = |shares: &[&str]| {
        let arguments =
            ["experiment", "detection", &labels, "--z", &z, "--crowd", "copy-z", "--trials", "1"];
        let rest = ["--mechanism", "oa", "--format", "csv"];
        folder.caz(&[&arguments[..], &rest[..], shares].concat()).succeeded().stdout
    };
    let commas = run(&["--crowd", "llm=.1,.2"]);
    assert_eq!(run(&["--crowd=llm=.1,.2,others=.2", "--crowd", "others=0.1"]), commas);
    assert!(commas.contains("0.1,") && commas.contains("0.2,"), "{commas}");
}

#[test]
fn completions_have_the_values_of_every_choice() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = folder.caz(&["completions", shell]).succeeded().stdout;
        for word in ["reviews", "--z-combine", "z-combine"] {
            let there = script.contains(word);
            // fish writes long flags without dashes, PowerShell and bash with them.
            assert!(there || word.starts_with("--"), "no {word} for {shell}");
        }
        for value in ["excerpts", "excess_z", "markdown"] {
            // The generator for PowerShell leaves values out.
            assert!(script.contains(value) || shell == "powershell", "no {value} for {shell}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = Folder::new();
    let whole = folder.caz(&["man"]).succeeded().stdout;
    assert!(whole.contains("CAZ EXPERIMENT DETECTION") && whole.contains("Examples:"), "{whole}");
    folder.caz(&["man", "--output", "pages"]).succeeded();
    for page in ["caz", "caz-reviews", "caz-experiment-detection", "caz-man"] {
        let text = std::fs::read_to_string(folder.path(&format!("pages/{page}.1"))).unwrap();
        assert!(text.contains("EXIT STATUS") && text.contains(".SH NAME"), "{page}: {text}");
    }
}

#[test]
fn an_explanation_follows_the_scores_that_were_asked_for() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let explain = |score: &str| {
        let arguments = ["reviews", &reviews, "--z", &z, "--explain", "finn", "--score", score];
        folder.caz(&arguments).succeeded().stdout
    };
    let cosine = explain("cosine");
    assert!(cosine.contains("cosine score ") && !cosine.contains("projected score"), "{cosine}");
    let both = explain("projected,negative");
    assert!(both.contains("projected score ") && both.contains("negative score "), "{both}");
}

#[test]
fn vectors_as_csv_say_what_reads_better() {
    let folder = Folder::new();
    folder.write("t.csv", "id,text\na,Some words.\n");
    let run = folder.caz(&["embed", "t.csv", "--output", "v.csv"]).succeeded();
    assert!(run.stderr.contains("JSON lines"), "{}", run.stderr);
    assert_eq!(folder.caz(&["embed", "t.csv", "--output", "v.jsonl"]).succeeded().stderr, "");
    // With a column for each category there is no vector to speak of.
    let of_aspects = ["embed", "t.csv", "--embedder", "aspects", "--output", "a.csv"];
    assert_eq!(folder.caz(&of_aspects).succeeded().stderr, "");
}

#[test]
fn a_missing_second_sample_is_the_same_error_everywhere() {
    let folder = Folder::new();
    folder.write("labels.csv", "task,worker,label\na,x,1\na,y,0\nb,x,1\nb,y,1\n");
    folder.write("z.csv", "task,label\na,1\nb,0\n");
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let one = std::fs::read_to_string(&z).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    let one: String = one
        .lines()
        .filter(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            seen.insert(row["paper"].to_string())
        })
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("z.jsonl", one);
    let runs: [&[&str]; 4] = [
        &["simulate", "labels", "labels.csv", "--z", "z.csv", "--crowd", "llm=.5", "--output", "s"],
        &["experiment", "detection", "labels.csv", "--z", "z.csv", "--trials", "1"],
        &[
            "simulate",
            "reviews",
            &reviews,
            "--z",
            "z.jsonl",
            "--venue",
            "k=2,llm=.3",
            "--output",
            "t",
        ],
        &["experiment", "reviews", &reviews, "--z", "z.jsonl", "--venue", "k=2", "--trials", "1"],
    ];
    for arguments in runs {
        let run = folder.caz(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("besides Z"), "{arguments:?}: {}", run.stderr);
    }
}
