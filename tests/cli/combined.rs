//! `caz reviews --score combined`, `caz simulate reviews` and `caz experiment reviews`.

use super::{Folder, sample};

/// Reviews of 12 papers by four people each, and two LLM reviews of each paper, as vectors. People
/// write about the paper with words of their own; both LLMs say the same.
fn crowd(folder: &Folder) {
    let vector = |entries: &[(usize, f64)]| {
        let mut vector = vec![0.0; 36];
        entries.iter().for_each(|&(dim, value)| vector[dim] += value);
        serde_json::to_string(&vector).unwrap()
    };
    let (mut reviews, mut z) = (String::new(), String::new());
    for paper in 0..12 {
        for person in 0..4 {
            let own = vector(&[(paper, 1.0), (24 + (paper * 5 + person * 7) % 12, 0.4)]);
            reviews.push_str(&format!(
                "{{\"paper\":\"p{paper}\",\"reviewer\":\"{paper}-{person}\",\"vector\":{own}}}\n"
            ));
        }
        for model in ["a", "b"] {
            let said = vector(&[(paper, 0.7), (12 + paper, 1.0)]);
            z.push_str(&format!(
                "{{\"paper\":\"p{paper}\",\"source\":\"{model}\",\"vector\":{said}}}\n"
            ));
        }
    }
    folder.write("r.jsonl", reviews);
    folder.write("z.jsonl", z);
}

#[test]
fn combined_shows_its_parts_and_says_when_not_to_trust_it() {
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let run = |format: &str| {
        let arguments =
            ["reviews", &reviews, "--z", &z, "--score", "combined,projected", "--format", format];
        Folder::new().caz(&arguments).succeeded()
    };
    let rows = run("csv").csv();
    assert_eq!(rows[0][11..], ["flag", "part_topic", "part_z"]);
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    for row in &rows[1..7] {
        assert_eq!(row[1], "combined");
        let lower = number(&row[12]).min(number(&row[13]));
        assert!((number(&row[3]) - lower).abs() < 1e-12);
        assert_eq!(row[11], "", "half of all reviewers are below 0, so nobody gets a flag");
    }
    assert_eq!(rows[1][0], "finn", "the copier of the sample is last");
    assert!(rows[7..].iter().all(|row| row[1] == "projected" && row[12..] == ["", ""]));
    // Six reviewers of six papers.
    let value: serde_json::Value = serde_json::from_str(&run("json").stdout).unwrap();
    let codes: Vec<&str> =
        value["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"combined_few_reviewers") && codes.contains(&"combined_few_papers"));
    assert!(run("table").stdout.contains("Somebody is always last"));
}

#[test]
fn what_was_simulated_can_be_scored_and_the_cheaters_are_found() {
    let folder = Folder::new();
    crowd(&folder);
    let simulate = |seed: &str, output: &str| {
        folder
            .caz(&[
                "simulate",
                "reviews",
                "r.jsonl",
                "--z",
                "z.jsonl",
                "--k",
                "3",
                "--llm",
                ".1",
                "--off-topic",
                ".1",
                "--seed",
                seed,
                "--output",
                output,
            ])
            .succeeded();
        ["reviews.jsonl", "z.jsonl", "truth.csv"]
            .map(|name| std::fs::read(folder.path(output).join(name)).unwrap())
    };
    let first = simulate("1", "one");
    assert_eq!(first, simulate("1", "again"));
    assert_ne!(first, simulate("2", "two"));
    let truth = String::from_utf8(first[2].clone()).unwrap();
    // 12 papers with three reviews each are 12 reviewers of three papers; a tenth is one.
    assert_eq!(truth.lines().count(), 13);
    assert_eq!(truth.matches(",llm").count(), 1);
    assert_eq!(truth.matches(",off_topic\n").count(), 1);
    assert_eq!(
        String::from_utf8(first[1].clone()).unwrap().matches("\"source\":\"a\"").count(),
        12
    );

    let rows = folder
        .caz(&[
            "reviews",
            "one/reviews.jsonl",
            "--z",
            "one/z.jsonl",
            "--score",
            "combined",
            "--format",
            "csv",
        ])
        .succeeded()
        .csv();
    for row in &rows[1..3] {
        assert!(!truth.contains(&format!("{},human\n", row[0])), "{row:?} in {truth}");
    }
}

#[test]
fn an_experiment_has_the_same_bytes_on_any_number_of_threads_and_goes_on_after_a_stop() {
    let folder = Folder::new();
    crowd(&folder);
    let run = |extra: &[&str]| {
        let mut arguments = vec![
            "experiment",
            "reviews",
            "r.jsonl",
            "--z",
            "z.jsonl",
            "--k",
            "3",
            "--format",
            "csv",
        ];
        arguments.extend(extra);
        folder.caz(&arguments).succeeded()
    };
    let whole = run(&["--trials", "4", "--threads", "1"]);
    assert_eq!(run(&["--trials", "4", "--threads", "3"]).stdout, whole.stdout);
    run(&["--trials", "2", "--raw", "trials.jsonl"]);
    let resumed = run(&["--trials", "4", "--raw", "trials.jsonl", "--resume", "--figures", "svg"]);
    assert_eq!(resumed.stdout, whole.stdout);
    assert!(std::fs::read_to_string(folder.path("svg/reviews-k3.svg")).unwrap().contains("<svg"));
    let rows = whole.csv();
    assert_eq!(rows[0][..5], ["k", "score_name", "kind", "z", "mean_auc"]);
    let mixed = |score: &str| {
        let row = rows.iter().find(|row| row[1] == score && row[2] == "mixed").unwrap();
        // Two sources of four trials.
        assert_eq!(row[7], "8");
        row[4].parse::<f64>().unwrap()
    };
    assert!(mixed("combined") > mixed("cosine") && mixed("combined") > 0.9);
}

#[test]
fn what_cannot_be_simulated_is_a_usage_error() {
    let folder = Folder::new();
    crowd(&folder);
    let simulate = |extra: &[&str]| {
        let mut arguments =
            vec!["simulate", "reviews", "r.jsonl", "--z", "z.jsonl", "--output", "out"];
        arguments.extend(extra);
        folder.caz(&arguments)
    };
    simulate(&["--z-source", "c"]).failed(2, &["no source is called `c`; there are: a, b"]);
    simulate(&["--k", "13"]).failed(2, &["give more papers or fewer each"]);
    simulate(&["--llm", "2"]).failed(2, &["the share `llm` is 2"]);
    simulate(&["--llm", ".6", "--off-topic", ".6"]).failed(2, &["lower them"]);
}
