//! Every flag that can change a result stands among the settings of that result.
//!
//! A new flag fails [`every_flag_is_accounted_for`] until it is in [`SETTINGS`](settings::SETTINGS),
//! with the key it has in JSON output, or, if it cannot change a result, in [`NEVER_IN_RESULTS`].

mod data;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::data::{MODEL, folder, model_flags, obliging};
use self::settings::{SETTINGS, Setting};
use super::Folder;
use super::server::Server;

/// Flags that change no result: where it goes, how it looks, how fast it is there, what is shown
/// beside it.
const NEVER_IN_RESULTS: &[&str] = &[
    "help",
    "version",
    "format",
    "output",
    "threads",
    "quiet",
    "no-progress",
    "color",
    "offline",
    "ca",
    "report",
    "report-text",
    "title",
    "top",
    "consensus",
    "figures",
    "raw",
    // Shows what the scores of a run rest on.
    "explain",
    // What was spent is said in money, too.
    "server price-in",
    "server price-out",
    // Says how much would be asked.
    "dry-run",
    // Of another program.
    "engine",
    // Which failures are listed where, and what the exit code says of them.
    "summary",
    "transcripts",
    "feedback-runs",
    "answers",
    "tasks-out",
    "max-failed",
    // How requests travel.
    "server api-key-env",
    "confidential",
    "server concurrency",
    "server timeout",
    "server no-stream",
    "server tries",
    "server no-cache",
    "record",
    // They end a run early: what was done is part of what a longer run does, the rest is counted.
    "server max-requests",
    "server max-tokens-total",
];

/// Flags that name files: these stand among the inputs, by name and hash.
const INPUT_FILES: [&str; 9] =
    ["z", "truth", "gold", "since", "lengths", "crowd", "runs", "pairs", "debates"];

/// How files of other systems are read: see [`how_exports_are_read_stands_in_the_result`].
const EXPORTS: [&str; 6] = ["from", "column", "z-column", "columns", "text-columns", "wide"];

/// The same for a flag that names a file in some commands and means something else in others.
const INPUT_FILE_OF: [(&str, &str); 5] = [
    ("experiment prompts", "cluster"),
    ("experiment own", "tasks"),
    ("reviews", "canaries"),
    ("reviews", "people"),
    ("reviews", "tasks"),
];

/// A flag that names a file to write in one command and is a setting of another.
const OUTPUT_OF: [(&str, &str); 2] = [("reviews", "workers"), ("labels", "workers")];

/// Flags that say where a model is: see [`the_place_of_a_model_stands_in_the_result`].
const PLACES: [&str; 2] = ["base-url", "replay"];

/// Commands without a result that has settings.
const WITHOUT_SETTINGS: [&str; 16] = [
    "canary make",
    "canary insert",
    "canary check",
    "import",
    "models list",
    "models pull",
    "models path",
    "doctor",
    "completions",
    "man",
    "prompts list",
    "prompts show",
    "prompts render",
    "cache dir",
    "cache size",
    "cache clear",
];

