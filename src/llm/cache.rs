//! Answers that were paid for once, in one `SQLite` file.
//!
//! An answer is stored the moment it arrives, in a transaction of its own, with a write-ahead
//! log: a process that is killed loses at most the requests that were under way. Only answers are
//! stored, under a hash of their request: neither prompts nor the texts they were made from, and
//! never a key.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::chat::ChatAnswer;
use super::claims::{self, Run};
use super::error::ChatError;
use crate::error::{ErrorKind, Kinded, Remedy};

/// Name of the file inside the cache folder.
pub(crate) const CACHE_FILE: &str = "answers.sqlite";

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(30);

/// What there is under a key.
enum Stored {
    Nothing,
    /// Something that is no answer.
    Unreadable,
    Answer(ChatAnswer),
}

/// Version of the table; another one is another program's file.
const SCHEMA: i32 = 1;

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The folder or file cannot be made or removed.
    #[error("cannot use the cache at `{path}`")]
    Folder {
        /// Folder or file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The database does not work.
    #[error("the cache at `{path}` does not work")]
    Database {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        #[source]
        source: rusqlite::Error,
    },
    /// Nothing can be written, and the answer is not there.
    #[error("the cache at `{path}` can only be read, and does not hold every answer")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file has another layout.
    #[error(
        "the cache at `{path}` has layout {found}, this caz knows {SCHEMA}; \
         use the caz that wrote it"
    )]
    Layout {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i32,
    },
}

impl Kinded for CacheError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Missing
    }

    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Folder { .. } | Self::ReadOnly { .. } => Some(Remedy::ChooseCacheFolder),
            // A new file helps only where the old one is damaged.
            Self::Database { source, .. } => match source.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => None,
                Some(
                    ErrorCode::DiskFull
                    | ErrorCode::ReadOnly
                    | ErrorCode::CannotOpen
                    | ErrorCode::PermissionDenied
                    | ErrorCode::SystemIoFailure,
                ) => Some(Remedy::ChooseCacheFolder),
                _ => Some(Remedy::ClearCache),
            },
            Self::Layout { .. } => Some(Remedy::ClearCache),
        }
    }
}

impl From<CacheError> for ChatError {
    fn from(error: CacheError) -> Self {
        Self::Store(error.into())
    }
}

/// The file of answers; shared by threads and processes.
#[derive(Debug)]
pub struct AnswerCache {
    connection: Mutex<Connection>,
    path: PathBuf,
    read_only: bool,
    /// Begun with the first request that is taken.
    run: OnceLock<Option<Run>>,
    /// Answers that could not be stored yet, a full disk for example.
    kept: Mutex<Vec<Kept>>,
}

/// An answer that waits for room.
#[derive(Debug, Clone)]
struct Kept {
    key: String,
    model: String,
    answer: ChatAnswer,
}

/// A request that nobody else sends, until it is dropped.
pub(super) struct Claim<'a> {
    cache: &'a AnswerCache,
    key: &'a str,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.cache.run.get().and_then(Option::as_ref) {
            // What cannot be given back is free when this run ends.
            let _ = run.give_back(&self.cache.lock(), self.key);
        }
    }
}

impl Drop for AnswerCache {
    fn drop(&mut self) {
        // Perhaps there is room by now.
        let _ = self.store_kept();
    }
}

