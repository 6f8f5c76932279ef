//! The `caz` binary: listens for Ctrl-C, runs the command line, and ends with its exit code.

use std::process::ExitCode;

use caz::cli::{self, Cli, ExitStatus};

// Embedding allocates and frees large buffers all the time; the system allocator gives them back
// to the kernel and takes page faults for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main(listen).into()
}

/// Lets Ctrl-C, and a request to end, stop work that keeps what is done, and end all else.
#[expect(clippy::exit, reason = "a run that cannot stop by itself has no other place to end")]
fn listen(cli: &Cli) {
    let wait = cli.on_interruption();
    let heard = move || {
        if !wait() {
            std::process::exit(i32::from(ExitStatus::Interrupted as u8));
        }
    };
    // Without a handler the system ends the process, which loses no more than a second Ctrl-C.
    let _ = ctrlc::set_handler(heard);
}
