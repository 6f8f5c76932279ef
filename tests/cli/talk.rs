//! Help, version, completions, manual, doctor.

use super::{Folder, sample};

#[test]
fn every_subcommand_has_help_that_fits_the_screen() {
    let folder = Folder::new();
    let help = folder.caz(&["--help"]).succeeded().stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        // What is indented further goes on with the line above.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.contains(&"reviews") && commands.contains(&"embed"), "{help}");
    for command in commands {
        let help = folder.caz(&[command, "--help"]).succeeded().stdout;
        assert!(help.contains("Usage: caz"), "{command}");
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{command}: {widest} columns");
    }
}

#[test]
fn completions_and_manual_are_written() {
    let folder = Folder::new();
    assert!(folder.caz(&["completions", "bash"]).succeeded().stdout.contains("_caz"));
    let manual = folder.caz(&["man"]).succeeded().stdout;
    assert!(manual.contains("CAZ REVIEWS") && manual.contains("EXIT STATUS"));
}

#[test]
fn doctor_says_where_things_are() {
    let run = Folder::new().caz(&["doctor"]).succeeded();
    for part in ["version", "threads", "static", "features"] {
        assert!(run.stdout.contains(part), "no `{part}` in {}", run.stdout);
    }
    let features = run.stdout.lines().find_map(|line| line.trim().strip_prefix("features"));
    let features: Vec<&str> = features.expect("the features").split(',').map(str::trim).collect();
    for (feature, is_on) in [
        ("cli", cfg!(feature = "cli")),
        ("html", cfg!(feature = "html")),
        ("bert", cfg!(feature = "bert")),
        ("hub", cfg!(feature = "hub")),
        ("http", cfg!(feature = "http")),
        ("local", cfg!(feature = "local")),
        ("cache", cfg!(feature = "cache")),
        ("llm", cfg!(feature = "llm")),
    ] {
        assert_eq!(features.contains(&feature), is_on, "{feature} in {features:?}");
    }
}

#[test]
fn names_from_strangers_cannot_steer_the_terminal() {
    let folder = Folder::new();
    folder.write("r.csv", "paper,reviewer,text\np,\u{1b}[2Ja,first words\np,=1+1,second words\n");
    folder.write("z.csv", "paper,text\np,third words\n");
    let table = folder.caz(&["reviews", "r.csv", "--z", "z.csv"]).succeeded();
    assert!(!table.stdout.contains('\u{1b}'));
    let csv = folder.caz(&["reviews", "r.csv", "--z", "z.csv", "--format", "csv"]).succeeded();
    assert!(csv.stdout.contains("'=1+1,"), "{}", csv.stdout);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("caz"))
        .args(["reviews", &sample("reviews.jsonl"), "--z", &sample("llm-reviews.jsonl")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}
