//! `caz reviews --score combined`, `caz simulate reviews` and `caz experiment reviews`.

use super::{Folder, sample};

/// Reviews of 12 papers by four people each, and two LLM reviews of each paper, as vectors. People
/// write about the paper with words of their own; both LLMs say the same.
pub(super) fn crowd(folder: &Folder) {
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
    let own = ["p_own", "p_copy", "p_llm", "p_off_topic", "reads_as"];
    let shares = ["share", "share_low", "share_high", "n_look", "copied", "closeness"];
    assert_eq!(rows[0][11], "flag");
    assert_eq!(rows[0][12..17], own);
    assert_eq!(rows[0][17..23], shares);
    assert_eq!(rows[0][23..], ["part_topic", "part_z"]);
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    for row in &rows[1..7] {
        assert_eq!((row[1].as_str(), row[2].as_str()), ("combined", "tfidf"));
        assert!(row[12..23].iter().all(String::is_empty));
        let lower = number(&row[23]).min(number(&row[24]));
        assert!((number(&row[3]) - lower).abs() < 1e-12);
        assert_eq!(row[11], "", "half of all reviewers are below 0, so nobody gets a flag");
    }
    assert_eq!(rows[1][0], "finn", "the copier of the sample is last");
    assert!(
        rows[7..].iter().all(|row| row[1] == "projected" && row[12..].iter().all(String::is_empty))
    );
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
                "--venue",
                "k=3",
                "--venue",
                "llm=.1",
                "--venue",
                "off-topic=.1",
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
            "--venue",
            "k=3",
            "--format",
            "csv",
        ];
        arguments.extend(extra);
        folder.caz(&arguments).succeeded()
    };
    let whole = run(&["--trials", "4", "--threads", "1"]);
    assert_eq!(run(&["--trials", "4", "--threads", "3"]).stdout, whole.stdout);
    run(&["--trials", "2", "--raw", "trials.jsonl"]);
    let resumed = run(&["--trials", "4", "--raw", "trials.jsonl", "--figures", "svg"]);
    assert_eq!(resumed.stdout, whole.stdout);
    assert!(std::fs::read_to_string(folder.path("svg/reviews-k3.svg")).unwrap().contains("<svg"));
    let scores = std::fs::read_to_string(folder.path("svg/scores-combined.svg")).unwrap();
    assert!(scores.contains(">off_topic_llm</text>") && scores.contains(">human</text>"));
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
    simulate(&["--venue", "z-source=c"]).failed(2, &["no source is called `c`; there are: a, b"]);
    simulate(&["--venue", "k=13"]).failed(2, &["give more papers or fewer each"]);
    simulate(&["--venue", "llm=2"]).failed(2, &["the share `llm` is 2"]);
    simulate(&["--venue", "llm=.6,off-topic=.6"]).failed(2, &["lower them"]);
}

/// Reviews of 12 papers by four people each and two LLM reviews each, as texts. Every paper has
/// words of its own, and so has every review.
fn texts(folder: &Folder) {
    let (mut reviews, mut z) = (String::new(), String::new());
    let topic = |paper: usize| format!("topic{paper}a topic{paper}b topic{paper}c topic{paper}d");
    for paper in 0..12 {
        for person in 0..4 {
            let own = format!("own{paper}x{person}");
            let text = format!(
                "I think the {} is quite good.\nBut {own} is not clear.\nWhy {own} and topic{paper}a?\n\
                 Maybe use {own} for topic{paper}b.",
                topic(paper)
            );
            let row = serde_json::json!({
                "paper": format!("p{paper}"), "reviewer": format!("{paper}-{person}"), "text": text,
            });
            reviews.push_str(&format!("{row}\n"));
        }
        for model in ["a", "b"] {
            let text = format!(
                "**Novelty**: The paper on {} introduces a novel said{paper}.\nThe said{paper} is {model}.",
                topic(paper)
            );
            let row =
                serde_json::json!({ "paper": format!("p{paper}"), "source": model, "text": text });
            z.push_str(&format!("{row}\n"));
        }
    }
    folder.write("r.jsonl", reviews);
    folder.write("z.jsonl", z);
}

const TEXTS: [&str; 8] =
    ["experiment", "reviews", "r.jsonl", "--z", "z.jsonl", "--embedder", "tfidf", "--format=csv"];