/// What has to be typed for a command to have a result. What stands after ` --` tells two ways to
/// use a command apart; [`MODEL`] stands for the flags of a model that answers everything.
const COMMANDS: [(&str, &str); 30] = [
    ("labels", "labels.csv --z z.csv"),
    ("assumptions", "labels.csv --z z.csv --bootstrap 2"),
    ("agree", "given.csv --gold gold.csv --bootstrap 2"),
    ("agree --runs", "--runs runs.csv --bootstrap 2"),
    ("reviews", "reviews.jsonl --z llm.jsonl"),
    ("reviews --judge", "two-papers.jsonl --z two-papers-llm.jsonl --embedder judge MODEL"),
    ("embed", "reviews.jsonl"),
    ("embed --judge", "two-papers.jsonl --embedder judge MODEL"),
    ("simulate labels", "labels.csv --z z.csv --crowd z-source=gpt --output new"),
    ("simulate reviews", "reviews.jsonl --z llm.jsonl --venue k=2 --output new"),
    ("simulate crowd", "--crowd tasks=20,workers=8 --output new"),
    ("experiment detection", "labels.csv --z z.csv --crowd z-source=gpt --trials 1 --mechanism oa"),
    (
        "experiment sample-size",
        "labels.csv --z z.csv --crowd z-source=gpt --trials 1 --mechanism oa",
    ),
    (
        "experiment multi-llm",
        "labels.csv --z z.csv --crowd z-source=gpt,llama,llm-source=gpt --trials 1 --mechanism oa",
    ),
    ("experiment reviews", "reviews.jsonl --z llm.jsonl --venue k=2 --trials 1"),
    (
        "experiment reviews --judge",
        "two-papers.jsonl --z two-papers-llm.jsonl --venue k=2 --trials 1 --embedder judge MODEL",
    ),
    (
        "experiment embeddings",
        "reviews.jsonl --z llm.jsonl --trials 1 --embedder tfidf --score projected",
    ),
    (
        "experiment embeddings --judge",
        "two-papers.jsonl --z two-papers-llm.jsonl --trials 1 --score projected --embedder judge MODEL",
    ),
    ("experiment own", "venue.jsonl --z venue-llm.jsonl --scenario single --trials 1 --fdr .1"),
    ("experiment own-labels", "labels.csv --z z.csv --trials 1 --min-tasks 2"),
    ("experiment judges", "verdicts.csv --bootstrap 2"),
    ("experiment judges --model", "answers.jsonl --dry-run MODEL"),
    ("experiment feedback", "feedback.csv --bootstrap 2"),
    ("experiment prompts", "given.csv --gold gold.csv --bootstrap 2 --splits 2"),
    (
        "experiment prompts --model",
        "pages.csv --gold gold.csv --bootstrap 2 --splits 2 --features none --answers grid.csv MODEL",
    ),
    ("annotate labels", "items.csv --prompt label-toxicity MODEL"),
    ("annotate reviews", "papers.csv MODEL"),
    ("annotate answers", "items.csv MODEL"),
    ("annotate judgments", "few.jsonl MODEL"),
    ("judge", "answers.jsonl --dry-run MODEL"),
];

/// The words that name a command.
fn words(command: &str) -> &str {
    command.split(" --").next().unwrap_or(command)
}

/// The flag of an argument, or each of its keys as `FLAG KEY`, which its help lists.
fn flags(arg: &clap::Arg) -> Vec<String> {
    let Some(flag) = arg.get_long() else { return Vec::new() };
    let takes_keys = arg.get_value_names().is_some_and(|names| names[0] == "KEY=VALUE,...");
    if !takes_keys {
        return vec![flag.to_owned()];
    }
    let help = arg.get_long_help().unwrap().to_string();
    let keys = help.lines().filter_map(|line| line.strip_prefix("- "));
    let keys = keys.map(|line| line.split(['=', ':']).next().unwrap());
    // A value without a key is that of the flag itself.
    let is_key = |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let keys = keys.map(|key| if is_key(key) { format!("{flag} {key}") } else { flag.to_owned() });
    let alone = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    keys.chain(alone.then(|| flag.to_owned())).collect()
}

/// The long flags of every command that does something, by its name.
fn commands() -> Vec<(String, BTreeSet<String>)> {
    fn walk(command: &clap::Command, path: &str, found: &mut Vec<(String, BTreeSet<String>)>) {
        let subcommands: Vec<_> =
            command.get_subcommands().filter(|sub| sub.get_name() != "help").collect();
        for sub in &subcommands {
            let path = format!("{path} {}", sub.get_name());
            walk(sub, path.trim(), found);
        }
        if subcommands.is_empty() {
            found.push((path.to_owned(), command.get_arguments().flat_map(flags).collect()));
        }
    }
    let mut command = caz::cli::command();
    command.build();
    let mut found = Vec::new();
    walk(&command, "", &mut found);
    found
}

