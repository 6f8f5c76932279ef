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

pub(crate) mod ac1;
pub(crate) mod alpha;
pub(crate) mod binarize;
pub(crate) mod bootstrap;
pub(crate) mod bounds;
pub(crate) mod confusion;
pub(crate) mod fleiss;
pub(crate) mod icc;
pub(crate) mod kappa;
mod metric;
pub(crate) mod ordered;
pub(crate) mod paired;

pub(crate) use self::confusion::Confusion;
pub(crate) use self::metric::Metric;

#[cfg(test)]
mod tests;
