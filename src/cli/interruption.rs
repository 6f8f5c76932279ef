//! What Ctrl-C does where work goes on for long.

use super::common::Common;
use super::output::say;

/// Makes Ctrl-C, and a request to end, say these lines and end the process with code 130.
///
/// Nothing is saved at that point: whoever calls this keeps results as they arrive.
pub(super) fn explain_interruption(common: &Common, lines: Vec<String>) {
    let common = common.clone();
    // A second handler in one process is refused; the first one stays.
    let _ = ctrlc::set_handler(move || interrupted(&common, &lines));
}

#[expect(clippy::exit, reason = "an interrupted run has no other place to end")]
fn interrupted(common: &Common, lines: &[String]) {
    lines.iter().for_each(|line| say(common, line));
    std::process::exit(130);
}