#[test]
fn rewritten_people_have_rows_of_their_own_and_every_trial_is_scored_twice() {
    let folder = Folder::new();
    texts(&folder);
    let run = |more: &[&str]| {
        folder.caz(&[&TEXTS[..], &["--venue", "k=3", "--trials", "2"], more].concat())
    };
    let plain = run(&["--score", "projections,combined"]).succeeded().csv();
    assert_eq!(plain[0].len(), 10);
    // Seven scores, four kinds, and mixed once more for each source.
    assert_eq!(plain.len(), 1 + 7 * 6);
    assert!(plain[1..].iter().all(|row| row[2] != "rewritten"));
    let polished = run(&["--venue", "polish=.5", "--raw", "t.csv"]).succeeded().csv();
    assert_eq!(polished[0][10..], ["shift", "low", "low_before"]);
    let effects: Vec<_> = polished.iter().filter(|row| row[2] == "rewritten").collect();
    let scores: Vec<&str> = effects.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(scores, ["projected", "projected_centered", "cosine", "negative", "combined"]);
    for row in &effects {
        let [auc, shift, low] = [4, 10, 11].map(|cell: usize| row[cell].parse::<f64>().unwrap());
        assert!((0.0..=1.0).contains(&auc) && (-1.0..=1.0).contains(&shift) && low <= 1.0);
    }
    // Stock phrases are those of no LLM review here, so that polished people move away from Z.
    assert!(effects[3][10].parse::<f64>().unwrap() > 0.0, "{:?}", effects[3]);
    let raw = std::fs::read_to_string(folder.path("t.csv")).unwrap();
    // Two repetitions for two sources, five scores, four kinds and the rewritten.
    assert_eq!(raw.lines().count(), 1 + 2 * 2 * 5 * 5);
    let together = run(&["--venue", "z-together,copy-z", "--score", "all"]).succeeded().csv();
    assert_eq!(together.len(), 1 + 17 * 4);
    run(&["--venue", "z-together"]).failed(2, &["no LLM answer to copy besides Z"]);
    run(&["--venue", "polish=2"]).failed(2, &["the share `rewriting` is 2"]);
    run(&["--venue", "polish=.1,shorten=.1"]).failed(2, &["cannot be used with"]);
    run(&["--score", "best"]).failed(2, &["choose main, projections, ablation, all"]);
    crowd(&folder);
    let vectors = ["experiment", "reviews", "r.jsonl", "--z", "z.jsonl", "--venue", "formal=.1"];
    folder.caz(&vectors).failed(2, &["72 reviews and Z have no text to rewrite"]);
}

#[test]
fn simulated_people_can_be_rewritten_and_the_truth_says_who() {
    let folder = Folder::new();
    texts(&folder);
    let simulate = |more: &[&str]| {
        let arguments = ["simulate", "reviews", "r.jsonl", "--z", "z.jsonl", "--venue", "k=3"];
        folder
            .caz(&[&arguments[..], &["--venue", "llm=.1", "--output", "o"], more].concat())
            .succeeded();
        ["truth.csv", "reviews.jsonl"]
            .map(|name| std::fs::read_to_string(folder.path("o").join(name)).unwrap())
    };
    let [truth, reviews] = simulate(&["--venue", "shorten=.5,sentences=1,reword-copies"]);
    assert!(truth.starts_with("reviewer,kind,rewritten\n"));
    // Of 12 reviewers one hands in an LLM; half of eleven is five.
    assert_eq!(truth.matches(",human,yes\n").count(), 5);
    assert_eq!(truth.matches(",llm,no\n").count(), 1);
    for line in reviews.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let reviewer = format!("{},", row["reviewer"].as_str().unwrap());
        let kind = truth.lines().find(|line| line.starts_with(&reviewer)).unwrap();
        let text = row["text"].as_str().unwrap();
        match kind.split_once(',').unwrap().1 {
            "human,yes" => assert_eq!(text.lines().count(), 1),
            "human,no" => assert_eq!(text.lines().count(), 4),
            _ => assert!(text.starts_with("The submission on topic"), "{text}"),
        }
    }
    let [truth, reviews] = simulate(&["--venue", "polish=1"]);
    assert_eq!(truth.matches(",human,yes\n").count(), 11);
    assert_eq!(reviews.matches("### Strengths").count(), 33);
    assert!(simulate(&[])[0].starts_with("reviewer,kind\n"));
}

#[test]
fn short_reviews_and_a_single_source_are_warned_about() {
    let folder = Folder::new();
    texts(&folder);
    let reviews = std::fs::read_to_string(folder.path("r.jsonl")).unwrap();
    let short = reviews.replacen(
        reviews.lines().next().unwrap(),
        r#"{"paper":"p0","reviewer":"0-0","text":"Good topic0a."}"#,
        1,
    );
    folder.write("r.jsonl", short);
    let z = std::fs::read_to_string(folder.path("z.jsonl")).unwrap();
    let one: String = z.lines().step_by(2).map(|line| format!("{line}\n")).collect();
    folder.write("one.jsonl", one);
    let codes = |z: &str, score: &str| -> Vec<String> {
        // By word weights these people, who were made up alike, have no spread and so no score.
        let arguments = [
            "reviews",
            "r.jsonl",
            "--z",
            z,
            "--score",
            score,
            "--embedder",
            "static",
            "--format",
            "json",
        ];
        let value: serde_json::Value =
            serde_json::from_str(&folder.caz(&arguments).succeeded().stdout).unwrap();
        let warnings = value["warnings"].as_array().unwrap();
        warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
    };
    let has = |codes: &[String], code: &str| codes.iter().any(|other| other == code);
    let one = codes("one.jsonl", "combined");
    assert!(has(&one, "short_reviews") && has(&one, "combined_one_source"), "{one:?}");
    assert!(has(&one, "combined_single_paper"), "{one:?}");
    let two = codes("z.jsonl", "combined");
    assert!(has(&two, "short_reviews") && !has(&two, "combined_one_source"), "{two:?}");
    assert!(!has(&codes("z.jsonl", "negative"), "short_reviews"));
}
