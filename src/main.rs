//! The `caz` binary.
fn main() {}
