//! Answers that were paid for once, in one `SQLite` file.
//!
//! An answer is stored the moment it arrives, in a transaction of its own, with a write-ahead
//! log: a process that is killed loses at most the requests that were under way. Only answers are
//! stored, under a hash of their request: neither prompts nor the texts they were made from, and
//! never a key.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::chat::{ChatAnswer, ChatModel, ChatRequest, hex};
use super::error::ChatError;

/// Name of the file inside the cache folder.
pub const CACHE_FILE: &str = "answers.sqlite";

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(30);

/// Version of the table; another one is another program's file.
const SCHEMA: i32 = 1;

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The folder or file cannot be made or removed.
    #[error("cannot use the cache at `{path}`; set CAZ_CACHE_DIR to a folder you can write to")]
    Folder {
        /// Folder or file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The database does not work.
    #[error("the cache at `{path}` does not work; `caz cache clear` starts a new one")]
    Database {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file has another layout.
    #[error(
        "the cache at `{path}` has layout {found}, this caz knows {SCHEMA}; \
         use the caz that wrote it, or `caz cache clear`"
    )]
    Layout {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i32,
    },
}

/// The file of answers; shared by threads and processes.
#[derive(Debug)]
pub struct AnswerCache {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl AnswerCache {
    /// Opens the cache in `folder`, which is made if need be, readable by its owner only.
    ///
    /// # Errors
    ///
    /// [`CacheError`].
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        make_private_folder(folder)
            .map_err(|source| CacheError::Folder { path: folder.to_owned(), source })?;
        let path = folder.join(CACHE_FILE);
        let database = |source| CacheError::Database { path: path.clone(), source };
        let connection = Connection::open(&path).map_err(database)?;
        make_private_file(&path)
            .map_err(|source| CacheError::Folder { path: path.clone(), source })?;
        connection.busy_timeout(BUSY).map_err(database)?;
        let found = prepare(&connection).map_err(database)?;
        if found != SCHEMA {
            return Err(CacheError::Layout { path, found });
        }
        Ok(Self { connection: Mutex::new(connection), path })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The answer stored under `key`.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`]. A stored answer that cannot be read counts as missing: it is
    /// asked for again.
    pub fn get(&self, key: &str) -> Result<Option<ChatAnswer>, CacheError> {
        let text: Option<String> = self
            .lock()
            .query_row("SELECT answer FROM answers WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|source| self.failed(source))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Stores an answer unless there is one, and returns the one that is stored.
    ///
    /// The first answer stays: of two threads that ask the same at the same time both use it, so
    /// a repeated run gives the same result.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`].
    pub fn put(
        &self,
        key: &str,
        model: &str,
        answer: &ChatAnswer,
    ) -> Result<ChatAnswer, CacheError> {
        let text = serde_json::to_string(answer).expect("an answer is plain data");
        self.lock()
            .execute(
                "INSERT OR IGNORE INTO answers (key, model, answer) VALUES (?1, ?2, ?3)",
                params![key, model, text],
            )
            .map_err(|source| self.failed(source))?;
        Ok(self.get(key)?.unwrap_or_else(|| answer.clone()))
    }

    /// How many answers there are.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`].
    pub fn len(&self) -> Result<u64, CacheError> {
        let count: i64 = self
            .lock()
            .query_row("SELECT count(*) FROM answers", [], |row| row.get(0))
            .map_err(|source| self.failed(source))?;
        Ok(count.unsigned_abs())
    }

    /// Whether there is no answer.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`].
    pub fn is_empty(&self) -> Result<bool, CacheError> {
        Ok(self.len()? == 0)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A statement is a transaction, so a thread that panicked left nothing half done.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, source: rusqlite::Error) -> CacheError {
        CacheError::Database { path: self.path.clone(), source }
    }
}

/// Bytes that the cache in `folder` takes on disk; 0 if there is none.
///
/// # Errors
///
/// [`CacheError::Folder`].
pub fn cache_size(folder: &Path) -> Result<u64, CacheError> {
    cache_files(folder).try_fold(0, |sum, path| match fs::metadata(&path) {
        Ok(file) => Ok(sum + file.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(sum),
        Err(source) => Err(CacheError::Folder { path, source }),
    })
}

/// Removes the cache in `folder`, and nothing else that may be there; works on a damaged one.
///
/// # Errors
///
/// [`CacheError::Folder`].
pub fn clear_cache(folder: &Path) -> Result<(), CacheError> {
    cache_files(folder).try_for_each(|path| match fs::remove_file(&path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(CacheError::Folder { path, source }),
    })
}

/// The database and the files that `SQLite` keeps beside it.
fn cache_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("{CACHE_FILE}{ending}"))).into_iter()
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The folder may be one that others can read; `SQLite` gives its side files the same permissions.
#[cfg(unix)]
fn make_private_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private_file(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the table if the file is new; returns the layout of the file.
fn prepare(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // With a write-ahead log this is safe against a killed process, not against a power cut.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found != 0 {
        return Ok(found);
    }
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS answers (
             key TEXT PRIMARY KEY, model TEXT NOT NULL, answer TEXT NOT NULL
         ) WITHOUT ROWID;
         PRAGMA user_version = {SCHEMA};
         COMMIT;"
    ))?;
    Ok(SCHEMA)
}

/// A model that asks another one only for what the cache does not hold.
pub struct CachedModel {
    inner: Arc<dyn ChatModel>,
    cache: Arc<AnswerCache>,
    scope: String,
}

