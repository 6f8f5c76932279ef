//! A way for long work to say how far it is, without knowing who listens.

/// Receives the number of items finished since the last call.
///
/// Called from worker threads, in any order; the sum of the calls is what counts.
pub trait Progress: Send + Sync {
    /// `items` more items are finished.
    fn advance(&self, items: u64);

    /// A few words on how it goes, such as how many items failed.
    fn note(&self, _words: &str) {}

    /// Whether the work should stop as soon as it can, keeping what is done.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Listens to nothing; for library users and tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _items: u64) {}
}