#[test]
fn every_flag_is_accounted_for() {
    let commands = commands();
    let mut known_somewhere = BTreeSet::new();
    for (command, flags) in &commands {
        known_somewhere.extend(flags.iter().cloned());
        let name = command.as_str();
        if WITHOUT_SETTINGS.contains(&name) {
            continue;
        }
        assert!(COMMANDS.iter().any(|(known, _)| words(known) == name), "`{name}` is in no list");
        for flag in flags {
            let is_setting = SETTINGS.iter().any(|s| words(s.command) == name && s.flag == flag);
            let lists = [NEVER_IN_RESULTS, &INPUT_FILES, &PLACES, &EXPORTS];
            let listed = lists.iter().filter(|list| list.contains(&flag.as_str())).count();
            let file = (name, flag.as_str());
            let is_file = INPUT_FILE_OF.contains(&file) || OUTPUT_OF.contains(&file);
            let count = listed + usize::from(is_setting) + usize::from(is_file);
            assert_eq!(count, 1, "`{name} --{flag}` is in {count} lists, not in one");
        }
    }
    // The lists name nothing that is not there.
    for setting in SETTINGS {
        let found = commands.iter().find(|(name, _)| name == words(setting.command));
        assert!(found.is_some_and(|(_, flags)| flags.contains(setting.flag)), "{}", setting.flag);
    }
    for flag in NEVER_IN_RESULTS.iter().chain(&INPUT_FILES).chain(&PLACES).chain(&EXPORTS) {
        assert!(known_somewhere.contains(*flag), "no command has --{flag}");
    }
    for name in &WITHOUT_SETTINGS {
        assert!(commands.iter().any(|(known, _)| known == name), "there is no `{name}`");
    }
}

/// Runs commands in a folder of files, with a server.
struct Desk {
    folder: Folder,
    server: Server,
}

impl Desk {
    fn new() -> Self {
        Self { folder: folder(), server: Server::start(obliging) }
    }

