//! How long work talks to whoever asked for it, without knowing who that is.

use super::progress::{NoProgress, Progress};

/// Listens to a run: what it does, how far it is, what it has to say; and may ask it to stop.
///
/// The command line draws bars and prints lines; a library user may ignore everything by
/// [`Silent`].
pub trait Observer: Send + Sync {
    /// A stage of `total` items begins; the result hears of every finished item and is dropped
    /// when the stage is over. `doing` is a word or two, e.g. `embedding`.
    fn stage(&self, doing: &'static str, total: u64) -> Box<dyn Progress>;

    /// Something worth knowing while the run goes on; one line.
    fn say(&self, line: &str);

    /// Whether the run should stop as soon as it can, keeping what is done.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Listens to nothing and never stops a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn stage(&self, _doing: &'static str, _total: u64) -> Box<dyn Progress> {
        Box::new(NoProgress)
    }

    fn say(&self, _line: &str) {}
}
