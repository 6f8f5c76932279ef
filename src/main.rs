//! The `caz` binary: parse, run, print the error, exit code.

use std::process::ExitCode;

use caz::cli::{self, Cli, ExitStatus};
use clap::Parser;

// Embedding allocates and frees large buffers all the time; the system allocator gives them back
// to the kernel and takes page faults for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::print_stderr, reason = "errors go to standard error")]
fn main() -> ExitCode {
    match cli::run(&Cli::parse()) {
        Ok(status) => status.into(),
        Err(error) => {
            let status = cli::status_of(&error);
            if status != ExitStatus::Done {
                eprintln!("error: {error:#}");
            }
            status.into()
        }
    }
}
