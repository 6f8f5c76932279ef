//! How alike two rankings of the same things are.
//!
//! [`tau_b`] weighs all pairs alike; [`tau_ap()`] and [`rbo`] weigh the top more. A high tau with a
//! low RBO is common: the order is kept overall and lost at the top. Show both.

mod ranking;
pub mod rbo;
pub mod tau;
pub mod tau_ap;

pub use self::ranking::Ranking;
pub use self::rbo::{Ties, extrapolated, normalised, truncated};
pub use self::tau::tau_b;
pub use self::tau_ap::{tau_ap, tau_ap_a, tau_ap_b};

#[cfg(test)]
mod tests;
