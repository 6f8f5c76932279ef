//! `caz reviews` on the sample of the project and on vectors by hand.

use super::{Folder, sample};

fn scores(arguments: &[&str]) -> super::Run {
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let mut all = vec!["reviews", &reviews, "--z", &z];
    all.extend(arguments);
    Folder::new().caz(&all)
}

#[test]
fn the_copier_of_the_sample_is_last_in_rank_and_first_in_the_list() {
    for embedder in ["static", "tfidf"] {
        let asked = ["--score", "projected", "--embedder", embedder, "--format", "csv"];
        let rows = scores(&asked).succeeded().csv();
        assert_eq!(
            rows[0].join(","),
            "reviewer,score_name,embedder,score,se,ci_low,ci_high,n_papers,n_pairs,n_zero,rank,flag,\
             p_own,p_copy,p_llm,p_off_topic,reads_as,share,share_low,share_high,n_look,copied,closeness"
        );
        assert_eq!(rows.len(), 7);
        assert_eq!((rows[1][0].as_str(), rows[1][10].as_str()), ("finn", "6"), "{embedder}");
        assert_eq!(rows[6][10], "1");
    }
}

#[test]
fn a_score_by_hand_from_given_vectors() {
    // z = (0, 0, 3); a = (1, 2, 2) leaves (1, 2, 0), b = (2, 1, 0) leaves itself: 4 / 5.
    let folder = Folder::new();
    folder.write("r.csv", "paper,reviewer,vector\np,a,1 2 2\np,b,\"[2, 1, 0]\"\n");
    folder.write("z.csv", "paper,vector\np,0 0 3\n");
    let run = folder
        .caz(&[
            "reviews", "r.csv", "--z", "z.csv", "--center", "off", "--score", "all", "--format",
            "csv",
        ])
        .succeeded();
    let rows = run.csv();
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    assert!((number(1, 3) - 0.8).abs() < 1e-12);
    assert!((number(3, 3) - 4.0 / (3.0 * 5.0_f64.sqrt())).abs() < 1e-12);
    // negative: a has cosine 2/3 with z, b has 0.
    let negative: Vec<(&str, f64)> =
        (5..7).map(|row| (rows[row][0].as_str(), number(row, 3))).collect();
    assert_eq!(negative[0].0, "a");
    assert!((negative[0].1 + 2.0 / 3.0).abs() < 1e-12);
    // One paper gives no standard error, no interval and the flag too_few.
    assert_eq!(rows[1][4..7], ["", "", ""]);
    assert_eq!(rows[1][11], "too_few");
}

#[test]
fn where_nobody_has_a_score_nothing_is_said_of_what_they_add() {
    let folder = Folder::new();
    folder.write("r.csv", "paper,reviewer,vector\np,a,0 0 0\nq,b,1 2 0\n");
    folder.write("z.csv", "paper,vector\np,0 0 3\nq,0 0 3\n");
    let arguments = ["reviews", "r.csv", "--z", "z.csv", "--score", "projected"];
    let shown = folder.caz(&arguments).succeeded().stdout;
    assert!(shown.starts_with("None of 2 reviewers has a projected score.\n"), "{shown}");
    assert!(shown.contains("1 review has a zero vector, with which pairs count as 0"), "{shown}");
}

