//! The LLM layer against a real HTTP server in the test process: the transport, the command line
//! and the way from papers to a ranked list.
#![cfg(all(feature = "cli", feature = "llm"))]
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod answers;
mod choice;
mod command_line;
mod embeddings;
mod end_to_end;
mod faults;
mod feedback;
mod judge;
#[cfg(feature = "local")]
mod local;
mod papers;
mod progress;
mod prompts;
mod real_server;
mod remedies;
mod replies;
mod roles;
mod server;
mod several;
mod streams;
mod tls;
mod transport;
