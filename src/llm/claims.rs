//! Who is asking for what, so that two runs that share a cache do not pay for one answer twice.
//!
//! A run takes a request by a row of a table. The row names the run, and a run lives as long as its file
//! beside the cache is locked: the operating system unlocks it, however the run ends. Where files cannot
//! be locked nothing is taken, and two runs may pay twice.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, OptionalExtension, params};

use super::cache::CACHE_FILE;

/// How the names of the files of runs begin.
const PREFIX: &str = "-run-";

/// Runs of one process.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The run that takes requests, by its locked file.
#[derive(Debug)]
pub(super) struct Run {
    name: String,
    path: PathBuf,
    _locked: File,
}

impl Run {
    /// Begins a run beside the cache in `folder`; `None` where files cannot be locked.
    pub(super) fn begin(folder: &Path, connection: &Connection) -> rusqlite::Result<Option<Self>> {
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, run TEXT NOT NULL) WITHOUT ROWID",
        )?;
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = now.map_or(0, |time| time.as_nanos());
        let name = format!("{}-{number}-{nanos}", std::process::id());
        let path = place(folder, &name);
        let Ok(file) = File::create_new(&path) else { return Ok(None) };
        if file.try_lock().is_err() {
            let _ = fs::remove_file(&path);
            return Ok(None);
        }
        Ok(Some(Self { name, path, _locked: file }))
    }

    /// Takes the request `key`; `false` while another thread or a living run has it.
    pub(super) fn take(&self, connection: &Connection, key: &str) -> rusqlite::Result<bool> {
        let insert = "INSERT OR IGNORE INTO claims (key, run) VALUES (?1, ?2)";
        if connection.execute(insert, params![key, self.name])? == 1 {
            return Ok(true);
        }
        let run: Option<String> = connection
            .query_row("SELECT run FROM claims WHERE key = ?1", [key], |row| row.get(0))
            .optional()?;
        let Some(run) = run.filter(|run| !self.lives(run)) else { return Ok(false) };
        // Of two that find it dead one takes its place.
        let take = "UPDATE claims SET run = ?2 WHERE key = ?1 AND run = ?3";
        let taken = connection.execute(take, params![key, self.name, run])? == 1;
        connection.execute("DELETE FROM claims WHERE run = ?1", [run])?;
        Ok(taken)
    }

    /// Gives the request `key` back.
    pub(super) fn give_back(&self, connection: &Connection, key: &str) -> rusqlite::Result<()> {
        let delete = "DELETE FROM claims WHERE key = ?1 AND run = ?2";
        connection.execute(delete, params![key, self.name]).map(drop)
    }

    /// Whether a run goes on; the file of one that does not is removed.
    fn lives(&self, run: &str) -> bool {
        if run == self.name {
            return true;
        }
        let is_name = !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let Some(folder) = self.path.parent().filter(|_| is_name) else { return false };
        let path = place(folder, run);
        match File::open(&path) {
            Ok(file) => match file.try_lock() {
                Ok(()) => {
                    let _ = fs::remove_file(&path);
                    false
                }
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
            },
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn place(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{CACHE_FILE}{PREFIX}{run}"))
}

/// The files of runs, living or killed, beside the cache in `folder`.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of_runs = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(CACHE_FILE));
        name.is_some_and(|rest| rest.starts_with(PREFIX))
    });
    of_runs.map(|entry| entry.path()).collect()
}
