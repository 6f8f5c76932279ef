//! What `-h` and `--help` show: flags in groups, the everyday ones with `-h`, all with `--help`;
//! examples for every command; no option that cannot matter for a command.
//!
//! What a flag means, which group it belongs to and whether it is for every day is said where it is declared;
//! here are the groups of those that name none.

use std::any::TypeId;

use clap::{Arg, Command};

use super::meant::command_of;

const INPUT: &str = "Input";
const COMPUTE: &str = "What to compute";
/// The group that `-h` leaves out.
const ADVANCED: &str = "Advanced";

/// Common options that cannot matter, by the words that a command begins with; the first that fits
/// counts. They are still taken, so that a script may give them to all commands alike.
const WITHOUT: [(&str, &[&str]); 16] = [
    (
        "completions",
        &["format", "seed", "threads", "quiet", "no_progress", "color", "offline", "ca"],
    ),
    ("man", &["format", "seed", "threads", "quiet", "no_progress", "color", "offline", "ca"]),
    ("doctor", &["seed", "threads", "no_progress", "offline", "ca"]),
    ("prompts show", &["format", "seed", "threads", "no_progress", "offline", "ca"]),
    ("prompts render", &["format", "seed", "threads", "no_progress", "offline", "ca"]),
    ("prompts", &["seed", "threads", "no_progress", "offline", "ca"]),
    ("cache", &["format", "seed", "threads", "no_progress", "offline", "ca"]),
    ("models", &["seed"]),
    ("import", &["seed", "offline", "ca"]),
    ("labels", &["offline", "ca"]),
    ("assumptions", &["offline", "ca"]),
    ("agree", &["offline", "ca"]),
    ("simulate", &["offline", "ca"]),
    ("experiment reviews", &[]),
    ("experiment prompts", &[]),
    ("experiment", &["offline", "ca"]),
];

/// Examples of commands whose own help has none.
const EXAMPLES: [(&str, &str); 19] = [
    (
        "",
        "\
  caz reviews reviews.jsonl --z llm-reviews.jsonl --report report.html
  caz labels labels.csv --z llm-labels.csv
  caz reviews --help",
    ),
    (
        "import",
        "\
  caz import notes.json --output reviews.jsonl
  caz import reviews.csv --from hotcrp-csv --output reviews.jsonl
  caz import answers.csv --wide worker --output labels.jsonl",
    ),
    ("simulate", "  caz simulate crowd --crowd workers=40,tasks=200 --output crowd"),
    (
        "experiment",
        "  caz experiment detection labels.csv --z llm-labels.csv --crowd copy-z --report page.html",
    ),
    ("experiment prompts", "  caz experiment prompts labels.csv --gold gold.csv --scale 0..2"),
    ("models", "  caz models list"),
    ("models list", "  caz models list"),
    (
        "models pull",
        "\
  caz models pull bert:sentence-transformers/all-MiniLM-L6-v2
  caz models pull Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf",
    ),
    ("models path", "  caz models path bert:sentence-transformers/all-MiniLM-L6-v2"),
    ("doctor", "  caz doctor --format json"),
    (
        "completions",
        "\
  caz completions bash > ~/.local/share/bash-completion/completions/caz
  caz completions zsh > ~/.zfunc/_caz
  caz completions fish > ~/.config/fish/completions/caz.fish
  caz completions powershell >> $PROFILE",
    ),
    (
        "man",
        "\
  caz man | man -l -
  caz man --output man/",
    ),
    (
        "annotate",
        "  caz annotate reviews papers.jsonl --prompt review-1 --model M --output z.jsonl",
    ),
    ("prompts", "  caz prompts list"),
    ("prompts list", "  caz prompts list"),
    ("prompts show", "  caz prompts show review-1"),
    ("prompts render", "  caz prompts render review-1 papers.jsonl --output paste.txt"),
    ("cache", "  caz cache size"),
    ("cache ", "  caz cache size\n  caz cache clear"),
];

/// The command with its help arranged, and that of all commands in it.
pub(super) fn arranged(command: Command) -> Command {
    let common: Vec<Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let names: Vec<String> =
        command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = own_help(command, "", true);
    for name in names {
        command = command.mut_subcommand(&name, |sub| arrange(sub, &name, &common, &[]));
    }
    command
}

