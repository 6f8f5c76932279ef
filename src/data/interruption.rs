//! How work is asked to stop: a token that whoever asks and whoever works share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::error::{ErrorKind, Kinded};

/// How long a wait goes on at most after a request to stop.
const LOOK: Duration = Duration::from_millis(50);

/// A request to stop, shared by its clones. Work looks at it between two items and keeps what is
/// done.
#[derive(Debug, Clone, Default)]
pub struct Interruption {
    requested: Arc<AtomicBool>,
    heeding: Arc<AtomicUsize>,
}

/// While it lives, somebody looks at the token; see [`Interruption::heed`].
#[derive(Debug)]
pub(crate) struct InterruptionWatch(Arc<AtomicUsize>);

impl Interruption {
    /// Asks to stop. Says whether that is news to somebody who looks at the token; if not, waiting
    /// for the work to stop would be in vain.
    pub(crate) fn request(&self) -> bool {
        let news = !self.requested.swap(true, Ordering::SeqCst);
        news && self.heeding.load(Ordering::SeqCst) > 0
    }

    /// Whether the work should stop.
    pub(crate) fn requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Waits for `time`, or until it is asked to stop.
    ///
    /// # Errors
    ///
    /// [`Interrupted`] if it is asked to stop, also before the wait.
    pub(crate) fn wait(&self, time: Duration) -> Result<(), Interrupted> {
        let start = Instant::now();
        loop {
            if self.requested() {
                return Err(Interrupted);
            }
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Promises to look at the token until the answer is dropped.
    #[must_use]
    pub(crate) fn heed(&self) -> InterruptionWatch {
        self.heeding.fetch_add(1, Ordering::SeqCst);
        InterruptionWatch(Arc::clone(&self.heeding))
    }
}

impl Drop for InterruptionWatch {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The work was asked to stop before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Kinded for Interrupted {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Interrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_in_time_or_at_a_request() {
        let token = Interruption::default();
        let (short, long) = (Duration::from_millis(3), Duration::from_hours(1));
        let start = Instant::now();
        assert_eq!(token.wait(short), Ok(()));
        assert!(start.elapsed() >= short);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| token.wait(long));
            token.request();
            assert_eq!(waiting.join().unwrap(), Err(Interrupted));
        });
        assert_eq!(token.wait(Duration::ZERO), Err(Interrupted));
        assert!(start.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn a_request_is_news_once_and_only_to_somebody_who_looks() {
        let nobody_looks = Interruption::default();
        assert!(!nobody_looks.request());
        assert!(nobody_looks.requested());

        let token = Interruption::default();
        let heeding = token.clone().heed();
        assert!(!token.requested());
        assert!(token.clone().request());
        assert!(token.requested());
        assert!(!token.request(), "a second request is no news");
        drop(heeding);

        let over = Interruption::default();
        drop(over.heed());
        assert!(!over.request(), "nobody looks any more");
    }
}
