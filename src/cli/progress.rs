//! Progress bars on standard error, for work that takes a while.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::common::Common;
use super::spending::Spending;
use crate::data::interruption::{Interruption, InterruptionWatch};
use crate::data::observer::Observer;
use crate::data::problem::DataError;
use crate::data::progress::Progress;
use crate::data::reading::{Listener, READING};
use crate::data::source::Source;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a bar says whose items are bytes that arrive.
pub(super) const DOWNLOADING: &str = "downloading";

/// How often a bar without news is drawn again.
const TICK: Duration = Duration::from_millis(250);

/// A bar that appears once the work takes longer than [`PATIENCE`], also while nothing is done yet.
pub(super) struct Bar {
    shared: Arc<Shared>,
    /// Draws the bar where the work is silent, and ends when the other end is dropped.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
    interruption: Interruption,
    /// Set where the work looks at [`Progress::interrupted`].
    heeding: Option<InterruptionWatch>,
}

/// What the work and whoever waits for it share.
struct Shared {
    what: &'static str,
    total: u64,
    start: Instant,
    done: AtomicU64,
    drawn: OnceLock<ProgressBar>,
    /// The last note of the work.
    note: Mutex<String>,
    spending: Spending,
}

impl Shared {
    /// What is left can be told only once a part is done, and never where there is one part.
    const SILENT: &str = "{prefix} {spinner} {elapsed} {msg}";
    const COUNTED: &str = "{prefix} {bar:20} {human_pos}/{human_len} {msg}{per_sec}, {eta} left";
    const OF_BYTES: &str = "{prefix} {bar:20} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";

    fn style(template: &str) -> ProgressStyle {
        ProgressStyle::with_template(template).expect("the template is a constant")
    }

    fn counted(&self) -> ProgressStyle {
        Self::style(if [READING, DOWNLOADING].contains(&self.what) {
            Self::OF_BYTES
        } else {
            Self::COUNTED
        })
    }

    /// What stands in the bar beside the numbers: the last note, and what was spent.
    fn message(&self) -> String {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let words = [Some(note).filter(|note| !note.is_empty()), self.spending.words()];
        words.into_iter().flatten().map(|words| words + ", ").collect()
    }

    fn bar(&self) -> &ProgressBar {
        self.drawn.get_or_init(|| {
            let bar = ProgressBar::new(self.total).with_prefix(self.what);
            bar.with_style(Self::style(Self::SILENT)).with_elapsed(self.start.elapsed())
        })
    }
}

impl Bar {
    /// A bar for `total` items; `what` says in a word what is being done.
    pub(super) fn new(common: &Common, what: &'static str, total: u64) -> Self {
        let shared = Arc::new(Shared {
            what,
            total,
            start: Instant::now(),
            done: AtomicU64::new(0),
            drawn: OnceLock::new(),
            note: Mutex::default(),
            spending: common.spending.clone(),
        });
        let waiting = common.show_progress().then(|| {
            let (sender, ended) = channel::<()>();
            let shared = Arc::clone(&shared);
            let wait = move || {
                let mut pause = PATIENCE;
                while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    shared.bar().set_message(shared.message());
                    shared.bar().tick();
                    pause = TICK;
                }
            };
            (sender, std::thread::spawn(wait))
        });
        Self { shared, waiting, interruption: common.interruption.clone(), heeding: None }
    }

    /// The same for work that stops when it is asked to, so that Ctrl-C may wait for it.
    pub(super) fn heeding(mut self) -> Self {
        self.heeding = Some(self.interruption.heed());
        self
    }
}

/// Does work of one part, such as reading a file; where it takes long, says how long already.
pub fn doing<T>(common: &Common, what: &'static str, work: impl FnOnce() -> T) -> T {
    let bar = Bar::new(common, what, 1);
    let result = work();
    drop(bar);
    result
}

impl Progress for Bar {
    fn advance(&self, items: u64) {
        let shared = &self.shared;
        let before = shared.done.fetch_add(items, Ordering::Relaxed);
        if self.waiting.is_none() || shared.start.elapsed() < PATIENCE {
            return;
        }
        let bar = shared.bar();
        // The first items after the bar was drawn without any; drawing it so again changes nothing.
        let first = shared.total > 1 && bar.position() == 0;
        if first {
            bar.set_style(shared.counted());
        }
        bar.set_position(before + items);
        if first && shared.what == DOWNLOADING {
            // What an earlier run left, or came while nothing was shown, says nothing of the speed.
            bar.tick();
            bar.reset_eta();
        }
    }

    fn note(&self, words: &str) {
        let mut note = self.shared.note.lock().unwrap_or_else(PoisonError::into_inner);
        words.clone_into(&mut note);
    }

    fn interrupted(&self) -> bool {
        self.heeding.is_some() && self.interruption.requested()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.waiting.take() {
            drop(sender);
            // It draws or ends, and cannot fail.
            _ = thread.join();
        }
        if let Some(bar) = self.shared.drawn.get() {
            bar.finish_and_clear();
        }
    }
}

/// Opens a file, or standard input, and shows how far it is read where that takes a while.
///
/// # Errors
///
/// As [`Source::read`].
pub(super) fn open(path: &Path, common: &Common) -> Result<Source, DataError> {
    let source = doing(common, "opening", || Source::read(path))?;
    Ok(source.heard_by(Listener::new(Arc::new(Reading { common: common.clone() }))))
}

/// Shows how far the reading is. It does not look at [`Progress::interrupted`], so that Ctrl-C must
/// not wait for it.
struct Reading {
    common: Common,
}

impl Observer for Reading {
    fn stage(&self, doing: &'static str, total: u64) -> Box<dyn Progress> {
        Box::new(Bar::new(&self.common, doing, total))
    }

    fn say(&self, line: &str) {
        super::output::say(&self.common, line);
    }
}

/// Bars and lines on standard error, as the flags allow.
pub struct Terminal {
    common: Common,
}

impl Terminal {
    /// An observer that shows what `common` allows.
    pub fn new(common: &Common) -> Self {
        Self { common: common.clone() }
    }
}

impl Observer for Terminal {
    fn stage(&self, doing: &'static str, total: u64) -> Box<dyn Progress> {
        Box::new(Bar::new(&self.common, doing, total).heeding())
    }

    fn say(&self, line: &str) {
        super::output::say(&self.common, line);
    }

    fn interrupted(&self) -> bool {
        self.common.interruption.requested()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Every file of Rust in a folder, and what it holds.
    fn sources(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(sources(&path));
            } else {
                found.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
            }
        }
        found
    }

    #[test]
    fn every_file_that_a_command_reads_is_opened_where_its_reading_is_shown() {
        let all = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli")));
        let opening: Vec<&String> = all
            .iter()
            .filter(|(_, text)| text.contains(concat!("Source::", "read(")))
            .map(|(path, _)| path)
            .collect();
        assert_eq!(opening.len(), 1, "{opening:?}");
        assert!(opening[0].ends_with("progress.rs"), "{opening:?}");
    }
}
