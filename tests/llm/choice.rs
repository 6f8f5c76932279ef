//! Judgments read from the probabilities that a server gives.

use serde_json::{Value, json};

use crate::command_line::Desk;
use crate::server::{Asked, Reply, Server};

const REVIEWS: &str = "{\"paper\":\"p\",\"reviewer\":\"r\",\"text\":\"The idea is new.\"}\n\
                       {\"paper\":\"p\",\"reviewer\":\"s\",\"text\":\"The idea is old.\"}\n";
const RUBRIC: &str = "description = \"d\"\nvalues = [-1, 0, 1]\n\
    [[categories]]\nname = \"Clarity\"\ndefinition = \"c\"\n\
    [[categories]]\nname = \"Novelty\"\ndefinition = \"n\"\n";
const JUDGE: [&str; 9] = [
    "annotate",
    "judgments",
    "reviews.jsonl",
    "--rubric",
    "small.toml",
    "--model",
    "m",
    "--judge",
    "choice",
];

/// Where novelty is asked for, positive 5/8, none 1/8, negative 1/8 for a new idea and the other way
/// round for an old one; else none for certain, or nearly so.
fn likely(asked: &Asked) -> Reply {
    assert_eq!(asked.body["logprobs"], json!(true));
    assert_eq!(asked.body["max_tokens"], json!(1));
    let text = asked.last_message();
    let shares: Vec<(&str, f64)> = if text.ends_with("Category: Novelty") {
        let [first, last] = if text.contains("is new") {
            [" Positive", "negative"]
        } else {
            ["negative", " Positive"]
        };
        vec![(first, 0.625), ("none", 0.125), (last, 0.125), ("Well", 0.125)]
    } else {
        vec![("none", 1.0 - 2e-9), ("The", 1e-9)]
    };
    let tops = shares.iter().map(|(token, share)| json!({"token": token, "logprob": share.ln()}));
    let place = json!({"token": shares[0].0, "top_logprobs": tops.collect::<Vec<_>>()});
    let choice = json!({"message": {"content": shares[0].0}, "logprobs": {"content": [place]},
                        "finish_reason": "length"});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 1});
    Reply::Body(json!({"choices": [choice], "usage": usage}).to_string().into_bytes())
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("reviews.jsonl", REVIEWS);
    desk.write("small.toml", RUBRIC);
    desk
}

#[test]
fn a_server_with_likely_tokens_gives_soft_judgments_that_caz_reads() {
    let server = Server::start(likely);
    let (desk, url) = (desk(), server.url());
    let more = ["--base-url", &url, "--output", "judged.jsonl", "--summary", "s.json"];
    let judge = [&JUDGE[..], &more].concat();
    desk.done(&judge);
    assert_eq!(server.count(), 4);
    let judged: Vec<Value> =
        desk.read("judged.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    };
    // Of 7/8: 5/7, 1/7, 1/7.
    for (row, sign) in judged.iter().zip([1.0, -1.0]) {
        near(&row["judgments"]["Novelty"], sign * 4.0 / 7.0);
        near(&row["judgments"]["Clarity"], 0.0);
        near(&row["mass"]["Novelty"], 0.875);
        near(&row["probabilities"]["Novelty"][1], 1.0 / 7.0);
        let entropy = (7.0_f64.ln() - 5.0 / 7.0 * 5.0_f64.ln()) / 3.0_f64.ln();
        near(&row["uncertainty"]["Novelty"], entropy);
    }
    let told: Value = serde_json::from_str(&desk.read("s.json")).unwrap();
    assert_eq!((&told["choices"], &told["choices_of_low_mass"]), (&json!(4), &json!(0)));
    assert_eq!(told["spent"]["prompt_tokens"], json!(400));
    assert_eq!(told["settings"]["judge"], json!("choice"));

    // From the cache; as vectors, too.
    desk.done(&judge);
    let embed = ["embed", "reviews.jsonl", "--embedder", "judge:small.toml", "--judge", "choice"];
    let embed = [&embed[..], &["--model", "m", "--base-url", &url, "--format", "csv"]].concat();
    let vectors = desk.done(&embed).stdout;
    assert!(vectors.contains("0.5714285"), "{vectors}");
    assert_eq!(server.count(), 4);
    // What was written is read as it is, fractions, probabilities and all.
    let z = desk.read("judged.jsonl").replace("\"reviewer\"", "\"source\"");
    desk.write("z.jsonl", &z);
    let scores = ["reviews", "judged.jsonl", "--z", "z.jsonl", "--score", "cosine"];
    let scored = desk.done(&[&scores[..], &["--min-papers", "1", "--format", "csv"]].concat());
    assert!(scored.stdout.contains("given"), "{}", scored.stdout);
    assert!(!scored.stderr.contains("was read as"), "{}", scored.stderr);
}

#[test]
fn a_dry_run_counts_questions_and_a_log_replays_them() {
    let server = Server::start(likely);
    let (desk, url) = (desk(), server.url());
    let dry = [&JUDGE[..], &["--base-url", &url, "--dry-run", "--format", "csv"]].concat();
    assert!(desk.done(&dry).stdout.contains("requests,4"), "{}", desk.done(&dry).stdout);
    let calibrated = [&dry[..], &["--judge", "calibrate=content-free"]].concat();
    assert!(desk.done(&calibrated).stdout.contains("requests,10"));
    assert_eq!(server.count(), 0);
    let recorded =
        [&JUDGE[..], &["--base-url", &url, "--record", "log", "--server", "no-cache"]].concat();
    let first = desk.done(&recorded).stdout;
    server.kill();
    let replayed = desk.done(&[&JUDGE[..], &["--replay", "log"]].concat()).stdout;
    assert_eq!(replayed, first);
}

#[test]
fn a_server_that_says_nothing_of_probabilities_is_told_from_one_that_does() {
    let server = Server::start(|_| Reply::Chat("none".into()));
    let (desk, url) = (desk(), server.url());
    let run = desk.caz(&[&JUDGE[..], &["--base-url", &url]].concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("gives no probabilities"), "{}", run.stderr);
}

#[test]
fn settings_that_do_nothing_are_refused() {
    let desk = desk();
    let refused = |more: &[&str]| {
        let run = desk.caz(&[&JUDGE[..7], more].concat());
        assert_eq!(run.code, Some(2), "{more:?}: {}", run.stderr);
        run.stderr
    };
    assert!(refused(&["--judge", "calibrate=content-free"]).contains("--judge choice"));
    refused(&["--judge", "choice,feedback=binary"]);
    refused(&["--judge", "choice", "--rubric", "crowd-answers"]);
}
