//! What servers do wrong, as a table: what becomes of an item whose first requests meet the fault.
//!
//! Whatever happens, an item has the right label or none: never another one.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use crate::command_line::{Desk, generic_labels};
use crate::server::{Asked, Reply, Server};

/// What becomes of the item when the server is well again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It is asked for again, and labelled.
    Labelled,
    /// It is listed as failed, and the exit code is 1 or 5.
    Failed,
}

fn body(text: impl Into<Vec<u8>>) -> Reply {
    Reply::Body(text.into())
}

fn message(message: &serde_json::Value) -> Reply {
    body(json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string())
}

/// Name, what the server replies at first, and what comes of it.
fn faults() -> Vec<(&'static str, Reply, Outcome)> {
    use Outcome::{Failed, Labelled};
    let slow = || Reply::Slow(Duration::from_millis(2500), Box::new(Reply::Chat("late".into())));
    let gzip = || vec![("Content-Encoding", "gzip".to_owned())];
    vec![
        ("408", Reply::again(408), Labelled),
        ("409", Reply::again(409), Labelled),
        ("429", Reply::again(429), Labelled),
        ("500", Reply::again(500), Labelled),
        ("502", Reply::again(502), Labelled),
        ("503", Reply::again(503), Labelled),
        ("504", Reply::again(504), Labelled),
        ("401", Reply::status(401), Failed),
        ("403", Reply::status(403), Failed),
        ("404", Reply::status(404), Failed),
        (
            "a redirect",
            Reply::Status(302, vec![("Location", "/v1/x".into())], String::new()),
            Failed,
        ),
        ("closed in the middle", Reply::Closed, Labelled),
        ("no answer in time", slow(), Labelled),
        ("a page of HTML", body("<html>hello</html>"), Failed),
        ("no JSON to its end", body("{\"choices\": [{\"mess"), Labelled),
        ("no choices", body("{\"choices\": []}"), Failed),
        ("an empty object", body("{}"), Failed),
        ("an array", body("[1, 2]"), Failed),
        ("bytes that are no text", body([0xff, 0xfe, 0x00, 0x80]), Failed),
        ("gzip that is none", Reply::Packed(gzip(), b"not gzip".to_vec()), Failed),
        ("no content", message(&json!({"role": "assistant"})), Labelled),
        ("content null", message(&json!({"content": null})), Labelled),
        ("an empty answer", Reply::Chat(String::new()), Labelled),
        ("another label", Reply::Chat("{\"toxic\": \"perhaps\"}".into()), Labelled),
        ("two labels", Reply::Chat("{\"toxic\": \"yes\"} {\"toxic\": \"no\"}".into()), Labelled),
        ("words", Reply::Chat("I would rather not say.".into()), Labelled),
        ("a key twice", Reply::Chat("{\"toxic\": \"no\", \"toxic\": \"yes\"}".into()), Labelled),
        ("braces without an end", Reply::Chat("{".repeat(100_000)), Labelled),
        ("cut off", Reply::Finished("{\"toxic\": \"n".into(), "length"), Labelled),
        ("withheld", Reply::Finished(String::new(), "content_filter"), Labelled),
    ]
}

const TASK: &str = "question = \"Is it toxic?\"\n\n[[fields]]\nname = \"toxic\"\n\
                    definition = \"hurts\"\nlabels = [\"yes\", \"no\"]\n";

/// Two items, of which the second meets the fault twice.
fn label(fault: Reply) -> (Option<i32>, String, String) {
    let seen: Mutex<HashMap<bool, usize>> = Mutex::default();
    let second = |asked: &Asked| asked.body.to_string().contains("the second item");
    let server = Server::start(move |asked| {
        let mut seen = seen.lock().unwrap();
        let nth = seen.entry(second(asked)).or_insert(0);
        *nth += 1;
        match second(asked) {
            true if *nth <= 2 => fault.clone(),
            second => {
                let label = if second { "yes" } else { "no" };
                Reply::Chat(json!({ "toxic": label }).to_string())
            }
        }
    });
    let desk = Desk::new();
    desk.write("items.csv", "task,text\n1,the first item\n2,the second item\n");
    desk.write("task.toml", TASK);
    let url = server.url();
    let more = ["--task", "task.toml", "--server", "concurrency=1,timeout=2", "--quiet"];
    let run = desk.caz(&generic_labels(&url, &more));
    (run.code, run.stdout, run.stderr)
}

#[test]
fn an_item_that_meets_a_fault_has_the_right_label_or_none() {
    let runs: Vec<_> = faults()
        .into_iter()
        .map(|(name, fault, outcome)| (name, outcome, std::thread::spawn(move || label(fault))))
        .collect();
    let mut wrong = Vec::new();
    for (name, outcome, run) in runs {
        let (code, stdout, stderr) = run.join().unwrap();
        let labels: Vec<&str> = stdout.lines().skip(1).collect();
        let expected: (&[&str], &[i32]) = match outcome {
            Outcome::Labelled => (&["1,no,m,1", "2,yes,m,1"], &[0]),
            Outcome::Failed => (&["1,no,m,1"], &[1, 5]),
        };
        if labels != expected.0 || !code.is_some_and(|code| expected.1.contains(&code)) {
            wrong.push(format!("{name}: {outcome:?}, but {code:?} {labels:?} {stderr}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_that_was_cut_off_is_paid_for_once_though_the_budget_ends_before_the_longer_one() {
    let server = Server::start(|asked| match asked.body["max_tokens"].as_u64() {
        Some(0..=512) => Reply::Finished("{\"toxic\": \"y".into(), "length"),
        _ => Reply::Chat("{\"toxic\": \"yes\"}".into()),
    });
    let desk = Desk::new();
    desk.write("items.csv", "task,text\n1,the first item\n2,the second item\n");
    desk.write("task.toml", TASK);
    let url = server.url();
    let more = ["--task", "task.toml", "--server", "concurrency=1,max-requests=1"];
    let runs: Vec<_> = (0..4).map(|_| desk.caz(&generic_labels(&url, &more))).collect();
    assert_eq!(runs[3].code, Some(0), "{}", runs[3].stderr);
    assert_eq!((server.count(), runs[3].stdout.matches("yes").count()), (4, 2));
}

#[test]
fn where_twice_the_tokens_are_refused_the_cut_text_is_used() {
    let text = "Foxes eat mice. They also eat berries and birds in the wood. In winter they";
    let server = Server::start(move |asked| match asked.body["max_tokens"].as_u64() {
        Some(0..=60) => Reply::Finished(text.into(), "length"),
        _ => Reply::status(400),
    });
    let desk = Desk::new();
    desk.write("tasks.csv", "task,text\n1,What do foxes eat?\n");
    let url = server.url();
    let answers = ["annotate", "answers", "tasks.csv", "--base-url", &url, "--model", "m"];
    let run = desk.done(&[&answers[..], &["--max-tokens", "50"]].concat());
    assert!(
        run.stdout.contains("birds in the wood.") && !run.stdout.contains("winter"),
        "{}",
        run.stdout
    );
}
