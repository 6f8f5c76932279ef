//! What a run shows on a terminal while it waits for a model; `script` makes the terminal.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::command_line::Desk;
use crate::server::{Reply, Server};

/// What `command` draws on a terminal.
fn drawn(desk: &Desk, command: &str) -> String {
    let command = format!("{} {command}", env!("CARGO_BIN_EXE_caz"));
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(desk.path("."))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("CAZ_CACHE_DIR", desk.path("cache"))
        .stdin(Stdio::null())
        .output()
        .expect("`script` of util-linux");
    let drawn = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{drawn}");
    drawn
}

/// A server that takes its time; each answer costs 10 tokens read and 5 written.
fn slow(seconds: u64, answer: &str) -> Server {
    let answer = answer.to_owned();
    Server::start(move |_| {
        Reply::Slow(Duration::from_secs(seconds), Box::new(Reply::Chat(answer.clone())))
    })
}

#[test]
fn requests_tokens_and_price_are_shown_while_a_model_is_waited_for() {
    let desk = Desk::new();
    desk.write("items.csv", "task,text\na,item 1\nb,item 2\n");
    let server = slow(3, &json!({"hateful": "no", "offensive": "no", "toxic": "no"}).to_string());
    let ask = format!(
        "annotate labels items.csv --prompt label-toxicity --question toxic --model m \
         --server concurrency=1 --output z.csv --base-url {}",
        server.url()
    );
    let priced =
        drawn(&desk, &format!("{ask} --server price-in=1000000 --server price-out=2000000"));
    // Nothing is known of the first answer before it is there; then 10 + 2 * 5 for each.
    assert!(priced.contains("1 requests, 0 tokens, price 0.0000"), "{priced}");
    assert!(priced.contains("0 failed, 2 requests, 15 tokens, price 20.0000"), "{priced}");
    // Half is done, so what is left can be told.
    assert!(priced.contains("1/2"), "{priced}");
    assert!(priced.contains("s left"), "{priced}");
    let unpriced = drawn(&desk, &format!("{ask} --seed 1"));
    assert!(unpriced.contains("1 requests, 0 tokens, "), "{unpriced}");
    assert!(!unpriced.contains("price"), "{unpriced}");
}

#[test]
fn an_embedder_that_asks_a_judge_shows_what_it_has_spent() {
    let desk = Desk::new();
    desk.write("texts.jsonl", "{\"id\":\"a\",\"text\":\"A short review.\"}\n");
    let server = slow(3, "{}");
    let drawn = drawn(
        &desk,
        &format!(
            "embed texts.jsonl --embedder judge --judge turns=1 --model m --base-url {} --server price-in=1 \
             --server price-out=1 --output v.jsonl || true",
            server.url()
        ),
    );
    assert!(drawn.contains("1 requests, 0 tokens, price 0.0000"), "{drawn}");
}
