//! The binary as a user meets it: standard output, standard error and exit codes.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod agree;
mod answers;
mod assumptions;
mod bad_input;
mod canary;
mod cases;
mod combined;
mod embed;
mod experiment;
mod exports;
mod formats;
mod help;
mod import;
mod judges;
#[cfg(all(unix, feature = "hub"))]
mod models;
mod outputs;
mod own;
#[cfg(all(feature = "llm", feature = "bert", feature = "hub"))]
mod provenance;
mod readme;
mod reviews;
#[cfg(all(feature = "llm", feature = "bert", feature = "hub"))]
#[path = "../llm/server.rs"]
#[expect(dead_code, reason = "other tests use all of it")]
mod server;
mod shuffled;
mod simulate;
mod talk;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// A folder for the files of one test, removed when it ends.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs caz in the folder, without any setting of the machine that runs the tests.
    fn caz(&self, arguments: &[&str]) -> Run {
        let mut command = Command::cargo_bin("caz").unwrap();
        command.current_dir(self.0.path()).env_clear().args(arguments);
        Run::new(command.output().unwrap())
    }
}

/// What a run said.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the program was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    /// Failed with `code`, and standard error has every one of `parts`.
    #[track_caller]
    fn failed(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in: {}", self.stderr);
        }
        assert_eq!(self.stdout, "", "a failed run prints no results");
        self
    }

    /// The result as rows of cells, header first.
    fn csv(&self) -> Vec<Vec<String>> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(self.stdout.as_bytes())
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect()
    }
}

/// A sample that ships with the project.
fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}
