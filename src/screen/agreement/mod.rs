//! How well LLMs or people agree with gold labels, with people, or with each other.
//!
//! [`run()`] reads the labels and measures; the `AgreementRun` has the rows of the result, a
//! [`Report`](crate::report::Report) of them and, with the feature `html`, a page.
//! [`plan`] says how many items to label again.
//! [`rankings`] compares two rankings of the same runs, [`retrieval`] makes them of runs and labels.

mod alternative;
mod as_z;
mod best;
mod compare;
mod costs;
mod error;
mod group;
#[cfg(feature = "html")]
mod page;
mod panel;
pub(crate) mod plan;
pub(crate) mod prompts;
pub(crate) mod rankings;
mod reference;
mod report;
pub(crate) mod retrieval;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod work;

pub(crate) use self::as_z::AsZSettings;
pub(crate) use self::run::run;
pub(crate) use self::settings::{
    AgreementSettings, AltTestSettings, Closeness, Compare, Cut, GoldBy, Outside, Requirement,
};

#[cfg(test)]
mod tests;
