//! Says how far the reading of a source is.

use std::fmt;
use std::sync::Arc;

use super::observer::{Observer, Silent};
use super::progress::Progress;

/// What the stage of reading a source is called; its items are bytes.
pub(crate) const READING: &str = "reading";

/// Bytes after which whoever listens is told: rarely enough to cost nothing.
const STEP: usize = 1 << 20;

/// Who hears how far the reading of a source is; nobody by default.
#[derive(Clone, Default)]
pub(crate) struct Listener(Option<Arc<dyn Observer>>);

impl Listener {
    /// `observer` hears of stages called [`READING`].
    pub(crate) fn new(observer: Arc<dyn Observer>) -> Self {
        Self(Some(observer))
    }

    /// Begins to read so many bytes, one where it will not be said how far the reading is.
    pub(super) fn reading(&self, bytes: usize) -> Box<dyn Progress> {
        let observer: &dyn Observer = self.0.as_deref().unwrap_or(&Silent);
        observer.stage(READING, bytes as u64)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heard = if self.0.is_some() { "heard" } else { "not heard" };
        out.write_str(heard)
    }
}

/// Turns places in the bytes into news.
pub(super) struct Reader<'a> {
    progress: &'a dyn Progress,
    told: usize,
}

impl<'a> Reader<'a> {
    /// At the first byte.
    pub(super) fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, told: 0 }
    }

    /// All bytes before `offset` are read.
    pub(super) fn at(&mut self, offset: usize) {
        if offset - self.told >= STEP {
            self.progress.advance((offset - self.told) as u64);
            self.told = offset;
        }
    }
}