impl AnswerCache {
    /// Opens the cache in `folder`, which is made if need be, readable by its owner only. One that
    /// can only be read is opened for reading.
    ///
    /// # Errors
    ///
    /// `CacheError`.
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        match Self::open_to_write(folder) {
            Err(error) if error.is_of_permissions() => {
                // What could not be written may still be read; if not, the first reason counts.
                Self::open_to_read(folder).ok().flatten().ok_or(error)
            }
            opened => opened,
        }
    }

    fn open_to_write(folder: &Path) -> Result<Self, CacheError> {
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
        Ok(Self::around(connection, path, false))
    }

    /// Opens the cache in `folder` to look at it, if there is one; makes and changes nothing.
    ///
    /// # Errors
    ///
    /// [`CacheError`].
    pub(crate) fn open_to_read(folder: &Path) -> Result<Option<Self>, CacheError> {
        let path = folder.join(CACHE_FILE);
        if !path.exists() {
            return Ok(None);
        }
        let database = |source| CacheError::Database { path: path.clone(), source };
        let connection = open_read_only(&path).map_err(database)?;
        connection.busy_timeout(BUSY).map_err(database)?;
        let found: i32 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(database)?;
        match found {
            SCHEMA => Ok(Some(Self::around(connection, path, true))),
            // Made and not yet filled by whoever made it.
            0 => Ok(None),
            found => Err(CacheError::Layout { path, found }),
        }
    }

    fn around(connection: Connection, path: PathBuf, read_only: bool) -> Self {
        let (run, kept) = (OnceLock::new(), Mutex::default());
        Self { connection: Mutex::new(connection), path, read_only, run, kept }
    }

    /// The answer stored under `key`.
    ///
    /// # Errors
    ///
    /// `CacheError::Database`. A stored answer that cannot be read counts as missing: it is
    /// asked for again.
    pub(crate) fn get(&self, key: &str) -> Result<Option<ChatAnswer>, CacheError> {
        if let Some(kept) = self.lock_kept().iter().find(|kept| kept.key == key) {
            return Ok(Some(kept.answer.clone()));
        }
        Ok(match self.stored(&self.lock(), key)? {
            Stored::Answer(answer) => Some(answer),
            Stored::Unreadable | Stored::Nothing => None,
        })
    }

    fn stored(&self, connection: &Connection, key: &str) -> Result<Stored, CacheError> {
        let found = connection
            .query_row("SELECT answer FROM answers WHERE key = ?1", [key], |row| {
                // Whatever the type: another program may have written there.
                let text = row.get_ref(0)?.as_str().ok();
                let answer = text.and_then(|text| serde_json::from_str(text).ok());
                Ok(answer.map_or(Stored::Unreadable, Stored::Answer))
            })
            .optional()
            .map_err(|source| self.failed(source))?;
        Ok(found.unwrap_or(Stored::Nothing))
    }

    /// Stores an answer unless there is one, and returns the one that is stored.
    ///
    /// The first answer stays: of two threads that ask the same at the same time both use it, so
    /// a repeated run gives the same result. An answer for which there is no room is kept in memory;
    /// `Self::store_kept` stores it later.
    ///
    /// # Errors
    ///
    /// `CacheError::ReadOnly`.
    pub(crate) fn put(
        &self,
        key: &str,
        model: &str,
        answer: &ChatAnswer,
    ) -> Result<ChatAnswer, CacheError> {
        self.check_writable()?;
        self.store(key, model, answer).or_else(|_| {
            let (key, model) = (key.to_owned(), model.to_owned());
            self.lock_kept().push(Kept { key, model, answer: answer.clone() });
            Ok(answer.clone())
        })
    }

    fn store(&self, key: &str, model: &str, answer: &ChatAnswer) -> Result<ChatAnswer, CacheError> {
        let text = serde_json::to_string(answer).expect("an answer is plain data");
        let connection = self.lock();
        // What is no answer gives way to one.
        let insert = match self.stored(&connection, key)? {
            Stored::Unreadable => {
                "INSERT OR REPLACE INTO answers (key, model, answer) VALUES (?1, ?2, ?3)"
            }
            _ => "INSERT OR IGNORE INTO answers (key, model, answer) VALUES (?1, ?2, ?3)",
        };
        connection
            .execute(insert, params![key, model, text])
            .map_err(|source| self.failed(source))?;
        Ok(match self.stored(&connection, key)? {
            Stored::Answer(first) => first,
            Stored::Unreadable | Stored::Nothing => answer.clone(),
        })
    }

    /// Stores the answers that are kept in memory for want of room.
    ///
    /// # Errors
    ///
    /// [`CacheError::Database`] if there still is none; the answers stay in memory.
    pub(crate) fn store_kept(&self) -> Result<(), CacheError> {
        let mut kept = self.lock_kept();
        while let Some(Kept { key, model, answer }) = kept.last() {
            self.store(key, model, answer)?;
            kept.pop();
        }
        Ok(())
    }

    /// How many answers are kept in memory for want of room.
    pub(crate) fn kept(&self) -> usize {
        self.lock_kept().len()
    }

    /// Takes the request `key`, so that neither another thread nor another run sends it; `None` while
    /// another has it.
    pub(super) fn claim<'a>(&'a self, key: &'a str) -> Result<Option<Claim<'a>>, CacheError> {
        let connection = self.lock();
        let run = if let Some(run) = self.run.get() {
            run
        } else {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            let run = Run::begin(folder, &connection).map_err(|source| self.failed(source))?;
            self.run.get_or_init(|| run)
        };
        let taken = match run {
            Some(run) => run.take(&connection, key).map_err(|source| self.failed(source))?,
            None => true,
        };
        Ok(taken.then(|| Claim { cache: self, key }))
    }

    /// Whether answers can be stored.
    ///
    /// # Errors
    ///
    /// [`CacheError::ReadOnly`] if not.
    pub(crate) fn check_writable(&self) -> Result<(), CacheError> {
        if self.read_only {
            return Err(CacheError::ReadOnly { path: self.path.clone() });
        }
        Ok(())
    }

    /// Forgets the answer stored under `key`, if there is one.
    ///
    /// # Errors
    ///
    /// `CacheError::Database`. Where nothing can be written, nothing is forgotten.
    pub(crate) fn remove(&self, key: &str) -> Result<(), CacheError> {
        self.lock_kept().retain(|kept| kept.key != key);
        if self.read_only {
            return Ok(());
        }
        self.lock()
            .execute("DELETE FROM answers WHERE key = ?1", [key])
            .map(drop)
            .map_err(|source| self.failed(source))
    }

    /// How many answers there are.
    ///
    /// # Errors
    ///
    /// `CacheError::Database`.
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
    /// `CacheError::Database`.
    pub fn is_empty(&self) -> Result<bool, CacheError> {
        Ok(self.len()? == 0)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A statement is a transaction, so a thread that panicked left nothing half done.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
pub(crate) fn cache_size(folder: &Path) -> Result<u64, CacheError> {
    cache_files(folder).try_fold(0, |sum, path| match fs::metadata(&path) {
        Ok(file) => Ok(sum + file.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(sum),
        Err(source) => Err(CacheError::Folder { path, source }),
    })
}

/// Removes the cache in `folder`, and nothing else that may be there; works on a damaged one. Where a run uses it, only
/// the answers go, so that those still to come are kept.
///
/// # Errors
///
/// [`CacheError::Folder`], or [`CacheError::Database`] where a run that uses it does not let go of it.
pub(crate) fn clear_cache(folder: &Path) -> Result<(), CacheError> {
    if is_in_use(&folder.join(CACHE_FILE)) {
        let cache = AnswerCache::open_to_write(folder)?;
        // Writes the file anew, so that nothing of an answer is left in it.
        let cleared = cache
            .lock()
            .execute_batch("DELETE FROM answers; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        return cleared.map_err(|source| cache.failed(source));
    }
    cache_files(folder).try_for_each(|path| match fs::remove_file(&path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(CacheError::Folder { path, source }),
    })
}

/// Whether somebody else has the file open: only who is alone with it may give up its write-ahead log.
fn is_in_use(path: &Path) -> bool {
    let give_up = || -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::ZERO)?;
        connection.pragma_update(None, "journal_mode", "DELETE")
    };
    let is_busy = |error: rusqlite::Error| {
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    };
    path.exists() && give_up().is_err_and(is_busy)
}

/// The database and the files that `SQLite` keeps beside it.
fn cache_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let own = ["", "-wal", "-shm"].map(|ending| folder.join(format!("{CACHE_FILE}{ending}")));
    own.into_iter().chain(claims::files(folder))
}

