//! Numerics that every score shares: intervals, tests, flags, ranks and seeds.

#[cfg(any(feature = "bert", feature = "local"))]
pub(crate) mod exponential;
pub mod flag;
pub mod interval;
#[cfg(any(feature = "bert", feature = "local"))]
pub(crate) mod lanes;
#[cfg(any(feature = "bert", feature = "local"))]
pub(crate) mod matmul;
pub mod moments;
pub mod rank;
pub mod seed;
pub mod similarity;