    /// The result of a command as JSON, with more flags; what is given again replaces what the
    /// command needs anyway.
    #[track_caller]
    fn result(&self, command: &str, more: &[impl AsRef<str>]) -> Value {
        let more: Vec<&str> = more.iter().map(AsRef::as_ref).collect();
        let (_, typed) = COMMANDS.iter().find(|(name, _)| *name == command).unwrap();
        let url = self.server.url();
        let typed = typed.split(' ').flat_map(|word| match word {
            MODEL => model_flags(&url),
            word => vec![word],
        });
        let mut arguments: Vec<&str> = words(command).split(' ').collect();
        let mut typed = typed.peekable();
        while let Some(argument) = typed.next() {
            // Keys add to those that are there.
            let is_key = typed.peek().is_some_and(|value| value.contains('='));
            if argument.starts_with("--") && more.contains(&argument) && !is_key {
                typed.next();
            } else {
                arguments.push(argument);
            }
        }
        arguments.extend(&more);
        arguments.extend(["--format", "json"]);
        let run = self.folder.caz(&arguments).succeeded();
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Gives flags that fit together and looks for each in the settings of the result.
    fn holds(&self, command: &str, settings: &[&Setting]) {
        let needed = settings[0].needed();
        let typed = settings.iter().flat_map(|setting| setting.typed());
        let typed: Vec<String> = needed.iter().cloned().chain(typed).collect();
        let plain = self.result(command, &needed);
        let changed = self.result(command, &typed);
        for Setting { flag, key, expected, .. } in settings {
            let found = |result: &Value| result["settings"].pointer(&format!("/{key}")).cloned();
            assert_eq!(found(&changed), Some(expected()), "{command} --{flag}: {key}");
            assert_ne!(found(&plain), Some(expected()), "{command} --{flag}: {key} by default");
        }
    }
}

/// A flag that some processors refuse.
const PRECISION: &str = "vectors precision";

/// Whether the processor multiplies 16-bit numbers.
fn has_bf16() -> bool {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    processor.contains("amx_bf16") || processor.contains("avx512_bf16")
}

fn settings_of(commands: &[&str]) {
    let desk = Desk::new();
    for command in commands {
        let of_command = SETTINGS.iter().filter(|setting| setting.command == *command);
        let of_command = of_command.filter(|setting| setting.flag != PRECISION || has_bf16());
        let (alone, together): (Vec<&Setting>, Vec<&Setting>) =
            of_command.partition(|setting| setting.alone);
        let mut runs: BTreeMap<&str, Vec<&Setting>> = BTreeMap::new();
        for setting in together {
            runs.entry(setting.with).or_default().push(setting);
        }
        let runs: Vec<Vec<&Setting>> =
            runs.into_values().chain(alone.into_iter().map(|setting| vec![setting])).collect();
        assert!(!runs.is_empty(), "`{command}` has no setting");
        for settings in &runs {
            desk.holds(command, settings);
        }
    }
}

/// The commands in groups, for tests that run beside each other.
const GROUPS: [&[&str]; 7] = [
    &["labels", "assumptions"],
    &["agree", "agree --runs", "experiment prompts", "experiment prompts --model"],
    &["reviews", "reviews --judge"],
    &["embed", "embed --judge"],
    &["simulate labels", "simulate reviews", "simulate crowd"],
    &[
        "experiment detection",
        "experiment sample-size",
        "experiment multi-llm",
        "experiment reviews",
        "experiment reviews --judge",
        "experiment embeddings",
        "experiment embeddings --judge",
        "experiment own",
        "experiment own-labels",
        "experiment judges",
        "experiment judges --model",
        "experiment feedback",
    ],
    &["annotate labels", "annotate reviews", "annotate answers", "annotate judgments", "judge"],
];

#[test]
fn every_command_is_in_one_group() {
    let mut grouped: Vec<&str> = GROUPS.concat();
    let mut all = COMMANDS.map(|(name, _)| name);
    grouped.sort_unstable();
    all.sort_unstable();
    assert_eq!(grouped, all);
}

macro_rules! every_setting_stands_in_the_result {
    ($($name:ident: $group:literal;)*) => {$(
        #[test]
        fn $name() {
            settings_of(GROUPS[$group]);
        }
    )*};
}

every_setting_stands_in_the_result! {
    every_setting_of_labels_stands_in_the_result: 0;
    every_setting_of_agree_stands_in_the_result: 1;
    every_setting_of_reviews_stands_in_the_result: 2;
    every_setting_of_embed_stands_in_the_result: 3;
    every_setting_of_simulate_stands_in_the_result: 4;
    every_setting_of_experiment_stands_in_the_result: 5;
    every_setting_of_annotate_stands_in_the_result: 6;
}

#[test]
fn how_exports_are_read_stands_in_the_result() {
    let desk = Desk::new();
    let with_flags = commands();
    let mut seen = 0;
    for (command, typed) in COMMANDS {
        let has_flags =
            with_flags.iter().any(|(name, flags)| name == command && flags.contains("from"));
        if !has_flags {
            continue;
        }
        seen += 1;
        let is_table = typed.split(' ').next().unwrap().contains(".csv");
        let (from, key) = match command {
            "annotate reviews" => ("table", "paper"),
            _ if is_table => ("table", "task"),
            _ => ("json", "text"),
        };
        let column = format!("{key}={key}");
        let mut flags = vec!["--from", from, "--column", &column];
        if !is_table {
            flags.extend(["--text-columns", "text"]);
        }
        let of = |flags: &[&str]| {
            let settings = desk.result(command, flags)["settings"].clone();
            if command == "experiment prompts" { settings["agreement"].clone() } else { settings }
        };
        let settings = of(&flags);
        assert_eq!(settings["from"], from, "{command}");
        assert_eq!(settings["columns"][key], key, "{command}");
        assert_eq!(settings["text_columns"].as_array().unwrap().is_empty(), is_table, "{command}");
        // Without them nothing is said.
        let settings = of(&[]);
        assert_eq!(settings["from"], Value::Null, "{command}");
        assert_eq!(settings["columns"], serde_json::json!({}), "{command}");
        assert!(settings.as_object().unwrap().contains_key("wide"), "{command}");
    }
    assert!(seen >= 14, "{seen}");
}

#[test]
fn every_file_stands_among_the_inputs() {
    let desk = Desk::new();
    let paths = |command, more: &[&str]| -> Vec<String> {
        let result = desk.result(command, more);
        let inputs = result["inputs"].as_array().unwrap();
        inputs.iter().map(|input| input["path"].as_str().unwrap().to_owned()).collect()
    };
    for (command, more, expected) in [
        (
            "labels",
            "--truth truth.csv --scoring-function scoring.csv",
            "labels.csv z.csv truth.csv scoring.csv",
        ),
        ("assumptions", "", "labels.csv z.csv"),
        (
            "agree",
            "--since given.csv --cluster topics.csv",
            "given.csv gold.csv given.csv topics.csv",
        ),
        ("agree --runs", "", "runs.csv"),
        (
            "experiment prompts",
            "--lengths lengths.csv --cluster topics.csv",
            "given.csv gold.csv topics.csv lengths.csv",
        ),
        ("reviews", "", "reviews.jsonl llm.jsonl"),
        ("embed", "", "reviews.jsonl"),
        ("simulate labels", "", "labels.csv z.csv"),
        ("simulate reviews", "", "reviews.jsonl llm.jsonl"),
        ("experiment detection", "", "labels.csv z.csv"),
        ("experiment own-labels", "", "labels.csv z.csv"),
        ("experiment reviews", "", "reviews.jsonl llm.jsonl"),
        ("experiment embeddings", "", "reviews.jsonl llm.jsonl"),
        ("experiment judges", "--pairs pairs.csv", "verdicts.csv pairs.csv"),
        ("experiment feedback", "", "feedback.csv"),
        ("judge", "", "answers.jsonl"),
        ("annotate labels", "", "items.csv"),
        ("annotate reviews", "", "papers.csv"),
        ("annotate answers", "", "items.csv"),
        ("annotate judgments", "--gold known.jsonl", "few.jsonl known.jsonl"),
    ] {
        let more: Vec<&str> = more.split_whitespace().collect();
        assert_eq!(paths(command, &more).join(" "), expected, "{command}");
    }
}

#[test]
fn the_place_of_a_model_stands_in_the_result() {
    let desk = Desk::new();
    let url = desk.server.url();
    for (command, typed) in [
        ("annotate reviews", &["annotate", "reviews", "papers.csv"][..]),
        ("annotate judgments", &["annotate", "judgments", "few.jsonl"]),
        ("embed --judge", &["embed", "few.jsonl", "--embedder", "judge"]),
    ] {
        let named = desk.result(command, &["--quiet"]);
        assert_eq!(named["settings"]["place"], url, "{command}");
        let log = format!("{}.log", command.replace(' ', "-"));
        let run = |more: &[&str]| {
            let arguments =
                [typed, &["--model", "m", "--format", "json", "--quiet"], more].concat();
            let run = desk.folder.caz(&arguments).succeeded();
            serde_json::from_str::<Value>(&run.stdout).unwrap()
        };
        run(&["--base-url", &url, "--server", "no-cache", "--record", &log]);
        let replayed = run(&["--replay", &log]);
        assert_eq!(replayed["settings"]["place"], format!("the log `{log}`"), "{command}");
    }
}
