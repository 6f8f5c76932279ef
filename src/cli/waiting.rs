//! Says from time to time what a run is waiting for.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::common::Common;
use super::output::say;

/// How long a run may be silent at first.
const FIRST: Duration = Duration::from_secs(10);

/// How long it may be silent at most.
const LONGEST: Duration = Duration::from_mins(5);

/// Does `work`; while it lasts, says `line` after 10 s, and again after pauses that double. Also
/// where standard error is no terminal, so that a log shows that a slow server is not a dead run.
/// A progress bar says as much: where there is one, nothing else is said.
pub(super) fn while_waiting<T>(
    common: &Common,
    line: impl Fn() -> String + Sync,
    work: impl FnOnce() -> T,
) -> T {
    if common.quiet || common.show_progress() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    let line = &line;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = FIRST;
            // The other end is dropped when the work is done.
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let spent =
                    common.spending.words().map_or_else(String::new, |spent| format!("; {spent}"));
                say(common, &(line() + &spent));
                pause = (2 * pause).min(LONGEST);
            }
        });
        let result = work();
        drop(done);
        result
    })
}