/// The same for a command in it; `hidden` are the common options that the command around it hides,
/// and that its commands would inherit so.
fn arrange(command: Command, path: &str, common: &[Arg], hidden: &[&str]) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = own_help(command, path, !names.is_empty());
    let without =
        WITHOUT.iter().find(|(words, _)| is_in(path, words)).map_or(&[][..], |entry| entry.1);
    for arg in common {
        let id = arg.get_id().as_str();
        // The one that is already there is not replaced by the global one.
        if without.contains(&id) {
            command = command.arg(grouped(arg.clone()).hide(true));
        } else if hidden.contains(&id) {
            command = command.arg(grouped(arg.clone()));
        }
    }
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(&name, |sub| arrange(sub, &path, common, without));
    }
    command
}

/// Groups the arguments of one command and writes what stands below them.
fn own_help(command: Command, path: &str, has_commands: bool) -> Command {
    let command = command.mut_args(grouped);
    let about = command.get_about().map(|text| plain(&text.to_string()));
    let long = command.get_long_about().map(|text| plain(&text.to_string()));
    let below = command.get_after_help().map(|text| plain(&text.to_string())).unwrap_or_default();
    let whole = match EXAMPLES
        .iter()
        .find(|(of, _)| *of == path || (of.ends_with(' ') && path.starts_with(of)))
    {
        _ if below.contains("Example") => below,
        // The indentation of a first line is lost where it continues a line of the source.
        Some((_, example)) if below.is_empty() => format!("Examples:\n  {}", example.trim_start()),
        Some((_, example)) => format!("{below}\n\nExamples:\n  {}", example.trim_start()),
        None => below,
    };
    let examples = whole.find("Example").map_or("", |at| &whole[at..]).to_owned();
    let more = if has_commands { "" } else { "\n\nMore options, and what they do: --help" };
    let command = command.after_help(format!("{examples}{more}")).after_long_help(whole);
    let command = match about {
        Some(text) => command.about(text),
        None => command,
    };
    match long {
        Some(text) => command.long_about(text),
        None => command,
    }
}

/// Whether a command is, or is in, the one that begins with these words.
fn is_in(path: &str, words: &str) -> bool {
    words.is_empty() || path == words || path.starts_with(&format!("{words} "))
}

/// The argument of a command in plain words, in a group: its own, where its declaration names one.
fn grouped(arg: Arg) -> Arg {
    if ["help", "version"].contains(&arg.get_id().as_str()) {
        return arg;
    }
    let usual = if arg.is_positional() { INPUT } else { COMPUTE };
    // So that who gives a negative number hears whether it may be one, and not of a flag `-1`.
    let takes_number = arg.get_action().takes_values() && is_number(&arg);
    let arg = arg.allow_negative_numbers(takes_number);
    let help = arg.get_help().map(|text| plain(&text.to_string()));
    let long = arg.get_long_help().map(|text| plain(&text.to_string()));
    let mut arg = match arg.get_help_heading() {
        Some(ADVANCED) => arg.hide_short_help(true),
        Some(_) => arg,
        None => arg.help_heading(usual),
    };
    if let Some(help) = help {
        arg = arg.help(help);
    }
    if let Some(long) = long {
        arg = arg.long_help(long);
    }
    arg
}

/// Whether the value of an argument is a number.
fn is_number(arg: &Arg) -> bool {
    let of = arg.get_value_parser().type_id();
    let floats = of == TypeId::of::<f64>() || of == TypeId::of::<f32>();
    floats
        || of == TypeId::of::<usize>()
        || of == TypeId::of::<u64>()
        || of == TypeId::of::<u32>()
        || of == TypeId::of::<u16>()
        || of == TypeId::of::<u8>()
}

/// The text without the marks that only documentation pages know.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("<http", "http").replace("/v1>", "/v1")
}

