//! The report in a real browser: `CAZ_TEST_CHROMEDRIVER=chromedriver cargo test -- --ignored`.
#![cfg(all(feature = "cli", feature = "llm"))]
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod accessible;
mod browser;
mod hostile;
mod large;
mod sample;
mod work;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use assert_cmd::Command;

/// One browser at a time, so that timings are of one browser.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static BROWSER: Mutex<()> = Mutex::new(());
    BROWSER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs caz in a folder, without any setting of the machine that runs the tests.
#[track_caller]
fn caz(folder: &Path, arguments: &[&str]) {
    let mut command = Command::cargo_bin("caz").unwrap();
    let output = command.current_dir(folder).env_clear().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A sample that ships with the project.
fn sample_file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

/// The report of a command on the sample; the command gets `--report` at its end.
#[track_caller]
fn report_of(folder: &Path, arguments: &[&str]) -> PathBuf {
    let arguments: Vec<&str> =
        arguments.iter().copied().chain(["--quiet", "--report", "report.html"]).collect();
    caz(folder, &arguments);
    folder.join("report.html")
}
