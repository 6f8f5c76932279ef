//! Types and files; no statistics.

pub mod progress;
