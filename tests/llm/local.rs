//! A model in a file, through the command line: no server is asked, whatever the settings name.

use std::path::Path;

use candle_core::quantized::GgmlDType;
use serde_json::{Value, json};

use crate::command_line::{Desk, Run};
use crate::server::{Reply, Server};

#[path = "../fixtures/local/tiny.rs"]
mod tiny;

const ITEMS: &str = "task,text\na,You are a wonderful person.\nb,I hate you.\n";
const PAPERS: &str = "{\"paper\":\"p\",\"title\":\"Sorting by counting\",\"abstract\":\"We sort numbers by \
                      counting how often each occurs, and compare the time with that of quicksort.\"}\n";
const REVIEWS: &str = "{\"paper\":\"p\",\"reviewer\":\"r\",\"text\":\"The idea is old, the experiments are \
                       small, and the writing is clear.\"}\n";
/// A prompt and a rubric that unoptimised arithmetic reads in a second; the real model reads long ones.
const SHORT: &str = "kind = \"labels\"\ndescription = \"d\"\nmax_tokens = 8\n\
    [variables.text]\ndescription = \"t\"\n\
    [[fields]]\nname = \"toxic\"\ndefinition = \"t\"\nlabels = [\"yes\", \"no\"]\n\
    [messages]\nsystem = \"s\"\nuser = \"{{ fence_note }} {{ text }} {{ answer_format }}\"\n";
const RUBRIC: &str = "description = \"d\"\nvalues = [-1, 0, 1]\n\
    [[categories]]\nname = \"Clarity\"\ndefinition = \"c\"\n\
    [[categories]]\nname = \"Novelty\"\ndefinition = \"n\"\n\
    [[categories]]\nname = \"Ethics\"\ndefinition = \"e\"\n";
const LABELS: [&str; 7] =
    ["annotate", "labels", "items.csv", "--prompt", "short.toml", "--question", "toxic"];

/// A desk with a server that must not be asked.
struct Alone {
    desk: Desk,
    server: Server,
}

impl Alone {
    fn new() -> Self {
        let server = Server::start(|_| Reply::status(500));
        let desk = Desk::new();
        desk.write("items.csv", ITEMS);
        desk.write("papers.jsonl", PAPERS);
        desk.write("reviews.jsonl", REVIEWS);
        desk.write("short.toml", SHORT);
        desk.write("rubric.toml", RUBRIC);
        Self { desk, server }
    }

    /// Runs a command for which the environment names the server in every way.
    fn caz(&self, arguments: &[&str], threads: &str) -> Run {
        let url = self.server.url();
        let mut command = self.desk.command(arguments);
        command.env("OPENAI_BASE_URL", &url).env("OPENAI_API_KEY", "k");
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(proxy, format!("http://{}", self.server.address()));
        }
        command.args(["--threads", threads]).env("HF_ENDPOINT", url);
        command.output().unwrap().into()
    }

    fn tiny(&self) {
        let mut tiny = tiny::Tiny::new("qwen3", GgmlDType::Q8_0, 64);
        // Two bytes a character at most: the prompts are longer than the other tests' context.
        tiny.set("qwen3.context_length", candle_core::quantized::gguf_file::Value::U32(20_000));
        std::fs::write(self.desk.path("tiny.gguf"), tiny.bytes()).unwrap();
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.server.count(), 0, "a connection was made");
        }
    }
}

#[test]
fn a_model_in_a_file_answers_alike_on_any_number_of_threads_and_asks_nobody() {
    let alone = Alone::new();
    alone.tiny();
    let model = ["--model", "local:tiny.gguf", "--max-tokens", "3", "--server", "concurrency=1"];
    let mut logs = Vec::new();
    for threads in ["1", "3"] {
        let log = format!("{threads}.jsonl");
        let more = ["--server", "no-cache", "--record", &log, "--offline"];
        let run = alone.caz(&[&LABELS[..], &model, &more].concat(), threads);
        // It writes letters at random: no label, which is told and not turned into one.
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("on this machine for 2 answers"), "{}", run.stderr);
        logs.push(alone.desk.read(&log));
    }
    assert!(logs[0].contains("\"model\":\"local:tiny.gguf@"), "{}", logs[0]);
    assert_eq!(logs[0], logs[1]);
    // What was recorded is replayed under the name by which it was asked for.
    let replayed = alone.caz(
        &[&LABELS[..], &["--model", "local:tiny.gguf", "--max-tokens", "3", "--replay", "1.jsonl"]]
            .concat(),
        "1",
    );
    assert_eq!(replayed.code, Some(1), "{}", replayed.stderr);
    assert!(!replayed.stderr.contains("does not hold"), "{}", replayed.stderr);
}

