//! Experiments: what a mechanism can do on given data, by trial or by test.

pub mod assumptions;
pub mod trials;
