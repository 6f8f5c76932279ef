//! `--embedder openai:MODEL` against the server: what is sent, what becomes of faults, and that the
//! scores are those of the same vectors given in the files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::command_line::{Desk, Run};
use crate::server::{Asked, Reply, Server};

const KEY: &str = "sk-embedding-0123456789";

/// How often each letter is in a text, and its length.
fn letters(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; 27];
    for byte in text.bytes().filter(u8::is_ascii_alphabetic) {
        vector[usize::from(byte.to_ascii_lowercase() - b'a')] += 1.0;
    }
    vector[26] = text.len() as f64 / 100.0;
    vector
}

fn texts(asked: &Asked) -> Vec<&str> {
    asked.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The vectors of a request, the last first: the numbers say which is which.
fn vectors(asked: &Asked) -> Reply {
    let data: Vec<Value> = texts(asked)
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": letters(text)}))
        .rev()
        .collect();
    let usage = json!({"prompt_tokens": 100, "total_tokens": 100});
    Reply::Body(json!({"object": "list", "data": data, "usage": usage}).to_string().into())
}

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

/// `caz reviews` on the sample with the server's vectors of whole texts.
fn reviews(desk: &Desk, url: &str, more: &[&str]) -> Run {
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let arguments = ["reviews", &reviews, "--z", &z, "--embedder", "openai:letters"];
    let server = ["--base-url", url, "--format", "csv", "--vectors", "granularity=text"];
    desk.caz(&[&arguments[..], &server, more].concat())
}

/// The sample with the vector of each text in place of the text.
fn given(name: &str) -> String {
    let rows = std::fs::read_to_string(sample(name)).unwrap();
    let rows = rows.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let text = row.as_object_mut().unwrap().shift_remove("text").unwrap();
        row["vector"] = json!(letters(text.as_str().unwrap()));
        format!("{row}\n")
    });
    rows.collect()
}

#[test]
fn scores_are_those_of_the_same_vectors_in_the_files() {
    // Own work compares texts, and the files have none.
    const ALL: &str = "projected,cosine,negative,combined";
    let desk = Desk::new();
    let server = Server::start(vectors);
    let asked = reviews(&desk, &server.url(), &["--score", ALL]);
    assert_eq!(asked.code, Some(0), "{}", asked.stderr);
    desk.write("reviews.jsonl", &given("reviews.jsonl"));
    desk.write("z.jsonl", &given("llm-reviews.jsonl"));
    let files = ["reviews", "reviews.jsonl", "--z", "z.jsonl"];
    let expected = desk.done(&[&files[..], &["--score", ALL, "--format", "csv"]].concat());
    assert!(expected.stdout.lines().count() > 20, "{}", expected.stdout);
    assert_eq!(asked.stdout.replace("openai:letters", "given"), expected.stdout);
    // 24 reviews and 6 of an LLM fit into one request.
    assert_eq!(server.count(), 1);
    let line = format!("sending 30 texts to letters at {}", server.url());
    assert!(asked.stderr.contains(&line), "{}", asked.stderr);
    let request = &server.asked()[0];
    assert!(request.head.starts_with("POST /v1/embeddings HTTP/1.1"), "{}", request.head);
    assert_eq!(request.body["model"], json!("letters"));
    assert_eq!(request.body["encoding_format"], json!("float"));
}

#[test]
fn faults_are_tried_again_and_neither_they_nor_concurrency_change_a_byte() {
    let desk = Desk::new();
    let honest = Server::start(vectors);
    let sentences = ["--vectors", "granularity=sentence"];
    let files = [&sample("reviews.jsonl"), "--z", &sample("llm-reviews.jsonl")];
    let run = |server: &Server, concurrency: &str| {
        let url = server.url();
        let embedder = ["--embedder", "openai:letters", "--base-url", &url];
        let more = ["--server", &format!("concurrency={concurrency}"), "--format", "csv"];
        desk.done(&[&["reviews"], &files[..], &embedder, &sentences, &more].concat()).stdout
    };
    let expected = run(&honest, "1");
    assert!(honest.count() > 2, "sentences need several requests");
    let faulty = Server::start(|asked| match asked.index {
        0 => Reply::again(429),
        2 => Reply::Closed,
        3 => Reply::again(503),
        _ => vectors(asked),
    });
    assert_eq!(run(&faulty, "8"), expected);
    assert_eq!(faulty.count(), honest.count() + 3);
}