/// What to write where `--z` has taken the file that the command is about, if that is what
/// happened: `caz reviews --z z.jsonl reviews.jsonl`.
pub(super) fn untangled(program: &str, arguments: &[String]) -> Option<String> {
    let z = arguments.iter().rposition(|argument| argument == "--z")?;
    let taken = arguments[z + 1..].iter().take_while(|argument| !argument.starts_with('-')).count();
    if taken < 2 {
        return None;
    }
    let mut words = arguments.to_vec();
    let file = words.remove(z + taken);
    // After the words of the command, which come before every flag.
    let first_flag = words.iter().position(|word| word.starts_with('-'))?;
    words.insert(first_flag, file);
    Some(format!(
        "--z takes every file that follows it; put the file that is scored first:\n  {}",
        command_of(program, &words)
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Cli;
    use super::*;

    /// Every command that can be called, with its words.
    fn all(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        found.push((path.trim().to_owned(), command.clone()));
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            all(sub, &format!("{path} {}", sub.get_name()), found);
        }
    }

    fn commands() -> Vec<(String, Command)> {
        let mut command = arranged(Cli::command());
        command.build();
        let mut found = Vec::new();
        all(&command, "", &mut found);
        found
    }

    #[test]
    fn help_has_no_markup_and_every_command_has_an_example() {
        for (path, command) in commands() {
            for text in [
                command.clone().render_help().to_string(),
                command.clone().render_long_help().to_string(),
            ] {
                assert!(!text.contains('`') && !text.contains("<http"), "{path}: {text}");
                assert!(text.contains("Example") && text.contains("caz"), "{path}: {text}");
            }
        }
    }

    /// The command line is a contract: whoever changes it changes one of these files, for all to see.
    /// New texts are taken with `cargo insta accept`, or `INSTA_UPDATE=always` on the test.
    #[test]
    fn the_help_of_every_command_is_as_it_was() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let _bound = settings.bind_to_scope();
        let mut known: Vec<String> = Vec::new();
        for (path, command) in commands() {
            // Of a width of its own, and without what depends on the machine.
            let text = command.clone().term_width(100).render_long_help().to_string();
            let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            let name = format!("caz {path}").trim().replace(' ', "-");
            insta::assert_snapshot!(name.clone(), text);
            known.push(format!("{name}.snap"));
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help");
        for file in std::fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(known.contains(&name), "{name} is of no command any more: remove it");
        }
    }

    #[test]
    fn the_short_help_is_short_and_in_groups() {
        for (path, command) in commands() {
            let short = command.clone().render_help().to_string();
            let lines = short.lines().count();
            assert!(lines <= 50, "{path}: {lines} lines\n{short}");
            for heading in ["Options:", "Arguments:", "Advanced:", "Common options:"] {
                let only_help = heading == "Options:";
                let of_section = short.split(&format!("\n{heading}\n")).nth(1);
                let section = of_section.map(|text| text.split("\n\n").next().unwrap_or_default());
                let allowed = |line: &str| {
                    only_help
                        && (line.contains("--help")
                            || line.contains("--version")
                            || line.starts_with("   "))
                };
                assert!(section.is_none_or(|text| text.lines().all(allowed)), "{path}: {short}");
            }
        }
    }

    #[test]
    fn what_cannot_matter_is_not_shown_but_taken() {
        let commands = commands();
        let long = |path: &str| {
            let (_, command) = commands.iter().find(|(known, _)| known == path).unwrap();
            command.clone().render_long_help().to_string()
        };
        assert!(!long("completions").contains("--seed") && !long("man").contains("--threads"));
        assert!(!long("labels").contains("--offline") && long("reviews").contains("--offline"));
        // Of the experiments only those on reviews may ask a server for vectors.
        assert!(!long("experiment detection").contains("--offline"));
        let of_reviews = long("experiment reviews");
        assert!(of_reviews.contains("--offline") && of_reviews.contains("--ca"));
        assert!(!long("doctor").contains("--ca") && long("reviews").contains("--ca"));
        assert!(long("labels").contains("--seed") && long("simulate crowd").contains("--seed"));
        let taken = arranged(Cli::command()).try_get_matches_from([
            "caz",
            "completions",
            "bash",
            "--seed",
            "7",
        ]);
        assert!(taken.is_ok(), "{taken:?}");
        let matches = arranged(Cli::command())
            .try_get_matches_from(["caz", "labels", "l.csv", "--seed", "7", "--offline"])
            .unwrap();
        let (_, labels) = matches.subcommand().unwrap();
        assert_eq!(labels.get_one::<u64>("seed"), Some(&7));
        assert!(matches.get_flag("offline"), "a hidden flag reaches the program too");
    }

    #[test]
    fn a_swallowed_file_is_put_where_it_belongs() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        assert_eq!(
            untangled("caz", &words("reviews --top 3 --z z.jsonl reviews.jsonl --quiet")).unwrap(),
            "--z takes every file that follows it; put the file that is scored first:\n  \
             caz reviews reviews.jsonl --top 3 --z z.jsonl --quiet"
        );
        assert_eq!(untangled("caz", &words("reviews --z z.jsonl")), None);
        assert_eq!(untangled("caz", &words("labels l.csv")), None);
    }
}
