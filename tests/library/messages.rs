//! What the library says names no flag and no command: only the command line has those.

use std::path::{Path, PathBuf};

/// The sources below `folder`, tests apart.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Lines of code, without comments and tests, that name a flag or a command of the program.
fn naming_flags(text: &str) -> Vec<&str> {
    let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    let names_flag = |line: &str| {
        line.match_indices("--").any(|(at, _)| {
            // Not the inside of a word, and not a comment of HTML.
            let before = line[..at].chars().next_back();
            let after = line[at + 2..].chars().next();
            after.is_some_and(|c| c.is_ascii_lowercase())
                && !before.is_some_and(|c| c.is_alphanumeric() || "-!".contains(c))
        })
    };
    code.map(|line| line.split(" // ").next().unwrap_or(line))
        .filter(|line| !line.trim_start().starts_with("//"))
        .filter(|line| line.contains('"') || !line.trim_start().starts_with('#'))
        .filter(|line| names_flag(line) || line.contains("`caz "))
        .collect()
}

#[test]
fn a_flag_and_a_command_are_seen_where_they_are_named() {
    let seen = |line: &str| !naming_flags(line).is_empty();
    for line in ["    \"raise --max-iterations\"", "\"--resume goes on\"", "\"see `caz cache`\""] {
        assert!(seen(line), "{line}");
    }
    for line in
        ["/// See --resume.", "x(); // --resume", "\"<!--details-->\"", "\"models--org--a\""]
    {
        assert!(!seen(line), "{line}");
    }
    assert!(!seen("#[cfg(test)]\n\"--resume\""));
}

#[test]
fn no_message_of_the_library_names_a_flag_or_a_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    let (cli, library): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|path| path.starts_with(root.join("cli")));
    assert!(library.len() > 100, "{} files", library.len());
    let named = |paths: &[PathBuf]| -> Vec<String> {
        let mut found = Vec::new();
        for path in paths {
            let text = std::fs::read_to_string(path).expect("a source");
            let lines = naming_flags(&text);
            found.extend(lines.iter().map(|line| format!("{}: {line}", path.display())));
        }
        found
    };
    assert_eq!(named(&library), Vec::<String>::new());
    assert!(!named(&cli).is_empty(), "the command line names its flags");
}
