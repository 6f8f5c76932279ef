//! Answers to tasks: by a server, and by hand through a chat window.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command_line::Desk;
use crate::server::{Asked, Reply, Server};

const TASKS: &str = "task,text,system\nt1,What is red?,You are a painter.\nt2,Name a fish.,\n";

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn five_answers_of_any_length_come_by_three_prompts() {
    let desk = Desk::new();
    desk.write("tasks.csv", TASKS);
    let server = Server::start(|asked: &Asked| {
        let body = asked.body.to_string();
        assert_eq!(body.contains("You are a painter."), body.contains("What is red?"), "{body}");
        if body.contains("in two sentences") {
            return Reply::Finished("Blood is red. So are most ros".into(), "length");
        }
        Reply::Chat("Blood.".into())
    });
    let url = server.url();
    let arguments = ["annotate", "answers", "tasks.csv", "--model", "m", "--base-url", &url];
    let run = desk.done(&[&arguments[..], &["--summary", "s.json", "--confidential"]].concat());
    assert!(run.stderr.contains("4 texts ran into the limit of tokens"), "{}", run.stderr);
    let found = rows(&run.stdout);
    assert_eq!(found.len(), 10);
    let texts: BTreeSet<&str> = found.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(texts, BTreeSet::from(["Blood.", "Blood is red."]));
    assert_eq!(found[0]["task"], "t1");
    let summary: Value = serde_json::from_str(&desk.read("s.json")).unwrap();
    assert_eq!(summary["cut_texts"], 4);
    assert_eq!(summary["settings"]["temperature"], serde_json::json!([0.7, 0.7, 1.0]));
    let asked: Vec<f64> =
        server.asked().iter().map(|asked| asked.body["temperature"].as_f64().unwrap()).collect();
    assert!(asked.contains(&0.7) && asked.contains(&1.0), "{asked:?}");
}

#[test]
fn an_answer_that_the_task_holds_is_one() {
    let desk = Desk::new();
    let wrong = "He go to school by bus every day of the year, and so do all of his many friends.";
    let right = wrong.replace("He go", "He goes");
    desk.write("tasks.csv", &format!("task,text\nt1,\"Correct the sentence: {wrong}\"\n"));
    let said = right.clone();
    let server = Server::start(move |_| Reply::Chat(said.clone()));
    let url = server.url();
    let answers = ["annotate", "answers", "tasks.csv", "--samples", "1", "--model", "m"];
    let run = desk.done(&[&answers[..], &["--base-url", &url]].concat());
    assert_eq!(rows(&run.stdout)[0]["text"], right.as_str());
    assert_eq!(server.count(), 1);
}

#[test]
fn what_is_confidential_goes_to_this_machine_only() {
    let desk = Desk::new();
    desk.write("tasks.csv", TASKS);
    let answers = ["annotate", "answers", "tasks.csv", "--confidential", "--model", "m"];
    for more in [
        &[][..],
        &["--base-url", "http://192.0.2.1/v1"],
        &["--base-url", "http://127.0.0.1:9/v1,http://example.com/v1", "--dry-run"],
    ] {
        let run = desk.caz(&[&answers[..], more].concat());
        assert_eq!(run.code, Some(2), "{more:?}: {}", run.stderr);
        assert!(run.stderr.contains("is not on this machine"), "{}", run.stderr);
    }
    desk.done(&[&answers[..], &["--base-url", "http://localhost:9/v1", "--dry-run"]].concat());
}

#[test]
fn an_address_that_holds_a_secret_is_refused_though_nothing_is_sent() {
    let desk = Desk::new();
    desk.write("tasks.csv", TASKS);
    let answers = ["annotate", "answers", "tasks.csv", "--model", "m"];
    for url in ["http://u:sk-SECRET@example.com/v1", "http://example.com/v1?key=sk-SECRET"] {
        for more in [&["--dry-run"][..], &["--offline"], &["--confidential"]] {
            let more = [more, &["--base-url", url, "--summary", "s.json"]].concat();
            let run = desk.caz(&[&answers[..], &more].concat());
            assert_eq!(run.code, Some(2), "{more:?}: {}", run.stderr);
            assert!(run.stderr.contains("cannot be used as a base URL"), "{}", run.stderr);
            assert!(!(run.stdout + &run.stderr).contains("SECRET"));
            assert!(!desk.path("s.json").exists());
        }
    }
    // A model that sends nothing there does not mind.
    desk.write("log", "");
    let mut command = desk.command(&[&answers[..3], &["--replay", "log"]].concat());
    let run = command.env("OPENAI_BASE_URL", "http://u:sk-SECRET@example.com/v1").output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!said.contains("base URL") && !said.contains("SECRET"), "{said}");
}

#[test]
fn a_chat_window_does_without_a_server() {
    let desk = Desk::new();
    desk.write("tasks.csv", TASKS);
    desk.done(&["prompts", "render", "answer-1", "tasks.csv", "--output", "paste.txt"]);
    let paste = desk.read("paste.txt");
    for words in
        ["=== 1 ===\nYou are a painter.\n\nWhat is red?", "=== 2 ===\nName a fish.", "1 === to"]
    {
        assert!(paste.contains(words), "{words}: {paste}");
    }
    desk.write(
        "gpt.txt",
        "Sure!\n\n=== 1 ===\nBlood.\n\n=== 2 === A carp.\n=== 7 ===\nno\n=== 1 ===\nRust.\n\
         === 2 ===\nI'm sorry, but I can't help with that.\n",
    );
    desk.write("other.txt", "## Answer 2\nEel.\n");
    let import = ["import", "tasks.csv", "--z-chat", "gpt.txt", "other.txt", "--output", "z.jsonl"];
    let run = desk.done(&import);
    for words in [
        "2 items, none has the number 7",
        "`other.txt` has no answer for number 1",
        "`gpt.txt`: several answers have the number 1; each is taken for a sample",
        "`gpt.txt`: the model declines to answer number 2, which is left out",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let z = desk.read("z.jsonl");
    let found: Vec<String> = rows(&z)
        .iter()
        .map(|row| {
            let word = |key: &str| row[key].as_str().unwrap().to_owned();
            format!("{} {} {} {}", word("paper"), word("source"), row["sample"], word("text"))
        })
        .collect();
    assert_eq!(found, ["t1 gpt 1 Blood.", "t1 gpt 2 Rust.", "t2 gpt 1 A carp.", "t2 other 1 Eel."]);
    assert!(!run.stderr.contains("`other.txt`: several"), "{}", run.stderr);
    desk.write("empty.txt", "nothing of use");
    let run = desk.caz(&["import", "tasks.csv", "--z-chat", "empty.txt"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("=== 1 ==="), "{}", run.stderr);
}
