//! Numerics that every score shares: intervals, tests, flags, ranks and seeds.

pub mod flag;
pub mod interval;
pub mod moments;
pub mod rank;
pub mod seed;
pub mod similarity;