#[test]
fn embed_writes_the_vectors_and_the_key_is_only_in_the_header() {
    let desk = Desk::new();
    desk.write("texts.jsonl", "{\"text\":\"abba\"}\n{\"text\":\"Zoë\"}\n");
    let server = Server::start(|asked| {
        assert!(asked.head.contains(&format!("Bearer {KEY}")));
        vectors(asked)
    });
    let url = server.url();
    let arguments = ["embed", "texts.jsonl", "--embedder", "openai:letters", "--base-url", &url];
    let key = ["--server", "api-key-env=MY_KEY", "--output", "vectors.jsonl"];
    let output = desk.command(&[&arguments[..], &key].concat()).env("MY_KEY", KEY).output();
    let run = Run::from(output.unwrap());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows: Vec<Value> = desk
        .read("vectors.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected: Vec<Value> = ["abba", "Zoë"].map(|text| json!(letters(text))).to_vec();
    let found: Vec<Value> = rows.iter().map(|row| row["vector"].clone()).collect();
    assert_eq!(found, expected);
    assert!(!run.stderr.contains(KEY) && !desk.read("vectors.jsonl").contains(KEY));
    assert!(!desk.path("cache").exists(), "vectors are not cached");
}

#[test]
fn what_goes_wrong_has_its_exit_code_and_says_what_to_do() {
    let desk = Desk::new();
    let status = |status, body: &'static str| {
        Server::start(move |_| Reply::Status(status, vec![], body.into()))
    };
    let cases = [
        (status(401, "no"), 5, "the key is missing or wrong"),
        (status(400, "maximum context length is 512"), 5, "use --vectors granularity=sentence"),
        (status(200, "{\"choices\": []}"), 5, "is the model an embedding model"),
        (status(200, "<html>"), 5, "does the base URL end in /v1?"),
    ];
    for (server, code, words) in cases {
        let run = reviews(&desk, &server.url(), &[]);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(words), "no `{words}` in {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn one_vector_per_token_is_an_error_that_says_what_to_do_and_pooled_where_that_is_wanted() {
    // Per text two vectors, whose mean is that of its letters.
    let tokens = |asked: &Asked| {
        let data: Vec<Value> = texts(asked)
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let of = |factor: f64| letters(text).iter().map(|x| factor * x).collect::<Vec<_>>();
                json!({"index": index, "embedding": [of(0.5), of(1.5)]})
            })
            .collect();
        Reply::Body(json!({ "data": data }).to_string().into())
    };
    let desk = Desk::new();
    let (decoder, pooling) = (Server::start(tokens), Server::start(vectors));
    let run = reviews(&desk, &decoder.url(), &[]);
    assert_eq!(run.code, Some(5), "{}", run.stderr);
    assert!(run.stderr.contains("one vector per token"), "{}", run.stderr);
    assert!(run.stderr.contains("start the server with mean pooling"), "{}", run.stderr);
    assert!(run.stderr.contains("--vectors pooling=mean"), "{}", run.stderr);
    let mean = reviews(&desk, &decoder.url(), &["--vectors", "pooling=mean"]);
    assert_eq!(mean.code, Some(0), "{}", mean.stderr);
    assert_eq!(mean.stdout, reviews(&desk, &pooling.url(), &[]).stdout);
}

#[test]
fn a_failure_ends_the_run_as_no_vector_is_of_use_alone() {
    let desk = Desk::new();
    let server = Server::start(|_| Reply::again(500));
    let url = server.url();
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let arguments = ["reviews", &reviews, "--z", &z, "--embedder", "openai:m", "--base-url", &url];
    let run = desk.caz(&[&arguments[..], &["--server", "concurrency=1,tries=2"]].concat());
    assert_eq!(run.code, Some(5), "{}", run.stderr);
    assert!(run.stderr.contains("the vectors of 32 texts failed"), "{}", run.stderr);
    assert_eq!(server.count(), 2);
}

#[test]
fn nothing_is_sent_where_it_must_not_be() {
    let desk = Desk::new();
    let server = Server::start(vectors);
    let url = server.url();
    let cases: [(&[&str], i32, &str); 4] = [
        (&["--offline"], 4, "which --offline forbids"),
        (&["--model", "m"], 2, "drop them"),
        (&["--replay", "log.jsonl"], 2, ""),
        (&["--server", "max-requests=0"], 1, "budget"),
    ];
    for (more, code, words) in cases {
        let run = reviews(&desk, &url, more);
        assert_eq!(run.code, Some(code), "{more:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{more:?}: {}", run.stderr);
    }
    let run = desk.caz(&["embed", "texts.jsonl", "--embedder", "openai:"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("openai:MODEL"), "{}", run.stderr);
    // Without a server of one's own the key of the rented one is needed before anything is sent.
    let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
    let run = desk.caz(&["reviews", &reviews, "--z", &z, "--embedder", "openai:m"]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("OPENAI_API_KEY is not set"), "{}", run.stderr);
    assert_eq!(server.count(), 0);
}

#[test]
fn with_a_report_requests_still_go_one_by_one_and_as_many_texts_as_announced() {
    let desk = Desk::new();
    let under_way = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, highest) = (Arc::clone(&under_way), Arc::clone(&most));
    let server = Server::start(move |asked| {
        highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        let reply = vectors(asked);
        now.fetch_sub(1, Ordering::SeqCst);
        reply
    });
    for (granularity, report) in [("sentence", "s.html"), ("text", "t.html")] {
        let before = server.count();
        let url = server.url();
        let (reviews, z) = (sample("reviews.jsonl"), sample("llm-reviews.jsonl"));
        let arguments = ["reviews", &reviews, "--z", &z, "--embedder", "openai:letters"];
        let more = [
            "--base-url",
            &url,
            "--vectors",
            &format!("granularity={granularity}"),
            "--report",
            report,
        ];
        let run = desk.caz(
            &[&arguments[..], &more, &["--server", "concurrency=1", "--threads", "8"]].concat(),
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(desk.read(report).contains("picking blocks by a cheap hash"));
        let sent: usize = server.asked()[before..].iter().map(|asked| texts(asked).len()).sum();
        let line = format!("sending {sent} texts to letters");
        assert!(run.stderr.contains(&line), "no `{line}` in {}", run.stderr);
        // Batches of 32, not a request per text.
        assert!(server.count() - before <= sent.div_ceil(32) + 1, "{}", server.count());
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
}