#[test]
fn a_dry_run_counts_and_a_file_that_is_no_model_is_named() {
    let alone = Alone::new();
    alone.tiny();
    let dry = ["--model", "local:tiny.gguf", "--dry-run"];
    let run = alone.caz(&[&LABELS[..], &dry].concat(), "1");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    alone.desk.write("no.gguf", "something else");
    for (name, code) in [("local:no.gguf", 3), ("local:missing.gguf", 4)] {
        let run = alone.caz(&[&LABELS[..], &["--model", name]].concat(), "1");
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
        assert!(run.stderr.contains(&name["local:".len()..]), "{}", run.stderr);
    }
}

/// The files of a tiny model in a folder, with room for the prompts.
fn folder_files() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/local/qwen3");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut bytes = std::fs::read(path).unwrap();
        if name == "config.json" {
            let mut config: Value = serde_json::from_slice(&bytes).unwrap();
            config["max_position_embeddings"] = json!(20_000);
            bytes = config.to_string().into_bytes();
        }
        (name, bytes)
    });
    files.collect()
}

#[test]
fn a_model_in_a_folder_is_asked_as_one_in_a_file_is() {
    let alone = Alone::new();
    std::fs::create_dir(alone.desk.path("tiny")).unwrap();
    for (name, bytes) in folder_files() {
        std::fs::write(alone.desk.path("tiny").join(name), bytes).unwrap();
    }
    let model = ["--model", "local:tiny", "--max-tokens", "3", "--turns", "1"];
    let mut logs = Vec::new();
    for threads in ["1", "3"] {
        let log = format!("{threads}.jsonl");
        let more =
            ["--server", "no-cache", "--record", &log, "--offline", "--server", "concurrency=1"];
        let run = alone.caz(&[&LABELS[..], &model, &more].concat(), threads);
        // It writes letters at random: no label, which is told and not turned into one.
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("on this machine for 2 answers"), "{}", run.stderr);
        logs.push(alone.desk.read(&log));
    }
    assert!(logs[0].contains("\"model\":\"local:tiny@"), "{}", logs[0]);
    assert_eq!(logs[0], logs[1]);
    let replay = [&LABELS[..], &model, &["--replay", "1.jsonl"]].concat();
    let replayed = alone.caz(&replay, "1");
    assert_eq!(replayed.code, Some(1), "{}", replayed.stderr);
    assert!(!replayed.stderr.contains("does not hold"), "{}", replayed.stderr);
    let dry = alone.caz(&[&LABELS[..], &["--model", "local:tiny", "--dry-run"]].concat(), "1");
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);

    let run = alone.caz(&["doctor", "--model", "local:./tiny/", "--format", "csv"], "2");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in ["local:tiny@", "architecture,qwen3", "20000 tokens", "tokens a second"] {
        assert!(run.stdout.contains(part), "no `{part}` in: {}", run.stdout);
    }

    // What is wrong is said by file.
    std::fs::remove_file(alone.desk.path("tiny/tokenizer.json")).unwrap();
    let run = alone.caz(&[&LABELS[..], &model].concat(), "1");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("tokenizer.json"), "{}", run.stderr);
    std::fs::write(alone.desk.path("tiny/config.json"), r#"{"model_type": "gemma3"}"#).unwrap();
    let run = alone.caz(&[&LABELS[..], &model].concat(), "1");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    for part in ["config.json", "gemma3", "llama, qwen2 and qwen3"] {
        assert!(run.stderr.contains(part), "no `{part}` in: {}", run.stderr);
    }
}

