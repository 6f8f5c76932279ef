//! What goes wrong with `caz annotate` is said with what to do about it, in flags that exist.

use std::time::Duration;

use serde_json::json;

use crate::command_line::{Desk, Run};
use crate::server::{Reply, Server};

const TASK: &str = "question = \"Is it spam?\"\nlabels = [\"spam\", \"ham\"]\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("items.csv", "task,text\n1,item 1\n");
    desk.write("papers.csv", "paper,title,text\np,On lemmas,A lemma is shown.\n");
    desk.write("reviews.jsonl", "{\"paper\":\"p\",\"reviewer\":\"r\",\"text\":\"It is fine.\"}\n");
    desk.write("task.toml", TASK);
    desk
}

#[track_caller]
fn says(run: &Run, code: i32, problem: &str, remedy: &str) {
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    for part in [problem, remedy] {
        assert!(run.stderr.contains(part), "no `{part}` in: {}", run.stderr);
    }
}

#[test]
fn settings_that_cannot_work_say_which_flag_to_change_and_send_nothing() {
    let (desk, server) = (desk(), Server::start(|_| Reply::Chat("no".into())));
    let url = server.url();
    for (command, problem, remedy) in [
        ("labels items.csv --prompt label-generic", "no question of its own", "add --task FILE"),
        (
            "labels items.csv --prompt label-toxicity --task task.toml",
            "its own question",
            "drop --task",
        ),
        ("labels items.csv --prompt label-toxicity --turns 0", "at least 1 turn", "see turns"),
        ("labels items.csv --prompt label-toxicity --samples 0", "0 samples", "see --samples"),
        ("labels items.csv --prompt nothing", "no prompt `nothing`", "`caz prompts list`"),
        ("reviews papers.csv --samples 1001", "1001 samples", "see --samples"),
        ("judgments reviews.jsonl --judge turns=0", "turns", "see turns"),
        (
            "judgments reviews.jsonl --gold reviews.jsonl --feedback-gold",
            "no second model is asked",
            "--judge feedback=binary",
        ),
    ] {
        let model = ["--base-url", &url, "--model", "m"];
        let words: Vec<&str> = ["annotate"].into_iter().chain(command.split(' ')).collect();
        says(&desk.caz(&[&words[..], &model].concat()), 2, problem, remedy);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn servers_that_refuse_say_which_flag_to_look_at() {
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity", "--model", "m"];
    for (status, remedy) in [(401, "see --server api-key-env"), (404, "see --base-url and --model")]
    {
        let (desk, server) = (desk(), Server::start(move |_| Reply::status(status)));
        let run = desk.caz(&[&labels[..], &["--base-url", &server.url()]].concat());
        says(&run, 5, &status.to_string(), remedy);
    }
    for (reply, remedy) in [
        (Reply::again(429), "lower --server concurrency"),
        (
            Reply::Slow(Duration::from_secs(3), Box::new(Reply::Chat("late".into()))),
            "raise --server timeout or lower --server concurrency",
        ),
    ] {
        let (desk, server) = (desk(), Server::start(move |_| reply.clone()));
        let more = ["--base-url", &server.url(), "--server", "timeout=1,tries=1"];
        let run = desk.caz(&[&labels[..], &more, &["--output", "o.csv"]].concat());
        assert_ne!(run.code, Some(0), "{}", run.stderr);
        let said = format!(
            "{}{}",
            run.stderr,
            std::fs::read_to_string(desk.path("o.errors.jsonl")).unwrap_or_default()
        );
        assert!(said.contains(remedy), "no `{remedy}` in: {said}");
    }
}

#[test]
fn an_account_that_is_used_up_stops_the_run_at_its_first_request() {
    let spent =
        json!({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}});
    let spent = spent.to_string();
    let server = Server::start(move |_| Reply::Status(429, Vec::new(), spent.clone()));
    let desk = desk();
    let items: String = (1..=50).map(|item| format!("{item},item {item}\n")).collect();
    desk.write("items.csv", &format!("task,text\n{items}"));
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity", "--model", "m"];
    let more = ["--base-url", &server.url(), "--server", "concurrency=1"];
    let run = desk.caz(&[&labels[..], &more].concat());
    says(&run, 5, "429 (the account has no credit)", "add credit to the account");
    assert_eq!(server.count(), 1);
}

#[test]
fn an_empty_cell_and_a_short_limit_say_where_and_what_helps() {
    let server = Server::start(|_| Reply::Finished("{\"toxic\": \"n".into(), "length"));
    let desk = desk();
    let url = server.url();
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity", "--model", "m"];
    let labels = [&labels[..], &["--base-url", &url]].concat();
    let run = desk.caz(&[&labels[..], &["--server", "no-cache"]].concat());
    says(&run, 1, "\"kind\":\"cut_off\"", "raise --max-tokens");
    desk.write("items.csv", "task,text\n1,item 1\n2,\n");
    says(&desk.caz(&labels), 3, "items.csv:3: column `text`", "give every row one");
}

#[test]
fn a_log_of_two_models_asks_which() {
    let desk = desk();
    let server = Server::start(|_| {
        Reply::Chat(json!({"hateful": "no", "offensive": "no", "toxic": "no"}).to_string())
    });
    let url = server.url();
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity"];
    let mut log = String::new();
    for model in ["one", "two"] {
        let more =
            ["--base-url", &url, "--model", model, "--record", "log.jsonl", "--server", "no-cache"];
        desk.done(&[&labels[..], &more].concat());
        log += &desk.read("log.jsonl");
        std::fs::remove_file(desk.path("log.jsonl")).unwrap();
    }
    desk.write("log.jsonl", &log);
    let run = desk.caz(&[&labels[..], &["--replay", "log.jsonl"]].concat());
    says(&run, 2, "one", "choose one with --model");
    desk.done(&[&labels[..], &["--replay", "log.jsonl", "--model", "two"]].concat());
}
