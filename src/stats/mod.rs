//! Numerics that every score shares: intervals, tests, flags, ranks and seeds.

pub(crate) mod calibration;
pub(crate) mod flag;
pub(crate) mod interval;
pub(crate) mod moments;
pub(crate) mod rank;
pub(crate) mod seed;
pub(crate) mod similarity;