impl CachedModel {
    /// Puts `cache` before `inner`; answers of one `scope`, the server's address, do not serve
    /// another.
    pub fn new(inner: Arc<dyn ChatModel>, cache: Arc<AnswerCache>, scope: &str) -> Self {
        Self { inner, cache, scope: scope.trim_end_matches('/').to_owned() }
    }

    /// Whether the answer is there, so that nothing would be sent.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`].
    pub fn holds(&self, request: &ChatRequest) -> Result<bool, CacheError> {
        Ok(self.cache.get(&self.key(request))?.is_some())
    }

    fn key(&self, request: &ChatRequest) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.scope);
        hash.update("\n");
        hash.update(request.key(self.inner.model()));
        hex(&hash.finalize())
    }
}

impl ChatModel for CachedModel {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let key = self.key(request);
        if let Some(answer) = self.cache.get(&key)? {
            return Ok(answer);
        }
        let answer = self.inner.complete(request)?;
        Ok(self.cache.put(&key, self.inner.model(), &answer)?)
    }
}

/// The model of a run that may not connect: it answers nothing.
#[derive(Debug)]
pub struct OfflineModel {
    /// The name that the cached answers were stored under.
    pub model: String,
}

impl ChatModel for OfflineModel {
    fn model(&self) -> &str {
        &self.model
    }

    fn complete(&self, _request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        Err(ChatError::Offline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::chat::{FinishReason, Message, ResponseFormat, Role, Usage};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn answer(text: &str) -> ChatAnswer {
        ChatAnswer { text: text.into(), finish: FinishReason::Stop, usage: Usage::default() }
    }

    fn request(text: &str, repeat: u32) -> ChatRequest {
        ChatRequest {
            messages: vec![Message::new(Role::User, text)],
            temperature: 0.0,
            seed: 0,
            max_tokens: 5,
            format: ResponseFormat::Text,
            repeat,
        }
    }

    /// Answers with the number of times it was asked.
    struct Counter(AtomicUsize);

    impl ChatModel for Counter {
        fn model(&self) -> &'static str {
            "counter"
        }
        fn complete(&self, _request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            Ok(answer(&self.0.fetch_add(1, Ordering::Relaxed).to_string()))
        }
    }

    fn cached(folder: &Path, scope: &str) -> CachedModel {
        let cache = Arc::new(AnswerCache::open(folder).unwrap());
        CachedModel::new(Arc::new(Counter(AtomicUsize::new(0))), cache, scope)
    }

    #[test]
    fn an_answer_survives_and_repeats_and_servers_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let say = |model: &CachedModel, repeat| model.complete(&request("q", repeat)).unwrap().text;
        let model = cached(folder.path(), "http://a/v1");
        assert_eq!([say(&model, 0), say(&model, 0), say(&model, 1)], ["0", "0", "1"]);
        let again = cached(folder.path(), "http://a/v1/");
        assert_eq!([say(&again, 0), say(&again, 1), say(&again, 2)], ["0", "1", "0"]);
        assert!(!cached(folder.path(), "http://b/v1").holds(&request("q", 0)).unwrap());
        assert_eq!(AnswerCache::open(folder.path()).unwrap().len().unwrap(), 3);
    }

    #[test]
    fn the_first_answer_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::open(folder.path()).unwrap();
        assert_eq!(cache.put("k", "m", &answer("first")).unwrap().text, "first");
        assert_eq!(cache.put("k", "m", &answer("second")).unwrap().text, "first");
    }

    #[test]
    fn the_file_holds_no_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let model = cached(folder.path(), "http://a/v1");
        model.complete(&request("a confidential review", 0)).unwrap();
        drop(model);
        for file in fs::read_dir(folder.path()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(12).any(|window| window == b"confidential"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn folder_and_file_are_for_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("new/caz");
        AnswerCache::open(&inside).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&inside), 0o700);
        assert_eq!(mode(&inside.join(CACHE_FILE)), 0o600);
    }

    #[test]
    fn a_damaged_file_is_an_error_with_a_remedy_and_clear_helps() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CACHE_FILE), "not a database, surely not".repeat(100))
            .unwrap();
        fs::write(folder.path().join("other"), "kept").unwrap();
        let error = AnswerCache::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("caz cache clear"), "{error}");
        assert_eq!(cache_size(folder.path()).unwrap(), 2600);
        clear_cache(folder.path()).unwrap();
        assert_eq!(cache_size(folder.path()).unwrap(), 0);
        assert!(AnswerCache::open(folder.path()).is_ok());
        assert!(folder.path().join("other").exists());
    }

    #[test]
    fn a_file_of_another_layout_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        drop(AnswerCache::open(folder.path()).unwrap());
        let connection = Connection::open(folder.path().join(CACHE_FILE)).unwrap();
        connection.pragma_update(None, "user_version", 9).unwrap();
        let error = AnswerCache::open(folder.path()).unwrap_err();
        assert!(matches!(error, CacheError::Layout { found: 9, .. }), "{error}");
    }

    #[test]
    fn two_processes_worth_of_connections_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let caches: Vec<AnswerCache> =
            (0..4).map(|_| AnswerCache::open(folder.path()).unwrap()).collect();
        std::thread::scope(|scope| {
            for (index, cache) in caches.iter().enumerate() {
                scope.spawn(move || {
                    for n in 0..50 {
                        cache.put(&format!("{index}/{n}"), "m", &answer("x")).unwrap();
                    }
                });
            }
        });
        assert_eq!(caches[0].len().unwrap(), 200);
    }
}
