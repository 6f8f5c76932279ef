//! Progress bars on standard error, for work that takes a while.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::common::Common;
use crate::data::interruption::{Heeding, Interruption};
use crate::data::observer::Observer;
use crate::data::progress::Progress;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a bar without news is drawn again.
const TICK: Duration = Duration::from_millis(250);

/// A bar that appears once the work takes longer than [`PATIENCE`], also while nothing is done yet.
pub(super) struct Bar {
    shared: Arc<Shared>,
    /// Draws the bar where the work is silent, and ends when the other end is dropped.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
    interruption: Interruption,
    /// Set where the work looks at [`Progress::interrupted`].
    heeding: Option<Heeding>,
}

/// What the work and whoever waits for it share.
struct Shared {
    what: &'static str,
    total: u64,
    start: Instant,
    done: AtomicU64,
    drawn: OnceLock<ProgressBar>,
}

impl Shared {
    /// What is left can be told only once a part is done, and never where there is one part.
    const SILENT: &str = "{prefix} {spinner} {elapsed} {msg}";
    const COUNTED: &str = "{prefix} {bar:30} {human_pos}/{human_len} {msg}{per_sec}, {eta} left";

    fn style(template: &str) -> ProgressStyle {
        ProgressStyle::with_template(template).expect("the template is a constant")
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
        });
        let waiting = common.show_progress().then(|| {
            let (sender, ended) = channel::<()>();
            let shared = Arc::clone(&shared);
            let wait = move || {
                if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    shared.bar().enable_steady_tick(TICK);
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
pub(super) fn doing<T>(common: &Common, what: &'static str, work: impl FnOnce() -> T) -> T {
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
        if shared.total > 1 && bar.position() == 0 {
            bar.set_style(Shared::style(Shared::COUNTED));
        }
        bar.set_position(before + items);
    }

    fn note(&self, words: &str) {
        if let Some(bar) = self.shared.drawn.get() {
            bar.set_message(format!("{words}, "));
        }
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

/// Bars and lines on standard error, as the flags allow.
pub(super) struct Terminal {
    common: Common,
}

impl Terminal {
    /// An observer that shows what `common` allows.
    pub(super) fn new(common: &Common) -> Self {
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
