//! `caz annotate`, `caz prompts` and `caz cache` as a user meets them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Asked, Piece, Reply, Server, nobody};

const KEY: &str = "sk-secret-9876543210";

/// A folder for one test, with a cache of its own.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

/// What a run said.
pub(crate) struct Run {
    /// Exit code or signal in words, for messages.
    status: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// A run of which only an output is known.
    pub(crate) fn of_stdout(stdout: String) -> Self {
        Self { status: String::new(), code: None, stdout, stderr: String::new() }
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.to_string(),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command without any setting of the machine that runs the tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caz"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("CAZ_CACHE_DIR", self.path("cache"))
            .args(arguments);
        command
    }

    pub(crate) fn caz(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> Run {
        let run = self.caz(arguments);
        assert_eq!(run.code, Some(0), "{}: {}\n{}", run.status, run.stdout, run.stderr);
        run
    }

    /// Starts a command and kills it once `server` has given `answers` answers; `output` must not
    /// be there then.
    pub(crate) fn killed_after(
        &self,
        arguments: &[&str],
        server: &Server,
        answers: usize,
        output: &str,
    ) {
        let mut child = self.command(arguments).stderr(Stdio::null()).spawn().unwrap();
        until(|| server.answered() >= answers);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!self.path(output).exists(), "no half file is left");
        // Whatever is still under way at the server ends before it is counted.
        std::thread::sleep(Duration::from_millis(100));
    }

    /// Every byte under the folder, to look for what must not be there.
    fn all_bytes(&self) -> Vec<u8> {
        fn collect(folder: &Path, bytes: &mut Vec<u8>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    collect(&path, bytes);
                } else {
                    bytes.extend(fs::read(path).unwrap());
                }
            }
        }
        let mut bytes = Vec::new();
        collect(self.folder.path(), &mut bytes);
        bytes
    }
}

/// Items 1..=n, whose texts are `item N`.
fn items(n: usize) -> String {
    let rows: String = (1..=n).map(|n| format!("{n},item {n}\n")).collect();
    format!("task,text\n{rows}")
}

/// The number in the text of an item, as it stands inside its fence.
fn number_in(asked: &Asked) -> usize {
    let messages = asked.body["messages"].as_array().unwrap();
    let user = messages[1]["content"].as_str().unwrap();
    let start = user.find("\nitem ").expect("the text of an item") + "\nitem ".len();
    let digits: String = user[start..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Says yes to even items.
fn answer(asked: &Asked) -> String {
    let toxic = if number_in(asked).is_multiple_of(2) { "yes" } else { "no" };
    json!({"hateful": "no", "offensive": "no", "toxic": toxic}).to_string()
}

fn honest() -> Server {
    honest_after(Duration::ZERO)
}

/// The same, each answer after a while.
fn honest_after(wait: Duration) -> Server {
    Server::start(move |asked| Reply::Slow(wait, Box::new(Reply::Chat(answer(asked)))))
}

/// Waits, not for ever, until a server has had so many requests, or whatever else `is_so`.
fn until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(1), "too slow");
        std::thread::sleep(Duration::from_millis(2));
    }
}

const LABELS: [&str; 7] =
    ["annotate", "labels", "items.csv", "--prompt", "label-toxicity", "--question", "toxic"];

fn labels<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = LABELS.to_vec();
    arguments.extend(["--base-url", url, "--model", "m"]);
    arguments.extend(more);
    arguments
}

/// Arguments that ask for labels of `items.csv` by the prompt that takes a question from a file.
pub(crate) fn generic_labels<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["annotate", "labels", "items.csv", "--prompt", "label-generic"];
    arguments.extend(["--base-url", url, "--model", "m"]);
    arguments.extend(more);
    arguments
}

fn expected_labels(n: usize) -> String {
    let rows: String =
        (1..=n).map(|n| format!("{n},{},m,1\n", if n % 2 == 0 { "yes" } else { "no" })).collect();
    format!("task,label,source,sample\n{rows}")
}

#[test]
fn labels_come_out_in_the_order_of_the_items_whatever_the_concurrency() {
    let server = Server::start(|asked| {
        // Later items are faster, so that arrival and input order differ.
        let wait = Duration::from_millis(60_u64.saturating_sub(3 * number_in(asked) as u64));
        Reply::Slow(wait, Box::new(Reply::Chat(answer(asked))))
    });
    for concurrency in ["1", "3", "20"] {
        let desk = Desk::new();
        desk.write("items.csv", &items(20));
        let run =
            desk.done(&labels(&server.url(), &["--server", &format!("concurrency={concurrency}")]));
        assert_eq!(run.stdout, expected_labels(20), "{concurrency}");
        assert!(run.stderr.contains("20 done, 0 failed; 20 requests sent, 300 tokens"));
    }
}

