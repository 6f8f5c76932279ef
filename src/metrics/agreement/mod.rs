//! How well a labeller agrees with gold labels, or people with each other.
//!
//! Two labellers: everything is a function of the [`Confusion`] matrix of the items that both
//! labelled, rows the gold label, columns the label of the labeller. [`Metric`] is the catalogue.
//! Several labellers: [`fleiss`] and [`alpha`] take the counts of each item.
//!
//! Missing labels are never a class: they are left out, counted, and [`bounds`] says what they
//! could do at worst. What is undefined is `None`; with one value only every coefficient that
//! corrects for chance is.
//!
//! Intervals and tests resample whole clusters of items: [`bootstrap`], [`paired`].

pub mod ac1;
pub mod alpha;
pub mod binarize;
pub mod bootstrap;
pub mod bounds;
pub mod confusion;
pub mod fleiss;
pub mod icc;
pub mod kappa;
mod metric;
pub mod ordered;
pub mod paired;

pub use self::confusion::Confusion;
pub use self::metric::Metric;

#[cfg(test)]
mod tests;