impl CacheError {
    /// Whether it is for want of the right to write.
    fn is_of_permissions(&self) -> bool {
        match self {
            Self::Folder { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
            ),
            _ => false,
        }
    }
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
/// Without a write-ahead log nobody writes, and the file can be read without the files that `SQLite`
/// would make beside it to share the log.
fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    match path.to_str() {
        Some(text) if !Path::new(&log).exists() => {
            let text = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let address = format!("file:{text}?immutable=1");
            Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        _ => Connection::open_with_flags(path, flags),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::cached_model::CachedModel;
    use crate::llm::chat::{
        ChatModel, ChatRequest, FinishReason, Message, ResponseFormat, Role, Usage,
    };
    use std::sync::Arc;
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
        CachedModel::new(Arc::new(Counter(AtomicUsize::new(0))), cache, &[scope])
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
    fn what_is_no_answer_is_asked_for_again_and_gives_way() {
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::open(folder.path()).unwrap();
        cache.put("key", "m", &answer("first")).unwrap();
        for damage in ["x'00ff'", "'{'", "7", "CAST(x'ff' AS TEXT)"] {
            let change = format!("UPDATE answers SET answer = {damage}");
            assert_eq!(cache.lock().execute(&change, []).unwrap(), 1);
            assert!(cache.get("key").unwrap().is_none(), "{damage}");
            assert_eq!(cache.put("key", "m", &answer("second")).unwrap().text, "second");
            assert_eq!(cache.get("key").unwrap().unwrap().text, "second");
            assert_eq!(cache.put("key", "m", &answer("third")).unwrap().text, "second");
        }
    }

    /// Rows with characters changed, taken out and repeated: an answer, or none. `FUZZ_TIMES` asks for more.
    #[test]
    fn damaged_rows_are_answers_or_none() {
        use rand::RngExt;
        let times = std::env::var("FUZZ_TIMES").ok().and_then(|times| times.parse().ok());
        let folder = tempfile::tempdir().unwrap();
        let cache = AnswerCache::open(folder.path()).unwrap();
        let whole = serde_json::to_string(&answer("a text \u{1f600} \\ \"quoted\"")).unwrap();
        let mut random = crate::stats::seed::stream(12, "rows", 0);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..times.unwrap_or(300) {
            let mut row: Vec<char> = whole.chars().collect();
            for _ in 0..random.random_range(1..=3) {
                let from = random.random_range(0..row.len());
                let to = (from + random.random_range(1..=5)).min(row.len());
                match random.random_range(0..3) {
                    0 if to - from < row.len() => drop(row.drain(from..to)),
                    1 => row[from..to].reverse(),
                    _ => row[from] = char::from(random.random_range(b' '..b'~')),
                }
            }
            let row: String = row.into_iter().collect();
            let insert = "INSERT OR REPLACE INTO answers VALUES ('k', 'm', ?1)";
            cache.lock().execute(insert, [&row]).unwrap();
            let is_answer = serde_json::from_str::<ChatAnswer>(&row).is_ok();
            assert_eq!(cache.get("k").unwrap().is_some(), is_answer, "{row}");
            if is_answer { read += 1 } else { refused += 1 }
        }
        assert!(read > 0 && refused > 0, "{read} {refused}");
    }

    #[test]
    fn which_of_several_servers_answered_does_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let of = |servers: &[&str], first: usize| {
            let cache = Arc::new(AnswerCache::open(folder.path()).unwrap());
            CachedModel::new(Arc::new(Counter(AtomicUsize::new(first))), cache, servers)
        };
        let say = |model: &CachedModel, text| model.complete(&request(text, 0)).unwrap().text;
        assert_eq!(say(&of(&["http://b/v1"], 10), "q"), "10");
        // What one of them answered earlier serves all, in any order.
        for servers in [["http://a/v1", "http://b/v1"], ["http://b/v1/", "http://a/v1"]] {
            let model = of(&servers, 20);
            assert_eq!([say(&model, "q"), say(&model, "r")], ["10", "20"]);
        }
        let more = of(&["http://c/v1", "http://b/v1", "http://a/v1"], 30);
        assert_eq!([say(&more, "q"), say(&more, "r")], ["10", "20"]);
        more.reject(&request("q", 0)).unwrap();
        assert!(!of(&["http://b/v1"], 0).holds(&request("q", 0)).unwrap());
    }

    #[test]
    fn a_rejected_answer_is_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let model = cached(folder.path(), "http://a/v1");
        let say = || model.complete(&request("q", 0)).unwrap().text;
        assert_eq!([say(), say()], ["0", "0"]);
        model.reject(&request("q", 0)).unwrap();
        assert!(!model.holds(&request("q", 0)).unwrap());
        assert_eq!([say(), say()], ["1", "1"]);
        model.reject(&request("never asked", 0)).unwrap();
    }

