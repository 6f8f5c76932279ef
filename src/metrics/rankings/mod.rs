//! How alike two rankings of the same things are.
//!
//! [`tau_b`] weighs all pairs alike; [`tau_ap()`] and [`rbo`] weigh the top more. A high tau with a
//! low RBO is common: the order is kept overall and lost at the top. Show both.

mod ranking;
pub(crate) mod rbo;
pub(crate) mod tau;
pub(crate) mod tau_ap;

pub(crate) use self::ranking::Ranking;
pub(crate) use self::rbo::{Ties, extrapolated, normalised};
pub(crate) use self::tau::tau_b;
pub(crate) use self::tau_ap::{tau_ap, tau_ap_b};

#[cfg(test)]
mod tests;
