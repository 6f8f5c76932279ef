//! Progress bars on standard error, for work that takes a while.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::common::Common;
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
        }
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
            let style = "{prefix} {bar:30} {human_pos}/{human_len} {per_sec}, {eta} left";
            bar.with_style(ProgressStyle::with_template(style).expect("the template is a constant"))
                .with_elapsed(self.start.elapsed())
        });
        bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.drawn.get() {
            bar.finish_and_clear();
        }
    }
}
