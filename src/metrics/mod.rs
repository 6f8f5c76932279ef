//! How well a score does what it should, given the truth.

pub mod auc;