#[test]
fn one_paper_with_sixty_thousand_reviews_is_scored_in_seconds() {
    // 20,000 times (1, 0, 1) and 40,000 times (0, 1, 1) beside z = (0, 0, 1): beyond z they are
    // alike or at right angles, as they are alike or have cosine 1 / 2.
    let folder = Folder::new();
    let mut reviews = String::from("paper,reviewer,vector\n");
    for reviewer in 0..60_000 {
        let vector = if reviewer % 3 == 0 { "1 0 1" } else { "0 1 1" };
        reviews.push_str(&format!("p,r{reviewer},{vector}\n"));
    }
    folder.write("r.csv", reviews);
    folder.write("z.csv", "paper,vector\np,0 0 1\n");
    let begun = std::time::Instant::now();
    let more = ["--center", "off", "--score", "projected,cosine", "--format", "csv"];
    let rows =
        folder.caz(&[&["reviews", "r.csv", "--z", "z.csv"][..], &more].concat()).succeeded().csv();
    // All pairs would be 1.8 thousand million, which takes minutes in a build without optimisation.
    assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{:?}", begun.elapsed());
    assert_eq!(rows.len(), 1 + 2 * 60_000);
    for (name, score, alike) in [
        ("r0", "projected", 19_999.0),
        ("r1", "projected", 39_999.0),
        ("r0", "cosine", 19_999.0 + 40_000.0 / 2.0),
        ("r1", "cosine", 39_999.0 + 20_000.0 / 2.0),
    ] {
        let row = rows.iter().find(|row| row[0] == name && row[1] == score).unwrap();
        let found: f64 = row[3].parse().unwrap();
        assert!((found - alike / 59_999.0).abs() < 1e-9, "{name} {score}: {found}");
    }
}

#[test]
fn judgments_are_scored_without_centering() {
    let folder = Folder::new();
    folder.write(
        "r.jsonl",
        "{\"paper\":1,\"reviewer\":\"a\",\"judgments\":{\"x\":1,\"y\":-1}}\n\
         {\"paper\":1,\"reviewer\":\"b\",\"judgments\":{\"y\":-1,\"x\":0}}\n",
    );
    folder.write("z.jsonl", "{\"paper\":1,\"judgments\":{\"x\":1,\"y\":0}}\n");
    let run = folder.caz(&["reviews", "r.jsonl", "--z", "z.jsonl", "--format", "json"]).succeeded();
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["settings"]["centered"], false);
    assert_eq!(value["results"][0]["embedder"], "given");
    assert_eq!(value["results"][0]["score"], 1.0);
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let with = |threads: &str| {
        scores(&["--score", "all", "--format", "json", "--threads", threads]).succeeded().stdout
    };
    assert_eq!(with("1"), with("3"));
}

