//! What Ctrl-C, and a request to end, do: the first one asks the work to stop where it keeps what
//! is done, and says so. And what a panic does.

use super::common::Common;
use super::exit::{ExitStatus, PANICKED};
use super::output::say;

/// Lets Ctrl-C, and a request to end, stop work that keeps what is done, and end all else.
#[expect(clippy::exit, reason = "a run that cannot stop by itself has no other place to end")]
pub(super) fn listen(common: &Common) {
    let common = common.clone();
    let heard = move || {
        if !common.interruption.request() {
            std::process::exit(i32::from(ExitStatus::Interrupted as u8));
        }
        // The bar has no line end.
        if common.show_progress() {
            say(&common, "");
        }
        say(&common, "stopping; once more ends at once");
    };
    // Without a handler the system ends the process, which loses no more than a second Ctrl-C.
    let _ = ctrlc::set_handler(heard);
}

/// Ends the program with code 101 on a panic in any thread, as unwinding did from the first one. The release
/// build does not unwind, and its other way out is a signal that can leave an image of the memory on the
/// disk, reviews and keys in it.
#[expect(clippy::exit, reason = "nothing may run after a panic")]
pub(super) fn end_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::exit(PANICKED);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_any_thread_ends_the_program_without_a_signal() {
        const THIS: &str = concat!(
            "cli::interruption::tests::",
            "a_panic_in_any_thread_ends_the_program_without_a_signal"
        );
        const CHILD: &str = "CAZ_TEST_PANIC";
        if std::env::var_os(CHILD).is_some() {
            end_on_panic();
            let thread = std::thread::spawn(|| panic!("out of luck"));
            // Without the hook this test would go on here, and pass.
            let _ = thread.join();
            return;
        }
        let ended = std::process::Command::new(std::env::current_exe().unwrap())
            .args([THIS, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(PANICKED));
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(told.contains("out of luck"), "{told}");
    }
}