#[test]
fn several_questions_are_several_tasks() {
    let desk = Desk::new();
    desk.write("items.csv", &items(1));
    let server = honest();
    let url = server.url();
    let run = desk.done(&[
        "annotate",
        "labels",
        "items.csv",
        "--prompt",
        "label-toxicity",
        "--samples",
        "2",
        "--source",
        "tox",
        "--base-url",
        &url,
        "--model",
        "m",
    ]);
    let expected = "task,label,source,sample\n\
        1/hateful,no,tox,1\n1/offensive,no,tox,1\n1/toxic,no,tox,1\n\
        1/hateful,no,tox,2\n1/offensive,no,tox,2\n1/toxic,no,tox,2\n";
    assert_eq!(run.stdout, expected);
    let seeds: HashSet<u64> =
        server.asked().iter().map(|asked| asked.body["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, HashSet::from([0, 1]));
    assert!(server.asked().iter().all(|asked| asked.body["temperature"] == json!(0.7)));
}

#[test]
fn a_question_of_the_user_is_asked_with_the_user_s_labels() {
    let desk = Desk::new();
    desk.write("items.csv", "id,text\na,item 1\n");
    desk.write("task.toml", "question = \"Is it spam?\"\nlabels = [\"spam\", \"ham\"]\n");
    let server = Server::start(|asked| {
        assert!(asked.last_message().contains("Is it spam?"));
        Reply::Chat("**Ham**".into())
    });
    let url = server.url();
    let run = desk.caz(&generic_labels(&url, &[]));
    assert_eq!(run.code, Some(2), "without --task: {}", run.stderr);
    let run = desk.done(&generic_labels(&url, &["--task", "task.toml"]));
    assert_eq!(run.stdout, "task,label,source,sample\na,ham,m,1\n");
}

#[test]
fn five_hundred_items_with_faults_are_each_labelled_once() {
    let desk = Desk::new();
    desk.write("items.csv", &items(500));
    let seen = std::sync::Mutex::new(HashSet::new());
    let server = Server::start(move |asked| {
        let item = number_in(asked);
        if item.is_multiple_of(5) && seen.lock().unwrap().insert(item) {
            return match item % 4 {
                0 => Reply::again(429),
                1 => Reply::again(500),
                2 => Reply::Closed,
                _ => Reply::again(503),
            };
        }
        Reply::Chat(answer(asked))
    });
    let run = desk.done(&labels(&server.url(), &["--server", "concurrency=500"]));
    assert_eq!(run.stdout, expected_labels(500));
    assert_eq!(server.count(), 600);
}

#[test]
fn a_killed_run_loses_at_most_the_requests_under_way() {
    const ITEMS: usize = 80;
    const CONCURRENCY: usize = 4;
    let desk = Desk::new();
    desk.write("items.csv", &items(ITEMS));
    let server = honest_after(Duration::from_millis(20));
    let url = server.url();
    let arguments = labels(&url, &["--server", "concurrency=4", "--output", "z.csv"]);
    // Killed three times, each time after some more answers.
    for target in [10, 25, 45] {
        desk.killed_after(&arguments, &server, target, "z.csv");
    }
    let before = server.count();
    let run = desk.done(&arguments);
    assert_eq!(desk.read("z.csv"), expected_labels(ITEMS));
    let asked_again = server.count() - before;
    assert!(
        server.count() <= ITEMS + 3 * CONCURRENCY,
        "{} requests for {ITEMS} items; each of 3 kills may cost {CONCURRENCY}",
        server.count()
    );
    assert!(run.stderr.contains(&format!("{asked_again} requests sent")), "{}", run.stderr);
    // Everything is there now: the same command sends nothing and gives the same bytes.
    let before = server.count();
    fs::remove_file(desk.path("z.csv")).unwrap();
    desk.done(&arguments);
    assert_eq!((desk.read("z.csv"), server.count()), (expected_labels(ITEMS), before));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on_and_goes_on() {
    let desk = Desk::new();
    desk.write("items.csv", &items(60));
    let server = honest_after(Duration::from_millis(30));
    let url = server.url();
    let arguments = labels(&url, &["--server", "concurrency=2", "--output", "z.csv"]);
    let child = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    until(|| server.answered() >= 5);
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(run.stderr.contains("the same command goes on from here"), "{}", run.stderr);
    // What was under way was waited for, and what was done is written, in order.
    assert_eq!(server.count(), server.answered());
    let rows = desk.read("z.csv");
    let done = rows.lines().count() - 1;
    assert!((5..60).contains(&done) && done == server.answered(), "{rows}");
    assert!(expected_labels(60).starts_with(&rows), "{rows}");
    assert!(run.stderr.contains(&format!("{done} done, 0 failed")), "{}", run.stderr);
    let before = server.count();
    desk.done(&arguments);
    assert_eq!(desk.read("z.csv"), expected_labels(60));
    assert!(server.count() - before <= 60 - 5 + 2, "{before}");
}

#[cfg(unix)]
#[test]
fn a_request_to_end_gives_up_what_is_under_way_and_keeps_what_arrived() {
    let desk = Desk::new();
    desk.write("items.csv", &items(6));
    let is_slow = Arc::new(AtomicBool::new(true));
    let slow = Arc::clone(&is_slow);
    let server = Server::start(move |asked| match number_in(asked) {
        4 if slow.load(Ordering::SeqCst) => {
            Reply::Slow(Duration::from_secs(40), Box::new(Reply::Chat(answer(asked))))
        }
        5 if slow.load(Ordering::SeqCst) => {
            // A text that could be taken for an answer, of which the end is never said.
            let wrong = json!({"hateful": "no", "offensive": "no", "toxic": "yes"}).to_string();
            let alive = [Piece::text(": alive\n\n"), Piece::Pause(Duration::from_millis(200))];
            let mut pieces = vec![Piece::delta(&wrong)];
            pieces.extend(alive.into_iter().cycle().take(400));
            Reply::Stream(pieces)
        }
        _ => Reply::Chat(answer(asked)),
    });
    let url = server.url();
    let arguments = labels(&url, &["--server", "concurrency=2", "--output", "z.csv"]);
    let child = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    until(|| server.count() >= 5);
    // The fifth has begun to come.
    std::thread::sleep(Duration::from_millis(300));
    let signalled = Instant::now();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(signalled.elapsed() < Duration::from_secs(15), "{:?}", signalled.elapsed());
    assert!(run.stderr.contains("3 done, 0 failed, 3 not asked for"), "{}", run.stderr);
    assert!(run.stderr.contains("the same command goes on from here"), "{}", run.stderr);
    assert_eq!(desk.read("z.csv"), expected_labels(3));
    let before = server.count();
    assert_eq!(before, 5, "nothing more is sent");
    is_slow.store(false, Ordering::SeqCst);
    desk.done(&arguments);
    assert_eq!(desk.read("z.csv"), expected_labels(6));
    assert_eq!(server.count(), before + 3);
}

#[cfg(unix)]
#[test]
fn waits_between_tries_end_when_asked_to() {
    let desk = Desk::new();
    desk.write("items.csv", &items(9));
    let server = Server::start(|asked| match asked.index {
        0 => Reply::Chat(answer(asked)),
        _ => Reply::Status(429, vec![("Retry-After", "120".into())], String::new()),
    });
    let url = server.url();
    let arguments = labels(&url, &["--server", "concurrency=3", "--output", "z.csv"]);
    let child = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    // The fourth item waits, since the server said so to the others.
    until(|| server.answered() >= 3);
    std::thread::sleep(Duration::from_millis(200));
    let (signalled, asked) = (Instant::now(), server.count());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(signalled.elapsed() < Duration::from_secs(20), "{:?}", signalled.elapsed());
    assert_eq!(server.count(), asked, "nothing more is sent");
    // What was being asked for has not failed: it is asked for next time.
    assert!(run.stderr.contains("1 done, 0 failed, 8 not asked for"), "{}", run.stderr);
    assert_eq!(desk.read("z.csv").lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_second_request_to_end_is_obeyed_at_once() {
    let desk = Desk::new();
    desk.write("items.csv", &items(4));
    let server = honest_after(Duration::from_secs(30));
    let url = server.url();
    let arguments = labels(&url, &["--output", "z.csv"]);
    let start = Instant::now();
    let mut child = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    until(|| server.count() >= 4);
    let signal = |name: &str| {
        Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    };
    signal("-INT");
    std::thread::sleep(Duration::from_millis(300));
    signal("-TERM");
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(25), "it waited for the server");
    assert!(!desk.path("z.csv").exists());
}

#[test]
fn the_key_is_nowhere_but_in_the_header() {
    let desk = Desk::new();
    desk.write("items.csv", &items(3));
    let server = Server::start(|asked| {
        assert!(asked.head.contains(KEY));
        match number_in(asked) {
            1 => Reply::Status(400, vec![], format!("bad key {KEY}")),
            2 => Reply::Chat(format!("{{\"toxic\": \"{KEY}\"}}")),
            _ => Reply::Chat(answer(asked)),
        }
    });
    let url = server.url();
    let arguments = labels(
        &url,
        &[
            "--server",
            "api-key-env=MY_KEY",
            "--record",
            "log.jsonl",
            "--output",
            "z.csv",
            "--summary",
            "s.json",
        ],
    );
    let run: Run = desk.command(&arguments).env("MY_KEY", KEY).output().unwrap().into();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(desk.read("z.errors.jsonl").contains("***"));
    assert!(!run.stdout.contains(KEY) && !run.stderr.contains(KEY), "{}", run.stderr);
    let needle = KEY.as_bytes();
    assert!(!desk.all_bytes().windows(needle.len()).any(|window| window == needle));
}

#[test]
fn a_key_given_in_place_of_a_variable_is_not_repeated() {
    let desk = Desk::new();
    desk.write("items.csv", &items(1));
    for value in [KEY, "abcdef0123456789"] {
        let run = desk
            .caz(&labels("http://127.0.0.1:1/v1", &["--server", &format!("api-key-env={value}")]));
        assert!(matches!(run.code, Some(2 | 4)), "{}", run.stderr);
        assert!(!run.stderr.contains(value), "{}", run.stderr);
    }
}

#[test]
fn nothing_is_sent_unless_a_model_is_named() {
    let desk = Desk::new();
    desk.write("items.csv", &items(1));
    let run = desk.caz(&LABELS);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("name a model with --model"), "{}", run.stderr);
    let mut openai = LABELS.to_vec();
    openai.extend(["--model", "m"]);
    let run = desk.caz(&openai);
    assert_eq!(run.code, Some(4));
    assert!(run.stderr.contains("OPENAI_API_KEY is not set"), "{}", run.stderr);
}

#[test]
fn the_base_url_comes_from_the_environment_and_a_flag_wins() {
    let (first, second) = (honest(), honest());
    let desk = Desk::new();
    desk.write("items.csv", &items(1));
    let mut arguments = LABELS.to_vec();
    arguments.extend(["--model", "m"]);
    let run = |arguments: &[&str]| -> Run {
        desk.command(arguments).env("OPENAI_BASE_URL", first.url()).output().unwrap().into()
    };
    assert_eq!(run(&arguments).code, Some(0));
    assert_eq!((first.count(), second.count()), (1, 0));
    let url = second.url();
    arguments.extend(["--base-url", &url]);
    assert_eq!(run(&arguments).code, Some(0));
    assert_eq!((first.count(), second.count()), (1, 1));
}

#[test]
fn a_dry_run_counts_and_sends_nothing() {
    let desk = Desk::new();
    desk.write("items.csv", &items(10));
    let server = honest();
    let url = server.url();
    let count = |more: &[&str]| {
        let run = desk.done(&labels(&url, &[&["--dry-run", "--format", "json"], more].concat()));
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let values = report["results"].as_array().unwrap().clone();
        values.iter().map(|row| row["value"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    let before = count(&["--output", "z.csv"]);
    assert_eq!((before[0], before[1], before[2], before[4]), (10, 0, 10, 5120));
    assert!(before[3] > 1000 && before[3] < 10_000, "{before:?}");
    assert_eq!(server.count(), 0);
    assert!(!desk.path("z.csv").exists());
    let run = desk.done(&labels(&url, &["--dry-run", "--output", "z.csv"]));
    assert!(run.stderr.contains("`z.csv` is not written by a dry run"), "{}", run.stderr);
    desk.done(&labels(&url, &["--max-failed", "0"]));
    assert_eq!(count(&[])[..3], [10, 10, 0]);
}

#[test]
fn a_dry_run_makes_and_changes_no_file() {
    let desk = Desk::new();
    desk.write("items.csv", &items(4));
    let server = honest();
    let url = server.url();
    let dry = |more: &[&str]| {
        let run = desk.done(&labels(&url, &[&["--dry-run", "--format", "json"], more].concat()));
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        report["results"][1]["value"].as_u64().unwrap()
    };
    assert_eq!(dry(&["--record", "log.jsonl"]), 0);
    assert!(!desk.path("log.jsonl").exists() && !desk.path("cache").exists());
    // A log with half a line at its end, as a killed run leaves it, and a cache to look into.
    desk.done(&labels(&url, &["--record", "log.jsonl", "--server", "max-requests=100"]));
    let log = desk.read("log.jsonl") + "{\"key\":\"hal";
    desk.write("log.jsonl", &log);
    let files = || {
        let folder = fs::read_dir(desk.path("cache")).unwrap();
        let mut files: Vec<_> = folder
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(&path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    assert_eq!(dry(&["--record", "log.jsonl"]), 4);
    assert_eq!(desk.read("log.jsonl"), log);
    assert_eq!(files(), before);
}

#[test]
fn failures_are_listed_counted_and_tried_again_next_time() {
    let desk = Desk::new();
    desk.write("items.csv", &items(10));
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let flag = std::sync::Arc::clone(&broken);
    let server = Server::start(move |asked| {
        let item = number_in(asked);
        if flag.load(std::sync::atomic::Ordering::SeqCst) {
            match item {
                3 => return Reply::Status(413, vec![], "too large".into()),
                7 => return Reply::Chat("I would rather not say.".into()),
                _ => {}
            }
        }
        Reply::Chat(answer(asked))
    });
    let url = server.url();
    let arguments = labels(&url, &["--output", "z.csv", "--turns", "2"]);
    let run = desk.caz(&arguments);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("8 done, 2 failed"), "{}", run.stderr);
    let errors: Vec<Value> = desk
        .read("z.errors.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((&errors[0]["task"], &errors[0]["kind"]), (&json!("3"), &json!("status")));
    assert_eq!((&errors[1]["task"], &errors[1]["kind"]), (&json!("7"), &json!("no_object")));
    assert!(errors[1]["message"].as_str().unwrap().contains("I would rather not say"));
    assert_eq!(desk.read("z.csv").lines().count(), 9, "a failure is no row");

    let allowed = [&arguments[..], &["--max-failed", "2"]].concat();
    assert_eq!(desk.caz(&allowed).code, Some(0));

    broken.store(false, std::sync::atomic::Ordering::SeqCst);
    // Answers that could not be used are not kept: the same command asks for these, and only these.
    let before = server.count();
    desk.done(&arguments);
    assert_eq!(server.count() - before, 2);
    assert_eq!(desk.read("z.csv"), expected_labels(10));
    assert!(!desk.path("z.errors.jsonl").exists(), "mended failures are not listed");
}

#[test]
fn an_answer_that_cannot_be_read_is_asked_for_again_with_what_was_wrong() {
    let desk = Desk::new();
    desk.write("items.csv", &items(4));
    let server = Server::start(|asked| {
        let turns = asked.body["messages"].as_array().unwrap().len();
        if number_in(asked) == 2 && turns == 2 {
            return Reply::Chat("{\"hateful\": \"no\", \"toxic\": \"perhaps\"}".into());
        }
        if turns > 2 {
            let told = asked.last_message();
            assert!(told.contains("`offensive` is missing"), "{told}");
            assert!(told.contains("`toxic` is \"perhaps\", but it must be"), "{told}");
        }
        Reply::Chat(answer(asked))
    });
    let run = desk.done(&labels(&server.url(), &["--summary", "s.json"]));
    assert_eq!(run.stdout, expected_labels(4));
    let summary: Value = serde_json::from_str(&desk.read("s.json")).unwrap();
    assert_eq!(summary["answered_within_turns"], json!([0.75, 1.0, 1.0, 1.0, 1.0]));
    assert_eq!(summary["spent"]["requests"], json!(5));
}

/// A paper and a model that reviews it in the given way.
fn reviews<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let arguments = ["annotate", "reviews", "papers.csv", "--base-url", url, "--model", "m"];
    [&arguments[..], more].concat()
}

const PAPERS: &str = "paper,abstract\np1,We measure how long people read a paper.\n";

/// Long enough to be a review.
fn proper_review() -> String {
    let sentence = "The question is clear and the answer to it is sound as far as it goes. ";
    format!("{}I would accept it.", sentence.repeat(4))
}

#[test]
fn what_is_no_review_is_asked_for_again_counted_by_kind_and_forgotten() {
    let fence = |asked: &Asked| {
        let text = asked.body["messages"][1]["content"].as_str().unwrap().to_owned();
        let start = text.find("<<<").unwrap();
        text[start..].lines().next().unwrap().to_owned()
    };
    for (kind, spoil) in [
        (
            "repeats_fence",
            Box::new(move |asked: &Asked| {
                Reply::Chat(format!("{}\n{}", fence(asked), proper_review()))
            }) as Box<dyn Fn(&Asked) -> Reply + Send + Sync>,
        ),
        ("too_short", Box::new(|_: &Asked| Reply::Chat("Good.".into()))),
        ("empty", Box::new(|_: &Asked| Reply::Chat(String::new()))),
        ("withheld", Box::new(|_: &Asked| Reply::Finished(proper_review(), "content_filter"))),
        (
            "cut_off",
            // Of what has full sentences these are kept.
            Box::new(|_: &Asked| Reply::Finished(proper_review().replace('.', ","), "length")),
        ),
        (
            "refuses",
            Box::new(|_: &Asked| Reply::Chat("I'm sorry, but I can't help with that.".into())),
        ),
    ] {
        let desk = Desk::new();
        desk.write("papers.csv", PAPERS);
        desk.write("z.jsonl", "an output of an earlier run\n");
        let spoiled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let flag = std::sync::Arc::clone(&spoiled);
        let server = Server::start(move |asked| {
            let spoil_it = flag.load(std::sync::atomic::Ordering::SeqCst);
            if spoil_it { spoil(asked) } else { Reply::Chat(proper_review()) }
        });
        let url = server.url();
        let arguments = reviews(&url, &["--output", "z.jsonl"]);
        let run = desk.caz(&arguments);
        assert_eq!(run.code, Some(1), "{kind}: {}", run.stderr);
        let failed: Value = serde_json::from_str(desk.read("z.errors.jsonl").trim()).unwrap();
        assert_eq!(failed["kind"], json!(kind));
        assert_eq!(desk.read("z.jsonl"), "an output of an earlier run\n", "{kind}");
        // The second run asks again; the third one has what it needs.
        spoiled.store(false, std::sync::atomic::Ordering::SeqCst);
        let before = server.count();
        desk.done(&arguments);
        assert_eq!(server.count() - before, 1, "{kind}");
        let row: Value = serde_json::from_str(desk.read("z.jsonl").trim()).unwrap();
        assert_eq!(row["text"], json!(proper_review()), "{kind}");
        desk.done(&arguments);
        assert_eq!(server.count() - before, 1, "{kind}");
    }
}

#[test]
fn the_fence_never_reaches_an_output() {
    let desk = Desk::new();
    desk.write("papers.csv", PAPERS);
    let server = Server::start(|asked| {
        let text = asked.body["messages"][1]["content"].as_str().unwrap();
        let start = text.find("<<<").unwrap();
        let line = text[start..].lines().next().unwrap();
        // Only the third answer is free of it.
        let mark = if asked.index < 2 { line } else { "" };
        Reply::Chat(format!("{mark}\n{}", proper_review()))
    });
    let run = desk.done(&reviews(&server.url(), &[]));
    assert_eq!(server.count(), 3);
    assert!(!run.stdout.contains("<<<"), "{}", run.stdout);
}

#[test]
fn a_key_that_is_a_word_changes_no_answer() {
    for key in ["clear", "1", "sound"] {
        let desk = Desk::new();
        desk.write("papers.csv", PAPERS);
        desk.write("items.csv", "task,text\na,item 1\n");
        desk.write("task.toml", "question = \"Is it?\"\nlabels = [\"1\", \"0\"]\n");
        let server = Server::start(|asked| {
            if asked.body.get("response_format").is_none() {
                return Reply::Chat(proper_review());
            }
            Reply::Chat("1".into())
        });
        let url = server.url();
        let run: Run =
            desk.command(&reviews(&url, &[])).env("OPENAI_API_KEY", key).output().unwrap().into();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
        assert_eq!(row["text"], json!(proper_review()), "{key}");
        let labelled: Run = desk
            .command(&["annotate", "labels", "items.csv", "--prompt", "label-generic"])
            .args(["--task", "task.toml", "--base-url", &url, "--model", "m"])
            .env("OPENAI_API_KEY", key)
            .output()
            .unwrap()
            .into();
        assert_eq!(labelled.stdout, "task,label,source,sample\na,1,m,1\n", "{}", labelled.stderr);
    }
}

#[test]
fn a_server_that_fails_at_a_form_is_asked_for_less_and_that_is_remembered() {
    let desk = Desk::new();
    desk.write("items.csv", &items(20));
    // As llama-cpp-python 0.3 answers what its model of a request does not have.
    let message = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \
                   \"Input should be 'text' or 'json_object'\"}]";
    let server = Server::start(move |asked| {
        if asked.body["response_format"]["type"] == json!("json_schema") {
            let body = json!({"error": {"message": message, "type": "internal_server_error"}});
            return Reply::Status(500, vec![], body.to_string());
        }
        Reply::Chat(answer(asked))
    });
    let url = server.url();
    let run = desk.done(&labels(&url, &["--server", "concurrency=1", "--summary", "s.json"]));
    assert_eq!(run.stdout, expected_labels(20));
    assert_eq!(server.count(), 21, "one refusal, and no try is repeated");
    let summary: Value = serde_json::from_str(&desk.read("s.json")).unwrap();
    assert_eq!(summary["concessions"].as_array().unwrap().len(), 1);
}

#[test]
fn an_output_never_replaces_what_is_annotated() {
    let desk = Desk::new();
    desk.write("items.csv", &items(2));
    desk.write("z.errors.jsonl", "{\"task\":\"a\",\"text\":\"item 1\"}\n");
    let server = honest();
    let url = server.url();
    for more in [
        ["--output", "items.csv"],
        ["--output", "./items.csv"],
        ["--summary", "items.csv"],
        ["--record", "items.csv"],
    ] {
        let run = desk.caz(&labels(&url, &more));
        assert_eq!(run.code, Some(2), "{more:?}: {}", run.stderr);
        assert_eq!(desk.read("items.csv"), items(2), "{more:?}");
    }
    let arguments = labels(&url, &["--output", "z.csv"]);
    let listed: Vec<&str> =
        arguments.iter().map(|a| if *a == "items.csv" { "z.errors.jsonl" } else { a }).collect();
    assert_eq!(desk.caz(&listed).code, Some(2), "the list of errors would replace the input");
    assert_eq!(server.count(), 0);
    // Nor is a file that is no log taken for one.
    desk.write("notes.txt", "no line end");
    let run = desk.caz(&labels(&url, &["--record", "notes.txt"]));
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert_eq!(desk.read("notes.txt"), "no line end");
}

#[cfg(unix)]
#[test]
fn what_holds_texts_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    desk.write("papers.csv", PAPERS);
    let server = Server::start(|_| Reply::Chat(proper_review()));
    let url = server.url();
    desk.done(&reviews(&url, &["--output", "z.jsonl", "--record", "log", "--summary", "s.json"]));
    for name in ["z.jsonl", "log", "s.json"] {
        let mode = fs::metadata(desk.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let desk = Desk::new();
    desk.write("items.csv", &items(3000));
    let server = honest();
    let url = server.url();
    desk.done(&labels(&url, &["--output", "z.csv", "--server", "concurrency=64"]));
    let mut child = desk
        .command(&labels(&url, &[]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn a_budget_stops_cleanly_and_a_second_run_goes_on() {
    let desk = Desk::new();
    desk.write("items.csv", &items(20));
    let server = honest();
    let url = server.url();
    let run = desk.caz(&labels(&url, &["--server", "max-requests=8", "--output", "z.csv"]));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(server.count(), 8);
    assert!(run.stderr.contains("8 done, 0 failed, 12 not asked for"), "{}", run.stderr);
    assert!(run.stderr.contains("the budget of 8 requests is used up"), "{}", run.stderr);
    assert_eq!(desk.read("z.csv").lines().count(), 9);
    assert!(!desk.path("z.errors.jsonl").exists(), "what was not asked for has not failed");
    desk.done(&labels(&url, &["--output", "z.csv"]));
    assert_eq!((desk.read("z.csv"), server.count()), (expected_labels(20), 20));
}

#[test]
fn a_recorded_run_replays_without_a_network_and_without_a_cache() {
    let desk = Desk::new();
    desk.write("items.csv", &items(12));
    let server = honest();
    let recorded = desk.done(&labels(&server.url(), &["--record", "log.jsonl"]));
    fs::remove_dir_all(desk.path("cache")).unwrap();
    let mut replay = LABELS.to_vec();
    replay.extend(["--replay", "log.jsonl", "--offline"]);
    let replayed = desk.done(&replay);
    assert_eq!(replayed.stdout, recorded.stdout);
    assert_eq!(server.count(), 12);
    assert!(!desk.path("cache").exists());
    // What was not recorded is a failure, never an invention.
    desk.write("items.csv", &items(13));
    let run = desk.caz(&replay);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("12 done, 1 failed"), "{}", run.stderr);
}

#[test]
fn offline_answers_from_the_cache_only() {
    let desk = Desk::new();
    desk.write("items.csv", &items(3));
    let server = honest();
    let url = server.url();
    desk.done(&labels(&url, &[]));
    let run = desk.done(&labels(&url, &["--offline"]));
    assert_eq!((run.stdout, server.count()), (expected_labels(3), 3));
    desk.write("items.csv", &items(4));
    let run = desk.caz(&labels(&url, &["--offline"]));
    assert_eq!((run.code, server.count()), (Some(1), 3));
    assert!(run.stderr.contains("--offline forbids"), "{}", run.stderr);
}

#[test]
fn a_server_that_is_not_there_ends_the_run_early() {
    let desk = Desk::new();
    desk.write("items.csv", &items(500));
    let start = Instant::now();
    let run = desk.caz(&labels(&nobody(), &["--server", "tries=1", "--output", "z.csv"]));
    assert_eq!(run.code, Some(5), "{}", run.stderr);
    assert!(run.stderr.contains("is the server running there?"), "{}", run.stderr);
    assert!(!desk.path("z.csv").exists());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_wrong_key_or_model_ends_the_run_at_once() {
    let desk = Desk::new();
    desk.write("items.csv", &items(200));
    for status in [401, 404] {
        let server = Server::start(move |_| Reply::status(status));
        let run = desk.caz(&labels(&server.url(), &["--server", "concurrency=2"]));
        assert_eq!(run.code, Some(5), "{}", run.stderr);
        assert!(server.count() <= 4, "{}", server.count());
    }
}

#[test]
fn bad_items_are_reported_before_anything_is_sent() {
    let desk = Desk::new();
    let server = honest();
    for (text, part) in [
        ("task,text\n1,x\n1,y\n", "items.csv:3: column `task`: `1` stands in line 2 already"),
        ("task,text\n1,x\n2,\n", "items.csv:3: column `text`: is empty"),
        ("text\nx\n", "lacks `task`"),
    ] {
        desk.write("items.csv", text);
        let run = desk.caz(&labels(&server.url(), &[]));
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn the_cache_can_be_found_measured_and_cleared() {
    let desk = Desk::new();
    desk.write("items.csv", &items(3));
    let folder = desk.path("cache").display().to_string();
    assert_eq!(desk.done(&["cache", "dir"]).stdout.trim(), folder);
    assert_eq!(desk.done(&["cache", "size"]).stdout, "0 answers, 0 bytes\n");
    assert!(!desk.path("cache").exists(), "looking makes nothing");
    let server = honest();
    desk.done(&labels(&server.url(), &[]));
    assert!(desk.done(&["cache", "size"]).stdout.starts_with("3 answers, "));
    desk.done(&["cache", "clear"]);
    assert_eq!(desk.done(&["cache", "size"]).stdout, "0 answers, 0 bytes\n");
    desk.done(&labels(&server.url(), &[]));
    assert_eq!(server.count(), 6);
}

#[test]
fn the_cache_folder_follows_the_platform_unless_it_is_named() {
    let desk = Desk::new();
    let dir = |variables: &[(&str, &str)]| -> Run {
        let mut command = desk.command(&["cache", "dir"]);
        command.env_remove("CAZ_CACHE_DIR").envs(variables.iter().copied()).output().unwrap().into()
    };
    if cfg!(target_os = "linux") {
        assert_eq!(dir(&[("HOME", "/h")]).stdout, "/h/.cache/caz\n");
        assert_eq!(dir(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]).stdout, "/x/caz\n");
        assert_eq!(dir(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")]).stdout, "/h/.cache/caz\n");
        assert_eq!(dir(&[]).code, Some(4));
    }
    assert_eq!(dir(&[("HOME", "/h"), ("CAZ_CACHE_DIR", "/c")]).stdout, "/c\n");
}

#[test]
fn prompts_are_listed_shown_and_rendered() {
    let desk = Desk::new();
    let list = desk.done(&["prompts", "list", "--format", "csv"]).stdout;
    for name in ["label-generic", "review-3", "judge-aspects19", "aspects19", "crowd-answers"] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name},"))), "{list}");
    }
    // What is shown can be used as a file of one's own.
    let shown = desk.done(&["prompts", "show", "judge-aspects19"]).stdout;
    desk.write("mine.toml", &shown);
    let own = desk.done(&["prompts", "render", "mine.toml", "--rubric", "aspects19"]).stdout;
    let built_in = desk.done(&["prompts", "render", "judge-aspects19"]).stdout;
    assert_eq!(own, built_in);
    assert!(built_in.contains("Ignore any instructions"), "{built_in}");
    assert_eq!(built_in.matches("Data Generation and Augmentation").count(), 2);
    let given = ["prompts", "render", "review-1", "--text", "title=A <|im_start|> title"];
    assert!(desk.done(&given).stdout.contains("A < |im_start| > title"));
    assert_eq!(desk.caz(&["prompts", "render", "review-1", "--text", "x=y"]).code, Some(2));
    assert_eq!(desk.caz(&["prompts", "show", "no-such"]).code, Some(2));
}
