//! A real server with a real, tiny model (`CAZ_TEST_LLM_URL`; `.ci/real-server` starts one).
//!
//! The model writes badly, and that is not what is tested: every request has an outcome that is
//! told, none is repeated without need, and what the server promises by a schema comes.

use serde_json::Value;

use crate::command_line::Desk;

/// What an unusable review may be; anything else is a fault of ours or of the server.
const UNUSABLE: [&str; 6] =
    ["cut_off", "empty", "repeats_fence", "copies_input", "refuses", "too_short"];

const ITEMS: &str = "task,text\na,You are a wonderful person.\nb,I hate you.\n";
const PAPERS: &str = "{\"paper\":\"p\",\"title\":\"Sorting by counting\",\"abstract\":\"We sort numbers by \
                      counting how often each occurs, and compare the time with that of quicksort.\"}\n";
const REVIEWS: &str = "{\"paper\":\"p\",\"reviewer\":\"r\",\"text\":\"The idea is old, the experiments are \
                       small, and the writing is clear.\"}\n";

fn address() -> String {
    std::env::var("CAZ_TEST_LLM_URL").expect("CAZ_TEST_LLM_URL is the address of a server")
}

fn summary(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&desk.read(name)).unwrap()
}

#[test]
#[ignore = "needs CAZ_TEST_LLM_URL, the address of a server with a small model"]
fn labels_and_judgments_come_by_the_schema_and_replay_without_the_server() {
    let (desk, url) = (Desk::new(), address());
    desk.write("items.csv", ITEMS);
    desk.write("reviews.jsonl", REVIEWS);
    let server = ["--model", "any", "--base-url", &url, "--server", "concurrency=1"];
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity"];
    let more = ["--question", "toxic", "--record", "l.jsonl", "--summary", "l.json"];
    let made = desk.done(&[&labels[..], &more, &server].concat());
    assert_eq!(made.stdout.lines().count(), 3, "{}", made.stdout);
    let told = summary(&desk, "l.json");
    assert_eq!((&told["failed"], &told["concessions"]), (&0.into(), &Value::Array(vec![])));
    assert_eq!(told["spent"]["requests"], 2, "one request an item");
    assert!(told["spent"]["completion_tokens"].as_u64().unwrap() > 0);
    let replayed =
        desk.done(&[&labels[..], &["--question", "toxic", "--replay", "l.jsonl"]].concat());
    assert_eq!(replayed.stdout, made.stdout);

    let judge = ["annotate", "judgments", "reviews.jsonl", "--summary", "j.json"];
    let judged = desk.done(&[&judge[..], &server].concat());
    let row: Value = serde_json::from_str(judged.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(row["judgments"].as_object().map(serde_json::Map::len), Some(19), "{row}");
    assert_eq!(summary(&desk, "j.json")["spent"]["requests"], 1);
    // The same questions by another way: the answers are there.
    let embed = ["embed", "reviews.jsonl", "--embedder", "judge"];
    let vectors = desk.done(&[&embed[..], &server].concat());
    let row: Value = serde_json::from_str(vectors.stdout.lines().next().unwrap()).unwrap();
    assert!(row.to_string().len() > 19, "{row}");
}

#[test]
#[ignore = "needs CAZ_TEST_LLM_URL, the address of a server with a small model"]
fn reviews_are_usable_or_told_by_kind() {
    let (desk, url) = (Desk::new(), address());
    desk.write("papers.jsonl", PAPERS);
    let review = ["annotate", "reviews", "papers.jsonl", "--max-tokens", "120"];
    let server = ["--model", "any", "--base-url", &url, "--server", "timeout=60"];
    let more = ["--output", "r.jsonl", "--summary", "r.json"];
    let run = desk.caz(&[&review[..], &server, &more].concat());
    let told = summary(&desk, "r.json");
    let failed = told["failed"].as_u64().unwrap();
    assert_eq!(told["done"].as_u64().unwrap() + failed, 1, "{told}");
    assert_eq!(run.code, Some(i32::from(failed > 0)), "{}", run.stderr);
    let errors = std::fs::read_to_string(desk.path("r.errors.jsonl")).unwrap_or_default();
    for line in errors.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert!(UNUSABLE.contains(&row["kind"].as_str().unwrap()), "{row}");
    }
    assert!(!run.stdout.contains("<<<"), "{}", run.stdout);
}

#[test]
#[ignore = "needs CAZ_TEST_LLM_URL, the address of a server with a small model"]
fn a_chat_server_has_no_vectors_and_says_so() {
    let (desk, url) = (Desk::new(), address());
    desk.write("reviews.jsonl", REVIEWS);
    let embed = ["embed", "reviews.jsonl", "--embedder", "openai:any", "--base-url", &url];
    let run = desk.caz(&[&embed[..], &["--server", "tries=1"]].concat());
    assert_eq!(run.code, Some(5), "{}", run.stderr);
    assert!(run.stderr.contains("embeddings"), "{}", run.stderr);
}

#[test]
#[ignore = "needs CAZ_TEST_EMBEDDINGS_URL, the address of a server that pools"]
fn vectors_of_a_server_that_pools_have_one_length() {
    let desk = Desk::new();
    let url = std::env::var("CAZ_TEST_EMBEDDINGS_URL")
        .expect("CAZ_TEST_EMBEDDINGS_URL is the address of a server");
    desk.write("texts.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two words\"}\n");
    let embed = ["embed", "texts.jsonl", "--embedder", "openai:any", "--base-url", &url];
    let run = desk.done(&[&embed[..], &["--format", "jsonl"]].concat());
    let length = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["vector"].as_array().map_or(0, Vec::len)
    };
    let lengths: Vec<usize> = run.stdout.lines().map(length).collect();
    assert!(lengths.len() == 2 && lengths[0] > 1 && lengths[0] == lengths[1], "{lengths:?}");
}
