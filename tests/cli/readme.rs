//! What the README shows is what the program prints.

use std::path::Path;

use assert_cmd::Command;

/// The blocks of a page that show a command and what it prints, as command and output.
fn shown(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in page.split("\n```text\n$ caz ").skip(1) {
        let (block, _) = block.split_once("\n```").expect("a block ends");
        let (command, output) = block.split_once('\n').expect("a command prints something");
        found.push((command.to_owned(), output.to_owned()));
    }
    found
}

/// Lines without the white space at their ends, which no reader sees.
fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

#[test]
fn every_block_of_the_readme_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, command) in [("README.md", "reviews "), ("docs/own.md", "labels ")] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let blocks = shown(&text);
        assert!(blocks.iter().any(|block| block.0.starts_with(command)), "{page} shows {command}");
        for (command, output) in blocks {
            let mut caz = Command::cargo_bin("caz").unwrap();
            let run = caz.current_dir(root).env_clear().args(command.split(' ')).output().unwrap();
            let printed = String::from_utf8(run.stdout).unwrap();
            assert_eq!(lines(&printed), lines(&output), "caz {command}");
        }
    }
}