    #[test]
    fn a_cache_that_can_only_be_read_answers_and_pays_for_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        // Windows has no names with question marks.
        let place = folder.path().join(if cfg!(windows) { "50% #1" } else { "50% #1?" });
        cached(&place, "http://a/v1").complete(&request("q", 0)).unwrap();
        let cache = Arc::new(AnswerCache::open_to_read(&place).unwrap().expect("it is there"));
        let counter = Arc::new(Counter(AtomicUsize::new(7)));
        let asked: Arc<dyn ChatModel> = Arc::<Counter>::clone(&counter);
        let model = CachedModel::new(asked, cache, &["http://a/v1"]);
        assert_eq!(model.complete(&request("q", 0)).unwrap().text, "0");
        let error = model.complete(&request("other", 0)).unwrap_err();
        assert!(matches!(error, ChatError::Store(_)), "{error}");
        assert_eq!(error.remedy(), Some(Remedy::ChooseCacheFolder));
        assert_eq!(counter.0.load(Ordering::Relaxed), 7, "nothing was asked");
        model.reject(&request("q", 0)).unwrap();
        assert!(model.holds(&request("q", 0)).unwrap());
        assert!(AnswerCache::open_to_read(&folder.path().join("none")).unwrap().is_none());
        assert!(!folder.path().join("none").exists());
    }

    #[test]
    fn a_new_cache_is_advised_only_for_a_damaged_one() {
        let remedy = |code| {
            let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            CacheError::Database { path: "c".into(), source }.remedy()
        };
        assert_eq!(remedy(rusqlite::ffi::SQLITE_FULL), Some(Remedy::ChooseCacheFolder));
        assert_eq!(remedy(rusqlite::ffi::SQLITE_READONLY), Some(Remedy::ChooseCacheFolder));
        assert_eq!(remedy(rusqlite::ffi::SQLITE_BUSY), None);
        assert_eq!(remedy(rusqlite::ffi::SQLITE_CORRUPT), Some(Remedy::ClearCache));
        assert_eq!(remedy(rusqlite::ffi::SQLITE_NOTADB), Some(Remedy::ClearCache));
    }

    /// Answers after a while, so that requests meet.
    struct Slow(AtomicUsize);

    impl ChatModel for Slow {
        fn model(&self) -> &'static str {
            "slow"
        }
        fn complete(&self, _request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            std::thread::sleep(Duration::from_millis(15));
            Ok(answer(&self.0.fetch_add(1, Ordering::Relaxed).to_string()))
        }
    }

    #[test]
    fn runs_in_step_pay_for_each_request_once() {
        let folder = tempfile::tempdir().unwrap();
        let slow = Arc::new(Slow(AtomicUsize::new(0)));
        let said: Vec<Vec<String>> = std::thread::scope(|scope| {
            let run = || {
                let inner: Arc<dyn ChatModel> = Arc::<Slow>::clone(&slow);
                let cache = Arc::new(AnswerCache::open(folder.path()).unwrap());
                let model = CachedModel::new(inner, cache, &["http://a/v1"]);
                let say = |n: usize| model.complete(&request(&n.to_string(), 0)).unwrap().text;
                (0..30).map(say).collect()
            };
            let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(slow.0.load(Ordering::Relaxed), 30);
        assert!(said.iter().all(|texts| texts == &said[0]));
        assert!(claims::files(folder.path()).is_empty(), "a run that ends takes its file along");
    }

    #[test]
    fn what_a_killed_run_had_taken_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let killed = AnswerCache::open(folder.path()).unwrap();
        std::mem::forget(killed.claim("a").unwrap().unwrap());
        std::mem::forget(killed.claim("b").unwrap().unwrap());
        let [file] = claims::files(folder.path()).try_into().unwrap();
        let cache = AnswerCache::open(folder.path()).unwrap();
        assert!(cache.claim("a").unwrap().is_none() && killed.claim("a").unwrap().is_none());
        drop(killed);
        // As the operating system leaves it: there, and unlocked.
        fs::write(&file, "").unwrap();
        let claim = cache.claim("a").unwrap();
        assert!(claim.is_some() && !file.exists());
        assert!(cache.claim("a").unwrap().is_none() && cache.claim("b").unwrap().is_some());
        drop(claim);
        assert!(cache.claim("a").unwrap().is_some());
        for run in ["", "../x", "7"] {
            let take = "UPDATE claims SET run = ?1";
            cache.lock().execute("INSERT INTO claims VALUES ('c', '')", []).unwrap();
            cache.lock().execute(take, [run]).unwrap();
            assert!(cache.claim("c").unwrap().is_some(), "{run}");
        }
    }

    #[test]
    fn answers_on_a_full_disk_are_used_and_stored_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(AnswerCache::open(folder.path()).unwrap());
        let pages = |cache: &AnswerCache, most: u32| {
            cache.lock().pragma_update(None, "max_page_count", most).unwrap();
        };
        cache.put("a", "m", &answer("first")).unwrap();
        let long = answer(&"x".repeat(9999));
        pages(&cache, 1);
        assert_eq!(cache.put("b", "m", &long).unwrap(), long);
        assert_eq!(cache.get("b").unwrap().unwrap(), long);
        assert_eq!((cache.kept(), cache.len().unwrap()), (1, 1));
        // Nothing more is paid for.
        let counter = Arc::new(Counter(AtomicUsize::new(0)));
        let inner: Arc<dyn ChatModel> = Arc::<Counter>::clone(&counter);
        let model = CachedModel::new(inner, Arc::clone(&cache), &["http://a/v1"]);
        let error = model.complete(&request("q", 0)).unwrap_err();
        assert_eq!(error.remedy(), Some(Remedy::ChooseCacheFolder), "{error}");
        assert_eq!((counter.0.load(Ordering::Relaxed), model.not_stored()), (0, 1));
        pages(&cache, 1000);
        assert_eq!(model.complete(&request("q", 0)).unwrap().text, "0");
        assert_eq!((cache.kept(), cache.len().unwrap()), (0, 3));
        // Also when the run ends.
        pages(&cache, 1);
        cache.put("c", "m", &long).unwrap();
        pages(&cache, 1000);
        drop((model, cache));
        let cache = AnswerCache::open(folder.path()).unwrap();
        assert_eq!(cache.get("c").unwrap().unwrap(), long);
        cache.remove("c").unwrap();
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
        assert_eq!(error.remedy(), Some(Remedy::ClearCache), "{error}");
        assert_eq!(cache_size(folder.path()).unwrap(), 2600);
        clear_cache(folder.path()).unwrap();
        assert_eq!(cache_size(folder.path()).unwrap(), 0);
        assert!(AnswerCache::open(folder.path()).is_ok());
        assert!(folder.path().join("other").exists());
    }

    #[test]
    fn what_a_run_stores_after_its_cache_was_cleared_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let run = AnswerCache::open(folder.path()).unwrap();
        run.put("a", "m", &answer("before it was cleared")).unwrap();
        clear_cache(folder.path()).unwrap();
        assert_eq!(run.get("a").unwrap(), None);
        for name in ["", "-wal"].map(|ending| format!("{CACHE_FILE}{ending}")) {
            let bytes = fs::read(folder.path().join(&name)).unwrap();
            let left = bytes.windows(6).any(|window| window == b"before");
            assert!(!left, "{name} still has the answer");
        }
        run.put("b", "m", &answer("after")).unwrap();
        assert_eq!(AnswerCache::open(folder.path()).unwrap().len().unwrap(), 1);
        drop(run);
        clear_cache(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
