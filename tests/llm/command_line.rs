//! `caz annotate`, `caz prompts` and `caz cache` as a user meets them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server, nobody};

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
    Server::start(|asked| Reply::Chat(answer(asked)))
}

const LABELS: [&str; 7] =
    ["annotate", "labels", "items.csv", "--prompt", "label-toxicity", "--question", "toxic"];

fn labels<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = LABELS.to_vec();
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
        let run = desk.done(&labels(&server.url(), &["--concurrency", concurrency]));
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
    let arguments = [
        "annotate",
        "labels",
        "items.csv",
        "--prompt",
        "label-generic",
        "--base-url",
        &url,
        "--model",
        "m",
    ];
    let run = desk.caz(&arguments);
    assert_eq!(run.code, Some(2), "without --task: {}", run.stderr);
    let run = desk.done(&[&arguments[..], &["--task", "task.toml"]].concat());
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
    let run = desk.done(&labels(&server.url(), &["--concurrency", "500"]));
    assert_eq!(run.stdout, expected_labels(500));
    assert_eq!(server.count(), 600);
}

#[test]
fn a_killed_run_loses_at_most_the_requests_under_way() {
    const ITEMS: usize = 80;
    const CONCURRENCY: usize = 4;
    let slow = |asked: &Asked| {
        Reply::Slow(Duration::from_millis(20), Box::new(Reply::Chat(answer(asked))))
    };
    let desk = Desk::new();
    desk.write("items.csv", &items(ITEMS));
    let server = Server::start(slow);
    let url = server.url();
    let arguments = labels(&url, &["--concurrency", "4", "--output", "z.csv"]);
    // Killed three times, each time after some more answers.
    for target in [10, 25, 45] {
        let mut child = desk.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while server.answered() < target {
            assert!(start.elapsed() < Duration::from_mins(1), "too slow");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!desk.path("z.csv").exists(), "no half file is left");
        // Whatever is still under way at the server ends before it is counted.
        std::thread::sleep(Duration::from_millis(100));
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
    let server = Server::start(|asked| {
        Reply::Slow(Duration::from_millis(30), Box::new(Reply::Chat(answer(asked))))
    });
    let url = server.url();
    let arguments = labels(&url, &["--concurrency", "2", "--output", "z.csv"]);
    let child = desk.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while server.answered() < 5 {
        assert!(start.elapsed() < Duration::from_mins(1), "too slow");
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(run.stderr.contains("the same command goes on from here"), "{}", run.stderr);
    std::thread::sleep(Duration::from_millis(100));
    let before = server.count();
    desk.done(&arguments);
    assert_eq!(desk.read("z.csv"), expected_labels(60));
    assert!(server.count() - before <= 60 - 5 + 2, "{before}");
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
            "--api-key-env",
            "MY_KEY",
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
        let run = desk.caz(&labels("http://127.0.0.1:1/v1", &["--api-key-env", value]));
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
    desk.done(&labels(&url, &["--max-failed", "0"]));
    assert_eq!(count(&[])[..3], [10, 10, 0]);
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
    // The unreadable answers are in the cache: only another request can change them.
    let fresh = [&arguments[..], &["--no-cache"]].concat();
    desk.done(&fresh);
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

#[test]
fn a_budget_stops_cleanly_and_a_second_run_goes_on() {
    let desk = Desk::new();
    desk.write("items.csv", &items(20));
    let server = honest();
    let url = server.url();
    let run = desk.caz(&labels(&url, &["--max-requests", "8", "--output", "z.csv"]));
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
    let run = desk.caz(&labels(&nobody(), &["--tries", "1", "--output", "z.csv"]));
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
        let run = desk.caz(&labels(&server.url(), &["--concurrency", "2"]));
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
        ("task,text\n1,x\n2,\n", "line 3: the prompt `label-toxicity` needs `text`"),
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
