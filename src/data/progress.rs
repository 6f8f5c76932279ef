//! A way for long work to say how far it is, without knowing who listens.

/// Receives the number of items finished since the last call.
///
/// Called from worker threads, in any order; the sum of the calls is what counts.
pub trait Progress: Sync {
    /// `items` more items are finished.
    fn advance(&self, items: u64);
}

/// Listens to nothing; for library users and tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _items: u64) {}
}