#[test]
fn json_names_inputs_settings_and_warnings() {
    let run = scores(&["--format", "json"]).succeeded();
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["command"], "reviews");
    assert_eq!(value["inputs"][0]["rows"], 24);
    assert_eq!(value["inputs"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(value["settings"]["centered"], true);
    assert_eq!(value["results"].as_array().unwrap().len(), 6);
}

#[test]
fn explain_shows_the_evidence() {
    let explain = |name| scores(&["--score", "projected", "--explain", name]).succeeded();
    let run = explain("finn");
    for part in [
        "Reviewer finn",
        "projected score",
        "Paper P1",
        "similarity with the LLM",
        "sentences close to the LLM's and not as close to peers'",
    ] {
        assert!(run.stdout.contains(part), "no `{part}` in {}", run.stdout);
    }
    // finn hands in the LLM's words: what peers say too is no support for him.
    let support = "sentences with most support by peers beyond the LLM";
    assert!(!run.stdout.contains(support), "{}", run.stdout);
    assert!(explain("ada").stdout.contains(support));
    let rows = scores(&["--explain", "ada", "--format", "csv"]).succeeded().csv();
    assert_eq!(rows[0][..4], ["paper", "kind", "with", "similarity"]);
    let count = |kind: &str| rows.iter().filter(|row| row[1] == kind).count();
    // ada reviewed P1 and P2 and P4 with three peers each where finn is one of them.
    assert_eq!((count("peer"), count("z")), (9, 3));
    // One sentence is closer to the LLM's than to her peers' and to what the LLM says of other papers.
    assert_eq!((count("said_by_z"), count("supported_by_peers")), (1, 9));
}

#[test]
fn an_unknown_reviewer_is_a_usage_error_with_a_hint() {
    scores(&["--explain", "fin"]).failed(2, &["no reviewer is called `fin`; did you mean `finn`?"]);
}

#[test]
fn standard_input_is_read_once() {
    scores(&[]).succeeded();
    Folder::new().caz(&["reviews", "-", "--z", "-"]).failed(2, &["can be read only once"]);
}

#[test]
fn output_files_choose_their_format_and_appear_whole() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let run = |output: &str| folder.caz(&["reviews", &reviews, "--z", &z, "--output", output]);
    assert_eq!(run("scores.csv").succeeded().stdout, "");
    assert!(std::fs::read_to_string(folder.path("scores.csv")).unwrap().starts_with("reviewer,"));
    run("scores.jsonl").succeeded();
    let lines = std::fs::read_to_string(folder.path("scores.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 6);
    run("scores.xyz").failed(2, &["cannot tell the format of `scores.xyz`"]);
    run("none/scores.csv").failed(4, &["the folder `none` for the output does not exist"]);
}

#[test]
fn sparse_vectors_can_be_explained_too() {
    // Sentences of different texts have different words, so their rows have no common block.
    let run = scores(&["--explain", "finn", "--embedder", "tfidf"]).succeeded();
    assert!(
        run.stdout.contains("sentences close to the LLM's and not as close to peers'"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_report_is_written_beside_the_table_and_is_the_same_every_time() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let run = |more: &[&str]| {
        let all = [&["reviews", &reviews, "--z", &z, "--report", "r.html"], more].concat();
        folder.caz(&all)
    };
    let table = run(&["--threads", "1"]).succeeded().stdout;
    assert_eq!(table, scores(&[]).succeeded().stdout);
    let page = std::fs::read(folder.path("r.html")).unwrap();
    run(&["--threads", "3"]).succeeded();
    assert_eq!(std::fs::read(folder.path("r.html")).unwrap(), page);
    // The whole content is tested in a browser; here, that text is left out where asked for.
    let has = |text: &str| {
        run(&["--report-text", text]).succeeded();
        let page = std::fs::read_to_string(folder.path("r.html")).unwrap();
        assert!(page.contains("LLM similarity"));
        page.contains("picking blocks by a cheap hash")
    };
    assert_eq!(["none", "full"].map(has), [false, true]);
}

#[test]
fn a_report_that_would_replace_something_else_is_refused() {
    let folder = Folder::new();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let run = |more: &[&str]| folder.caz(&[&["reviews", &reviews, "--z", &z], more].concat());
    run(&["--report", "reviews.jsonl"]).failed(2, &["does not end in .html"]);
    run(&["--report", "a.html", "--output", "a.html", "--format", "csv"])
        .failed(2, &["the same file"]);
    run(&["--report", "none/a.html"]).failed(4, &["the folder `none`"]);
    run(&["--report", "a.html", "--explain", "finn"]).failed(2, &["cannot be used with"]);
    run(&["--report-text", "none"]).failed(2, &["--report"]);
}

#[test]
fn a_margin_that_is_no_number_is_refused() {
    for margin in ["nan", "inf"] {
        scores(&["--margin", margin]).failed(2, &["margin is", "must be a finite number"]);
    }
}

#[test]
fn every_setting_of_the_embedder_is_in_the_output() {
    let settings = |more: &[&str]| {
        let run = scores(&[&["--format", "json"], more].concat()).succeeded();
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        value["settings"].clone()
    };
    assert_eq!(settings(&["--embedder", "tfidf"])["granularity"], "text");
    let encoder = concat!("bert:", env!("CARGO_MANIFEST_DIR"), "/tests/golden/tiny/bert");
    let vectors = ["--vectors", "long-text=truncate", "--vectors", "pooling=cls"];
    let found = settings(&[&["--embedder", encoder][..], &vectors].concat());
    assert_eq!((&found["long_text"], &found["pooling"]), (&"truncate".into(), &"cls".into()));
    let unread = "long_text, pooling has no effect on the embedder static";
    scores(&vectors).failed(2, &[unread]);
    scores(&["--judge", "turns=3"]).failed(2, &["what is set of judge has no effect"]);
}
