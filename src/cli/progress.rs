//! Progress bars on standard error, for work that takes a while.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::common::Common;
use crate::data::interruption::{Heeding, Interruption};
use crate::data::observer::Observer;
use crate::data::progress::Progress;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears once the work takes longer than [`PATIENCE`].
pub(super) struct Bar {
    what: &'static str,
    total: u64,
    allowed: bool,
    start: Instant,
    done: AtomicU64,
    drawn: OnceLock<ProgressBar>,
    interruption: Interruption,
    /// Set where the work looks at [`Progress::interrupted`].
    heeding: Option<Heeding>,
}

impl Bar {
    /// A bar for `total` items; `what` says in a word what is being done.
    pub(super) fn new(common: &Common, what: &'static str, total: u64) -> Self {
        Self {
            what,
            total,
            allowed: common.show_progress(),
            start: Instant::now(),
            done: AtomicU64::new(0),
            drawn: OnceLock::new(),
            interruption: common.interruption.clone(),
            heeding: None,
        }
    }

    /// The same for work that stops when it is asked to, so that Ctrl-C may wait for it.
    pub(super) fn heeding(mut self) -> Self {
        self.heeding = Some(self.interruption.heed());
        self
    }
}

impl Progress for Bar {
    fn advance(&self, items: u64) {
        let done = self.done.fetch_add(items, Ordering::Relaxed) + items;
        if !self.allowed || self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.drawn.get_or_init(|| {
            let bar = ProgressBar::new(self.total).with_prefix(self.what);
            let style = "{prefix} {bar:30} {human_pos}/{human_len} {msg}{per_sec}, {eta} left";
            bar.with_style(ProgressStyle::with_template(style).expect("the template is a constant"))
                .with_elapsed(self.start.elapsed())
        });
        bar.set_position(done);
    }

    fn note(&self, words: &str) {
        if let Some(bar) = self.drawn.get() {
            bar.set_message(format!("{words}, "));
        }
    }

    fn interrupted(&self) -> bool {
        self.heeding.is_some() && self.interruption.requested()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.drawn.get() {
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