#[test]
fn a_folder_of_the_hub_runs_once_it_was_pulled() {
    let alone = Alone::new();
    let hub = Server::start(|asked| {
        let path = asked.head.split(' ').nth(1).unwrap_or_default();
        let mut files = folder_files();
        if path.starts_with("/api/models/org/tiny/revision/main") {
            let siblings: Vec<Value> = files
                .iter()
                .map(|(name, bytes)| json!({"rfilename": name, "size": bytes.len()}))
                .collect();
            let tags = json!(["license:apache-2.0"]);
            let info = json!({"sha": COMMIT, "siblings": siblings, "tags": tags});
            return Reply::Body(info.to_string().into_bytes());
        }
        let name = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/"));
        match files.iter().position(|(file, _)| Some(file.as_str()) == name) {
            Some(place) => Reply::Body(files.swap_remove(place).1),
            None => Reply::status(404),
        }
    });
    let (endpoint, cache) = (format!("http://{}", hub.address()), alone.desk.path("hub"));
    let caz = |arguments: &[&str]| -> Run {
        let mut command = alone.desk.command(arguments);
        command.env("HF_ENDPOINT", &endpoint).env("HF_HUB_CACHE", &cache);
        command.output().unwrap().into()
    };
    let labels = [&LABELS[..], &["--model", "local:org/tiny", "--max-tokens", "3"]].concat();
    let run = caz(&labels);
    assert_eq!((run.code, hub.count()), (Some(4), 0), "{}", run.stderr);
    assert!(run.stderr.contains("models pull"), "{}", run.stderr);
    let run = caz(&["models", "pull", "local:org/tiny"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("licence: apache-2.0"), "{}", run.stderr);

    let asked = hub.count();
    let path = caz(&["models", "path", "local:org/tiny"]);
    assert_eq!(path.stdout, run.stdout, "{}", path.stderr);
    let listed = caz(&["models", "list", "--format", "csv"]);
    assert!(listed.stdout.contains("local:org/tiny,"), "{}", listed.stdout);
    let run = caz(&[
        &labels[..],
        &["--offline", "--server", "no-cache", "--turns", "1", "--record", "log"],
    ]
    .concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let log = alone.desk.read("log");
    assert!(log.contains("\"model\":\"local:tiny@"), "{log}");
    assert_eq!(hub.count(), asked, "the cache was to be enough");
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with the tiny model in two files of `org/tiny`.
fn hub_with(file: Vec<u8>) -> Server {
    Server::start(move |asked| {
        let path = asked.head.split(' ').nth(1).unwrap_or_default();
        if path.starts_with("/api/models/org/tiny/revision/main") {
            let siblings = ["a.Q8_0.gguf", "b.Q8_0.gguf"]
                .map(|name| json!({"rfilename": name, "size": file.len()}));
            let tags = json!(["gguf", "license:apache-2.0"]);
            let info = json!({"sha": COMMIT, "siblings": siblings, "tags": tags});
            return Reply::Body(info.to_string().into_bytes());
        }
        if path == format!("/org/tiny/resolve/{COMMIT}/a.Q8_0.gguf") {
            return Reply::Body(file.clone());
        }
        Reply::status(404)
    })
}

#[test]
fn a_model_of_the_hub_runs_once_it_was_pulled_and_is_never_downloaded_by_itself() {
    let alone = Alone::new();
    alone.tiny();
    let hub = hub_with(std::fs::read(alone.desk.path("tiny.gguf")).unwrap());
    let (endpoint, cache) = (format!("http://{}", hub.address()), alone.desk.path("hub"));
    let caz = |arguments: &[&str]| -> Run {
        let mut command = alone.desk.command(arguments);
        command.env("HF_ENDPOINT", &endpoint).env("HF_HUB_CACHE", &cache);
        command.output().unwrap().into()
    };
    let name = "local:org/tiny/a.Q8_0.gguf";
    let labels = [&LABELS[..], &["--model", name, "--max-tokens", "3"]].concat();
    let doctor = ["doctor", "--model", name];
    for arguments in [&labels[..], &[&labels[..], &["--dry-run"]].concat(), &doctor] {
        let run = caz(arguments);
        assert_eq!(run.code, Some(4), "{}", run.stderr);
        for part in ["`org/tiny/a.Q8_0.gguf` at revision `main`", "not on this", "models pull"] {
            assert!(run.stderr.contains(part), "no `{part}` in: {}", run.stderr);
        }
    }
    assert_eq!(hub.count(), 0, "a model was asked for without a pull");

    let pull = |name: &str, more: &[&str]| caz(&[&["models", "pull", name], more].concat());
    let several = pull("org/tiny", &[]);
    assert_eq!(several.code, Some(2), "{}", several.stderr);
    assert!(several.stderr.contains("`b.Q8_0.gguf` ("), "{}", several.stderr);
    let asked = hub.count();
    let offline = pull("org/tiny/a.Q8_0.gguf", &["--offline"]);
    assert_eq!((offline.code, hub.count()), (Some(4), asked), "{}", offline.stderr);
    let run = pull("org/tiny/a.Q8_0.gguf", &[]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in ["org/tiny/a.Q8_0.gguf", " MB", "licence: apache-2.0", &endpoint] {
        assert!(run.stderr.contains(part), "no `{part}` in: {}", run.stderr);
    }
    let path = run.stdout.trim();
    assert!(path.ends_with("a.Q8_0.gguf"), "{path}");

    // From here on nobody is asked; its answers are those of the same file at a path.
    let asked = hub.count();
    let run = caz(&["models", "path", name]);
    assert_eq!(run.stdout.trim(), path, "{}", run.stderr);
    let listed = caz(&["models", "list", "--format", "csv"]);
    assert!(listed.stdout.contains(name), "{}", listed.stdout);
    let run = caz(&doctor);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut answers = Vec::new();
    for (model, log) in [(name, "1"), ("local:org/tiny", "2"), ("local:tiny.gguf", "3")] {
        let more = ["--model", model, "--max-tokens", "3", "--turns", "1", "--server", "no-cache"];
        let run = caz(&[&LABELS[..], &more, &["--record", log, "--offline"]].concat());
        // Letters at random are no label.
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let log = alone.desk.read(log);
        let rows: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut texts: Vec<String> = rows.iter().map(|row| row["answer"].to_string()).collect();
        texts.sort();
        answers.push((rows[0]["model"].as_str().unwrap().to_owned(), texts));
    }
    let digits = answers[0].0.strip_prefix("local:a.Q8_0.gguf@").unwrap();
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[2].0, format!("local:tiny.gguf@{digits}"));
    assert_eq!(answers[2].1, answers[0].1);
    // What was recorded is replayed under the name by which it was asked for.
    let replayed = caz(&[&labels[..], &["--turns", "1", "--replay", "1"]].concat());
    assert_eq!(replayed.code, Some(1), "{}", replayed.stderr);
    assert!(!replayed.stderr.contains("does not hold"), "{}", replayed.stderr);
    assert_eq!(hub.count(), asked, "the cache was to be enough");
}

/// A real model, and what is asked of it: it writes badly and slowly, so little is enough to see
/// that every answer has an outcome.
struct Real {
    alone: Alone,
    name: String,
}

impl Real {
    fn new() -> Self {
        let file = std::env::var("CAZ_TEST_GGUF").expect("CAZ_TEST_GGUF is a model");
        Self { alone: Alone::new(), name: format!("local:{file}") }
    }

    fn model(&self) -> [&str; 4] {
        ["--model", &self.name, "--max-tokens", "16"]
    }

    /// The output of a command that did what it was asked or says for how many it could not.
    fn done_or_told(&self, arguments: &[&str]) -> String {
        let all = [arguments, &self.model(), &["--summary", "s.json"]].concat();
        let run = self.alone.caz(&all, "2");
        let told: Value = serde_json::from_str(&self.alone.desk.read("s.json")).unwrap();
        let failed = told["failed"].as_u64().unwrap();
        assert!(told["done"].as_u64().unwrap() + failed > 0, "{told}");
        assert_eq!(run.code, Some(i32::from(failed > 0)), "{}", run.stderr);
        assert!(told["spent"]["completion_tokens"].as_u64().unwrap() > 0, "{told}");
        run.stdout
    }
}

#[test]
#[ignore = "needs CAZ_TEST_GGUF, SmolLM2-135M-Instruct.Q4_1.gguf"]
fn a_real_model_labels_without_a_server() {
    let real = Real::new();
    real.alone.desk.write("items.csv", "task,text\nb,I hate you.\n");
    let labels = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity"];
    let labels = [&labels[..], &["--question", "toxic", "--turns", "1"]].concat();
    let written = real.done_or_told(&labels);
    let again = real.alone.caz(&[&labels[..], &real.model()].concat(), "1");
    // From the cache, or asked for again where an answer was of no use.
    assert_eq!(again.stdout, written);
}

#[test]
fn choices_of_a_model_in_a_file_are_the_same_on_any_number_of_threads() {
    let alone = Alone::new();
    alone.tiny();
    let judge = ["annotate", "judgments", "reviews.jsonl", "--model", "local:tiny.gguf"];
    let judge = [&judge[..], &["--rubric", "rubric.toml", "--judge", "choice"]].concat();
    let judge = [&judge[..], &["--server", "no-cache", "--offline"]].concat();
    let first = alone.caz(&judge, "1");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    // It finds letters as likely as any.
    assert!(first.stderr.contains("wanted to say something else"), "{}", first.stderr);
    let row: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!(row["judgments"].as_object().unwrap().len(), 3);
    let second = alone.caz(&judge, "3");
    assert_eq!(second.stdout, first.stdout);
}

#[test]
#[ignore = "needs CAZ_TEST_GGUF, SmolLM2-135M-Instruct.Q4_1.gguf"]
fn a_real_model_gives_19_soft_judgments_without_a_server() {
    let real = Real::new();
    let old = "{\"paper\":\"p\",\"reviewer\":\"s\",\"text\":\"I like it.\"}\n";
    real.alone.desk.write("reviews.jsonl", &[REVIEWS, old].concat());
    let judge = ["annotate", "judgments", "reviews.jsonl", "--judge", "choice"];
    let judge = [&judge[..], &["--model", &real.name, "--output", "judged.jsonl"]].concat();
    for calibrate in ["none", "content-free"] {
        let run = real
            .alone
            .caz(&[&judge[..], &["--judge", &format!("calibrate={calibrate}")]].concat(), "2");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let mut rows = 0;
        for line in real.alone.desk.read("judged.jsonl").lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            for field in ["judgments", "probabilities", "uncertainty", "mass"] {
                assert_eq!(row[field].as_object().unwrap().len(), 19, "{line}");
            }
            for (category, p) in row["probabilities"].as_object().unwrap() {
                let p: Vec<f64> = serde_json::from_value(p.clone()).unwrap();
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{category}: {p:?}");
                let value = row["judgments"][category].as_f64().unwrap();
                assert!((value - (p[2] - p[0])).abs() < 1e-12, "{category}: {value} {p:?}");
                let mass = row["mass"][category].as_f64().unwrap();
                assert!(mass > 0.0 && mass < 1.0 + 1e-9, "{category}: {mass}");
            }
            rows += 1;
        }
        assert_eq!(rows, 2);
    }
}

#[test]
#[ignore = "needs CAZ_TEST_GGUF, SmolLM2-135M-Instruct.Q4_1.gguf"]
fn a_real_model_reviews_and_judges_without_a_server() {
    let real = Real::new();
    real.alone.desk.write("pairs.csv", "item,context,a,b\n1,What is 2 + 2?,It is 4,It is 5\n");
    real.done_or_told(&["judge", "pairs.csv", "--method", "single", "--judge", "turns=1"]);
    real.done_or_told(&["annotate", "judgments", "reviews.jsonl", "--judge", "turns=1"]);
    let reviews = ["annotate", "reviews", "papers.jsonl"];
    let run = real.alone.caz(&[&reviews[..], &real.model()].concat(), "2");
    assert!(run.code.is_some_and(|code| code <= 1), "{}", run.stderr);
}
