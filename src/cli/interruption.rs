//! What Ctrl-C, and a request to end, do: the first one asks the work to stop where it keeps what
//! is done, and says so.

use super::Cli;
use super::output::say;

impl Cli {
    /// What to call on every request to end; `false` if waiting would be in vain, so that the
    /// process should end at once.
    pub fn on_interruption(&self) -> impl Fn() -> bool + Send + 'static {
        let common = self.common.clone();
        move || {
            let heard = common.interruption.request();
            if heard {
                // The bar has no line end.
                if common.show_progress() {
                    say(&common, "");
                }
                say(&common, "stopping; once more ends at once");
            }
            heard
        }
    }
}
